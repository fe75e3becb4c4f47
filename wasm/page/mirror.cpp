#include "wasm/page/mirror.h"

#include <fmt/core.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "engine/support/units.h"
#include "engine/support/utf8.h"
#include "wasm/page/bridge.h"

namespace recut::page {
namespace {

using gui::ItemKind;
using Json = nlohmann::ordered_json;

const char* name_of(ItemKind kind) {
  constexpr const char* names[] = {"button", "tab",    "field",  "row",
                                   "slider", "toggle", "handle", "figure"};
  return names[static_cast<std::size_t>(kind)];
}

// {"id": "values/relu", "name": "relu", "kind": "row", "at": [left, top, width, height], "value":
// "…", "off": true, "span": [min, max, now], "now": "…", "hint": "…"} in CSS pixels; from "value"
// on only where it says something.
Json json_of(const gui::Item& item, double pixels) {
  const auto units = [&](float length) { return std::round(length / pixels); };
  const std::string name = gui::spoken_name(item);
  Json json = {{"id", valid_utf8(item.label)},
               {"name", valid_utf8(name)},
               {"kind", name_of(item.kind)},
               {"at",
                {units(item.rect.left), units(item.rect.top), units(item.rect.width()),
                 units(item.rect.height())}}};
  if (!item.value.empty()) json["value"] = valid_utf8(item.value);
  if (!item.enabled) json["off"] = true;
  if (!item.hint.empty() && item.hint != name) json["hint"] = valid_utf8(item.hint);
  if (!item.span) return json;
  json["span"] = {item.span->least, item.span->most, item.span->now};
  if (!item.span->text.empty()) json["now"] = valid_utf8(item.span->text);
  return json;
}

}  // namespace

void Mirror::tell(const gui::App& app) {
  tell_items(app);
  tell_notices(app);
  tell_plan(app);
}

void Mirror::tell_items(const gui::App& app) {
  Json all = {{"panels", Json::object()}, {"items", Json::array()}};
  for (const gui::Panel& panel : app.panels)
    all["panels"][std::string(panel.id)] = panel.title.empty() ? panel.id : panel.title;
  for (const gui::Item& item : app.items.all())
    if (item.visible()) all["items"].push_back(json_of(item, app.backend.scale()));
  std::string text = all.dump();
  if (text == items_) return;
  items_ = std::move(text);
  host_mirror(items_.c_str());
}

// Announces the latest notice; without one, why the front document can't be read.
void Mirror::tell_notices(const gui::App& app) {
  const bool fault = app.notices.empty() || app.notices.back().fault;
  const std::string message =
      app.notices.empty() ? app.state("fault").value_or("") : app.notices.back().text;
  if (message == notice_) return;
  notice_ = message;
  if (!message.empty()) host_announce(message.c_str(), fault ? 1 : 0);
}

void Mirror::tell_plan(const gui::App& app) {
  if (!app.has_ready() || !app.document()->shown || !app.idle()) return;
  const gui::DocumentView& document = *app.document();
  const PlanReport& report = document.shown->report();
  const std::string message =
      fmt::format("{}: peak {}, step {}, {}", document.title, format_bytes(report.peak_bytes),
                  format_micros(report.step_us),
                  document.holds() ? "within the budget" : "the budget can't be held");
  if (message == plan_) return;
  plan_ = message;
  host_announce(message.c_str(), 0);
}

}  // namespace recut::page
