// A memory snapshot over the plan: dropped, drawn on the plan's axis, compared anew with another
// plan, closed; and files that aren't snapshots.
#include "gui/app/measured_view.h"

#include <catch2/catch_test_macros.hpp>
#include <fstream>
#include <iterator>

#include "tests/gui/window.h"
#include "tests/paths.h"

namespace recut::gui {
namespace {

std::string bytes_of_file(const std::string& path) {
  std::ifstream file(RECUT_SOURCE_DIR "/" + path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

// With samples/mlp.recut open, and its snapshot in reach.
struct SnapshotWindow : Window {
  explicit SnapshotWindow(const std::string& graph = "samples/mlp.recut") : Window(bare_options()) {
    backend.files["step.pickle"] = bytes_of_file("samples/snapshots/mlp.pickle");
    if (!graph.empty()) app.open(graph);
    settle();
  }
  std::string notices() const {
    std::string text;
    for (const Notice& notice : app.notices) text += notice.text + "\n";
    return text;
  }
  const Item* item(std::string_view label) const { return app.items.find(label); }
};

TEST_CASE("measured: a snapshot that is dropped is drawn over the plan, and closed") {
  SnapshotWindow window;
  REQUIRE(window.app.run("budget.set", "none").ok());
  window.settle();
  CHECK(window.state("snapshot") == "none");
  CHECK(window.item("memory/measured") == nullptr);
  CHECK_FALSE(window.app.run("measured.close").ok());

  window.app.open("step.pickle");
  window.settle();
  CHECK(window.state("documents") == "1");
  CHECK(window.state("snapshot") == "step.pickle 3732 3732");
  CHECK(window.notices().find("step.pickle: measured +3.64 KiB, planned +3.64 KiB") !=
        std::string::npos);
  REQUIRE(window.item("memory/measured words") != nullptr);
  CHECK(window.item("memory/measured words")->value == "measured +3.64 KiB, planned +3.64 KiB");
  REQUIRE(window.item("memory/measured") != nullptr);

  CHECK(window.play("click memory/measured\n") == "");
  window.settle();
  CHECK(window.state("snapshot") == "none");
  CHECK(window.item("memory/measured words") == nullptr);
}

TEST_CASE("measured: another plan, and another graph of the file, are compared anew") {
  SnapshotWindow window("samples/recompute.recut");
  REQUIRE(window.app.run("budget.set", "none").ok());
  window.settle();
  window.app.open("step.pickle");
  window.settle();
  const std::string before = window.state("snapshot");
  CHECK(before.starts_with("step.pickle 7828 "));
  CHECK(window.notices().find("less than half of the step's bytes") != std::string::npos);
  REQUIRE(window.app.run("budget.set", "75%").ok());
  window.settle();
  const std::string after = window.state("snapshot");
  CHECK(after != before);
  CHECK(after == "step.pickle 7828 " + window.state("peak"));
  REQUIRE(window.app.run("pass.toggle", "dead_code").ok());
  window.settle();
  CHECK(window.state("snapshot") == "step.pickle 7828 " + window.state("peak"));
}

TEST_CASE("measured: bytes at a step of the plan") {
  MemoryComparison comparison;
  comparison.measured = {{0, 10}, {1.25, 30}, {1.75, 20}, {3, 5}};
  CHECK(measured_at(comparison, 0) == 10);
  CHECK(measured_at(comparison, 1) == 30);
  CHECK(measured_at(comparison, 2) == 20);
  CHECK(measured_at(comparison, 3) == 5);
  CHECK(measured_at(comparison, 9) == 5);
  CHECK(measured_at({}, 0) == 0);
}

TEST_CASE("measured: what can't be compared is said, and nothing stays of it") {
  SnapshotWindow window;
  const auto dropped = [&window](const std::string& name, const std::string& bytes) {
    window.app.notices.clear();
    window.app.open(name, std::make_shared<const std::string>(bytes));
    window.settle();
    CHECK(window.state("snapshot") == "none");
    CHECK(window.state("documents") == "1");
    return window.notices();
  };
  CHECK(dropped("evil.pickle",
                "\x80\x04"
                "cos\nsystem\n\x8c\x01x\x85R.")
            .find("evil.pickle: error: byte 2: opcode GLOBAL would import a name") !=
        std::string::npos);
  CHECK(dropped("old.pickle", bytes_of_file("tests/input/snapshots/segments.pickle"))
            .find("no device of the snapshot has an allocation") != std::string::npos);

  SnapshotWindow empty("");
  empty.app.open("step.pickle");
  empty.settle();
  CHECK(empty.state("documents") == "0");
  CHECK(empty.notices() ==
        "step.pickle is a memory snapshot: open its model's graph, then this file again\n");
}

}  // namespace
}  // namespace recut::gui
