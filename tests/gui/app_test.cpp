// The application as a whole, on the null backend.
#include <catch2/catch_test_macros.hpp>

#include "tests/gui/window.h"

namespace recut::gui {
namespace {

TEST_CASE("window: at rest it draws nothing", "[gui]") {
  Window window(bare_options());
  window.settle();
  const int at_rest = window.app.frames();
  for (int i = 0; i < 500; ++i) CHECK_FALSE(window.tick());
  CHECK(window.app.frames() == at_rest);
  CHECK_FALSE(window.app.rest().has_value());

  window.backend.give(PointerMoved{800, 5});
  CHECK(window.app.rest().value_or(1) == 1);  // input is the backend's to notice
  CHECK(window.tick());
  window.settle();
  CHECK(window.app.frames() > at_rest);
  CHECK(window.app.frames() <= at_rest + 4);
}

TEST_CASE("window: a document at rest draws nothing either", "[gui]") {
  Window window(bare_options());
  window.app.open("sample:tiny_conv");
  window.settle();
  const int at_rest = window.app.frames();
  for (int i = 0; i < 100; ++i) window.tick();
  CHECK(window.app.frames() == at_rest);
}

TEST_CASE("window: the first start shows a sample", "[gui]") {
  Window window;
  window.settle();
  CHECK(window.state("documents") == "1");
  CHECK(window.state("nodes") != "");
}

TEST_CASE("window: a plan that is known for the budget shows in the same tick", "[gui]") {
  Window window(bare_options());
  window.app.open("sample:tiny_conv");
  window.settle();
  const DocumentView& document = *window.app.document();
  REQUIRE(document.known.all().size() > 3);
  const std::int64_t requested = document.known.all()[2]->peak() + 1;
  REQUIRE(window.app.run("budget.set", std::to_string(requested)).ok());
  window.tick();
  CHECK(document.shown->peak() <= requested);
  CHECK(document.holds());
  window.settle();
  CHECK(document.shown->peak() <= requested);
  CHECK(document.shown->report().step_us <= document.known.all()[2]->report().step_us);
}

TEST_CASE("window: a budget that can't be held shows the least peak, and says so", "[gui]") {
  Window window(bare_options());
  window.app.open("sample:tiny_conv");
  window.settle();
  REQUIRE(window.app.run("budget.set", "1KiB").ok());
  window.settle();
  CHECK(window.state("holds") == "no");
  CHECK(window.app.document()->shown->peak() == window.app.document()->known.lowest()->peak());
}

TEST_CASE("window: nothing is refused before the planner has said so", "[gui]") {
  Window window(bare_options());
  window.app.open("sample:tiny_conv");
  window.settle();
  DocumentView& document = *window.app.document();
  const std::int64_t least = document.known.lowest()->peak(), bound = document.peak_bound();
  REQUIRE(bound < least - 1);
  // Between what is proved and what is known it may be held yet.
  REQUIRE(window.app.run("budget.set", std::to_string(least - 1)).ok());
  window.tick();
  CHECK(window.state("budget_answer") == "open");
  const auto said = [&] { return window.app.items.find("trade-off/answer")->value; };
  CHECK(said().find("planning for") == 0);
  window.settle();
  CHECK(window.state("budget_answer") == "refused");
  CHECK(said().find("can't be held") != std::string::npos);
  // Below what is proved there is nothing to wait for.
  REQUIRE(window.app.run("budget.set", std::to_string(bound - 1)).ok());
  window.tick();
  CHECK(window.state("budget_answer") == "refused");
  REQUIRE(window.app.run("budget.set", "none").ok());
  window.tick();
  CHECK(window.state("budget_answer") == "held");
}

TEST_CASE("window: plans of all budgets are where the curve says", "[gui]") {
  Window window(bare_options());
  window.app.open("sample:tiny_conv");
  window.settle();
  const auto& known = window.app.document()->known.all();
  for (std::size_t i = 0; i + 1 < known.size(); ++i) {
    CHECK(known[i]->peak() < known[i + 1]->peak());
    CHECK(known[i]->report().step_us > known[i + 1]->report().step_us);
  }
  for (const SharedPlanView& plan : known) {
    CHECK(plan->report().timeline.size() == plan->replay().steps.size());
    CHECK(plan->report().model == "tiny_conv");
  }
}

TEST_CASE("window: a value that is overridden is what the plan then makes of it", "[gui]") {
  Window window(bare_options());
  window.app.open("sample:tiny_conv");
  window.settle();
  const DocumentView& document = *window.app.document();
  REQUIRE(!document.shown->report().saved.empty());
  std::string pinned;
  for (const StorageRow& row : document.shown->report().saved)
    if (pinned.empty() && window.app.run("pin.recompute", row.node).ok()) pinned = row.node;
  REQUIRE(!pinned.empty());
  window.settle();
  CHECK(document.shown->extra_runs[document.graph().position(document.find(pinned))] > 0);
  CHECK(window.state("pins") == "recompute " + pinned);
  REQUIRE(window.app.run("edit.undo").ok());
  window.settle();
  CHECK(window.state("pins").empty());
}

TEST_CASE("window: undo takes back and redo does again, command by command", "[gui]") {
  Window window(bare_options());
  window.app.open("sample:tiny_conv");
  window.settle();
  const std::string first = window.state("budget");
  for (const char* bytes : {"70000", "69000", "68000"})
    REQUIRE(window.app.run("budget.set", bytes).ok());
  for (const std::string& before : {std::string("69000"), std::string("70000"), first}) {
    REQUIRE(window.app.run("edit.undo").ok());
    CHECK(window.state("budget") == before);
  }
  CHECK_FALSE(window.app.run("edit.undo").ok());
  for (const char* after : {"70000", "69000", "68000"}) {
    REQUIRE(window.app.run("edit.redo").ok());
    CHECK(window.state("budget") == after);
  }
  window.settle();
}

TEST_CASE("window: the workspace comes back", "[gui]") {
  std::map<std::string, std::string> stored;
  {
    Window window;
    window.app.open("sample:tiny_ops");
    window.settle();
    REQUIRE(window.app.run("budget.set", "60%").ok());
    REQUIRE(window.app.run("theme.set", "light").ok());
    const Graph& graph = window.app.document()->graph();
    REQUIRE(window.app.run("select.node", graph.node_name(graph.results.front())).ok());
    window.settle();
    for (int i = 0; i < 70; ++i) window.tick();
    stored = window.backend.stored;  // it was saved by itself
  }
  NullBackend backend = Window::sample_backend();
  backend.stored = stored;
  Window again({}, backend);
  again.settle();
  CHECK(again.state("documents") == "2");
  CHECK(again.state("document") == "tiny_ops");
  CHECK(again.state("theme") == "light");
  CHECK(again.state("selection") != "");
  CHECK(again.app.document()->plan_settings.budget_bytes > 0);
  again.app.save_workspace();
  CHECK(again.backend.stored == stored);
}

TEST_CASE("window: a workspace that is damaged is passed over", "[gui]") {
  for (const char* text :
       {"", "{", "[]", "{\"version\": 2}", "{\"version\": 1, \"documents\": 5}",
        "{\"version\": 1, \"front\": -3, \"documents\": [{}, 1, {\"path\": 5}]}"}) {
    NullBackend backend;
    backend.stored["workspace"] = text;
    Window window({}, backend);
    window.settle();
    CHECK(window.state("documents") == "0");
  }
}

TEST_CASE("window: a file that can't be read is said in words", "[gui]") {
  NullBackend backend = Window::sample_backend();
  backend.files["broken.json"] = "{\"version\": ";
  Window window(bare_options(), backend);
  window.app.open("broken.json");
  for (int i = 0; i < 20; ++i) window.tick();
  CHECK(window.app.document()->state == DocumentState::failed);
  CHECK(window.state("fault").find("broken.json") != std::string::npos);
  window.settle();
}

TEST_CASE("window: documents that close while they are at work leave nothing behind", "[gui]") {
  Window window(bare_options());
  window.app.open("sample:tiny_conv");
  window.tick();
  window.app.open("sample:tiny_ops");
  REQUIRE(window.app.run("file.close").ok());
  REQUIRE(window.app.run("file.close").ok());
  window.settle();
  CHECK(window.state("documents") == "0");
}

TEST_CASE("window: it draws at every scale and size, in both themes", "[gui]") {
  Window window(bare_options());
  window.app.open("sample:mlp");
  window.settle();
  for (const char* theme : {"dark", "light"})
    for (const float scale : {1.0f, 1.25f, 3.0f})
      for (const Extent extent : {Extent{1680, 1050}, Extent{640, 400}, Extent{60, 40}}) {
        REQUIRE(window.app.run("theme.set", theme).ok());
        window.backend.resize(extent, scale);
        window.settle();
        CHECK(window.backend.vertices > 0);
      }
}

}  // namespace
TEST_CASE("window: a forward graph's trade-off is that of inference", "[gui]") {
  Window window(bare_options());
  window.app.open("samples/blocks/residual_block.recut");
  window.settle();
  CHECK(window.app.items.find("trade-off/differentiate") != nullptr);
  CHECK(window.app.document()->shown->report().inference);
  CHECK(window.app.document()->curve->report.inference);
  CHECK(window.app.items.find("trade-off/impossible") != nullptr);
  CHECK(window.app.items.find("trade-off/PyTorch") == nullptr);
  const std::int64_t most = window.app.document()->basis->baseline_cost.peak_bytes;
  REQUIRE(window.app.run("budget.set", std::to_string(most)).ok());
  window.settle();
  CHECK(window.app.document()->holds());
  REQUIRE(window.app.run("pass.differentiate").ok());
  window.settle();
  CHECK(window.app.items.find("trade-off/impossible") != nullptr);
}

}  // namespace recut::gui
