// torch.autocast converts operands as a call is dispatched, so a program in training form records
// the dtype of the result alone:
//
//   x: f32, w: f32, linear(x, w): bf16   ⇒   linear(_to_copy(x, bf16), _to_copy(w, bf16)): bf16
//   x: bf16, softmax(x): f32             ⇒   softmax(_to_copy(x, f32)): f32
//
// PyTorch has lists of operators that run in the lower precision and in f32. The recorded dtype
// says as much without those lists, which differ between versions and devices: a call of the first
// list gives the lower dtype, one of the second f32, and any other that of its operands. Of a
// composite the first floating operand decides, since statistics of a batch norm stay in f32.
// Source: https://pytorch.org/docs/stable/amp.html (Autocast Op Reference).
#include "engine/input/joint_autocast.h"

#include <algorithm>

namespace recut {
namespace {

// The dtypes of the floating operands, in order.
std::vector<DType> floating_dtypes(const Graph& graph, const std::vector<Argument>& arguments) {
  std::vector<DType> dtypes;
  for (const Argument& argument : arguments)
    for_each_node(argument, [&](NodeId operand) {
      if (operand.valid() && is_floating(graph.type(operand).dtype))
        dtypes.push_back(graph.type(operand).dtype);
    });
  return dtypes;
}

// Products have no form for operands of two dtypes, whatever their shape rule says.
bool gives_recorded_dtype(const Graph& graph, const Operator& op, bool composite, DType recorded,
                          const std::vector<Argument>& arguments) {
  const std::vector<DType> dtypes = floating_dtypes(graph, arguments);
  if (dtypes.empty()) return true;
  if (composite) return dtypes.front() == recorded;
  const bool product = op.is(kMatrixProduct) || op.is(kConvolution);
  if (product && std::count(dtypes.begin(), dtypes.end(), dtypes.front()) !=
                     static_cast<std::ptrdiff_t>(dtypes.size()))
    return false;
  const Call::TypesOf types_of = [&graph](NodeId id) { return graph.pool().types_of(id); };
  const auto inferred = infer_types(op, arguments, types_of);
  return inferred && !inferred->empty() && inferred->front().dtype == recorded;
}

}  // namespace

void convert_for_autocast(Graph& graph, const Operator& op, bool composite, DType recorded,
                          const Origin& origin, std::vector<Argument>& arguments) {
  if (!is_floating(recorded) || gives_recorded_dtype(graph, op, composite, recorded, arguments))
    return;
  const Operator& copy = operator_of(Op::_to_copy);
  for (Argument& argument : arguments)
    for_each_node(argument, [&](NodeId& operand) {
      if (!operand.valid() || !is_floating(graph.type(operand).dtype) ||
          graph.type(operand).dtype == recorded)
        return;
      std::vector<Argument> converted(copy.parameters.size());
      converted.front() = operand;
      converted[*copy.parameter("dtype")] = recorded;
      const auto made = graph.make(Op::_to_copy, std::move(converted),
                                   {"", origin.module, origin.seq_nr, origin.source});
      if (made) operand = *made;
    });
}

}  // namespace recut
