// A document over a mesh: the whole graph that it is a rank of, the placements of its values, the
// collectives between them, and the bytes of each device.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "engine/ir/graph.h"
#include "engine/mesh/distributed_module.h"
#include "engine/mesh/spmd/sharded_graph.h"
#include "engine/workspace/document.h"
#include "gui/model/mesh_settings.h"

namespace recut::gui {

// An input, and the part of it that rank 0 holds.
struct PlacedInput {
  std::string name;
  NodeId node;  // of the rank's graph
  bool parameter = false;
  std::string whole, local;  // "f32[64, 32]", "[16, 32]"
  std::string placements;    // "[S(0), R]"
  std::int64_t bytes = 0;
};

// A collective of the rank's graph.
struct PlacedCollective {
  NodeId node;
  std::string kind, axis, value;  // "all_gather", "dp", "w1"
  std::string from, to;           // placements of the value before and after
  std::string needed_by;          // "mm a1", or "gradient w1_grad" of a value that is changed once
  std::int64_t bytes = 0;         // sent by the rank that sends most
};

struct MeshDevice {
  std::string coordinate;                             // "dp 0, tp 1"
  std::int64_t parameter_bytes = 0, other_bytes = 0;  // of its inputs
};

// The placement that a value has on a mesh, of which values are coloured.
struct PlacementClass {
  std::string text;        // "[S(0), R]"
  std::uint32_t axes = 0;  // the axes that cut it, as bits
  bool partial = false;
};

struct MeshView {
  MeshSettings settings;
  std::shared_ptr<const Document> whole;  // before it was spread
  std::vector<std::string> axes;          // names
  std::vector<PlacedInput> inputs;
  std::vector<PlacedCollective> collectives;  // in program order
  std::vector<MeshDevice> devices;            // by position
  std::vector<PlacementClass> classes;
  // By position in the rank's graph: of `classes`, or kUnplaced. Calls of a change from one
  // placement to another stand between two.
  std::vector<std::int32_t> placement;
  std::vector<std::int64_t> sent;  // by position in the rank's graph: by collectives
  static constexpr std::int32_t kUnplaced = -1, kCollective = -2;

  std::int64_t sent_bytes() const;
  std::int64_t input_bytes() const;  // of rank 0
};
using SharedMeshView = std::shared_ptr<const MeshView>;

SharedMeshView mesh_view_of(const MeshSettings& settings, std::shared_ptr<const Document> whole,
                            const mesh::DistributedModule& module,
                            const mesh::ShardedGraph& sharded, const Graph& rank);

}  // namespace recut::gui
