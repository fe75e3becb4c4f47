// The outcome of a change of plan settings: the values whose role differs from the plan before, and
// why.
#pragma once

#include <memory>
#include <string>

#include "gui/model/document_view.h"
#include "gui/model/plan_difference.h"

namespace recut::gui {

// A change between two plans; a job makes it, and it is never changed.
struct PlanChange {
  PlanChange(const AnsweredPlan& was, const AnsweredPlan& is);
  // Builds it from its slow parts: `change` of the plans, `users` of the later graph.
  PlanChange(const AnsweredPlan& was, const AnsweredPlan& is, PlanDifference change, Users users);

  const SharedPlanView before, after;
  const PlanDifference difference;  // here: after; there: before
  const std::string cause;          // "budget 3.00 GiB, was 4.25 GiB"
  // The change as text: "peak -1.25 GiB, step +3.10 ms; 3 now recomputed (1.5 GiB), 1 now saved (64
  // MiB)".
  const std::string outcome;
  const Users users;
};

// The values whose fate differs, here after the change and there before it.
PlanDifference difference_between(const AnsweredPlan& was, const AnsweredPlan& is);

// The reason for the present role of a row's value. `reasons`: of the plan after.
std::string flip_reason(const PlanChange& change, const FateRow& row, const Reasons& reasons);

// A value that is made of one that backward doesn't read, and saved in its place.
struct SavedInstead {
  NodeId node;        // invalid: nothing is
  double micros = 0;  // to make it of the other
};
SavedInstead saved_instead(const PlanView& plan, const Users& users, NodeId node);
// The remark on the value saved instead: "div, made of it in 1.00 µs, is saved instead"; "" if
// there is none.
std::string instead_text(const PlanView& plan, const Users& users, NodeId node);
// The remark with "backward reads nothing of it" before it.
std::string unread_text(const PlanView& plan, const Users& users, NodeId node);

// Remarks on values whose override came to something else, a sentence each.
std::string override_remarks(const PlanChange& change, const AnsweredPlan& was,
                             const AnsweredPlan& is);

}  // namespace recut::gui
