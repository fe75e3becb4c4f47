// Nested graphs that write to their inputs: the caller's operands have the written values.
#include <fmt/core.h>

#include <catch2/catch_test_macros.hpp>
#include <string>
#include <vector>

#include "engine/ir/graph_signature.h"
#include "engine/ir/region_call.h"
#include "tests/input/call_lines.h"

namespace recut {
namespace {

constexpr const char* kMatrix = R"({"dtype": "float32", "shape": [2, 3]})";

// A nested graph "name" of the inputs a and b, as a node.
std::string region_json(const std::string& name, const std::vector<std::string>& lines,
                        const std::string& result, const char* type = kMatrix) {
  std::string nodes;
  for (const char* input : {"a", "b"})
    nodes += fmt::format(R"({{"name": "{0}", "op": "placeholder", "target": "{0}", "val": {1}}}, )",
                         input, type);
  for (const std::string& line : lines) nodes += call_json(line) + ", ";
  return fmt::format(
      R"({{"name": "{0}", "op": "get_attr", "target": "{0}", "subgraph": [{1}{{"name": "output", "op": "output", "target": "output", "args": [[{{"node": "{2}"}}]]}}]}})",
      name, nodes, result);
}

// A graph of x, y and the bool p, in which `regions` are called by a node "c" of one output.
Result<GraphFile> calling(const std::vector<std::string>& regions,
                          const std::vector<std::string>& before, const std::string& call,
                          const std::vector<std::string>& after, const std::string& results,
                          const std::string& members = "") {
  std::string nodes;
  for (const char* name : {"x", "y"})
    nodes += fmt::format(R"({{"name": "{0}", "op": "placeholder", "target": "{0}", "val": {1}}}, )",
                         name, kMatrix);
  nodes +=
      R"({"name": "p", "op": "placeholder", "target": "p", "val": {"dtype": "bool", "shape": []}}, )";
  for (const std::string& region : regions) nodes += region + ", ";
  for (const std::string& line : before) nodes += call_json(line) + ", ";
  std::string node = call_json(call);
  node.insert(node.size() - 1, fmt::format(R"(, "val": [{}])", kMatrix));
  nodes += node + ", ";
  for (const std::string& line : after) nodes += call_json(line) + ", ";
  return parse_joint_graph(
      fmt::format(
          R"({{"format": "fx-joint-graph", "version": 1, "model": "m", {}"forward": [{}{{"name": "output", "op": "output", "target": "output", "args": [[{}]]}}]}})",
          members, nodes, results),
      "m.json");
}

void check_calls(const Result<GraphFile>& file, const std::string& text) {
  if (!file) FAIL(format(file.diagnostics()));
  INFO(print(file->graph));
  check_same(file->graph, parse("graph \"m\" {\n  %x = input f32[2, 3]\n  %y = input f32[2, 3]\n"
                                "  %p = input bool[]\n" +
                                text + "}\n"));
}

constexpr const char* kResults = R"({"node": "r"}, {"node": "after"})";

TEST_CASE("region writes: a called graph that writes to its input writes to the operand") {
  const std::string body =
      region_json("g", {"w = aten.add_.Tensor(a, b)", "s = aten.sin.default(a)"}, "s");
  const std::string call = R"(c = torch.ops.higher_order.invoke_subgraph(g, "id", x, y))";
  check_calls(
      calling({body}, {}, call, {"r = getitem(c, 0)", "after = aten.neg.default(x)"}, kResults),
      "  %w = add.Tensor(%x, %y)\n  %s = sin(%w)\n  %n = neg(%w)\n  results %s, %n, %w\n");
  // A view of the operand sees it, and a view as operand writes through.
  check_calls(calling({body}, {"v = aten.t.default(x)"}, call,
                      {"r = getitem(c, 0)", "after = aten.neg.default(v)"}, kResults),
              "  %w = add.Tensor(%x, %y)\n  %s = sin(%w)\n  %t = t(%w)\n  %n = neg(%t)\n"
              "  results %s, %n, %w\n");
}

TEST_CASE("region writes: a buffer that only a nested graph writes is an input, not a constant") {
  const std::string body =
      region_json("g", {"w = aten.add_.Tensor(a, b)", "s = aten.sin.default(a)"}, "s");
  const auto file =
      calling({body}, {}, R"(c = torch.ops.higher_order.invoke_subgraph(g, "id", x, y))",
              {"r = getitem(c, 0)"}, R"({"node": "r"})", R"("buffers": ["x", "y"], )");
  if (!file) FAIL(format(file.diagnostics()));
  const Graph& graph = file->graph;
  CHECK(graph.is_input(graph.find("x")));
  CHECK(mutated_input(graph, 1) == graph.find("x"));
}

TEST_CASE("region writes: branches of a condition may write to different operands") {
  const std::string yes = region_json("yes", {"w = aten.add_.Tensor(a, b)"}, "w");
  const std::string no = region_json("no", {"w = aten.mul_.Tensor(b, a)"}, "a");
  check_calls(
      calling({yes, no}, {},
              "c = torch.ops.higher_order.cond(p, yes, no, [{\"node\": \"x\"}, {\"node\": \"y\"}])",
              {"r = getitem(c, 0)", "after = aten.sub.Tensor(x, y)"}, kResults),
      "  %s = add.Tensor(%x, %y)\n  %m = mul.Tensor(%y, %x)\n"
      "  %r = where.self(%p, %s, %x)\n  %v = where.self(%p, %y, %m)\n"
      "  %n = sub.Tensor(%r, %v)\n  results %r, %n, %r, %v\n");
}

TEST_CASE("region writes: a nested graph writes through two calls") {
  std::string inner = region_json("inner", {"w = aten.neg_.default(a)"}, "b");
  std::string outer = region_json("outer", {}, "s");
  std::string call = call_json(R"(c = torch.ops.higher_order.invoke_subgraph(inner, "id", b, a))");
  call.insert(call.size() - 1, fmt::format(R"(, "val": [{}])", kMatrix));
  const std::string more = inner + ", " + call + ", " + call_json("s = getitem(c, 0)") + ", ";
  outer.insert(outer.find(R"({"name": "output")"), more);
  check_calls(
      calling({outer}, {}, R"(c = torch.ops.higher_order.invoke_subgraph(outer, "id", x, y))",
              {"r = getitem(c, 0)", "after = aten.neg.default(y)"}, kResults),
      "  %w = neg(%y)\n  %n = neg(%w)\n  results %x, %n, %w\n");
}

std::string refusal(const Result<GraphFile>& file) {
  return file.ok() ? "read" : format(file.diagnostics());
}

TEST_CASE("region writes: those that can't be followed are refused by name") {
  const std::string body = region_json("g", {"w = aten.add_.Tensor(a, b)"}, "w");
  const std::string same =
      refusal(calling({body}, {}, R"(c = torch.ops.higher_order.invoke_subgraph(g, "id", x, x))",
                      {"r = getitem(c, 0)", "after = aten.neg.default(x)"}, kResults));
  CHECK(same.find("node 'c': its nested graph writes to an operand that shares its storage") !=
        std::string::npos);
  const char* row = R"({"dtype": "float32", "shape": [3]})";
  const std::string step = region_json("g", {"w = aten.add_.Tensor(a, b)"}, "w", row);
  const std::string loop = refusal(
      calling({step}, {},
              "c = torch.ops.higher_order.map_impl(g, [{\"node\": \"x\"}, {\"node\": \"y\"}], [])",
              {"r = getitem(c, 0)", "after = aten.neg.default(x)"}, kResults));
  CHECK(loop.find("node 'c': the nested graph 'g' writes to its input 'a', and Recut can't follow "
                  "that in a loop: let it write to a clone of that") != std::string::npos);
}

}  // namespace
}  // namespace recut
