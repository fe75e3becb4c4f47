// The workspace as text: open documents with their plan settings, and the window's settings. JSON,
// so that users can read it; damaged or unknown parts are passed over.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "gui/app/settings.h"
#include "gui/model/saved_document.h"

namespace recut::gui {

struct SavedWorkspace {
  std::vector<SavedDocument> documents;
  std::size_t front = 0;
  std::vector<std::string> recent;  // latest first
  Settings settings;
};

std::string write_workspace(const SavedWorkspace& workspace);
SavedWorkspace read_workspace(std::string_view text);

}  // namespace recut::gui
