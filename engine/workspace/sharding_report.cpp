// The placement file gives the inputs' placements, and propagation those of every call. Values then
// change to them, each by a plan of fewest bytes (redistribute.h), and outputs to the placements
// that training needs: a gradient to its parameter's, so that the optimizer works on the rank's own
// part.
#include "engine/workspace/sharding_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>

#include "engine/mesh/distributed_module.h"
#include "engine/mesh/redistribute.h"
#include "engine/mesh/rules/propagate.h"
#include "engine/mesh/rules/sharding_rule.h"
#include "engine/mesh/sharding_text.h"
#include "engine/support/table.h"
#include "engine/support/text.h"
#include "engine/support/units.h"
#include "engine/workspace/json_text.h"

namespace recut {
namespace {

using mesh::AxisPlacements;
using mesh::Sharding;
using mesh::ValueKey;

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
    if (const auto done = change_operands(); !done) return done.diagnostics();
    if (const auto done = change_outputs(); !done) return done.diagnostics();
    report_.mesh = format(mesh_);
    report_.table = format(module_);
    return std::move(report_);
  }

 private:
  Result<Done> place_input(NodeId id) {
    const Sharding& sharding = module_.of_input(id);
    AxisPlacements placements;
    for (const mesh::ListedPlacement& listed : placements_of(sharding, mesh_)) {
      if (listed.split_factor != 1)
        return error(
            fmt::format("{} is cut in another order of axes than the mesh's ({}): calls "
                        "are placed axis by axis, expected the mesh's order",
                        quote(graph_.node_name(id)), format(sharding, mesh_)));
      placements.push_back(listed.placement);
    }
    const TensorType& type = graph_.type(id);
    report_.inputs.push_back({std::string(graph_.node_name(id)), format(type),
                              format(sharding, mesh_), largest_local_bytes(type, sharding, mesh_)});
    inputs_.emplace(id, std::move(placements));
    return Done{};
  }

  Result<Sharding> sharding_of(const ValueKey& value, const AxisPlacements& placements) const {
    std::vector<mesh::ListedPlacement> list;
    for (const mesh::Placement& placement : placements) list.push_back({placement, 1});
    return sharding_from(list, mesh_, type_of(value).rank());
  }

  const TensorType& type_of(const ValueKey& value) const {
    return graph_[value.first].outputs[value.second];
  }

  Result<Done> change_operands() {
    for (const NodeId id : graph_.order()) {
      const std::vector<NodeId> operands = mesh::operand_nodes(graph_[id].arguments);
      for (std::size_t i = 0; i < operands.size(); ++i) {
        const ValueKey value = mesh::operand_value(graph_, id, operands[i]);
        const auto to = sharding_of(value, placements_.nodes.at(id).operands[i]);
        if (!to) return to.diagnostics();
        if (const auto done = change(value, *to); !done) return done;
      }
    }
    return Done{};
  }

  Result<Done> change_outputs() {
    for (std::size_t i = 0; i < graph_.results.size(); ++i)
      if (graph_.results[i].valid())
        if (const auto done = change({graph_.results[i], 0}, module_.of_results()[i]); !done)
          return done;
    std::size_t at = 0;
    for (const NodeId input : graph_.inputs()) {
      if (graph_.input_kind(input) == InputKind::tangent) continue;
      const NodeId gradient = at < graph_.gradients.size() ? graph_.gradients[at] : NodeId();
      ++at;
      if (!gradient.valid()) continue;
      if (const auto done = change({gradient, 0}, module_.of_input(input)); !done) return done;
    }
    return Done{};
  }

  // From the form of the value that costs least: as its call leaves it, or as a reader before had
  // it.
  Result<Done> change(const ValueKey& value, const Sharding& to) {
    std::vector<Sharding>& forms = forms_[value];
    if (forms.empty()) {
      auto first = sharding_of(value, placements_.nodes.at(value.first).results[value.second]);
      if (!first) return first.diagnostics();
      forms.push_back(std::move(*first));
    }
    if (std::find(forms.begin(), forms.end(), to) != forms.end()) return Done{};
    std::optional<mesh::RedistributionPlan> least;
    for (const Sharding& form : forms) {
      auto plan = plan_redistribution(type_of(value), mesh_, form, to);
      if (!plan) return plan.diagnostics();
      if (!least || plan->bytes() < least->bytes()) least = std::move(*plan);
    }
    const Sharding* before = &least->from;
    for (const mesh::RedistributionStep& step : least->steps) {
      report_.collectives.push_back(
          {std::string(graph_.node_name(value.first)),
           std::string(graph_.origin(value.first).module),
           step.axis < 0 ? "" : mesh_.axes()[static_cast<std::size_t>(step.axis)].name,
           title(step.kind), format(*before, mesh_), format(step.after, mesh_), step.bytes});
      before = &step.after;
    }
    forms.push_back(to);
    return Done{};
  }

  const mesh::DistributedModule& module_;
  const Graph& graph_;
  const mesh::DeviceMesh& mesh_;
  std::map<NodeId, AxisPlacements> inputs_;
  mesh::GraphPlacements placements_;
  std::map<ValueKey, std::vector<Sharding>> forms_;
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
  for (const NodeId id : graph.order())
    if (graph.op(id).is(kCollective))
      return error(
          fmt::format("the graph has the collective {} and is one rank's part already, "
                      "expected the graph of the whole model",
                      quote(graph.node_name(id))));
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
