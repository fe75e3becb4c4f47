#include "engine/codegen/loop/kernel.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace recut::loop {
namespace {

std::int64_t extreme(DType type, bool least) {
  if (type == DType::boolean) return least ? 0 : 1;
  if (type == DType::i32)
    return least ? std::numeric_limits<std::int32_t>::min()
                 : std::numeric_limits<std::int32_t>::max();
  return least ? std::numeric_limits<std::int64_t>::min()
               : std::numeric_limits<std::int64_t>::max();
}

}  // namespace

std::size_t parameter_count(const Kernel& kernel) {
  const auto brought = [](const Buffer& buffer) { return buffer.access != Access::scratch; };
  return static_cast<std::size_t>(
      std::count_if(kernel.buffers.begin(), kernel.buffers.end(), brought));
}

Kernel strip_names(Kernel kernel) {
  kernel.name.clear();
  kernel.locations.clear();
  for (Buffer& buffer : kernel.buffers) buffer.name.clear();
  for (LoopVariable& loop : kernel.loops) loop.name.clear();
  for (ScalarValue& value : kernel.values) value.name.clear();
  for (Accumulator& accumulator : kernel.accumulators) accumulator.name.clear();
  return kernel;
}

Constant neutral(Combine combine, DType type) {
  switch (combine) {
    case Combine::add:
      return {-0.0, 0};
    case Combine::mul:
      return {1, 1};
    case Combine::max:
      return {-INFINITY, extreme(type, true)};
    case Combine::min:
      return {INFINITY, extreme(type, false)};
    case Combine::bit_and:
      return {0, type == DType::boolean ? 1 : -1};
    case Combine::bit_or:
      return {0, 0};
  }
  return {};
}

}  // namespace recut::loop
