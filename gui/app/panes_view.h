// The comparison as two panes of the graph panel: `here` the shown graph of the document, `there`
// its baseline.
#pragma once

#include <optional>
#include <string>

#include "gui/model/comparison.h"

namespace recut::gui {

class App;

// State of the panel, kept for each document.
struct PanesView {
  bool requested = false;
  bool fresh = false;           // requested since the last frame: the camera fits a pane first
  SharedComparison comparison;  // the last that was made; see is_current()
  ShownGraph here_at_work, there_at_work;
  JobId job = 0;

  // The node that was selected in the pane there, of its graph, and the document's selection that
  // followed from it. Otherwise the selection there is the partner of the one here.
  NodeId there, there_for;
  int selections_there = 0;  // made so far
  NodeId hovered_there;
};

inline constexpr std::string_view kPanesMemory = "panes";
PanesView& panes_view(DocumentView& document);
const PanesView* find_panes_view(const DocumentView& document);  // null: never asked for

// True if the graph panel shows two panes.
bool has_panes(const DocumentView& document);
// The graph of the pane there; without a plan while that is made; none once it is gone.
std::optional<ShownGraph> graph_there(const App& app, const DocumentView& document);
// True if the comparison is of the shown graphs; the plans may differ.
bool is_of(const PanesView& view, const ShownGraph& here, const ShownGraph& there);

// Starts the job that makes the requested comparison, unless it is done or at work.
void start_comparison(App& app, DocumentView& document);

NodeId selected_there(const PanesView& view, const DocumentView& document);
NodeId hovered_there(const PanesView& view, const DocumentView& document);
// The difference that is selected; none if the selection is none.
std::optional<std::size_t> selected_step(const PanesView& view, const DocumentView& document);
// The next difference after the selection in program order, or the last one before it, around the
// end; nullopt if there is no difference.
std::optional<std::size_t> neighbour_step(const PanesView& view, const DocumentView& document,
                                          int by);

}  // namespace recut::gui
