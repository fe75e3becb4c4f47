// The lesson's popup: a step's text and task, and a ring around the items that it points at.
#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "gui/app/app.h"
#include "gui/app/glossary.h"
#include "gui/app/lesson_figure.h"
#include "gui/app/lesson_kernels.h"
#include "gui/draw/prose.h"
#include "gui/draw/widgets.h"
#include "gui/panels/lesson_placement.h"
#include "gui/panels/lesson_question.h"

namespace recut::gui {
namespace {

constexpr ImGuiWindowFlags kLessonBare =
    ImGuiWindowFlags_NoDecoration | ImGuiWindowFlags_NoMove | ImGuiWindowFlags_NoSavedSettings |
    ImGuiWindowFlags_NoBackground | ImGuiWindowFlags_NoFocusOnAppearing;
constexpr float kLessonWide = 352, kInside = 16;  // units: the popup, its padding
constexpr float kBar = 40;                        // the window's bar, which it leaves free
constexpr float kLessonMargin = 14;               // to the window's sides
constexpr float kButtons = 28, kLessonHead = 26, kLessonTitle = 26;
constexpr float kMinRing = 22;
// An item of one of these kinds may be named by prose, if it can be seen.
constexpr std::string_view kNamedKinds[] = {"graph/node ", "graph/flow "};

// The popup's position, until the step or the window changes, or an item that it points at would be
// covered.
struct LessonMemory {
  const LessonStep* step = nullptr;
  ImVec2 corner{-1, -1}, room, size;
  bool set = false;
  const LessonStep* brought = nullptr;  // whose nodes were brought into view
};

std::vector<std::string> filled(const App& app, const std::vector<std::string>& paragraphs) {
  std::vector<std::string> texts;
  texts.reserve(paragraphs.size());
  for (const std::string& paragraph : paragraphs) texts.push_back(filled_in(app, paragraph));
  return texts;
}

class LessonPopup {
 public:
  LessonPopup(Ui& ui, const PanelInput& input, Intents& intents)
      : ui_(ui),
        app_(input.app),
        input_(input),
        intents_(intents),
        step_(*app_.lessons.step()),
        language_(language_of(app_)),
        wide_(std::min(std::round(ui.px(kLessonWide)),
                       input.whole.width() - ui.px(2 * kLessonMargin))),
        texts_(filled(app_, paragraphs())),
        prose_(ui, texts_, wide_ - ui.px(2 * kInside)),
        task_(ui, task_text(), wide_ - ui.px(2 * kInside + 42)),
        question_(ui, app_, question(), wide_ - ui.px(2 * kInside)) {}

  void draw() {
    find_points();
    bring_points();
    const Rect popup = rect_at(corner(), {wide_, height()});
    rings();
    ImGui::SetNextWindowPos(popup.corner());
    ImGui::SetNextWindowSize(popup.size());
    ImGui::Begin("lesson", nullptr, kLessonBare);
    ui_.fill(popup, ui_.theme.raised, ui_.px(8));
    ui_.frame(popup, mix(ui_.theme.line, ui_.theme.selection, 0.35), ui_.px(8));
    ui_.items.add("popup", ItemKind::figure, popup, true, title());
    content(popup.inset(ui_.px(kInside), ui_.px(12)));
    ImGui::End();
  }

 private:
  const std::string& word(std::string_view key) const {
    return LessonShelf::built_in().word(key, language_);
  }
  // True if the large model is shown, in which the popup has another text and no question.
  bool large() const { return app_.lessons.is_in_large(); }
  const std::string& title() const { return large() ? word("now") : step_.title; }
  bool has_task() const { return !large() && !step_.task.empty(); }
  std::vector<std::string> paragraphs() const {
    return large() ? std::vector{app_.lessons.lesson()->then} : step_.paragraphs;
  }
  const LessonQuestion& question() const {
    static const LessonQuestion none;
    return large() ? none : step_.question;
  }
  std::vector<std::string> task_text() const {
    return has_task() ? std::vector{filled_in(app_, step_.task)} : std::vector<std::string>();
  }
  float task_height() const { return has_task() ? std::round(task_.height() + ui_.px(16)) : 0; }
  float frame_height() const {
    float more = has_task() ? task_height() + ui_.px(12) : 0;
    if (question_.height() > 0) more += question_.height() + ui_.px(12);
    return std::round(ui_.px(12 + kLessonHead + kLessonTitle + 12 + kButtons + 14) + more);
  }
  float height() const {
    const float most = input_.whole.height() - ui_.px(kBar + 2 * kLessonMargin);
    return std::min(std::round(frame_height() + prose_.height()), most);
  }

