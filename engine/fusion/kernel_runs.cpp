#include "engine/fusion/kernel_runs.h"

#include <fmt/core.h>

#include <algorithm>

#include "engine/ir/aliases.h"

namespace recut {
namespace {

class RunFinder {
 public:
  RunFinder(const Graph& graph, const FusionGroups& groups) : graph_(graph), groups_(groups) {
    for (std::int32_t g = 0; g < groups.size(); ++g)
      max_inlined_ = std::max(max_inlined_, groups.inlined(g).size());
  }

  // Returns false if some group does not run together.
  bool add(const std::vector<NodeId>& steps) {
    std::vector<NodeId> calls;  // without views
    for (const NodeId id : steps)
      if (defining_node(graph_, id) == id) calls.push_back(id);
    ahead_ = calls;
    for (const NodeId id : steps)
      if (!add(id)) return false;
    return due_.empty() || refuse(due_.front());
  }

  std::vector<KernelRun> take() { return std::move(runs_); }
  const Diagnostic& fault() const { return fault_; }

 private:
  bool add(NodeId id) {
    const std::size_t step = runs_.size();
    runs_.push_back({step, step});
    if (defining_node(graph_, id) != id) return true;
    if (due_.empty()) {
      due_ = kernel_ahead();
      first_ = step;
    }
    ahead_ = ahead_.subspan(1);
    if (due_.empty()) return true;
    if (due_.front() != id) return refuse(due_.front());
    due_ = due_.subspan(1);
    if (due_.empty())
      for (std::size_t s = first_; s <= step; ++s) runs_[s] = {first_, step};
    return true;
  }

  // The kernel that starts here: a group whose inlined calls come next, followed by its members, or
  // else the group of the next call. Empty if the next call is alone.
  std::span<const NodeId> kernel_ahead() const {
    for (std::size_t n = 1; n <= max_inlined_ && n < ahead_.size(); ++n) {
      const std::int32_t group = groups_.group(ahead_[n]);
      if (group == FusionGroups::kAlone || groups_.members(group).front() != ahead_[n]) continue;
      const auto inlined = groups_.inlined(group);
      if (inlined.size() == n && std::equal(inlined.begin(), inlined.end(), ahead_.begin()))
        return groups_.calls(group);
    }
    const std::int32_t group = groups_.group(ahead_.front());
    return group == FusionGroups::kAlone ? std::span<const NodeId>() : groups_.calls(group);
  }

  bool refuse(NodeId due) {
    fault_ = error(fmt::format("'{}' does not run together with the other calls of its kernel",
                               graph_.node_name(due)));
    return false;
  }

  const Graph& graph_;
  const FusionGroups& groups_;
  std::size_t max_inlined_ = 0;  // by one kernel
  std::vector<KernelRun> runs_;
  std::span<const NodeId> ahead_;  // the calls that are still to come
  std::span<const NodeId> due_;    // the rest of the kernel that is running
  std::size_t first_ = 0;          // step of that kernel
  Diagnostic fault_;
};

}  // namespace

Result<std::vector<KernelRun>> kernel_runs(const Graph& graph, const StorageModel& storages,
                                           const FusionGroups& groups, const Plan& plan) {
  RunFinder finder(graph, groups);
  if (!finder.add(plan.forward) || !finder.add(plan.backward)) return finder.fault();
  for (const NodeId id : plan.saved)
    for (const StorageId s : storages.storages_of(id))
      if (groups.inner(s))
        return error(fmt::format("'{}' is saved but never leaves its kernel", graph.node_name(id)));
  return finder.take();
}

}  // namespace recut
