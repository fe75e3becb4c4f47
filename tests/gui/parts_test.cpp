// The parts of the window, each by itself.
#include <atomic>
#include <catch2/catch_test_macros.hpp>
#include <chrono>
#include <set>
#include <thread>

#include "gui/app/arrangement.h"
#include "gui/app/command.h"
#include "gui/app/script.h"
#include "gui/backend/jobs.h"
#include "gui/draw/motion.h"
#include "gui/model/search.h"
#include "tests/gui/window.h"

namespace recut::gui {
namespace {

TEST_CASE("commands: ids are unique, and every row can be run", "[gui]") {
  std::set<std::string_view> ids;
  for (const Command* command : all_commands()) {
    INFO(command->id);
    CHECK(ids.insert(command->id).second);
    CHECK(command->run != nullptr);
    CHECK(command->id.find('.') != std::string_view::npos);
  }
  CHECK(find_command("budget.set") != nullptr);
  CHECK(find_command("nonsense") == nullptr);
}

TEST_CASE("commands: none fails hard where nothing is open", "[gui]") {
  Window window(bare_options());
  for (const Command* command : all_commands()) {
    INFO(command->id);
    if (command->id == "file.quit") continue;
    (void)window.app.run(command->id);
    (void)window.app.run(command->id, "nonsense");
    window.tick();
  }
}

TEST_CASE("palette: letters in order fit, starts of words best", "[gui]") {
  CHECK(fuzzy_score("stb", "Set the budget") > 0);
  CHECK(fuzzy_score("budget", "Set the budget") > fuzzy_score("budget", "Debug the widget"));
  CHECK(fuzzy_score("sb", "Set the budget") > fuzzy_score("sb", "Usable"));
  CHECK(fuzzy_score("xyz", "Set the budget") < 0);
  CHECK(fuzzy_score("", "anything") == 0);
}

TEST_CASE("jobs: what is posted runs between frames, what is cancelled does not", "[gui]") {
  for (const bool threads : {false, true}) {
    std::atomic<int> wakes{0};
    Jobs jobs(threads, [&] { ++wakes; });
    int delivered = 0;
    std::atomic<bool> posted{false};
    const auto post_one = [&](JobControl& control) {
      control.post([&] { ++delivered; });
      posted = true;
      return false;
    };
    jobs.start({"kept", 1, true, false, post_one});
    while (!jobs.idle()) jobs.deliver();
    CHECK(delivered == 1);
    CHECK(wakes > 0);

    posted = false;
    const JobId dropped = jobs.start({"dropped", 2, false, false, post_one});
    if (threads)
      while (!posted) std::this_thread::yield();
    jobs.cancel(dropped);
    jobs.deliver();
    CHECK(delivered == 1);
    CHECK(jobs.idle());
  }
}

TEST_CASE("jobs: what there is no time for waits, in order", "[gui]") {
  Jobs jobs(false, [] {});
  std::vector<int> order;
  jobs.start({"three", 0, false, false, [&](JobControl& control) {
                for (const int i : {1, 2, 3}) control.post([&order, i] { order.push_back(i); });
                return false;
              }});
  for (const std::size_t delivered : {1, 2, 3}) {
    CHECK_FALSE(jobs.idle());
    CHECK_FALSE(jobs.resting());
    jobs.deliver(0);
    CHECK(order.size() == delivered);
  }
  CHECK(order == std::vector{1, 2, 3});
  CHECK(jobs.idle());
}

TEST_CASE("jobs: one whose message still waits has more to come", "[gui]") {
  Jobs jobs(true, [] {});
  Job job{"posts", 0, false, false, {}};
  bool told = false;
  job.part = [&](JobControl& control) {
    control.post([&] { told = true; });
    return false;
  };
  const JobId id = jobs.start(std::move(job));
  while (!jobs.status().empty()) std::this_thread::yield();
  CHECK(jobs.is_alive(id));
  jobs.deliver();
  CHECK(told);
  CHECK_FALSE(jobs.is_alive(id));
}

TEST_CASE("jobs: an urgent one doesn't wait for the others", "[gui]") {
  Jobs jobs(true, [] {});
  std::atomic<bool> release{false}, urgent{false};
  jobs.start({"long", 0, false, false,
              [&](JobControl& control) { return !release && !control.cancelled(); }});
  jobs.start({"urgent", 0, true, false, [&](JobControl&) {
                urgent = true;
                return false;
              }});
  while (!urgent) std::this_thread::yield();
  CHECK(jobs.status().size() >= 1);
  release = true;
  while (!jobs.idle()) jobs.deliver();
}

TEST_CASE("jobs: ending waits for what is at work, and cancels it", "[gui]") {
  std::atomic<bool> ended{false};
  {
    Jobs jobs(true, [] {});
    jobs.start({"endless", 0, false, false, [&](JobControl& control) {
                  if (control.cancelled()) ended = true;
                  return true;
                }});
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  SUCCEED("it came back");
}

Panel panel_at(std::string_view id, Dock dock) { return {id, id, dock, 0, 1, nullptr}; }

TEST_CASE("arrangement: places share the window without overlap", "[gui]") {
  const std::vector<Panel> panels{panel_at("bar", Dock::top),
                                  panel_at("passes", Dock::left),
                                  panel_at("graph", Dock::centre),
                                  panel_at("compare", Dock::centre),
                                  panel_at("values", Dock::right),
                                  panel_at("details", Dock::right),
                                  panel_at("memory", Dock::bottom_left),
                                  panel_at("trade-off", Dock::bottom_right),
                                  panel_at("palette", Dock::overlay)};
  Settings settings;
  for (const float scale : {1.0f, 2.5f})
    for (const char* left : {"", "0.5", "-3", "1e9"}) {
      settings.set("split.left", left);
      const Arrangement all =
          arrange(panels, settings, {0, 0, 1680 * scale, 1050 * scale}, scale, WindowState::open);
      CHECK(all.placed.size() == 7);
      CHECK(all.tab_groups.size() == 1);
      for (std::size_t i = 0; i < all.placed.size(); ++i) {
        CHECK_FALSE(all.placed[i].area.empty());
        for (std::size_t j = 0; j < i; ++j)
          CHECK_FALSE(all.placed[i].area.meets(all.placed[j].area));
      }
    }
}

TEST_CASE("arrangement: hidden panels leave their room, turns choose", "[gui]") {
  const std::vector<Panel> panels{panel_at("graph", Dock::centre),
                                  panel_at("compare", Dock::centre),
                                  panel_at("passes", Dock::left)};
  Settings settings;
  settings.set_flag("panel.passes", false);
  settings.set("turn.centre", "compare");
  const Arrangement all = arrange(panels, settings, {0, 0, 1000, 600}, 1, WindowState::open);
  REQUIRE(all.placed.size() == 1);
  CHECK(panels[all.placed[0].panel].id == "compare");
  CHECK(all.placed[0].area.width() == 1000);
}

TEST_CASE("motion: values go where they go, and then rest", "[gui]") {
  Motion motion;
  motion.begin_frame(0, false);
  CHECK(motion.ease("x", 10) == 10);
  CHECK_FALSE(motion.moving());
  motion.begin_frame(1, false);
  CHECK(motion.ease("x", 20) == 10);
  CHECK(motion.moving());
  motion.begin_frame(1.07, false);
  const double halfway = motion.ease("x", 20);
  CHECK((halfway > 10 && halfway < 20));
  motion.begin_frame(1.3, false);
  CHECK(motion.ease("x", 20) == 20);
  CHECK_FALSE(motion.moving());
  motion.begin_frame(2, true);
  CHECK(motion.ease("x", 5) == 5);
  CHECK_FALSE(motion.moving());
}

TEST_CASE("script: lines, quotes, remarks, and where faults are", "[gui]") {
  const auto lines =
      parse_script("# a remark\nclick \"two words\"  # and more\n\ntype a\\b\n", "s");
  REQUIRE(lines.ok());
  REQUIRE(lines->size() == 2);
  CHECK((*lines)[0].number == 2);
  CHECK((*lines)[0].tokens == std::vector<std::string>{"click", "two words"});
  const auto fault = parse_script("wait idle\nclick \"open\n", "s");
  REQUIRE_FALSE(fault.ok());
  CHECK(format(fault.diagnostics()).find("s:2:") == 0);

  Window window(bare_options());
  CHECK(window.play("wait idle\nclick nonsense\n", "my.script").find("my.script:2:") == 0);
  CHECK(window.play("expect state theme light\n").find("script:1:") == 0);
  CHECK(window.play("jump\n").find("nothing that a script can do") != std::string::npos);
}

TEST_CASE("items: Tab goes around what can be pressed, Enter presses it", "[gui]") {
  Window window(bare_options());
  window.settle();
  CHECK(window.play("key Tab\nkey Tab\n") == "");
  CHECK_FALSE(window.app.items.focused.empty());
  while (window.app.items.focused != "bar/theme") {
    const std::string before = window.app.items.focused;
    REQUIRE(window.play("key Tab\n") == "");
    REQUIRE(window.app.items.focused != before);
  }
  CHECK(window.play("key Enter\nexpect state theme light\nkey Enter\nexpect state theme dark\n") ==
        "");
}

TEST_CASE("search: names, bytes with and without blanks, roles", "[gui]") {
  Window window(bare_options());
  window.app.open("sample:tiny_conv");
  window.settle();
  const DocumentView& document = *window.app.document();
  const auto count = [&](std::string_view typed) {
    const auto found = search_nodes(document, typed, 100'000);
    return found ? static_cast<int>(found->size()) : -1;
  };
  const int all = count("");
  CHECK(all == static_cast<int>(document.graph().order().size()));
  CHECK(count("bytes>1KiB") > 0);
  CHECK(count("bytes>1KiB") == count("bytes > 1 KiB"));
  CHECK(count("bytes > 1023") + count("bytes < 1KiB") == all);
  CHECK(count("relu bytes>1KiB") <= count("relu"));
  CHECK(count("saved") + count("recomputed") + count("freed") + count("result") + count("input") ==
        all);
  CHECK(count("bytes > lots") == -1);
  CHECK(count("nothing_has_this_name") == 0);
}

TEST_CASE("fonts: every sign that the window writes has its shape", "[gui]") {
  Window window(bare_options());
  window.settle();
  ImFontAtlas& atlas = *ImGui::GetIO().Fonts;
  for (const ImFont* font : atlas.Fonts)
    for (const ImWchar c : {0x2026, 0x00b5, 0x00b7, 0x00d7, 0x2264, 0x2265, 0x2192, 0x2009, 0x2212})
      CHECK(font->FindGlyphNoFallback(c) != nullptr);
}

}  // namespace
}  // namespace recut::gui
