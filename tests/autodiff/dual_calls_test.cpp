// Calls that make and unpack dual numbers: they become plain calls with the values of forward mode,
// at any nesting of levels, and what can't be one is refused by name.
#include <fmt/core.h>

#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <fstream>
#include <map>
#include <string>
#include <vector>

#include "engine/autodiff/differentiate.h"
#include "engine/autodiff/dual_numbers.h"
#include "engine/ir/copy.h"
#include "engine/ir/dual_call.h"
#include "engine/ir/external_operator.h"
#include "engine/ir/graph_signature.h"
#include "engine/ir/printer.h"
#include "tests/autodiff/derivative_check.h"
#include "tests/autodiff/dual_values.h"
#include "tests/input/parse.h"
#include "tests/paths.h"

namespace recut {
namespace {

std::string refused_duals(const std::string& lines) {
  const auto made = expand_dual_numbers(parse("graph \"g\" on cpu {\n" + lines + "}\n"));
  REQUIRE_FALSE(made.ok());
  return format(made.diagnostics());
}

TEST_CASE("dual calls: primal and tangent are plain calls, and keep the file's names") {
  const Graph graph = parse(R"(graph "cube" on cpu {
  %x = input f64[2]
  %v = input f64[2]
  %d = external aten._make_dual.default(%x, %v, 0) : f64[2]
  %y = mul.Tensor(%d, %x)
  %z = mul.Tensor(%y, %d)
  %u = external aten._unpack_dual.default(%z, 0) : (f64[2], f64[2])
  %primal = getitem(%u, 0)
  %slope = getitem(%u, 1)
  results %primal, %slope
}
)");
  const Graph made = expanded_duals(graph);
  CHECK(print(made) == R"(graph "cube" on cpu {
  %x = input f64[2]
  %v = input f64[2]
  %y = mul.Tensor(%x, %x) : f64[2]
  %z = mul.Tensor(%y, %x) : f64[2]
  %mul = mul.Tensor(%v, %x) : f64[2]
  %mul_1 = mul.Tensor(%mul, %x) : f64[2]
  %mul_2 = mul.Tensor(%v, %y) : f64[2]
  %slope = add.Tensor(%mul_1, %mul_2) : f64[2]
  results %z, %slope
}
)");
  const auto values = values_at(made, {{"x", {2, 3}}, {"v", {1, 10}}});
  CHECK(values[1] == std::vector<double>{8, 180});  // 2 x * x * v: one factor is no dual number
}

TEST_CASE("dual calls: a result that is a dual number names its tangents") {
  const Graph made = expanded_duals(parse(R"(graph "nested" on cpu {
  %x = input f64[1]
  %one = input f64[1]
  %a = external aten._make_dual(%x, %one, 0) : f64[1]
  %b = external aten._make_dual(primal=%a, tangent=%one, level=1) : f64[1]
  %s = mul.Tensor(%b, %b)
  %c = mul.Tensor(%s, %b)
  %same = external aten._fw_primal(%c, 1) : f64[1]
  results %c, none, %same, %x
}
)"));
  REQUIRE(made.signature != nullptr);
  const std::string text = print(made);
  CHECK(text.find("  dual_result 0, 4 level 1\n"
                  "  dual_result 0, 5 level 0\n"
                  "  dual_result 2, 6 level 0\n"
                  "  dual_result 4, 7 level 0\n") != std::string::npos);
  const auto values = values_at(made, {{"x", {3}}, {"one", {1}}});
  CHECK(values[0][0] == 27);
  CHECK(values[2][0] == 27);
  CHECK(values[4][0] == 27);  // 3 x²
  CHECK(values[5][0] == 27);
  CHECK(values[6][0] == 27);
  CHECK(values[7][0] == 18);  // 6 x
}

TEST_CASE("dual calls: a level that none made, and no tangent, give zeros") {
  const Graph made = expanded_duals(parse(R"(graph "other" on cpu {
  %x = input f64[2]
  %v = input f64[2]
  %d = external aten._make_dual(%x, %v, 0) : f64[2]
  %y = mul.Tensor(%d, %d)
  %u = external aten._unpack_dual(%y, 1) : (f64[2], f64[2])
  %p = getitem(%u, 0)
  %t = getitem(%u, 1)
  %w = external aten._unpack_dual(%p, 0) : (f64[2], f64[2])
  %q = getitem(%w, 0)
  %s = getitem(%w, 1)
  results %t, %q, %s
}
)"));
  const auto values = values_at(made, {{"x", {2, 3}}, {"v", {1, 1}}});
  CHECK(values[0] == std::vector<double>{0, 0});
  CHECK(values[1] == std::vector<double>{4, 9});
  CHECK(values[2] == std::vector<double>{4, 6});
  CHECK(made.signature == nullptr);
}

