#include "engine/partition/fusion/inlining.h"

#include <algorithm>

namespace recut {
namespace {

using Index = GroupSet::Index;

// A kernel's registers and its readers' patience run out.
constexpr std::size_t kMostInlined = 16;

// What vector units do in a few cycles: less than a load from memory takes.
constexpr Op kCheap[] = {
    Op::add_Tensor,  Op::add_Scalar,    Op::sub_Tensor,  Op::sub_Scalar,
    Op::mul_Tensor,  Op::mul_Scalar,    Op::neg,         Op::abs,
    Op::relu,        Op::maximum,       Op::minimum,     Op::clamp,
    Op::where_self,  Op::eq_Tensor,     Op::eq_Scalar,   Op::ne_Tensor,
    Op::ne_Scalar,   Op::lt_Tensor,     Op::lt_Scalar,   Op::le_Tensor,
    Op::le_Scalar,   Op::gt_Tensor,     Op::gt_Scalar,   Op::ge_Tensor,
    Op::ge_Scalar,   Op::logical_and,   Op::logical_not, Op::bitwise_and_Tensor,
    Op::bitwise_not, Op::square,        Op::_to_copy,    Op::prims_convert_element_type,
    Op::full,        Op::scalar_tensor,
};

bool is_cheap(Op op) {
  return std::find(std::begin(kCheap), std::end(kCheap), op) != std::end(kCheap);
}

bool contains(const std::vector<NodeId>& list, NodeId id) {
  return std::find(list.begin(), list.end(), id) != list.end();
}

class Inliner {
 public:
  Inliner(GroupSet& groups, std::span<const NodeId> apart)
      : groups_(groups), graph_(groups.graph()), apart_(apart) {}

  void run() {
    for (const NodeId id : graph_.order()) {
      const Index group = groups_.of(id);
      if (groups_[group].members.front() != id || !groups_.fusible(id) ||
          groups_.part(group) != GroupSet::Part::late)
        continue;
      groups_.inline_into(group, inlined_by(group));
    }
  }

 private:
  // What a kernel reads and what it computes again.
  struct Kernel {
    std::vector<NodeId> reads, inlined;
  };

  // Values in order: one that is inlined is nothing that a later one could be computed from as it
  // is read.
  std::vector<NodeId> inlined_by(Index group) const {
    const std::vector<NodeId> values = reads_of(group);
    Kernel kernel{values, {}};
    for (const NodeId value : values) {
      Kernel without = kernel;
      std::erase(without.reads, value);
      if (expand(value, without) && without.inlined.size() <= kMostInlined &&
          bytes_of(without) <= bytes_of(kernel))
        kernel = std::move(without);
    }
    return kernel.inlined;
  }

  // Has the kernel compute the value from what it reads, from inputs and from what it computes
  // again already. Fails where that isn't cheap.
  bool expand(NodeId value, Kernel& kernel) const {
    if (contains(kernel.reads, value) || contains(kernel.inlined, value)) return true;
    if (is_model_input(value)) {
      kernel.reads.push_back(value);
      return true;
    }
    if (kernel.inlined.size() >= kMostInlined || !may_run_again(value)) return false;
    for (const NodeId operand : graph_[value].operands)
      if (!expand(maker_of(graph_, operand), kernel)) return false;
    kernel.inlined.push_back(value);
    return true;
  }

  std::int64_t bytes_of(const Kernel& kernel) const {
    std::int64_t bytes = 0;
    for (const NodeId read : kernel.reads)
      for (const TensorType& type : graph_[read].outputs) bytes += byte_size(type);
    return bytes;
  }

  bool may_run_again(NodeId call) const {
    return is_cheap(graph_[call].op) && groups_.fusible(call) &&
           groups_.part(groups_.of(call)) != GroupSet::Part::late &&
           std::find(apart_.begin(), apart_.end(), call) == apart_.end();
  }

  bool is_model_input(NodeId id) const {
    return graph_.op(id).is(kInput) &&
           !(graph_[id].op == Op::placeholder && graph_.input_kind(id) == InputKind::tangent);
  }

  // Makers of what comes from outside, in order.
  std::vector<NodeId> reads_of(Index group) const {
    std::vector<NodeId> read;
    for (const NodeId id : groups_[group].members)
      for (const NodeId operand : graph_[id].operands) {
        const NodeId maker = maker_of(graph_, operand);
        if (groups_.of(maker) != group && !contains(read, maker)) read.push_back(maker);
      }
    groups_.sort_by_position(read);
    return read;
  }

  GroupSet& groups_;
  const Graph& graph_;
  const std::span<const NodeId> apart_;
};

}  // namespace

void inline_cheap_calls(GroupSet& groups, std::span<const NodeId> apart) {
  Inliner(groups, apart).run();
}

}  // namespace recut
