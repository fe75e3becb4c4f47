// The memory of the shown plan, step by step in program order: live bytes by module or by kind; the
// peak, the budget, the forward/backward boundary; a second plan as an outline. Wheel zooms, with
// Ctrl in height, dragging pans, a click selects the running call; commands/timeline.cpp has the
// keys.
#include <fmt/core.h>

#include <cmath>

#include "engine/ir/aliases.h"
#include "engine/support/units.h"
#include "gui/app/app.h"
#include "gui/app/measured_view.h"
#include "gui/app/timeline_cursor.h"
#include "gui/draw/widgets.h"
#include "gui/panels/memory_arena.h"
#include "gui/panels/memory_curve.h"
#include "gui/panels/memory_parts.h"

namespace recut::gui {
namespace {

constexpr float kListWidth = 250;

class TimelineView {
 public:
  TimelineView(Ui& ui, const PanelInput& input, const DocumentView& document, Intents& intents)
      : ui_(ui),
        input_(input),
        document_(document),
        plan_(*document.shown),
        view_(input.memory<MemoryView>("memory-view")),
        cache_(input.memory<MemoryCache>("memory")),
        intents_(intents),
        arena_(shows_arena(input.app)),
        schedule_(arena_ ? shown_schedule(document) : nullptr),
        measured_(shown_memory_comparison(document)) {
    cache_.bring_up(document, input.app.settings.text("memory.by", "module") == "kind");
  }

  void draw() {
    if (wants_memory_comparison(input_.app, document_))
      intents_.push_back({"measured.compare", ""});
    memory_heading(ui_, input_, document_, view_, cache_.has_modules(), intents_);
    Rect area = input_.area;
    if (input_.app.settings.flag("memory.list", false))
      peak_list(ui_, document_, area.cut_right(ui_.px(kListWidth)).inset(ui_.px(7), 0), intents_);
    memory_legend(ui_, document_, cache_.stack, area.cut_bottom(ui_.px(22)));
    const Plot plot = make_plot(area);
    if (plot.inside().width() < ui_.px(60) || plot.inside().height() < ui_.px(20)) return;
    plot.grid();
    const Rect& in = plot.inside();
    ui_.label({in.left - ui_.px(8), in.bottom + ui_.px(13)}, "step", Face::small, ui_.theme.faint,
              Align::right);
    const WidgetResponse t =
        interact(ui_, "steps", ItemKind::slider, plot.inside(), true, steps_text());
    ui_.items.set_span(cursor_span());
    navigate(t, plot);
    if (arena_) return arena(plot, t);
    curve(plot, t);
  }

 private:
  void curve(const Plot& plot, const WidgetResponse& t) {
    const auto columns = columns_of(cache_.stack.totals, first(), last(),
                                    static_cast<std::size_t>(plot.inside().width()));
    ImGui::PushClipRect(plot.inside().corner(), {plot.inside().right, plot.inside().bottom}, true);
    draw_stack(ui_, plot, cache_.stack, columns);
    ImGui::PopClipRect();
    plot.begin();
    if (document_.baseline.plan)
      draw_outline(ui_, plot, *document_.baseline.plan,
                   cache_.positions_of(document_, document_.baseline.plan),
                   outline_colour(ui_.theme, *document_.baseline.plan));
    if (measured_ != nullptr) draw_measured(ui_, plot, *measured_);
    plot.end();
    marks(plot);
    selected(plot);
    // The pointer counts only if the user works with it, not with the keyboard.
    const bool pointed = t.hovered && !cache_.panning && !ui_.items.keys_lead;
    cursor(plot, pointed);
    if (pointed) hover(plot, columns);
    if (t.pressed && !cache_.panned) select(plot, columns);
  }

  // Each buffer at its address; a click selects one.
  void arena(const Plot& plot, const WidgetResponse& t) {
    if (schedule_ == nullptr) return arena_to_come(plot);
    const NodeId selected = document_.planned_selection();
    const bool known = selected.valid() && plan_.graph().contains(selected);
    plot.begin();
    draw_arena(ui_, plot, *schedule_, cache_,
               known ? defining_node(plan_.graph(), selected) : NodeId());
    plot.end();
    Taken taken;
    mark_boundary(ui_, plot, plan_, taken);
    budget(plot, taken);
    mark_arena(ui_, plot, *schedule_, document_.plan_settings.budget_bytes, taken);
    if (const auto step = cursor_step(document_, view_)) mark_cursor(ui_, plot, plan_, *step);
    if (!t.hovered || cache_.panning) return;
    const Buffer* buffer = buffer_at(plot, *schedule_, ImGui::GetIO().MousePos);
    if (buffer == nullptr) return;
    const std::string text = buffer_text(*schedule_, *buffer);
    hint(ui_, text);
    ui_.items.add("buffer", ItemKind::figure, plot.inside(), true, text);
    if (t.pressed && !cache_.panned)
      intents_.push_back({"select.node", plan_.graph().node_name(buffer->owner)});
  }

