// Which expressions compute the same: equal keys, where what they use is the same and the buffers
// that they load from have not changed in between.
#pragma once

#include <cstdint>
#include <tuple>
#include <vector>

#include "engine/codegen/loop/kernel.h"

namespace recut::loop {

// In a total order: which kind of expression, the type, what it uses, its index.
using ExpressionKey = std::tuple<std::size_t, DType, std::vector<std::uint64_t>, Index>;

ExpressionKey key_of(DType type, const Expression& expression);

// Whether two expressions of this key are one value wherever both are known: no load from a buffer
// that is stored to, and no accumulator, which may have grown.
bool is_steady(const Kernel& kernel, const Expression& expression);

}  // namespace recut::loop
