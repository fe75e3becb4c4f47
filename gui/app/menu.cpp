// The menus as tables of command ids; MenuFill marks rows that depend on the state (recent files,
// panels, devices). A row's title, key, mark and availability come from the table of commands, so
// that menu, palette and keys can't disagree. Commands of a subject that no table names follow
// under `others`, so that a new command is in a menu without a line here.
#include "gui/app/menu.h"

#include <fmt/core.h>

#include <algorithm>

#include "engine/codegen/target.h"
#include "engine/cost/device_profile.h"
#include "gui/app/app.h"
#include "gui/app/hotkey.h"
#include "gui/backend/paths.h"

namespace recut::gui {
namespace {

constexpr std::size_t kMenuMaxRecent = 6;

constexpr MenuEntry kMenuLine{{}, {}, {}, MenuFill::line};

constexpr MenuEntry kFileMenu[] = {{"file.open"},
                                   {"file.paste"},
                                   {"file.sample"},
                                   {"file.reload"},
                                   {"file.graphs"},
                                   {"file.dimensions"},
                                   {"rules.load"},
                                   {"rules.reload"},
                                   {"rules.remove"},
                                   kMenuLine,
                                   {{}, {}, {}, MenuFill::recent},
                                   kMenuLine,
                                   {"export.plan"},
                                   {"file.report"},
                                   {"export.svg"},
                                   {"export.png"},
                                   {"export.dot"},
                                   {"export.text"},
                                   kMenuLine,
                                   {"file.next"},
                                   {"file.previous"},
                                   {"file.close"},
                                   {"file.quit"}};
constexpr MenuEntry kEditMenu[] = {
    {"edit.undo"},   {"edit.redo"},       kMenuLine,           {"search.find"},
    {"search.next"}, {"search.previous"}, kMenuLine,           {"select.node"},
    {"select.at"},   {"select.clear"},    kMenuLine,           {"select.copy"},
    {"graph.copy"},  {"value.copy"},      {"values.copy_csv"}, {"values.copy_text"},
    {"text.copy"},   {"code.copy"}};
constexpr MenuEntry kViewMenu[] = {{{}, {}, {}, MenuFill::panels},
                                   {"panel.next"},
                                   {"panel.previous"},
                                   {"panel.reset"},
                                   kMenuLine,
                                   {"theme.set", "Dark", "dark"},
                                   {"theme.set", "Light", "light"},
                                   {"theme.set", "Dark or light as the system", "system"},
                                   kMenuLine,
                                   {"scale.up"},
                                   {"scale.down"},
                                   {"scale.reset"},
                                   {"scale.set"},
                                   kMenuLine,
                                   {"motion.toggle", "Motion"},
                                   {"palette.open"}};
constexpr MenuEntry kGraphMenu[] = {{"pass.next"},
                                    {"pass.previous"},
                                    {"pass.set"},
                                    {"pass.idle", "Passes that changed nothing"},
                                    {"pass.toggle"},
                                    {"pass.stages"},
                                    {"pass.differentiate"},
                                    {"pass.jvp"},
                                    {"pass.freeze"},
                                    {"mesh.set"},
                                    {"mesh.none"},
                                    kMenuLine,
                                    {"graph.fit"},
                                    {"graph.fit_selection"},
                                    {"graph.zoom_in"},
                                    {"graph.zoom_out"},
                                    {"graph.zoom"},
                                    kMenuLine,
                                    {"graph.expand"},
                                    {"graph.expand_all"},
                                    {"graph.collapse_all"},
                                    {"graph.expand_some"},
                                    kMenuLine,
                                    {"graph.focus"},
                                    {"graph.wider"},
                                    {"graph.narrower"},
                                    {"graph.leave_focus"},
                                    kMenuLine,
                                    {"run.times", "Measured times as colours"},
                                    {"mesh.placements", "Placements as colours"},
                                    {"code.follow"},
                                    {"code.follow_back"},
                                    {"code.kernel"},
                                    {{}, {}, {}, MenuFill::targets},
                                    kMenuLine,
                                    {"text.next"},
                                    {"text.previous"},
                                    {"text.base"},
                                    {"text.fold"}};
constexpr MenuEntry kPlanMenu[] = {{"budget.set"},
                                   {"budget.less"},
                                   {"budget.more"},
                                   {"budget.pytorch"},
                                   {"plan.take"},
                                   {"curve.draw"},
                                   kMenuLine,
                                   {"pin.save"},
                                   {"pin.recompute"},
                                   {"pin.none"},
                                   {"pin.clear"},
                                   {"pin.checkpoints"},
                                   {"torch.set"},
                                   {"torch.usual"},
                                   {"value.flip"},
                                   {"value.follow"},
                                   kMenuLine,
                                   {"compare", {}, {}, MenuFill::subject},
                                   {{}, {}, {}, MenuFill::others},
                                   kMenuLine,
                                   {"run.step"},
                                   {"run.check"},
                                   {"run.cancel"},
                                   {{}, {}, {}, MenuFill::executors},
                                   {"mesh.compare"},
                                   {"mesh.stop"},
                                   {"check.run"},
                                   {"check.open"},
                                   {"check.cancel"},
                                   kMenuLine,
                                   {"debug.save"},
                                   {"debug.check"},
                                   {"debug.data"},
                                   kMenuLine,
                                   {"train.optimizer", "An optimiser in the step: SGD", "sgd"},
                                   {"train.optimizer", "An optimiser in the step: Adam", "adam"},
                                   {"train.optimizer", "An optimiser in the step: AdamW", "adamw"},
                                   {"train.none", "None"},
                                   {"train.begin"},
                                   {"train.stop"},
                                   {"train.again"},
                                   kMenuLine,
                                   {"values.find"},
                                   {"values.sort"},
                                   {"work.stop"}};
constexpr MenuEntry kMemoryMenu[] = {{"memory.view", "Bytes that are alive", "curve"},
                                     {"memory.view", "Addresses in the arena", "arena"},
                                     kMenuLine,
                                     {"memory.by", "By module", "module"},
                                     {"memory.by", "By kind", "kind"},
                                     {"memory.list", "What is alive at the peak"},
                                     {"measured.open"},
                                     {"measured.close"},
                                     kMenuLine,
                                     {"timeline", {}, {}, MenuFill::subject},
                                     {"memory.zoom"},
                                     kMenuLine,
                                     {"memory.copy_csv"},
                                     {"memory.copy_peak"}};
constexpr MenuEntry kDeviceMenu[] = {{{}, {}, {}, MenuFill::devices},
                                     kMenuLine,
                                     {"model.set", "Calls run one by one", "eager"},
                                     {"model.set", "Calls run fused", "fused"}};
constexpr MenuEntry kHelpMenu[] = {{"lesson.list"}, {"help.open"}, {"palette.open"}};

constexpr Menu kMenus[] = {{"file", "File", kFileMenu},       {"edit", "Edit", kEditMenu},
                           {"view", "View", kViewMenu},       {"graph", "Graph", kGraphMenu},
                           {"plan", "Plan", kPlanMenu},       {"memory", "Memory", kMemoryMenu},
                           {"device", "Device", kDeviceMenu}, {"help", "Help", kHelpMenu}};

// A command without its argument asks for it in the palette.
MenuRow row_of(const App& app, std::string_view id, std::string_view title,
               const std::string& argument) {
  const Command* command = find_command(id);
  if (command == nullptr) return {};
  const bool asks = argument.empty() && !command->argument.empty();
  MenuRow row;
  row.title = title.empty() ? command->title : title;
  if (asks) row.title += " …";
  row.intent = asks ? Intent{"palette.open", std::string(id)} : Intent{std::string(id), argument};
  row.label = std::string(id) + (argument.empty() ? "" : " " + argument);
  // A row with an argument shows no key: keys give no argument.
  if (argument.empty()) row.hotkey = readable_hotkey(command->hotkey);
  row.enabled = command->enabled == nullptr || command->enabled(app);
  row.on = row.enabled && command->checked != nullptr && command->checked(app, argument);
  return row;
}

void add_recent(const App& app, std::vector<MenuRow>& rows) {
  std::size_t added = 0;
  for (const std::string& path : app.documents.recent())
    if (added < kMenuMaxRecent && !is_sample(path)) {
      rows.push_back(row_of(app, "file.open", path, path));
      ++added;
    }
}

// The title of a panel in the menu: its heading, else its label.
std::string menu_title_of(const Panel& panel) {
  if (!panel.title.empty()) return std::string(panel.title);
  std::string title(panel.id);
  if (!title.empty() && title[0] >= 'a' && title[0] <= 'z')
    title[0] = static_cast<char>(title[0] - 32);
  return title;
}

// The panels as they stand in the window, from the left.
void add_panels(const App& app, std::vector<MenuRow>& rows) {
  std::vector<const Panel*> panels;
  for (const Panel& panel : app.panels)
    if (panel.dock != Dock::top && panel.dock != Dock::overlay &&
        panel.window_state == WindowState::open)
      panels.push_back(&panel);
  std::stable_sort(panels.begin(), panels.end(), [](const Panel* a, const Panel* b) {
    return a->dock != b->dock ? a->dock < b->dock : a->order < b->order;
  });
  for (const Panel* panel : panels)
    rows.push_back(row_of(app, "panel.toggle", menu_title_of(*panel), std::string(panel->id)));
}

void add_devices(const App& app, std::vector<MenuRow>& rows) {
  for (const BuiltinProfile& profile : builtin_profiles()) {
    const std::string name(profile.name);
    const auto device = find_device(name);
    rows.push_back(row_of(app, "device.set", device ? device->title : name, name));
  }
  const std::string here = app.backend.calibrated_profile();
  if (here.empty()) return;
  const auto device = find_device(here);
  rows.push_back(row_of(app, "device.set",
                        device ? "Measured here: " + device->title : "Measured here", here));
}

// Adds the executors, if there are several.
void add_runners(const App& app, std::vector<MenuRow>& rows) {
  const std::vector<Executor*> executors = app.backend.executors();
  if (executors.size() < 2) return;
  for (const Executor* executor : executors)
    rows.push_back(row_of(app, "run.on", "Run on: " + executor->title(), executor->id()));
}

void add_targets(const App& app, std::vector<MenuRow>& rows) {
  for (const Target& target : targets())
    rows.push_back(row_of(app, "code.form", fmt::format("Kernels as {}", target.title),
                          std::string(target.id)));
}

std::string_view menu_subject_of(std::string_view id) { return id.substr(0, id.find('.')); }

void add_subject(const App& app, std::string_view subject, std::vector<MenuRow>& rows) {
  for (const Command* command : all_commands())
    if (menu_subject_of(command->id) == subject && !command->title.empty())
      rows.push_back(row_of(app, command->id, {}, {}));
}

// True if rows of the subject stand in a menu, by their names or as a MenuFill.
bool is_placed(std::string_view subject) {
  for (const std::string_view own : {"panel", "device", "menu"})
    if (subject == own) return true;
  for (const Menu& menu : kMenus)
    for (const MenuEntry& entry : menu.entries)
      if (menu_subject_of(entry.command) == subject) return true;
  return false;
}

void add_others(const App& app, std::vector<MenuRow>& rows) {
  for (const Command* command : all_commands())
    if (!command->title.empty() && !is_placed(menu_subject_of(command->id)))
      rows.push_back(row_of(app, command->id, {}, {}));
}

// Adds a line between rows, but not at the start and not behind another line.
void add_line(std::vector<MenuRow>& rows) {
  if (!rows.empty() && !rows.back().is_line()) rows.push_back({});
}

}  // namespace

std::span<const Menu> menus() { return kMenus; }

const Menu* find_menu(std::string_view id) {
  for (const Menu& menu : kMenus)
    if (menu.id == id) return &menu;
  return nullptr;
}

std::vector<MenuRow> rows_of(const App& app, const Menu& menu) {
  std::vector<MenuRow> rows;
  for (const MenuEntry& entry : menu.entries) {
    switch (entry.fill) {
      case MenuFill::command:
        rows.push_back(row_of(app, entry.command, entry.title, std::string(entry.argument)));
        break;
      case MenuFill::line:
        add_line(rows);
        break;
      case MenuFill::recent:
        add_recent(app, rows);
        break;
      case MenuFill::panels:
        add_panels(app, rows);
        break;
      case MenuFill::devices:
        add_devices(app, rows);
        break;
      case MenuFill::executors:
        add_runners(app, rows);
        break;
      case MenuFill::targets:
        add_targets(app, rows);
        break;
      case MenuFill::subject:
        add_subject(app, entry.command, rows);
        break;
      case MenuFill::others:
        add_others(app, rows);
        break;
    }
  }
  while (!rows.empty() && rows.back().is_line()) rows.pop_back();
  return rows;
}

}  // namespace recut::gui
