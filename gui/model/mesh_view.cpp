// The graph of a rank names its calls as the whole graph does. A change of a value's placement is
// made by calls whose names begin with the value's: the panel finds collectives by that.
#include "gui/model/mesh_view.h"

#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include "engine/ir/operator.h"
#include "engine/mesh/sharding_text.h"
#include "engine/workspace/sharding_report.h"

namespace recut::gui {
namespace {

class MeshViewMaker {
 public:
  MeshViewMaker(const mesh::DistributedModule& module, const mesh::ShardedGraph& sharded,
                const Graph& rank, MeshView& view)
      : module_(module), sharded_(sharded), rank_(rank), view_(view) {}

  void make() {
    for (const recut::mesh::MeshAxis& axis : module_.mesh().axes()) view_.axes.push_back(axis.name);
    for (const NodeId id : module_.inputs()) add_input(id);
    add_devices();
    add_collectives();
    add_placements();
  }

 private:
  const Graph& whole() const { return module_.graph(); }
  const mesh::DeviceMesh& device_mesh() const { return module_.mesh(); }

  static bool is_parameter(const Graph& graph, NodeId id) {
    return graph.is_input(id) && graph.input_kind(id) == InputKind::parameter;
  }

  void add_input(NodeId id) {
    const mesh::Sharding& sharding = module_.of_input(id);
    const TensorType& type = whole().type(id);
    const recut::Shape local =
        local_block(type.shape, sharding, device_mesh(), device_mesh().coordinate_at(0)).shape;
    view_.inputs.push_back({whole().node_name(id), rank_.find(whole().node_name(id)),
                            is_parameter(whole(), id), format(type), format_shape(local),
                            format(sharding, device_mesh()),
                            largest_local_bytes(type, sharding, device_mesh())});
  }

  static std::string format_shape(const recut::Shape& shape) {
    std::string text = "[";
    for (std::size_t d = 0; d < shape.size(); ++d)
      text += fmt::format("{}{}", d > 0 ? ", " : "", shape[d]);
    return text + "]";
  }

  void add_devices() {
    for (std::int64_t position = 0; position < device_mesh().size(); ++position) {
      const mesh::Coordinate at = device_mesh().coordinate_at(position);
      MeshDevice device;
      for (std::size_t a = 0; a < at.size(); ++a)
        device.coordinate +=
            fmt::format("{}{} {}", a > 0 ? ", " : "", device_mesh().axes()[a].name, at[a]);
      for (const NodeId id : module_.inputs()) {
        const TensorType& type = whole().type(id);
        const recut::Shape local =
            local_block(type.shape, module_.of_input(id), device_mesh(), at).shape;
        const std::int64_t bytes = element_count(local) * item_bytes(type.dtype);
        (is_parameter(whole(), id) ? device.parameter_bytes : device.other_bytes) += bytes;
      }
      view_.devices.push_back(std::move(device));
    }
  }

  // The calls that the graph of a rank has for the changes of a value, by the beginning of their
  // names: "w1_all_gather" for "w1_all_gather_into_tensor".
  void add_collectives() {
    for (const NodeId id : rank_.order())
      if (rank_.op(id).is(kCollective)) nodes_.emplace_back(rank_.node_name(id), id);
    for (const ShardingCollective& step : report_of(module_, sharded_).collectives) {
      if (step.bytes == 0) continue;
      const bool reorders = step.axis.empty();
      const NodeId node = take_node(step.value + "_" + (reorders ? "all_to_all" : step.collective));
      view_.collectives.push_back({node.valid() ? node : rank_.find(step.value), step.collective,
                                   step.axis, step.value, step.from, step.to, reader_of(step),
                                   step.bytes});
    }
  }

  // The first collective of such a name that has no row yet; calls that are equal are one node.
  NodeId take_node(const std::string& beginning) {
    NodeId last;
    for (auto& [name, node] : nodes_) {
      if (name.compare(0, beginning.size(), beginning) != 0) continue;
      last = node;
      if (std::exchange(taken_[node], true)) continue;
      return node;
    }
    return last;
  }

