// The effect of a write on the values of a file's nodes (written_values.h).
//
// Every node of the file is a storage of its own or a view of another node by some calls of views.
// A write to a node makes a new value of its whole storage: the written part goes back through the
// views, one after another, by slice_scatter and similar operators, by the inverse of a view that
// only moves elements, or by the positions of the elements. All views of that storage are then out
// of date, and are repeated on the new value when they are read next. (So PyTorch's
// functionalisation does.)
//
// Invariant: a node whose version is that of its storage has the value that PyTorch would read.
// Interning in the graph merges equal calls; the nodes of the file stay apart, since a write to one
// of two equal tensors leaves the other as it was. A graph without writes costs a walk of one or
// two views a node, and a write the number of views to its storage.
#include "engine/input/written_values.h"

#include <fmt/core.h>

#include <algorithm>

#include "engine/ir/call.h"
#include "engine/ir/laid_out.h"
#include "engine/ir/layout.h"
#include "engine/support/text.h"

namespace recut {
namespace {

constexpr std::uint32_t kMaxViews = 1'000;  // on top of each other, under a write
constexpr std::size_t kMaxMadeViews = 64;   // that one node of a file becomes

// Operators that are views in PyTorch where strides allow it. The table has them as copies: as
// values they are.
constexpr Op kViewsByStrides[] = {
    Op::reshape,     Op::flatten_using_ints, Op::unflatten_int, Op::narrow,
    Op::movedim_int, Op::movedim_intlist,    Op::unfold,        Op::chunk,
    Op::split_sizes, Op::view_dtype,         Op::_reshape_alias};

// Views that leave out elements, and the operators that write a value into the rest.
struct ScatterOfView {
  Op view, scatter;
};
constexpr ScatterOfView kScatters[] = {{Op::slice_Tensor, Op::slice_scatter},
                                       {Op::select_int, Op::select_scatter},
                                       {Op::diagonal, Op::diagonal_scatter}};

bool may_be_view_by_strides(Op op) {
  return std::find(std::begin(kViewsByStrides), std::end(kViewsByStrides), op) !=
         std::end(kViewsByStrides);
}

bool is_view_by_strides(const Graph& graph, NodeId id) {
  const Node& node = graph[id];
  if (!may_be_view_by_strides(node.op)) return false;
  const layout::Rule rule = layout::rule_of(node.op);
  if (rule == nullptr) return true;
  const Call::TypesOf types_of = [&](NodeId operand) { return graph.pool().types_of(operand); };
  const Call call(graph.op(id), node.arguments, types_of);
  const TensorType& self = graph.type(node.operands.front());
  const auto shown = rule(call, {self.shape, self.strides, 0, false}, 0);
  return shown && !shown->copied;
}

bool is_aliasing(const Graph& graph, NodeId id) {
  const Node& node = graph[id];
  if (node.operands.empty()) return false;
  if (node.op == Op::getitem) return is_aliasing(graph, node.operands.front());
  return graph.op(id).is(kView) || is_view_by_strides(graph, id);
}

bool keeps_elements(const Graph& graph, NodeId step) {
  const Operator& op = graph.op(step);
  const bool ordered = op.is(kKeepsOrder) || op.op == Op::reshape || op.op == Op::_reshape_alias ||
                       op.op == Op::flatten_using_ints || op.op == Op::unflatten_int;
  const TensorType& before = graph.type(graph[step].operands.front());
  return ordered && op.op != Op::getitem &&
         element_count(before.shape) == element_count(graph.type(step).shape);
}

std::vector<std::int64_t> integers(const Argument& argument) {
  std::vector<std::int64_t> found;
  if (const auto* list = argument.get<ArgumentList>())
    for (const Argument& item : *list)
      if (const auto* integer = item.get<std::int64_t>()) found.push_back(*integer);
  return found;
}

// The permutation that undoes `dims`.
Argument inverse_of(const Argument& dims, std::int64_t rank) {
  std::vector<std::int64_t> inverse(static_cast<std::size_t>(rank), 0);
  std::int64_t at = 0;
  for (const std::int64_t dim : integers(dims))
    inverse[static_cast<std::size_t>(dim < 0 ? dim + rank : dim)] = at++;
  return Argument(inverse);
}

}  // namespace

bool may_be_view(const Operator& op) {
  return op.op == Op::getitem || op.is(kView) || may_be_view_by_strides(op.op);
}

void WrittenValues::define(std::size_t at, NodeId value, std::span<const Operand> operands) {
  Entry& entry = nodes_[at];
  entry.value = value;
  NodeId id = value;
  while (id.valid() && entry.steps.size() < kMaxMadeViews) {
    const NodeId seen = id;
    const auto from = std::find_if(operands.begin(), operands.end(), [&](const Operand& operand) {
      return operand.value == seen && operand.at != at;
    });
    if (from != operands.end()) {
      std::reverse(entry.steps.begin(), entry.steps.end());
      entry.view_of = from->at;
      entry.depth = nodes_[from->at].depth + 1;
      entry.storage = storage_of(from->at);
      entry.version = nodes_[entry.storage].version;
      return;
    }
    if (!is_aliasing(graph_, id)) break;
    entry.steps.push_back(id);
    id = graph_[id].operands.front();
  }
  entry.steps.clear();
}

Result<NodeId> WrittenValues::read(std::size_t at) {
  const std::uint32_t version = nodes_[storage_of(at)].version;
  if (nodes_[at].version == version) return nodes_[at].value;
  std::vector<std::size_t> stale;
  for (std::size_t i = at; nodes_[i].version != version; i = nodes_[i].view_of) stale.push_back(i);
  for (std::size_t i = stale.size(); i-- > 0;) {
    Entry& entry = nodes_[stale[i]];
    NodeId value = nodes_[entry.view_of].value;
    for (const NodeId step : entry.steps) {
      const auto again = repeat(step, value);
      if (!again) return again;
      value = *again;
    }
    entry.value = value;
    entry.version = version;
  }
  return nodes_[at].value;
}

Result<Done> WrittenValues::write(std::size_t at, NodeId value) {
  if (nodes_[at].depth > kMaxViews)
    return error(fmt::format("it writes through more than {} views of each other", kMaxViews));
  const std::size_t root = storage_of(at);
  std::vector<std::size_t> chain;
  for (std::size_t i = at; i != root; i = nodes_[i].view_of) chain.push_back(i);
  std::vector<NodeId> steps;
  for (std::size_t i = chain.size(); i-- > 0;)
    steps.insert(steps.end(), nodes_[chain[i]].steps.begin(), nodes_[chain[i]].steps.end());
  const NodeId before = nodes_[root].value;
  auto whole = write_through(steps, before, value);
  if (!whole) return whole.diagnostics();
  // A write keeps the layout of a tensor, whatever the layout of the written value is.
  if (can_be_laid_out(graph_.type(*whole), graph_.type(before)))
    *whole = laid_out(graph_, *whole, graph_.type(before));
  Entry& storage = nodes_[root];
  // Its first value: after copy_, another tensor's is that of an input, too.
  if (storage.version == 0 && graph_.op(before).is(kInput)) inputs_.push_back(root);
  storage.value = *whole;
  ++storage.version;
  if (at == root || graph_.type(value) != graph_.type(nodes_[at].value)) return Done{};
  nodes_[at].value = value;
  nodes_[at].version = storage.version;
  return Done{};
}

std::vector<WrittenValues::Operand> WrittenValues::written_inputs() const {
  std::vector<Operand> written;
  for (const std::size_t at : inputs_) written.push_back({at, nodes_[at].value});
  return written;
}

Result<NodeId> WrittenValues::repeat(NodeId step, NodeId operand) {
  const Node& node = graph_[step];
  if (node.operands.front() == operand) return step;
  std::vector<Argument> arguments = node.arguments;
  arguments.front() = operand;
  const Origin& origin = graph_.origin(step);
  return graph_.make(node.op, std::move(arguments), {{}, origin.module, -1, origin.source});
}

// Values of the storage and of each view, then the written value back through all of them.
Result<NodeId> WrittenValues::write_through(std::span<const NodeId> steps, NodeId whole,
                                            NodeId value) {
  std::vector<NodeId> before{whole};
  for (const NodeId step : steps) {
    const auto shown = repeat(step, before.back());
    if (!shown) return shown;
    before.push_back(*shown);
  }
  for (std::size_t i = steps.size(); i-- > 0;) {
    // One of several views: the call that makes them all is the step before.
    const bool item = graph_[steps[i]].op == Op::getitem;
    const auto next = item && i > 0 ? write_elements(steps.subspan(i - 1, 2), before[i - 1], value)
                                    : write_step(steps[i], before[i], value);
    if (!next) return next;
    if (item) --i;
    value = *next;
  }
  return value;
}

Result<NodeId> WrittenValues::write_step(NodeId step, NodeId before, NodeId value) {
  const Node& node = graph_[step];
  if (keeps_elements(graph_, step)) {
    const Shape& shape = graph_.type(before).shape;
    if (graph_.type(value).shape == shape) return value;
    return graph_.make(Op::reshape, {value, Argument(shape)});
  }
  for (const ScatterOfView& row : kScatters) {
    if (row.view != node.op) continue;
    std::vector<Argument> arguments = node.arguments;
    arguments.front() = before;
    arguments.insert(arguments.begin() + 1, Argument(value));
    return graph_.make(row.scatter, std::move(arguments));
  }
  if (node.op == Op::t || node.op == Op::transpose_int) return repeat(step, value);
  if (node.op == Op::permute)
    return graph_.make(Op::permute,
                       {value, inverse_of(node.arguments[1], graph_.type(before).rank())});
  return write_elements({&step, 1}, before, value);
}

// By the positions of the elements that the steps show, which are found by showing the numbers 0,
// 1, … in the shape of `before`.
Result<NodeId> WrittenValues::write_elements(std::span<const NodeId> steps, NodeId before,
                                             NodeId value) {
  const Shape shape = graph_.type(before).shape;
  const std::int64_t count = element_count(shape);
  for (const NodeId step : steps) {
    const Op op = graph_[step].op;
    const bool repeats = element_count(graph_.type(step).shape) > count;
    if (op == Op::as_strided || op == Op::view_dtype || repeats)
      return error(fmt::format("it writes through {}, and Recut can't write through that view",
                               operator_of(op).name));
  }
  const Argument flat(std::vector<std::int64_t>{-1});
  std::vector<Argument> numbers(operator_of(Op::arange).parameters.size());
  numbers[0] = count;
  numbers[*operator_of(Op::arange).parameter("dtype")] = DType::i64;
  auto made = graph_.make(Op::arange, std::move(numbers));
  if (made) made = graph_.make(Op::view, {*made, Argument(shape)});
  for (const NodeId step : steps)
    if (made) made = repeat(step, *made);
  if (made) made = graph_.make(Op::reshape, {*made, flat});
  const auto all = graph_.make(Op::reshape, {before, flat});
  const auto part = graph_.make(Op::reshape, {value, flat});
  if (!made) return made;
  if (!all) return all;
  if (!part) return part;
  const auto put = graph_.make(Op::index_put,
                               {*all, Argument(ArgumentList{Argument(*made)}), *part, Argument()});
  return put ? graph_.make(Op::reshape, {*put, Argument(shape)}) : put;
}

}  // namespace recut
