// The trade-off: peak memory against the time for recomputation. It shows the area that is proved
// impossible, the known plans, PyTorch's beside them, and the budget as a line to drag; the shown
// plan follows it in the same frame.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>

#include "engine/support/units.h"
#include "gui/app/app.h"
#include "gui/app/budget_drag.h"
#include "gui/app/budget_slider.h"
#include "gui/draw/plot.h"
#include "gui/draw/plot_names.h"
#include "gui/draw/widgets.h"
#include "gui/model/offer.h"
#include "gui/model/schedule_view.h"
#include "gui/panels/trade_off_cost.h"
#include "gui/panels/trade_off_sizes.h"

namespace recut::gui {
namespace {

constexpr float kReach = kBudgetReach;  // units from a point that still count as on it

struct TradeOffMemory {
  std::string text;  // of the field
  bool editing = false;
  BudgetDrag drag;
  // The axis of time that is kept until the curve is whole, and whose it is.
  std::shared_ptr<const Document> axis_of;
  double axis_us = 0;
};

std::string point_text(const CurvePoint& point, bool inference) {
  return fmt::format("peak {}\n{}{} recomputed in {} runs\n{} {}", format_bytes(point.peak_bytes),
                     inference ? "" : fmt::format("saved {}\n", format_bytes(point.saved_bytes)),
                     format_micros(point.recompute_us), format_count(point.recomputed_runs),
                     inference ? "call" : "step", format_micros(point.step_us));
}

class TradeOffView {
 public:
  TradeOffView(Ui& ui, const PanelInput& input, const Rect& area, const DocumentView& document,
               Intents& intents)
      : ui_(ui),
        input_(input),
        document_(document),
        report_(document.curve ? document.curve->report : none_),
        memory_(input.memory<TradeOffMemory>("trade-off")),
        intents_(intents),
        area_(area),
        plot_(make_plot()) {}

  void draw() {
    budget_field();
    plot_.begin();
    impossible();
    plot_.end();
    plot_.grid();
    const WidgetResponse t =
        interact(ui_, "curve", ItemKind::slider, plot_.inside(), true, budget_text());
    ui_.items.set_span(budget_span(document_));
    drag(t);
    plot_.begin();
    curve();
    torch();
    plot_.end();
    names();
    budget_line(t);
    shown_plan();
    offer();
    if (t.hovered && !t.held) explain();
    if (t.menu) compare();
  }

 private:
  Plot make_plot() const {
    double bytes = static_cast<double>(document_.basis->baseline_cost.peak_bytes);
    double time = 0;
    for (const auto* points : {&report_.points, &report_.torch})
      for (const CurvePoint& point : *points) {
        bytes = std::max(bytes, static_cast<double>(point.peak_bytes));
        time = std::max(time, point.recompute_us);
      }
    if (time <= 0) time = document_.basis->baseline_cost.step_us / 4;
    time = kept_axis(time);
    Rect inside = area_;
    inside.cut_left(std::round(ui_.px(52)));
    inside.cut_bottom(std::round(ui_.px(22)));
    inside.cut_top(std::round(ui_.px(24)));
    inside.cut_right(std::round(ui_.px(8)));
    const int across = std::max(2, static_cast<int>(inside.width() / ui_.px(90)));
    const int up = std::max(2, static_cast<int>(inside.height() / ui_.px(34)));
    return Plot(ui_, inside, byte_axis(0, bytes * 1.05, across), time_axis(time * 1.12, up, true));
  }

  // While points come the axis only grows, so that shown points stay.
  double kept_axis(double time) const {
    if (memory_.axis_of != document_.document) memory_.axis_us = 0;
    memory_.axis_of = document_.document;
    const bool whole = document_.curve && report_.complete;
    memory_.axis_us = whole ? time : std::max(time, memory_.axis_us);
    return memory_.axis_us;
  }

  std::int64_t budget() const { return document_.plan_settings.budget_bytes; }
  std::string budget_text() const { return budget() == 0 ? "none" : format_bytes(budget()); }