  void find_points() {
    if (large()) return;
    for (const std::string& label : step_.points)
      if (const Item* item = ui_.items.find(label); item != nullptr && item->visible())
        points_.push_back(item->rect);
    for (const std::string& label : step_.clear)
      if (const Item* item = ui_.items.find(label)) clear_.push_back(item->rect);
    std::vector<std::string> texts = texts_;
    for (const std::string& more : all_texts(step_)) texts.push_back(more);
    for (const std::string& paragraph : texts)
      for (const std::string& name : values_in(paragraph))
        for (const std::string_view kind : kNamedKinds)
          if (const Item* item = ui_.items.find(std::string(kind) + name);
              item != nullptr && item->visible())
            named_.push_back(item->rect);
  }

  // Brings the nodes that the step points at into view, once the graph is there.
  void bring_points() {
    auto& memory = input_.memory<LessonMemory>("lesson popup");
    const Item* canvas = ui_.items.find("graph/canvas");
    if (large() || memory.brought == &step_ || !app_.lessons.is_set() || canvas == nullptr) return;
    std::string names;
    bool hidden = false;
    for (const std::string& label : step_.points) {
      if (label.rfind(kNamedKinds[0], 0) != 0) continue;
      names += (names.empty() ? "" : " ") + label.substr(kNamedKinds[0].size());
      const Item* item = ui_.items.find(label);
      hidden |= item == nullptr ||
                item->rect.within(canvas->rect.inset(1, 1)).width() < item->rect.width() ||
                item->rect.width() < ui_.px(kMinRing);
    }
    if (!app_.idle()) return;
    memory.brought = &step_;
    if (hidden) intents_.push_back({"graph.bring", names});
  }

  Rect ring_of(const Rect& rect) const {
    const float wide = std::max(rect.width() + ui_.px(6), ui_.px(kMinRing));
    // Its edge is drawn outside: of a row it stays between the texts of the rows beside it.
    const float high = std::max(rect.height() - ui_.px(2), ui_.px(kMinRing));
    return rect_around(rect.centre(), wide, high).within(input_.whole);
  }

  PopupConstraints constraints() const {
    PopupConstraints constraints;
    constraints.room = input_.whole;
    constraints.room.cut_top(ui_.px(kBar));
    constraints.room = constraints.room.inset(ui_.px(kLessonMargin), ui_.px(kLessonMargin));
    constraints.size = {wide_, height()};
    for (const Rect& point : points_) constraints.points.push_back(ring_of(point));
    constraints.named = named_;
    constraints.points.insert(constraints.points.end(), clear_.begin(), clear_.end());
    constraints.home = {constraints.room.right - wide_, constraints.room.top};
    if (const Item* canvas = ui_.items.find("graph/canvas"))
      constraints.home = {canvas->rect.right - wide_ - ui_.px(kLessonMargin),
                          canvas->rect.bottom - height() - ui_.px(kLessonMargin)};
    for (const Item& item : ui_.items.all())
      if (item.visible() && item.label.rfind("graph/node ", 0) == 0)
        constraints.busy.push_back(item.rect);
    return constraints;
  }

  bool hides_some(const Rect& popup) const {
    for (const Rect& point : points_)
      if (popup.meets(ring_of(point))) return true;
    const auto hidden = [&](const Rect& rect) { return popup.meets(rect); };
    return std::any_of(named_.begin(), named_.end(), hidden) ||
           std::any_of(clear_.begin(), clear_.end(), hidden);
  }

  // The popup's corner; it stays as long as it hides nothing, so that the eye finds it.
  ImVec2 corner() {
    auto& memory = input_.memory<LessonMemory>("lesson popup");
    const ImVec2 room = input_.whole.size(), size{wide_, height()};
    const bool same = memory.step == &step_ && memory.set == app_.lessons.is_set() &&
                      memory.room.x == room.x && memory.room.y == room.y &&
                      memory.size.x == size.x && memory.size.y == size.y;
    if (!same || hides_some(rect_at(memory.corner, size)))
      memory = {&step_,        place_lesson_popup(constraints()), room, size, app_.lessons.is_set(),
                memory.brought};
    return {std::round(static_cast<float>(input_.motion.ease("lesson x", memory.corner.x))),
            std::round(static_cast<float>(input_.motion.ease("lesson y", memory.corner.y)))};
  }

