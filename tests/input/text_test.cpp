#include "engine/input/text.h"

#include <catch2/catch_test_macros.hpp>
#include <string>

#include "engine/ir/operator.h"
#include "engine/ir/printer.h"
#include "engine/ir/verifier.h"

namespace recut {
namespace {

constexpr const char* kEveryForm = R"(graph "every \"form\"" on cuda {
  %x = input f32[8, 16]
  %w = parameter f32[4, 16]  @"net.0" #3
  %"odd name\n" = tangent f32[8, 4] on cpu
  %c = constant f32[] on "cuda:1"
  %wt = permute(%w, [1, 0]) : f32[16, 4]{1, 16}  @"net.0" #3
  %y = mm(%x, %wt) : f32[8, 4] #4
  %r = rand([8, 4], dtype=f32, pin_memory=false, draw=2) : f32[8, 4]
  %z = add.Tensor(%y, -1e-05, alpha=2) : f32[8, 4]
  %i = le.Scalar(%z, -inf) : bool[8, 4]
  %s = where.self(%i, %z, %c) : f32[8, 4]
  same %again %s
  results %s
  gradients none, %w
}
)";

std::string first_error(std::string_view text) {
  const auto graph = parse_graph_text(text, "t.recut");
  REQUIRE_FALSE(graph.ok());
  return format(graph.diagnostics().front());
}

std::string with_line(std::string_view line) {
  return "graph \"t\" {\n  %x = input f32[2, 3]\n" + std::string(line) + "\n  results %x\n}\n";
}

TEST_CASE("text: print after parse is the identity", "[input]") {
  const auto graph = parse_graph_text(kEveryForm, "t.recut");
  REQUIRE(graph.ok());
  std::string expected(kEveryForm);
  // One blank stands where the printer puts two.
  expected.replace(expected.find("f32[8, 4] #4"), 12, "f32[8, 4]  #4");
  CHECK(print(*graph) == expected);
  CHECK(verify(*graph).empty());
  CHECK(graph->find("again") == graph->find("s"));
}

TEST_CASE("text: an argument's name may be a word that is a value elsewhere", "[input]") {
  const std::string text = R"(graph "g" on cpu {
  %x = input f32[4]
  %y = external mine.op(%x, true, none, true=3, none=[%x, false], inf=f32, draw=0) : f32[4]
  results %y
}
)";
  const auto graph = parse_graph_text(text, "g.recut");
  if (!graph) FAIL(format(graph.diagnostics()));
  CHECK(print(*graph) == text);
}

TEST_CASE("text: types may be left out", "[input]") {
  const auto graph =
      parse_graph_text("graph \"g\" {\n %x = input f32[2, 3]\n %y = exp(%x)\n results %y\n}", "t");
  REQUIRE(graph.ok());
  CHECK(format(graph->type(graph->find("y"))) == "f32[2, 3]");
}

TEST_CASE("text: equal definitions are one node with two names", "[input]") {
  const auto graph = parse_graph_text(
      "graph \"g\" {\n %x = input f32[2]\n %a = exp(%x)\n %b = exp(%x)\n results %a, %b\n}", "t");
  REQUIRE(graph.ok());
  CHECK(graph->order().size() == 2);
  CHECK(graph->results[0] == graph->results[1]);
  const auto again = parse_graph_text(print(*graph), "t");
  REQUIRE(again.ok());
  CHECK(print(*again) == print(*graph));
}

TEST_CASE("text: faults name their place and what was expected", "[input]") {
  CHECK(first_error("") == "t.recut:1:1: error: expected 'graph', found the end of the file");
  CHECK(first_error("graph \"g\" {\n") ==
        "t.recut:2:1: error: expected '}' at the end of the graph, found the end of the file");
  CHECK(first_error(with_line("  %y = nonsense(%x)")) ==
        "t.recut:3:8: error: unknown operator 'nonsense'");
  CHECK(first_error(with_line("  %y = exp(%q)")) ==
        "t.recut:3:12: error: %q is not defined before this line");
  CHECK(first_error(with_line("  %x = exp(%x)")) == "t.recut:3:3: error: %x is defined twice");
  CHECK(first_error(with_line("  %y = exp(%x) : f32[3, 2]")) ==
        "t.recut:3:3: error: exp gives f32[2, 3], found f32[3, 2]");
  CHECK(first_error(with_line("  %y = exp(%x) : f33[2]")) ==
        "t.recut:3:18: error: unknown dtype 'f33'; did you mean 'f32'?");
  CHECK(first_error(with_line("  %y = exp(%x, 2)")) ==
        "t.recut:3:16: error: exp takes 1 arguments, found more");
  CHECK(first_error(with_line("  %y = exp(2.5.1)")) ==
        "t.recut:3:12: error: '2.5.1' is not a number");
  CHECK(first_error(with_line("  %y = permute(%x, [99999999999999999999])")) ==
        "t.recut:3:21: error: 99999999999999999999 does not fit in 64 bits");
  CHECK(first_error(with_line("  %y = input f32[4611686018427387904, 4]")).find("larger than") !=
        std::string::npos);
  CHECK(first_error(with_line("  %y = input f32[-1]")).find("negative") != std::string::npos);
}

