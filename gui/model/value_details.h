// The facts about one value as text, for the panel and for the clipboard.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "gui/model/document_view.h"
#include "gui/model/value_table.h"

namespace recut::gui {

struct DetailLine {
  std::string what, text;
};

struct ValueDetails {
  std::string title;     // the node's name
  bool in_plan = false;  // false: a pass took the node away
  Role role = Role::input;
  OverrideKind override_kind = OverrideKind::no;
  std::vector<DetailLine> lines;
  std::vector<NodeId> operands, users;  // distinct, in order
  // The reason against a choice, as the end of a sentence; "" if the value can be chosen so.
  std::string why_not_saved, why_not_recomputed;
  bool can_flip = false;

  bool empty() const { return title.empty(); }
};

// The details of a node; empty if nothing is selected. Lines that need reasons are left out until
// these are known.
ValueDetails details_of(const DocumentView& document, NodeId id);
std::string text_of(const ValueDetails& details);

// The outcome of `flip`, beside the shown plan.
std::string flip_text(const Flip& flip, const PlanView& shown);
// The promise of the value's row, with all others as they are; "" if the plan keeps it exactly.
std::string promise_text(const Flip& flip, const PlanView& shown, const ValueRow& row);

// The reason why the settings can't be held, if there are overrides; "" if they can.
std::string conflict_text(const DocumentView& document);
// The values of overrides each of which alone stands in the way, as far as it is known.
std::vector<NodeId> blamed_values(const DocumentView& document);

}  // namespace recut::gui