TEST_CASE("dual calls: strides of the file stay, and later views of a tangent fit") {
  const Graph made = expanded_duals(parse(R"(graph "strides" on cpu {
  %x = input f64[2, 3]
  %v = input f64[2, 3]
  %r = permute(%x, [1, 0])
  %s = permute(%v, [1, 0])
  %d = external aten._make_dual(%r, %s, 0) : f64[3, 2]
  %y = mul.Tensor(%d, %d)
  %u = external aten._unpack_dual(%y, 0) : (f64[3, 2], f64[3, 2])
  %t = getitem(%u, 1)
  %flat = view(%t, [6])
  results %flat
}
)"));
  const auto values = values_at(made, {{"x", {1, 2, 3, 4, 5, 6}}, {"v", {1, 1, 1, 1, 1, 10}}});
  CHECK(values[0] == std::vector<double>{2, 8, 4, 10, 6, 120});
}

TEST_CASE("dual calls: reverse mode over them, and forward mode over that") {
  for (const char* calls : {"%s = sin(%d)\n%y = mul.Tensor(%s, %d)", "%y = softmax.int(%d, 1)",
                            "%m = mm(%d, %b)\n%y = tanh(%m)", "%y = cumsum(%d, 0)"}) {
    const Graph made = expanded_duals(parse(fmt::format(R"(graph "a b v" on cpu {{
  %a = parameter f64[3, 3]
  %b = parameter f64[3, 3]
  %v = parameter f64[3, 3]
  %h = mul.Tensor(%a, %b)
  %d = external aten._make_dual(%h, %v, 0) : f64[3, 3]
  {}
  %u = external aten._unpack_dual(%y, 0) : (f64[3, 3], f64[3, 3])
  %p = getitem(%u, 0)
  %t = getitem(%u, 1)
  %q = mul.Tensor(%p, %t)
  results %t, %q
}}
)",
                                                        calls)));
    INFO(print(made));
    CHECK(test::derivative_faults(made, test::Depth::twice).empty());
  }
}

TEST_CASE("dual calls: in a joint graph they give Hessian-vector products") {
  const auto joint = differentiate(parse(R"(graph "f" on cpu {
  %x = parameter f64[1]
  %v = input f64[1]
  %d = external aten._fw_primal(%x, 0) : f64[1]
  results %d
}
)"));
  CHECK_FALSE(joint.ok());  // before the expansion the call is any external one
  const std::string text = R"(
  %x = parameter f64[1]
  %v = input f64[1]
  %tangents_1 = tangent f64[1]
  %d = external aten._make_dual(%x, %v, 0) : f64[1]
  %s = mul.Tensor(%d, %d)
  %y = mul.Tensor(%s, %d)
  %g = mul.Tensor(%s, 3)
  %gx = mul.Tensor(%g, %tangents_1)
  {}
  results %y
  gradients {}, none
)";
  const Graph made = expanded_duals(parse("graph \"f\" on cpu {" +
                                          fmt::format(fmt::runtime(text),
                                                      "%u = external aten._unpack_dual(%gx, 0) : "
                                                      "(f64[1], f64[1])\n%hv = getitem(%u, 1)",
                                                      "%hv") +
                                          "}\n"));
  const auto values = values_at(made, {{"x", {2}}, {"v", {10}}, {"tangents_1", {1}}});
  REQUIRE(values.size() == 4);  // the result, its tangent, and the gradients
  CHECK(values[0][0] == 8);
  CHECK(values[1][0] == 120);
  CHECK(values[2][0] == 120);  // 6 x v
  CHECK(
      refused_duals(fmt::format(fmt::runtime(text), "", "%gx"))
          .find(
              "node 'gx': a gradient is a dual number at level 0, by %d = external aten._make_dual("
              "%x, %v, 0, draw=0) : f64[1], expected one without a tangent: unpack it first") !=
      std::string::npos);
}

// Every derivative rule
// ------------------------------------------------------------------------------------------------

