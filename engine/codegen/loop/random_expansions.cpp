// Random sampling as integer arithmetic. 32-bit words are kept as i64, so that their products need
// no widening; the shift to the right is arithmetic, so its result is masked.
#include <array>

#include "engine/codegen/loop/expansions.h"

namespace recut::loop {
namespace {

ScalarTree low(const ScalarTree& x) { return x & whole(0xffffffff); }
ScalarTree high(const ScalarTree& x) { return low(x >> 32); }

// Philox 4x32-10 (Salmon et al., Parallel Random Numbers: As Easy as 1, 2, 3, 2011): the first two
// words for a seed, a draw and an element.
ScalarTree expand_random_bits(std::span<const ScalarTree> operands) {
  const ScalarTree &seed = operands[0], &draw = operands[1], &element = operands[2];
  std::array<ScalarTree, 4> counter{low(element), high(element), low(draw), high(draw)};
  std::array<ScalarTree, 2> key{low(seed), high(seed)};
  for (int round = 0; round < 10; ++round) {
    const ScalarTree a = counter[0] * whole(0xd2511f53), b = counter[2] * whole(0xcd9e8d57);
    counter = {high(b) ^ counter[1] ^ key[0], low(b), high(a) ^ counter[3] ^ key[1], low(a)};
    key = {low(key[0] + whole(0x9e3779b9)), low(key[1] + whole(0xbb67ae85))};
  }
  return (counter[0] << 32) | counter[1];
}

// [0, 1) in steps of 2^-digits, from the leading bits.
ScalarTree expand_uniform(std::span<const ScalarTree> operands) {
  const ScalarTree &bits = operands[0], &digits = operands[1];
  const ScalarTree away = operate(ScalarOp::sub, whole(64), digits);
  const ScalarTree mask = operate(ScalarOp::shift_left, whole(1), digits) - 1;
  const ScalarTree first = operate(ScalarOp::shift_right, bits, away) & mask;
  const ScalarTree step = operate(ScalarOp::sub, whole(1023), digits) << 52;
  return converted(first, DType::f64) * reinterpreted(step, DType::f64);
}

// Mean 0 and variance 1 (Box and Muller 1958).
ScalarTree expand_normal(std::span<const ScalarTree> operands) {
  const ScalarTree upper = converted(high(operands[0]), DType::f64);
  const ScalarTree lower = converted(low(operands[0]), DType::f64);
  const ScalarTree above_zero = (upper + 1) * 0x1p-32, turn = lower * 0x1p-32;
  const ScalarTree size = -2 * operate(ScalarOp::log, above_zero);
  const ScalarTree angle = 6.28318530717958647693 * turn;
  return operate(ScalarOp::sqrt, size) * operate(ScalarOp::cos, angle);
}

// The upper half of the product of 64 unsigned bits and a positive bound (Lemire, Fast Random
// Integer Generation in an Interval, 2019), from four products of 32-bit halves.
ScalarTree expand_below(std::span<const ScalarTree> operands) {
  const ScalarTree &bits = operands[0], &bound = operands[1];
  const ScalarTree a = low(bits), b = high(bits), c = low(bound), d = high(bound);
  const ScalarTree middle = b * c + high(a * c);
  const ScalarTree other = a * d + low(middle);
  return b * d + high(middle) + high(other);
}

}  // namespace

ScalarExpansion find_random_expansion(ScalarOp op) {
  switch (op) {
    case ScalarOp::random_bits:
      return expand_random_bits;
    case ScalarOp::uniform:
      return expand_uniform;
    case ScalarOp::normal:
      return expand_normal;
    case ScalarOp::below:
      return expand_below;
    default:
      return nullptr;
  }
}

}  // namespace recut::loop
