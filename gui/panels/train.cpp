// Train: the optimiser, the loss as it falls, and the arena of each plan that the steps went by.
#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "engine/support/units.h"
#include "gui/app/app.h"
#include "gui/app/run_target.h"
#include "gui/app/train_view.h"
#include "gui/draw/plot.h"
#include "gui/draw/widgets.h"
#include "gui/model/schedule_view.h"
#include "gui/panels/run_bundle.h"
#include "gui/pictures/axis.h"

namespace recut::gui {
namespace {

constexpr float kTrainLeft = 46, kBelow = 20, kAbove = 20;  // units: beside the plot
constexpr float kRateWide = 84, kRemoveWide = 64;
constexpr std::string_view kOptimizers[] = {"sgd", "adam", "adamw"};

struct TrainMemory {
  std::string rate;  // as it is typed
  bool editing = false;
};

Axis count_axis(double to, int ticks) {
  Axis axis{0, std::max(to, 1.0), {}};
  const double tick = std::max(1.0, time_tick(axis.to, ticks));
  for (int k = 0; k * tick <= axis.to; ++k)
    axis.ticks.push_back({k * tick, format_count(static_cast<std::int64_t>(k * tick))});
  return axis;
}

Axis loss_axis(double from, double to, int ticks) {
  Axis axis{from, to > from ? to : from + 1, {}};
  const double tick = time_tick(axis.to - axis.from, ticks);
  for (double k = std::ceil(axis.from / tick); k * tick <= axis.to; ++k)
    axis.ticks.push_back({k * tick, fmt::format("{:g}", k == 0 ? 0 : k * tick)});
  return axis;
}

// The lower end of the axis: 0, or below the least loss if losses fill a small part of the axis or
// are negative.
double floor_of(double least, double most) {
  const double range = most - least;
  return least >= 0 && range > 0.5 * most ? 0 : least - 0.1 * range;
}

class TrainPanel {
 public:
  TrainPanel(Ui& ui, const PanelInput& input, const DocumentView& document, TrainMemory& memory,
             Intents& intents)
      : ui_(ui),
        input_(input),
        document_(document),
        memory_(memory),
        intents_(intents),
        view_(shown_training(document)),
        training_(is_training(input.app, document)) {}

  void draw() {
    head();
    Rect area = input_.area;
    optimizers(area);
    area.cut_top(ui_.px(4));
    if (view_ == nullptr || (view_->losses.empty() && view_->faults.empty()))
      return line(area, text_before(), ui_.theme.dim);
    figures(area.cut_top(std::round(ui_.px(kRow))));
    for (const Diagnostic& fault : view_->faults) line(area, format(fault), ui_.theme.conflict);
    if (view_->diverged())
      line(area, "The loss is no number any more: try a lower learning rate.", ui_.theme.conflict);
    if (!training_ && view_->latest.measured_peak_bytes != view_->latest.planned_peak_bytes)
      draw_bundle_offer(ui_, input_, area, "debug.save", intents_);
    if (!view_->means.empty()) curve(area);
  }

 private:
  bool can_run() const { return chosen_executor(input_.app) != nullptr; }
  const std::optional<OptimizerSettings>& choice() const {
    return document_.plan_settings.transforms.optimizer;
  }

  std::string text_before() const {
    if (training_) return "Compiling …";
    const std::string arena = arena_beside_peak(document_);
    const std::string peak = format_bytes(document_.shown->report().peak_bytes) +
                             (arena.empty() ? "" : ", arena " + arena);
    if (!can_run()) return "Peaks at " + peak + ". This program can't run it: recut-gui can.";
    if (!choice()) return "Peaks at " + peak + ". An optimiser's update joins the step.";
    return "Peaks at " + peak + ". The budget can be dragged while it trains.";
  }

  void line(Rect& area, std::string_view text, Colour colour) const {
    const Rect row = area.cut_top(std::round(ui_.px(kRow)));
    ui_.items.add("words", ItemKind::figure, row, true, std::string(text));
    ui_.text(row, text, Face::text, colour);
  }

