// The options that put a graph over a device mesh.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

#include "engine/support/result.h"
#include "engine/workspace/mesh_request.h"

namespace recut::native {

struct MeshArguments {
  std::string axes, preset, placements, rank = "0";

  void add_to(CLI::App& command, bool required);  // --mesh, --preset and --placements
  void add_rank_to(CLI::App& command);            // --rank
  // Reads the placement file. Fails if it can't be read.
  Result<MeshRequest> request() const;
};

}  // namespace recut::native
