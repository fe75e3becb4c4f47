#include "gui/model/plan_difference.h"

#include <algorithm>
#include <cstdlib>
#include <map>

namespace recut::gui {
std::vector<std::int64_t> owned_bytes(const PlanView& plan) {
  std::vector<std::int64_t> bytes(plan.graph().order().size(), 0);
  std::vector<std::int64_t> once(plan.graph().order().size(), 0);
  std::vector<std::size_t> birth(plan.graph().order().size(), 0);
  // A call that makes several storages makes them in one step; a later run makes them again.
  for (const StorageInstance& instance : plan.replay().instances) {
    const std::size_t at = plan.graph().position(instance.owner);
    if (birth[at] != instance.birth) once[at] = 0;
    birth[at] = instance.birth;
    once[at] += instance.bytes;
    bytes[at] = std::max(bytes[at], once[at]);
  }
  return bytes;
}

namespace {

// Adds the storages that the first plan keeps and the second doesn't.
void add_more(SavedStorages& sum, const SavedStorages& of, const SavedStorages& other) {
  sum.storages += std::max<std::int64_t>(0, of.storages - other.storages);
  sum.bytes += std::max<std::int64_t>(0, of.bytes - other.bytes);
}

}  // namespace

PlanDifference difference_of(const PlanView& here, const PlanView& there, const GraphMatch& match) {
  const Graph &mine = here.graph(), &other = there.graph();
  const auto bytes_here = owned_bytes(here), bytes_there = owned_bytes(there);
  PlanDifference difference;
  for (const NodeId id : mine.order()) {
    const std::size_t at = mine.position(id);
    const NodeId twin = match.here.partner[at];
    if (!match.here.twin[at]) {
      if (bytes_here[at] > 0) ++difference.only_here;
      continue;
    }
    const std::size_t there_at = other.position(twin);
    const std::int64_t bytes = std::max(bytes_here[at], bytes_there[there_at]);
    if (bytes == 0) continue;
    const FateRow row{id,
                      twin,
                      here.roles[at],
                      there.roles[there_at],
                      here.extra_runs[at],
                      there.extra_runs[there_at],
                      bytes};
    const SavedStorages kept_here = here.kept_of(id), kept_there = there.kept_of(twin);
    add_more(difference.saved_here, kept_here, kept_there);
    add_more(difference.saved_there, kept_there, kept_here);
    if (row.role_here == row.role_there && row.runs_here == row.runs_there) {
      ++difference.same;
      continue;
    }
    difference.rows.push_back(row);
  }
  for (std::size_t i = 0; i < bytes_there.size(); ++i)
    if (!match.there.twin[i] && bytes_there[i] > 0) ++difference.only_there;
  std::stable_sort(difference.rows.begin(), difference.rows.end(),
                   [](const FateRow& a, const FateRow& b) { return a.bytes > b.bytes; });
  return difference;
}

std::vector<OperatorCount> operator_counts(const Graph& here, const Graph& there) {
  std::map<std::string, OperatorCount> counts;
  for (const NodeId id : here.order()) ++counts[std::string(here.op(id).name)].here;
  for (const NodeId id : there.order()) ++counts[std::string(there.op(id).name)].there;
  std::vector<OperatorCount> rows;
  for (auto& [name, count] : counts) {
    count.name = name;
    if (count.here != count.there) rows.push_back(std::move(count));
  }
  std::stable_sort(rows.begin(), rows.end(), [](const OperatorCount& a, const OperatorCount& b) {
    return std::abs(a.here - a.there) > std::abs(b.here - b.there);
  });
  return rows;
}

}  // namespace recut::gui
