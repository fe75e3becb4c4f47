// The timeline's parts around the curve, and its state from frame to frame.
#pragma once

#include "engine/schedule/schedule.h"
#include "gui/app/budget_drag.h"
#include "gui/app/memory_view.h"
#include "gui/app/panel.h"
#include "gui/panels/memory_curve.h"

namespace recut::gui {

// Facts that follow from the plan and stay as long as it is shown.
struct MemoryCache {
  MemoryStack stack;
  BudgetDrag budget;
  bool panning = false;  // the pointer drags the steps along
  bool panned = false;   // it did since it was pressed: letting go is no click

  // False if the graph names no modules: bands are by kind then, since all would have one colour.
  bool has_modules() const { return !layers_.names.empty(); }
  void bring_up(const DocumentView& document, bool by_kind);
  // The colour of a buffer, the same as of its band.
  Colour colour(const Theme& theme, const Buffer& buffer) const;
  // The positions of the steps of `other` on the axis of the shown plan.
  const std::vector<double>& positions_of(const DocumentView& document,
                                          const SharedPlanView& other);

 private:
  std::shared_ptr<const Document> layers_of_;
  LayerBands layers_;
  SharedPlanView stack_of_;
  bool by_kind_ = false;
  SharedPlanView positions_on_, positions_of_;
  std::vector<double> positions_;
};

// Right of the title: buttons for the bands, the baseline, the list, all steps, and copies.
void memory_heading(Ui& ui, const PanelInput& input, const DocumentView& document,
                    const MemoryView& view, bool has_modules, Intents& intents);
void memory_legend(Ui& ui, const DocumentView& document, const MemoryStack& stack, const Rect& row);

// Lines and dots with labels that don't overlap: `taken` has the occupied rectangles.
using Taken = std::vector<Rect>;
void mark_boundary(const Ui& ui, const Plot& plot, const PlanView& plan, Taken& taken);
void mark_no_recomputation(const Ui& ui, const Plot& plot, const PlanView& plan, Taken& taken);
// Bytes at which the budget's line stands; without a budget, at the baseline's peak.
std::int64_t budget_level(const DocumentView& document);
// Draws the budget's mark; true while the pointer drags it.
bool mark_budget(Ui& ui, const Plot& plot, const DocumentView& document, Taken& taken,
                 Intents& intents);
void mark_peak(const Ui& ui, const Plot& plot, const DocumentView& document, Motion& motion,
               const Taken& taken);
// The step at the keyboard's cursor, as text and as a mark on the plot.
std::string cursor_text(const PlanView& plan, std::size_t step);
void mark_cursor(const Ui& ui, const Plot& plot, const PlanView& plan, std::size_t step);

// The values that are alive at the peak, largest first; a click selects.
void peak_list(Ui& ui, const DocumentView& document, Rect area, Intents& intents);

}  // namespace recut::gui
