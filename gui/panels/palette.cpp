// The palette: every command by a few of its letters, with its key; then its argument, if it takes
// one.
#include <algorithm>

#include "gui/app/app.h"
#include "gui/app/hotkey.h"
#include "gui/app/palette_rows.h"
#include "gui/draw/widgets.h"

namespace recut::gui {
namespace {

struct PaletteMemory {
  std::string typed;
  std::size_t chosen = 0;
  const Command* prompted = nullptr;  // the argument is being typed
  bool was_open = false;
  std::string opened_for;
};

void perform(const Command& command, const std::string& argument, PaletteMemory& memory,
             Intents& intents) {
  intents.push_back({"overlay.close", ""});
  intents.push_back({"palette.used", std::string(command.id)});
  intents.push_back({std::string(command.id), argument});
  memory = PaletteMemory();
}

// Either does the command or asks for its argument.
void choose(const Command& command, PaletteMemory& memory, Intents& intents) {
  if (command.argument.empty()) return perform(command, "", memory, intents);
  memory.prompted = &command;
  memory.typed.clear();
}

// Letters of hotkeys on small raised grounds, from the right.
void keys(Ui& ui, std::string_view hotkeys, Rect& row) {
  const std::string first = readable_hotkey(hotkeys);
  if (first.empty()) return;
  const float wide = ui.width(first, Face::mono_small) + ui.px(12);
  const Rect key = rect_around(row.cut_right(wide).centre(), wide, ui.px(18));
  ui.fill(key, ui.theme.background, ui.px(3));
  ui.frame(key, ui.theme.line, ui.px(3));
  ui.text(key, first, Face::mono_small, ui.theme.dim, Align::centre);
}

void command_row(Ui& ui, const Command& command, bool chosen, const Rect& line,
                 PaletteMemory& memory, Intents& intents) {
  const WidgetResponse t = row(ui, command.id, line, chosen);
  Rect cells = line.inset(ui.px(10), 0);
  keys(ui, command.hotkey, cells);
  cells.cut_left(ui.text(cells, command.title, Face::text, ui.theme.text) + ui.px(10));
  if (!command.argument.empty()) ui.text(cells, command.argument, Face::small, ui.theme.faint);
  if (t.pressed) choose(command, memory, intents);
}

void list_palette(Ui& ui, const std::vector<PaletteRow>& rows, const Rect& area,
                  PaletteMemory& memory, Intents& intents) {
  if (rows.empty()) {
    Rect rest = area;
    ui.text(rest.cut_top(ui.px(30)), "No command fits", Face::text, ui.theme.dim);
    return;
  }
  const float high = ui.target(28);
  const bool moved =
      ImGui::IsKeyPressed(ImGuiKey_DownArrow) || ImGui::IsKeyPressed(ImGuiKey_UpArrow);
  const Scrolled region =
      begin_scroll(ui, "commands", area, high * static_cast<float>(rows.size()));
  std::size_t at = 0;  // of the commands
  for (std::size_t i = 0; i < rows.size(); ++i) {
    Rect line = region.content;
    line.cut_top(high * static_cast<float>(i));
    line = line.cut_top(high);
    const bool chosen = rows[i].command != nullptr && at++ == memory.chosen;
    if (chosen && moved) scroll_to(line.top, line.bottom, region);
    if (!line.meets(region.visible)) continue;
    if (rows[i].command != nullptr)
      command_row(ui, *rows[i].command, chosen, line, memory, intents);
    else
      ui.text(line.inset(ui.px(10), 0), rows[i].heading, Face::small, ui.theme.faint);
  }
  end_scroll();
}

// Arrows go over the headings.
void listing_keys(const std::vector<PaletteRow>& rows, const FieldAnswer& answer,
                  PaletteMemory& memory, Intents& intents) {
  std::vector<const Command*> commands;
  for (const PaletteRow& one : rows)
    if (one.command != nullptr) commands.push_back(one.command);
  if (answer.changed) memory.chosen = 0;
  if (ImGui::IsKeyPressed(ImGuiKey_DownArrow)) ++memory.chosen;
  if (ImGui::IsKeyPressed(ImGuiKey_UpArrow) && memory.chosen > 0) --memory.chosen;
  if (commands.empty()) return;
  memory.chosen = std::min(memory.chosen, commands.size() - 1);
  if (answer.committed) choose(*commands[memory.chosen], memory, intents);
}

void draw_palette(Ui& ui, const PanelInput& input, Intents& intents) {
  auto& memory = input.memory<PaletteMemory>("palette");
  if (input.app.overlay_argument != memory.opened_for) {
    memory = PaletteMemory();
    memory.opened_for = input.app.overlay_argument;
    memory.prompted = find_command(memory.opened_for);
  }
  Rect rest = input.whole.inset(ui.px(12), ui.px(12));
  if (memory.prompted != nullptr) {
    const Rect title = rest.cut_top(ui.px(26));
    ui.text(title, memory.prompted->title, Face::strong, ui.theme.text);
  }
  FieldLook look;
  look.take_keyboard = true;
  look.hint = memory.prompted != nullptr ? memory.prompted->argument : "Find a command";
  const FieldAnswer answer = field(ui, "typed", rest.cut_top(ui.target(32)), memory.typed, look);
  rest.cut_top(ui.px(8));
  if (memory.prompted != nullptr) {
    if (answer.committed) perform(*memory.prompted, memory.typed, memory, intents);
    return;
  }
  const std::vector<PaletteRow> rows = palette_rows(input.app, memory.typed);
  listing_keys(rows, answer, memory, intents);
  if (memory.prompted == nullptr) list_palette(ui, rows, rest, memory, intents);
}

}  // namespace

Panel palette_panel() { return {"palette", "", Dock::overlay, 0, 1, draw_palette, 620, 420}; }

}  // namespace recut::gui
