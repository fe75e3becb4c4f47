#include "engine/ir/graph.h"

#include <catch2/catch_test_macros.hpp>
#include <limits>

#include "engine/ir/copy.h"
#include "engine/ir/printer.h"
#include "engine/ir/rebuild.h"

namespace recut {
namespace {

const TensorType kGraphVector = make_type(DType::f32, {4});
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

NodeId input(Graph& graph, const char* name) {
  return graph.add_input(InputKind::input, kGraphVector, {name, {}, -1});
}

NodeId make_node(Graph& graph, Op op, std::vector<Argument> arguments, const char* name = "") {
  const auto id = graph.make(op, std::move(arguments), {name, {}, -1});
  REQUIRE(id.ok());
  return *id;
}

TEST_CASE("interning: nodes are equal by operator, arguments, types", "[ir]") {
  Graph graph;
  const NodeId x = input(graph, "x");
  const NodeId exp = make_node(graph, Op::exp, {x});
  CHECK(make_node(graph, Op::exp, {x}) == exp);
  CHECK(make_node(graph, Op::relu, {x}) != exp);
  CHECK(make_node(graph, Op::exp, {exp}) != exp);
  const NodeId strided = graph.append(Op::exp, {x}, {TensorType{DType::f32, {4}, {2}, {}}}, {});
  CHECK(strided != exp);
}

TEST_CASE("interning: numbers are told apart by kind and by bits", "[ir]") {
  Graph graph;
  const NodeId x = input(graph, "x");
  const NodeId zero = make_node(graph, Op::add_Scalar, {x, 0.0});
  CHECK(make_node(graph, Op::add_Scalar, {x, -0.0}) != zero);
  CHECK(make_node(graph, Op::add_Scalar, {x, 0}) != zero);
  CHECK(make_node(graph, Op::add_Scalar, {x, 0.0}) == zero);
  CHECK(make_node(graph, Op::add_Scalar, {x, kNaN}) == make_node(graph, Op::add_Scalar, {x, kNaN}));
  CHECK(make_node(graph, Op::add_Scalar, {x, 0.0, 1}) != zero);  // a default that is given
}

TEST_CASE("interning: draws of random numbers stay apart by their number", "[ir]") {
  Graph graph;
  const Argument size(std::vector<std::int64_t>{4});
  const auto draw = [&](int number) {
    return make_node(graph, Op::rand, {size, DType::f32, {}, {}, {}, number});
  };
  const NodeId first = draw(0);
  CHECK(draw(1) != first);
  CHECK(draw(0) == first);
}

TEST_CASE("interning: one pool serves several graphs", "[ir]") {
  Graph graph;
  const NodeId x = input(graph, "x");
  const NodeId y = make_node(graph, Op::exp, {x}, "y");
  Graph other = graph.empty_like();
  CHECK_FALSE(other.contains(y));
  CHECK(input(other, "x") == x);
  CHECK(make_node(other, Op::exp, {x}, "z") == y);
  CHECK(graph.node_name(y) == "y");
  CHECK(other.node_name(y) == "z");
}

TEST_CASE("graph: names, and the other names of interned nodes", "[ir]") {
  Graph graph;
  const NodeId x = input(graph, "x");
  const NodeId y = make_node(graph, Op::exp, {x}, "y");
  CHECK(make_node(graph, Op::exp, {x}, "again") == y);
  CHECK(graph.find("again") == y);
  CHECK_FALSE(graph.find("nobody").valid());
  CHECK(graph.aliases().size() == 1);
  CHECK_FALSE(graph.add_alias("x", y));
  CHECK(graph.node_name(make_node(graph, Op::relu, {x}, "again")) == "again_1");
  CHECK(graph.unused_name("again") == "again_2");
  CHECK(graph.unused_name("free") == "free");
}

TEST_CASE("users: distinct, in program order", "[ir]") {
  Graph graph;
  const NodeId x = input(graph, "x");
  const NodeId a = make_node(graph, Op::exp, {x});
  const NodeId b = make_node(graph, Op::add_Tensor, {a, x});
  const NodeId c = make_node(graph, Op::mul_Tensor, {a, a});
  const Users users(graph);
  const auto of = [&](NodeId id) {
    const auto span = users.of(id);
    return std::vector<NodeId>(span.begin(), span.end());
  };
  CHECK(of(x) == std::vector<NodeId>{a, b});
  CHECK(of(a) == std::vector<NodeId>{b, c});
  CHECK(of(c).empty());
  CHECK(graph[c].operands == std::vector<NodeId>{a});
}

TEST_CASE("rebuild: what stays is the same node under the same origin", "[ir]") {
  Graph graph;
  const NodeId x = input(graph, "x");
  const auto y = graph.make(Op::exp, {x}, {"y", "net.0", 3});
  REQUIRE(y.ok());
  CHECK(graph.add_alias("also_y", *y));
  graph.results = {*y};
  graph.gradients = {NodeId()};
  const Graph same = rebuild(graph, [&](Graph& to, NodeId old, std::vector<Argument> arguments) {
    return keep_node(graph, to, old, arguments);
  });
  CHECK(print(same) == print(graph));
  CHECK(same.results == graph.results);
}

TEST_CASE("rebuild: users follow a replaced operand and are typed anew", "[ir]") {
  Graph graph;
  const NodeId x = input(graph, "x");
  const NodeId wide = graph.add_input(InputKind::input, make_type(DType::f64, {4}), {"w", {}, -1});
  const NodeId a = make_node(graph, Op::exp, {x}, "a");
  const NodeId b = make_node(graph, Op::relu, {a}, "b");
  graph.results = {b};
  const Graph to = rebuild(graph, [&](Graph& next, NodeId old, std::vector<Argument> arguments) {
    return old == a ? wide : keep_node(graph, next, old, arguments);
  });
  CHECK_FALSE(to.contains(a));
  const NodeId new_b = to.find("b");
  CHECK(to.results == std::vector<NodeId>{new_b});
  CHECK(to[new_b].operands == std::vector<NodeId>{wide});
  CHECK(to.type(new_b).dtype == DType::f64);
}

TEST_CASE("rebuild: dead nodes go, placeholders and other names of the living stay", "[ir]") {
  Graph graph;
  const NodeId x = input(graph, "x");
  const NodeId unused = input(graph, "unused");
  const NodeId y = make_node(graph, Op::exp, {x}, "y");
  const NodeId dead = make_node(graph, Op::relu, {y}, "dead");
  CHECK(graph.add_alias("also_y", y));
  CHECK(graph.add_alias("also_dead", dead));
  graph.results = {y};
  const Graph live = without_dead_nodes(graph);
  CHECK(live.contains(unused));
  CHECK_FALSE(live.contains(dead));
  CHECK(live.find("also_y") == y);
  CHECK_FALSE(live.find("also_dead").valid());
}

TEST_CASE("copies: a graph apart says the same and leaves the original's pool as it was", "[ir]") {
  Graph graph;
  graph.name = "copied";
  const NodeId x = input(graph, "x");
  const NodeId w = graph.add_constant(kGraphVector, {"w", {}, -1});
  const NodeId sum = make_node(graph, Op::add_Tensor, {x, w}, "sum");
  make_node(graph, Op::add_Tensor, {x, w}, "other_name");
  graph.results = {sum, NodeId()};
  graph.gradients = {make_node(graph, Op::exp, {sum}, "gradient")};
  Measurements measured;
  measured.granularity = 512;
  measured.add(sum, {2.5, 64});
  graph.measured = std::make_shared<Measurements>(measured);
  const std::size_t nodes = graph.pool().size();

  Graph copy = deep_copy(graph);
  CHECK(print(copy) == print(graph));
  CHECK(&copy.pool() != &graph.pool());
  REQUIRE(copy.measurement(copy.find("other_name")) != nullptr);
  CHECK(copy.measurement(copy.find("sum"))->workspace_bytes == 64);
  CHECK(copy.measured->granularity == 512);
  make_node(copy, Op::relu, {copy.find("x")});
  CHECK(graph.pool().size() == nodes);
}

}  // namespace
}  // namespace recut
