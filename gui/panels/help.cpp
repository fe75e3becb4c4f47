// Help: every command that has a key, by subject, in columns.
#include <algorithm>

#include "gui/app/app.h"
#include "gui/draw/widgets.h"

namespace recut::gui {
namespace {

constexpr float kHelpLine = 24;

// What a subject's commands are about, by the beginning of their ids.
std::string help_subject_of(std::string_view id) {
  constexpr std::pair<std::string_view, std::string_view> names[] = {
      {"file", "Documents"},   {"budget", "Plan"},      {"device", "Plan"},     {"model", "Plan"},
      {"pin", "Plan"},         {"curve", "Plan"},       {"work", "Plan"},       {"edit", "Edit"},
      {"select", "Selection"}, {"search", "Selection"}, {"pass", "Passes"},     {"theme", "View"},
      {"scale", "View"},       {"panel", "View"},       {"motion", "View"},     {"palette", "View"},
      {"help", "View"},        {"lesson", "Lessons"},   {"flow", "Minimum cut"}};
  const std::string_view head = id.substr(0, id.find('.'));
  for (const auto& [key, name] : names)
    if (key == head) return std::string(name);
  std::string name(head);
  if (!name.empty() && name[0] >= 'a' && name[0] <= 'z') name[0] = static_cast<char>(name[0] - 32);
  return name;
}

struct HelpLine {
  std::string heading;               // or
  const Command* command = nullptr;  // a row under it
};

std::vector<HelpLine> lines() {
  std::vector<std::string> subjects;
  for (const Command* command : all_commands()) {
    const std::string subject = help_subject_of(command->id);
    if (command->title.empty() || command->hotkey.empty()) continue;
    if (std::find(subjects.begin(), subjects.end(), subject) == subjects.end())
      subjects.push_back(subject);
  }
  std::vector<HelpLine> lines;
  for (const std::string& subject : subjects) {
    if (!lines.empty()) lines.push_back({});
    lines.push_back({subject, nullptr});
    for (const Command* command : all_commands())
      if (help_subject_of(command->id) == subject && !command->title.empty() &&
          !command->hotkey.empty())
        lines.push_back({{}, command});
  }
  return lines;
}

void draw_line(Ui& ui, const HelpLine& line, Rect row) {
  if (!line.heading.empty()) ui.text(row, line.heading, Face::strong, ui.theme.text);
  if (line.command == nullptr) return;
  ui.text(row.cut_left(ui.px(150)), line.command->hotkey.substr(0, line.command->hotkey.find(' ')),
          Face::mono, ui.theme.selection);
  ui.text(row, line.command->title, Face::text, ui.theme.dim);
}

void draw_help(Ui& ui, const PanelInput& input, Intents& intents) {
  Rect rest = input.whole.inset(ui.px(24), ui.px(18));
  Rect title = rest.cut_top(ui.px(34));
  if (button(ui, "close", title.cut_right(ui.px(80)).inset(0, ui.px(4)), "Close",
             ButtonLook::quiet))
    intents.push_back({"overlay.close", ""});
  if (button(ui, "lessons", title.cut_right(ui.px(90)).inset(0, ui.px(4)), "Lessons"))
    intents.push_back({"lesson.open", ""});
  ui.text(title, "Keys and commands", Face::title, ui.theme.text);
  Rect foot = rest.cut_bottom(ui.px(28));
  ui.text(foot, "Everything, with or without a key, stands in the palette: Ctrl+K.", Face::small,
          ui.theme.faint);
  const std::vector<HelpLine> all = lines();
  const auto columns = static_cast<std::size_t>(std::max(1.0f, rest.width() / ui.px(360)));
  const auto per_column = (all.size() + columns - 1) / columns;
  const float high = ui.px(kHelpLine) * static_cast<float>(per_column);
  const Scrolled region = begin_scroll(ui, "keys", rest, high);
  for (std::size_t i = 0; i < all.size(); ++i) {
    const float wide = region.content.width() / static_cast<float>(columns);
    const float x = region.content.left + wide * static_cast<float>(i / per_column);
    const float y = region.content.top + ui.px(kHelpLine) * static_cast<float>(i % per_column);
    draw_line(ui, all[i], rect_at({x, y}, {wide - ui.px(16), ui.px(kHelpLine)}));
  }
  end_scroll();
}

}  // namespace

Panel help_panel() { return {"help", "", Place::overlay, 1, 1, draw_help, 800, 640}; }

}  // namespace recut::gui
