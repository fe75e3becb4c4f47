#include "engine/partition/problem/joint_problem.h"

#include <algorithm>
#include <cmath>

#include "engine/partition/execution.h"

namespace recut {

class JointProblemBuilder {
 public:
  JointProblemBuilder(JointProblem& out, const Graph& graph, const StorageModel& storages,
                      const DeviceRates& rates, const Pins& pins)
      : out_(out), graph_(graph), storages_(storages), rates_(rates), late_(needs_tangent(graph)) {
    const std::size_t n = graph.order().size();
    needed_.assign(n, false);
    forward_.assign(n, false);
    result_.assign(n, false);
    save_.assign(n, false);
    again_.assign(n, false);
    token_.assign(n, -1);
    late_token_.assign(n, -1);
    early_storage_.assign(storages.size(), -1);
    late_storage_.assign(storages.size(), -1);
    for (const NodeId id : pins.save) save_[graph.position(root(id))] = true;
    for (const NodeId id : pins.recompute) again_[graph.position(root(id))] = true;
  }

  void build() {
    mark(graph_.results, forward_);
    mark(graph_.results, needed_);
    mark(graph_.gradients, needed_);
    for (const NodeId id : graph_.results) result_[graph_.position(root(id))] = true;
    choose_unit();
    for (const NodeId id : graph_.order())
      if (forward_[graph_.position(id)] && is_computation(id)) add_computation(id);
    add_border();
    add_backward();
    add_end();
    out_.problem_.finish();
  }

 private:
  bool is_view(NodeId id) const {
    return shares_storage(graph_.op(id)) && !graph_[id].operands.empty();
  }
  bool is_computation(NodeId id) const { return !graph_.op(id).is(kInput) && !is_view(id); }

  NodeId root(NodeId id) const {
    while (is_view(id)) id = graph_[id].operands.front();
    return id;
  }

  void mark(const std::vector<NodeId>& goals, std::vector<bool>& marks) const {
    std::vector<NodeId> stack;
    for (const NodeId id : goals)
      if (id.valid()) stack.push_back(id);
    while (!stack.empty()) {
      const NodeId id = stack.back();
      stack.pop_back();
      if (marks[graph_.position(id)]) continue;
      marks[graph_.position(id)] = true;
      stack.insert(stack.end(), graph_[id].operands.begin(), graph_[id].operands.end());
    }
  }

  // Picoseconds, or a larger power of two of them where the sum of many runs could overflow.
  void choose_unit() {
    double total = 0;
    for (const NodeId id : graph_.order()) total += node_micros(graph_, id, rates_);
    units_per_micro_ = 1e6;
    while (!(total * units_per_micro_ < std::ldexp(1.0, 48)) && units_per_micro_ > 1e-300)
      units_per_micro_ /= 1024;
    out_.micros_per_unit_ = 1 / units_per_micro_;
  }

  std::int64_t duration(NodeId id) const {
    const double units = node_micros(graph_, id, rates_) * units_per_micro_;
    return units > 0 && units < 9e18 ? std::llround(units) : 0;
  }

  // Whether a value is a tangent or a view of one.
  bool is_tangent(NodeId id) const {
    const NodeId source = root(id);
    return graph_[source].op == Op::placeholder && graph_.input_kind(source) == InputKind::tangent;
  }

  // What reading a value reads: the storages behind it; of what has none, the token of its call.
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

  std::vector<std::int32_t> reads_of(NodeId id) const {
    std::vector<std::int32_t> reads;
    for (const NodeId operand : graph_[id].operands)
      add_reads(operand, late_[graph_.position(id)], reads);
    return reads;
  }

  void add_computation(NodeId id, bool twin = false) {
    const std::size_t p = graph_.position(id);
    std::vector<std::int64_t> bytes;
    const std::span<const StorageId> owned = storages_.owned(id);
    auto& of = twin ? late_storage_ : early_storage_;
    std::int32_t next = out_.problem_.storages();
    for (const StorageId storage : owned) {
      of[storage.index] = next++;
      bytes.push_back(storages_[storage].bytes);
    }
    // Outputs without bytes still have to be there before their readers run.
    (twin ? late_token_ : token_)[p] = next;
    bytes.push_back(0);
    std::uint8_t flags = 0;
    if (graph_.op(id).is(kImpure) || save_[p]) flags |= Problem::kOnce;
    if (result_[p]) flags |= Problem::kOnce | Problem::kBeforeBorder;
    std::vector<std::int32_t> reads = reads_of(id);
    if (twin) reads.push_back(border_token_);
    append(out_.problem_.add(duration(id), bytes, reads, flags), id);
    if (twin) out_.pinned_duration_ += duration(id);
  }

  void append(std::int32_t computation, NodeId id) {
    out_.problem_.order.push_back(computation);
    out_.nodes_.push_back(id);
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
    append(border, NodeId());
  }

  // Backward in the graph's order; what needs no tangent just before its first use.
  void add_backward() {
    std::vector<bool> placed = forward_;
    for (const NodeId id : graph_.order()) {
      const std::size_t p = graph_.position(id);
      if (again_[p] && forward_[p] && !result_[p] && is_computation(id) &&
          !graph_.op(id).is(kImpure))
        twins_.push_back(id);
    }
    for (const NodeId id : graph_.order()) {
      const std::size_t p = graph_.position(id);
      if (needed_[p] && late_[p]) place(id, placed);
    }
    for (const NodeId id : graph_.order())
      if (needed_[graph_.position(id)]) place(id, placed);
  }

  void place(NodeId goal, std::vector<bool>& placed) {
    std::vector<NodeId> stack{goal};
    while (!stack.empty()) {
      const NodeId id = stack.back();
      const std::size_t p = graph_.position(id);
      NodeId missing;
      if (!placed[p])
        for (const NodeId operand : graph_[id].operands)
          if (!placed[graph_.position(operand)]) {
            missing = operand;
            break;
          }
      if (missing.valid()) {
        stack.push_back(missing);
        continue;
      }
      stack.pop_back();
      if (placed[p]) continue;
      placed[p] = true;
      if (!is_computation(id)) continue;
      if (late_[p]) place_twins(id);
      add_computation(id);
    }
  }

  // Pinned recomputations are computations of their own, which only backward reads.
  void place_twins(NodeId reader) {
    for (const NodeId operand : graph_[reader].operands) {
      const NodeId source = root(operand);
      const auto at = std::find(twins_.begin(), twins_.end(), source);
      if (at == twins_.end()) continue;
      twins_.erase(at);
      add_computation(source, true);
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
    append(end, NodeId());
  }

  JointProblem& out_;
  const Graph& graph_;
  const StorageModel& storages_;
  const DeviceRates& rates_;
  std::vector<bool> late_, needed_, forward_, result_, save_, again_;  // by position
  std::vector<std::int32_t> token_, late_token_;                       // by position
  std::vector<std::int32_t> early_storage_, late_storage_;             // by the model's storage
  std::vector<NodeId> twins_;
  std::int32_t border_token_ = -1;
  double units_per_micro_ = 1e6;
};

JointProblem::JointProblem(const Graph& graph, const StorageModel& storages,
                           const DeviceRates& rates, const Pins& pins)
    : graph_(&graph) {
  JointProblemBuilder(*this, graph, storages, rates, pins).build();
}

}  // namespace recut
