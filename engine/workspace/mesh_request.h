// A graph over a device mesh, as a user asks for it.
#pragma once

#include <cstdint>
#include <string>

#include "engine/ir/graph.h"
#include "engine/mesh/distributed_module.h"
#include "engine/support/result.h"

namespace recut {

struct MeshRequest {
  std::string mesh;             // "dp=2,tp=4"
  std::string preset;           // "dp=fsdp,tp=tp" (engine/mesh/spmd/presets.h)
  std::string placements;       // text of a placement file; without preset and it all is replicated
  std::string placements_name;  // of the file, for messages
  std::int64_t rank = 0;        // rank 0 has the largest part of every value
};

// Reads mesh and placements, for a graph that outlives the module. Fails as they do, where a preset
// and a file are given, and on a rank that the mesh lacks.
Result<mesh::DistributedModule> place_on_mesh(const Graph& graph, const MeshRequest& request);

}  // namespace recut
