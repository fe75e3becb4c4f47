// A device mesh that a document's graph is spread over, as the user asks for it. A part of the
// transform settings: the graph that is planned and shown is then that of one rank.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "engine/support/result.h"
#include "engine/workspace/mesh_request.h"

namespace recut::gui {

struct MeshSettings {
  std::string axes;    // "dp=2,tp=4"
  std::string preset;  // "dp=fsdp,tp=tp"; "": every rank has the whole of every value
  bool operator==(const MeshSettings& o) const { return axes == o.axes && preset == o.preset; }
};

// A mesh of more ranks is for the command: the panel has a row for each.
inline constexpr std::int64_t kMaxMeshRanks = 1024;

// "dp=2,tp=4" or "dp=2,tp=4 dp=fsdp,tp=tp". Fails as the engine does on either.
Result<MeshSettings> read_mesh(std::string_view text);
std::string write_mesh(const MeshSettings& mesh);

// An axis of a mesh, as the panel has a row for each.
struct MeshAxisChoice {
  std::string name;
  std::int64_t size = 1;
  std::string style;  // of kAxisStyles
};
inline constexpr std::string_view kAxisStyles[] = {"ddp", "fsdp", "tp", "sp", "cp", "none"};

// The rows of a mesh that is one (read_mesh), and back.
std::vector<MeshAxisChoice> axis_choices(const MeshSettings& mesh);
MeshSettings mesh_of_axes(const std::vector<MeshAxisChoice>& axes);

// Of rank 0, which has the largest part of every value.
MeshRequest request_of(const MeshSettings& mesh);

}  // namespace recut::gui
