#include "gui/app/workspace_file.h"

#include <nlohmann/json.hpp>

#include "engine/support/utf8.h"
#include "gui/app/app.h"
#include "gui/backend/paths.h"
#include "gui/model/loose_json.h"

namespace recut::gui {
namespace {

constexpr const char* kWorkspaceFileName = "workspace";  // in the backend's store
constexpr int kWorkspaceFileVersion = 1;

}  // namespace

std::string write_workspace(const SavedWorkspace& workspace) {
  Json documents = Json::array();
  for (const SavedDocument& document : workspace.documents) documents.push_back(json_of(document));
  Json settings = Json::object();
  for (const auto& [name, value] : workspace.settings.all())
    settings[valid_utf8(name)] = valid_utf8(value);
  const Json all = {{"version", kWorkspaceFileVersion},
                    {"front", workspace.front},
                    {"documents", documents},
                    {"recent", texts_in(workspace.recent)},
                    {"settings", settings}};
  return all.dump(2) + "\n";
}

SavedWorkspace read_workspace(std::string_view text) {
  SavedWorkspace workspace;
  const Json all = Json::parse(text.begin(), text.end(), nullptr, false);
  if (!all.is_object() || number_of(all, "version") != kWorkspaceFileVersion) return workspace;
  for (const Json& one : list_of(all, "documents")) {
    SavedDocument document = document_of(one);
    if (!document.path.empty()) workspace.documents.push_back(std::move(document));
  }
  workspace.front = static_cast<std::size_t>(std::max<std::int64_t>(0, number_of(all, "front")));
  workspace.recent = texts_of(all, "recent");
  const auto settings = all.find("settings");
  if (settings != all.end() && settings->is_object())
    for (const auto& [name, value] : settings->items())
      if (value.is_string()) workspace.settings.set(name, value.get<std::string>());
  return workspace;
}

// A document whose bytes came with a drop or from a dialog can't be found again by its path alone;
// where reading it fails, the window says so.
void App::save_workspace() {
  SavedWorkspace workspace;
  for (const auto& document : documents.all()) {
    if (document->state == DocumentState::failed || is_pasted(document->path)) continue;
    if (document.get() == documents.front()) workspace.front = workspace.documents.size();
    workspace.documents.push_back(saved_of(*document));
  }
  workspace.recent = documents.recent();
  workspace.settings = settings;
  backend.store(kWorkspaceFileName, write_workspace(workspace));
}

bool App::restore_workspace(bool with_documents) {
  const auto text = backend.load(kWorkspaceFileName);
  if (!text) return false;
  const SavedWorkspace workspace = read_workspace(*text);
  settings = workspace.settings;
  for (auto it = workspace.recent.rbegin(); it != workspace.recent.rend(); ++it)
    documents.remember(*it);
  if (!with_documents) return true;
  std::vector<int> serials;
  for (const SavedDocument& saved : workspace.documents) {
    DocumentView& document = documents.add(saved.path, nullptr);
    restore(document, saved);
    serials.push_back(document.serial);
    planner.open(document);
  }
  if (workspace.front < serials.size()) documents.show(serials[workspace.front]);
  return true;
}

}  // namespace recut::gui
