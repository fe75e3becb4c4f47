// The timeline by keys, and the rule of whose a key is.
#include <algorithm>
#include <catch2/catch_test_macros.hpp>

#include "gui/app/timeline_cursor.h"
#include "gui/model/memory_stack.h"
#include "tests/gui/big_plan.h"
#include "tests/gui/window.h"

namespace recut::gui {
namespace {

struct TimelineOpened {
  Window window{bare_options()};
  TimelineOpened() {
    window.app.open("sample:tiny_conv");
    window.settle();
  }
  DocumentView& document() { return *window.app.document(); }
  std::size_t step() {
    const auto at = cursor_step(document(), memory_view(document()));
    REQUIRE(at.has_value());
    return *at;
  }
};

TEST_CASE("keys: the panel that has the focus gets them, else the graph", "[gui]") {
  TimelineOpened open;
  Window& window = open.window;
  window.app.give_focus("memory");
  key(window, ImGuiKey_End);
  CHECK(open.step() + 1 == open.document().shown->replay().steps.size());
  const std::size_t last = open.step();
  key(window, ImGuiKey_LeftArrow);
  CHECK(open.step() + 1 == last);

  REQUIRE(window.app.run("select.node", "relu").ok());
  for (const char* panel : {"values", "graph", "details"}) {
    CAPTURE(panel);
    window.app.give_focus(panel);
    REQUIRE(window.app.run("select.node", "relu").ok());
    window.settle();
    const auto before = memory_view(open.document()).cursor.step;
    key(window, ImGuiKey_DownArrow);
    window.settle();
    CHECK(window.state("selection") != "relu");
    CHECK(memory_view(open.document()).cursor.step == before);
  }
}

TEST_CASE("keys: a row of the table that takes a key says whose it is", "[gui]") {
  // Arrows mean something else in each panel: none of them is everybody's.
  for (const Command* command : all_commands()) {
    CAPTURE(command->id);
    const std::string_view hotkey = command->hotkey;
    for (const char* arrow : {"UpArrow", "DownArrow", "LeftArrow", "RightArrow"})
      if (hotkey.substr(0, hotkey.find(' ')) == arrow) CHECK_FALSE(command->panel.empty());
  }
}

double now_of(const Window& window, const char* label) {
  const Item* item = window.app.items.find(label);
  REQUIRE(item != nullptr);
  REQUIRE(item->span.has_value());
  CHECK(item->span->least <= item->span->now);
  CHECK(item->span->now <= item->span->most);
  return item->span->now;
}

TEST_CASE("keys: budget and passes are moved by those of their panels", "[gui]") {
  TimelineOpened open;
  Window& window = open.window;
  const auto after = [&](ImGuiKey which, const char* label) {
    key(window, which);
    window.settle();
    return now_of(window, label);
  };
  window.app.give_focus("trade-off");
  const char* budget = "trade-off/curve";
  const double whole = now_of(window, budget);
  const double less = after(ImGuiKey_LeftArrow, budget);
  CHECK(less < whole);
  CHECK(window.state("holds") == "yes");
  const double least = after(ImGuiKey_Home, budget);
  CHECK(least < less);
  CHECK(window.state("holds") == "yes");
  const double more = after(ImGuiKey_RightArrow, budget);
  CHECK(more > least);
  CHECK(after(ImGuiKey_PageUp, budget) > more);
  CHECK(after(ImGuiKey_End, budget) >= whole);
  CHECK(window.state("budget") == "none");

  window.app.give_focus("transforms");
  const double last = now_of(window, "transforms/pass");
  CHECK(after(ImGuiKey_UpArrow, "transforms/pass") == last - 1);
  CHECK(after(ImGuiKey_Home, "transforms/pass") == 0);
  CHECK(after(ImGuiKey_End, "transforms/pass") == last);
}

TEST_CASE("keys: Tab comes to splitters, too, and arrows move them", "[gui]") {
  TimelineOpened open;
  Window& window = open.window;
  for (const char* name : {"splitter/left", "splitter/right", "splitter/bottom"}) {
    CAPTURE(name);
    for (int i = 0; i < 200 && window.app.items.focused != name; ++i) key(window, ImGuiKey_Tab);
    REQUIRE(window.app.items.focused == name);
    const bool upright = std::string_view(name) != "splitter/bottom";
    const std::string selection = window.state("selection");
    const double before = now_of(window, name);
    key(window, upright ? ImGuiKey_RightArrow : ImGuiKey_DownArrow);
    window.settle();
    CHECK(now_of(window, name) > before);
    key(window, upright ? ImGuiKey_LeftArrow : ImGuiKey_UpArrow);
    key(window, upright ? ImGuiKey_LeftArrow : ImGuiKey_UpArrow);
    window.settle();
    CHECK(now_of(window, name) < before);
    CHECK(window.state("selection") == selection);  // no command heard of it
  }
}

TEST_CASE("keys: a field lets go where Tab goes on, even before it had the keyboard", "[gui]") {
  TimelineOpened open;
  Window& window = open.window;
  const std::string field = "trade-off/budget field";
  // Shift+Tab and Tab: from the field to the widget before it and back.
  const auto go = [&](bool back) {
    if (back) window.backend.give(KeyChanged{ImGuiMod_Shift, true});
    key(window, ImGuiKey_Tab);
    if (back) window.backend.give(KeyChanged{ImGuiMod_Shift, false});
  };
  for (int i = 0; i < 200 && window.app.items.focused != field; ++i) go(false);
  REQUIRE(window.app.items.focused == field);
  for (int i = 0; i < 4; ++i) window.tick();
  CHECK(window.app.items.active_field == field);
  go(true);
  for (int i = 0; i < 4; ++i) window.tick();
  CHECK(window.app.items.active_field == "");
  for (int frames = 0; frames < 4; ++frames) {
    CAPTURE(frames);
    go(false);
    REQUIRE(window.app.items.focused == field);
    for (int i = 0; i < frames; ++i) window.tick();
    go(true);
    for (int i = 0; i < 4; ++i) window.tick();
    CHECK(window.app.items.focused != field);
    CHECK(window.app.items.active_field == "");
  }
}

TEST_CASE("pointer: one that jumps and presses at once presses what is there", "[gui]") {
  TimelineOpened open;
  Window& window = open.window;
  const std::string theme = window.state("theme");
  const ImVec2 at = window.app.items.find("bar/theme")->rect.centre();
  window.backend.give(PointerMoved{at.x, at.y});
  window.backend.give(PointerButton{0, true});
  window.backend.give(PointerButton{0, false});
  window.settle();
  CHECK(window.state("theme") != theme);
}

TEST_CASE("keys: only panels that stand in the window take the focus", "[gui]") {
  TimelineOpened open;
  open.window.app.give_focus("bar");
  open.window.app.give_focus("palette");
  open.window.app.give_focus("nothing");
  CHECK(open.window.state("focus").empty());
  std::vector<std::string> met;
  for (int i = 0; i < 5; ++i) {
    REQUIRE(open.window.app.run("panel.next").ok());
    met.push_back(open.window.state("focus"));
  }
  std::sort(met.begin(), met.end());
  CHECK(std::unique(met.begin(), met.end()) == met.end());
  REQUIRE(open.window.app.run("panel.show", "memory").ok());
  CHECK(open.window.state("focus") == "memory");
  REQUIRE(open.window.app.run("panel.toggle", "memory").ok());
  CHECK(open.window.state("focus").empty());
}

TEST_CASE("timeline: the cursor goes with the selection and the plan", "[gui]") {
  TimelineOpened open;
  DocumentView& document = open.document();
  REQUIRE(open.window.app.run("timeline.peak").ok());
  CHECK(open.step() == document.shown->replay().peak_step);
  REQUIRE(open.window.app.run("select.node", "relu").ok());
  CHECK(document.shown->replay().steps[open.step()].node == document.find("relu"));
  REQUIRE(open.window.app.run("select.clear").ok());
  CHECK_FALSE(cursor_step(document, memory_view(document)).has_value());
  CHECK_FALSE(open.window.app.run("timeline.go", "many").ok());
  CHECK_FALSE(open.window.app.run("timeline.go", "99999999").ok());
}

TEST_CASE("timeline: uses of a value are its runs and what reads it", "[gui]") {
  const auto [basis, plan] = plan_of(blocks_text(12), "peak", "40%");
  const Graph& graph = plan->graph();
  const auto& steps = plan->replay().steps;
  for (const NodeId id : graph.order()) {
    const auto uses = steps_using(*plan, id);
    CHECK(std::is_sorted(uses.begin(), uses.end()));
    std::size_t runs = 0;
    for (const PlanStep& step : steps) runs += step.node == id ? 1 : 0;
    if (runs > 0) CHECK(uses.size() >= runs);
    for (const StorageInstance* life : instances_behind(*plan, id))
      if (life->last_use < steps.size())
        CHECK(std::binary_search(uses.begin(), uses.end(), life->last_use));
  }
}

TEST_CASE("timeline: steps and bytes stay within what there is", "[gui]") {
  MemoryView view;
  view.show_bytes(-1, 0.5);
  CHECK(view.bottom == 0);
  view.show_bytes(0.9, 1.4);
  CHECK(view.top == 1);
  view.show_bytes(0.5, 0.5);
  CHECK(view.top > view.bottom);
  view.show_bytes(-4, 9);
  CHECK(view.all_bytes());
}

}  // namespace
}  // namespace recut::gui
