// Shards a graph in three parts: the placement file gives its inputs' placements, propagation those
// of every call, and the outputs change to the placements that training needs: a gradient to its
// parameter's, so that the optimizer works on the rank's own part.
#include "engine/workspace/sharding_report.h"

#include <fmt/format.h>

#include <map>
#include <nlohmann/json.hpp>

#include "engine/mesh/distributed_module.h"
#include "engine/mesh/redistribute.h"
#include "engine/mesh/rules/propagate.h"
#include "engine/mesh/rules/redistribution_bytes.h"
#include "engine/mesh/sharding_text.h"
#include "engine/support/table.h"
#include "engine/support/text.h"
#include "engine/support/units.h"
#include "engine/workspace/json_text.h"

namespace recut {
namespace {

using mesh::AxisPlacements;
using mesh::Placement;
using mesh::StepKind;

StepKind step_of(Placement from, Placement to) {
  if (from.is_shard()) {
    if (to.is_partial()) return StepKind::zero_fill;
    return to.is_shard() ? StepKind::all_to_all : StepKind::all_gather;
  }
  if (from.is_partial()) {
    if (to.is_partial()) return StepKind::rescale;
    return to.is_shard() ? StepKind::reduce_scatter : StepKind::all_reduce;
  }
  return to.is_partial() ? StepKind::hold_partial : StepKind::slice;
}

class GraphSharder {
 public:
  explicit GraphSharder(const mesh::DistributedModule& module)
      : module_(module), graph_(module.graph()), mesh_(module.mesh()) {}

  Result<ShardingReport> run() {
    for (const NodeId id : module_.inputs())
      if (const auto placed = place_input(id); !placed) return placed.diagnostics();
    std::vector<std::int64_t> sizes;
    for (const mesh::MeshAxis& axis : mesh_.axes()) sizes.push_back(axis.size);
    auto placements = mesh::propagate(graph_, sizes, inputs_);
    if (!placements) return placements.diagnostics();
    placements_ = std::move(*placements);
    for (const mesh::PlacementChange& change : placements_.changes) add_inside(change);
    if (const auto placed = place_outputs(); !placed) return placed.diagnostics();
    report_.mesh = format(mesh_);
    report_.table = format(module_);
    return std::move(report_);
  }

 private:
  Result<AxisPlacements> axis_placements(NodeId id, const mesh::Sharding& sharding) const {
    AxisPlacements placements;
    for (const mesh::ListedPlacement& listed : placements_of(sharding, mesh_)) {
      if (listed.split_factor != 1)
        return error(
            fmt::format("{} is cut in another order of axes than the mesh's ({}): calls "
                        "are placed axis by axis, expected the mesh's order",
                        quote(graph_.node_name(id)), format(sharding, mesh_)));
      placements.push_back(listed.placement);
    }
    return placements;
  }

  Result<Done> place_input(NodeId id) {
    const mesh::Sharding& sharding = module_.of_input(id);
    auto placements = axis_placements(id, sharding);
    if (!placements) return placements.diagnostics();
    const TensorType& type = graph_.type(id);
    const mesh::Coordinate first(static_cast<std::size_t>(mesh_.ndim()), 0);
    const Shape held = local_block(type.shape, sharding, mesh_, first).shape;
    report_.inputs.push_back({std::string(graph_.node_name(id)), format(type),
                              format(sharding, mesh_),
                              element_count(held) * item_bytes(type.dtype)});
    inputs_.emplace(id, std::move(*placements));
    return Done{};
  }

  // The placements that a value has after its call.
  AxisPlacements produced(NodeId id) const {
    std::size_t output = 0;
    if (graph_[id].op == Op::getitem && placements_.nodes.count(id) == 0) {
      output = static_cast<std::size_t>(std::get<std::int64_t>(graph_[id].arguments[1].value));
      id = graph_[id].operands.front();
    }
    const auto found = placements_.nodes.find(id);
    if (found != placements_.nodes.end() && output < found->second.results.size())
      return found->second.results[output];
    const auto input = inputs_.find(id);
    return input != inputs_.end()
               ? input->second
               : AxisPlacements(static_cast<std::size_t>(mesh_.ndim()), Placement::replicate());
  }

  Result<Done> place_outputs() {
    for (std::size_t i = 0; i < graph_.results.size(); ++i) {
      const NodeId id = graph_.results[i];
      if (!id.valid()) continue;
      const auto requested = axis_placements(id, module_.of_results()[i]);
      if (!requested) return requested.diagnostics();
      change(id, *requested);
    }
    std::size_t at = 0;
    for (const NodeId input : graph_.inputs()) {
      if (graph_.input_kind(input) == InputKind::tangent) continue;
      const NodeId gradient = at < graph_.gradients.size() ? graph_.gradients[at] : NodeId();
      ++at;
      if (gradient.valid()) change(gradient, inputs_.at(input));
    }
    return Done{};
  }

