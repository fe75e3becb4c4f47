// The list of lessons: the subject of each, and whether it was completed.
#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "gui/app/app.h"
#include "gui/draw/prose.h"
#include "gui/draw/widgets.h"

namespace recut::gui {
namespace {

constexpr float kEntry = 62;

void tick(const Ui& ui, ImVec2 c, bool done, const std::string& number) {
  if (!done) {
    ui.ring(c, ui.px(10), ui.theme.line, ui.px(1.3f));
    ui.label(c, number, Face::mono, ui.theme.dim, Align::centre);
    return;
  }
  ui.circle(c, ui.px(10), ui.theme.result);
  const ImVec2 low{c.x - ui.px(1), c.y + ui.px(4)};
  ui.line({c.x - ui.px(4.6f), c.y + ui.px(0.4f)}, low, ui.theme.panel, ui.px(2));
  ui.line(low, {c.x + ui.px(5), c.y - ui.px(4)}, ui.theme.panel, ui.px(2));
}

// The row that keys have chosen; at first the next lesson.
struct LessonsMemory {
  std::size_t chosen = 0;
  int frame = -1;  // in which it was drawn last
};

void entry(Ui& ui, const App& app, const Lesson& lesson, bool chosen, const Rect& rect,
           Intents& intents) {
  const bool done = was_followed(app, lesson.name);
  const WidgetResponse t = row(ui, lesson.name, rect, chosen, done ? "done" : "");
  if (t.pressed) intents.push_back({"lesson.open", lesson.name});
  Rect rest = rect.inset(ui.px(12), ui.px(8));
  tick(ui, {rest.left + ui.px(12), rest.top + ui.px(13)}, done, fmt::format("{}", lesson.order));
  rest.cut_left(ui.px(36));
  ui.text(rest.cut_top(ui.px(24)), lesson.title, Face::strong, ui.theme.text);
  ui.text(rest.cut_top(ui.px(20)), lesson.about, Face::text, ui.theme.dim);
}

// The choice of language, if there are several.
void languages(Ui& ui, const App& app, Rect row, Intents& intents) {
  const LessonShelf& shelf = LessonShelf::built_in();
  const auto all = shelf.languages();
  if (all.size() < 2) return;
  for (const std::string& id : all) {
    const std::string& title = shelf.word("language", id);
    const Rect tab_rect = row.cut_left(std::round(ui.width(title, Face::text)) + 1);
    if (tab(ui, "language " + id, tab_rect, title, id == language_of(app)))
      intents.push_back({"lesson.language", id});
    row.cut_left(ui.px(16));
  }
}

void list_keys(const std::vector<std::shared_ptr<const Lesson>>& lessons, LessonsMemory& memory,
               Intents& intents) {
  if (lessons.empty()) return;
  const std::size_t last = lessons.size() - 1;
  if (ImGui::IsKeyPressed(ImGuiKey_DownArrow)) memory.chosen = std::min(memory.chosen + 1, last);
  if (ImGui::IsKeyPressed(ImGuiKey_UpArrow) && memory.chosen > 0) --memory.chosen;
  if (ImGui::IsKeyPressed(ImGuiKey_Enter, false))
    intents.push_back({"lesson.open", lessons[std::min(memory.chosen, last)]->name});
}

void draw_lessons(Ui& ui, const PanelInput& input, Intents& intents) {
  const LessonShelf& shelf = LessonShelf::built_in();
  const std::string language = language_of(input.app);
  Rect rest = input.whole.inset(ui.px(24), ui.px(18));
  Rect title = rest.cut_top(ui.target(34));
  const std::string& close = shelf.word("close", language);
  if (button(ui, "close", title.cut_right(ui.px(90)).inset(0, ui.px(4)), close, ButtonLook::quiet))
    intents.push_back({"overlay.close", ""});
  ui.text(title, shelf.word("lessons", language), Face::title, ui.theme.text);
  languages(ui, input.app, rest.cut_bottom(ui.target(28)), intents);
  rest.cut_top(ui.px(6));
  const auto lessons = shelf.all(language);
  const Scrolled region =
      begin_scroll(ui, "list", rest, ui.px(kEntry) * static_cast<float>(lessons.size()));
  auto& memory = input.memory<LessonsMemory>("lessons");
  const int frame = ImGui::GetFrameCount();
  if (memory.frame < frame - 2) {
    const auto next = std::find_if(lessons.begin(), lessons.end(), [&](const auto& lesson) {
      return !was_followed(input.app, lesson->name);
    });
    memory.chosen = next == lessons.end() ? 0 : static_cast<std::size_t>(next - lessons.begin());
  } else {
    list_keys(lessons, memory, intents);
  }
  memory.frame = frame;
  float y = region.content.top;
  for (std::size_t i = 0; i < lessons.size(); ++i) {
    entry(ui, input.app, *lessons[i], i == memory.chosen,
          {region.content.left, y, region.content.right, y + ui.px(kEntry - 4)}, intents);
    y += ui.px(kEntry);
  }
  end_scroll();
}

}  // namespace

Panel lessons_panel() { return {"lessons", "", Dock::overlay, 2, 1, draw_lessons, 680, 546}; }

}  // namespace recut::gui
