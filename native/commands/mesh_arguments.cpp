#include "native/commands/mesh_arguments.h"

#include <cstdlib>

#include "engine/input/bytes.h"

namespace recut::native {

void MeshArguments::add_to(CLI::App& command, bool required) {
  command
      .add_option("--mesh", axes, "Device mesh: a name and a size for each axis, such as dp=2,tp=4")
      ->required(required)
      ->type_name("AXES");
  command
      .add_option("--preset", preset,
                  "Style of parallel training of each axis, such as dp=fsdp,tp=tp: ddp, fsdp, tp, "
                  "sp (tp with the sequence sharded) or cp (default: everything replicated)")
      ->type_name("STYLES");
  command
      .add_option("--placements", placements,
                  "Placement file instead of a preset: sections parameters, inputs and outputs, "
                  "with a name or pattern and a placement for each axis a line")
      ->type_name("FILE");
}

void MeshArguments::add_rank_to(CLI::App& command) {
  command
      .add_option("--rank", rank,
                  "Rank of the mesh whose graph is taken (default: 0, which has the largest parts)")
      ->check(CLI::Number)
      ->type_name("N");
}

Result<MeshRequest> MeshArguments::request() const {
  MeshRequest request{axes, preset, {}, placements, std::strtoll(rank.c_str(), nullptr, 10)};
  if (!placements.empty()) {
    auto text = read_file(placements);
    if (!text) return text.diagnostics();
    request.placements = std::move(*text);
  }
  return request;
}

}  // namespace recut::native
