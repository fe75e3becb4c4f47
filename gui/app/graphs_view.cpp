#include "gui/app/graphs_view.h"

#include <fmt/core.h>

#include "gui/app/app.h"
#include "gui/backend/paths.h"

namespace recut::gui {
namespace {

void take_graph_list(App& app, int serial, const Result<std::vector<GraphEntry>>& listed) {
  DocumentView* document = app.documents.find(serial);
  if (document == nullptr) return;
  auto& view = memory_of<GraphsView>(document->memories, kGraphsView);
  view.job = 0;
  if (listed)
    view.graphs = std::make_shared<const std::vector<GraphEntry>>(*listed);
  else
    view.fault = format(listed.diagnostics().front());
}

}  // namespace

bool wants_graph_list(const App& app, const DocumentView& document) {
  if (!document.bytes) return false;
  const auto* view = find_memory<GraphsView>(document.memories, kGraphsView);
  return view == nullptr || (!view->graphs && view->fault.empty() && !app.jobs.is_alive(view->job));
}

void start_graph_list(App& app, DocumentView& document) {
  Job job;
  job.title = fmt::format("Listing the graphs of {}", file_name(document.path));
  job.owner = document.serial;
  job.urgent = true;
  job.part = [&app, serial = document.serial, path = document.path,
              bytes = document.bytes](JobControl& control) {
    auto listed = list_graphs(*bytes, file_name(path));
    control.post(
        [&app, serial, listed = std::move(listed)] { take_graph_list(app, serial, listed); });
    return false;
  };
  memory_of<GraphsView>(document.memories, kGraphsView).job = app.jobs.start(std::move(job));
}

}  // namespace recut::gui
