// The steps and bytes of the plan that the timeline shows; and the outcome of the opposite choice
// for a value.
#pragma once

#include <string>
#include <vector>

#include "gui/model/document_view.h"

namespace recut::gui {

// The memory "memory-view" of a document.
struct MemoryView {
  // The shown steps as shares of all steps, so that they hold for the next plan, too.
  double from = 0, to = 1;
  // The shown bytes as shares of the axis that shows all of them.
  double bottom = 0, top = 1;
  // The keys' position; it holds as long as plan and selection do. See timeline_cursor.h.
  struct Cursor {
    std::size_t step = 0;
    NodeId selected;
    SharedPlanView plan;
  } cursor;

  bool all_bytes() const { return bottom <= 0 && top >= 1; }
  bool whole() const { return from <= 0 && to >= 1 && all_bytes(); }
  // Shows the shares `from` to `to`, clamped to 0 … 1, and at least a few steps of `steps`.
  void show(double from, double to, std::size_t steps);
  void show_bytes(double bottom, double top);
};
MemoryView& memory_view(DocumentView& document);

// True if buffers are shown at their addresses, instead of how many bytes are alive.
class App;
bool shows_arena(const App& app);

// The outcome of the opposite choice for a value, planned again: the memory "flip" of a document.
struct FlipAnswer {
  NodeId node;
  std::shared_ptr<const Reasons> of;  // of the plan that it was asked about
  JobId making = 0;
  bool done = false;
  std::optional<Flip> flip;  // none where there is no other choice
};
FlipAnswer& flip_answer(DocumentView& document);

}  // namespace recut::gui
