// Expressions of sizes as sympy's srepr writes them, in an exported program:
//   Mul(Integer(2), Symbol('s31', positive=True, integer=True))   =>   (2 * s31)
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "engine/support/result.h"

namespace recut {

// The expression as symbolic_number.h reads it. A text without calls of sympy's is given back: very
// old files have the short form. Fails on anything else than calls, names, numbers and texts, on
// deep nesting, and on a long text.
Result<std::string> read_sympy_text(std::string_view text);

// The name of the symbol that the whole expression is; none for any other.
std::optional<std::string> symbol_of_sympy_text(std::string_view text);

}  // namespace recut
