// Graphs written with the builder: their nodes, their values, and diagnostics.
#include "engine/ir/builder.h"

#include <catch2/catch_test_macros.hpp>
#include <cmath>

#include "engine/eval/evaluator.h"
#include "engine/eval/inputs.h"
#include "engine/ir/printer.h"
#include "engine/ir/verifier.h"

namespace recut {
namespace {

Result<Graph> small_mlp() {
  Builder b("mlp");
  const Value x = b.input("x", DType::f32, {2, 3});
  const Value w1 = b.parameter("w1", DType::f32, {3, 4});
  const Value b1 = b.parameter("b1", DType::f32, {4});
  const Value w2 = b.parameter("w2", DType::f32, {4, 2});
  Value h;
  {
    const auto scope = b.scope({"net.0", 1});
    h = b.as("h")("relu", {b.mm(x, w1) + b1});
  }
  const auto scope = b.scope({"net.1", 2});
  const Value y = b("mm", {h, w2});
  const Value centred = y - b("mean.dim", {y, {1}}, {{"keepdim", true}});
  b.result(2.0 * b.mean(centred * centred) + 1);
  return b.finish();
}

std::vector<double> values(const Inputs& inputs, const Graph& graph, const char* name) {
  return unpack<double>(inputs.at(graph.find(name))).data;
}

// The same by hand.
double expected_loss(const Graph& graph, const Inputs& inputs) {
  const auto x = values(inputs, graph, "x"), w1 = values(inputs, graph, "w1"),
             b1 = values(inputs, graph, "b1"), w2 = values(inputs, graph, "w2");
  double sum = 0;
  for (std::size_t i = 0; i < 2; ++i) {
    double y[2] = {0, 0};
    for (std::size_t j = 0; j < 4; ++j) {
      double h = b1[j];
      for (std::size_t k = 0; k < 3; ++k) h += x[3 * i + k] * w1[4 * k + j];
      for (std::size_t o = 0; o < 2; ++o) y[o] += std::max(h, 0.0) * w2[2 * j + o];
    }
    const double mean = (y[0] + y[1]) / 2;
    sum += (y[0] - mean) * (y[0] - mean) + (y[1] - mean) * (y[1] - mean);
  }
  return 2 * sum / 4 + 1;
}

TEST_CASE("builder: a small MLP has sound nodes in their places and the right value", "[builder]") {
  const auto graph = small_mlp();
  REQUIRE(graph.ok());
  CHECK(verify(*graph).empty());
  CHECK(graph->inputs().size() == 4);
  const NodeId h = graph->find("h");
  REQUIRE(h.valid());
  CHECK(graph->op(h).op == Op::relu);
  CHECK(graph->origin(h).module == "net.0");
  CHECK(graph->origin(h).seq_nr == 1);
  CHECK(graph->origin(graph->results.front()).module == "net.1");
  const auto inputs = inputs_from(*graph, {}, 7);
  REQUIRE(inputs.ok());
  const auto run = evaluate(*graph, *inputs);
  REQUIRE(run.ok());
  const double found = unpack<double>(run->outputs.front()).data.front();
  CHECK(std::abs(found - expected_loss(*graph, *inputs)) < 1e-5);
}

TEST_CASE("builder: the first call that does not fit is what finish() tells", "[builder]") {
  Builder b("faulty");
  const Value x = b.input("x", DType::f32, {2, 3});
  const auto scope = b.scope({"block", 1});
  const Value y = b.exp(x);
  const Value wrong = b.mm(y, x);
  CHECK_FALSE(wrong.valid());
  CHECK(wrong.rank() == 0);
  const Value after = b("no_such_operator", {wrong}) * 2.0 - y;
  CHECK_FALSE(after.valid());
  b.result(after);
  const auto graph = b.finish();
  REQUIRE_FALSE(graph.ok());
  REQUIRE(graph.diagnostics().size() == 1);
  CHECK(graph.diagnostics().front().message.rfind("call 2, mm in block: ", 0) == 0);
}

std::string error_of(void (*write)(Builder& b, const Value& x)) {
  Builder b("faulty");
  write(b, b.input("x", DType::f32, {2, 3}));
  const auto graph = b.finish();
  return graph.ok() ? "" : graph.diagnostics().front().message;
}

TEST_CASE("builder: names and arguments are checked", "[builder]") {
  CHECK(error_of([](Builder& b, const Value& x) { b("sine", {x}); }) ==
        "call 1, sine: there is no operator of this name");
  CHECK(error_of([](Builder& b, const Value& x) {
          b("exp", {x, 1});
        }) == "call 1, exp: it takes 1 arguments, found 2");
  CHECK(error_of([](Builder& b, const Value& x) {
          b("exp", {x}, {{"dim", 1}});
        }) == "call 1, exp: the argument 'dim' is not one of its own");
  CHECK(error_of([](Builder& b, const Value& x) {
          b("exp", {x}, {{"self", x}});
        }) == "call 1, exp: the argument 'self' is given twice");
  CHECK(error_of([](Builder& b, const Value&) { b("exp", {Value()}); }) ==
        "call 1, exp: an operand is not a value");
  CHECK(error_of([](Builder& b, const Value&) { b.input("x", DType::f32, {}); }) ==
        "the name 'x' of an input is taken");
  CHECK(error_of([](Builder& b, const Value& x) { b.result(b.view(x, {6})); }).empty());
}

TEST_CASE("builder: several outputs, lists and views", "[builder]") {
  Builder b("parts");
  const Value x = b.input("x", DType::f32, {4, 6});
  const Value parts = b("split.Tensor", {x, 2, 1});
  const Value joined = b("cat", {std::vector<Value>{parts[2], parts[0]}, 1});
  CHECK(joined.shape() == Shape{4, 4});
  CHECK(joined.size(-1) == 4);
  CHECK(joined.size(5) == 1);
  const Value turned = b.transpose(joined);
  CHECK(b.view(turned, {16}).valid());
  CHECK(b.graph().op(b.view(turned, {16}).id()).op == Op::reshape);
  CHECK(b.graph().op(b.view(joined, {16}).id()).op == Op::view);
  CHECK(b.convert(x, DType::f32).id() == x.id());
  CHECK(b.convert(x, DType::bf16).dtype() == DType::bf16);
  b.result(1.0 / (1.0 - turned));
  const auto graph = b.finish();
  REQUIRE(graph.ok());
  CHECK(verify(*graph).empty());
}

}  // namespace
}  // namespace recut
