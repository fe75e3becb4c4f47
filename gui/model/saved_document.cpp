#include "gui/model/saved_document.h"

#include <fmt/core.h>

#include <algorithm>
#include <any>
#include <cstdlib>
#include <nlohmann/json.hpp>

#include "engine/support/utf8.h"

namespace recut::gui {
namespace {

constexpr std::size_t kMaxGroups = 100'000;  // more than any graph has; a bound for hostile files

// Keys fill 64 bits, which JSON's numbers don't hold: sixteen digits each.
Json keys_in(const std::vector<std::uint64_t>& keys) {
  Json list = Json::array();
  for (const std::uint64_t key : keys) list.push_back(fmt::format("{:016x}", key));
  return list;
}

std::vector<std::uint64_t> keys_of(const Json& json, const char* name) {
  std::vector<std::uint64_t> keys;
  for (const std::string& text : texts_of(json, name)) {
    char* end = nullptr;
    const std::uint64_t key = std::strtoull(text.c_str(), &end, 16);
    if (text.size() == 16 && *end == '\0' && keys.size() < kMaxGroups) keys.push_back(key);
  }
  return keys;
}

Json json_of(const SavedView& view) {
  Json json = Json::object();
  if (view.camera)
    json["camera"] = {{"x", view.camera->x}, {"y", view.camera->y}, {"zoom", view.camera->zoom}};
  if (view.open) json["open"] = keys_in(*view.open);
  return json;
}

SavedView view_of(const Json& json) {
  SavedView view;
  if (!json.is_object()) return view;
  if (const auto camera = json.find("camera"); camera != json.end()) {
    const auto x = real_of(*camera, "x"), y = real_of(*camera, "y");
    const auto zoom = real_of(*camera, "zoom");
    if (x && y && zoom && *zoom > 0) view.camera = SavedView::Camera{*x, *y, *zoom};
  }
  if (const auto open = json.find("open"); open != json.end() && open->is_array())
    view.open = keys_of(json, "open");
  return view;
}

}  // namespace

Json json_of(const SavedDocument& document) {
  const PlanSettings& plan_settings = document.plan_settings;
  Json json = {{"path", valid_utf8(document.path)},
               {"budget_bytes", plan_settings.budget_bytes},
               {"device", valid_utf8(plan_settings.device)},
               {"cost_model", valid_utf8(plan_settings.cost_model)},
               {"save", texts_in(plan_settings.overrides.save)},
               {"recompute", texts_in(plan_settings.overrides.recompute)},
               {"selected", valid_utf8(document.selected)}};
  if (plan_settings.overrides.ignore_checkpoints) json["ignore_checkpoints"] = true;
  if (!plan_settings.torch.empty()) json["torch"] = texts_in(plan_settings.torch);
  if (plan_settings.effort != 1) json["effort"] = plan_settings.effort;
  if (Json transforms = json_of(plan_settings.transforms); !transforms.empty())
    json["recipe"] = std::move(transforms);
  if (document.pass) json["pass"] = *document.pass;
  if (Json view = json_of(document.view); !view.empty()) json["view"] = std::move(view);
  return json;
}

SavedDocument document_of(const Json& json) {
  SavedDocument document;
  document.path = text_of(json, "path");
  document.plan_settings.budget_bytes = std::max<std::int64_t>(0, number_of(json, "budget_bytes"));
  document.plan_settings.device = text_of(json, "device", document.plan_settings.device);
  document.plan_settings.cost_model =
      text_of(json, "cost_model", document.plan_settings.cost_model);
  const double effort = real_of(json, "effort").value_or(1);
  if (effort >= kMinEffort && effort <= kMaxEffort) document.plan_settings.effort = effort;
  document.plan_settings.overrides.save = texts_of(json, "save");
  document.plan_settings.overrides.recompute = texts_of(json, "recompute");
  if (const auto torch = read_torch_options(texts_of(json, "torch")))
    document.plan_settings.torch = write_torch_options(*torch);
  document.selected = text_of(json, "selected");
  if (!json.is_object()) return document;
  const auto ignored = json.find("ignore_checkpoints");
  document.plan_settings.overrides.ignore_checkpoints = ignored != json.end() && *ignored == true;
  if (const auto transforms = json.find("recipe"); transforms != json.end())
    document.plan_settings.transforms = transform_settings_of(*transforms);
  const auto pass = json.find("pass");
  if (pass != json.end() && pass->is_number_unsigned()) document.pass = pass->get<std::size_t>();
  if (const auto view = json.find("view"); view != json.end()) document.view = view_of(*view);
  return document;
}

std::string write_document(const SavedDocument& document) { return json_of(document).dump(); }

SavedDocument read_document(std::string_view text) {
  return document_of(Json::parse(text.begin(), text.end(), nullptr, false));
}

SavedDocument saved_of(const DocumentView& document) {
  SavedDocument saved{document.path, document.plan_settings, document.selected_name(), {}, {}};
  if (document.is_ready() && document.pass != document.document->passes.passes.size())
    saved.pass = document.pass;
  if (!document.is_ready()) {
    saved.selected = document.pending_selection;
    saved.pass = document.pending_pass;
  }
  if (const auto* view = find_memory<SavedView>(document.memories, kSavedView)) saved.view = *view;
  return saved;
}

void restore(DocumentView& document, const SavedDocument& saved) {
  document.plan_settings = saved.plan_settings;
  document.pending_selection = saved.selected;
  document.pending_pass = saved.pass;
  memory_of<SavedView>(document.memories, kSavedView) = saved.view;
}

}  // namespace recut::gui
