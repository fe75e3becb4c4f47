#include "gui/app/workspace_file.h"

#include <nlohmann/json.hpp>

#include "engine/support/utf8.h"
#include "gui/app/app.h"

namespace recut::gui {
namespace {

using Json = nlohmann::ordered_json;

constexpr const char* kName = "workspace";  // in the backend's store
constexpr int kVersion = 1;

std::string text_of(const Json& json, const char* key, std::string otherwise = {}) {
  const auto found = json.is_object() ? json.find(key) : json.end();
  return found != json.end() && found->is_string() ? found->get<std::string>() : otherwise;
}

std::int64_t number_of(const Json& json, const char* key) {
  const auto found = json.is_object() ? json.find(key) : json.end();
  return found != json.end() && found->is_number_integer() ? found->get<std::int64_t>() : 0;
}

Json list_of(const Json& json, const char* key) {
  const auto found = json.is_object() ? json.find(key) : json.end();
  return found != json.end() && found->is_array() ? *found : Json::array();
}

std::vector<std::string> texts_of(const Json& json, const char* key) {
  std::vector<std::string> texts;
  for (const Json& one : list_of(json, key))
    if (one.is_string()) texts.push_back(one.get<std::string>());
  return texts;
}

Json texts_in(const std::vector<std::string>& texts) {
  Json list = Json::array();
  for (const std::string& text : texts) list.push_back(valid_utf8(text));
  return list;
}

Json json_of(const SavedDocument& document) {
  const Wishes& wishes = document.wishes;
  return {
      {"path", valid_utf8(document.path)},        {"budget_bytes", wishes.budget_bytes},
      {"device", valid_utf8(wishes.device)},      {"cost_model", valid_utf8(wishes.cost_model)},
      {"save", texts_in(wishes.pins.save)},       {"recompute", texts_in(wishes.pins.recompute)},
      {"selected", valid_utf8(document.selected)}};
}

SavedDocument document_of(const Json& json) {
  SavedDocument document;
  document.path = text_of(json, "path");
  document.wishes.budget_bytes = std::max<std::int64_t>(0, number_of(json, "budget_bytes"));
  document.wishes.device = text_of(json, "device", document.wishes.device);
  document.wishes.cost_model = text_of(json, "cost_model", document.wishes.cost_model);
  document.wishes.pins = {texts_of(json, "save"), texts_of(json, "recompute")};
  document.selected = text_of(json, "selected");
  return document;
}

}  // namespace

std::string write_workspace(const SavedWorkspace& workspace) {
  Json documents = Json::array();
  for (const SavedDocument& document : workspace.documents) documents.push_back(json_of(document));
  Json settings = Json::object();
  for (const auto& [name, value] : workspace.settings.all())
    settings[valid_utf8(name)] = valid_utf8(value);
  const Json all = {{"version", kVersion},
                    {"front", workspace.front},
                    {"documents", documents},
                    {"recent", texts_in(workspace.recent)},
                    {"settings", settings}};
  return all.dump(2) + "\n";
}

SavedWorkspace read_workspace(std::string_view text) {
  SavedWorkspace workspace;
  const Json all = Json::parse(text.begin(), text.end(), nullptr, false);
  if (!all.is_object() || number_of(all, "version") != kVersion) return workspace;
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
    if (document->state == DocumentState::failed) continue;
    if (document.get() == documents.front()) workspace.front = workspace.documents.size();
    workspace.documents.push_back({document->path, document->wishes, document->selected_name()});
  }
  workspace.recent = documents.recent();
  workspace.settings = settings;
  backend.store(kName, write_workspace(workspace));
}

bool App::restore_workspace() {
  const auto text = backend.load(kName);
  if (!text) return false;
  const SavedWorkspace workspace = read_workspace(*text);
  settings = workspace.settings;
  for (auto it = workspace.recent.rbegin(); it != workspace.recent.rend(); ++it)
    documents.remember(*it);
  if (!options_.files.empty()) return true;  // they were asked for instead
  std::vector<int> serials;
  for (const SavedDocument& saved : workspace.documents) {
    DocumentView& document = documents.add(saved.path, nullptr);
    document.wishes = saved.wishes;
    document.wanted_selection = saved.selected;
    serials.push_back(document.serial);
    planner.open(document);
  }
  if (workspace.front < serials.size()) documents.show(serials[workspace.front]);
  return true;
}

}  // namespace recut::gui
