// Liveness, by running the schedule symbolically. Each value is backed by a buffer, or is local to
// the kernel that computes it (fused, never stored). A read needs a live backing; forward values
// reach backward only if the plan saves them. The class of each buffer (saved, recomputed, ...) is
// derived from the walk and compared with the schedule's.
#include "engine/schedule/verify/liveness.h"

#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <set>

namespace recut::verify {
namespace {

class LivenessCheck {
 public:
  LivenessCheck(const Graph& graph, const StorageModel& storages, const Plan& plan,
                const Schedule& schedule, Faults& faults)
      : graph_(graph),
        storages_(storages),
        plan_(plan),
        schedule_(schedule),
        faults_(faults),
        made_by_(schedule.buffers.size(), false) {
    while (backward_begin_ < kernels() && schedule.kernels[backward_begin_].phase == Phase::forward)
      ++backward_begin_;
    for (std::size_t b = 0; b < schedule.buffers.size(); ++b)
      buffer_at_[{schedule.buffers[b].storage, schedule.buffers[b].first_kernel}] = b;
  }

  void run() {
    put_inputs(false);
    std::uint32_t k = 0;
    for (; k < backward_begin_; ++k) run_kernel(k);
    for (const NodeId id : graph_.results)
      if (id.valid()) returned(id, InstanceClass::result, "result");
    enter_backward();
    for (; k < kernels(); ++k) run_kernel(k);
    for (const NodeId id : graph_.gradients)
      if (id.valid()) returned(id, InstanceClass::gradient, "gradient");
    check_classes();
  }

 private:
  // The backing of a computed value, by storage: a buffer, or the kernel that the value is local
  // to.
  struct Backing {
    StorageId storage;
    bool kernel_local = false;
    std::size_t where = 0;  // buffer or kernel
  };
  using Backings = std::vector<Backing>;

  std::uint32_t kernels() const { return static_cast<std::uint32_t>(schedule_.kernels.size()); }

  void put_inputs(bool tangents) {
    for (const NodeId id : graph_.order()) {
      if (!graph_.op(id).is(kInput)) continue;
      const bool tangent = graph_[id].op == Op::placeholder && graph_.is_input(id) &&
                           graph_.input_kind(id) == InputKind::tangent;
      if (tangents || !tangent) values_[id] = {};
    }
  }

  void run_kernel(std::uint32_t k) {
    std::vector<std::pair<NodeId, Backings>> hidden;
    for (const NodeId call : schedule_.kernels[k].calls) {
      for (const NodeId operand : graph_[call].operands) read(operand, call, k);
      const auto before = values_.find(call);
      if (before != values_.end()) hidden.emplace_back(*before);
      values_[call] = backings_of(call, k);
      mark_recomputed(call, k);
    }
    // For other kernels, a local recomputation doesn't replace the value's earlier backing.
    for (auto& [call, backings] : hidden)
      if (!values_[call].empty() && values_[call].front().kernel_local)
        values_[call] = std::move(backings);
  }

  void read(NodeId operand, NodeId call, std::uint32_t k) {
    const auto found = values_.find(operand);
    const auto say = [&](const char* what) {
      faults_.add(fmt::format("kernel {}: '{}' reads '{}', {}", k, faults_.name(call),
                              faults_.name(operand), what));
    };
    if (found == values_.end()) return say("which isn't computed");
    for (const Backing& backing : found->second) {
      if (backing.kernel_local) {
        if (backing.where != k) say("which never left its kernel");
        continue;
      }
      const Buffer& buffer = schedule_.buffers[backing.where];
      if (k < buffer.first_kernel || k > buffer.last_kernel) say("whose buffer isn't alive");
      if (k >= backward_begin_) read_in_backward_.insert(backing.where);
    }
  }

