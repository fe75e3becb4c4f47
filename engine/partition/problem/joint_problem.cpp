#include "engine/partition/problem/joint_problem.h"

#include <algorithm>
#include <cmath>

#include "engine/cost/device.h"
#include "engine/fusion/kernel_cost.h"
#include "engine/ir/aliases.h"
#include "engine/ir/data_flow.h"

// Turns a joint graph into a RematProblem: forward in the graph's order, the boundary, backward in
// the graph's order, the end. A value that the user forces to be recomputed becomes two
// computations, as XLA's rematerialisation pass clones an instruction:
//
//   forward: relu, matmul   backward: grad(relu)  =>  relu, matmul | relu', grad(relu')
//
// The search then can't merge the two runs, and every plan respects the override. Reads name
// storages, not values, so views need no computation. Each node is visited a constant number of
// times: O(nodes + edges).

namespace recut {

class JointProblemBuilder {
 public:
  JointProblemBuilder(JointProblem& out, const Graph& graph, const StorageModel& storages,
                      const DeviceRates& rates, const Pins& pins, const FusionGroups& groups,
                      std::int64_t alignment)
      : out_(out),
        graph_(graph),
        storages_(storages),
        rates_(rates),
        groups_(groups),
        alignment_(alignment),
        late_(needs_tangent(graph)),
        needed_(live_nodes(graph)),
        forward_(needed_nodes(graph, graph.results)) {
    const std::size_t n = graph.order().size();
    result_.assign(n, false);
    save_.assign(n, false);
    again_.assign(n, false);
    placed_.assign(n, false);
    token_.assign(n, -1);
    late_token_.assign(n, -1);
    early_storage_.assign(storages.size(), -1);
    late_storage_.assign(storages.size(), -1);
    for (const NodeId id : graph.order())
      if (groups.vanishes(id)) needed_[graph.position(id)] = false;
    for (const NodeId id : pins.save) save_[graph.position(root(id))] = true;
    for (const NodeId id : pins.recompute) again_[graph.position(root(id))] = true;
    reads_late_.assign(n, false);
  }

  void build() {
    for (const NodeId id : graph_.results) result_[graph_.position(root(id))] = true;
    mark_late_readers();
    choose_unit();
    add_forward();
    add_border();
    add_backward();
    add_end();
    out_.problem_.finish();
  }

 private:
  NodeId root(NodeId id) const { return maker_of(graph_, id); }
  bool is_computation(NodeId id) const { return !graph_.op(id).is(kInput) && root(id) == id; }

  // The calls of the kernel that runs `id`, without inlined ones.
  std::span<const NodeId> kernel(const NodeId& id) const {
    const std::int32_t group = groups_.group(id);
    return group == FusionGroups::kAlone ? std::span(&id, 1) : groups_.members(group);
  }
  // The kernel's calls, and those that it computes again for itself.
  std::span<const NodeId> with_inlined(std::span<const NodeId> kernel) const {
    const std::int32_t group = groups_.group(kernel.front());
    return group == FusionGroups::kAlone ? kernel : groups_.calls(group);
  }
  bool same_kernel(NodeId a, NodeId b) const {
    return a == b ||
           (groups_.group(a) != FusionGroups::kAlone && groups_.group(a) == groups_.group(b));
  }
  std::int64_t taken_up(StorageId storage) const {
    return (storages_[storage].bytes + alignment_ - 1) / alignment_ * alignment_;
  }
  bool any_of(std::span<const NodeId> calls, const std::vector<bool>& marks) const {
    return std::any_of(calls.begin(), calls.end(),
                       [&](NodeId id) { return marks[graph_.position(id)]; });
  }

  // Marks the kernels that read the clone of a forced recomputation: those that need a tangent, and
  // those of backward alone that are computed from a clone, such as a derivative's factors.
  void mark_late_readers() {
    for (const NodeId id : graph_.order()) {
      if (!is_last_of_kernel(id)) continue;
      const std::span<const NodeId> calls = kernel(id);
      if (!any_of(calls, late_) && (any_of(calls, forward_) || !reads_second_run(calls))) continue;
      for (const NodeId call : calls) reads_late_[graph_.position(call)] = true;
    }
  }

  bool reads_second_run(std::span<const NodeId> calls) const {
    const std::vector<NodeId>& values = groups_.reads(graph_, calls.front());
    return std::any_of(values.begin(), values.end(), [&](NodeId value) {
      const NodeId source = root(value);
      return is_computation(source) &&
             (may_run_again(kernel(source)) || reads_late_[graph_.position(source)]);
    });
  }

