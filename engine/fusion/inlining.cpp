#include "engine/fusion/inlining.h"

#include <algorithm>

#include "engine/fusion/row_fusion.h"
#include "engine/ir/aliases.h"

namespace recut {
namespace {

using Index = GroupSet::Index;

// A kernel's registers and its readers' patience run out.
constexpr std::size_t kMaxInlined = 16;

// Squares and cubes are multiplications, and a division by a number costs no more than a load.
bool is_cheap(const Operator& op, const Node& node) {
  const auto number = node.arguments.size() < 2 ? std::nullopt : Scalar::from(node.arguments[1]);
  if (number && node.op == Op::pow_Tensor_Scalar) return number->real == 2 || number->real == 3;
  if (number && (node.op == Op::div_Tensor || node.op == Op::div_Scalar)) return true;
  return op.is(kCheap);
}

bool contains(const std::vector<NodeId>& list, NodeId id) {
  return std::find(list.begin(), list.end(), id) != list.end();
}

class Inliner {
 public:
  // For one group that needs a tangent.
  Inliner(const GroupSet& groups, Index group, std::span<const NodeId> standalone)
      : groups_(groups), graph_(groups.graph()), group_(group), standalone_(standalone) {}

  // Iterates to a fixed point: a value that is read only after an inlining may be inlined in turn.
  std::vector<NodeId> run() const {
    Kernel kernel{reads(), {}};
    for (std::size_t before = SIZE_MAX; before != kernel.inlined.size();) {
      before = kernel.inlined.size();
      std::vector<NodeId> values = kernel.reads;
      groups_.sort_by_position(values);
      for (const NodeId value : values) consider(value, kernel);
    }
    return kernel.inlined;
  }

 private:
  // The reads and the inlined calls of a kernel.
  struct Kernel {
    std::vector<NodeId> reads, inlined;
  };

  // Considers values in order. Once inlined, a value is no longer a read that later ones can use.
  void consider(NodeId value, Kernel& kernel) const {
    Kernel without = kernel;
    std::erase(without.reads, value);
    Kernel moved = without;
    if (expand(value, without) && is_no_worse(without, kernel)) {
      kernel = std::move(without);
    } else if (move(value, loops_meet_once(value, kernel), moved) && is_no_worse(moved, kernel)) {
      kernel = std::move(moved);
    }
  }

  bool is_no_worse(const Kernel& kernel, const Kernel& than) const {
    return kernel.inlined.size() <= kMaxInlined && bytes_of(kernel) <= bytes_of(than);
  }

  // Inlines the value, computed from the kernel's reads, from inputs and from inlined calls. Fails
  // if that is not cheap.
  bool expand(NodeId value, Kernel& kernel) const {
    if (contains(kernel.reads, value) || contains(kernel.inlined, value)) return true;
    if (is_model_input(value)) {
      kernel.reads.push_back(value);
      return true;
    }
    if (kernel.inlined.size() >= kMaxInlined || !may_run_again(value)) return false;
    for (const NodeId operand : graph_[value].operands)
      if (!expand(defining_node(graph_, operand), kernel)) return false;
    kernel.inlined.push_back(value);
    return true;
  }

  // Moves a value that no other kernel reads into this one, which then reads its operands. Fails
  // without a change if that is not allowed.
  bool move(NodeId value, bool once, Kernel& kernel) const {
    if (kernel.inlined.size() >= kMaxInlined || !may_move(value, once, kernel)) return false;
    kernel.inlined.push_back(value);
    for (const NodeId operand : graph_[value].operands) {
      const NodeId maker = defining_node(graph_, operand);
      if (contains(kernel.reads, maker) || contains(kernel.inlined, maker)) continue;
      Kernel deeper = kernel;
      if (expand(maker, deeper) && bytes_of(deeper) <= bytes_of(kernel)) {
        kernel = std::move(deeper);
      } else if (!move(maker, once, kernel)) {
        kernel.reads.push_back(maker);
      }
    }
    return true;
  }

  bool may_move(NodeId value, bool once, const Kernel& kernel) const {
    const Operator& op = graph_.op(value);
    const bool costly =
        op.is(kCostly) && once && groups_.iterations(value) == groups_[group_].elements;
    return (is_cheap(op, graph_[value]) || costly) && may_leave_its_kernel(value) &&
           read_only_by(kernel, value);
  }

  bool read_only_by(const Kernel& kernel, NodeId value) const {
    const auto readers = groups_.readers(value);
    return !groups_.returned(value) &&
           std::all_of(readers.begin(), readers.end(), [&](NodeId reader) {
             return groups_.of(reader) == group_ ||
                    (contains(kernel.inlined, reader) && read_only_by(kernel, reader));
           });
  }

  // Tells whether only one loop uses a value that the kernel reads; in a kernel that continues
  // after a reduction, the last loop.
  bool loops_meet_once(NodeId value, const Kernel& kernel) const {
    const auto& members = groups_[group_].members;
    std::vector<NodeId> calls = members;
    groups_.sort_by_position(calls);
    const RowKernel rows = row_kernel(graph_, calls);
    if (rows.form != RowKernel::Form::continues) return true;
    calls.insert(calls.end(), kernel.inlined.begin(), kernel.inlined.end());
    groups_.sort_by_position(calls);
    std::vector<NodeId> made = {value};
    for (const NodeId id : calls) {
      const auto& operands = graph_[id].operands;
      if (std::none_of(operands.begin(), operands.end(), [&](NodeId operand) {
            return contains(made, defining_node(graph_, operand));
          }))
        continue;
      if (contains(members, id) && (groups_.reduces(id) || !rows.is_behind(id))) return false;
      made.push_back(id);
    }
    return true;
  }

  std::int64_t bytes_of(const Kernel& kernel) const {
    std::int64_t bytes = 0;
    for (const NodeId read : kernel.reads)
      for (const TensorType& type : graph_[read].outputs) bytes += byte_size(type);
    return bytes;
  }

  bool may_run_again(NodeId call) const {
    return is_cheap(graph_.op(call), graph_[call]) && may_leave_its_kernel(call);
  }

  bool may_leave_its_kernel(NodeId call) const {
    return groups_.fusible(call) &&
           groups_.part(groups_.of(call)) != GroupSet::Part::needs_tangent &&
           std::find(standalone_.begin(), standalone_.end(), call) == standalone_.end();
  }

  bool is_model_input(NodeId id) const {
    return graph_.op(id).is(kInput) &&
           !(graph_[id].op == Op::placeholder && graph_.input_kind(id) == InputKind::tangent);
  }

  // The calls that define the kernel's inputs, in order.
  std::vector<NodeId> reads() const {
    std::vector<NodeId> read;
    for (const NodeId id : groups_[group_].members)
      for (const NodeId operand : graph_[id].operands) {
        const NodeId maker = defining_node(graph_, operand);
        if (groups_.of(maker) != group_ && !contains(read, maker)) read.push_back(maker);
      }
    groups_.sort_by_position(read);
    return read;
  }

  const GroupSet& groups_;
  const Graph& graph_;
  const Index group_;
  const std::span<const NodeId> standalone_;
};

}  // namespace

void inline_cheap_calls(GroupSet& groups, std::span<const NodeId> standalone) {
  for (const NodeId id : groups.graph().order()) {
    const Index group = groups.of(id);
    if (groups[group].members.front() == id && groups.fusible(id) &&
        groups.part(group) == GroupSet::Part::needs_tangent)
      groups.inline_into(group, Inliner(groups, group, standalone).run());
  }
}

}  // namespace recut
