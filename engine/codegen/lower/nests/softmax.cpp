// Softmax and its logarithm, forward and backward: rows along one dimension.
#include "engine/codegen/lower/nest.h"

namespace recut::loop {
namespace {

ReductionSpace rows(const Nest& nest, std::string_view parameter) {
  const Shape& shape = nest.shape_of(parameter);
  ReductionSpace space{shape, std::vector<bool>(shape.size(), false),
                       walking_strides(nest.lowering, nest.call.node(parameter))};
  if (!shape.empty()) space.reduced[nest.dimension("dim", shape.size())] = true;
  return space;
}

enum class SoftmaxForm { plain, logarithm, safe };

// The maximum is subtracted first, so that no exponential overflows.
template <SoftmaxForm form>
void softmax(const Nest& nest) {
  const DType dtype = nest.type().dtype;
  const bool converts = nest.call.op().parameter("dtype").has_value();
  const auto x = [&](const Indices& at) {
    return converts ? nest.lowering.cast(nest.raw("self", at), nest.dtype_of("self"), dtype)
                    : nest.real("self", at);
  };
  const DType type = converts ? nest.computing(dtype) : nest.computing(nest.dtype_of("self"));
  for_each_ordered_reduction(nest.lowering, rows(nest, "self"), [&](Reducer& reducer) {
    const ScalarExpr largest =
        reducer.reduce({"largest", Combine::max, nest.lowering.constant(type, -HUGE_VAL), x});
    const ScalarExpr total =
        reducer.reduce({"total", Combine::add, nest.lowering.constant(type, 0),
                        [&](const Indices& at) { return exp(x(at) - largest); }});
    reducer.for_each([&](const Indices& at) {
      const ScalarExpr shifted = x(at) - largest;
      ScalarExpr out = form == SoftmaxForm::logarithm ? shifted - log(total) : exp(shifted) / total;
      if (form == SoftmaxForm::safe) out = select(largest == -HUGE_VAL, out.like(0), out);
      nest.lowering.write(nest.output(), at, out);
    });
  });
}

template <bool logarithm>
void softmax_backward(const Nest& nest) {
  const DType type = nest.computing(nest.dtype_of("output"));
  for_each_ordered_reduction(nest.lowering, rows(nest, "output"), [&](Reducer& reducer) {
    const ScalarExpr sum = reducer.reduce(
        {"sum", Combine::add, nest.lowering.constant(type, 0), [&](const Indices& at) {
           const ScalarExpr grad = nest.real("grad_output", at).to(type);
           return logarithm ? grad : grad * nest.real("output", at);
         }});
    reducer.for_each([&](const Indices& at) {
      const ScalarExpr grad = nest.real("grad_output", at).to(type);
      const ScalarExpr output = nest.real("output", at);
      nest.lowering.write(nest.output(), at,
                          logarithm ? grad - exp(output) * sum : (grad - sum) * output);
    });
  });
}

}  // namespace

void add_softmax_nests(NestTable& table) {
  for (const Op op : {Op::_softmax, Op::softmax_int})
    table.push_back({op, softmax<SoftmaxForm::plain>});
  for (const Op op : {Op::_log_softmax, Op::log_softmax_int})
    table.push_back({op, softmax<SoftmaxForm::logarithm>});
  table.push_back({Op::_safe_softmax, softmax<SoftmaxForm::safe>});
  table.push_back({Op::_softmax_backward_data, softmax_backward<false>});
  table.push_back({Op::_log_softmax_backward_data, softmax_backward<true>});
}

}  // namespace recut::loop