  // Picoseconds, or a larger power of two of them where the sum of many runs could overflow.
  void choose_unit() {
    double total = 0;
    for (const NodeId id : graph_.order())
      if (is_computation(id) && kernel(id).front() == id) total += micros(kernel(id));
    units_per_micro_ = 1e6;
    while (!(total * units_per_micro_ < std::ldexp(1.0, 48)) && units_per_micro_ > 1e-300)
      units_per_micro_ /= 1024;
    out_.micros_per_unit_ = 1 / units_per_micro_;
  }

  double micros(std::span<const NodeId> calls) const {
    return kernel_micros(graph_, storages_, groups_, with_inlined(calls), rates_);
  }

  std::int64_t duration(std::span<const NodeId> calls) const {
    const double units = micros(calls) * units_per_micro_;
    return units > 0 && units < 9e18 ? std::llround(units) : 0;
  }

  // The value is a tangent or a view of one.
  bool is_tangent(NodeId id) const {
    const NodeId source = root(id);
    return graph_[source].op == Op::placeholder && graph_.input_kind(source) == InputKind::tangent;
  }

  // Reading a value reads its storages; a value without storages is read by the token of its call.
  void add_reads(NodeId value, bool late, std::vector<std::int32_t>& reads) const {
    const NodeId source = root(value);
    if (graph_.op(source).is(kInput)) {
      if (is_tangent(value)) reads.push_back(border_token_);
      return;
    }
    const auto& of = late ? late_storage_ : early_storage_;
    const std::span<const StorageId> behind = storages_.behind(value);
    for (const StorageId storage : behind) {
      const std::int32_t twin = of[storage.index];
      reads.push_back(twin >= 0 ? twin : early_storage_[storage.index]);
    }
    if (!behind.empty()) return;
    const std::size_t p = graph_.position(source);
    reads.push_back(late && late_token_[p] >= 0 ? late_token_[p] : token_[p]);
  }

  std::vector<std::int32_t> reads_of(std::span<const NodeId> calls, bool late) const {
    std::vector<std::int32_t> reads;
    for (const NodeId value : groups_.reads(graph_, calls.front())) add_reads(value, late, reads);
    return reads;
  }

  bool draws(std::span<const NodeId> calls) const {
    return std::any_of(calls.begin(), calls.end(),
                       [&](NodeId id) { return graph_.op(id).is(kImpure); });
  }

  std::uint8_t flags_of(std::span<const NodeId> calls) const {
    std::uint8_t flags = 0;
    if (any_of(calls, save_) || draws(calls)) flags |= Problem::kOnce;
    if (any_of(calls, result_)) flags |= Problem::kOnce | Problem::kBeforeBorder;
    return flags;
  }

  void add_computation(std::span<const NodeId> calls, bool twin = false) {
    std::vector<std::int64_t> bytes;
    auto& of = twin ? late_storage_ : early_storage_;
    std::int32_t next = out_.problem_.storages();
    for (const NodeId id : calls)
      for (const StorageId storage : storages_.owned(id)) {
        if (groups_.inner(storage)) continue;
        of[storage.index] = next++;
        bytes.push_back(taken_up(storage));
      }
    for (const NodeId id : calls)
      if (const auto workspace = storages_.workspace(id)) {
        bytes.push_back(taken_up(*workspace));  // a storage without readers
        ++next;
      }
    // A token of 0 bytes orders readers of outputs without bytes after this call.
    for (const NodeId id : calls) (twin ? late_token_ : token_)[graph_.position(id)] = next;
    bytes.push_back(0);
    const bool late = twin || reads_late_[graph_.position(calls.front())];
    std::vector<std::int32_t> reads = reads_of(calls, late);
    if (twin) reads.push_back(border_token_);
    append(out_.problem_.add(duration(calls), bytes, reads, flags_of(calls)), calls);
    if (twin) out_.pinned_duration_ += duration(calls);
  }

  void append(std::int32_t computation, std::span<const NodeId> calls) {
    const auto all = calls.empty() ? calls : with_inlined(calls);
    out_.problem_.order.push_back(computation);
    out_.calls_.insert(out_.calls_.end(), all.begin(), all.end());
    out_.inlined_.push_back(all.size() - calls.size());
    out_.first_call_.push_back(out_.calls_.size());
  }

