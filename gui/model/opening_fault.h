// The reason why a file couldn't be opened, and help: found out by the reader of the file, so that
// the panel that shows it has nothing to read.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "engine/input/excerpt.h"
#include "engine/support/result.h"
#include "gui/backend/backend.h"

namespace recut::gui {

struct OpeningFault {
  Diagnostics diagnostics;                    // empty: nothing is wrong
  std::vector<std::optional<Excerpt>> lines;  // that they speak of, one for each
  std::vector<std::string> near;              // paths of files that stand there in its place
  std::vector<std::string> dimensions;        // of a model, that have to be given a size
  std::vector<std::string> values;            // inputs of a model, that may be given a value
};

// `bytes`: of the file, null where they couldn't be had. Called on any thread.
OpeningFault explain_fault(Backend& backend, const std::string& path, const std::string* bytes,
                           Diagnostics diagnostics);

// Files in the folder of `path` that Recut reads and that are named much like it, the nearest
// first; none where the platform can't look into folders.
std::vector<std::string> near_files(Backend& backend, const std::string& path);

// The fault as text: messages with their lines and carets.
std::string text_of(const OpeningFault& fault);
// The commands that messages name in `backticks`.
std::vector<std::string> commands_in(const OpeningFault& fault);

}  // namespace recut::gui
