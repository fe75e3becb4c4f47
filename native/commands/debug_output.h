// The options by which a failed check leaves one.
#pragma once

#include <CLI/App.hpp>
#include <string>

#include "engine/workspace/debug_bundle.h"
#include "native/console.h"

namespace recut::native {

struct DebugOutput {
  std::string folder;  // "": none
  bool with_data = false;

  // Adds --debug-dir and --debug-data.
  void add_to(CLI::App& command);

  // After a failed check: writes the bundle and names the next commands. Without a folder, prints
  // the command line that writes it.
  void leave(const Document& document, const DebugRequest& request, const Console& console) const;
};

// The next commands on a written bundle.
std::string bundle_text(const DebugBundle& bundle, const std::string& folder);

}  // namespace recut::native
