// A document of one rank's graph, so that everything that takes a document plans, shows and emits
// what one device of a mesh does.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "engine/support/result.h"
#include "engine/workspace/document.h"

namespace recut {

struct MeshRequest {
  std::string mesh;             // "dp=2,tp=4"
  std::string placements;       // text of a placement file; "": everything replicated
  std::string placements_name;  // of the file, for messages
  std::int64_t rank = 0;        // rank 0 has the largest part of every value
};

// The graph of a rank, of the document's graph after its passes (engine/mesh/spmd/spmd_graph.h).
// Values of inputs and PyTorch's partitions, which are those of the whole graph, are left out.
// `file_name` is for messages. Fails as shard_graph() does, and on a rank that the mesh lacks.
Result<Document> shard_document(const Document& document, const MeshRequest& request,
                                std::string_view file_name);

// "rank 0 of dp=2,tp=4: of 8 ranks it has the largest parts, so that a plan of it holds on all"
std::string mesh_note(const MeshRequest& request);

}  // namespace recut