  // No order peaks below the bound; and within a budget none recomputes for less than its proved
  // bound, or that of any larger one.
  void impossible() const {
    const Rect& in = plot_.inside();
    const std::int64_t bound = document_.peak_bound();
    if (bound <= 0) return;
    const float wall = plot_.x(static_cast<double>(bound));
    const Colour red = ui_.theme.conflict;
    ui_.fill({in.left, in.top, wall, in.bottom}, red, 0, 0.09);
    std::vector<ImVec2> edge{{wall, in.top}};
    float x = wall;
    for (const CurvePoint& point : report_.points) {
      const float y = plot_.y(point.recompute_bound_us);
      edge.push_back({x, y});
      x = std::max(x, plot_.x(static_cast<double>(point.budget_bytes)));
      edge.push_back({x, y});
    }
    edge.push_back({x, in.bottom});
    plot_.area(edge, red, 0.09);
    plot_.line(edge, mix(ui_.theme.panel, red, 0.55), ui_.whole(1));
  }

  // Draws the curve in steps: a plan serves every budget from its peak to the next plan's.
  void curve() const {
    const auto& points = report_.points;
    if (points.empty()) return;
    const Colour blue = ui_.theme.selection;
    const float first = plot_.x(static_cast<double>(points.front().peak_bytes));
    std::vector<ImVec2> line{{first, plot_.inside().top}};
    for (const CurvePoint& point : points) {
      const ImVec2 at = plot_.at(static_cast<double>(point.peak_bytes), point.recompute_us);
      if (line.size() > 1 && at.x > line.back().x) line.push_back({at.x, line.back().y});
      line.push_back(at);
    }
    line.push_back({plot_.inside().right, line.back().y});
    plot_.line(line, blue, ui_.px(1.8f));
    for (const CurvePoint& point : points)
      ui_.circle(plot_.at(static_cast<double>(point.peak_bytes), point.recompute_us), ui_.px(1.9f),
                 blue);
  }

  void torch() const {
    for (const CurvePoint& point : report_.torch)
      ui_.cross(plot_.at(static_cast<double>(point.peak_bytes), point.recompute_us), ui_.px(4),
                ui_.theme.conflict, ui_.px(1.6f));
  }

  // The points of the curve as it is drawn, in steps.
  std::vector<ImVec2> points_of_curve() const {
    std::vector<ImVec2> points;
    for (const CurvePoint& point : report_.points)
      points.push_back(plot_.at(static_cast<double>(point.peak_bytes), point.recompute_us));
    return points;
  }

  // Rectangles that names leave free: the curve, PyTorch's points, the plan, the budget and the
  // offer.
  Occupied occupied_places() const {
    const Rect& in = plot_.inside();
    Occupied occupied;
    const float thick = ui_.px(6);
    const auto points = points_of_curve();
    for (std::size_t i = 0; i + 1 < points.size(); ++i) {
      const ImVec2 corner{points[i + 1].x, points[i].y};
      occupy_line(occupied, points[i], corner, thick);
      occupy_line(occupied, corner, points[i + 1], thick);
    }
    if (!points.empty()) occupy_line(occupied, {points.front().x, in.top}, points.front(), thick);
    if (!points.empty()) occupy_line(occupied, points.back(), {in.right, points.back().y}, thick);
    for (const CurvePoint& point : report_.torch)
      occupied.push_back(
          rect_around(plot_.at(static_cast<double>(point.peak_bytes), point.recompute_us),
                      ui_.px(11), ui_.px(11)));
    const PlanReport& plan = document_.shown->report();
    occupied.push_back(rect_around(
        plot_.at(static_cast<double>(plan.peak_bytes), plan.recompute_us), ui_.px(14), ui_.px(14)));
    if (budget() > 0) occupy_line(occupied, {line_x(), in.top}, {line_x(), in.bottom}, ui_.px(4));
    if (document_.offers_backward() || offered_plan(document_) != nullptr)
      occupied.push_back({in.left, in.top + ui_.px(22), in.right, in.top + ui_.px(26 + kRow)});
    return occupied;
  }

