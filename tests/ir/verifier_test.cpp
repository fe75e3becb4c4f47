// Each invariant of engine/ir/verifier.h is violated once and found under its number. Two of them,
// 2 (names) and 11 (interning), hold by construction: their tests show that.
#include "engine/ir/verifier.h"

#include <catch2/catch_test_macros.hpp>

#include "engine/ir/printer.h"

namespace recut {
namespace {

const TensorType kVerifierVector = make_type(DType::f32, {4});

// x, t (a tangent), y = exp(x); y is the result.
struct Sound {
  Graph graph;
  NodeId x = graph.add_input(InputKind::input, kVerifierVector, {"x", {}, -1});
  NodeId t = graph.add_input(InputKind::tangent, kVerifierVector, {"t", {}, -1});
  NodeId y = graph.append(Op::exp, {x}, {kVerifierVector}, {"y", {}, -1});

  Sound() { graph.results = {y}; }
};

std::vector<int> invariants(const Graph& graph) {
  std::vector<int> numbers;
  for (const Failure& f : verify(graph)) numbers.push_back(f.invariant);
  return numbers;
}
const std::vector<int> kNone;

using Numbers = std::vector<int>;

TEST_CASE("verifier: a sound graph has no failures", "[ir]") {
  CHECK(invariants(Sound().graph) == kNone);
  CHECK(invariants(Graph()) == kNone);
}

TEST_CASE("verifier 1: operands stand before their users, in the same graph", "[ir]") {
  const Sound sound;
  Graph absent = sound.graph.empty_like();
  absent.append(Op::exp, {sound.x}, {kVerifierVector}, {});
  CHECK(invariants(absent) == Numbers{1});

  Graph late = sound.graph.empty_like();
  late.append(Op::exp, {sound.x}, {kVerifierVector}, {});
  late.add_input(InputKind::input, kVerifierVector, {"x", {}, -1});
  CHECK(invariants(late) == Numbers{1});
}

TEST_CASE("verifier 2: names are made unique and are never empty", "[ir]") {
  Sound sound;
  const NodeId unnamed = sound.graph.append(Op::exp, {sound.y}, {kVerifierVector}, {});
  const NodeId same = sound.graph.append(Op::exp, {unnamed}, {kVerifierVector}, {"y", {}, -1});
  CHECK(sound.graph.node_name(unnamed) == "exp");
  CHECK(sound.graph.node_name(same) == "y_1");
  CHECK(invariants(sound.graph) == kNone);
}

TEST_CASE("verifier 3: arguments fit the schema", "[ir]") {
  Sound sound;
  sound.graph.append(Op::exp, {Argument("text")}, {kVerifierVector}, {});
  sound.graph.append(Op::exp, {sound.x, 1}, {kVerifierVector}, {});
  CHECK(invariants(sound.graph) == Numbers{3, 3});
}

TEST_CASE("verifier 4: recorded types are those that the operator gives", "[ir]") {
  Sound sound;
  sound.graph.append(Op::exp, {sound.x}, {make_type(DType::f32, {5})}, {});
  sound.graph.append(Op::exp, {sound.x}, {make_type(DType::f64, {4})}, {});
  sound.graph.append(Op::exp, {sound.x}, {kVerifierVector, kVerifierVector}, {});
  sound.graph.append(Op::mm, {sound.x, sound.x}, {kVerifierVector}, {});
  sound.graph.append(Op::exp, {sound.x}, {TensorType{}}, {});
  CHECK(invariants(sound.graph) == Numbers{4, 4, 4, 4, 4});
}

TEST_CASE("verifier 4: layouts are the file's own", "[ir]") {
  Sound sound;
  sound.graph.append(Op::exp, {sound.x}, {TensorType{DType::f32, {4}, {2}, {}}}, {});
  CHECK(invariants(sound.graph) == kNone);
}

TEST_CASE("verifier 5: types are sound", "[ir]") {
  Graph graph;
  graph.add_input(InputKind::input, TensorType{DType::f32, {-1}, {1}, {}}, {"negative", {}, -1});
  graph.add_input(InputKind::input, TensorType{DType::f32, {4}, {1, 1}, {}}, {"strides", {}, -1});
  const std::int64_t huge = std::int64_t{1} << 40;
  graph.add_input(InputKind::input, TensorType{DType::f32, {huge, huge}, {huge, 1}, {}},
                  {"huge", {}, -1});
  CHECK(invariants(graph) == Numbers{5, 5, 5});
}

TEST_CASE("verifier 6: placeholders are inputs and take no operands", "[ir]") {
  Sound sound;
  sound.graph.append(Op::placeholder, {"stray"}, {kVerifierVector}, {"stray", {}, -1});
  sound.graph.append(Op::constant, {sound.x}, {kVerifierVector}, {"fed", {}, -1});
  CHECK(invariants(sound.graph) == Numbers{6, 6});
  CHECK(print(sound.graph).find("%stray = placeholder(\"stray\")") != std::string::npos);
}

TEST_CASE("verifier 7: results and gradients are tensors of the graph", "[ir]") {
  const Sound sound;
  Graph absent = sound.graph;
  const NodeId half =
      absent.append(Op::frexp_Tensor, {sound.y}, {TensorType{}, make_type(DType::i32, {4})}, {});
  absent.results = {absent.append(Op::getitem, {half, 0}, {TensorType{}}, {})};
  CHECK(invariants(absent) == Numbers{7});

  Graph other = sound.graph.empty_like();
  other.add_input(InputKind::input, kVerifierVector, {"x", {}, -1});
  other.results = {sound.y};
  other.gradients = {sound.y};
  CHECK(invariants(other) == Numbers{7, 7});
}

TEST_CASE("verifier 8: one gradient a placeholder that is no tangent", "[ir]") {
  Sound sound;
  sound.graph.gradients = {sound.y, sound.y};
  CHECK(invariants(sound.graph) == Numbers{8});
  sound.graph.gradients = {NodeId()};
  CHECK(invariants(sound.graph) == kNone);
}

TEST_CASE("verifier 9: a gradient has its placeholder's shape", "[ir]") {
  Sound sound;
  const NodeId row =
      sound.graph.add_input(InputKind::tangent, make_type(DType::f32, {1, 4}), {"row", {}, -1});
  sound.graph.gradients = {row};
  CHECK(invariants(sound.graph) == Numbers{9});
}

TEST_CASE("verifier 10: no result depends on a tangent", "[ir]") {
  Sound sound;
  const NodeId through = sound.graph.append(Op::exp, {sound.t}, {kVerifierVector}, {});
  sound.graph.gradients = {through};
  CHECK(invariants(sound.graph) == kNone);
  sound.graph.results = {through};
  CHECK(invariants(sound.graph) == Numbers{10});
}

TEST_CASE("verifier 11: equal nodes are one by interning", "[ir]") {
  Sound sound;
  CHECK(sound.graph.append(Op::exp, {sound.x}, {kVerifierVector}, {"again", {}, -1}) == sound.y);
  CHECK(sound.graph.order().size() == 3);
  CHECK(sound.graph.find("again") == sound.y);
  CHECK(invariants(sound.graph) == kNone);
}

TEST_CASE("verifier: failures are printed under their nodes", "[ir]") {
  Sound sound;
  sound.graph.append(Op::exp, {sound.x}, {make_type(DType::f32, {5})}, {"wrong", {}, -1});
  sound.graph.gradients = {sound.y, sound.y};
  CHECK(print(sound.graph, verify(sound.graph)) == R"(graph "" {
  %x = input f32[4]
  %t = tangent f32[4]
  %y = exp(%x) : f32[4]
  %wrong = exp(%x) : f32[5]
  ; ^ invariant 4: output 0 is recorded as f32[5], the operator gives f32[4]
  results %y
  gradients %y, %y
  ; ^ invariant 8: 2 gradients for 1 placeholders that are no tangents, expected one for each, or none
}
)");
}

}  // namespace
}  // namespace recut