// The graph with each of its parameters made a dual number with the tangent NAME_tangent, and each
// real result unpacked.
Graph with_dual_parameters(const Graph& graph) {
  const ExternalSignature make{"aten._make_dual.default", 3, {}, false};
  const ExternalSignature unpack{"aten._unpack_dual.default", 2, {}, true};
  const Op make_op = (*external_operator(make))->op, unpack_op = (*external_operator(unpack))->op;
  Graph to;
  to.name = graph.name;
  std::map<NodeId, NodeId> images;
  std::int64_t draw = 0;
  for (const NodeId id : graph.order()) {
    if (graph.is_input(id))
      images[id] = to.add_input(InputKind::input, graph.type(id), graph.origin(id));
    else
      images[id] = to.append(graph[id].op,
                             arguments_with(graph[id], [&](NodeId of) { return images.at(of); }),
                             graph[id].outputs, graph.origin(id));
    if (!graph.is_input(id) || graph.input_kind(id) != InputKind::parameter) continue;
    const NodeId tangent =
        to.add_input(InputKind::input, graph.type(id), {graph.node_name(id) + "_tangent"});
    images[id] = to.append(make_op, {images[id], tangent, 4, draw++}, {graph.type(id)}, {});
  }
  for (const NodeId id : graph.results) {
    const TensorType& type = graph.type(id);
    const NodeId whole = to.append(unpack_op, {images.at(id), 4, draw++}, {type, type}, {});
    for (const std::int64_t item : {0, 1})
      to.results.push_back(*to.make(Op::getitem, {whole, item}));
  }
  return to;
}

TEST_CASE("dual calls: every rule of a smooth operator gives the tangents of jvp") {
  std::ifstream file(RECUT_SOURCE_DIR "/tests/autodiff/samples/smooth.txt");
  int compared = 0;
  for (std::string line; std::getline(file, line);) {
    if (line.empty() || line.front() == '#') continue;
    INFO(line);
    const auto graph = test::sample_graph(line);
    REQUIRE(graph.ok());
    if (graph->op(graph->order().back()).is(kDataDependent)) continue;  // sizes are of its values
    const auto made = expand_dual_numbers(with_dual_parameters(*graph));
    INFO((made ? "" : format(made.diagnostics())));
    REQUIRE(made.ok());
    const auto expected = jvp(*graph);
    REQUIRE(expected.ok());
    REQUIRE(made->results.size() == 2 * expected->primal.size());
    std::map<std::string, std::vector<double>> at;
    for (const NodeId id : expected->graph.inputs()) {
      const TensorType& type = expected->graph.type(id);
      for (std::int64_t i = 0; i < element_count(type.shape); ++i)
        at[expected->graph.node_name(id)].push_back(
            is_floating(type.dtype) ? 0.3 + 0.4 * std::abs(std::sin(1.0 + 7.0 * double(i))) : 0);
      at[expected->graph.node_name(id)];
    }
    const auto found = values_at(*made, at), wanted = values_at(expected->graph, at);
    for (std::size_t i = 0; i < expected->primal.size(); ++i)
      for (const auto& [one, other] :
           {std::pair{2 * i, expected->primal[i]}, std::pair{2 * i + 1, expected->tangents[i]}}) {
        REQUIRE(found[one].size() == wanted[other].size());
        for (std::size_t k = 0; k < found[one].size(); ++k)
          CHECK((found[one][k] == wanted[other][k] ||
                 (std::isnan(found[one][k]) && std::isnan(wanted[other][k]))));
      }
    ++compared;
  }
  CHECK(compared > 400);
}

// Refusals
// ------------------------------------------------------------------------------------------------

TEST_CASE("dual calls: a second tangent at a level names both calls") {
  const std::string head =
      "  %x = input f64[2]\n  %v = input f64[2]\n"
      "  %d = external aten._make_dual(%x, %v, 2) : f64[2]\n  %y = sin(%d)\n";
  CHECK(
      refused_duals(head + "  %e = external aten._make_dual(%y, %v, 2) : f64[2]\n  results %e\n") ==
      "error: node 'e': %e = external aten._make_dual(%y, %v, 2, draw=1) : f64[2] makes a dual "
      "number of %y, which already has a tangent at level 2, by %d = external aten._make_dual("
      "%x, %v, 2, draw=0) : f64[2]; unpack that one first, or make this one at another level\n");
  CHECK(refused_duals(head + "  %e = external aten._make_dual(%x, %y, 2) : f64[2]\n  results %e\n")
            .find("a dual number of %y, which already has a tangent at level 2, by %d") !=
        std::string::npos);
  CHECK(refused_duals(head + "  results %y, %x\n  dual_result 0, 1 level 3\n") ==
        "error: node 'd': result 0 has the tangent result 1 at level 3: a further derivative is of "
        "level 4 or above, found 2\n");
}

