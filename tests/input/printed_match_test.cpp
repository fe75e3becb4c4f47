// Forward and backward graphs that PyTorch printed, matched into their joint graph.
#include <fmt/core.h>

#include <catch2/catch_test_macros.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "engine/input/graph_file_reader.h"
#include "engine/input/graph_list.h"
#include "engine/ir/printer.h"
#include "engine/ir/verifier.h"

namespace recut {
namespace {

std::string class_text(std::string_view inputs, std::string_view lines, std::string_view outputs) {
  return fmt::format(
      "class GraphModule(torch.nn.Module):\n    def forward(self, {}):\n{}"
      "        return {}\n\n",
      inputs, lines, outputs);
}

std::string call_line(std::string_view name, std::string_view type, std::string_view call) {
  return fmt::format("        {}: \"{}\" = torch.ops.aten.{}\n", name, type, call);
}

constexpr std::string_view kInputs =
    "primals_1: \"f32[s5, 4][4, 1]cpu\", primals_2: \"f32[4, 4][4, 1]cpu\", "
    "primals_3: \"Sym(s5)\"";

// y = sin(x @ w). The product is saved, and its cosine computed in backward.
std::string forward_class(std::string_view saved = "primals_1, mm, primals_3") {
  return class_text(kInputs,
                    call_line("mm", "f32[s5, 4][4, 1]cpu", "mm.default(primals_1, primals_2)") +
                        call_line("sin", "f32[s5, 4][4, 1]cpu", "sin.default(mm)"),
                    fmt::format("(sin, {})", saved));
}

const std::string kGradientLines =
    call_line("mul", "f32[s5, 4][4, 1]cpu", "mul.Tensor(tangents_1, cos)") +
    call_line("permute", "f32[4, s5][1, 4]cpu", "permute.default(primals_1, [1, 0])") +
    call_line("mm_1", "f32[4, 4][4, 1]cpu", "mm.default(permute, mul)");

std::string backward_class(std::string_view product = "mm: \"f32[s5, 4][4, 1]cpu\"",
                           std::string_view outputs = "(None, mm_1, None)") {
  return class_text(
      fmt::format("primals_3: \"Sym(s5)\", primals_1: \"f32[s5, 4][4, 1]cpu\", {}, "
                  "tangents_1: \"f32[s5, 4][4, 1]cpu\"",
                  product),
      call_line("cos", "f32[s5, 4][4, 1]cpu",
                fmt::format("cos.default({})", product.substr(0, product.find(':')))) +
          kGradientLines,
      outputs);
}

const Dimensions kEight = {{"s5", 8}};

GraphFile open_match(const std::string& text, std::string_view key = kDefaultGraphKey) {
  const bool symbolic = text.find("s5") != std::string::npos;
  auto file = read_graph_bytes(text, "net.txt", key, symbolic ? kEight : Dimensions());
  if (!file) FAIL(format(file.diagnostics()));
  CHECK(verify(file->graph).empty());
  return std::move(*file);
}

std::string match_fault(const std::string& text) {
  const auto file = read_graph_bytes(text, "net.txt", "GraphModule+GraphModule#2", kEight);
  return file ? "" : format(file.diagnostics());
}

constexpr std::string_view kMatched = R"(graph "GraphModule" on cpu {
  %primals_1 = input f32[8, 4]
  %primals_2 = parameter f32[4, 4]
  %tangents_1 = tangent f32[8, 4]
  %mm = mm(%primals_1, %primals_2) : f32[8, 4]
  %sin = sin(%mm) : f32[8, 4]
  %cos = cos(%mm) : f32[8, 4]
  %mul = mul.Tensor(%tangents_1, %cos) : f32[8, 4]
  %permute = permute(%primals_1, [1, 0]) : f32[4, 8]{1, 4}
  %mm_1 = mm(%permute, %mul) : f32[4, 4]
  results %sin
  gradients none, %mm_1
}
)";

TEST_CASE("matched graphs: forward and backward of a text are one joint graph") {
  const GraphFile file = open_match(forward_class() + backward_class());
  CHECK(print(file.graph) == kMatched);
  CHECK(file.key == "GraphModule+GraphModule#2");
  CHECK(file.graph_keys ==
        std::vector<std::string>{"GraphModule", "GraphModule#2", "GraphModule+GraphModule#2"});
  CHECK(file.after_joint_passes);
  CHECK(file.printed_note.empty());
  REQUIRE(file.partitions.size() == 1);
  CHECK(!file.partitions.front().budget);
  CHECK(file.partitions.front().saved == std::vector<std::string>{"primals_1", "mm"});
  CHECK(file.partitions.front().recomputed.empty());
  // Each alone is still there, and two graphs of backward match with none.
  CHECK(open_match(forward_class() + backward_class(), "GraphModule").graph.results.size() == 3);
  CHECK(open_match(forward_class() + forward_class()).graph_keys.size() == 2);
}