  // The reason why the graph can't be trained; "" if it can.
  std::string_view why_not() const {
    if (!can_run()) return "This program can't run steps: recut-gui can";
    if (document_.mesh) return "The graph is that of one rank: remove the mesh to train";
    if (!document_.document->loss) return "No output of this graph is a loss, one number to lower";
    return "";
  }

  void head() {
    Rect rect = input_.heading;
    const auto at = [&](float wide) {
      const Rect box = rect.cut_right(ui_.px(wide)).inset(0, ui_.px(8));
      rect.cut_right(ui_.px(6));
      return box;
    };
    const std::string_view reason = why_not();
    if (training_) {
      if (button(ui_, "stop", at(72), "Stop", ButtonLook::plain, !view_->ends))
        intents_.push_back({"train.stop", ""});
    } else {
      const bool more = view_ != nullptr && !view_->losses.empty();
      const bool diverged = view_ != nullptr && view_->diverged();
      if (button(ui_, "begin", at(72), more ? "Go on" : "Train", ButtonLook::primary,
                 reason.empty() && !diverged))
        intents_.push_back({"train.begin", ""});
      hint(ui_, !reason.empty() ? reason
                : diverged      ? "The loss is no number any more: begin again"
                                : "Steps by the plan that is shown (Ctrl Shift Enter)");
      if (more && button(ui_, "again", at(96), "Begin again", ButtonLook::plain, reason.empty()))
        intents_.push_back({"train.again", ""});
    }
    if (view_ != nullptr && !view_->latest.where.empty())
      ui_.text(rect, "on " + view_->latest.where, Face::small, ui_.theme.dim);
  }

  // The rate has a row of its own where it has no room behind the names.
  void optimizers(Rect& area) {
    const float high = ui_.target(kRow);
    Rect row = area.cut_top(high);
    const float label = ui_.text(row, "optimiser", Face::text, ui_.theme.dim);
    row.cut_left(label + ui_.px(12));
    for (const std::string_view name : kOptimizers) {
      const Rect rect = row.cut_left(ui_.px(62));
      if (tab(ui_, name, rect, name, choice() && choice()->name == name))
        intents_.push_back({"train.optimizer", std::string(name)});
    }
    if (!choice()) return;
    row.cut_left(ui_.px(10));
    if (row.width() < ui_.px(kRateWide + 8 + kRemoveWide)) row = area.cut_top(high);
    rate(row.cut_left(ui_.px(kRateWide)).inset(0, ui_.fingers ? 0 : ui_.px(1)));
    row.cut_left(ui_.px(8));
    if (button(ui_, "none", row.cut_left(ui_.px(kRemoveWide)), "Remove", ButtonLook::quiet))
      intents_.push_back({"train.none", ""});
    hint(ui_, "A step without an optimiser again");
  }

  void rate(const Rect& box) {
    if (!memory_.editing) memory_.rate = fmt::format("{}", choice()->learning_rate);
    FieldLook look;
    look.face = Face::mono;
    look.hint = "rate";
    const FieldAnswer answer = field(ui_, "rate", box, memory_.rate, look);
    hint(ui_, "The learning rate");
    memory_.editing = answer.active;
    if (answer.committed)
      intents_.push_back({"train.optimizer", choice()->name + " " + memory_.rate});
  }

  // The latest figures in a row; a figure without room is left out.
  void figures(Rect row) const {
    const TrainingFigures& latest = view_->latest;
    const auto tell = [&](std::string_view what, const std::string& value) {
      const float wide =
          ui_.width(what, Face::small) + ui_.width(value, Face::mono_strong) + ui_.px(26);
      if (wide > row.width()) return;
      figure(ui_, what, row.cut_left(wide), what, value, ui_.theme.text);
    };
    tell("step", format_count(view_->steps()));
    if (!view_->means.empty()) tell("loss", fmt::format("{:.4g}", view_->means.back()));
    const std::int64_t by = latest.measured_peak_bytes - latest.planned_peak_bytes;
    tell("arena", format_count(latest.measured_peak_bytes) + " B, " +
                      (by == 0 ? "as planned" : signed_bytes(by) + " by plan"));
    const std::int64_t arena = latest.planned_peak_bytes, peak = document_.shown->peak();
    if (arena != peak)
      tell("which is", arena_note(arena, peak, document_.plan_settings.budget_bytes));
    tell("a step", format_micros(1e3 * latest.step_ms));
    tell("compiled in", format_micros(1e3 * view_->compile_ms));
  }