  // Labels of the areas and curves, at every width: the impossible, Recut's curve, PyTorch's
  // points.
  void names() {
    const Rect& in = plot_.inside();
    Occupied occupied = occupied_places();
    const auto show = [&](const char* label, const PlotName& name) {
      const PlacedName placed = place_name(ui_, name, in, occupied);
      draw_name(ui_, placed, name.colour);
      if (!placed.text.empty())
        ui_.items.add(label, ItemKind::figure, placed.box, true, placed.text);
    };
    const std::int64_t bound = document_.peak_bound();
    if (bound > 0)
      show("impossible", {{"proved impossible", "impossible"}, ui_.theme.conflict, wall()});
    if (!report_.torch.empty()) show("PyTorch", {torch_text(), ui_.theme.conflict, crosses()});
    // The label of Recut's plans keeps off the area that is proved impossible.
    if (bound > 0)
      occupied.push_back({in.left, in.top, plot_.x(static_cast<double>(bound)), in.bottom});
    if (!report_.points.empty())
      show("Recut", {{"Recut's plans", "Recut"}, ui_.theme.selection, points_of_curve()});
  }

  // The points of the area that is proved impossible, and of its edge, as anchors of its name.
  std::vector<ImVec2> wall() const {
    const Rect& in = plot_.inside();
    const float x = plot_.x(static_cast<double>(document_.peak_bound()));
    const float middle = (in.left + x) / 2, low = in.bottom - ui_.px(14);
    return {{middle, in.top + ui_.px(22)},
            {middle, low},
            {x, low},
            {x, in.centre().y},
            {x, in.top + ui_.px(22)}};
  }

  std::vector<ImVec2> crosses() const {
    std::vector<ImVec2> points;
    for (const CurvePoint& point : report_.torch)
      points.push_back(plot_.at(static_cast<double>(point.peak_bytes), point.recompute_us));
    return points;
  }

  std::vector<std::string> torch_text() const {
    const std::string fused = document_.plan_settings.cost_model == "fused" ? ", fused alike" : "";
    const std::string settings = fmt::format("{}", fmt::join(report_.torch_settings, " "));
    const std::string who = (report_.torch_recorded ? "PyTorch" : "as PyTorch partitions") +
                            (settings.empty() ? "" : " by " + settings);
    return {fmt::format("{}, budgets 1.0 … 0.0{}", who, fused), who, "PyTorch"};
  }

  // A better plan of another budget, to be taken by a click; below the labels of PyTorch's points.
  void offer() {
    if (document_.offers_backward()) return offer_backward();
    const SharedPlanView offered = offered_plan(document_);
    if (!offered) return;
    const Rect& in = plot_.inside();
    const std::string text = offer_text(document_, *offered);
    const float take = ui_.width("take it", Face::text) + ui_.px(24);
    const float wide = std::min(in.width(), ui_.width(text, Face::small) + ui_.px(18) + take);
    Rect row = rect_at({in.right - wide, in.top + ui_.px(24)}, {wide, ui_.px(kRow)});
    ui_.fill(row, ui_.theme.panel, ui_.px(kRadius));
    const std::string sentence = offer_sentence(document_, *offered);
    if (button(ui_, "take", row.cut_right(take), "take it")) intents_.push_back({"plan.take", ""});
    hint(ui_, sentence);
    ui_.items.add("offer", ItemKind::figure, row, true, sentence);
    ui_.text(row.inset(ui_.px(6), 0), text, Face::small, ui_.theme.text, Align::right);
  }

  // The trade-off is that of inference; a training step's needs a backward.
  void offer_backward() {
    const Rect& in = plot_.inside();
    const std::string_view text = document_.applied_transforms.differentiate
                                      ? "Forward mode: inference"
                                      : "A forward graph: inference";
    const float take = ui_.width("Differentiate", Face::text) + ui_.px(24);
    const float wide = std::min(in.width(), ui_.width(text, Face::small) + ui_.px(18) + take);
    Rect row = rect_at({in.right - wide, in.top + ui_.px(24)}, {wide, ui_.px(kRow)});
    ui_.fill(row, ui_.theme.panel, ui_.px(kRadius));
    if (button(ui_, "differentiate", row.cut_right(take), "Differentiate"))
      intents_.push_back({"pass.differentiate", ""});
    hint(ui_, "Makes the joint graph of a training step (g)");
    ui_.text(row.inset(ui_.px(6), 0), text, Face::small, ui_.theme.text, Align::right);
  }

