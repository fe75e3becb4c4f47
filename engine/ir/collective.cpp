#include "engine/ir/collective.h"

#include <fmt/core.h>

#include "engine/ir/aliases.h"
#include "engine/support/text.h"

namespace recut {

std::optional<std::int64_t> group_size(const Call& collective) {
  if (collective.op().parameter("group_size")) return collective.integer("group_size");
  if (collective.op().parameter("input_split_sizes"))
    return static_cast<std::int64_t>(collective.integers("input_split_sizes").size());
  return std::nullopt;
}

std::vector<NodeId> operands_until_wait(const Graph& graph, NodeId id) {
  if (!graph.op(id).is(kWait)) return {};
  const NodeId started = defining_node(graph, id);
  return graph.op(started).is(kCollective) ? graph[started].operands : std::vector<NodeId>();
}

bool needs_other_ranks(const Call& collective) { return group_size(collective) != 1; }

std::string why_no_values(const Call& collective) {
  const auto ranks = group_size(collective);
  return fmt::format("it needs the values of {} (group {}), and Recut has those of one rank",
                     ranks ? fmt::format("{} ranks", *ranks) : "all ranks",
                     quote(collective.text("group_name")));
}

}  // namespace recut
