// A dialog to choose a file, for platforms without one: a folder's entries, and a field for the
// path.
#include <fmt/core.h>

#include <algorithm>

#include "engine/support/text.h"
#include "engine/support/units.h"
#include "gui/app/app.h"
#include "gui/backend/paths.h"
#include "gui/draw/widgets.h"

namespace recut::gui {
namespace {

struct OpenMemory {
  std::string base;    // the folder that was walked to; "" before the first view
  std::string folder;  // that is listed: the base, or the typed path from there
  std::string typed;   // a part of a name, behind a path where there is one
  std::vector<FolderEntry> entries;
  bool all = false;      // files that Recut can't read, too
  bool emptied = false;  // the typed text was used
  std::string lost;      // why the folder can't be listed
  std::string fault;     // why Enter couldn't open it
  std::size_t chosen = 0;

  // The typed path up to its last '/', and the rest behind it.
  std::string typed_folder() const { return typed.substr(0, typed.rfind('/') + 1); }
  std::string part() const { return typed.substr(typed.rfind('/') + 1); }
};

std::string parent_of(const std::string& folder) {
  const std::size_t cut = folder.find_last_of('/');
  return cut == std::string::npos || cut == 0 ? "/" : folder.substr(0, cut);
}

std::string inside(const std::string& folder, const std::string& name) {
  return folder == "/" ? "/" + name : folder + "/" + name;
}

void list_folder(OpenMemory& memory, const std::string& folder, Backend& backend) {
  memory.folder = folder;
  memory.entries.clear();
  memory.lost.clear();
  memory.fault.clear();
  memory.chosen = 0;
  auto entries = backend.list(folder);
  if (!entries) {
    memory.lost = fmt::format("{}: {}", folder, entries.diagnostics().front().message);
    return;
  }
  for (FolderEntry& entry : *entries)
    if (!entry.name.empty() && entry.name[0] != '.') memory.entries.push_back(std::move(entry));
}

void walk_to(OpenMemory& memory, const std::string& folder, Backend& backend) {
  const bool all = memory.all;
  memory = OpenMemory();
  memory.base = folder;
  memory.all = all;
  memory.emptied = true;
  list_folder(memory, folder, backend);
}

// Lists the folder of the typed path, as soon as its last '/' is there.
void follow_typed(OpenMemory& memory, Backend& backend) {
  std::string folder = memory.typed_folder();
  if (folder.size() > 1) folder.pop_back();
  if (folder.empty())
    folder = memory.base;
  else if (folder[0] != '/')
    folder = inside(memory.base, folder);
  if (folder != memory.folder) list_folder(memory, folder, backend);
}

bool is_offered(const OpenMemory& memory, const FolderEntry& entry) {
  return entry.folder || memory.all || is_readable_name(entry.name);
}

std::size_t hidden_files(const OpenMemory& memory) {
  return static_cast<std::size_t>(std::count_if(
      memory.entries.begin(), memory.entries.end(),
      [](const FolderEntry& entry) { return !entry.folder && !is_readable_name(entry.name); }));
}

// Names that begin with the typed text come first.
std::vector<const FolderEntry*> fitting(const OpenMemory& memory) {
  const std::string part = memory.part();
  std::vector<const FolderEntry*> fit;
  for (const FolderEntry& entry : memory.entries)
    if (is_offered(memory, entry) && fuzzy_score(part, entry.name) >= 0) fit.push_back(&entry);
  std::stable_partition(fit.begin(), fit.end(),
                        [&](const FolderEntry* entry) { return entry->name.starts_with(part); });
  return fit;
}

// The common prefix of all names that begin with the typed text; the chosen name if there are none.
std::string completed(const OpenMemory& memory) {
  const std::string part = memory.part();
  const auto fit = fitting(memory);
  if (fit.empty()) return memory.typed;
  std::string whole;
  std::size_t count = 0;
  for (const FolderEntry* entry : fit) {
    if (!entry->name.starts_with(part)) continue;
    const std::string name = entry->folder ? entry->name + "/" : entry->name;
    if (count++ == 0) whole = name;
    const auto end = std::mismatch(whole.begin(), whole.end(), name.begin(), name.end()).first;
    whole.erase(end, whole.end());
  }
  if (count == 0) {
    const FolderEntry& one = *fit[std::min(memory.chosen, fit.size() - 1)];
    whole = one.folder ? one.name + "/" : one.name;
  }
  return memory.typed_folder() + whole;
}

void choose(const FolderEntry& entry, OpenMemory& memory, const PanelInput& input,
            Intents& intents) {
  const std::string path = inside(memory.folder, entry.name);
  if (entry.folder) return walk_to(memory, path, input.app.backend);
  intents.push_back({"overlay.close", ""});
  intents.push_back({"file.open", path});
}

// A name without a file opens nothing: the files with names like it are listed.
void commit(OpenMemory& memory, const PanelInput& input, Intents& intents) {
  if (is_sample(memory.typed)) {
    intents.push_back({"overlay.close", ""});
    intents.push_back({"file.sample", sample_name(memory.typed)});
    return;
  }
  const std::string part = memory.part();
  for (const FolderEntry& entry : memory.entries)
    if (entry.name == part) return choose(FolderEntry(entry), memory, input, intents);
  if (part.empty() && !memory.typed.empty() && memory.lost.empty())
    return walk_to(memory, std::string(memory.folder), input.app.backend);
  const auto fit = fitting(memory);
  if (memory.chosen < fit.size())
    return choose(FolderEntry(*fit[memory.chosen]), memory, input, intents);
  if (memory.typed.empty() || !memory.lost.empty()) return;
  const auto near = near_files(input.app.backend, inside(memory.folder, part));
  memory.fault = fmt::format("No file {} in {}", quote(part), memory.folder);
  for (std::size_t i = 0; i < near.size(); ++i)
    memory.fault += (i == 0 ? "; did you mean " : ", ") + file_name(near[i]);
  if (!near.empty()) memory.fault += "?";
}

void draw_entry(Ui& ui, const FolderEntry& entry, Rect line) {
  line = line.inset(ui.px(10), 0);
  if (!entry.folder)
    ui.text(line.cut_right(ui.px(80)), format_bytes(entry.bytes), Face::mono_small, ui.theme.dim,
            Align::right);
  const Colour ink = entry.folder                   ? ui.theme.selection
                     : is_readable_name(entry.name) ? ui.theme.text
                                                    : ui.theme.dim;
  ui.text(line, entry.folder ? entry.name + "/" : entry.name, Face::mono, ink);
}

// Iterates over a copy of the matches, as choosing a folder changes the list.
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

// The files that were opened before, as long as nothing is typed.
void recent(Ui& ui, const PanelInput& input, Rect& rest, Intents& intents) {
  constexpr std::size_t kMax = 5;
  std::vector<std::string> paths;
  for (const std::string& path : input.app.documents.recent())
    if (!is_sample(path)) paths.push_back(path);
  for (std::size_t i = 0; i < std::min(kMax, paths.size()); ++i) {
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

// Tab completes the typed text. Entering a folder empties the field.
FieldAnswer type_path(Ui& ui, const Rect& area, OpenMemory& memory) {
  FieldLook look;
  look.take_keyboard = look.completes = true;
  look.hint = "Part of a name, or a path; Tab completes it";
  const std::string whole = completed(memory);
  if (ui.items.complete) look.put = &whole;
  const std::string emptied;
  if (memory.emptied) look.put = &emptied;
  memory.emptied = false;
  return field(ui, "path", area, memory.typed, look);
}

// The number of files that Recut can't read, and a button to see them.
void others(Ui& ui, Rect line, OpenMemory& memory) {
  const std::size_t hidden = hidden_files(memory);
  if (hidden == 0) return;
  const std::string text = fmt::format("{} that Recut doesn't read",
                                       hidden == 1 ? "1 file" : fmt::format("{} files", hidden));
  if (toggle(ui, "all", line, memory.all ? text : text + ", hidden", memory.all))
    memory.all = !memory.all;
}

void draw_open(Ui& ui, const PanelInput& input, Intents& intents) {
  auto& memory = input.memory<OpenMemory>("open");
  Backend& backend = input.app.backend;
  if (memory.base.empty()) walk_to(memory, backend.home().empty() ? "/" : backend.home(), backend);
  Rect rest = input.whole.inset(ui.px(14), ui.px(12));
  Rect title = rest.cut_top(ui.px(30));
  const Rect up = title.cut_right(ui.px(64)).inset(0, ui.px(2));
  if (button(ui, "up", up, "Up", ButtonLook::plain, memory.folder != "/"))
    walk_to(memory, parent_of(memory.folder), backend);
  title.cut_right(ui.px(10));
  title.cut_left(ui.text(title, "Open a graph", Face::strong, ui.theme.text) + ui.px(14));
  ui.path(title, memory.folder, Face::mono_small, ui.theme.dim);
  rest.cut_top(ui.px(6));
  const FieldAnswer answer = type_path(ui, rest.cut_top(ui.px(30)), memory);
  if (answer.changed) {
    memory.chosen = 0;
    memory.fault.clear();
    follow_typed(memory, backend);
  }
  if (ImGui::IsKeyPressed(ImGuiKey_DownArrow)) ++memory.chosen;
  if (ImGui::IsKeyPressed(ImGuiKey_UpArrow) && memory.chosen > 0) --memory.chosen;
  rest.cut_top(ui.px(8));
  if (answer.committed) return commit(memory, input, intents);
  const std::string& fault = memory.lost.empty() ? memory.fault : memory.lost;
  if (!fault.empty()) {
    ui.items.add("fault", ItemKind::figure, rest, true, fault);
    ui.text(rest.cut_top(ui.px(26)), fault, Face::text, ui.theme.conflict);
  }
  others(ui, rest.cut_bottom(ui.px(24)), memory);
  if (memory.typed.empty()) recent(ui, input, rest, intents);
  list_open(ui, input, rest, memory, intents);
}

}  // namespace

Panel open_panel() { return {"open", "", Dock::overlay, 2, 1, draw_open, 620, 460}; }

}  // namespace recut::gui