TEST_CASE("text: deep nesting and unending strings are refused", "[input]") {
  const std::string deep = "  %y = permute(%x, " + std::string(100000, '[');
  CHECK(first_error(with_line(deep)).find("nested deeper") != std::string::npos);
  CHECK(first_error("graph \"abc").find("does not end") != std::string::npos);
}

TEST_CASE("text: every faulty line is reported, its users are not", "[input]") {
  const auto graph = parse_graph_text(
      "graph \"g\" {\n %x = input f32[2]\n %a = exq(%x)\n %b = exp(%a)\n %c = exr(%x)\n results "
      "%b\n}",
      "t");
  REQUIRE_FALSE(graph.ok());
  CHECK(graph.diagnostics().size() == 2);
}

std::string all_errors(const std::string& lines) {
  const auto graph = parse_graph_text("graph \"t\" {\n %x = input f32[2]\n" + lines, "t");
  return graph ? "" : format(graph.diagnostics());
}

TEST_CASE("text: the line after a faulty one is read, whatever was wrong", "[input]") {
  // Faults that are found at a line's end: types that don't fit, and types that differ.
  for (const std::string fault :
       {" %a = mm(%x, %x)", " %a = mm(%x, %x) : f32[2, 2]", " %a = exp(%x) : f32[3]",
        " %a = exp(%x) : i64[2]  @\"m\" #1", " %a = topk(%x, 1) : (f32[1])",
        " %a = exp(%x, self=%x)", " %a = exp(%x) exp", " %x = exp(%x)"}) {
    INFO(fault);
    const std::string used = all_errors(fault + "\n %b = neg(%x)\n %c = neg(%b)\n results %c\n}\n");
    CHECK(used.find("t:3:") == 0);
    CHECK(used.find('\n') == used.size() - 1);
    const std::string next = all_errors(fault + "\n %b = nosuch(%x)\n results %x\n}\n");
    CHECK(next.find("t:3:") == 0);
    CHECK(next.find("t:4:7: error: unknown operator 'nosuch'\n") != std::string::npos);
    const std::string blank = all_errors(fault + "\n\n ; more\n %b = nosuch(%x)\n}\n");
    CHECK(blank.find("t:6:7: error: unknown operator 'nosuch'\n") != std::string::npos);
    // The graph may end on the line.
    const std::string last = all_errors(fault + " }\n");
    CHECK(last.find("t:3:") == 0);
    CHECK(last.find('\n') == last.size() - 1);
  }
}

TEST_CASE("text: another name of what failed is no fault of its own", "[input]") {
  const std::string errors =
      all_errors(" %a = nosuch(%x)\n same %b %a\n %c = exp(%b)\n results %c\n}\n");
  CHECK(errors == "t:3:7: error: unknown operator 'nosuch'\n");
}

std::int64_t draw_of(const Graph& graph, const std::string& name) {
  const NodeId id = graph.find(name);
  REQUIRE(id.valid());
  const auto position = graph.op(id).parameter("draw");
  REQUIRE(position.has_value());
  const auto* draw = graph[id].arguments[*position].get<std::int64_t>();
  return draw == nullptr ? -1 : *draw;
}

TEST_CASE("text: calls that say no draw have one each", "[input]") {
  const auto graph = parse_graph_text(R"(graph "t" {
  %x = input f32[8]
  %a = rand_like(%x)
  %b = rand_like(%x)
  %c = native_dropout(%x, 0.5, true)
  %d = native_dropout(%x, 0.5, true)
  %e = prims.inductor_seed("cpu")
  %f = prims.inductor_seed("cpu")
  results %a, %b
}
)",
                                      "t");
  REQUIRE(graph.ok());
  CHECK(graph->aliases().empty());
  std::int64_t expected = 0;
  for (const char* name : {"a", "b", "c", "d", "e", "f"})
    CHECK(draw_of(*graph, name) == expected++);
  const auto again = parse_graph_text(print(*graph), "t");
  REQUIRE(again.ok());
  CHECK(print(*again) == print(*graph));
}

TEST_CASE("text: a draw that the text says is no other call's, wherever it stands", "[input]") {
  const auto graph = parse_graph_text(R"(graph "t" {
  %x = input f32[8]
  %a = rand_like(%x)
  %b = rand_like(%x)
  %c = rand_like(%x, draw=1)
  %d = rand_like(%x, draw=1)
  %e = native_dropout(%x, 0.5, true, 0)
  %f = rand_like(%x)
  results %a, %b, %c, %f
}
)",
                                      "t");
  REQUIRE(graph.ok());
  CHECK(draw_of(*graph, "c") == 1);
  CHECK(graph->find("c") == graph->find("d"));
  CHECK(draw_of(*graph, "e") == 0);
  CHECK(draw_of(*graph, "a") == 2);
  CHECK(draw_of(*graph, "b") == 3);
  CHECK(draw_of(*graph, "f") == 4);
  // Faults are said once, though such a text is read twice.
  const std::string errors = all_errors(
      " %a = rand_like(%x)\n %b = rand_like(%x, draw=0)\n %c = nosuch(%x)\n results %a\n}\n");
  CHECK(errors == "t:5:7: error: unknown operator 'nosuch'\n");
}

TEST_CASE("text: whatever draws has a number of its draw", "[input]") {
  for (const Operator& op : all_operators()) {
    INFO(op.name);
    CHECK(op.is(kImpure) == op.parameter("draw").has_value());
  }
}

}  // namespace
}  // namespace recut