  // Over everything, without taking the pointer.
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
    ui_.text(rest.cut_top(std::round(ui_.px(kLessonTitle))), title(), Face::title, ui_.theme.text);
    buttons(rest.cut_bottom(std::round(ui_.px(kButtons))));
    rest.cut_bottom(ui_.px(12));
    if (question_.height() > 0) {
      question_.draw(rest.cut_bottom(question_.height()), intents_);
      rest.cut_bottom(ui_.px(10));
    }
    if (has_task()) {
      task(rest.cut_bottom(task_height()));
      rest.cut_bottom(ui_.px(10));
    }
    const Scrolled region = begin_scroll(ui_, "prose", rest, prose_.height());
    prose_.draw(ui_, region.content.corner(), ui_.theme.text,
                [this](std::string_view term) { return meaning_of(app_, term); });
    end_scroll();
  }

  // Draws the title, "1 · Why activations are kept", the progress, and a button that ends the
  // lesson.
  void head(Rect row) {
    const Rect cross = row.cut_right(ui_.px(22));
    const Rect box = rect_around(cross.centre(), ui_.px(20), ui_.px(20));
    const Rect pressed = rect_around(cross.centre(), ui_.target(20), ui_.target(20));
    const WidgetResponse t = interact(ui_, "leave", ItemKind::button, pressed, true, word("leave"));
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

  // Draws the task, with a tick once it is done.
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

  // Draws the buttons; the key that goes on is beside its button, on machines with keys and when it
  // is enabled.
  void buttons(Rect row) {
    const auto width = [&](const std::string& text) {
      return std::round(std::max(ui_.px(76), ui_.width(text, Face::strong) + ui_.px(26)));
    };
    const auto pressed = [&](const char* label, Rect rect, ButtonLook look, bool enabled = true) {
      return button(ui_, label, rect, word(label), look, enabled);
    };
    const Rect back = row.cut_left(width(word("back")));
    const bool ready = app_.lessons.is_ready();
    const std::string& next = word(app_.lessons.is_last() ? "finish" : "next");
    if (button(ui_, "next", row.cut_right(width(next)), next,
               ready ? ButtonLook::primary : ButtonLook::plain))
      intents_.push_back({"lesson.next", ""});
    row.cut_right(ui_.px(8));
    const bool can_show = has_task() || question_.height() > 0;
    if (can_show && !app_.lessons.is_done() &&
        pressed("show", row.cut_right(width(word("show"))), ButtonLook::plain))
      intents_.push_back({"lesson.show", ""});
    if (app_.lessons.has_large(app_) &&
        pressed("now", row.cut_right(width(word("now"))), ButtonLook::plain))
      intents_.push_back({"lesson.now", ""});
    row.cut_right(ui_.px(8));
    if (pressed("back", back, ButtonLook::quiet, app_.lessons.at() > 0))
      intents_.push_back({"lesson.back", ""});
    const std::string& key = word("enter");
    if (ready && !app_.touched && ui_.width(key, Face::small) < row.width())
      ui_.text(row, key, Face::small, ui_.theme.dim, Align::right);
  }

  Ui& ui_;
  const App& app_;
  const PanelInput& input_;
  Intents& intents_;
  const LessonStep& step_;
  const std::string language_;
  const float wide_;
  const std::vector<std::string> texts_;  // of the prose
  const Prose prose_, task_;
  const LessonQuestionView question_;
  std::vector<Rect> points_, clear_, named_;
};

void draw_lesson(Ui& ui, const PanelInput& input, Intents& intents) {
  if (input.app.lessons.lesson() == nullptr) return;
  if (wants_counting(input.app, *input.app.lessons.step())) intents.push_back({"lesson.count", ""});
  LessonPopup(ui, input, intents).draw();
}

}  // namespace

Panel lesson_panel() { return {"lesson", "", Dock::floating, 0, 1, draw_lesson}; }

}  // namespace recut::gui
