// Numbers of expressions over symbols, as sympy prints them with PyTorch's functions
// (torch.utils._sympy.functions): "8*Max(1, 32*CeilToInt(IntTrueDiv(s48, 32)))".
#pragma once

#include <cstdint>
#include <functional>
#include <string_view>
#include <variant>

#include "engine/support/result.h"

namespace recut {

// An expression's number: of a SymInt, or of a SymFloat.
using SymbolicNumber = std::variant<std::int64_t, double>;

using SizeOfSymbol = std::function<Result<std::int64_t>(std::string_view name)>;

// Quotients are exact until they leave the expression. Fails where the expression can't be read, as
// `size_of` does, where a divisor is 0, and where a number is not finite or doesn't fit into 64
// bits.
Result<SymbolicNumber> read_symbolic_number(std::string_view expression,
                                            const SizeOfSymbol& size_of);

}  // namespace recut
