// Debug bundles of the window's runs and checks: a folder, or an archive in a page, by which the
// command repeats them elsewhere.
#pragma once

#include <string>

#include "gui/app/check_view.h"
#include "gui/app/run_view.h"

namespace recut::gui {

// The state for each document.
struct DebugView {
  JobId job = 0;
  std::string written;  // the path of the latest bundle; "": none was written
};

inline constexpr std::string_view kDebugMemory = "debug";
DebugView& debug_view(DocumentView& document);

// The setting that puts the inputs' values into bundles.
inline constexpr std::string_view kDebugData = "debug.data";

// True if the step took another memory than planned, or gave other outputs than the interpreter.
bool failed(const RunReport& run);
// True if outputs differ, or the peak.
bool failed(const CheckReport& check);

// The check of the shown plan; null if there is none.
std::shared_ptr<const CheckReport> shown_check(const DocumentView& document);

// Start the job that writes a bundle to that path. Fail if the window's state can't be repeated.
// The first repeats the shown plan's run on the chosen executor, the other one its check, which
// exists.
Result<Done> save_run_bundle(App& app, DocumentView& document, const std::string& path);
Result<Done> save_check_bundle(App& app, DocumentView& document, const std::string& path);

}  // namespace recut::gui
