#include "engine/mesh/rules/reshape_walk.h"

#include <fmt/format.h>

#include <catch2/catch_test_macros.hpp>
#include <set>

#include "engine/input/text.h"
#include "engine/mesh/rules/local_call.h"
#include "tests/mesh/rules/valued_graph.h"

using namespace recut;
using namespace recut::mesh;

namespace {

std::string walk_text(const Shape& from, const Shape& to) {
  std::string text;
  for (const ReshapeFactor& f : reshape_walk(from, to)) {
    text += fmt::format("{}{}:", text.empty() ? "" : " ", f.size);
    if (f.from >= 0) text += fmt::format("{}", f.from);
    text += ">";
    if (f.to >= 0) text += fmt::format("{}", f.to);
  }
  return text;
}

// Row-major positions of a rank's shard.
std::set<std::int64_t> elements_of(const Shape& shape, int dim, AxisRank at) {
  const auto d = static_cast<std::size_t>(dim);
  const Interval part = axis_part(shape[d], at);
  std::int64_t inner = 1;
  for (std::size_t k = d + 1; k < shape.size(); ++k) inner *= shape[k];
  std::set<std::int64_t> elements;
  for (std::int64_t i = 0; i < element_count(shape); ++i) {
    const std::int64_t index = i / inner % shape[d];
    if (index >= part.offset && index < part.offset + part.size) elements.insert(i);
  }
  return elements;
}

// The dimension of the result of which every rank has the same elements as of the operand's.
int same_elements(const Shape& from, int dim, const Shape& to, std::int64_t ranks) {
  for (int e = 0; e < static_cast<int>(to.size()); ++e) {
    if (to[static_cast<std::size_t>(e)] == 1) continue;
    bool same = true;
    for (std::int64_t r = 0; r < ranks && same; ++r)
      same = elements_of(from, dim, {ranks, r}) == elements_of(to, e, {ranks, r});
    if (same) return e;
  }
  return -1;
}

bool leaves_none_empty(std::int64_t size, std::int64_t ranks) {
  return axis_part(size, {ranks, ranks - 1}).size > 0;
}

ShardingRule view_rule(const Shape& from, const Shape& to) {
  Graph graph;
  const NodeId x = graph.add_input(InputKind::input, make_type(DType::f32, from), {"x"});
  const auto y = graph.make(Op::view, {x, Argument(to)}, {"y"});
  REQUIRE(y.ok());
  return sharding_rule(graph, *y);
}

void add_shapes(std::int64_t count, Shape begun, std::vector<Shape>& shapes) {
  if (begun.size() == 3) return;
  for (std::int64_t d = 1; d <= count; ++d) {
    if (count % d != 0) continue;
    Shape shape = begun;
    shape.push_back(d);
    if (d == count) shapes.push_back(shape);
    add_shapes(count / d, shape, shapes);
  }
}

// The number of shards of `from` whose freedom the rule tells other than the elements do.
int differences(const Shape& from, const Shape& to, std::int64_t ranks) {
  std::map<int, int> free;
  for (const Strategy& s : strategies(view_rule(from, to), ranks))
    if (s.factor >= 0) free[s.operands[0].dim] = s.results[0].dim;
  int wrong = 0;
  for (int d = 0; d < static_cast<int>(from.size()); ++d) {
    const std::int64_t size = from[static_cast<std::size_t>(d)];
    if (size == 1 || !leaves_none_empty(size, ranks)) continue;
    const int e = same_elements(from, d, to, ranks);
    const auto found = free.find(d);
    if ((found == free.end() ? -1 : found->second) != e) ++wrong;
  }
  return wrong;
}

}  // namespace

TEST_CASE("reshapes: the walk splits both shapes by common divisors", "[mesh][rules]") {
  CHECK(walk_text({12, 8}, {16, 6}) == "4:0>0 3:0> 4:1> 4:>0 3:>1 2:1>1");
  CHECK(walk_text({4, 4, 4}, {8, 8}) == "4:0>0 2:1>0 2:1>1 4:2>1");
  CHECK(walk_text({2, 3}, {3, 2}) == "2:0> 3:1> 3:>0 2:>1");
  CHECK(walk_text({8, 4}, {2, 16}) == "2:0>0 4:0>1 4:1>1");
  CHECK(walk_text({6, 4}, {24}) == "6:0>0 4:1>0");
  CHECK(walk_text({5, 1, 7}, {5, 7}) == "5:0>0 7:2>1");
}

TEST_CASE("reshapes: shards that carry over", "[mesh][rules]") {
  const auto carries = [](const Shape& from, const Shape& to, std::int64_t ranks) {
    std::string text;
    for (const Strategy& s : strategies(view_rule(from, to), ranks))
      if (s.factor >= 0) text += format(s) + ";";
    return text;
  };
  CHECK(carries({12, 8}, {16, 6}, 2) == "S(0) -> S(0);");
  CHECK(carries({12, 8}, {16, 6}, 3).empty());
  CHECK(carries({12, 8}, {16, 6}, 4) == "S(0) -> S(0);");
  CHECK(carries({6, 4}, {24}, 3) == "S(0) -> S(0);");
  CHECK(carries({6, 4}, {24}, 4).empty());
  CHECK(carries({8, 4}, {2, 16}, 2) == "S(0) -> S(0);");
  CHECK(carries({8, 4}, {2, 16}, 4).empty());
  CHECK(carries({5, 8}, {5, 2, 4}, 2) == "S(0) -> S(0);S(1) -> S(1);");
}

TEST_CASE("reshapes: a shard carries over exactly where all ranks keep their elements",
          "[mesh][rules]") {
  int wrong = 0, tried = 0;
  for (std::int64_t count = 2; count <= 24; ++count) {
    std::vector<Shape> shapes;
    add_shapes(count, {}, shapes);
    for (const Shape& from : shapes)
      for (const Shape& to : shapes)
        for (const std::int64_t ranks : {2, 3, 4}) {
          wrong += differences(from, to, ranks);
          ++tried;
        }
  }
  CHECK(tried > 10'000);
  CHECK(wrong == 0);
}
