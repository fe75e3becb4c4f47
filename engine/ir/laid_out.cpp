// A copy is contiguous, so that other layouts are permutations of one:
//
//   f32[2, 3]{1, 2}   =>   %t = permute(%x, [1, 0])   %c = clone(%t)   %y = permute(%c, [1, 0])
#include "engine/ir/laid_out.h"

#include "engine/ir/dimension_order.h"
#include "engine/support/check.h"

namespace recut {
namespace {

NodeId make_or_die(Graph& graph, Op op, std::vector<Argument> arguments) {
  auto made = graph.make(op, std::move(arguments));
  RECUT_CHECK(made.ok(), "the copy of a value fits its layout");
  return *made;
}

}  // namespace

bool can_be_laid_out(const TensorType& from, const TensorType& to) {
  return from.exists() && (from == to || (is_dense(to) && from.device == to.device));
}

NodeId laid_out(Graph& graph, NodeId value, const TensorType& type) {
  if (graph.type(value) == type) return value;
  const auto contiguous = [&](NodeId id) {
    return make_or_die(graph, Op::clone, {id, "contiguous_format"});
  };
  if (is_contiguous(type)) return contiguous(value);
  const auto order = storage_order(type);
  const NodeId turned = make_or_die(graph, Op::permute, {value, Argument(order)});
  return make_or_die(graph, Op::permute, {contiguous(turned), Argument(inverse_order(order))});
}

}  // namespace recut