  float line_x() const {
    return budget() == 0 ? plot_.inside().right : plot_.x(static_cast<double>(budget()));
  }

  void drag(const WidgetResponse& t) {
    const BudgetAxis axis{ImGui::GetIO().MousePos.x, line_x(), ui_.px(kReach),
                          [this](float x) { return plot_.value_at_x(x); }};
    if (const auto requested = dragged_budget(memory_.drag, t.held, axis, budget()))
      intents_.push_back({"budget.set", fmt::format("{}", *requested)});
  }

  void budget_line(const WidgetResponse& t) const {
    const Rect& in = plot_.inside();
    const float x = std::clamp(std::round(line_x()), in.left, in.right) + 0.5f;
    const Colour colour = colour_of(ui_.theme, document_.budget_answer());
    ui_.items.add("budget", ItemKind::handle, {x - ui_.px(4), in.top, x + ui_.px(4), in.bottom},
                  true, budget_text());
    const bool near = t.hovered && std::abs(ImGui::GetIO().MousePos.x - x) < ui_.px(kReach);
    if (near || t.held) ImGui::SetMouseCursor(ImGuiMouseCursor_ResizeEW);
    if (budget() == 0) return;
    ui_.dashed_line({x, in.top}, {x, in.bottom}, colour, near || t.held ? ui_.px(2) : ui_.px(1.3f),
                    ui_.px(4), ui_.px(3));
    const std::string text = pill_text();
    const float wide = ui_.width(text, Face::small) + ui_.px(12);
    const float left = std::clamp(x - wide / 2, in.left - ui_.px(40), in.right - wide);
    const Rect pill = rect_at({left, in.top - ui_.px(20)}, {wide, ui_.px(18)});
    ui_.fill(pill, colour, ui_.px(kRadius));
    ui_.text(pill, text, Face::small, ui_.theme.background, Align::centre);
    ui_.items.add("answer", ItemKind::figure, pill, true, text);
  }

  std::string pill_text() const {
    switch (document_.budget_answer()) {
      case BudgetAnswer::held:
        return "budget " + budget_text();
      case BudgetAnswer::open:
        return fmt::format("planning for {} …", budget_text());
      case BudgetAnswer::refused:
        break;
    }
    return fmt::format("{} can't be held, least {}", budget_text(),
                       format_bytes(document_.least_peak()));
  }

  // Draws the point of the shown plan; it moves to a new plan's place, so that the eye follows.
  void shown_plan() const {
    const PlanReport& plan = document_.shown->report();
    const ImVec2 to = plot_.at(static_cast<double>(plan.peak_bytes), plan.recompute_us);
    const auto x = static_cast<float>(input_.motion.ease("trade-off x", to.x));
    const auto y = static_cast<float>(input_.motion.ease("trade-off y", to.y));
    const std::string value = fmt::format("{}, {}{}", format_bytes(plan.peak_bytes),
                                          signed_micros(plan.recompute_us), arena_text(", "));
    ui_.items.add("plan", ItemKind::figure, rect_around({x, y}, ui_.px(12), ui_.px(12)), true,
                  value);
    ui_.circle({x, y}, ui_.px(6), ui_.theme.panel);
    ui_.circle({x, y}, ui_.px(5), colour_of(ui_.theme, document_.budget_answer()));
    ui_.ring({x, y}, ui_.px(5), ui_.theme.text, ui_.px(1.4f));
  }

  std::string arena_text(const char* before) const {
    const std::string arena = arena_beside_peak(document_);
    return arena.empty() ? arena : before + ("arena " + arena);
  }

  bool inference() const {
    return report_.inference || (document_.shown && document_.shown->report().inference);
  }

