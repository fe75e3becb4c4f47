// Patterns for names and module paths, as users write them in options and files.
#pragma once

#include <string_view>

namespace recut {

// True if the whole text matches: a '*' in `pattern` stands for any characters, also none. Linear
// in most cases, by one backtracking point.
bool matches_pattern(std::string_view pattern, std::string_view text);

// True if some sequence of a module path's dot-separated parts matches the pattern: "h.*.mlp" and
// "mlp" both match "transformer.h.3.mlp.act".
bool matches_module(std::string_view pattern, std::string_view module);

}  // namespace recut