  // One axis after the other. Each sends the part of the tensor that the other axes leave.
  void change(NodeId id, const AxisPlacements& to) {
    AxisPlacements now = produced(id);
    for (std::size_t axis = 0; axis < to.size(); ++axis) {
      if (now[axis] == to[axis]) continue;
      const std::int64_t ranks = mesh_.axis_size(static_cast<int>(axis));
      add(id, axis, now[axis], to[axis],
          mesh::redistribution_bytes(cut_by_others(graph_.type(id), now, axis), now[axis], to[axis],
                                     ranks));
      now[axis] = to[axis];
    }
  }

  // Propagation counts the cuts of the axes before; a later axis has cut the value, too.
  void add_inside(const mesh::PlacementChange& change) {
    const AxisPlacements& all = placements_.nodes.at(change.node).results[change.output];
    const TensorType& type = graph_[change.node].outputs[change.output];
    const std::int64_t ranks = mesh_.axis_size(static_cast<int>(change.axis));
    add(change.node, change.axis, change.from, change.to,
        mesh::redistribution_bytes(cut_by_others(type, all, change.axis), change.from, change.to,
                                   ranks));
  }

  TensorType cut_by_others(TensorType type, const AxisPlacements& placements,
                           std::size_t axis) const {
    for (std::size_t other = 0; other < placements.size(); ++other) {
      if (other == axis || !placements[other].is_shard()) continue;
      const std::int64_t ranks = mesh_.axis_size(static_cast<int>(other));
      std::int64_t& size = type.shape[static_cast<std::size_t>(placements[other].dim)];
      size = (size + ranks - 1) / ranks;
    }
    return type;
  }

  void add(NodeId id, std::size_t axis, Placement from, Placement to, std::int64_t bytes) {
    report_.collectives.push_back({std::string(graph_.node_name(id)),
                                   std::string(graph_.origin(id).module), mesh_.axes()[axis].name,
                                   title(step_of(from, to)), format(from), format(to), bytes});
  }

  const mesh::DistributedModule& module_;
  const Graph& graph_;
  const mesh::DeviceMesh& mesh_;
  std::map<NodeId, AxisPlacements> inputs_;
  mesh::GraphPlacements placements_;
  ShardingReport report_;
};

// By axis and collective: how many, and the bytes that a rank sends.
std::string totals_text(const ShardingReport& report) {
  std::map<std::pair<std::string, std::string>, std::pair<std::int64_t, std::int64_t>> totals;
  for (const ShardingCollective& c : report.collectives) {
    auto& [count, bytes] = totals[{c.axis, c.collective}];
    ++count;
    bytes += c.bytes;
  }
  Table table;
  table.column("axis");
  table.column("collective");
  table.column("calls", Table::Align::right);
  table.column("sent by a rank", Table::Align::right);
  for (const auto& [key, total] : totals)
    table.row({key.first, key.second, format_count(total.first), format_bytes(total.second)});
  return table.format();
}

}  // namespace

std::int64_t ShardingReport::bytes_sent() const {
  std::int64_t sum = 0;
  for (const ShardingCollective& c : collectives) sum += c.bytes;
  return sum;
}

std::int64_t ShardingReport::input_bytes() const {
  std::int64_t sum = 0;
  for (const PlacedValue& input : inputs) sum += input.rank_bytes;
  return sum;
}

Result<ShardingReport> shard_graph(const Graph& graph, const mesh::DeviceMesh& mesh,
                                   std::string_view placements, std::string_view file_name) {
  mesh::DistributedModule module(graph, mesh);
  if (!placements.empty())
    if (const auto placed = module.place(placements, file_name); !placed)
      return placed.diagnostics();
  return GraphSharder(module).run();
}

std::string sharding_text(const ShardingReport& report) {
  std::string text = report.table;
  if (report.collectives.empty()) return text + "\nno value changes its placement\n";
  Table table;
  for (const char* title : {"value", "axis", "collective", "from", "to"}) table.column(title);
  table.column("sent by a rank", Table::Align::right);
  table.column("module");
  for (const ShardingCollective& c : report.collectives)
    table.row({printable(c.value), c.axis, c.collective, c.from, c.to, format_bytes(c.bytes),
               printable(c.module)});
  return fmt::format("{}\n{}\n{}\nsent by a rank in a step: {}\n", text, table.format(),
                     totals_text(report), format_bytes(report.bytes_sent()));
}

std::string sharding_json(const ShardingReport& report) {
  nlohmann::ordered_json json{{"mesh", report.mesh},
                              {"input_bytes", report.input_bytes()},
                              {"bytes_sent", report.bytes_sent()},
                              {"inputs", nlohmann::ordered_json::array()},
                              {"collectives", nlohmann::ordered_json::array()}};
  for (const PlacedValue& input : report.inputs)
    json["inputs"].push_back({{"name", input.name},
                              {"type", input.type},
                              {"placements", input.placements},
                              {"rank_bytes", input.rank_bytes}});
  for (const ShardingCollective& c : report.collectives)
    json["collectives"].push_back({{"value", c.value},
                                   {"module", c.module},
                                   {"axis", c.axis},
                                   {"collective", c.collective},
                                   {"from", c.from},
                                   {"to", c.to},
                                   {"bytes", c.bytes}});
  return json_text(json);
}

}  // namespace recut
