#include "engine/codegen/lower/nests/iteration.h"

namespace recut::loop {

void Iteration::for_each_element(const std::function<void(const Indices&)>& body) const {
  const Shape& shape = nest.type().shape;
  const std::size_t depth = builder.depth();
  const Index i = builder.open_any_loop("i", element_count(shape), Builder::Order::parallel);
  body(delinearize(i, shape, builder));
  builder.close_to(depth);
}

void Iteration::each_while(std::int64_t most, const std::function<ScalarExpr()>& going,
                           const std::function<void(const Index&)>& step) const {
  constexpr std::int64_t kWidth = 100;
  std::int64_t unit = 1;
  while (unit * kWidth < most) unit *= kWidth;
  std::int64_t extent = (most + unit - 1) / unit;
  const std::size_t depth = builder.depth();
  Index k = 0;
  for (; unit > 0; unit /= kWidth) {
    k = k + unit * builder.open_loop("k", extent);
    builder.open_if(going().id());
    extent = kWidth;
  }
  step(k);
  builder.close_to(depth);
}

void Iteration::when(const ScalarExpr& condition, const std::function<void()>& body) const {
  const std::size_t depth = builder.depth();
  builder.open_if(condition.id());
  body();
  builder.close_to(depth);
}

ScalarExpr Iteration::operand(std::string_view parameter, const Indices& at) const {
  const ElementContext context(nest.lowering, nest.call, nest.output(), at);
  return {&builder, context.operand(parameter, context.real_common()).to(DType::f64).id()};
}

Scratch Iteration::number(const std::string& name, const ScalarExpr& initial) const {
  const Scratch cell(builder, name, DType::f64, 1);
  cell.write(0, initial);
  return cell;
}

}  // namespace recut::loop
