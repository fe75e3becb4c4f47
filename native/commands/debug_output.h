// Debug bundles on disk, and the options by which a failed check leaves one.
#pragma once

#include <CLI/App.hpp>
#include <string>
#include <vector>

#include "engine/workspace/debug_bundle.h"
#include "native/commands/plan_arguments.h"
#include "native/console.h"

namespace recut::native {

// The sign of a failed `recut run --check` and `recut eval --check` in their output.
inline constexpr const char* kFailedRun = "DIFFERS|NOT AS PLANNED|NOT the planned";

struct DebugOutput {
  std::string folder;  // "": none
  bool with_data = false;

  // Adds --debug-dir and --debug-data.
  void add_to(CLI::App& command);

  // After a failed check: writes the bundle and names the next commands. Without a folder, prints
  // the command line that writes it.
  void leave(const Document& document, DebugRequest request, const Console& console) const;
};

// Writes the bundle's files into a folder.
Result<Done> write_bundle(const DebugBundle& bundle, const std::string& folder);

// The next commands on a written bundle.
std::string bundle_text(const DebugBundle& bundle, const std::string& folder);

// The words that repeat plan options on a bundle's graph, such as {"--budget", "50%"}.
std::vector<std::string> search_words(const PlanArguments& plan);

// Sets the profile that prices the plan, by its file's content or its name, and returns the words
// of `option` that name it in the bundle.
Result<std::vector<std::string>> profile_words(const std::string& option, const std::string& device,
                                               DebugRequest& request);

}  // namespace recut::native