  // A view is backed by its operand's backing (of a call with several outputs, the selected one); a
  // call by its own buffers.
  Backings backings_of(NodeId call, std::uint32_t k) {
    Backings backings;
    if (graph_.op(call).is(kView) && !graph_[call].operands.empty()) {
      const auto behind = storages_.storages_of(call);
      for (const Backing& backing : values_[graph_[call].operands.front()])
        if (std::find(behind.begin(), behind.end(), backing.storage) != behind.end())
          backings.push_back(backing);
      return backings;
    }
    for (const StorageId storage : storages_.storages_of(call)) {
      const auto buffer = buffer_at_.find({storage, k});
      if (buffer == buffer_at_.end()) {
        backings.push_back({storage, true, k});
        continue;
      }
      made_by_[buffer->second] = true;
      backings.push_back({storage, false, buffer->second});
    }
    return backings;
  }

  void mark_recomputed(NodeId call, std::uint32_t k) {
    std::vector<std::size_t> made;
    for (const StorageId storage : storages_.storages_of(call))
      if (const auto buffer = buffer_at_.find({storage, k});
          buffer != buffer_at_.end() && storages_[storage].owner == call)
        made.push_back(buffer->second);
    if (!made.empty() && !ran_.insert(call).second) recomputed_.insert(made.begin(), made.end());
  }

  void returned(NodeId id, InstanceClass kind, const char* word) {
    const auto found = values_.find(id);
    if (found == values_.end())
      return faults_.add(fmt::format("the {} '{}' isn't computed", word, faults_.name(id)));
    for (const Backing& backing : found->second) {
      if (!backing.kernel_local) returned_.emplace(backing.where, kind);
      if (backing.kernel_local || schedule_.buffers[backing.where].last_kernel + 1 < kernels())
        faults_.add(fmt::format("the {} '{}' doesn't live to the end", word, faults_.name(id)));
    }
  }

  void enter_backward() {
    std::map<NodeId, Backings> kept;
    for (const NodeId id : plan_.saved) {
      const auto found = values_.find(id);
      if (found == values_.end()) {
        faults_.add(fmt::format("'{}' is saved but not computed", faults_.name(id)));
        continue;
      }
      kept.insert(*found);
      for (const Backing& backing : found->second)
        if (backing.kernel_local)
          faults_.add(fmt::format("'{}' is saved but never left its kernel", faults_.name(id)));
        else
          read_in_backward_.insert(backing.where);
    }
    values_ = std::move(kept);
    put_inputs(true);
  }

  // Compares each buffer's class with the one derived here.
  void check_classes() {
    for (std::size_t b = 0; b < schedule_.buffers.size(); ++b) {
      const Buffer& buffer = schedule_.buffers[b];
      const bool forward = buffer.first_kernel < backward_begin_;
      const auto kept = returned_.find(b);
      const InstanceClass seen = kept != returned_.end()                      ? kept->second
                                 : forward && read_in_backward_.count(b) != 0 ? InstanceClass::saved
                                 : recomputed_.count(b) != 0 && !buffer.workspace
                                     ? InstanceClass::recomputed
                                 : forward ? InstanceClass::forward_temporary
                                           : InstanceClass::backward_temporary;
      if (buffer.kind != seen)
        faults_.add(fmt::format("buffer {} of '{}' is called {}, but it is {}", b,
                                faults_.name(buffer.owner), name_of(buffer.kind), name_of(seen)));
      if (!buffer.workspace && !made_by_[b])
        faults_.add(fmt::format("buffer {} of '{}' is of nothing that its kernel makes", b,
                                faults_.name(buffer.owner)));
    }
  }

  const Graph& graph_;
  const StorageModel& storages_;
  const Plan& plan_;
  const Schedule& schedule_;
  Faults& faults_;
  std::uint32_t backward_begin_ = 0;  // the first kernel of backward
  std::map<std::pair<StorageId, std::uint32_t>, std::size_t> buffer_at_;
  std::map<NodeId, Backings> values_;  // available values
  std::set<NodeId> ran_;               // calls with a buffer, so far
  std::vector<bool> made_by_;          // by buffer: computed by a call
  std::set<std::size_t> recomputed_, read_in_backward_;
  std::map<std::size_t, InstanceClass> returned_;
};

}  // namespace

void check_liveness(const Graph& graph, const StorageModel& storages, const Plan& plan,
                    const Schedule& schedule, Faults& faults) {
  LivenessCheck(graph, storages, plan, schedule, faults).run();
}

}  // namespace recut::verify
