// isin: compares each element with every test element.
#include "engine/codegen/lower/nest.h"

namespace recut::loop {
namespace {

// A parameter's element by row-major offset, or the scalar given for it.
ScalarExpr member(const Nest& nest, std::string_view parameter, const Index& position) {
  Builder& builder = nest.lowering.builder();
  if (!nest.call.is_tensor(parameter))
    return ScalarExpr::constant(&builder, DType::f64, nest.call.scalar(parameter).real);
  return nest.raw(parameter, delinearize(position, nest.shape_of(parameter), builder))
      .to(DType::f64);
}

void isin(const Nest& nest) {
  Builder& builder = nest.lowering.builder();
  const bool number = nest.call.op().parameter("element").has_value();
  const bool one_test = nest.call.op().parameter("test_element").has_value();
  const std::string_view elements = number ? "element" : "elements";
  const std::string_view tests = one_test ? "test_element" : "test_elements";
  const std::int64_t count = one_test ? 1 : element_count(nest.shape_of(tests));
  const Shape& shape = nest.type().shape;
  const std::int64_t lanes = lanes_for_sum(count);
  const std::size_t depth = builder.depth();
  const Index i = builder.open_loop("i", element_count(shape), Builder::Order::parallel);
  const ScalarExpr x{&builder, member(nest, elements, i).id()};
  const AccumulatorId equals = builder.accumulator(
      "equals", Combine::add, builder.constant(DType::i64, std::int64_t{0}), lanes);
  const std::size_t inside = builder.depth();
  const Index j = builder.open_loop("j", count, Builder::Order::serial, lanes);
  builder.update(equals, (member(nest, tests, j) == x).to(DType::i64).id());
  builder.close_to(inside);
  const ScalarExpr found = ScalarExpr{&builder, builder.read(equals)};
  nest.lowering.write(nest.output(), delinearize(i, shape, builder),
                      nest.call.boolean("invert") ? found == 0.0 : found != 0.0);
  builder.close_to(depth);
}

}  // namespace

void add_isin_nests(NestTable& table) {
  for (const Op op : {Op::isin_Tensor_Tensor, Op::isin_Tensor_Scalar, Op::isin_Scalar_Tensor})
    table.push_back({op, isin});
}

}  // namespace recut::loop