  void arena_to_come(const Plot& plot) const {
    const auto& scheduling = input_.memory<Scheduling>(kScheduleMemory);
    if (input_.app.planner.wants_schedule(document_)) intents_.push_back({"memory.prepare", ""});
    const bool failed = scheduling.plan == document_.shown && !scheduling.faults.empty();
    const std::string text = failed ? format(scheduling.faults.front()) : "Scheduling …";
    Rect rect = plot.inside();
    ui_.items.add("arena words", ItemKind::figure, rect, true, text);
    ui_.text(rect.cut_top(ui_.px(kRow)), text, Face::text,
             failed ? ui_.theme.conflict : ui_.theme.dim);
  }

  double steps() const { return static_cast<double>(cache_.stack.steps()); }
  double first() const { return view_.from * steps(); }
  double last() const { return std::max(view_.to * steps(), first() + 1); }

  // The range shows all marks; a budget far above everything doesn't flatten it.
  double most_bytes() const {
    if (schedule_ != nullptr)
      return static_cast<double>(std::max<std::int64_t>(1, schedule_->schedule.arena_bytes));
    double most = static_cast<double>(
        std::max({plan_.peak(), plan_.report().baseline_peak_bytes, std::int64_t{1}}));
    if (document_.baseline.plan)
      most = std::max(most, static_cast<double>(document_.baseline.plan->peak()));
    if (measured_ != nullptr)
      most = std::max(most, static_cast<double>(measured_->measured_rise()));
    const auto budget = static_cast<double>(document_.plan_settings.budget_bytes);
    return budget <= most * 1.2 ? std::max(most, budget) : most;
  }

  Plot make_plot(Rect inside) const {
    inside.cut_left(std::round(ui_.px(58)));
    inside.cut_bottom(std::round(ui_.px(22)));
    inside.cut_top(std::round(ui_.px(18)));
    inside.cut_right(std::round(ui_.px(8)));
    const int across = std::max(2, static_cast<int>(inside.width() / ui_.px(90)));
    const int up = std::max(2, static_cast<int>(inside.height() / ui_.px(34)));
    const double most = input_.motion.ease("memory most", most_bytes() * 1.06);
    return Plot(ui_, inside, step_axis(first(), last(), cache_.stack.steps(), across),
                byte_axis(view_.bottom * most, view_.top * most, up));
  }

  std::string steps_text() const {
    if (view_.whole()) return fmt::format("{} steps", format_count(cache_.stack.totals.size()));
    return fmt::format("steps {} to {} of {}", format_count(std::llround(first())),
                       format_count(std::llround(last())), format_count(std::llround(steps())));
  }

  // The cursor's step; without a cursor the step at which keys would begin.
  Span cursor_span() const {
    const auto step = cursor_step(document_, view_);
    const double most = std::max(0.0, steps() - 1);
    if (!step && !plan_.report().timeline.empty()) {
      const std::size_t peak = plan_.report().peak_step;
      return {0, most, std::min(most, std::floor(first())),
              fmt::format("{}; the peak is at {}", steps_text(), cursor_text(plan_, peak))};
    }
    if (!step) return {0, most, 0, steps_text()};
    return {0, most, static_cast<double>(*step), cursor_text(plan_, *step)};
  }

  void navigate(const WidgetResponse& t, const Plot& plot) {
    const ImGuiIO& io = ImGui::GetIO();
    const double share = (view_.to - view_.from) / std::max(1.0f, plot.inside().width());
    if (t.hovered && io.MouseWheel != 0 && io.KeyCtrl) return stretch(plot, io.MouseWheel);
    if (t.hovered && io.MouseWheel != 0 && !io.KeyShift) {
      const double at = view_.from + (io.MousePos.x - plot.inside().left) * share;
      const double factor = io.MouseWheel > 0 ? 1 / 1.25 : 1.25;
      view_.show(at - (at - view_.from) * factor, at + (view_.to - at) * factor,
                 cache_.stack.steps());
    }
    const float sideways = io.MouseWheelH + (io.KeyShift ? io.MouseWheel : 0);
    if (t.hovered && sideways != 0) {
      const double by = -sideways * (view_.to - view_.from) * 0.1;
      view_.show(view_.from + by, view_.to + by, cache_.stack.steps());
    }
    cache_.panning = t.held && ImGui::IsMouseDragging(ImGuiMouseButton_Left, ui_.px(3));
    if (cache_.panning) {
      view_.show(view_.from - io.MouseDelta.x * share, view_.to - io.MouseDelta.x * share,
                 cache_.stack.steps());
      const double up = io.MouseDelta.y * (view_.top - view_.bottom) / plot.inside().height();
      view_.show_bytes(view_.bottom + up, view_.top + up);
      ImGui::SetMouseCursor(ImGuiMouseCursor_ResizeEW);
      cache_.panned = true;
    }
    if (t.doubled) intents_.push_back({"memory.zoom", ""});
    if (!t.held && !t.pressed) cache_.panned = false;
  }