  void add_forward() {
    for (const NodeId id : graph_.order())
      if (forward_[graph_.position(id)] && is_last_of_kernel(id)) place(id);
  }

  void add_border() {
    std::vector<std::int32_t> reads;
    for (const NodeId id : graph_.results)
      if (!graph_.op(root(id)).is(kInput)) add_reads(id, false, reads);
    const std::int64_t none = 0;
    const std::int32_t token = out_.problem_.storages();
    const std::int32_t border = out_.problem_.add(0, std::span(&none, 1), reads, Problem::kOnce);
    border_token_ = token;
    out_.problem_.set_border(border);
    append(border, {});
  }

  // Backward in the graph's order; a kernel that needs no tangent goes just before its first use.
  void add_backward() {
    for (const NodeId id : graph_.order())
      if (is_last_of_kernel(id) && may_run_again(kernel(id))) twins_.push_back(kernel(id).front());
    for (const NodeId id : graph_.order()) {
      const std::size_t p = graph_.position(id);
      if (needed_[p] && late_[p] && is_last_of_kernel(id)) place(id);
    }
    for (const NodeId id : graph_.order())
      if (needed_[graph_.position(id)] && is_last_of_kernel(id)) place(id);
  }

  // A kernel runs at the position of its last call: everything that it reads is computed before.
  bool is_last_of_kernel(NodeId id) const { return is_computation(id) && kernel(id).back() == id; }

  bool may_run_again(std::span<const NodeId> calls) const {
    return any_of(calls, again_) && any_of(calls, forward_) && !any_of(calls, result_) &&
           !draws(calls);
  }

  // Adds a kernel, and before it those of its producers that aren't added yet.
  void place(NodeId goal) {
    std::vector<NodeId> stack{goal};
    while (!stack.empty()) {
      const NodeId id = stack.back();
      const NodeId missing = placed_[graph_.position(id)] ? NodeId() : missing_operand(id);
      if (missing.valid()) {
        stack.push_back(missing);
        continue;
      }
      stack.pop_back();
      if (placed_[graph_.position(id)]) continue;
      for (const NodeId call : kernel(id)) placed_[graph_.position(call)] = true;
      if (reads_late_[graph_.position(id)]) place_twins(id);
      add_computation(kernel(id));
    }
  }

  NodeId missing_operand(NodeId reader) const {
    for (const NodeId value : groups_.reads(graph_, reader)) {
      const NodeId source = root(value);
      if (is_computation(source) && !placed_[graph_.position(source)]) return source;
    }
    return NodeId();
  }

  // A forced recomputation is a clone, a computation of its own: only marked readers and other
  // clones read it.
  void place_twins(NodeId reader) {
    for (const NodeId value : groups_.reads(graph_, reader)) {
      const auto at = std::find_if(twins_.begin(), twins_.end(),
                                   [&](NodeId twin) { return same_kernel(twin, root(value)); });
      if (at == twins_.end()) continue;
      const NodeId twin = *at;
      twins_.erase(at);
      place_twins(twin);
      add_computation(kernel(twin), true);
    }
  }

  void add_end() {
    std::vector<std::int32_t> reads{border_token_};
    for (const NodeId id : graph_.results)
      if (!graph_.op(root(id)).is(kInput)) add_reads(id, false, reads);
    for (const NodeId id : graph_.gradients)
      if (id.valid()) add_reads(id, late_[graph_.position(id)], reads);
    const std::int32_t end = out_.problem_.add(0, {}, reads, Problem::kOnce);
    out_.problem_.set_end(end);
    append(end, {});
  }

  JointProblem& out_;
  const Graph& graph_;
  const StorageModel& storages_;
  const DeviceRates& rates_;
  const FusionGroups& groups_;
  const std::int64_t alignment_;
  std::vector<bool> late_, needed_, forward_, reads_late_;  // by position
  std::vector<bool> result_, save_, again_, placed_;        // by position
  std::vector<std::int32_t> token_, late_token_;            // by position
  std::vector<std::int32_t> early_storage_, late_storage_;  // by the model's storage
  std::vector<NodeId> twins_;
  std::int32_t border_token_ = -1;
  double units_per_micro_ = 1e6;
};

JointProblem::JointProblem(const Graph& graph, const StorageModel& storages,
                           const DeviceRates& rates, const Pins& pins, const FusionGroups& groups,
                           std::int64_t alignment)
    : graph_(&graph) {
  JointProblemBuilder(*this, graph, storages, rates, pins, groups, alignment).build();
}

}  // namespace recut
