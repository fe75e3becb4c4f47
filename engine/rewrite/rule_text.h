// Reads rules as text. engine/rewrite/README.md is the guide to writing them.
#pragma once

#include <string_view>

#include "engine/rewrite/rule.h"
#include "engine/support/result.h"

namespace recut {

// The rules, or all faults found (at most 20), with line and column.
Result<RuleSet> parse_rules(std::string_view text, std::string_view file_name);

// True if the text begins as rules do.
bool looks_like_rules(std::string_view text);

}  // namespace recut
