// A memory snapshot over the plan that is shown: measured and planned bytes on one axis.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "engine/workspace/memory_comparison.h"
#include "gui/model/document_view.h"

namespace recut::gui {

class App;

// The memory of a document's snapshot. The snapshot stays when the graph or the plan changes; it is
// then compared again.
struct MeasuredView {
  std::string path;                                    // of the snapshot; "": none is open
  std::shared_ptr<const MemorySnapshot> snapshot;      // null while it is read
  std::shared_ptr<const MemoryComparison> comparison;  // null until it is made
  SharedPlanView plan;                                 // that it compares
  JobId job = 0;
};

inline constexpr std::string_view kMeasuredView = "measured";
MeasuredView& measured_view(DocumentView& document);

// The comparison with the shown plan; null while there is none.
const MemoryComparison* shown_memory_comparison(const DocumentView& document);
// True if the shown plan has to be compared, and no job is at it.
bool wants_memory_comparison(const App& app, const DocumentView& document);

// Tells by its content whether a file is a snapshot, if its name is no graph's. `bytes`: null if it
// has to be read.
bool is_snapshot(const App& app, const std::string& path,
                 const std::shared_ptr<const std::string>& bytes);

// Starts the job that reads a snapshot for the document. Its faults are notices.
void open_snapshot(App& app, DocumentView& document, const std::string& path,
                   std::shared_ptr<const std::string> bytes);
// Starts the job that compares it with the shown plan.
void start_memory_comparison(App& app, DocumentView& document);
void close_snapshot(App& app, DocumentView& document);

// The comparison as text: "measured +202 MiB, planned +202 MiB".
std::string comparison_summary(const MemoryComparison& comparison);
// The most bytes above those before the step that were measured within a step of the plan; the
// bytes of the last event before it if none lies within.
std::int64_t measured_at(const MemoryComparison& comparison, std::size_t step);

}  // namespace recut::gui
