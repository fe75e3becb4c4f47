#include "engine/partition/problem/joint_problem.h"

#include <algorithm>
#include <cmath>

#include "engine/cost/device.h"
#include "engine/fusion/kernel_cost.h"
#include "engine/ir/aliases.h"
#include "engine/ir/data_flow.h"

// Turns a graph into a RematProblem: forward in the graph's order, the boundary, backward in the
// graph's order, the end. A forward graph has neither boundary nor backward. A value that the user
// forces to be recomputed becomes two computations, as XLA's rematerialisation pass clones an
// instruction:
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
                      const DeviceRates& rates, const Overrides& overrides,
                      const FusionGroups& groups, std::int64_t alignment)
      : out_(out),
        graph_(graph),
        storages_(storages),
        rates_(rates),
        groups_(groups),
        alignment_(alignment),
        joint_(is_joint(graph)),
        needs_tangent_(needs_tangent(graph)),
        needed_(live_nodes(graph)),
        forward_(forward_nodes(graph)) {
    const std::size_t n = graph.order().size();
    result_.assign(n, false);
    effect_.assign(n, false);
    save_.assign(n, false);
    recompute_.assign(n, false);
    appended_.assign(n, false);
    token_.assign(n, -1);
    clone_token_.assign(n, -1);
    storage_.assign(storages.size(), -1);
    clone_storage_.assign(storages.size(), -1);
    for (const NodeId id : graph.order())
      if (groups.vanishes(id)) needed_[graph.position(id)] = false;
    for (const NodeId id : overrides.save) save_[graph.position(root(id))] = true;
    for (const NodeId id : overrides.recompute) recompute_[graph.position(root(id))] = true;
    reads_clone_.assign(n, false);
  }

  void build() {
    for (const NodeId id : graph_.results)
      if (id.valid()) result_[graph_.position(root(id))] = true;
    for (const NodeId id : unread_external_calls(graph_))
      effect_[graph_.position(id)] = !needs_tangent_[graph_.position(id)];
    mark_clone_readers();
    choose_unit();
    add_forward();
    if (joint_) {
      add_boundary();
      add_backward();
    }
    add_end();
    out_.problem_.finish();
  }

 private:
  NodeId root(NodeId id) const { return defining_node(graph_, id); }
  bool is_computation(NodeId id) const { return !graph_.op(id).is(kInput) && root(id) == id; }

  // The calls of the kernel that runs `id`, without inlined ones.
  std::span<const NodeId> kernel(const NodeId& id) const {
    const std::int32_t group = groups_.group(id);
    return group == FusionGroups::kAlone ? std::span(&id, 1) : groups_.members(group);
  }
  // The kernel's calls and its inlined calls.
  std::span<const NodeId> with_inlined(std::span<const NodeId> kernel) const {
    const std::int32_t group = groups_.group(kernel.front());
    return group == FusionGroups::kAlone ? kernel : groups_.calls(group);
  }
  bool same_kernel(NodeId a, NodeId b) const {
    return a == b ||
           (groups_.group(a) != FusionGroups::kAlone && groups_.group(a) == groups_.group(b));
  }
  std::int64_t aligned_bytes(StorageId storage) const {
    return (storages_[storage].bytes + alignment_ - 1) / alignment_ * alignment_;
  }
  bool any_of(std::span<const NodeId> calls, const std::vector<bool>& marks) const {
    return std::any_of(calls.begin(), calls.end(),
                       [&](NodeId id) { return marks[graph_.position(id)]; });
  }

  // Marks the kernels that read the clone of a forced recomputation: kernels that need a tangent,
  // and kernels of backward alone that are computed from a clone, such as a derivative's factors.
  void mark_clone_readers() {
    for (const NodeId id : graph_.order()) {
      if (!is_last_of_kernel(id)) continue;
      const std::span<const NodeId> calls = kernel(id);
      if (!any_of(calls, needs_tangent_) && (any_of(calls, forward_) || !reads_a_clone(calls)))
        continue;
      for (const NodeId call : calls) reads_clone_[graph_.position(call)] = true;
    }
  }

  bool reads_a_clone(std::span<const NodeId> calls) const {
    const std::vector<NodeId>& values = groups_.reads(graph_, calls.front());
    return std::any_of(values.begin(), values.end(), [&](NodeId value) {
      const NodeId source = root(value);
      return is_computation(source) &&
             (is_forced_to_recompute(kernel(source)) || reads_clone_[graph_.position(source)]);
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
  void add_reads(NodeId value, bool from_clone, std::vector<std::int32_t>& reads) const {
    const NodeId source = root(value);
    if (graph_.op(source).is(kInput)) {
      if (is_tangent(value)) reads.push_back(boundary_token_);
      return;
    }
    const auto& of = from_clone ? clone_storage_ : storage_;
    const std::span<const StorageId> behind = storages_.storages_of(value);
    for (const StorageId storage : behind) {
      const std::int32_t clone = of[storage.index];
      reads.push_back(clone >= 0 ? clone : storage_[storage.index]);
    }
    if (!behind.empty()) return;
    const std::size_t p = graph_.position(source);
    reads.push_back(from_clone && clone_token_[p] >= 0 ? clone_token_[p] : token_[p]);
  }

  std::vector<std::int32_t> reads_of(std::span<const NodeId> calls, bool from_clone) const {
    std::vector<std::int32_t> reads;
    for (const NodeId value : groups_.reads(graph_, calls.front()))
      add_reads(value, from_clone, reads);
    return reads;
  }

  bool is_random(std::span<const NodeId> calls) const {
    return std::any_of(calls.begin(), calls.end(),
                       [&](NodeId id) { return draws_anew(graph_.op(id)); });
  }

  // Only a clone, which the user asked for, runs such calls a second time.
  bool is_run_again_on_request(std::span<const NodeId> calls) const {
    return std::any_of(calls.begin(), calls.end(),
                       [&](NodeId id) { return recomputed_on_request(graph_.op(id)); });
  }

  std::uint8_t flags_of(std::span<const NodeId> calls) const {
    std::uint8_t flags = 0;
    if (any_of(calls, save_) || is_random(calls) || is_run_again_on_request(calls))
      flags |= RematProblem::kOnce;
    if (joint_ && (any_of(calls, result_) || any_of(calls, effect_)))
      flags |= RematProblem::kOnce | RematProblem::kBeforeBoundary;
    return flags;
  }

  void add_computation(std::span<const NodeId> calls, bool clone = false) {
    std::vector<std::int64_t> bytes;
    auto& of = clone ? clone_storage_ : storage_;
    std::int32_t next = out_.problem_.storages();
    for (const NodeId id : calls)
      for (const StorageId storage : storages_.owned(id)) {
        if (groups_.inner(storage)) continue;
        of[storage.index] = next++;
        bytes.push_back(aligned_bytes(storage));
      }
    for (const NodeId id : calls)
      if (const auto workspace = storages_.workspace(id)) {
        bytes.push_back(aligned_bytes(*workspace));  // a storage without readers
        ++next;
      }
    // A token of 0 bytes orders readers of outputs without bytes after this call.
    for (const NodeId id : calls) (clone ? clone_token_ : token_)[graph_.position(id)] = next;
    bytes.push_back(0);
    const bool from_clone = clone || reads_clone_[graph_.position(calls.front())];
    std::vector<std::int32_t> reads = reads_of(calls, from_clone);
    if (clone) reads.push_back(boundary_token_);
    append(out_.problem_.add(duration(calls), bytes, reads, flags_of(calls)), calls);
    if (clone) out_.forced_duration_ += duration(calls);
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
      if (forward_[graph_.position(id)] && is_last_of_kernel(id)) append_in_order(id);
  }

  void add_boundary() {
    std::vector<std::int32_t> reads;
    for (const NodeId id : graph_.results)
      if (id.valid() && !graph_.op(root(id)).is(kInput)) add_reads(id, false, reads);
    const std::int64_t none = 0;
    const std::int32_t token = out_.problem_.storages();
    const std::int32_t boundary =
        out_.problem_.add(0, std::span(&none, 1), reads, RematProblem::kOnce);
    boundary_token_ = token;
    out_.problem_.set_boundary(boundary);
    append(boundary, {});
  }

  // Backward in the graph's order; a kernel that needs no tangent goes just before its first use.
  void add_backward() {
    for (const NodeId id : graph_.order())
      if (is_last_of_kernel(id) && is_forced_to_recompute(kernel(id)))
        clones_.push_back(kernel(id).front());
    for (const NodeId id : graph_.order()) {
      const std::size_t p = graph_.position(id);
      if (needed_[p] && needs_tangent_[p] && is_last_of_kernel(id)) append_in_order(id);
    }
    for (const NodeId id : graph_.order())
      if (needed_[graph_.position(id)] && is_last_of_kernel(id)) append_in_order(id);
  }

  // A kernel runs at the position of its last call: everything that it reads is computed before.
  bool is_last_of_kernel(NodeId id) const { return is_computation(id) && kernel(id).back() == id; }

  bool is_forced_to_recompute(std::span<const NodeId> calls) const {
    return any_of(calls, recompute_) && any_of(calls, forward_) && !any_of(calls, result_) &&
           !is_random(calls);
  }

  // Adds a kernel, and before it each producer that isn't added yet.
  void append_in_order(NodeId goal) {
    std::vector<NodeId> stack{goal};
    while (!stack.empty()) {
      const NodeId id = stack.back();
      const NodeId missing = appended_[graph_.position(id)] ? NodeId() : missing_operand(id);
      if (missing.valid()) {
        stack.push_back(missing);
        continue;
      }
      stack.pop_back();
      if (appended_[graph_.position(id)]) continue;
      for (const NodeId call : kernel(id)) appended_[graph_.position(call)] = true;
      if (reads_clone_[graph_.position(id)]) place_clones(id);
      add_computation(kernel(id));
    }
  }

  NodeId missing_operand(NodeId reader) const {
    for (const NodeId value : groups_.reads(graph_, reader)) {
      const NodeId source = root(value);
      if (is_computation(source) && !appended_[graph_.position(source)]) return source;
    }
    return NodeId();
  }

  // A forced recomputation is a clone, a computation of its own: only marked readers and other
  // clones read it.
  void place_clones(NodeId reader) {
    for (const NodeId value : groups_.reads(graph_, reader)) {
      const auto at = std::find_if(clones_.begin(), clones_.end(),
                                   [&](NodeId clone) { return same_kernel(clone, root(value)); });
      if (at == clones_.end()) continue;
      const NodeId clone = *at;
      clones_.erase(at);
      place_clones(clone);
      add_computation(kernel(clone), true);
    }
  }

  void add_end() {
    std::vector<std::int32_t> reads;
    if (joint_) reads.push_back(boundary_token_);
    for (const NodeId id : graph_.results)
      if (id.valid() && !graph_.op(root(id)).is(kInput)) add_reads(id, false, reads);
    for (const NodeId id : graph_.gradients)
      if (id.valid()) add_reads(id, needs_tangent_[graph_.position(id)], reads);
    const std::int32_t end = out_.problem_.add(0, {}, reads, RematProblem::kOnce);
    out_.problem_.set_end(end);
    append(end, {});
  }

  JointProblem& out_;
  const Graph& graph_;
  const StorageModel& storages_;
  const DeviceRates& rates_;
  const FusionGroups& groups_;
  const std::int64_t alignment_;
  const bool joint_;
  std::vector<bool> needs_tangent_, needed_, forward_, reads_clone_;  // by position
  std::vector<bool> result_, save_, recompute_, appended_;            // by position
  std::vector<bool> effect_;                       // by position: unread external calls of forward
  std::vector<std::int32_t> token_, clone_token_;  // by position
  std::vector<std::int32_t> storage_, clone_storage_;  // by the model's storage
  std::vector<NodeId> clones_;
  std::int32_t boundary_token_ = -1;
  double units_per_micro_ = 1e6;
};

JointProblem::JointProblem(const Graph& graph, const StorageModel& storages,
                           const DeviceRates& rates, const Overrides& overrides,
                           const FusionGroups& groups, std::int64_t alignment)
    : graph_(&graph) {
  JointProblemBuilder(*this, graph, storages, rates, overrides, groups, alignment).build();
}

}  // namespace recut
