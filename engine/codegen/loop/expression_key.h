// Keys for value numbering. Expressions with equal keys compute the same value, as long as the
// buffers that they load from haven't changed in between.
#pragma once

#include <cstdint>
#include <tuple>
#include <vector>

#include "engine/codegen/loop/kernel.h"

namespace recut::loop {

// Totally ordered: kind of expression, type, operands, index.
using ExpressionKey = std::tuple<std::size_t, DType, std::vector<std::uint64_t>, Index>;

ExpressionKey key_of(DType type, const Expression& expression);

// True if equal keys mean equal values everywhere. False for loads from a buffer that the kernel
// stores to, and for accumulators, which may have been updated in between.
bool is_pure(const Kernel& kernel, const Expression& expression);

}  // namespace recut::loop
