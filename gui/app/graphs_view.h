// The graphs of a document's file, to choose one of them.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "engine/input/graph_list.h"
#include "gui/model/document_view.h"

namespace recut::gui {

class App;

// Kept for each document: the list is of the file, whichever graph is shown.
struct GraphsView {
  std::shared_ptr<const std::vector<GraphEntry>> graphs;  // null until they are listed
  std::string fault;                                      // why they can't be
  JobId job = 0;
};

inline constexpr std::string_view kGraphsView = "graphs of the file";

// True if the graphs have to be listed, and no job is at it.
bool wants_graph_list(const App& app, const DocumentView& document);
// Starts the job that lists them.
void start_graph_list(App& app, DocumentView& document);

}  // namespace recut::gui
