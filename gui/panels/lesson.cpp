// The lesson's card: what a step says and asks for, and a ring around what it points at.
#include <fmt/core.h>

#include <cmath>

#include "gui/app/app.h"
#include "gui/app/lesson_kernels.h"
#include "gui/draw/prose.h"
#include "gui/draw/widgets.h"
#include "gui/panels/lesson_place.h"

namespace recut::gui {
namespace {

constexpr ImGuiWindowFlags kLessonBare =
    ImGuiWindowFlags_NoDecoration | ImGuiWindowFlags_NoMove | ImGuiWindowFlags_NoSavedSettings |
    ImGuiWindowFlags_NoBackground | ImGuiWindowFlags_NoFocusOnAppearing;
constexpr float kLessonWide = 352, kInside = 16;  // units: the card, its padding
constexpr float kBar = 40;                        // the window's bar, which it leaves free
constexpr float kLessonMargin = 14;               // to the window's sides
constexpr float kButtons = 28, kLessonHead = 26, kLessonTitle = 26;
constexpr float kLeastRing = 22;

// Where it stands, until the step or the window changes, or what it points at comes to lie there.
struct LessonMemory {
  const LessonStep* step = nullptr;
  ImVec2 corner{-1, -1}, room, size;
  bool set = false;
};

std::vector<std::string> filled(const App& app, const std::vector<std::string>& paragraphs) {
  std::vector<std::string> words;
  words.reserve(paragraphs.size());
  for (const std::string& paragraph : paragraphs) words.push_back(filled_in(app, paragraph));
  return words;
}

class LessonCard {
 public:
  LessonCard(Ui& ui, const PanelInput& input, Intents& intents)
      : ui_(ui),
        app_(input.app),
        input_(input),
        intents_(intents),
        step_(*app_.lessons.step()),
        language_(language_of(app_)),
        wide_(std::min(std::round(ui.px(kLessonWide)),
                       input.whole.width() - ui.px(2 * kLessonMargin))),
        prose_(ui, filled(app_, step_.paragraphs), wide_ - ui.px(2 * kInside)),
        task_(ui, task_words(), wide_ - ui.px(2 * kInside + 42)) {}

  void draw() {
    find_points();
    const Rect card = rect_at(corner(), {wide_, height()});
    rings();
    ImGui::SetNextWindowPos(card.corner());
    ImGui::SetNextWindowSize(card.size());
    ImGui::Begin("lesson", nullptr, kLessonBare);
    ui_.fill(card, ui_.theme.raised, ui_.px(8));
    ui_.frame(card, mix(ui_.theme.line, ui_.theme.selection, 0.35), ui_.px(8));
    ui_.items.add("card", ItemKind::figure, card, true, step_.title);
    content(card.inset(ui_.px(kInside), ui_.px(12)));
    ImGui::End();
  }

 private:
  const std::string& word(std::string_view key) const {
    return LessonShelf::built_in().word(key, language_);
  }
  std::vector<std::string> task_words() const {
    return step_.task.empty() ? std::vector<std::string>()
                              : std::vector<std::string>{filled_in(app_, step_.task)};
  }
  float task_height() const {
    return step_.task.empty() ? 0 : std::round(task_.height() + ui_.px(16));
  }
  float frame_height() const {
    const float task = step_.task.empty() ? 0 : task_height() + ui_.px(12);
    return std::round(ui_.px(12 + kLessonHead + kLessonTitle + 12 + kButtons + 14) + task);
  }
  float height() const {
    const float most = input_.whole.height() - ui_.px(kBar + 2 * kLessonMargin);
    return std::min(std::round(frame_height() + prose_.height()), most);
  }

  void find_points() {
    for (const std::string& label : step_.points)
      if (const Item* item = ui_.items.find(label); item != nullptr && item->visible())
        points_.push_back(item->rect);
  }

  Rect ring_of(const Rect& rect) const {
    const float wide = std::max(rect.width() + ui_.px(6), ui_.px(kLeastRing));
    const float high = std::max(rect.height() + ui_.px(4), ui_.px(kLeastRing));
    return rect_around(rect.centre(), wide, high).within(input_.whole);
  }

