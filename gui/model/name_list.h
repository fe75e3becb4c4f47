// Names one after another, as part of a sentence.
#pragma once

#include <string>
#include <vector>

namespace recut::gui {

// The first names, and the number of others: "a, b, c and 4 more".
std::string names_of(const std::vector<std::string>& names);

}  // namespace recut::gui
