// The budget as a slider: its value and range for screen readers, and its keys.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "gui/app/command.h"
#include "gui/draw/ui.h"
#include "gui/model/document_view.h"

namespace recut::gui {

// A budget as it was typed: a number without a unit that is too small for bytes has the unit that
// `peak` is shown in: "8" of a step of 8.51 GiB is "8GiB".
std::string typed_budget(std::string_view text, std::int64_t peak);

// The range of budgets: from the least proved peak to the peak without recomputation, which stands
// for no budget.
Span budget_span(const DocumentView& document);

// Makes the item that was added last the budget's line. It gets the span, and its own keys while
// the keyboard is on it: arrows move it by a percent of the peak without recomputation, Page keys
// by ten, Home to the least known peak, End to no budget.
void budget_slider(Ui& ui, const DocumentView& document, Intents& intents);

}  // namespace recut::gui
