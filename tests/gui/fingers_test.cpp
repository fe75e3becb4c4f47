// What fingers press on a phone is large enough for them, in every panel.
#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <string>
#include <vector>

#include "tests/gui/stub_executor.h"
#include "tests/gui/window.h"

namespace recut::gui {
namespace {

constexpr float kPhoneScales[] = {1, 2};

NullBackend phone_backend(Executor& executor, float scale) {
  NullBackend backend = with_executor(executor);
  backend.fingers = true;
  backend.resize({static_cast<int>(390 * scale), static_cast<int>(844 * scale)}, scale);
  return backend;
}

bool is_pressed_kind(ItemKind kind) { return kind != ItemKind::figure && kind != ItemKind::handle; }

// Pictures have what they show at its size, and lines of code are as near as they are read.
bool is_drawn_to_measure(const std::string& label) {
  constexpr std::string_view kParts[] = {"graph/", "memory/",   "trade-off/",
                                         "text/",  "code/line", "transforms/legend "};
  return std::any_of(std::begin(kParts), std::end(kParts), [&](std::string_view part) {
    return label.rfind(part, 0) == 0 && label.find("/turn ") == std::string::npos;
  });
}

std::vector<const Item*> pressed_items(const Window& window, std::string_view panel) {
  std::vector<const Item*> found;
  for (const Item& item : window.app.items.all()) {
    const bool here = item.label.rfind(std::string(panel) + "/", 0) == 0;
    if (here && item.visible() && is_pressed_kind(item.kind) && !is_drawn_to_measure(item.label))
      found.push_back(&item);
  }
  return found;
}

// Each is high enough; returns how many there are of a kind.
int check_heights(const Window& window, std::string_view panel, ItemKind counted) {
  const float least = kFinger * window.app.scale() - 1;
  int count = 0;
  for (const Item* item : pressed_items(window, panel)) {
    CAPTURE(item->label, item->reach.x, item->reach.y);
    CHECK(item->reach.y >= least);
    count += item->kind == counted ? 1 : 0;
  }
  return count;
}

bool lies_in(const Rect& inner, const Rect& outer) {
  return inner.left >= outer.left - 1 && inner.right <= outer.right + 1 &&
         inner.top >= outer.top - 1 && inner.bottom <= outer.bottom + 1;
}

// A finger presses what it points at: two such places meet only where one lies in the other.
void check_apart(const Window& window, std::string_view panel) {
  const std::vector<const Item*> items = pressed_items(window, panel);
  for (std::size_t i = 0; i < items.size(); ++i)
    for (std::size_t k = 0; k < i; ++k) {
      const Rect &a = items[i]->rect, &b = items[k]->rect;
      if (lies_in(a, b) || lies_in(b, a)) continue;
      CAPTURE(items[i]->label, items[k]->label);
      CHECK_FALSE(a.inset(1, 1).meets(b.inset(1, 1)));
    }
}

void does(Window& window, std::string_view command, std::string_view argument = "") {
  CAPTURE(command, argument);
  REQUIRE(window.app.run(command, argument).ok());
  window.settle();
}

TEST_CASE("fingers: the bar, tabs and the rows of values have 44 units", "[gui]") {
  for (const float scale : kPhoneScales) {
    StubExecutor executor;
    Window window(bare_options(), phone_backend(executor, scale));
    window.app.open("sample:tiny_conv");
    window.settle();
    does(window, "panel.show", "values");
    const float least = 44 * scale - 1;
    int tabs = 0, rows = 0;
    for (const Item& item : window.app.items.all()) {
      CAPTURE(item.label, item.rect.width(), item.rect.height());
      const bool tab = item.label.find("/turn ") != std::string::npos;
      const bool button = item.kind == ItemKind::button && item.label.rfind("bar/", 0) == 0;
      const bool row = item.kind == ItemKind::row && item.label.rfind("values/", 0) == 0;
      if ((tab || button) && item.rect.width() < least) FAIL_CHECK("too narrow");
      if ((tab || button) && item.rect.height() < least) FAIL_CHECK("too low");
      tabs += tab;
      rows += row && item.rect.height() >= least;
    }
    CHECK(tabs > 8);
    CHECK(rows > 0);
    for (const char* figure : {"bar/peak", "bar/step"}) {
      const Item* found = window.app.items.find(figure);
      REQUIRE(found != nullptr);
      CHECK(found->visible());
    }
    CHECK(window.play("click bar/menu\nexpect state menu file\n") == "");
  }
}

TEST_CASE("fingers: every panel has 44 units for what they press", "[gui]") {
  for (const float scale : kPhoneScales) {
    StubExecutor executor;
    executor.profile = "cpu8";
    Window window(bare_options(), phone_backend(executor, scale));
    window.app.open("sample:tiny_conv");
    window.settle();
    does(window, "budget.set", "60%");
    does(window, "check.run", "seed 1");
    does(window, "run.step");
    does(window, "compare.with", "unplanned");
    does(window, "select.node", "relu");
    for (const Panel& panel : window.app.panels) {
      const bool on_top = panel.dock == Dock::top || panel.dock >= Dock::overlay;
      if (on_top || panel.window_state != WindowState::open) continue;
      CAPTURE(scale, panel.id);
      does(window, "panel.show", panel.id);
      CHECK(check_heights(window, panel.id, ItemKind::tab) > 0);
    }
    for (const char* panel : {"values", "details", "compare", "check", "run"}) {
      CAPTURE(scale, panel);
      does(window, "panel.show", panel);
      check_apart(window, panel);
    }
  }
}

// What a panel has that is pressed is there, or the heights would say nothing of it.
TEST_CASE("fingers: rows and buttons of the panels are asked", "[gui]") {
  StubExecutor executor;
  NullBackend backend = phone_backend(executor, 1);
  backend.resize({390, 2000}, 1);  // the comparison's rows are in sight
  Window window(bare_options(), std::move(backend));
  window.app.open("sample:tiny_conv");
  window.settle();
  does(window, "budget.set", "60%");
  does(window, "check.run", "seed 1");
  does(window, "run.step");
  does(window, "compare.with", "unplanned");
  does(window, "select.node", "relu");
  struct Asked {
    const char* panel;
    ItemKind kind;
  };
  for (const Asked asked : {Asked{"values", ItemKind::row}, Asked{"values", ItemKind::field},
                            Asked{"details", ItemKind::button}, Asked{"details", ItemKind::toggle},
                            Asked{"compare", ItemKind::row}, Asked{"compare", ItemKind::button},
                            Asked{"compare", ItemKind::toggle}, Asked{"check", ItemKind::row},
                            Asked{"check", ItemKind::button}, Asked{"run", ItemKind::row},
                            Asked{"run", ItemKind::button}}) {
    CAPTURE(asked.panel, static_cast<int>(asked.kind));
    does(window, "panel.show", asked.panel);
    CHECK(check_heights(window, asked.panel, asked.kind) > 0);
    check_apart(window, asked.panel);
  }
}

TEST_CASE("fingers: the optimiser's row breaks where it has no room", "[gui]") {
  for (const float scale : kPhoneScales) {
    StubExecutor executor;
    Window window(bare_options(), phone_backend(executor, scale));
    window.app.open("samples/mlp.recut");
    window.settle();
    does(window, "train.optimizer", "adam 0.01");
    CHECK(check_heights(window, "train", ItemKind::field) == 1);
    CHECK(check_heights(window, "train", ItemKind::tab) >= 3);
    check_apart(window, "train");
    for (const char* label : {"train/rate", "train/none"}) {
      CAPTURE(label);
      const Item* item = window.app.items.find(label);
      REQUIRE(item != nullptr);
      CHECK(item->rect.width() >= 44 * scale);
    }
  }
}

TEST_CASE("fingers: lists over the panels, and the lesson's popup", "[gui]") {
  for (const float scale : kPhoneScales) {
    StubExecutor executor;
    Window window(bare_options(), phone_backend(executor, scale));
    window.app.open("sample:tiny_conv");
    window.settle();
    does(window, "file.sample");
    CHECK(check_heights(window, "samples", ItemKind::row) > 0);
    CHECK(check_heights(window, "samples", ItemKind::field) == 1);
    check_apart(window, "samples");
    does(window, "overlay.close");
    does(window, "lesson.list");
    CHECK(check_heights(window, "lessons", ItemKind::row) > 0);
    CHECK(check_heights(window, "lessons", ItemKind::tab) > 1);
    check_apart(window, "lessons");
    does(window, "lesson.open", "kept");
    CHECK(check_heights(window, "lesson", ItemKind::button) >= 5);  // of which are three answers
    check_apart(window, "lesson");
    const Item* leave = window.app.items.find("lesson/leave");
    REQUIRE(leave != nullptr);
    CHECK(leave->rect.width() >= 44 * scale - 1);
  }
}

}  // namespace
}  // namespace recut::gui
