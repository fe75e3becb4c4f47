// Documents whose file can't be read, or isn't here: what the page in place of the panels says, and
// what comes of what it offers.
#include <catch2/catch_test_macros.hpp>

#include "engine/input/bytes.h"
#include "gui/app/link.h"
#include "gui/model/opening_fault.h"
#include "native/window/desktop_files.h"
#include "tests/gui/window.h"
#include "tests/onnx/onnx_writer.h"
#include "tests/paths.h"

namespace recut::gui {
namespace {

struct Broken {
  const char* name;
  std::string bytes;
  std::uint32_t line;    // 0: none
  std::string caret_at;  // what stands behind it
  std::string text;      // of the first message
};

std::vector<Broken> broken_files() {
  const auto good = read_file(RECUT_SOURCE_DIR "/samples/joint/tiny_mlp.json.gz");
  REQUIRE(good.ok());
  const std::string node =
      R"({"name": "y", "op": "call_function", "target": "aten.reluu.default", "args": [], "kwargs": {}})";
  return {
      {"notes.txt", "Dear diary,\nnothing happened\n", 1, "Dear diary,", "neither as gzip or JSON"},
      {"grpah.recut", "; a slip\ngrpah \"x\" {\n}\n", 2, "grpah \"x\" {", "did you mean 'graph'?"},
      {"cut.json.gz", good->substr(0, 600), 0, "", "cut off"},
      {"other.json", "{\n  \"name\": \"x\"\n}\n", 1, "{", "'format' is missing"},
      {"half.json", "{\"format\": \n  oops}", 2, "oops}", "syntax error"},
      {"list.json", "[1, 2]", 1, "[1, 2]", "neither as gzip or JSON"},
      {"empty.recut", "", 0, "", "the file is empty"},
      {"blank.recut", " \n\n", 0, "", "the file is empty"},
      {"bytes.bin", std::string("\x00\x01\x02\xff", 4), 0, "", "no graph file"},
      {"typo.recut", "graph \"t\" {\n  %x = input f32[4]\n  %y = reluu(%x)\n  results %y\n}\n", 3,
       "reluu(%x)", "unknown operator 'reluu'; did you mean 'relu'?"},
      {"word.recut", "graph \"t\" {\n  %x = input f32[4]\n  result %x\n}\n", 3, "result %x",
       "did you mean 'results'?"},
      {"type.recut", "graph \"t\" {\n  %x = input f33[4]\n}\n", 2, "f33[4]", "did you mean 'f32'?"},
      {"value.recut", "graph \"t\" {\n  %image = input f32[4]\n  results %imag\n}\n", 3, "%imag",
       "did you mean 'image'?"},
      {"argument.recut",
       "graph \"t\" {\n  %x = input f32[4]\n  %y = sum.dim_IntList(%x, dimm=[0])\n}\n", 3,
       "dimm=[0])", "did you mean 'dim'?"},
      {"node.json",
       "{\"format\": \"fx-joint-graph\", \"version\": 1, \"num_fwd_outputs\": 1,\n\"joint\": [\n" +
           node + "]}",
       3, node + "]}", "did you mean 'aten.relu.default'?"},
  };
}

std::string first_message(const Window& window) {
  const Item* item = window.app.items.find("fault/message 1");
  return item != nullptr ? item->value : "";
}

// That reads what the desktop's window reads.
struct ModelBackend : NullBackend {
  std::optional<Result<GraphFile>> read_model(const std::string& path, const std::string& bytes,
                                              const Dimensions& sizes) override {
    return files_of_desktop.read_model(path, bytes, sizes);
  }
  std::vector<std::string> open_dimensions(const std::string& path,
                                           const std::string& bytes) override {
    return files_of_desktop.open_dimensions(path, bytes);
  }
  native::DesktopFiles files_of_desktop;
};

// With a model whose dimensions batch and tokens are open.
struct ModelWindow : Window {
  ModelWindow() : Window(bare_options()) {
    const auto bytes = read_file(RECUT_SOURCE_DIR "/tests/onnx/models/tiny_bert.onnx");
    REQUIRE(bytes.ok());
    backend.files["bert.onnx"] = *bytes;
    backend.models = &models;
    app.open("bert.onnx");
    settle();
  }
  ModelBackend models;
};

}  // namespace

TEST_CASE("faults: the page says what is wrong, where, and what may have been meant",
          "[gui][fault]") {
  Window window(bare_options());
  for (const Broken& broken : broken_files()) {
    CAPTURE(broken.name);
    window.app.open(broken.name, std::make_shared<const std::string>(broken.bytes));
    window.settle();
    CHECK(window.state("moment") == "stuck");
    CHECK(window.state("notice") == "");
    CAPTURE(first_message(window));
    CHECK(first_message(window).find(broken.text) != std::string::npos);
    const OpeningFault& fault = window.app.document()->fault;
    REQUIRE_FALSE(fault.diagnostics.empty());
    CHECK(fault.diagnostics.front().line == broken.line);
    REQUIRE(fault.lines.front().has_value() == (broken.line > 0));
    if (!fault.lines.front()) continue;
    const Excerpt& shown = *fault.lines.front();
    std::string behind = shown.line.substr(shown.caret);
    if (behind.ends_with("…")) behind.resize(behind.size() - std::string_view("…").size());
    CHECK_FALSE(behind.empty());
    CHECK(behind == broken.caret_at.substr(0, behind.size()));
    CHECK(window.app.items.find("fault/line 1")->value == shown.line);
  }
  CHECK(window.app.notices.empty());  // however many there were
}

TEST_CASE("faults: only the page is there, and it is gone with the document", "[gui][fault]") {
  Window window(bare_options());
  window.app.open("sample:tiny_conv");
  window.settle();
  window.app.open("x.recut", std::make_shared<const std::string>("graph"));
  window.settle();
  for (const Item& item : window.app.items.all()) {
    const std::string panel = item.label.substr(0, item.label.find('/'));
    CAPTURE(item.label);
    CHECK((panel == "bar" || panel == "fault"));
  }
  REQUIRE(window.app.run("file.copy_fault").ok());
  CHECK(window.state("clipboard").find("x.recut:1:6: error: expected") == 0);
  CHECK(window.state("clipboard").find("\n  graph\n       ^\n") != std::string::npos);
  REQUIRE(window.app.run("file.close").ok());
  window.settle();
  CHECK(window.state("moment") == "open");
  CHECK_FALSE(window.app.run("file.copy_fault").ok());
}

TEST_CASE("faults: a file that was mended is read again, with all its settings", "[gui][fault]") {
  Window window(bare_options());
  const std::string good = window.backend.files.at("samples/mlp.recut");
  window.backend.files["own.recut"] = "graph";
  REQUIRE(follow_link(window.app, "v=1&file=own.recut&budget=3000").ok());
  window.app.open("own.recut");
  window.settle();
  CHECK(window.state("moment") == "stuck");
  CHECK(window.app.items.find("fault/setting budget")->value == "2.93 KiB");
  window.backend.files["own.recut"] = good;
  REQUIRE(window.app.run("file.reload").ok());
  window.settle();
  CHECK(window.state("moment") == "open");
  CHECK(window.state("budget") == "3000");
}

TEST_CASE("faults: where a file is missing, those that are named like it are offered",
          "[gui][fault]") {
  Window window(bare_options());
  window.app.open("samples/blocks/softmx.recut");
  window.settle();
  REQUIRE(window.app.document()->fault.near ==
          std::vector<std::string>{"samples/blocks/softmax.recut"});
  CHECK(window.play("click fault/samples/blocks/softmax.recut\nwait idle\n") == "");
  CHECK(window.state("document") == "softmax");
}

TEST_CASE("faults: a page that can't have a file says it where the others are said",
          "[gui][fault]") {
  Window window(bare_options());
  window.app.open_failed("cut.json.gz", {Diagnostic{"gzip: damaged", "cut.json.gz", 0, 0}});
  window.app.open_failed("cut.json.gz", {Diagnostic{"gzip: cut off", "cut.json.gz", 0, 0}});
  window.settle();
  CHECK(window.state("documents") == "1");
  CHECK(first_message(window) == "gzip: cut off");
}

TEST_CASE("faults: a value that decides a branch is asked for, and may stay empty",
          "[gui][fault]") {
  const auto branch = [](const char* op, const std::vector<std::string>& inputs) {
    test::OnnxGraph graph;
    return graph.node(op, inputs, {"r"}).output("r");
  };
  test::OnnxGraph graph;
  graph.input("x", test::OnnxGraph::kFloat, {2, 3}).input("rate", test::OnnxGraph::kInteger, {});
  graph.integer("sixteen", 16).integers("first", {0});
  graph.node("Equal", {"rate", "sixteen"}, {"fast"});
  graph.node("If", {"fast"}, {"y"},
             {{"then_branch", branch("Unsqueeze", {"x", "first"})},
              {"else_branch", branch("Neg", {"x"})}});
  ModelWindow window;
  window.backend.files["branches.onnx"] = graph.output("y").model();
  window.app.open("branches.onnx");
  window.settle();
  CHECK(window.app.document()->fault.dimensions.empty());
  CHECK(window.app.document()->fault.values == std::vector<std::string>{"rate"});
  CHECK(window.app.items.find("fault/size rate")->value == "");
  CHECK(window.play("click \"fault/size rate\"\ntype 8\nkey Enter\nwait idle\n") == "");
  CHECK(window.app.has_ready());
  CHECK(window.app.document()->plan_settings.transforms.dimensions == Dimensions{{"rate", 8}});
}

TEST_CASE("faults: open dimensions are asked for, read with, saved and sent along",
          "[gui][fault]") {
  ModelWindow window;
  CHECK(window.state("moment") == "stuck");
  CHECK(window.app.document()->fault.dimensions == std::vector<std::string>{"batch", "tokens"});
  CHECK(window.app.items.find("fault/size batch")->value == "1");
  CHECK(window.play("click \"fault/size tokens\"\ntype 5\nkey Enter\nwait idle\n") == "");
  REQUIRE(window.app.has_ready());
  CHECK(window.state("recipe") == "batch=1,tokens=5");
  // Other sizes make another graph of it; impossible ones leave this.
  REQUIRE(window.app.run("file.dimensions", "batch=2,tokens=5").ok());
  window.settle();
  CHECK(window.state("recipe") == "batch=2,tokens=5");
  REQUIRE(window.app.run("file.dimensions", "batch=2").ok());
  window.settle();
  CHECK(window.state("recipe") == "batch=2,tokens=5");
  CHECK_FALSE(window.app.run("file.dimensions", "batch").ok());
  const LinkState state = link_of(window.app);
  CHECK(state.plan_settings.transforms.dimensions == Dimensions{{"batch", 2}, {"tokens", 5}});
  const auto read = read_link(write_link(state));
  REQUIRE(read.ok());
  CHECK(read->plan_settings.transforms == state.plan_settings.transforms);
  CHECK(write_link(*read) == write_link(state));
  const SavedDocument saved = saved_of(*window.app.document());
  CHECK(read_document(write_document(saved)).plan_settings == saved.plan_settings);
  REQUIRE(window.app.run("file.reload").ok());
  window.settle();
  CHECK(window.app.has_ready());
}

// A page's, without a connection.
struct OfflineBackend : NullBackend {
  std::optional<Result<GraphFile>> read_model(const std::string& path, const std::string&,
                                              const Dimensions&) override {
    return Diagnostic{
        "no reader: `recut import \"my model.onnx\" --out \"my model.recut\"` makes a file", path,
        0, 0};
  }
};

TEST_CASE("faults: a command that a message names is there to be copied", "[gui][fault]") {
  Window window(bare_options());
  OfflineBackend offline;
  window.backend.models = &offline;
  window.app.open("my model.onnx", std::make_shared<const std::string>("bytes"));
  window.settle();
  const auto commands = commands_in(window.app.document()->fault);
  REQUIRE(commands.size() == 1);
  CHECK(commands.front() == "recut import \"my model.onnx\" --out \"my model.recut\"");
  CHECK(window.play("click \"fault/copy command\"\nwait idle\n") == "");
  CHECK(window.state("clipboard") == commands.front());
}

TEST_CASE("faults: a model waits until its reader is there", "[gui][fault]") {
  Window window(bare_options());
  ModelBackend models;
  window.backend.models = &models;
  window.backend.reader_there = false;
  const auto bytes = read_file(RECUT_SOURCE_DIR "/tests/onnx/models/tiny_gpt.onnx");
  REQUIRE(bytes.ok());
  window.app.open("gpt.onnx", std::make_shared<const std::string>(*bytes));
  for (int i = 0; i < 5; ++i) window.tick();
  CHECK(window.app.document()->awaited);
  window.backend.reader_there = true;
  window.settle();
  CHECK(window.app.document()->state == DocumentState::ready);
  CHECK(window.state("fault") == "");
}

}  // namespace recut::gui