TEST_CASE("dual calls: calls that don't fit say what was found and expected") {
  const struct {
    const char *call, *fault;
  } cases[] = {
      {"external aten._make_dual(%x, %v) : f64[2]",
       "found %y = external aten._make_dual(%x, %v, draw=0) : f64[2], expected "
       "aten._make_dual(primal, tangent, level)"},
      {"external aten._make_dual(%x, %v, 0, 1) : f64[2]", "expected aten._make_dual(primal, "},
      {"external aten._make_dual(%x, %v, depth=0) : f64[2]", "expected aten._make_dual(primal, "},
      {"external aten._make_dual(%x, %v, 0, primal=%x) : f64[2]",
       "expected aten._make_dual(primal, "},
      {"external aten._make_dual(%x, %v, -1) : f64[2]", "expected a level from 0 to 1000"},
      {"external aten._make_dual(%x, %v, 1001) : f64[2]", "expected a level from 0 to 1000"},
      {"external aten._make_dual(%x, %v, %v) : f64[2]", "expected a level from 0 to 1000"},
      {"external aten._make_dual(%x, 1.0, 0) : f64[2]", "expected a tensor as its tangent"},
      {"external aten._make_dual(%x, %w, 0) : f64[2]",
       "the tangent %w is f64[3], expected f64[2], the type of the primal %x"},
      {"external aten._make_dual(%x, %h, 0) : f64[2]",
       "the tangent %h is f32[2], expected f64[2], the type of the primal %x"},
      {"external aten._make_dual(%i, %i, 0) : i64[2]",
       "the primal %i is i64[2], which has no tangent; expected real or complex numbers"},
      {"external aten._make_dual(%x, %v, 0) : f64[3]",
       "its value is f64[3], expected f64[2], the type of the primal %x"},
      {"external aten._make_dual(%x, %v, 0) : (f64[2], f64[2])", "expected one type, the primal's"},
      {"external aten._unpack_dual(%x, 0) : f64[2]",
       "expected a list of two types, the primal's and the tangent's"},
      {"external aten._unpack_dual(%x, 0) : (f64[2], f64[2], f64[2])", "expected a list of two"},
      {"external aten._unpack_dual(%x, 0) : (f64[2], f32[2])",
       "its tangent is f32[2], expected f64[2], the type of the dual number %x"},
      {"external aten._unpack_dual(%i, 0) : (i64[2], i64[2])",
       "the dual number %i is i64[2], which has"},
      {"external aten._fw_primal(%x, 0) : f32[2]",
       "its value is f32[2], expected f64[2], the type of the dual number %x"},
  };
  for (const auto& c : cases) {
    INFO(c.call);
    const std::string text = refused_duals(
        fmt::format("  %x = input f64[2]\n  %v = input f64[2]\n  %w = input f64[3]\n"
                    "  %h = input f32[2]\n  %i = input i64[2]\n  %y = {}\n  results %x\n",
                    c.call));
    INFO(text);
    CHECK(text.find("error: node 'y': ") == 0);
    CHECK(text.find(c.fault) != std::string::npos);
  }
}

TEST_CASE("dual calls: what reads primal and tangent as one list is refused") {
  CHECK(refused_duals("  %x = input f64[2]\n"
                      "  %u = external aten._unpack_dual(%x, 0) : (f64[2], f64[2])\n"
                      "  %y = external mine.f(%u) : f64[2]\n  results %y\n") ==
        "error: node 'y': found %y = external mine.f(%u, draw=1) : f64[2], which reads primal and "
        "tangent %u as one list; expected getitem of each\n");
  CHECK(refused_duals("  %x = input f64[2]\n"
                      "  %u = external aten._unpack_dual(%x, 0) : (f64[2], f64[2])\n"
                      "  results %u\n") ==
        "error: node 'u': an output is primal and tangent as one list; expected getitem of each\n");
}

TEST_CASE("dual calls: an operator without a derivative is named where a tangent needs it") {
  const std::string head =
      "  %x = input f64[2]\n  %v = input f64[2]\n"
      "  %d = external aten._make_dual(%x, %v, 0) : f64[2]\n";
  CHECK(refused_duals(head + "  %y = external mine.f(%d) : f64[2]\n  results %y\n")
            .find("mine.f has no derivative rule: %y needs it; give its expansion by "
                  "--op-library FILE") != std::string::npos);
  const Graph kept = expanded_duals(
      parse("graph \"g\" on cpu {\n" + head +
            "  %y = external mine.f(%x) : f64[2]\n  %z = mul.Tensor(%y, %d)\n  results %z\n}\n"));
  CHECK(print(kept).find("external mine.f(%x") != std::string::npos);
}

}  // namespace
}  // namespace recut