TEST_CASE("matched graphs: by order where a pass renamed what is saved") {
  const std::string renamed = class_text(
      "primals_3: \"Sym(s5)\", arg: \"f32[s5, 4][4, 1]cpu\", clone: \"f32[s5, 4][4, 1]cpu\", "
      "tangents_1: \"f32[s5, 4][4, 1]cpu\"",
      call_line("cos", "f32[s5, 4][4, 1]cpu", "cos.default(clone)") +
          call_line("mul", "f32[s5, 4][4, 1]cpu", "mul.Tensor(tangents_1, cos)") +
          call_line("permute", "f32[4, s5][1, 4]cpu", "permute.default(arg, [1, 0])") +
          call_line("mm_1", "f32[4, 4][4, 1]cpu", "mm.default(permute, mul)"),
      "(None, mm_1, None)");
  CHECK(print(open_match(forward_class() + renamed).graph) == kMatched);
}

TEST_CASE("matched graphs: what both compute is one node, and other nodes of a name are renamed") {
  // Backward computes mm again. Its `sin` is another one, and so is what depends on it.
  const std::string again = class_text(
      "primals_1: \"f32[s5, 4][4, 1]cpu\", primals_2: \"f32[4, 4][4, 1]cpu\", "
      "tangents_1: \"f32[s5, 4][4, 1]cpu\"",
      call_line("mm", "f32[s5, 4][4, 1]cpu", "mm.default(primals_1, primals_2)") +
          call_line("cos", "f32[s5, 4][4, 1]cpu", "cos.default(mm)") +
          call_line("sin", "f32[s5, 4][4, 1]cpu", "sin.default(cos)") +
          call_line("mul", "f32[s5, 4][4, 1]cpu", "mul.Tensor(tangents_1, sin)") +
          call_line("permute", "f32[4, s5][1, 4]cpu", "permute.default(primals_1, [1, 0])") +
          call_line("mm_1", "f32[4, 4][4, 1]cpu", "mm.default(permute, mul)"),
      "(None, mm_1, None)");
  const GraphFile file = open_match(forward_class("primals_1, primals_2") + again);
  CHECK(print(file.graph).find("%sin_backward = sin(%cos)") != std::string::npos);
  CHECK(print(file.graph).find("mul.Tensor(%tangents_1, %sin_backward)") != std::string::npos);
  REQUIRE(file.partitions.size() == 1);
  CHECK(file.partitions.front().saved == std::vector<std::string>{"primals_1", "primals_2"});
  CHECK(file.partitions.front().recomputed == std::vector<std::string>{"mm"});
}

TEST_CASE("matched graphs: random numbers and written inputs are not taken for the same") {
  const auto halves = [](std::string_view line, std::string_view more) {
    return class_text("primals_1: \"f32[4][1]cpu\"", std::string(line) + std::string(more),
                      "(noise, primals_1)") +
           class_text("primals_1: \"f32[4][1]cpu\", tangents_1: \"f32[4][1]cpu\"",
                      std::string(line) +
                          call_line("mul", "f32[4][1]cpu", "mul.Tensor(tangents_1, noise)"),
                      "(mul,)");
  };
  const std::string random =
      halves(call_line("noise", "f32[4][1]cpu", "rand_like.default(primals_1)"), "");
  CHECK(print(open_match(random).graph).find("%noise_backward") != std::string::npos);
  const std::string written =
      halves(call_line("noise", "f32[4][1]cpu", "sin.default(primals_1)"),
             call_line("copy_", "f32[4][1]cpu", "copy_.default(primals_1, noise)"));
  CHECK(print(open_match(written).graph).find("%noise_backward = sin(") != std::string::npos);
  const std::string pure = halves(call_line("noise", "f32[4][1]cpu", "sin.default(primals_1)"), "");
  CHECK(print(open_match(pure).graph).find("%noise_backward") == std::string::npos);
}

