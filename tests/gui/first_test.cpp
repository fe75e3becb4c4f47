// The first screen: its words and figures, and how it ends.
#include "gui/app/first_view.h"

#include <algorithm>
#include <catch2/catch_approx.hpp>
#include <catch2/catch_test_macros.hpp>

#include "engine/input/bytes.h"
#include "engine/support/units.h"
#include "gui/app/budget_slider.h"
#include "tests/gui/window.h"
#include "tests/paths.h"

namespace recut::gui {
namespace {

// At a first start, with the first of its samples open.
struct FirstWindow : Window {
  FirstWindow() : Window(first_options()) { settle(); }

  static AppOptions first_options() {
    AppOptions options = bare_options();
    options.welcome = true;
    return options;
  }
  const Item* item(const char* label) const { return app.items.find(label); }
};

}  // namespace

TEST_CASE("first: a step's memory and its trade-off, in one sentence each", "[gui][first]") {
  FirstWindow window;
  REQUIRE(window.state("moment") == "first");
  const DocumentView& document = *window.app.document();
  REQUIRE(window.item("first/sentence") != nullptr);
  CHECK(window.item("first/sentence")
            ->value.find(format_bytes(document.basis->baseline_cost.peak_bytes)) !=
        std::string::npos);
  REQUIRE(window.item("first/cost") != nullptr);
  const std::string cost = window.item("first/cost")->value;
  CHECK(cost == first_cost(document));
  CHECK(cost.find(format_bytes(document.shown->peak())) == 0);
  for (const char* label : {"memory/budget", "trade-off/curve", "trade-off/plan", "first/copy"}) {
    CAPTURE(label);
    CHECK(window.item(label) != nullptr);
  }
  CHECK(window.item("graph/fit") == nullptr);
  CHECK(window.play("click first/copy\nwait idle") == "");
  CHECK(window.state("clipboard").find("recut_torch.export(") == 0);
}

TEST_CASE("first: the other panels come after the first drag, not while it goes on",
          "[gui][first]") {
  FirstWindow window;
  const ImVec2 at = window.item("memory/budget")->rect.centre();
  window.backend.give(PointerMoved{at.x, at.y});
  window.tick();
  window.backend.give(PointerButton{0, true});
  window.tick();
  for (float down = 4; down <= 12; down += 4) {
    window.backend.give(PointerMoved{at.x, at.y + down});
    window.tick();
  }
  CHECK(window.app.document()->plan_settings.budget_bytes > 0);
  CHECK(window.state("moment") == "first");
  window.backend.give(PointerButton{0, false});
  window.settle();
  CHECK(window.state("moment") == "open");
  CHECK(window.item("graph/fit") != nullptr);
}

TEST_CASE("first: Enter, a lesson or a selection open the workbench", "[gui][first]") {
  for (const char* script :
       {"key Enter\nexpect state moment open", "click first/workbench\nexpect state moment open",
        "command lesson.open kept\nexpect state moment open",
        "command panel.show graph\nexpect state moment open"}) {
    CAPTURE(script);
    FirstWindow window;
    REQUIRE(window.state("moment") == "first");
    CHECK(window.play(script) == "");
  }
}

TEST_CASE("first: a drag of the hill's line is one step to undo", "[gui][first]") {
  FirstWindow window;
  REQUIRE(window.app.run("budget.set", "none").ok());
  window.settle();
  REQUIRE(window.play("drag memory/budget 0 20") == "");
  window.settle();
  REQUIRE(window.app.document()->plan_settings.budget_bytes > 0);
  REQUIRE(window.play("key Ctrl+Z") == "");
  CHECK(window.app.document()->plan_settings.budget_bytes == 0);
}

TEST_CASE("first: the keyboard reaches the hill's line and moves it like a slider",
          "[gui][first]") {
  FirstWindow window;
  for (int i = 0; i < 100 && window.app.items.focused != "memory/budget"; ++i)
    key(window, ImGuiKey_Tab);
  REQUIRE(window.app.items.focused == "memory/budget");
  const auto after = [&](ImGuiKey which) {
    key(window, which);
    const Item* line = window.item("memory/budget");
    REQUIRE(line != nullptr);
    CHECK(line->kind == ItemKind::slider);
    REQUIRE(line->span);
    CHECK(line->span->least <= line->span->now);
    CHECK(line->span->now <= line->span->most);
    CHECK(line->span->text.find("budget ") == 0);
    CHECK(window.state("moment") == "first");
    return *line->span;
  };
  const Span whole = after(ImGuiKey_End);
  CHECK(whole.now == whole.most);
  CHECK(window.state("budget") == "none");
  const double percent = whole.most / 100;
  CHECK(after(ImGuiKey_LeftArrow).now == Catch::Approx(whole.most - percent).margin(1));
  CHECK(after(ImGuiKey_DownArrow).now == Catch::Approx(whole.most - 2 * percent).margin(2));
  CHECK(after(ImGuiKey_RightArrow).now == Catch::Approx(whole.most - percent).margin(3));
  const Span far = after(ImGuiKey_PageDown);
  CHECK(far.now == Catch::Approx(std::max(far.least, whole.most - 11 * percent)).margin(4));
  CHECK(after(ImGuiKey_PageUp).now >= whole.most - 2 * percent);
  CHECK(after(ImGuiKey_UpArrow).now > far.now);
  const Span lowest = after(ImGuiKey_Home);
  CHECK(lowest.now == static_cast<double>(window.app.document()->least_peak()));
  window.settle();
  CHECK(window.state("holds") == "yes");
  CHECK(window.state("moment") == "first");
  key(window, ImGuiKey_Tab);  // lets go of it
  window.settle();
  CHECK(window.state("moment") == "open");
}

TEST_CASE("first: once its sample is closed, another graph opens in the workbench",
          "[gui][first]") {
  FirstWindow window;
  REQUIRE(window.app.run("file.close").ok());
  window.settle();
  CHECK(window.state("moment") == "none");
  window.app.open(RECUT_SOURCE_DIR "/samples/blocks/residual_block.recut");
  window.settle();
  CHECK(window.state("moment") == "open");
}

TEST_CASE("first: on a phone and beside it the hill, the call and its button have room",
          "[gui][first]") {
  for (const bool fingers : {false, true})
    for (const Extent size : {Extent{390, 844}, Extent{1280, 800}, Extent{1680, 1050}}) {
      CAPTURE(fingers, size.width);
      NullBackend backend = Window::sample_backend();
      backend.fingers = fingers;
      Window window(FirstWindow::first_options(), std::move(backend));
      window.backend.resize(size, 1);
      window.settle();
      REQUIRE(window.state("moment") == "first");
      for (const char* label : {"memory/budget", "first/workbench", "first/learn", "first/samples",
                                "first/copy", "first/cost"}) {
        CAPTURE(label);
        const Item* item = window.app.items.find(label);
        REQUIRE(item != nullptr);
        CHECK(item->rect.height() >= (fingers && item->kind == ItemKind::button ? 44 : 15));
      }
      for (const std::string& text : window.app.items.cut_texts("first"))
        CHECK(text.find("recut_torch") == std::string::npos);
    }
}

TEST_CASE("first: once a budget is typed, the workbench says what its plan costs", "[gui][first]") {
  for (const Extent extent : {Extent{1280, 800}, Extent{1680, 1050}, Extent{390, 844}}) {
    CAPTURE(extent.width);
    NullBackend backend = Window::sample_backend();
    backend.resize(extent, 1);
    Window window(FirstWindow::first_options(), std::move(backend));
    window.settle();
    REQUIRE(window.state("moment") == "first");
    REQUIRE(window.app.run("budget.set", "99%").ok());
    window.settle();
    REQUIRE(window.state("moment") == "open");
    REQUIRE(window.app.run("panel.show", "trade-off").ok());
    window.settle();
    const Item* said = window.app.items.find("trade-off/cost");
    REQUIRE(said != nullptr);
    CHECK(said->value == first_cost(*window.app.document()));
  }
}

TEST_CASE("first: a small number is a budget in the unit of the peak", "[gui][first]") {
  constexpr std::int64_t kGpt2 = 9'137'000'000, kTiny = 72'400;
  CHECK(typed_budget("8", kGpt2) == "8GiB");
  CHECK(typed_budget("6.5", kGpt2) == "6.5GiB");
  CHECK(typed_budget("70", kTiny) == "70KiB");
  CHECK(typed_budget("8GiB", kTiny) == "8GiB");
  for (const char* text : {"50%", "none", "", "123456", "8 MiB", "eight"})
    CHECK(typed_budget(text, kGpt2) == text);
}

TEST_CASE("first: costs are those of the plan, of its curve and of PyTorch's points",
          "[gui][first]") {
  Window window(bare_options());
  window.app.open(RECUT_SOURCE_DIR "/samples/joint/gpt2.json.gz");
  window.settle();
  for (const char* budget : {"none", "50%", "30%", "1KiB"}) {
    CAPTURE(budget);
    REQUIRE(window.app.run("budget.set", budget).ok());
    window.settle();
    const DocumentView& document = *window.app.document();
    const PlanReport& plan = document.shown->report();
    const std::string cost = first_cost(document);
    CAPTURE(cost);
    if (!document.holds()) {
      CHECK(cost.find("the least peak is " + format_bytes(document.least_peak())) !=
            std::string::npos);
      continue;
    }
    CHECK(cost.find(format_bytes(plan.peak_bytes)) == 0);
    const std::string extra =
        plan.recompute_us > 0 ? signed_micros(plan.recompute_us) : "nothing is recomputed";
    CHECK(cost.find(extra) != std::string::npos);
    // The command's own figure, or a better one of the curve's.
    if (plan.proof && !plan.proof->optimal && plan.proof->recompute_bound_us > 0) {
      const double own = 100 * (plan.recompute_us / plan.proof->recompute_bound_us - 1);
      const std::size_t at = cost.find("within ");
      CHECK((at != std::string::npos || cost.find(" is proved to be needed") != std::string::npos));
      if (at != std::string::npos) CHECK(std::stod(cost.substr(at + 7)) <= own + 0.051);
    }
    double quickest = -1;
    for (const CurvePoint& point : document.curve->report.torch)
      if (point.peak_bytes <= plan.peak_bytes && (quickest < 0 || point.recompute_us < quickest))
        quickest = point.recompute_us;
    if (quickest >= 0)
      CHECK(cost.find("as by PyTorch: " + signed_micros(quickest) + ", at a peak of ") !=
            std::string::npos);
    // The workbench says the same, above its trade-off.
    const Item* said = window.app.items.find("trade-off/cost");
    REQUIRE(said != nullptr);
    CHECK(said->value == cost);
  }
}

TEST_CASE("first: the trade-off that comes along is shown at once, then the one that is planned",
          "[gui][first]") {
  NullBackend backend;
  const auto bytes = read_file(RECUT_SOURCE_DIR "/samples/joint/gpt2.json.gz");
  REQUIRE(bytes.ok());
  backend.files["sample:gpt2"] = *bytes;
  AppOptions options = FirstWindow::first_options();
  options.effort = 1;  // that it was planned with
  Window window(options, std::move(backend));
  while (!window.app.has_ready()) window.tick();
  const DocumentView& document = *window.app.document();
  REQUIRE(document.curve);
  const CurveReport early = document.curve->report;
  CHECK(!early.complete);
  CHECK(early.points.size() >= 30);
  window.settle();
  REQUIRE(document.curve->report.complete);
  CHECK(document.curve->plans.size() == document.curve->report.points.size());
  // Of another problem nothing comes along.
  REQUIRE(window.app.run("model.set", "fused").ok());
  CHECK((!document.curve || !document.curve->plans.empty()));
}

TEST_CASE("first: a block's saved and recomputed bytes are parts of its own", "[gui][first]") {
  Window window(bare_options());
  window.app.open(RECUT_SOURCE_DIR "/samples/joint/gpt2.json.gz");
  window.settle();
  const DocumentView& document = *window.app.document();
  const LayerBands layers = layer_bands(*document.start);
  const auto share = [&] {
    double saved = 0;
    const auto blocks = first_blocks(*document.shown, layers);
    REQUIRE(!blocks.empty());
    REQUIRE(blocks.size() <= LayerBands::kMax);
    for (const FirstBlock& block : blocks) {
      CAPTURE(block.name);
      CHECK(block.saved >= 0);
      CHECK(block.saved + block.again <= 1.0001);
      saved += block.saved;
    }
    return saved;
  };
  REQUIRE(window.app.run("budget.set", "none").ok());
  window.settle();
  const double all = share();
  REQUIRE(window.app.run("budget.set", "40%").ok());
  window.settle();
  CHECK(share() < all);
}

}  // namespace recut::gui
