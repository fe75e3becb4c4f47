// Commands for the look of the window: theme, scale, panels, overlays.
#include <fmt/core.h>

#include <algorithm>
#include <cstdlib>

#include "gui/app/app.h"
#include "gui/app/palette_rows.h"

namespace recut::gui {
namespace {

constexpr double kScales[] = {0.75, 1, 1.25, 1.5, 1.75, 2, 2.5, 3};

const Panel* panel_of(const App& app, std::string_view id) {
  for (const Panel& panel : app.panels)
    if (panel.id == id) return &panel;
  return nullptr;
}

Result<Done> toggle_theme(App& app, std::string_view requested) {
  if (!requested.empty() && requested != "dark" && requested != "light" && requested != "system")
    return error("a theme is dark, light or system");
  app.settings.set("theme",
                   requested.empty() ? (app.is_dark() ? "light" : "dark") : std::string(requested));
  return Done{};
}

bool is_theme(const App& app, std::string_view name) {
  return app.settings.text("theme", "system") == name;
}

Result<Done> set_scale(App& app, std::string_view percent) {
  const double requested = std::strtod(std::string(percent).c_str(), nullptr);
  if (!(requested >= 50 && requested <= 400)) return error("a scale is 50 to 400 percent");
  app.settings.set_number("scale", requested / 100);
  return Done{};
}

// Sets the next of the usual scales, up or down.
template <bool up>
Result<Done> step_scale(App& app, std::string_view) {
  const double now = app.settings.number("scale", 1);
  double next = now;
  for (const double scale : kScales) {
    if (up && scale > now + 0.01) {
      next = scale;
      break;
    }
    if (!up && scale < now - 0.01) next = scale;
  }
  app.settings.set_number("scale", next);
  return Done{};
}

Result<Done> reset_scale(App& app, std::string_view) {
  app.settings.set("scale", "");
  return Done{};
}

Result<Done> toggle_panel(App& app, std::string_view id) {
  const Panel* panel = panel_of(app, id);
  if (panel == nullptr || panel->dock == Dock::top || panel->dock >= Dock::overlay)
    return error(fmt::format("no panel '{}'", id));
  const std::string name = "panel." + std::string(id);
  app.settings.set_flag(name, !app.settings.flag(name, true));
  if (app.focus == id) app.focus.clear();
  return Done{};
}

bool is_panel_shown(const App& app, std::string_view id) {
  return app.settings.flag("panel." + std::string(id), true);
}

Result<Done> show_panel(App& app, std::string_view id) {
  const Panel* panel = panel_of(app, id);
  if (panel == nullptr) return error(fmt::format("no panel '{}'", id));
  if (!panel->at_first) app.first_screen = false;
  app.settings.set("panel." + std::string(id), "");
  for (const std::string_view slot : {name_of(panel->dock), compact_part_of(*panel)})
    app.settings.set("turn." + std::string(slot), std::string(id));
  app.give_focus(id);
  return Done{};
}

// Panels that are on the screen, from the left.
std::vector<std::string> shown_panels(const App& app) {
  const Extent extent = app.backend.extent();
  const Rect window{0, 0, static_cast<float>(extent.width), static_cast<float>(extent.height)};
  std::vector<PlacedPanel> placed = arrange(app.panels, app.settings, window, app.scale(),
                                            app.window_state(), app.backend.has_fingers())
                                        .placed;
  std::stable_sort(placed.begin(), placed.end(), [](const PlacedPanel& a, const PlacedPanel& b) {
    return a.area.left != b.area.left ? a.area.left < b.area.left : a.area.top < b.area.top;
  });
  std::vector<std::string> ids;
  for (const PlacedPanel& one : placed)
    if (app.panels[one.panel].dock != Dock::top) ids.emplace_back(app.panels[one.panel].id);
  return ids;
}

template <int by>
Result<Done> step_focus(App& app, std::string_view) {
  const std::vector<std::string> ids = shown_panels(app);
  if (ids.empty()) return Done{};
  const auto at = std::find(ids.begin(), ids.end(), app.focus);
  const std::size_t before_first = by > 0 ? ids.size() - 1 : 0;
  const std::size_t now =
      at != ids.end() ? static_cast<std::size_t>(at - ids.begin()) : before_first;
  app.give_focus(ids[(now + ids.size() + static_cast<std::size_t>(by)) % ids.size()]);
  return Done{};
}

Result<Done> reset_panels(App& app, std::string_view) {
  std::vector<std::string> names;
  for (const auto& [name, value] : app.settings.all())
    for (const std::string_view prefix : {"split.", "panel.", "turn."})
      if (name.rfind(prefix, 0) == 0) names.push_back(name);
  for (const std::string& name : names) app.settings.set(name, "");
  return Done{};
}

Result<Done> reduce_motion(App& app, std::string_view) {
  app.settings.set_flag("reduced_motion", !app.settings.flag("reduced_motion", false));
  return Done{};
}

bool moves(const App& app, std::string_view) { return !app.settings.flag("reduced_motion", false); }

template <const char* id>
Result<Done> open_overlay(App& app, std::string_view argument) {
  app.overlay = app.overlay == id ? "" : id;
  app.overlay_argument = std::string(argument);
  return Done{};
}

Result<Done> remember_used_one(App& app, std::string_view command) {
  remember_used(app, command);
  return Done{};
}

bool has_overlay(const App& app) { return !app.overlay.empty(); }

Result<Done> close_overlay(App& app, std::string_view) {
  app.overlay.clear();
  app.overlay_argument.clear();
  return Done{};
}

Result<Done> set_setting(App& app, std::string_view argument) {
  const std::size_t blank = std::min(argument.find(' '), argument.size());
  const std::string value(argument.substr(std::min(blank + 1, argument.size())));
  app.settings.set(argument.substr(0, blank), value);
  return Done{};
}

constexpr char kPalette[] = "palette", kHelp[] = "help";

constexpr Command kViewRows[] = {
    {"palette.open", "Find a command", "Ctrl+Shift+P Ctrl+K", "", nullptr, open_overlay<kPalette>},
    {"palette.used", "", "", "a command's id", nullptr, remember_used_one},
    {"help.open", "Keys and commands", "? F1", "", nullptr, open_overlay<kHelp>},
    {"overlay.close", "", "Escape", "", has_overlay, close_overlay},
    {"theme.toggle", "Light or dark", "Ctrl+Shift+L", "", nullptr, toggle_theme},
    {"theme.set", "Set the theme", "", "dark, light or system", nullptr, toggle_theme, "",
     is_theme},
    {"scale.up", "Larger", "Ctrl+=", "", nullptr, step_scale<true>},
    {"scale.down", "Smaller", "Ctrl+-", "", nullptr, step_scale<false>},
    {"scale.reset", "Usual size", "Ctrl+0", "", nullptr, reset_scale},
    {"scale.set", "Set the scale", "", "percent, 50 to 400", nullptr, set_scale},
    {"panel.toggle", "Show or hide a panel", "", "its name, such as trade-off", nullptr,
     toggle_panel, "", is_panel_shown},
    {"panel.show", "Go to a panel", "", "its name, such as trade-off", nullptr, show_panel},
    {"panel.next", "Next panel", "F6", "", nullptr, step_focus<1>},
    {"panel.previous", "Previous panel", "Shift+F6", "", nullptr, step_focus<-1>},
    {"panel.reset", "Panels as they were at first", "", "", nullptr, reset_panels},
    {"motion.toggle", "Motion on or off", "", "", nullptr, reduce_motion, "", moves},
    {"setting.set", "", "", "a name, a blank, a value", nullptr, set_setting},
};

}  // namespace

std::span<const Command> view_commands() { return kViewRows; }

}  // namespace recut::gui
