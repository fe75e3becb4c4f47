// The figures that a lesson's prose may name, taken from the state of the window, so that they
// can't be wrong. A new one is a row here.
#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <functional>
#include <utility>

#include "engine/support/units.h"
#include "gui/app/app.h"
#include "gui/app/flow_view.h"
#include "gui/app/lesson_figure.h"
#include "gui/app/lesson_kernels.h"
#include "gui/app/lessons.h"
#include "gui/model/search.h"

namespace recut::gui {
namespace {

constexpr std::string_view kUnknown = "–";

LessonFigure unknown_figure() { return {std::string(kUnknown), std::nullopt}; }

// `about`: the words after the figure's name, such as a value's name.
struct FigureRow {
  std::string_view name;
  LessonFigure (*figure)(const DocumentView& document, const std::string& about);
};

// Figures of a plan: of the shown one, or "before peak" of the pinned baseline.
struct PlanRow {
  std::string_view name;
  LessonFigure (*figure)(const PlanReport& report);
};
constexpr PlanRow kPlanFigures[] = {
    {"peak", [](const PlanReport& r) { return bytes_figure(r.peak_bytes); }},
    {"saved", [](const PlanReport& r) { return bytes_figure(r.saved_bytes); }},
    {"saved_values", [](const PlanReport& r) { return count_figure(r.saved_values); }},
    {"recompute", [](const PlanReport& r) { return micros_figure(r.recompute_us); }},
    {"runs", [](const PlanReport& r) { return count_figure(r.recomputed_runs); }},
    {"step", [](const PlanReport& r) { return micros_figure(r.step_us); }},
};

LessonFigure start_peak(const DocumentView& d, const std::string&) {
  return bytes_figure(d.start->peak());
}
LessonFigure start_saved(const DocumentView& d, const std::string&) {
  return bytes_figure(d.start->report().saved_bytes);
}
LessonFigure start_step(const DocumentView& d, const std::string&) {
  return micros_figure(d.start->report().step_us);
}
LessonFigure bound(const DocumentView& d, const std::string&) {
  return d.peak_bound() > 0 ? bytes_figure(d.peak_bound()) : unknown_figure();
}
LessonFigure least(const DocumentView& d, const std::string&) {
  return bytes_figure(d.least_peak());
}
LessonFigure budget(const DocumentView& d, const std::string&) {
  return d.plan_settings.budget_bytes == 0 ? LessonFigure{"none", std::nullopt}
                                           : bytes_figure(d.plan_settings.budget_bytes);
}
LessonFigure peak_at(const DocumentView& d, const std::string&) {
  const PlanReport& report = d.shown->report();
  return report.timeline.empty()
             ? unknown_figure()
             : LessonFigure{report.timeline[report.peak_step].node, std::nullopt};
}
LessonFigure bytes(const DocumentView& d, const std::string& value) {
  const NodeId id = d.find(value);
  return id.valid() ? bytes_figure(bytes_of(d.graph(), id)) : unknown_figure();
}
LessonFigure nodes(const DocumentView& d, const std::string&) {
  return count_figure(static_cast<std::int64_t>(d.graph_at_pass().order().size()));
}
// The figure "nodes_after 2": the nodes of the graph after that pass; 0 is the graph as read.
LessonFigure nodes_after(const DocumentView& d, const std::string& pass) {
  const auto at = static_cast<std::size_t>(std::strtoul(pass.c_str(), nullptr, 10));
  const PipelineReport& passes = d.document->passes;
  if (at > passes.passes.size()) return unknown_figure();
  return count_figure(static_cast<std::int64_t>(at == 0 ? passes.input.order().size()
                                                        : passes.passes[at - 1].nodes_after));
}

// Figures such as "torch_peak 0.5": a number of PyTorch's plan at that fraction, from the
// trade-off.
template <std::int64_t CurvePoint::*member>
LessonFigure torch(const DocumentView& d, const std::string& fraction) {
  if (!d.curve) return unknown_figure();
  const double requested = std::strtod(fraction.c_str(), nullptr);
  for (const CurvePoint& point : d.curve->report.torch)
    if (std::abs(point.fraction - requested) < 1e-9) return bytes_figure(point.*member);
  return unknown_figure();
}
LessonFigure torch_step(const DocumentView& d, const std::string& fraction) {
  if (!d.curve) return unknown_figure();
  const double requested = std::strtod(fraction.c_str(), nullptr);
  for (const CurvePoint& point : d.curve->report.torch)
    if (std::abs(point.fraction - requested) < 1e-9) return micros_figure(point.step_us);
  return unknown_figure();
}
// Figures of the shown flow: the number of paths and their total flow; and "price sum" of saving a
// value, in its weighted bytes.
LessonFigure paths(const DocumentView& d, const std::string&) {
  const FlowView* view = shown_flow(d);
  return view != nullptr ? count_figure(static_cast<std::int64_t>(view->flow->found))
                         : unknown_figure();
}
LessonFigure flow(const DocumentView& d, const std::string&) {
  const FlowView* view = shown_flow(d);
  return view != nullptr ? bytes_figure(view->flow->capacity) : unknown_figure();
}
LessonFigure amount(const DocumentView& d, const std::string&) {
  const FlowView* view = shown_flow(d);
  return view != nullptr && view->path() != nullptr ? bytes_figure(view->path()->amount)
                                                    : unknown_figure();
}
LessonFigure price(const DocumentView& d, const std::string& value) {
  if (const FlowView* view = shown_flow(d))
    for (const TorchFlowNode& node : view->flow->nodes)
      if (d.graph().node_name(node.node) == value) return bytes_figure(node.weight);
  return unknown_figure();
}

constexpr FigureRow kLessonFiguresRows[] = {
    {"peak_at", peak_at},
    {"start_peak", start_peak},
    {"start_saved", start_saved},
    {"start_step", start_step},
    {"bound", bound},
    {"least", least},
    {"budget", budget},
    {"bytes", bytes},
    {"nodes", nodes},
    {"nodes_after", nodes_after},
    {"torch_peak", torch<&CurvePoint::peak_bytes>},
    {"torch_saved", torch<&CurvePoint::saved_bytes>},
    {"torch_step", torch_step},
    {"paths", paths},
    {"flow", flow},
    {"amount", amount},
    {"price", price},
};

// The first word, and the rest.
std::pair<std::string_view, std::string> lesson_figures_parts_of(std::string_view name) {
  const std::size_t blank = std::min(name.find(' '), name.size());
  return {name.substr(0, blank), std::string(name.substr(std::min(blank + 1, name.size())))};
}

// The verb for the reader's pointer or finger, as the popup shows it: "Click" and "Tap".
std::optional<std::string> pointer_word(const App& app, std::string_view name) {
  if (name != "click" && name != "right_click") return std::nullopt;
  const std::string key = std::string(name) + (app.touched ? "_touch" : "");
  return LessonShelf::built_in().word(key, language_of(app));
}

// The function of a figure; null if there is no such figure.
std::function<LessonFigure(const DocumentView&)> figure_of(std::string_view name) {
  const bool before = name.substr(0, kBefore.size()) == kBefore;
  const auto [first, about] = lesson_figures_parts_of(before ? name.substr(kBefore.size()) : name);
  for (const PlanRow& row : kPlanFigures)
    if (row.name == first)
      return [&row, before](const DocumentView& d) {
        const SharedPlanView& plan = before ? d.baseline.plan : d.shown;
        return plan ? row.figure(plan->report()) : unknown_figure();
      };
  if (is_kernel_figure(name))
    return [name = std::string(name)](const DocumentView& d) {
      return kernel_figure(d, name).value_or(unknown_figure());
    };
  if (before) return nullptr;
  for (const FigureRow& row : kLessonFiguresRows)
    if (row.name == first)
      return [&row, about = about](const DocumentView& d) { return row.figure(d, about); };
  return nullptr;
}

}  // namespace

LessonFigure bytes_figure(std::int64_t bytes) {
  return {format_bytes(bytes), static_cast<double>(bytes)};
}
LessonFigure micros_figure(double micros) { return {format_micros(micros), micros}; }
LessonFigure count_figure(std::int64_t count) {
  return {format_count(count), static_cast<double>(count)};
}

std::optional<LessonFigure> lesson_figure(const App& app, std::string_view name) {
  if (const auto word = pointer_word(app, name)) return LessonFigure{*word, std::nullopt};
  const auto figure = figure_of(name);
  if (figure == nullptr) return std::nullopt;
  const bool ready = app.has_ready() && app.document()->shown && app.document()->start;
  return ready ? figure(*app.document()) : unknown_figure();
}

namespace {

constexpr std::string_view kSigns[] = {"<", "<=", "=", ">=", ">"};

std::optional<double> parse_number(std::string_view written) {
  const std::string text(written);
  char* end = nullptr;
  const double number = std::strtod(text.c_str(), &end);
  if (text.empty() || *end != 0) return std::nullopt;
  return number;
}

// A side of a comparison.
LessonFigure side_of(const App& app, std::string_view text) {
  const auto [first, rest] = lesson_figures_parts_of(text);
  const auto number = parse_number(first);
  if (number && rest.empty()) return {std::string(text), number};
  LessonFigure figure = lesson_figure(app, number ? rest : text).value_or(unknown_figure());
  if (number && figure.amount) figure = {std::string(text), *number * *figure.amount};
  return figure;
}

// A figure stays with its unit in one line.
std::string unbroken(const std::string& text) {
  std::string made;
  for (const char c : text) made += c == ' ' ? std::string("\u00a0") : std::string(1, c);
  return made;
}

}  // namespace

bool is_comparing_sign(std::string_view word) {
  return std::find(std::begin(kSigns), std::end(kSigns), word) != std::end(kSigns);
}

bool compares(const App& app, std::string_view left, std::string_view sign,
              std::string_view right) {
  const LessonFigure a = side_of(app, left), b = side_of(app, right);
  if (!a.amount || !b.amount) return false;
  const bool alike = a.text == b.text || *a.amount == *b.amount;
  if (alike) return sign.find('=') != std::string_view::npos;
  return sign != "=" && (*a.amount < *b.amount) == (sign.front() == '<');
}

std::string filled_in(const App& app, std::string_view text) {
  std::string filled;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t open = std::min(text.find('{', at), text.size());
    filled += text.substr(at, open - at);
    if (open == text.size()) break;
    const std::size_t close = std::min(text.find('}', open), text.size());
    const auto figure = lesson_figure(app, text.substr(open + 1, close - open - 1));
    filled += figure ? unbroken(figure->text) : "?";
    at = close + 1;
  }
  return filled;
}

}  // namespace recut::gui
