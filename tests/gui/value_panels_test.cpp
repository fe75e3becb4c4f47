// Timeline, table and details on graphs that are strange or large, on the null backend.
#include <catch2/catch_test_macros.hpp>

#include "gui/model/value_details.h"
#include "gui/model/value_table.h"
#include "tests/effort.h"
#include "tests/gui/big_plan.h"
#include "tests/gui/window.h"

namespace recut::gui {
namespace {

// A window with a graph in text, at rest.
struct ValuePanelsOpened : Window {
  explicit ValuePanelsOpened(const std::string& text) : Window(bare_options(), with(text)) {
    app.open("test.recut");
    settle();
    REQUIRE(app.document()->is_ready());
  }
  static NullBackend with(const std::string& text) {
    NullBackend backend;
    backend.files["test.recut"] = text;
    return backend;
  }
  // Every node is selected, in both stacks, with the pointer over the timeline.
  void look_around() {
    const Item* steps = app.items.find("memory/steps");
    if (steps != nullptr) {
      const ImVec2 middle = steps->rect.centre();
      backend.give(PointerMoved{middle.x, middle.y});
    }
    for (const char* by : {"kind", "module"}) {
      REQUIRE(app.run("memory.by", by).ok());
      REQUIRE(app.run("memory.list").ok());
      for (const NodeId id : app.document()->graph().order()) {
        REQUIRE(app.run("select.node", app.document()->graph().node_name(id)).ok());
        for (const char* command : {"value.follow", "value.copy", "values.copy_csv"})
          (void)app.run(command);
        tick();
      }
      (void)app.run("memory.zoom");
      settle();
    }
  }
};

constexpr const char* kEmpty = "graph \"empty\" {\n  results\n  gradients\n}\n";

TEST_CASE("value panels: graphs without steps, without backward, without bytes", "[gui]") {
  for (const char* text :
       {kEmpty, "graph \"input alone\" {\n  %x = input f32[4]\n  results %x\n  gradients none\n}\n",
        "graph \"forward\" {\n  %x = input f32[4]\n  %y = relu(%x)\n  %z = relu(%y)\n"
        "  results %z\n  gradients none\n}\n",
        "graph \"no bytes\" {\n  %x = input f32[0, 4]\n  %y = relu(%x)\n  results %y\n"
        "  gradients none\n}\n"}) {
    INFO(text);
    ValuePanelsOpened window(text);
    window.look_around();
    CHECK(window.app.run("budget.set", "1B").ok());
    window.settle();
    CHECK(window.app.run("baseline.pin", "start").ok());
    window.look_around();
  }
}

TEST_CASE("value panels: names of ten thousand characters", "[gui]") {
  const std::string name(10'000, 'n'), module(10'000, 'm');
  ValuePanelsOpened window("graph \"long\" {\n  %x = input f32[4]\n  %" + name +
                           " = relu(%x)  @\"" + module + "." + module + "\" #1\n  %y = tanh(%" +
                           name + ")\n  results %y\n  gradients none\n}\n");
  window.look_around();
  REQUIRE(window.app.run("select.node", name).ok());
  window.settle();
  CHECK(window.app.items.find("details/title") != nullptr);
  for (const Item& item : window.app.items.all())
    if (item.visible()) CHECK(item.rect.right <= 1680.5f);
}

// Pairs of words in the timeline that lie over each other, "" where none do.
std::string overlapping_texts(const App& app) {
  std::vector<const Item*> found;
  for (const char* label : {"forward", "backward", "nothing recomputed", "budget", "peak words"}) {
    const Item* item = app.items.find(std::string("memory/") + label);
    if (item != nullptr && item->visible()) found.push_back(item);
  }
  std::string text;
  for (std::size_t i = 0; i < found.size(); ++i)
    for (std::size_t k = i + 1; k < found.size(); ++k)
      if (found[i]->rect.meets(found[k]->rect))
        text += found[i]->label + " and " + found[k]->label + "\n";
  return text;
}

TEST_CASE("value panels: the timeline's words leave each other room, on a phone, too", "[gui]") {
  for (const Extent extent :
       test::tried<Extent>({Extent{1680, 1050}, Extent{1280, 800}, Extent{390, 844}}))
    for (const char* sample : {"tiny_conv", "mlp"}) {
      NullBackend backend = Window::sample_backend();
      backend.resize(extent, 1);
      Window window(bare_options(), std::move(backend));
      window.app.open(std::string("sample:") + sample);
      window.settle();
      REQUIRE(window.app.has_ready());
      REQUIRE(window.app.run("panel.show", "memory").ok());
      for (const char* budget : {"none", "97%", "90%", "83%"}) {
        CAPTURE(extent.width, sample, budget);
        REQUIRE(window.app.run("budget.set", budget).ok());
        window.settle();
        REQUIRE(window.app.items.find("memory/peak words") != nullptr);
        CHECK(overlapping_texts(window.app) == "");
      }
    }
}

TEST_CASE("value panels: a budget that no plan holds", "[gui]") {
  ValuePanelsOpened window(blocks_text(6));
  REQUIRE(window.app.run("budget.set", "1KiB").ok());
  window.settle();
  CHECK(window.state("holds") == "no");
  window.look_around();
  // With overrides the table says so.
  const NodeId node = window.app.document()->reasons->values().front();
  REQUIRE(window.app.run("pin.save", window.app.document()->graph().node_name(node)).ok());
  window.settle();
  const Item* conflict = window.app.items.find("values/conflict");
  REQUIRE(conflict != nullptr);
  CHECK(conflict->value.find("can't be held with these overrides") != std::string::npos);
  REQUIRE(window.app.run("edit.undo").ok());
  window.settle();
  CHECK(window.app.items.find("values/conflict") == nullptr);
}

TEST_CASE("value panels: of ten thousand rows only those in sight are drawn", "[gui]") {
  ValuePanelsOpened window(blocks_text(6));
  // The table as it would be of a graph with many more values.
  DocumentView& document = *window.app.documents.front();
  auto many = std::make_shared<ValueRows>(*value_table(document).rows);
  const auto few = many->rows;
  while (many->rows.size() < 10'000) many->rows.push_back(few[many->rows.size() % few.size()]);
  value_table(document).rows = many;
  const auto rows = [&] {
    int count = 0;
    for (const Item& item : window.app.items.all())
      if (item.kind == ItemKind::row && item.label.rfind("values/", 0) == 0) ++count;
    return count;
  };
  window.app.want_frames();
  window.settle();
  CHECK(value_table(document).order.size() == 10'000);
  CHECK(rows() > 5);
  CHECK(rows() < 60);
  CHECK(window.backend.vertices < 60'000);
}

TEST_CASE("value panels: rows follow the plan while the budget moves", "[gui]") {
  ValuePanelsOpened window(blocks_text(12));
  for (const char* budget : {"80%", "60%", "40%", "none"}) {
    REQUIRE(window.app.run("budget.set", budget).ok());
    window.tick();
    window.settle();
    const DocumentView& document = *window.app.document();
    const auto& table = value_table(*window.app.documents.front());
    REQUIRE(table.rows != nullptr);
    CHECK(table.rows->plan == document.shown);
    CHECK(table.rows->reasons == document.reasons);
  }
}

}  // namespace
}  // namespace recut::gui
