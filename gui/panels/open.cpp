// Choosing a file where the platform has no dialog for it: a folder's entries, and a field for the
// path.
#include <algorithm>

#include "engine/support/units.h"
#include "gui/app/app.h"
#include "gui/backend/paths.h"
#include "gui/draw/widgets.h"

namespace recut::gui {
namespace {

struct OpenMemory {
  std::string folder;  // "" before the first look
  std::string typed;   // a part of a name, or a path
  std::vector<FolderEntry> entries;
  std::string fault;
  std::size_t chosen = 0;
};

std::string parent_of(const std::string& folder) {
  const std::size_t cut = folder.find_last_of('/');
  return cut == std::string::npos || cut == 0 ? "/" : folder.substr(0, cut);
}

std::string inside(const std::string& folder, const std::string& name) {
  return folder == "/" ? "/" + name : folder + "/" + name;
}

void look_into(OpenMemory& memory, const std::string& folder, Backend& backend) {
  memory = OpenMemory();
  memory.folder = folder;
  auto entries = backend.list(folder);
  if (!entries) {
    memory.fault = entries.diagnostics().front().message;
    return;
  }
  memory.entries = std::move(*entries);
  const auto hidden = [](const FolderEntry& e) { return !e.name.empty() && e.name[0] == '.'; };
  memory.entries.erase(std::remove_if(memory.entries.begin(), memory.entries.end(), hidden),
                       memory.entries.end());
}

std::vector<const FolderEntry*> fitting(const OpenMemory& memory) {
  std::vector<const FolderEntry*> fit;
  for (const FolderEntry& entry : memory.entries)
    if (fuzzy_score(memory.typed, entry.name) >= 0) fit.push_back(&entry);
  return fit;
}

void choose(const FolderEntry& entry, OpenMemory& memory, const PanelInput& input,
            Intents& intents) {
  const std::string path = inside(memory.folder, entry.name);
  if (entry.folder) return look_into(memory, path, input.app.backend);
  intents.push_back({"overlay.close", ""});
  intents.push_back({"file.open", path});
}

// A path that was typed in whole is opened as it stands.
void commit(OpenMemory& memory, const PanelInput& input, Intents& intents) {
  const auto fit = fitting(memory);
  const bool path = memory.typed.find('/') != std::string::npos || is_sample(memory.typed);
  if (!path && memory.chosen < fit.size())
    return choose(*fit[memory.chosen], memory, input, intents);
  if (memory.typed.empty()) return;
  intents.push_back({"overlay.close", ""});
  intents.push_back({"file.open", memory.typed});
}

void draw_entry(Ui& ui, const FolderEntry& entry, Rect line) {
  line = line.inset(ui.px(10), 0);
  if (!entry.folder)
    ui.text(line.cut_right(ui.px(80)), format_bytes(entry.bytes), Face::mono_small, ui.theme.dim,
            Align::right);
  ui.text(line, entry.folder ? entry.name + "/" : entry.name, Face::mono,
          entry.folder ? ui.theme.selection : ui.theme.text);
}

// A copy of what fits is walked: choosing a folder changes the list.
void list_open(Ui& ui, const PanelInput& input, const Rect& area, OpenMemory& memory,
               Intents& intents) {
  const auto fit = fitting(memory);
  memory.chosen = fit.empty() ? 0 : std::min(memory.chosen, fit.size() - 1);
  const float high = ui.px(25);
  const Scrolled region = begin_scroll(ui, "entries", area, high * static_cast<float>(fit.size()));
  const FolderEntry* pressed = nullptr;
  for (std::size_t i = 0; i < fit.size(); ++i) {
    Rect line = region.content;
    line.cut_top(high * static_cast<float>(i));
    line = line.cut_top(high);
    if (!line.meets(region.visible)) continue;
    if (row(ui, fit[i]->name, line, i == memory.chosen).pressed) pressed = fit[i];
    draw_entry(ui, *fit[i], line);
  }
  end_scroll();
  if (pressed != nullptr) choose(FolderEntry(*pressed), memory, input, intents);
}

// What was opened before, as long as nothing is typed.
void recent(Ui& ui, const PanelInput& input, Rect& rest, Intents& intents) {
  constexpr std::size_t kMost = 5;
  std::vector<std::string> paths;
  for (const std::string& path : input.app.documents.recent())
    if (!is_sample(path)) paths.push_back(path);
  for (std::size_t i = 0; i < std::min(kMost, paths.size()); ++i) {
    Rect line = rest.cut_top(ui.px(25));
    if (row(ui, "recent " + paths[i], line, false).pressed) {
      intents.push_back({"overlay.close", ""});
      intents.push_back({"file.open", paths[i]});
    }
    line = line.inset(ui.px(10), 0);
    ui.text(line.cut_right(ui.px(80)), "recent", Face::small, ui.theme.faint, Align::right);
    ui.path(line, paths[i], Face::mono, ui.theme.text);
  }
  if (!paths.empty()) rest.cut_top(ui.px(8));
}

void draw_open(Ui& ui, const PanelInput& input, Intents& intents) {
  auto& memory = input.memory<OpenMemory>("open");
  Backend& backend = input.app.backend;
  if (memory.folder.empty())
    look_into(memory, backend.home().empty() ? "/" : backend.home(), backend);
  Rect rest = input.whole.inset(ui.px(14), ui.px(12));
  Rect title = rest.cut_top(ui.px(30));
  const Rect up = title.cut_right(ui.px(64)).inset(0, ui.px(2));
  if (button(ui, "up", up, "Up", ButtonLook::plain, memory.folder != "/"))
    look_into(memory, parent_of(memory.folder), backend);
  title.cut_right(ui.px(10));
  title.cut_left(ui.text(title, "Open a graph", Face::strong, ui.theme.text) + ui.px(14));
  ui.path(title, memory.folder, Face::mono_small, ui.theme.dim);
  rest.cut_top(ui.px(6));
  FieldLook look;
  look.take_keyboard = true;
  look.hint = "Part of a name, or a path";
  const FieldAnswer answer = field(ui, "path", rest.cut_top(ui.px(30)), memory.typed, look);
  if (answer.changed) memory.chosen = 0;
  if (ImGui::IsKeyPressed(ImGuiKey_DownArrow)) ++memory.chosen;
  if (ImGui::IsKeyPressed(ImGuiKey_UpArrow) && memory.chosen > 0) --memory.chosen;
  rest.cut_top(ui.px(8));
  if (answer.committed) return commit(memory, input, intents);
  if (!memory.fault.empty())
    ui.text(rest.cut_top(ui.px(26)), memory.fault, Face::text, ui.theme.conflict);
  if (memory.typed.empty()) recent(ui, input, rest, intents);
  list_open(ui, input, rest, memory, intents);
}

}  // namespace

Panel open_panel() { return {"open", "", Place::overlay, 2, 1, draw_open, 620, 460}; }

}  // namespace recut::gui