  CurvePoint shown_point() const {
    const PlanReport& plan = document_.shown->report();
    CurvePoint point;
    point.peak_bytes = plan.peak_bytes;
    point.saved_bytes = plan.saved_bytes;
    point.step_us = plan.step_us;
    point.recompute_us = plan.recompute_us;
    point.recomputed_runs = plan.recomputed_runs;
    return point;
  }

  struct Nearest {
    const CurvePoint* point = nullptr;
    bool theirs = false;  // PyTorch's
  };

  bool on_shown() const {
    const ImVec2 at = ImGui::GetIO().MousePos;
    const PlanReport& plan = document_.shown->report();
    const ImVec2 dot = plot_.at(static_cast<double>(plan.peak_bytes), plan.recompute_us);
    return std::hypot(dot.x - at.x, dot.y - at.y) < ui_.px(kReach);
  }

  // The point under the pointer, Recut's or PyTorch's.
  Nearest nearest() const {
    const ImVec2 at = ImGui::GetIO().MousePos;
    Nearest nearest;
    float best = ui_.px(kReach);
    for (const auto* points : {&report_.points, &report_.torch})
      for (const CurvePoint& point : *points) {
        const ImVec2 p = plot_.at(static_cast<double>(point.peak_bytes), point.recompute_us);
        const float away = std::hypot(p.x - at.x, p.y - at.y);
        if (away >= best) continue;
        best = away;
        nearest = {&point, points == &report_.torch};
      }
    return nearest;
  }

  // The shown plan stands over the others.
  void explain() const {
    if (on_shown()) return hint(ui_, point_text(shown_point(), inference()) + arena_text("\n"));
    const auto [point, theirs] = nearest();
    if (point == nullptr) return;
    const bool once = !theirs && point->recomputed_runs == 0;
    hint(ui_, (theirs ? fmt::format("PyTorch's budget {:g}\n", point->fraction) : "") +
                  (once ? "nothing recomputed, in the best order\n" : "") +
                  point_text(*point, inference()) + "\nRight click: compare its memory");
  }

  // Shows the plan under the pointer as an outline in the timeline.
  void compare() {
    const auto [point, theirs] = nearest();
    if (point == nullptr) return;
    intents_.push_back({"baseline.pin", theirs ? fmt::format("torch {:g}", point->fraction)
                                               : fmt::format("{}", point->peak_bytes)});
  }

  // The budget as text, at the right of the heading: "6.5GiB", "40%", "none".
  void budget_field() {
    Rect rect = input_.heading;
    const Rect box = rect.cut_right(ui_.px(104)).inset(0, ui_.px(8));
    ui_.text(rect.cut_right(ui_.px(66)).inset(ui_.px(8), 0), "budget", Face::small, ui_.theme.dim,
             Align::right);
    ui_.fitting(rect, {"peak against extra time", "time by peak"}, Face::small, ui_.theme.dim);
    if (!memory_.editing) memory_.text = budget_text();
    FieldLook look;
    look.face = Face::mono;
    look.hint = "6.5GiB, 40%";
    const FieldAnswer answer = field(ui_, "budget field", box, memory_.text, look);
    memory_.editing = answer.active && !answer.committed;
    if (answer.committed && memory_.text != budget_text())
      intents_.push_back(
          {"budget.set", typed_budget(memory_.text, document_.basis->baseline_cost.peak_bytes)});
  }

  static inline const CurveReport none_{};

  Ui& ui_;
  const PanelInput& input_;
  const DocumentView& document_;
  const CurveReport& report_;
  TradeOffMemory& memory_;
  Intents& intents_;
  const Rect area_;
  const Plot plot_;
};

void draw_trade_off(Ui& ui, const PanelInput& input, Intents& intents) {
  const DocumentView* document = input.ready();
  if (document == nullptr) return;
  Rect area = input.area;
  draw_sizes(ui, input, *document, area, intents);
  draw_cost(ui, input, *document, area);
  TradeOffView(ui, input, area, *document, intents).draw();
}

}  // namespace

Panel trade_off_panel() {
  Panel panel{"trade-off", "Trade-off", Dock::bottom_right, 0, 1, draw_trade_off};
  panel.at_first = true;
  return panel;
}

}  // namespace recut::gui
