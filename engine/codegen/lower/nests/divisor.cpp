// gcd and lcm by Euclid's algorithm.
#include "engine/codegen/lower/nests/iteration.h"

namespace recut::loop {
namespace {

// Euclid's algorithm on i64: remainders have the sign of the dividend, which the last step removes.
Quantity common_divisor(const Iteration& work, const Quantity& a, const Quantity& b) {
  constexpr std::int64_t kMostSteps = 92;  // worst case: Fibonacci numbers
  const Scratch divided(work.builder, "divided", DType::i64, 1);
  const Scratch divisor(work.builder, "divisor", DType::i64, 1);
  divided.write(0, a);
  divisor.write(0, b);
  work.each_while(
      kMostSteps, [&] { return divisor.read(0) != 0.0; },
      [&](const Index&) {
        const Quantity by = divisor.read(0);
        const Quantity left = rest(divided.read(0), by);
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
    const Site site(nest.lowering, nest.call, nest.output(), at);
    const DType dtype = site.common();
    const Quantity a{&work.builder, site.operand("self", dtype).to(DType::i64).id()};
    const Quantity b{&work.builder, site.operand("other", dtype).to(DType::i64).id()};
    const Quantity divisor = common_divisor(work, a, b);
    if (which == Common::divisor) return nest.lowering.write(nest.output(), at, divisor);
    const Quantity none = divisor == 0.0;
    const Quantity multiple = quotient(a, select(none, divisor.like(1), divisor)) * b;
    nest.lowering.write(nest.output(), at, select(none, divisor, abs(multiple)));
  });
}

}  // namespace

void add_divisor_nests(NestTable& table) {
  table.push_back({Op::gcd, common<Common::divisor>});
  table.push_back({Op::lcm, common<Common::multiple>});
}

}  // namespace recut::loop
