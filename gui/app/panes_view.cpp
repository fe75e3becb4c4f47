#include "gui/app/panes_view.h"

#include <algorithm>

#include "gui/app/app.h"
#include "gui/app/compare_view.h"

namespace recut::gui {
namespace {

const CompareView kNothingChosen;

const CompareView& choice_of(const DocumentView& document) {
  const auto* view = find_memory<CompareView>(document.memories, kCompareMemory);
  return view != nullptr ? *view : kNothingChosen;
}

bool is_same_graph(const ShownGraph& a, const ShownGraph& b) {
  return a.document == b.document && a.pass == b.pass;
}

// The position of the selection among the steps: 2 * i at step i, 2 * i - 1 before it.
std::ptrdiff_t position_of_selection(const PanesView& view, const DocumentView& document) {
  if (const auto step = selected_step(view, document))
    return 2 * static_cast<std::ptrdiff_t>(*step);
  const Comparison& comparison = *view.comparison;
  const Graph& graph = comparison.here.shown.graph();
  const NodeId selected = document.selection.node;
  if (!selected.valid() || !graph.contains(selected)) return -1;
  std::size_t at = 0;
  for (std::size_t i = 0; i < comparison.steps.size(); ++i) {
    const NodeId here = comparison.steps[i].here;
    if (here.valid() && graph.position(here) < graph.position(selected)) at = i + 1;
  }
  return 2 * static_cast<std::ptrdiff_t>(at) - 1;
}

}  // namespace

PanesView& panes_view(DocumentView& document) {
  return memory_of<PanesView>(document.memories, kPanesMemory);
}

const PanesView* find_panes_view(const DocumentView& document) {
  return find_memory<PanesView>(document.memories, kPanesMemory);
}

bool has_panes(const DocumentView& document) {
  const PanesView* view = find_panes_view(document);
  return view != nullptr && view->requested && document.is_ready() && document.shown != nullptr;
}

std::optional<ShownGraph> graph_there(const App& app, const DocumentView& document) {
  const CompareView& choice = choice_of(document);
  ShownGraph there = shown_graph(document);
  if (const auto pass = compared_pass(document, choice)) {
    there.pass = *pass;
    return there;
  }
  if (const DocumentView* other = compared_document(app, document, choice))
    return shown_graph(*other);
  if (compared_other(document, choice)) return std::nullopt;  // a document that was closed
  there.plan = compared_plan(app, document, choice);
  return there;
}

bool is_of(const PanesView& view, const ShownGraph& here, const ShownGraph& there) {
  return view.comparison != nullptr && is_same_graph(view.comparison->here.shown, here) &&
         is_same_graph(view.comparison->there.shown, there);
}

void start_comparison(App& app, DocumentView& document) {
  const auto there = graph_there(app, document);
  if (!there) return;
  PanesView& view = panes_view(document);
  const ShownGraph here = shown_graph(document);
  if (app.jobs.is_alive(view.job) && view.here_at_work == here && view.there_at_work == *there)
    return;
  app.jobs.cancel(view.job);
  view.here_at_work = here;
  view.there_at_work = *there;
  Job job{"Comparing graphs", document.serial, true, true, {}};
  job.part = [&app, serial = document.serial, here, there = *there](JobControl& control) {
    const SharedComparison comparison = make_comparison(here, there);
    control.post([&app, serial, comparison] {
      if (DocumentView* found = app.documents.find(serial))
        panes_view(*found).comparison = comparison;
    });
    return false;
  };
  view.job = app.jobs.start(std::move(job));
}

NodeId selected_there(const PanesView& view, const DocumentView& document) {
  if (!view.comparison) return {};
  const Comparison& comparison = *view.comparison;
  const bool chosen = view.there.valid() && view.there_for == document.selection.node;
  if (chosen && comparison.there.shown.graph().contains(view.there)) return view.there;
  return comparison.here.partner(document.selection.node);
}

NodeId hovered_there(const PanesView& view, const DocumentView& document) {
  if (view.hovered_there.valid() || !view.comparison) return view.hovered_there;
  return view.comparison->here.partner(document.selection.hovered);
}

std::optional<std::size_t> selected_step(const PanesView& view, const DocumentView& document) {
  if (!view.comparison) return std::nullopt;
  const NodeId here = document.selection.node, there = selected_there(view, document);
  const auto& steps = view.comparison->steps;
  const auto found = std::find_if(steps.begin(), steps.end(), [&](const ComparisonStep& step) {
    return step.here.valid() ? step.here == here : step.there == there;
  });
  if (found == steps.end()) return std::nullopt;
  return static_cast<std::size_t>(found - steps.begin());
}

std::optional<std::size_t> neighbour_step(const PanesView& view, const DocumentView& document,
                                          int by) {
  if (!view.comparison || view.comparison->steps.empty()) return std::nullopt;
  const auto count = static_cast<std::ptrdiff_t>(view.comparison->steps.size());
  const std::ptrdiff_t position = position_of_selection(view, document);
  // An odd position lies between two steps and moves to the one on that side; an even one moves to
  // the neighbour.
  const bool at_step = position >= 0 && position % 2 == 0;
  const std::ptrdiff_t next = at_step  ? position / 2 + by
                              : by > 0 ? (position + 1) / 2
                                       : (position - 1) / 2;
  if (!at_step && by < 0 && position <= 0) return static_cast<std::size_t>(count - 1);
  return static_cast<std::size_t>((next + count) % count);
}

}  // namespace recut::gui
