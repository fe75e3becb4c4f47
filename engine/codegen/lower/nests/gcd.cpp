// gcd and lcm by Euclid's algorithm.
#include "engine/codegen/lower/nests/iteration.h"

namespace recut::loop {
namespace {

// Euclid's algorithm on i64: remainders have the sign of the dividend, which the last step removes.
ScalarExpr common_divisor(const Iteration& work, const ScalarExpr& a, const ScalarExpr& b) {
  constexpr std::int64_t kMaxSteps = 92;  // worst case: Fibonacci numbers
  const Scratch divided(work.builder, "divided", DType::i64, 1);
  const Scratch divisor(work.builder, "divisor", DType::i64, 1);
  divided.write(0, a);
  divisor.write(0, b);
  work.each_while(
      kMaxSteps, [&] { return divisor.read(0) != 0.0; },
      [&](const Index&) {
        const ScalarExpr by = divisor.read(0);
        const ScalarExpr left = rem(divided.read(0), by);
        divided.write(0, by);
        divisor.write(0, left);
      });
  return abs(divided.read(0));
}

enum class Common { divisor, multiple };

template <Common which>
void common(const Nest& nest) {
  const Iteration work(nest);
  work.for_each_element([&](const Indices& at) {
    const ElementContext context(nest.lowering, nest.call, nest.output(), at);
    const DType dtype = context.common();
    const ScalarExpr a{&work.builder, context.operand("self", dtype).to(DType::i64).id()};
    const ScalarExpr b{&work.builder, context.operand("other", dtype).to(DType::i64).id()};
    const ScalarExpr divisor = common_divisor(work, a, b);
    if (which == Common::divisor) return nest.lowering.write(nest.output(), at, divisor);
    const ScalarExpr none = divisor == 0.0;
    const ScalarExpr multiple = quotient(a, select(none, divisor.like(1), divisor)) * b;
    nest.lowering.write(nest.output(), at, select(none, divisor, abs(multiple)));
  });
}

}  // namespace

void add_gcd_nests(NestTable& table) {
  table.push_back({Op::gcd, common<Common::divisor>});
  table.push_back({Op::lcm, common<Common::multiple>});
}

}  // namespace recut::loop