  CardSite site() const {
    CardSite site;
    site.room = input_.whole;
    site.room.cut_top(ui_.px(kBar));
    site.room = site.room.inset(ui_.px(kLessonMargin), ui_.px(kLessonMargin));
    site.size = {wide_, height()};
    for (const Rect& point : points_) site.points.push_back(ring_of(point));
    for (const std::string& label : step_.clear)
      if (const Item* item = ui_.items.find(label)) site.points.push_back(item->rect);
    site.home = {site.room.right - wide_, site.room.top};
    if (const Item* canvas = ui_.items.find("graph/canvas"))
      site.home = {canvas->rect.right - wide_ - ui_.px(kLessonMargin),
                   canvas->rect.bottom - height() - ui_.px(kLessonMargin)};
    for (const Item& item : ui_.items.all())
      if (item.visible() && item.label.rfind("graph/node ", 0) == 0) site.busy.push_back(item.rect);
    return site;
  }

  bool hides_a_point(const Rect& card) const {
    for (const Rect& point : points_)
      if (card.meets(ring_of(point))) return true;
    return false;
  }

  // It stays where it is as long as that will do, so that the eye finds it.
  ImVec2 corner() {
    auto& memory = input_.memory<LessonMemory>("lesson card");
    const ImVec2 room = input_.whole.size(), size{wide_, height()};
    const bool same = memory.step == &step_ && memory.set == app_.lessons.is_set() &&
                      memory.room.x == room.x && memory.room.y == room.y &&
                      memory.size.x == size.x && memory.size.y == size.y;
    if (!same || hides_a_point(rect_at(memory.corner, size)))
      memory = {&step_, place_card(site()), room, size, app_.lessons.is_set()};
    return {std::round(static_cast<float>(input_.motion.ease("lesson x", memory.corner.x))),
            std::round(static_cast<float>(input_.motion.ease("lesson y", memory.corner.y)))};
  }

  // Over everything, and in nobody's way.
  void rings() {
    ImGui::SetNextWindowPos({0, 0});
    ImGui::SetNextWindowSize(input_.whole.size());
    ImGui::Begin("lesson rings", nullptr, kLessonBare | ImGuiWindowFlags_NoInputs);
    for (std::size_t i = 0; i < points_.size(); ++i) {
      const Rect to = ring_of(points_[i]);
      const std::string name = fmt::format("lesson ring {} ", i);
      const auto at = [&](const char* side, float value) {
        return std::round(static_cast<float>(input_.motion.ease(name + side, value)));
      };
      const Rect ring{at("left", to.left), at("top", to.top), at("right", to.right),
                      at("bottom", to.bottom)};
      ui_.frame(ring.inset(-ui_.px(2), -ui_.px(2)),
                mix(ui_.theme.background, ui_.theme.selection, 0.35), ui_.px(8), ui_.px(2));
      ui_.frame(ring, ui_.theme.selection, ui_.px(6), ui_.px(2));
      ui_.items.add(fmt::format("ring {}", i), ItemKind::figure, to, true, step_.points[i]);
    }
    ImGui::End();
  }

  void content(Rect rest) {
    head(rest.cut_top(std::round(ui_.px(kLessonHead))));
    ui_.text(rest.cut_top(std::round(ui_.px(kLessonTitle))), step_.title, Face::title,
             ui_.theme.text);
    buttons(rest.cut_bottom(std::round(ui_.px(kButtons))));
    rest.cut_bottom(ui_.px(12));
    if (!step_.task.empty()) {
      task(rest.cut_bottom(task_height()));
      rest.cut_bottom(ui_.px(10));
    }
    const Scrolled region = begin_scroll(ui_, "prose", rest, prose_.height());
    prose_.draw(ui_, region.content.corner(), ui_.theme.text);
    end_scroll();
  }

