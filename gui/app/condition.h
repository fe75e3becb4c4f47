// Conditions as text on the window's state, which scripts expect and lessons wait for.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "engine/support/result.h"

namespace recut::gui {

class App;

// Blanks part words; quotes hold them together, \" and \\ stand for themselves in them; `#` begins
// a remark. Fails on a quote that doesn't close.
Result<std::vector<std::string>> split_quoted(std::string_view line);

// True if `found` meets the expectation: the value itself (no word: nothing), or `contains PART`,
// `not WORDS`, `below NUMBER`, `above NUMBER`.
bool agrees(const std::string& found, const std::vector<std::string>& requested);

// One thing to come about: `state KEY VALUE`, `value LABEL VALUE` or `item LABEL`, the last with
// `no` before it where it has to be gone; or `figure peak < start_peak`, see lesson_figure.h.
// Bounds may be written as budgets are: `below 70%` is of the peak of the document in front with
// nothing recomputed.
struct Condition {
  enum class Kind : unsigned char { state, value, item, figure };
  Kind kind = Kind::state;
  bool no = false;
  std::string name;                    // of the state, an item's label, the figure at the left
  std::vector<std::string> requested;  // as agrees() has it; of a figure the sign and the other one
};

// Fails with the word found and the words expected.
Result<Condition> read_condition(std::string_view line);
bool holds(const App& app, const Condition& condition);

}  // namespace recut::gui
