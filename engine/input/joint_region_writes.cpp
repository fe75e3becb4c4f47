#include "engine/input/joint_region_writes.h"

#include <fmt/core.h>

#include <algorithm>
#include <iterator>
#include <set>

#include "engine/support/text.h"

namespace recut {
namespace {

Diagnostic cant_follow(const Graph& graph, const std::string& name, std::size_t position,
                       std::string_view why) {
  const Graph& region = *graph.region(name);
  return error(
      fmt::format("the nested graph {} writes to its input {}, and {}: let it write to a "
                  "clone of that",
                  quote(name), quote(region.node_name(region.inputs()[position])), why));
}

}  // namespace

Result<Done> RegionWrites::add(Graph& graph, const std::string& name, Graph region,
                               const JointNodes& nodes, const Operands& written_inputs) {
  Written written;
  written.results = region.results.size();
  for (const auto& [at, value] : written_inputs) {
    const auto inputs = region.inputs();
    const NodeId input = region.find(nodes.nodes[at].name);
    const auto found = std::find(inputs.begin(), inputs.end(), input);
    if (found == inputs.end())
      return error(fmt::format("the nested graph {} writes to its constant {}, expected to inputs",
                               quote(name), quote(nodes.nodes[at].name)));
    written.values[static_cast<std::size_t>(found - inputs.begin())] = value;
  }
  for (const auto& [position, value] : written.values) region.results.push_back(value);
  if (!written.values.empty()) written_.emplace(name, std::move(written));
  graph.add_region(name, std::move(region));
  return Done{};
}

Result<RegionWrites::WrittenOperands> RegionWrites::extend(Graph& graph, const Operator& op,
                                                           std::vector<Argument>& arguments,
                                                           std::vector<TensorType>& types) const {
  if (written_.empty()) return WrittenOperands{};
  const Node node{op.op, arguments, {}, {}};
  std::set<std::size_t> all;
  std::string writing;
  for (const std::string_view name : named_regions(graph, node)) {
    const auto found = written_.find(name);
    if (found == written_.end()) continue;
    writing = name;
    for (const auto& [position, value] : found->second.values) all.insert(position);
  }
  if (all.empty()) return WrittenOperands{};
  const std::size_t first = *all.begin();
  const auto call = region_call(node);
  if (!call || (call->kind != RegionCallKind::branches && call->kind != RegionCallKind::once))
    return cant_follow(graph, writing, first, "Recut can't follow that in a loop");
  if (!op.returns_list)
    return cant_follow(graph, writing, first, "its call gives one tensor, expected a list");
  WrittenOperands written{{all.begin(), all.end()}, written_.find(writing)->second.results};
  const std::vector<NodeId> whole = operands_among(call->whole);
  types.resize(written.first_output);
  for (const std::size_t position : written.positions) {
    if (position >= whole.size())
      return cant_follow(graph, writing, position, "its call has no such operand");
    types.push_back(graph.type(whole[position]));
  }
  for (Argument& argument : arguments)
    if (const auto* name = argument.get<std::string>(); name && graph.region(*name) != nullptr)
      argument = variant(graph, *name, written.positions);
  return written;
}

Result<RegionWrites::Operands> RegionWrites::writes(Graph& graph, NodeId id,
                                                    const WrittenOperands& written,
                                                    const Operands& operands,
                                                    const WrittenValues& values) {
  Operands writes;
  if (written.positions.empty()) return writes;
  const std::size_t first = operands.size() - operands_among(region_call(graph[id])->whole).size();
  for (std::size_t i = 0; i < written.positions.size(); ++i) {
    const std::size_t written_at = first + written.positions[i];
    const std::size_t at = operands[written_at].at;
    for (std::size_t other = first; other < operands.size(); ++other)
      if (other != written_at && values.share_storage(at, operands[other].at))
        return error(
            "its nested graph writes to an operand that shares its storage with another "
            "one: let it write to a clone");
    const auto value =
        graph.make(Op::getitem, {id, static_cast<std::int64_t>(written.first_output + i)});
    if (!value) return value.diagnostics();
    writes.push_back({at, *value});
  }
  return writes;
}

// The region with a result for each of these inputs, under a name of its own where another region
// of the call writes more.
std::string RegionWrites::variant(Graph& graph, const std::string& name,
                                  const std::vector<std::size_t>& positions) const {
  const auto found = written_.find(name);
  const std::size_t writes = found == written_.end() ? 0 : found->second.values.size();
  if (writes == positions.size()) return name;
  Graph region = *graph.region(name);
  std::string other = name;
  if (found != written_.end()) region.results.resize(found->second.results);
  for (const std::size_t position : positions) {
    const bool own = found != written_.end() && found->second.values.count(position) != 0;
    region.results.push_back(own ? found->second.values.at(position) : region.inputs()[position]);
    other += fmt::format("_{}", position);
  }
  region.name = other;
  graph.add_region(other, std::move(region));
  return other;
}

}  // namespace recut
