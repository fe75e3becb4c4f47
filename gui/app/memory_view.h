// What the timeline shows beside the plan itself: which steps, and a second plan to compare with.
#pragma once

#include <string>
#include <vector>

#include "gui/app/document_view.h"

namespace recut::gui {

// The memory "memory-view" of a document.
struct MemoryView {
  // Steps of the shown plan, by share of all of them, so that they mean the same for the next plan.
  double from = 0, to = 1;
  // Drawn as an outline over the shown plan; null for none. `asked_for`: its name while it is made.
  SharedPlanView baseline;
  std::string baseline_title;
  std::string asked_for;
  JobId making = 0;

  bool whole() const { return from <= 0 && to >= 1; }
  // Clamped to the step, and no less of it than a few steps of `steps`.
  void show(double from, double to, std::size_t steps);
};
MemoryView& memory_view(DocumentView& document);

// What the other choice for a value comes to, planned anew: the memory "flip" of a document.
struct FlipAnswer {
  NodeId node;
  std::shared_ptr<const Reasons> of;  // of the plan that it was asked about
  JobId making = 0;
  bool done = false;
  std::optional<Flip> flip;  // none where there is no other choice
};
FlipAnswer& flip_answer(DocumentView& document);

}  // namespace recut::gui
