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

using Words = std::string;
using View = DocumentView;

// Those of a plan: of the one that is shown, or "before peak" of the one that is pinned.
struct PlanRow {
  std::string_view name;
  Words (*words)(const PlanReport& report);
};
constexpr PlanRow kPlanRows[] = {
    {"peak", [](const PlanReport& r) { return format_bytes(r.peak_bytes); }},
    {"saved", [](const PlanReport& r) { return format_bytes(r.saved_bytes); }},
    {"saved_values", [](const PlanReport& r) { return format_number(r.saved_values); }},
    {"recompute", [](const PlanReport& r) { return format_micros(r.recompute_us); }},
    {"runs", [](const PlanReport& r) { return format_number(r.recomputed_runs); }},
    {"step", [](const PlanReport& r) { return format_micros(r.step_us); }},
};

Words start_peak(const View& d, const Words&) { return format_bytes(d.start->peak()); }
Words start_saved(const View& d, const Words&) {
  return format_bytes(d.start->report().saved_bytes);
}
Words start_step(const View& d, const Words&) { return format_micros(d.start->report().step_us); }
Words bound(const View& d, const Words&) {
  return d.peak_bound() > 0 ? format_bytes(d.peak_bound()) : Words(kUnknown);
}
Words least(const View& d, const Words&) { return format_bytes(d.least_peak()); }
Words budget(const View& d, const Words&) {
  return d.wishes.budget_bytes == 0 ? "none" : format_bytes(d.wishes.budget_bytes);
}
Words peak_at(const View& d, const Words&) {
  const PlanReport& report = d.shown->report();
  return report.timeline.empty() ? Words(kUnknown) : report.timeline[report.peak_step].node;
}
Words bytes(const View& d, const Words& value) {
  const NodeId id = d.find(value);
  return id.valid() ? format_bytes(bytes_of(d.graph(), id)) : Words(kUnknown);
}
Words nodes(const View& d, const Words&) {
  return format_number(static_cast<std::int64_t>(d.graph_at_pass().order().size()));
}
// "nodes_after 2": of the graph after that pass; 0 is the graph as read.
Words nodes_after(const View& d, const Words& pass) {
  const auto at = static_cast<std::size_t>(std::strtoul(pass.c_str(), nullptr, 10));
  const PipelineReport& passes = d.document->passes;
  if (at > passes.passes.size()) return Words(kUnknown);
  return format_number(static_cast<std::int64_t>(at == 0 ? passes.input.order().size()
                                                         : passes.passes[at - 1].nodes_after));
}

// "torch_peak 0.5": of PyTorch's plan at that fraction, as the trade-off has it.
template <std::int64_t CurvePoint::*member>
Words torch(const View& d, const Words& fraction) {
  if (!d.curve) return Words(kUnknown);
  const double wanted = std::strtod(fraction.c_str(), nullptr);
  for (const CurvePoint& point : d.curve->report.torch)
    if (std::abs(point.fraction - wanted) < 1e-9) return format_bytes(point.*member);
  return Words(kUnknown);
}
Words torch_step(const View& d, const Words& fraction) {
  if (!d.curve) return Words(kUnknown);
  const double wanted = std::strtod(fraction.c_str(), nullptr);
  for (const CurvePoint& point : d.curve->report.torch)
    if (std::abs(point.fraction - wanted) < 1e-9) return format_micros(point.step_us);
  return Words(kUnknown);
}
// Of the flow that the graph shows: how many paths, what they send together; and "price sum" of
// saving a value, in its weighted bytes.
Words paths(const View& d, const Words&) {
  const FlowView* view = shown_flow(d);
  return view != nullptr ? format_number(static_cast<std::int64_t>(view->flow->found))
                         : Words(kUnknown);
}
Words flow(const View& d, const Words&) {
  const FlowView* view = shown_flow(d);
  return view != nullptr ? format_bytes(view->flow->capacity) : Words(kUnknown);
}
Words amount(const View& d, const Words&) {
  const FlowView* view = shown_flow(d);
  return view != nullptr && view->path() != nullptr ? format_bytes(view->path()->amount)
                                                    : Words(kUnknown);
}
Words price(const View& d, const Words& value) {
  if (const FlowView* view = shown_flow(d))
    for (const TorchFlowNode& node : view->flow->nodes)
      if (d.graph().node_name(node.node) == value) return format_bytes(node.price);
  return Words(kUnknown);
}

constexpr FigureRow kRows[] = {
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
std::pair<std::string_view, Words> parts_of(std::string_view name) {
  const std::size_t blank = std::min(name.find(' '), name.size());
  return {name.substr(0, blank), Words(name.substr(std::min(blank + 1, name.size())))};
}

// Null where there is no such figure.
std::function<Words(const View&)> figure_of(std::string_view name) {
  const bool before = name.substr(0, kBefore.size()) == kBefore;
  const auto [first, about] = parts_of(before ? name.substr(kBefore.size()) : name);
  for (const PlanRow& row : kPlanRows)
    if (row.name == first)
      return [&row, before](const View& d) {
        const SharedPlanView& plan = before ? d.baseline.plan : d.shown;
        return plan ? row.words(plan->report()) : Words(kUnknown);
      };
  if (is_kernel_figure(name))
    return [name = Words(name)](const View& d) {
      return kernel_figure(d, name).value_or(Words(kUnknown));
    };
  if (before) return nullptr;
  for (const FigureRow& row : kRows)
    if (row.name == first)
      return [&row, about = about](const View& d) { return row.words(d, about); };
  return nullptr;
}

}  // namespace

std::optional<std::string> lesson_figure(const App& app, std::string_view name) {
  const auto figure = figure_of(name);
  if (figure == nullptr) return std::nullopt;
  const bool ready = app.has_ready() && app.document()->shown && app.document()->start;
  return ready ? figure(*app.document()) : Words(kUnknown);
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
