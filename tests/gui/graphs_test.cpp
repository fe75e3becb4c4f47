// The list of a file's graphs: shown as a file of several is opened, and from the menu later.
#include <fmt/core.h>

#include <catch2/catch_test_macros.hpp>
#include <string>
#include <string_view>

#include "gui/app/graphs_view.h"
#include "tests/gui/window.h"

namespace recut::gui {
namespace {

std::string printed(std::string_view inputs, std::string_view lines, std::string_view outputs) {
  return fmt::format(
      "\tclass GraphModule(torch.nn.Module):\n\t    def forward(self, {}):\n{}"
      "\t        return ({})\n",
      inputs, lines, outputs);
}

// Compilation 0/0 has forward and backward of sin(x @ w), 1/0 a graph for inference.
std::string small_graphs() {
  const auto recorded = [](std::string_view kind, int frame, const std::string& graph) {
    return fmt::format(
        "V0102 10:00:00.123000 77 torch/x.py:1619] {{\"{}\": {{}}, \"frame_id\": {}, "
        "\"frame_compile_id\": 0, \"has_payload\": \"0\"}}\n{}",
        kind, frame, graph);
  };
  const std::string matrix = "\"f32[64, 64][64, 1]cpu\"";
  const std::string inputs = fmt::format("primals_1: {0}, primals_2: {0}", matrix);
  const auto call = [&](std::string_view name, std::string_view words) {
    return fmt::format("\t        {}: {} = torch.ops.aten.{}\n", name, matrix, words);
  };
  return recorded("aot_forward_graph", 0,
                  printed(inputs,
                          call("mm", "mm.default(primals_1, primals_2)") +
                              call("sin", "sin.default(mm)"),
                          "sin, primals_1, mm")) +
         recorded(
             "aot_backward_graph", 0,
             printed(fmt::format("primals_1: {0}, mm: {0}, tangents_1: {0}", matrix),
                     call("cos", "cos.default(mm)") + call("mul", "mul.Tensor(tangents_1, cos)") +
                         fmt::format("\t        permute: \"f32[64, 64][1, 64]cpu\" = "
                                     "torch.ops.aten.permute.default(primals_1, [1, 0])\n") +
                         call("mm_1", "mm.default(permute, mul)"),
                     "None, mm_1")) +
         recorded("aot_inference_graph", 1,
                  printed(fmt::format("x: {}", matrix), call("y", "exp.default(x)"), "y,")) +
         recorded("dynamo_output_graph", 1,
                  printed(fmt::format("x: {}", matrix), "\t        y = x.exp()\n", "y,"));
}

struct GraphsWindow : Window {
  GraphsWindow() : Window(bare_options(), with_trace()) {}
  static NullBackend with_trace() {
    NullBackend backend = Window::sample_backend();
    backend.files["a.log"] = small_graphs();
    return backend;
  }
  const std::string& shown() { return app.document()->document->file.key; }
};

constexpr std::string_view kMatchedKey = "0/0/aot_forward_graph+aot_backward_graph";

TEST_CASE("graph list: it is there as a file of several graphs is opened", "[graphs]") {
  GraphsWindow window;
  window.app.open("a.log");
  window.settle();
  CHECK(window.shown() == kMatchedKey);
  CHECK(window.app.overlay == "graphs");
  CHECK(window.play("expect item graphs/0/0/aot_backward_graph\n"
                    "expect value \"graphs/0/0/aot_backward_graph\" backward\n"
                    "expect value \"graphs/0/0/aot_forward_graph+aot_backward_graph\" shown\n"
                    "expect not enabled graphs/1/0/dynamo_output_graph\n"
                    "expect item \"graphs/compilation 1/0\"\n"
                    "click graphs/0/0/aot_forward_graph\n"
                    "wait idle\n"
                    "expect state overlay \"\"\n") == "");
  CHECK(window.shown() == "0/0/aot_forward_graph");
  // It is in the menu later, and a button beside the passes opens it.
  CHECK(window.play("click transforms/graph\n"
                    "expect state overlay graphs\n"
                    "type infer\n"
                    "expect no item graphs/0/0/aot_forward_graph\n"
                    "key Enter\n"
                    "wait idle\n"
                    "expect state overlay \"\"\n") == "");
  CHECK(window.shown() == "1/0/aot_inference_graph");
}

TEST_CASE("graph list: keys choose, and Escape keeps the graph that is shown", "[graphs]") {
  GraphsWindow window;
  window.app.open("a.log");
  window.settle();
  CHECK(window.play("key Escape\nexpect state overlay \"\"\n") == "");
  CHECK(window.shown() == kMatchedKey);
  CHECK(window.play("command file.graphs\nkey DownArrow\nkey Enter\nwait idle\n") == "");
  CHECK(window.shown() == "0/0/aot_forward_graph");
  // Backward alone has results that are None.
  REQUIRE(window.app.run("file.graph", "aot_backward_graph").ok());
  window.settle();
  CHECK(window.shown() == "0/0/aot_backward_graph");
  REQUIRE(window.app.run("model.set", "fused").ok());
  window.settle();
  CHECK(window.app.document()->is_ready());
}

TEST_CASE("graph list: an export with two states of its graph opens without it", "[graphs]") {
  Window window(bare_options());
  window.app.open("sample:mlp");
  window.settle();
  REQUIRE(window.app.document()->document->file.graph_keys.size() > 1);
  CHECK(window.app.overlay.empty());
  CHECK(window.play("command file.graphs\nexpect item graphs/joint_after_passes\n") == "");
}

TEST_CASE("graph list: a pasted text opens as a file does", "[graphs]") {
  GraphsWindow window;
  window.backend.set_clipboard("no graph");
  CHECK_FALSE(window.app.run("file.paste").ok());
  window.backend.set_clipboard(small_graphs());
  REQUIRE(window.play("key Ctrl+V\nwait idle\nexpect state overlay graphs\nkey Escape\n") == "");
  CHECK(window.shown() == kMatchedKey);
  CHECK(window.app.document()->path == "pasted:graph 1");
  CHECK_FALSE(window.app.run("file.reload").ok());
  REQUIRE(window.app.run("file.paste").ok());
  CHECK(window.app.document()->path == "pasted:graph 2");
  CHECK(window.app.documents.recent().empty());
}

TEST_CASE("compare: PyTorch's own partition, where the file has it", "[graphs]") {
  GraphsWindow window;
  window.app.open("a.log");
  window.settle();
  CHECK(window.play("key Escape\ncommand compare.with torch recorded\nwait idle\n"
                    "expect item \"compare/figure peak\"\n") == "");
  REQUIRE(window.app.run("file.graph", "aot_inference_graph").ok());
  window.settle();
  CHECK_FALSE(window.app.run("compare.with", "torch recorded").ok());
}

}  // namespace
}  // namespace recut::gui
