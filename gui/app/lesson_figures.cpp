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
#include "gui/app/lesson_kernels.h"
#include "gui/app/lessons.h"
#include "gui/app/search.h"

namespace recut::gui {
namespace {

constexpr std::string_view kUnknown = "–";

// `about`: what follows the figure's name, such as a value's name.
struct FigureRow {
  std::string_view name;
  std::string (*words)(const DocumentView& document, const std::string& about);
};

using FigureWords = std::string;

// Those of a plan: of the one that is shown, or "before peak" of the one that is pinned.
struct PlanRow {
  std::string_view name;
  FigureWords (*words)(const PlanReport& report);
};
constexpr PlanRow kPlanFigures[] = {
    {"peak", [](const PlanReport& r) { return format_bytes(r.peak_bytes); }},
    {"saved", [](const PlanReport& r) { return format_bytes(r.saved_bytes); }},
    {"saved_values", [](const PlanReport& r) { return format_count(r.saved_values); }},
    {"recompute", [](const PlanReport& r) { return format_micros(r.recompute_us); }},
    {"runs", [](const PlanReport& r) { return format_count(r.recomputed_runs); }},
    {"step", [](const PlanReport& r) { return format_micros(r.step_us); }},
};

FigureWords start_peak(const DocumentView& d, const FigureWords&) {
  return format_bytes(d.start->peak());
}
FigureWords start_saved(const DocumentView& d, const FigureWords&) {
  return format_bytes(d.start->report().saved_bytes);
}
FigureWords start_step(const DocumentView& d, const FigureWords&) {
  return format_micros(d.start->report().step_us);
}
FigureWords bound(const DocumentView& d, const FigureWords&) {
  return d.peak_bound() > 0 ? format_bytes(d.peak_bound()) : FigureWords(kUnknown);
}
FigureWords least(const DocumentView& d, const FigureWords&) {
  return format_bytes(d.least_peak());
}
FigureWords budget(const DocumentView& d, const FigureWords&) {
  return d.wishes.budget_bytes == 0 ? "none" : format_bytes(d.wishes.budget_bytes);
}
FigureWords peak_at(const DocumentView& d, const FigureWords&) {
  const PlanReport& report = d.shown->report();
  return report.timeline.empty() ? FigureWords(kUnknown) : report.timeline[report.peak_step].node;
}
FigureWords bytes(const DocumentView& d, const FigureWords& value) {
  const NodeId id = d.find(value);
  return id.valid() ? format_bytes(bytes_of(d.graph(), id)) : FigureWords(kUnknown);
}
FigureWords nodes(const DocumentView& d, const FigureWords&) {
  return format_count(static_cast<std::int64_t>(d.graph_at_pass().order().size()));
}
// "nodes_after 2": of the graph after that pass; 0 is the graph as read.
FigureWords nodes_after(const DocumentView& d, const FigureWords& pass) {
  const auto at = static_cast<std::size_t>(std::strtoul(pass.c_str(), nullptr, 10));
  const PipelineReport& passes = d.document->passes;
  if (at > passes.passes.size()) return FigureWords(kUnknown);
  return format_count(static_cast<std::int64_t>(at == 0 ? passes.input.order().size()
                                                        : passes.passes[at - 1].nodes_after));
}

// "torch_peak 0.5": of PyTorch's plan at that fraction, as the trade-off has it.
template <std::int64_t CurvePoint::*member>
FigureWords torch(const DocumentView& d, const FigureWords& fraction) {
  if (!d.curve) return FigureWords(kUnknown);
  const double wanted = std::strtod(fraction.c_str(), nullptr);
  for (const CurvePoint& point : d.curve->report.torch)
    if (std::abs(point.fraction - wanted) < 1e-9) return format_bytes(point.*member);
  return FigureWords(kUnknown);
}
FigureWords torch_step(const DocumentView& d, const FigureWords& fraction) {
  if (!d.curve) return FigureWords(kUnknown);
  const double wanted = std::strtod(fraction.c_str(), nullptr);
  for (const CurvePoint& point : d.curve->report.torch)
    if (std::abs(point.fraction - wanted) < 1e-9) return format_micros(point.step_us);
  return FigureWords(kUnknown);
}
// Of the flow that the graph shows: how many paths, what they send together; and "price sum" of
// saving a value, in its weighted bytes.
FigureWords paths(const DocumentView& d, const FigureWords&) {
  const FlowView* view = shown_flow(d);
  return view != nullptr ? format_count(static_cast<std::int64_t>(view->flow->found))
                         : FigureWords(kUnknown);
}
FigureWords flow(const DocumentView& d, const FigureWords&) {
  const FlowView* view = shown_flow(d);
  return view != nullptr ? format_bytes(view->flow->capacity) : FigureWords(kUnknown);
}
FigureWords amount(const DocumentView& d, const FigureWords&) {
  const FlowView* view = shown_flow(d);
  return view != nullptr && view->path() != nullptr ? format_bytes(view->path()->amount)
                                                    : FigureWords(kUnknown);
}
FigureWords price(const DocumentView& d, const FigureWords& value) {
  if (const FlowView* view = shown_flow(d))
    for (const TorchFlowNode& node : view->flow->nodes)
      if (d.graph().node_name(node.node) == value) return format_bytes(node.price);
  return FigureWords(kUnknown);
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
std::pair<std::string_view, FigureWords> lesson_figures_parts_of(std::string_view name) {
  const std::size_t blank = std::min(name.find(' '), name.size());
  return {name.substr(0, blank), FigureWords(name.substr(std::min(blank + 1, name.size())))};
}

// Null where there is no such figure.
std::function<FigureWords(const DocumentView&)> figure_of(std::string_view name) {
  const bool before = name.substr(0, kBefore.size()) == kBefore;
  const auto [first, about] = lesson_figures_parts_of(before ? name.substr(kBefore.size()) : name);
  for (const PlanRow& row : kPlanFigures)
    if (row.name == first)
      return [&row, before](const DocumentView& d) {
        const SharedPlanView& plan = before ? d.baseline.plan : d.shown;
        return plan ? row.words(plan->report()) : FigureWords(kUnknown);
      };
  if (is_kernel_figure(name))
    return [name = FigureWords(name)](const DocumentView& d) {
      return kernel_figure(d, name).value_or(FigureWords(kUnknown));
    };
  if (before) return nullptr;
  for (const FigureRow& row : kLessonFiguresRows)
    if (row.name == first)
      return [&row, about = about](const DocumentView& d) { return row.words(d, about); };
  return nullptr;
}

}  // namespace

std::optional<std::string> lesson_figure(const App& app, std::string_view name) {
  const auto figure = figure_of(name);
  if (figure == nullptr) return std::nullopt;
  const bool ready = app.has_ready() && app.document()->shown && app.document()->start;
  return ready ? figure(*app.document()) : FigureWords(kUnknown);
}

namespace {

// A figure stays with its unit in one line.
std::string unbroken(const std::string& words) {
  std::string made;
  for (const char c : words) made += c == ' ' ? std::string("\u00a0") : std::string(1, c);
  return made;
}

}  // namespace

std::string filled_in(const App& app, std::string_view words) {
  std::string filled;
  for (std::size_t at = 0; at < words.size();) {
    const std::size_t open = std::min(words.find('{', at), words.size());
    filled += words.substr(at, open - at);
    if (open == words.size()) break;
    const std::size_t close = std::min(words.find('}', open), words.size());
    filled += unbroken(lesson_figure(app, words.substr(open + 1, close - open - 1)).value_or("?"));
    at = close + 1;
  }
  return filled;
}

}  // namespace recut::gui