  void curve(Rect area) const {
    Rect inside = area;
    inside.cut_left(ui_.px(kTrainLeft));
    inside.cut_right(ui_.px(8));
    inside.cut_top(ui_.px(kAbove));
    inside.cut_bottom(ui_.px(kBelow));
    if (inside.height() < ui_.px(24) || inside.width() < ui_.px(60)) return;
    ui_.items.add("loss curve", ItemKind::figure, area, true,
                  fmt::format("{:.6g} at first, {:.6g} after {} steps", view_->losses.front(),
                              view_->losses.back(), view_->steps()));
    const double low = floor_of(view_->least, view_->most), room = 0.05 * (view_->most - low);
    const Plot plot(ui_, inside, count_axis(static_cast<double>(view_->steps()), 8),
                    loss_axis(low, view_->most + room, 4));
    plot.grid();
    stretches(plot);
    plot.begin();
    plot.line(points(plot, view_->losses), mix(ui_.theme.panel, ui_.theme.selection, 0.4),
              ui_.px(1));
    plot.line(points(plot, view_->means), ui_.theme.selection, ui_.px(2));
    plot.end();
  }

  // The points of the curve, at most two in a pixel's column: its first and its last.
  static std::vector<ImVec2> points(const Plot& plot, const std::vector<double>& values) {
    std::vector<ImVec2> points;
    for (std::size_t i = 0; i < values.size() && std::isfinite(values[i]); ++i) {
      const ImVec2 at = plot.at(static_cast<double>(i + 1), values[i]);
      const std::size_t count = points.size();
      const bool crowded = count >= 2 && std::floor(points[count - 2].x) == std::floor(at.x);
      if (crowded)
        points.back() = at;
      else
        points.push_back(at);
    }
    return points;
  }

  // A line where another plan took over, and each plan's arena above its own steps.
  void stretches(const Plot& plot) const {
    const Rect& in = plot.inside();
    for (std::size_t i = 0; i < view_->stretches.size(); ++i) {
      const PlanStretch& stretch = view_->stretches[i];
      const bool last = i + 1 == view_->stretches.size();
      const float left = plot.x(static_cast<double>(stretch.first));
      const float right =
          last ? in.right : plot.x(static_cast<double>(view_->stretches[i + 1].first));
      const std::string peak = "arena " + format_bytes(stretch.measured_peak_bytes);
      ui_.items.add(fmt::format("stretch {}", i), ItemKind::figure,
                    {left, in.top - ui_.px(kAbove), right, in.bottom}, true, peak);
      if (i > 0)
        ui_.dashed_line({std::round(left) + 0.5f, in.top}, {std::round(left) + 0.5f, in.bottom},
                        ui_.theme.saved, ui_.px(1), ui_.px(3), ui_.px(3));
      if (ui_.width(peak, Face::mono_small) + ui_.px(6) > right - left) continue;
      ui_.label({left + ui_.px(3), in.top - ui_.px(10)}, peak, Face::mono_small, ui_.theme.dim,
                Align::left);
    }
  }

  Ui& ui_;
  const PanelInput& input_;
  const DocumentView& document_;
  TrainMemory& memory_;
  Intents& intents_;
  const TrainView* view_;
  const bool training_;
};

void draw_train(Ui& ui, const PanelInput& input, Intents& intents) {
  const DocumentView* document = input.ready();
  if (document == nullptr) return;
  TrainPanel(ui, input, *document, input.memory<TrainMemory>("train.panel"), intents).draw();
}

}  // namespace

Panel train_panel() { return {"train", "Train", Dock::bottom_right, 5, 1, draw_train}; }

}  // namespace recut::gui
