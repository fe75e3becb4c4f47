// Help: every command that has a key, by subject, in columns.
#include <algorithm>
#include <cmath>

#include "gui/app/app.h"
#include "gui/app/command_subject.h"
#include "gui/app/hotkey.h"
#include "gui/draw/widgets.h"

namespace recut::gui {
namespace {

constexpr float kHelpLine = 24;

struct HelpLine {
  std::string heading;               // or
  const Command* command = nullptr;  // a row under it
};

std::vector<HelpLine> lines() {
  std::vector<const Command*> with_keys;
  for (const Command* command : all_commands())
    if (!command->title.empty() && !command->hotkey.empty()) with_keys.push_back(command);
  std::vector<HelpLine> lines;
  for (const CommandGroup& group : by_subject(with_keys)) {
    if (!lines.empty()) lines.push_back({});
    lines.push_back({group.title, nullptr});
    for (const Command* command : group.commands) lines.push_back({{}, command});
  }
  return lines;
}

// As wide as the widest texts, so that none are cut.
struct HelpWidths {
  float keys = 0, title = 0;
};
HelpWidths widths_of(const Ui& ui, const std::vector<HelpLine>& lines) {
  HelpWidths widths;
  for (const HelpLine& line : lines) {
    if (line.command == nullptr) continue;
    const std::string keys = readable_hotkey(line.command->hotkey);
    widths.keys = std::max(widths.keys, ui.width(keys, Face::mono));
    widths.title = std::max(widths.title, ui.width(line.command->title, Face::text));
  }
  widths.keys = std::ceil(widths.keys + ui.px(16));
  widths.title = std::ceil(widths.title + ui.px(28));
  return widths;
}

void draw_line(Ui& ui, const HelpLine& line, float keys, Rect row) {
  if (!line.heading.empty()) ui.text(row, line.heading, Face::strong, ui.theme.text);
  if (line.command == nullptr) return;
  ui.text(row.cut_left(keys), readable_hotkey(line.command->hotkey), Face::mono,
          ui.theme.selection);
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
  ui.text(foot, "Everything, with or without a key, stands in the palette: Ctrl K.", Face::small,
          ui.theme.faint);
  const std::vector<HelpLine> all = lines();
  const HelpWidths widths = widths_of(ui, all);
  const auto columns =
      static_cast<std::size_t>(std::max(1.0f, rest.width() / (widths.keys + widths.title)));
  const auto per_column = (all.size() + columns - 1) / columns;
  const float high = ui.px(kHelpLine) * static_cast<float>(per_column);
  const Scrolled region = begin_scroll(ui, "keys", rest, high);
  for (std::size_t i = 0; i < all.size(); ++i) {
    const float wide = region.content.width() / static_cast<float>(columns);
    const float x = region.content.left + wide * static_cast<float>(i / per_column);
    const float y = region.content.top + ui.px(kHelpLine) * static_cast<float>(i % per_column);
    draw_line(ui, all[i], widths.keys, rect_at({x, y}, {wide - ui.px(12), ui.px(kHelpLine)}));
  }
  end_scroll();
}

}  // namespace

Panel help_panel() { return {"help", "", Dock::overlay, 1, 1, draw_help, 1080, 720}; }

}  // namespace recut::gui