TEST_CASE("matched graphs: what doesn't match is said, and forward alone opens") {
  const std::string wide = forward_class() + backward_class("mm: \"f32[s5, 8][8, 1]cpu\"");
  CHECK(match_fault(wide).find("net.txt:8:") == 0);
  CHECK(match_fault(wide).find("forward and backward don't match: backward reads 'mm' as "
                               "f32[s5, 8], and forward returns 'mm' as f32[s5, 4]") !=
        std::string::npos);
  const GraphFile forward = open_match(wide);
  CHECK(forward.key == "GraphModule");
  CHECK(forward.printed_note.find("don't match") != std::string::npos);
  CHECK(match_fault(forward_class() + backward_class("mm: \"f32[s5, 4][4, 1]cpu\"", "(mm_1, None)"))
            .find("backward returns 2 gradients for forward's 3 inputs") != std::string::npos);
  CHECK(match_fault(forward_class("mm") + backward_class())
            .find("backward has 3 inputs beside tangents, and forward returns 2") !=
        std::string::npos);
}

std::string log_of(std::string_view title, const std::string& text, std::string_view id = "0/0") {
  const std::string prefix =
      fmt::format("I0102 10:00:00.123000 77 torch/x.py:1] [{}] [__aot_graphs] ", id);
  std::string log = fmt::format("{}TRACED GRAPH\n{} ===== {} 0 =====\n", prefix, prefix, title);
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = text.find('\n', at);
    log += fmt::format("{} {}\n", prefix, text.substr(at, end - at));
    at = end + 1;
  }
  return log;
}

TEST_CASE("matched graphs: a log has one for each compilation, and none across them") {
  const std::string both = log_of("Forward graph", forward_class()) +
                           log_of("Forward graph", forward_class(), "1/0") +
                           log_of("Backward graph", backward_class(), "1/0") +
                           log_of("Backward graph", backward_class());
  const GraphFile file = open_match(both);
  CHECK(file.key == "0/0/aot_forward_graph+aot_backward_graph");
  CHECK(print(file.graph) == kMatched);
  CHECK(file.graph_keys.size() == 6);
  const std::string apart =
      log_of("Forward graph", forward_class()) + log_of("Backward graph", backward_class(), "1/0");
  CHECK(open_match(apart).graph_keys.size() == 2);
}

TEST_CASE("graph lists: kinds, nodes and inputs of a log, and the graph that opens") {
  const std::string log =
      log_of("Forward graph", forward_class()) + log_of("Backward graph", backward_class());
  const auto graphs = list_graphs(log, "net.txt");
  REQUIRE(graphs.ok());
  REQUIRE(graphs->size() == 3);
  const auto row = [&](std::size_t i) {
    const GraphEntry& graph = (*graphs)[i];
    return fmt::format("{} {} {} {} {}{}", graph.key, graph.compile_id, graph.kind, graph.nodes,
                       graph.inputs, graph.opens_first ? " *" : "");
  };
  CHECK(row(1) == "0/0/aot_forward_graph 0/0 forward 2 3");
  CHECK(row(2) == "0/0/aot_backward_graph 0/0 backward 4 4");
  CHECK(row(0) ==
        "0/0/aot_forward_graph+aot_backward_graph 0/0 joint, of forward and backward 6 4 *");
  const auto hurt =
      list_graphs(log + log_of("Forward graph", "class x(torch.nn.Module):\n  y y\n"), "net.txt");
  REQUIRE(hurt.ok());
  REQUIRE(hurt->size() == 4);
  CHECK(hurt->at(3).fault.find("expected") != std::string::npos);
}

TEST_CASE("graph lists: other forms of files") {
  const auto json = list_graphs(
      R"({"format": "fx-joint-graph", "version": 1, "joint_after_passes": [
            {"name": "x", "op": "placeholder"}],
          "joint": [{"name": "x", "op": "placeholder"}, {"name": "y", "op": "call_function"},
                    {"name": "output", "op": "output"}]})",
      "net.json");
  REQUIRE(json.ok());
  REQUIRE(json->size() == 2);
  CHECK(json->at(0).kind == "joint, after PyTorch's passes");
  CHECK(!json->at(0).opens_first);
  CHECK((json->at(1).key == "joint" && json->at(1).opens_first));
  CHECK((json->at(1).nodes == 1 && json->at(1).inputs == 1));
  const auto text = list_graphs("graph \"x\" {\n  %a = input f32[2]\n  results %a\n}\n", "x.recut");
  REQUIRE(text.ok());
  CHECK((text->size() == 1 && text->front().kind == "forward" && text->front().inputs == 1));
  CHECK(!list_graphs("", "x").ok());
  CHECK(!list_graphs("nothing of a graph", "x").ok());
  CHECK(!list_graphs("{}", "x.json").ok());
  CHECK(!list_graphs("{\"joint\": [", "x.json").ok());
}

}  // namespace
}  // namespace recut
