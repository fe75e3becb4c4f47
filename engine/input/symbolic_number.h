// Evaluates expressions over symbols, as sympy prints them with PyTorch's functions
// (torch.utils._sympy.functions): "8*Max(1, 32*CeilToInt(IntTrueDiv(s48, 32)))".
#pragma once

#include <cstdint>
#include <functional>
#include <string_view>
#include <variant>

#include "engine/support/result.h"

namespace recut {

// The value of a SymInt or a SymFloat.
using SymbolicNumber = std::variant<std::int64_t, double>;

using ValueOfSymbol = std::function<Result<SymbolicNumber>(std::string_view name)>;

// Quotients inside an expression are exact rationals. Fails if the expression is malformed,
// `value_of` fails, a divisor is 0, or a number is not finite or doesn't fit into 64 bits.
Result<SymbolicNumber> read_symbolic_number(std::string_view expression,
                                            const ValueOfSymbol& value_of);

}  // namespace recut
