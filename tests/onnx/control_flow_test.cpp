// Nested graphs and sequences: which shapes and counts have to be known, how others are refused, and
// files that ask for much. Values are onnxruntime's (models/forward, by onnx_test.cpp).
#include <catch2/catch_test_macros.hpp>
#include <cmath>

#include "engine/autodiff/differentiate.h"
#include "engine/eval/evaluator.h"
#include "engine/eval/inputs.h"
#include "engine/ir/printer.h"
#include "engine/onnx/read_onnx.h"
#include "tests/onnx/onnx_writer.h"

namespace recut::test {
namespace {

Result<GraphFile> read_graph(const OnnxGraph& graph, const onnx::Options& options = {},
                             int opset = 18) {
  return onnx::read_onnx(graph.model(opset), "m.onnx", options);
}

std::string refused_graph(const OnnxGraph& graph, const onnx::Options& options = {},
                          int opset = 18) {
  const auto file = read_graph(graph, options, opset);
  REQUIRE_FALSE(file.ok());
  return file.diagnostics().front().message;
}

std::string text_of_graph(const OnnxGraph& graph, const onnx::Options& options = {}) {
  const auto file = read_graph(graph, options);
  INFO((file ? std::string() : format(file.diagnostics())));
  REQUIRE(file.ok());
  return print(file->graph);
}

constexpr int kFloat = OnnxGraph::kFloat, kInteger = OnnxGraph::kInteger, kBool = OnnxGraph::kBool;

OnnxGraph begin_graph() {
  OnnxGraph graph;
  return graph.input("x", kFloat, {2, 3});
}

OnnxGraph branch_of_one(const std::string& op, const std::vector<std::string>& inputs) {
  OnnxGraph graph;
  return graph.node(op, inputs, {"r"}).output("r");
}

// x, or its negative or its column, by whether `rate` is 16.
OnnxGraph by_rate(const OnnxGraph& otherwise) {
  OnnxGraph graph = begin_graph().input("rate", kInteger, {}).integer("sixteen", 16);
  graph.integers("one", {1});
  graph.node("Equal", {"rate", "sixteen"}, {"fast"});
  graph.node("If", {"fast"}, {"y"},
             {{"then_branch", branch_of_one("Neg", {"x"})}, {"else_branch", otherwise}});
  return graph.output("y");
}

TEST_CASE("onnx: a condition that only a run shows selects between equal shapes", "[onnx]") {
  const OnnxGraph both = by_rate(branch_of_one("Tanh", {"x"}));
  const std::string text = text_of_graph(both);
  for (const char* part : {"neg(", "tanh(", "where.self("})
    CHECK(text.find(part) != std::string::npos);
  onnx::Options options;
  options.dimensions = {{"rate", 16}};
  const std::string fixed = text_of_graph(both, options);
  CHECK(fixed.find("neg(") != std::string::npos);
  CHECK(fixed.find("tanh(") == std::string::npos);
  CHECK(fixed.find("%rate") == std::string::npos);
  CHECK(read_graph(both)->printed_note ==
        "only a run shows the condition of 1 If: both branches are computed");
  CHECK(read_graph(both, options)->printed_note.empty());
}

// The gradient of sum(y) by x, where x is 0 and `flag` chooses the square root of x times a weight of
// the branch or the negative of x.
std::vector<double> gradient_at_zero(bool flag) {
  OnnxGraph root;
  root.floats("w", {1, 2, 3});
  root.node("Mul", {"x", "w"}, {"scaled"}).node("Sqrt", {"scaled"}, {"r"}).output("r");
  OnnxGraph graph = begin_graph().input("flag", kBool, {});
  graph.node("If", {"flag"}, {"y"},
             {{"then_branch", root}, {"else_branch", branch_of_one("Neg", {"x"})}});
  graph.output("y");
  const auto file = read_graph(graph);
  INFO((file ? std::string() : format(file.diagnostics())));
  REQUIRE(file.ok());
  GradOptions options;
  options.requires_grad = {"x", "w"};
  const auto joint = differentiate(file->graph, options);
  INFO((joint ? std::string() : format(joint.diagnostics())));
  REQUIRE(joint.ok());
  Inputs values = *inputs_from(*joint, file->tensors, 1);
  std::size_t position = joint->results.size(), at_x = 0, at_w = 0;
  for (const NodeId id : joint->inputs()) {
    const std::string& name = joint->node_name(id);
    const bool tangent = joint->input_kind(id) == InputKind::tangent;
    if (name == "x" || tangent) pack(Reals(joint->type(id).shape, tangent ? 1 : 0), values[id]);
    if (name == "flag") pack(Integers({}, flag ? 1 : 0), values[id]);
    if (name == "x") at_x = position;
    if (name == "w") at_w = position;
    if (!tangent) ++position;
  }
  const auto evaluation = evaluate(*joint, values);
  REQUIRE(evaluation.ok());
  std::vector<double> gradient = unpack<double>(evaluation->outputs[at_x]).data;
  const auto of_w = unpack<double>(evaluation->outputs[at_w]).data;
  gradient.insert(gradient.end(), of_w.begin(), of_w.end());
  return gradient;
}

TEST_CASE("onnx: the branch of a condition that isn't taken passes no gradient", "[onnx]") {
  CHECK(gradient_at_zero(false) == std::vector<double>{-1, -1, -1, -1, -1, -1, 0, 0, 0});
  CHECK(std::isinf(gradient_at_zero(true).front()));
}

TEST_CASE("onnx: branches of different shapes need a known condition", "[onnx]") {
  const OnnxGraph differ = by_rate(branch_of_one("Unsqueeze", {"x", "one"}));
  CHECK(refused_graph(differ) ==
        "the node of 'y' (If, 2 of 2): output 0 is f32[2, 3] in then_branch and f32[2, 1, 3] in "
        "else_branch; expected equal shapes, as only a run shows the condition; --dim rate=N fixes "
        "the value of an input");
  const OnnxGraph wrong = by_rate(branch_of_one("Squeeze", {"x", "one"}));
  CHECK(
      refused_graph(wrong) ==
      "the node of 'y' (If, 2 of 2): else_branch: the node of 'r' (Squeeze, 1 of 1): axis 1 has 3 "
      "elements, expected one; both branches are computed, as only a run shows the condition; "
      "--dim rate=N fixes the value of an input");
  onnx::Options options;
  options.dimensions = {{"rate", 8}};
  CHECK(text_of_graph(differ, options).find("f32[2, 1, 3]") != std::string::npos);
  options.dimensions = {{"rate", 16}};
  CHECK(text_of_graph(wrong, options).find("neg(") != std::string::npos);
}

TEST_CASE("onnx: an input's value must be one of its dtype", "[onnx]") {
  OnnxGraph graph = begin_graph().input("flag", kBool, {1});
  graph.node(
      "If", {"flag"}, {"y"},
      {{"then_branch", branch_of_one("Neg", {"x"})}, {"else_branch", branch_of_one("Exp", {"x"})}});
  graph.output("y");
  onnx::Options options;
  options.dimensions = {{"flag", 1}};
  CHECK(text_of_graph(graph, options).find("exp(") == std::string::npos);
  options.dimensions = {{"flag", 2}};
  CHECK(refused_graph(graph, options) == "input 'flag': 2 is no value of bool");
  options.dimensions = {{"x", 2}};
  CHECK(refused_graph(graph, options) ==
        "no dimension that the model leaves open is called 'x', and no input that is one integer");
}

TEST_CASE("onnx: an operator in a branch that isn't taken may be unknown", "[onnx]") {
  const OnnxGraph graph = by_rate(branch_of_one("NoSuchOperator", {"x"}));
  CHECK(refused_graph(graph).find(
            "else_branch: the node of 'r' (NoSuchOperator, 1 of 1): unsupported "
            "operator 'NoSuchOperator' (opset 18)") != std::string::npos);
  onnx::Options options;
  options.dimensions = {{"rate", 16}};
  CHECK(text_of_graph(graph, options).find("neg(") != std::string::npos);
}

// Adds x to the carried value; the condition is `condition`, a value that the body makes or sees.
OnnxGraph body_of_loop(const std::string& condition = "c") {
  OnnxGraph body;
  body.input("i", kInteger, {}).input("c", kBool, {}).input("kept", kFloat, {2, 3});
  body.node("Add", {"kept", "x"}, {"more"});
  body.node("Identity", {condition}, {"again"});
  return body.output("again").output("more");
}

OnnxGraph loop_of(const std::string& trips, const std::string& condition, const OnnxGraph& body) {
  OnnxGraph graph = begin_graph().input("n", kInteger, {}).input("flag", kBool, {});
  graph.integer("three", 3).integer("million", 1'000'000);
  graph.node("Loop", {trips, condition, "x"}, {"y"}, {{"body", body}});
  return graph.output("y");
}

TEST_CASE("onnx: a loop needs a trip count or a condition that is known", "[onnx]") {
  const std::string text = text_of_graph(loop_of("three", "", body_of_loop()));
  CHECK(text.find("add.Tensor(%") != std::string::npos);
  CHECK(refused_graph(loop_of("n", "", body_of_loop())) ==
        "the node of 'y' (Loop, 1 of 1): its iterations depend on values that only a run shows: "
        "static shapes only");
  CHECK(refused_graph(loop_of("three", "flag", body_of_loop()))
            .find("only a run shows its condition at the beginning, expected one that is known") !=
        std::string::npos);
  CHECK(refused_graph(loop_of("three", "", body_of_loop("flag")))
            .find("only a run shows its condition after iteration 0, expected one that is known") !=
        std::string::npos);
  onnx::Options options;
  options.dimensions = {{"n", 2}};
  CHECK_FALSE(text_of_graph(loop_of("n", "", body_of_loop()), options).empty());
}

TEST_CASE("onnx: loops that don't end, or take long, are refused", "[onnx]") {
  CHECK(refused_graph(loop_of("", "", body_of_loop()))
            .find("branches and iterations have more than") != std::string::npos);
  CHECK(refused_graph(loop_of("million", "", body_of_loop()))
            .find("branches and iterations have more") != std::string::npos);
  OnnxGraph idle;
  idle.input("i", kInteger, {}).input("c", kBool, {}).input("kept", kFloat, {2, 3});
  idle.output("c").output("kept");
  CHECK(refused_graph(loop_of("million", "", idle)).find("more than 65,536 iterations") !=
        std::string::npos);
  onnx::Options options;
  options.max_nested_nodes = 8;
  CHECK(refused_graph(loop_of("three", "", body_of_loop()), options)
            .find("body: with it, branches and iterations have more than 8 nodes") !=
        std::string::npos);
}

TEST_CASE("onnx: bodies that don't fit their nodes are refused", "[onnx]") {
  OnnxGraph body;
  body.input("i", kInteger, {}).output("i");
  CHECK(refused_graph(loop_of("three", "", body)).find("a body of 1 outputs, expected 2 or more") !=
        std::string::npos);
  body.node("Identity", {"x"}, {"more"}).output("more");
  CHECK(refused_graph(loop_of("three", "", body)).find("body: it has 1 inputs, expected 3") !=
        std::string::npos);
  OnnxGraph graph = begin_graph();
  graph.node("If", {"x"}, {"y"}).output("y");
  CHECK(refused_graph(graph).find("a condition that is no single bool") != std::string::npos);
  OnnxGraph scan = begin_graph();
  scan.node("Scan", {"x"}, {"y"}, {{"body", branch_of_one("Neg", {"x"})}},
            {{"num_scan_inputs", 2}});
  scan.output("y");
  CHECK(refused_graph(scan).find("2 scanned inputs of 1") != std::string::npos);
  CHECK(refused_graph(scan, {}, 8).find("unsupported operator 'Scan' (opset 8)") == 0);
}

TEST_CASE("onnx: sequences are lists with known positions", "[onnx]") {
  const auto item = [](const std::string& position) {
    OnnxGraph graph = begin_graph().input("n", kInteger, {}).integer("last", -1).integer("two", 2);
    graph.node("SequenceConstruct", {"x", "x"}, {"list"});
    return graph.node("SequenceAt", {"list", position}, {"y"}).output("y");
  };
  CHECK_FALSE(text_of_graph(item("last")).empty());
  CHECK(refused_graph(item("two")).find("position 2 of 2 in a sequence") != std::string::npos);
  CHECK(refused_graph(item("n")).find("its positions depend on values that only a run shows") !=
        std::string::npos);
  OnnxGraph graph = begin_graph();
  graph.node("SequenceConstruct", {"x"}, {"list"}).node("Neg", {"list"}, {"y"}).output("y");
  CHECK(refused_graph(graph).find("input 0 is a sequence, expected a tensor") != std::string::npos);
  OnnxGraph whole = begin_graph();
  whole.node("SequenceConstruct", {"x"}, {"list"}).output("list");
  CHECK(refused_graph(whole) == "output 'list' is a sequence, expected a tensor");
  OnnxGraph length = begin_graph();
  length.node("SequenceLength", {"x"}, {"y"}).output("y");
  CHECK(refused_graph(length).find("input 0 is a tensor, expected a sequence") !=
        std::string::npos);
}

TEST_CASE("onnx: an optional value is there or left out", "[onnx]") {
  OnnxGraph graph = begin_graph();
  graph.node("Optional", {"x"}, {"maybe"}).node("OptionalHasElement", {"maybe"}, {"there"});
  graph.node("OptionalGetElement", {"maybe"}, {"value"});
  graph.node("If", {"there"}, {"y"},
             {{"then_branch", branch_of_one("Neg", {"value"})},
              {"else_branch", branch_of_one("Exp", {"x"})}});
  CHECK(text_of_graph(graph.output("y")).find("exp(") == std::string::npos);
  OnnxGraph none = begin_graph();
  none.node("Optional", {}, {"maybe"}).node("OptionalGetElement", {"maybe"}, {"y"}).output("y");
  CHECK(refused_graph(none).find("input 0 is missing") != std::string::npos);
}

}  // namespace
}  // namespace recut::test