  // Zooms the axis of bytes; the bytes under the pointer stay there.
  void stretch(const Plot& plot, float wheel) {
    const Rect& in = plot.inside();
    const double share = (in.bottom - ImGui::GetIO().MousePos.y) / in.height();
    const double at = view_.bottom + share * (view_.top - view_.bottom);
    const double factor = wheel > 0 ? 1 / 1.25 : 1.25;
    const double low = at - (at - view_.bottom) * factor;
    view_.show_bytes(std::max(0.0, low), low + (view_.top - view_.bottom) * factor);
  }

  // Draws the cursor's step; on a zoomed axis of bytes, with the values that are alive there.
  void cursor(const Plot& plot, bool pointed) const {
    const auto step = cursor_step(document_, view_);
    if (!step) return;
    if (!view_.all_bytes() && !pointed) {
      plot.begin();
      draw_lifetimes(ui_, plot, plan_, *step, alive_at(plan_, *step));
      plot.end();
    }
    mark_cursor(ui_, plot, plan_, *step);
  }

  // Draws the budget's line, which is dragged up and down; the plan follows in the same frame.
  void budget(const Plot& plot, Taken& taken) {
    const bool held = mark_budget(ui_, plot, document_, taken, intents_);
    const float line = plot.y(static_cast<double>(budget_level(document_)));
    const BudgetAxis axis{ImGui::GetIO().MousePos.y, line, ui_.px(kBudgetReach),
                          [&plot](float y) { return plot.value_at_y(y); }};
    if (const auto requested =
            dragged_budget(cache_.budget, held, axis, document_.plan_settings.budget_bytes))
      intents_.push_back({"budget.set", fmt::format("{}", *requested)});
  }

  void marks(const Plot& plot) {
    Taken taken;
    mark_boundary(ui_, plot, plan_, taken);
    mark_no_recomputation(ui_, plot, plan_, taken);
    budget(plot, taken);
    if (!cache_.stack.totals.empty()) mark_peak(ui_, plot, document_, input_.motion, taken);
  }

  void selected(const Plot& plot) const {
    const NodeId id = document_.planned_selection();
    if (!id.valid() || !plan_.graph().contains(id)) return;
    plot.begin();
    draw_selection(ui_, plot, plan_, id);
    plot.end();
  }

  // The step that is drawn under the pointer.
  const StepColumn* column_at(const Plot& plot, const std::vector<StepColumn>& columns) const {
    const double at = plot.value_at_x(ImGui::GetIO().MousePos.x);
    for (const StepColumn& column : columns)
      if (at >= static_cast<double>(column.first) && at < static_cast<double>(column.end))
        return &column;
    return nullptr;
  }

  void hover(const Plot& plot, const std::vector<StepColumn>& columns) {
    const StepColumn* column = column_at(plot, columns);
    if (column == nullptr) return;
    const std::size_t step = column->greatest;
    const auto alive = alive_at(plan_, step);
    plot.begin();
    draw_lifetimes(ui_, plot, plan_, step, alive);
    plot.end();
    step_tooltip(ui_, plan_, step, alive,
                 measured_ == nullptr ? "" : format_bytes(measured_at(*measured_, step)));
    const std::string& name = plan_.report().timeline[step].node;
    ui_.items.add("step", ItemKind::figure, plot.inside(), true,
                  step_label(plan_.report(), step) + " " + name);
  }

  void select(const Plot& plot, const std::vector<StepColumn>& columns) {
    if (const StepColumn* column = column_at(plot, columns))
      intents_.push_back({"timeline.go", std::to_string(column->greatest)});
  }

  Ui& ui_;
  const PanelInput& input_;
  const DocumentView& document_;
  const PlanView& plan_;
  MemoryView& view_;
  MemoryCache& cache_;
  Intents& intents_;
  const bool arena_;
  const SharedSchedule schedule_;           // in the arena's view
  const MemoryComparison* const measured_;  // over the curve; null: no snapshot is open
};

void draw_memory(Ui& ui, const PanelInput& input, Intents& intents) {
  if (const DocumentView* document = input.ready())
    TimelineView(ui, input, *document, intents).draw();
}

}  // namespace

Panel memory_panel() {
  Panel panel{"memory", "Memory", Dock::bottom_left, 0, 1, draw_memory};
  panel.at_first = true;
  return panel;
}

}  // namespace recut::gui
