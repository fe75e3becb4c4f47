// The parts of the timeline that are drawn by values: bands, lines, boxes.
#pragma once

#include <string>
#include <vector>

#include "engine/workspace/memory_comparison.h"
#include "gui/draw/plot.h"
#include "gui/model/memory_stack.h"

namespace recut::gui {

Colour colour_of(const Theme& theme, const MemoryStack& stack, std::size_t band);

// Draws the bands of each column's greatest step; paler where other steps of the column have less.
void draw_stack(const Ui& ui, const Plot& plot, const MemoryStack& stack,
                const std::vector<StepColumn>& columns);

// The colour of a plan's outline: red for PyTorch's plans, as everywhere.
Colour outline_colour(const Theme& theme, const PlanView& plan);

// Draws a plan's totals as a line, its steps at `positions`: the greatest of each column of pixels.
void draw_outline(const Ui& ui, const Plot& plot, const PlanView& plan,
                  const std::vector<double>& positions, Colour colour);

// The measured bytes above those before the step as a line, in the plan's order.
void draw_measured(const Ui& ui, const Plot& plot, const MemoryComparison& comparison);
Colour measured_colour(const Theme& theme);

// The storages that are alive at a step as boxes, which at that step stand on top of each other,
// largest at the bottom: width is lifetime, height is bytes.
void draw_lifetimes(const Ui& ui, const Plot& plot, const PlanView& plan, std::size_t step,
                    const std::vector<const StorageInstance*>& alive);

// Draws the lifetimes of one value's storages over the curve.
void draw_selection(const Ui& ui, const Plot& plot, const PlanView& plan, NodeId id);

// Shows the events of one step, beside the pointer. `measured`: its bytes in a memory snapshot; ""
// without one.
void step_tooltip(const Ui& ui, const PlanView& plan, std::size_t step,
                  const std::vector<const StorageInstance*>& alive, const std::string& measured);

// The axis of steps, with ticks at round numbers.
Axis step_axis(double from, double to, std::size_t steps, int ticks);

}  // namespace recut::gui
