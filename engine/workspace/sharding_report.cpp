#include "engine/workspace/sharding_report.h"

#include <fmt/format.h>

#include <map>
#include <nlohmann/json.hpp>

#include "engine/mesh/distributed_module.h"
#include "engine/mesh/sharding_text.h"
#include "engine/support/table.h"
#include "engine/support/text.h"
#include "engine/support/units.h"
#include "engine/workspace/json_text.h"

namespace recut {
namespace {

void add_steps(const Graph& graph, const mesh::ShardingChange& change, const std::string& needed_by,
               ShardingReport& report) {
  const mesh::DeviceMesh& mesh = change.plan.mesh;
  const mesh::Sharding* before = &change.plan.from;
  for (const mesh::RedistributionStep& step : change.plan.steps) {
    report.collectives.push_back(
        {std::string(graph.node_name(change.value.first)),
         std::string(graph.origin(change.value.first).module),
         step.axis < 0 ? "" : mesh.axes()[static_cast<std::size_t>(step.axis)].name,
         title(step.kind), format(*before, mesh), format(step.after, mesh), step.bytes, needed_by});
    before = &step.after;
  }
}

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

ShardingReport report_of(const mesh::DistributedModule& module, const mesh::ShardedGraph& sharded) {
  const Graph& graph = module.graph();
  const mesh::DeviceMesh& mesh = module.mesh();
  ShardingReport report{format(mesh), placement_file(module), format(module), {}, {}};
  for (const NodeId id : module.inputs()) {
    const mesh::Sharding& sharding = module.of_input(id);
    report.inputs.push_back({std::string(graph.node_name(id)), format(graph.type(id)),
                             format(sharding, mesh),
                             largest_local_bytes(graph.type(id), sharding, mesh)});
  }
  const auto add = [&](const std::map<NodeId, std::vector<mesh::ShardingChange>>& changes,
                       NodeId id, const std::string& needed_by) {
    const auto found = changes.find(id);
    if (found == changes.end()) return;
    for (const mesh::ShardingChange& change : found->second)
      add_steps(graph, change, needed_by, report);
  };
  for (const NodeId id : graph.order()) {
    add(sharded.before, id, graph.node_name(id));
    add(sharded.after, id, "");
  }
  return report;
}

Result<ShardingReport> shard_graph(const Graph& graph, const MeshRequest& request) {
  const auto module = place_on_mesh(graph, request);
  if (!module) return module.diagnostics();
  const auto sharded = mesh::shard(*module);
  if (!sharded) return sharded.diagnostics();
  return report_of(*module, *sharded);
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