  // "1 · Why activations are kept", how far it has come, and the way out.
  void head(Rect row) {
    const Rect cross = row.cut_right(ui_.px(22));
    const Rect box = rect_around(cross.centre(), ui_.px(20), ui_.px(20));
    const Touch t = touch(ui_, "leave", ItemKind::button, box, true, word("leave"));
    if (t.hovered) ui_.fill(box, ui_.theme.line, ui_.px(kRadius));
    ui_.cross(box.centre(), ui_.px(3.5f), t.hovered ? ui_.theme.text : ui_.theme.dim, ui_.px(1.3f));
    if (t.hovered) hint(ui_, word("leave"));
    if (t.pressed) intents_.push_back({"lesson.leave", ""});
    row.cut_right(ui_.px(8));
    const Lesson& lesson = *app_.lessons.lesson();
    const std::string count = fmt::format("{} {} {} {}", word("step"), app_.lessons.at() + 1,
                                          word("of"), lesson.steps.size());
    ui_.text(row.cut_right(ui_.width(count, Face::small) + ui_.px(4)), count, Face::small,
             ui_.theme.dim, Align::right);
    row.cut_right(ui_.px(10));
    ui_.items.add("step", ItemKind::figure, row, true, count);
    ui_.text(row, lesson.title, Face::small, ui_.theme.selection);
  }

  // What to do, with a tick once it is done; shape and colour both say so.
  void task(const Rect& box) {
    const bool done = app_.lessons.is_done();
    const Colour colour = done ? ui_.theme.result : ui_.theme.selection;
    ui_.items.add("task", ItemKind::figure, box, true, done ? "done" : "open");
    ui_.fill(box, mix(ui_.theme.raised, colour, 0.12), ui_.px(kRadius));
    ui_.fill({box.left, box.top, box.left + ui_.px(3), box.bottom}, colour, ui_.px(1));
    const ImVec2 c{box.left + ui_.px(20), box.top + ui_.px(8 + 9.5f)};
    if (done) {
      ui_.circle(c, ui_.px(7), colour);
      const Colour ink = ui_.theme.raised;
      const ImVec2 low{c.x - ui_.px(0.8f), c.y + ui_.px(2.8f)};
      ui_.line({c.x - ui_.px(3.4f), c.y + ui_.px(0.2f)}, low, ink, ui_.px(1.7f));
      ui_.line(low, {c.x + ui_.px(3.6f), c.y - ui_.px(2.8f)}, ink, ui_.px(1.7f));
    } else {
      ui_.ring(c, ui_.px(6.5f), colour, ui_.px(1.4f));
    }
    task_.draw(ui_, {box.left + ui_.px(34), box.top + ui_.px(8)}, ui_.theme.text);
  }

  void buttons(Rect row) {
    const bool last = app_.lessons.is_last();
    const bool ready = step_.task.empty() || app_.lessons.is_done();
    const auto width = [&](const std::string& words) {
      return std::round(std::max(ui_.px(76), ui_.width(words, Face::strong) + ui_.px(26)));
    };
    const std::string& next = word(last ? "finish" : "next");
    if (button(ui_, "next", row.cut_right(width(next)), next,
               ready ? ButtonLook::primary : ButtonLook::plain))
      intents_.push_back({"lesson.next", ""});
    row.cut_right(ui_.px(8));
    const std::string& show = word("show");
    if (!step_.task.empty() && !app_.lessons.is_done() &&
        button(ui_, "show", row.cut_right(width(show)), show))
      intents_.push_back({"lesson.show", ""});
    const std::string& back = word("back");
    if (button(ui_, "back", row.cut_left(width(back)), back, ButtonLook::quiet,
               app_.lessons.at() > 0))
      intents_.push_back({"lesson.back", ""});
  }

  Ui& ui_;
  const App& app_;
  const PanelInput& input_;
  Intents& intents_;
  const LessonStep& step_;
  const std::string language_;
  const float wide_;
  const Prose prose_, task_;
  std::vector<Rect> points_;
};

void draw_lesson(Ui& ui, const PanelInput& input, Intents& intents) {
  if (input.app.lessons.lesson() == nullptr) return;
  if (wants_counting(input.app, *input.app.lessons.step())) intents.push_back({"lesson.count", ""});
  LessonCard(ui, input, intents).draw();
}

}  // namespace

Panel lesson_panel() { return {"lesson", "", Place::card, 0, 1, draw_lesson}; }

}  // namespace recut::gui
