// The plan shown for a budget is the plan made for it, the same for everybody who asks for it. If
// the window knows a faster one that holds the budget, made for another one, it offers that: to
// take it is to ask for the other budget.
#pragma once

#include <string>

#include "gui/model/document_view.h"

namespace recut::gui {

// A plan that was made for another budget, but holds this one and is faster than the plan made for
// this one (or that plan doesn't hold it). Null if there is none, and while the shown plan isn't
// the one made for its budget.
SharedPlanView offered_plan(const DocumentView& document);

// A plan of the curve that would be offered if planning for its budget gave as good a plan. Null if
// there is none, or if that was tried.
SharedPlanView promising_plan(const DocumentView& document);

// The offer as text, "made for 512 MiB: 1.2 % faster" or "made for 512 MiB: holds this budget"; and
// as a sentence.
std::string offer_text(const DocumentView& document, const PlanView& offered);
std::string offer_sentence(const DocumentView& document, const PlanView& offered);

}  // namespace recut::gui