  std::string reader_of(const ShardingCollective& step) const {
    if (!step.needed_by.empty()) return call_text(step.needed_by);
    const NodeId id = whole().find(step.value);
    const auto among = [&](const std::vector<NodeId>& nodes) {
      return std::find(nodes.begin(), nodes.end(), id) != nodes.end();
    };
    if (among(whole().gradients)) return "gradient " + step.value;
    if (among(whole().results)) return "result " + step.value;
    return "its readers";
  }

  std::string call_text(const std::string& name) const {
    const NodeId id = whole().find(name);
    if (!id.valid()) return name;
    const std::string_view packet = whole().op(id).packet;  // names mostly begin with it
    if (name.compare(0, packet.size(), packet) == 0) return name;
    return fmt::format("{} {}", packet, name);
  }

  void add_placements() {
    view_.placement.assign(rank_.order().size(), MeshView::kUnplaced);
    for (const NodeId id : whole().order()) {
      const auto found = sharded_.calls.find(id);
      const NodeId here = rank_.find(whole().node_name(id));
      if (found == sharded_.calls.end() || found->second.results.size() != 1 || !here.valid() ||
          rank_.op(here).is(kCollective))
        continue;
      const mesh::Sharding& sharding = found->second.results.front();
      const recut::Shape local = local_block(whole().type(id).shape, sharding, device_mesh(),
                                             device_mesh().coordinate_at(0))
                                     .shape;
      if (rank_.type(here).shape != local) continue;  // it is cut afterwards
      view_.placement[rank_.position(here)] = class_of(sharding);
    }
    view_.sent.assign(rank_.order().size(), 0);
    for (const PlacedCollective& step : view_.collectives)
      if (step.node.valid() && rank_.op(step.node).is(kCollective))
        view_.sent[rank_.position(step.node)] += step.bytes;
    for (const NodeId id : rank_.order())
      if (rank_.op(id).is(kCollective)) view_.placement[rank_.position(id)] = MeshView::kCollective;
  }

  std::int32_t class_of(const mesh::Sharding& sharding) {
    std::string text = format(sharding, device_mesh());
    const auto found =
        std::find_if(view_.classes.begin(), view_.classes.end(),
                     [&](const PlacementClass& other) { return other.text == text; });
    if (found != view_.classes.end())
      return static_cast<std::int32_t>(found - view_.classes.begin());
    PlacementClass added{std::move(text), 0, sharding.has_partial()};
    for (int axis = 0; axis < device_mesh().ndim(); ++axis)
      if (sharding.dim_of(axis)) added.axes |= 1U << static_cast<unsigned>(axis);
    view_.classes.push_back(std::move(added));
    return static_cast<std::int32_t>(view_.classes.size() - 1);
  }

  const mesh::DistributedModule& module_;
  const mesh::ShardedGraph& sharded_;
  const Graph& rank_;
  MeshView& view_;
  std::vector<std::pair<std::string, NodeId>> nodes_;  // the rank's collectives
  std::map<NodeId, bool> taken_;
};

}  // namespace

std::int64_t MeshView::sent_bytes() const {
  std::int64_t sum = 0;
  for (const PlacedCollective& collective : collectives) sum += collective.bytes;
  return sum;
}

std::int64_t MeshView::input_bytes() const {
  std::int64_t sum = 0;
  for (const PlacedInput& input : inputs) sum += input.bytes;
  return sum;
}

SharedMeshView mesh_view_of(const MeshSettings& settings, std::shared_ptr<const Document> whole,
                            const mesh::DistributedModule& module,
                            const mesh::ShardedGraph& sharded, const Graph& rank) {
  auto view = std::make_shared<MeshView>();
  view->settings = settings;
  view->whole = std::move(whole);
  MeshViewMaker(module, sharded, rank, *view).make();
  return view;
}

}  // namespace recut::gui
