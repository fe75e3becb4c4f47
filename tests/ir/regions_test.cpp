// Regions of calls: printed and read back, kept by copies and passes, and compared with their calls.
#include <fmt/core.h>

#include <catch2/catch_test_macros.hpp>
#include <string>

#include "engine/input/text.h"
#include "engine/ir/copy.h"
#include "engine/ir/printer.h"
#include "engine/ir/rebuild.h"
#include "engine/ir/region_call.h"
#include "engine/ir/region_memory.h"
#include "engine/ir/verifier.h"
#include "tests/input/parse.h"

namespace recut {
namespace {

// A condition whose second branch has a loop over rows.
constexpr std::string_view kNested = R"(graph "g" on cuda {
  %p = input bool[]
  %x = input f32[3, 4]
  %c = external torch.ops.higher_order.cond(%p, "yes", "no", [%x], draw=0) : (f32[3, 4])
  %y = getitem(%c, 0) : f32[3, 4]
  results %y
  region "yes" {
    %a = input f32[3, 4]
    %s = sin(%a) : f32[3, 4]  @"net.sin" #7
    %e = exp(%s) : f32[3, 4]
    results %e
  }
  region "no" on cpu {
    %a = input f32[3, 4]
    %m = external torch.ops.higher_order.map_impl("row", [%a], [], draw=0) : (f32[3, 4])
    %r = getitem(%m, 0) : f32[3, 4]
    results %r
    region "row" {
      %v = input f32[4]
      %n = neg(%v) : f32[4]
      results %n
    }
  }
}
)";

std::string with(std::string_view text, std::string_view old, std::string_view now) {
  std::string changed(text);
  const std::size_t at = changed.find(old);
  REQUIRE(at != std::string::npos);
  return changed.replace(at, old.size(), now);
}

std::string fault_of(const std::string& text) {
  const auto graph = parse_graph_text(text, "t");
  return graph ? std::string("none") : graph.diagnostics().front().message;
}

TEST_CASE("regions: a graph with nested regions reads back as it is printed", "[ir]") {
  const Graph graph = parse(kNested);
  CHECK(print(graph) == kNested);
  CHECK(verify(graph).empty());
  REQUIRE(graph.region("yes") != nullptr);
  CHECK(graph.region("yes")->device == "cuda");
  REQUIRE(graph.region("no") != nullptr);
  CHECK(graph.region("no")->region("row") != nullptr);
  CHECK(graph.region("row") == nullptr);
  CHECK(has_regions(graph, graph.find("c")));
  CHECK(region_bytes(graph, graph.find("c")) == 48);  // the sine; results belong to the call
  CHECK(graph.measurement(graph.find("c"))->workspace_bytes == 48);
}

TEST_CASE("regions: copies have them, and a graph without their call doesn't print them", "[ir]") {
  const Graph graph = parse(kNested);
  CHECK(print(deep_copy(graph)) == kNested);
  CHECK(print(without_dead_nodes(graph)) == kNested);
  Graph without = graph.empty_like();
  without.carry(graph, graph.find("x"));
  without.results = {graph.find("x")};
  CHECK(print(without).find("region") == std::string::npos);
}

TEST_CASE("regions: a device that is none stands in quotes", "[ir]") {
  const std::string text = with(kNested, "\"no\" on cpu", "\"no\" on \"\"");
  CHECK(print(parse(text)) == text);
}

TEST_CASE("regions: inputs and results that differ from the call's are named", "[ir]") {
  CHECK(fault_of(with(kNested, "%a = input f32[3, 4]\n    %s = sin(%a) : f32[3, 4]",
                      "%a = input f32[4, 3]\n    %s = reshape(%a, [3, 4]) : f32[3, 4]")) ==
        "node 'c': input 'a' of nested graph 'yes' is f32[4, 3], and operand 'x' is f32[3, 4]");
  CHECK(fault_of(with(kNested, "%e = exp(%s) : f32[3, 4]", "%e = sum(%s) : f32[]")) ==
        "node 'c': result 'e' of nested graph 'yes' is f32[], and output 0 of the call is "
        "f32[3, 4]");
  CHECK(fault_of(with(kNested, "results %e", "results %e, %s")) ==
        "node 'c': nested graph 'yes' gives 2 results, and the call has 1 outputs");
  CHECK(fault_of(with(kNested, "results %e", "results none")) ==
        "node 'c': result 0 of nested graph 'yes' is none, and output 0 of the call is f32[3, 4]");
  CHECK(fault_of(with(with(kNested, "[%x]", "[%l]"),
                      "  %c =", "  %l = external mine.list.default(%x) : ()\n  %c =")) ==
        "node 'c': operand 'l' is a list, expected a tensor");
  CHECK(fault_of(with(kNested, "[%x]", "[%x, %x]")) ==
        "node 'c': nested graph 'yes' takes 1 tensors, and the call gives 2");
  CHECK(fault_of(with(kNested, "%v = input f32[4]\n      %n = neg(%v) : f32[4]",
                      "%v = input f32[3]\n      %n = neg(%v) : f32[3]")) ==
        "node 'm': input 'v' of nested graph 'row' is f32[3], and a slice of operand 'a' is "
        "f32[4]");
  CHECK(fault_of(with(kNested, "results %e", "results %e\n    gradients %s"))
            .find("nested graph 'yes' has gradients") != std::string::npos);
}

TEST_CASE("regions: loops carry values of one type, and read as many slices of each", "[ir]") {
  constexpr std::string_view kLoop = R"(graph "g" {
  %i = input f32[]
  %x = input f32[3, 4]
  %z = input f32[3]
  %w = external torch.ops.higher_order.while_loop("test", "body", [%i], [%x]) : (f32[])
  %s = external torch.ops.higher_order.scan("step", [%i], [%x, %z], []) : (f32[], f32[3, 4])
  %y = getitem(%w, 0)
  results %y
  region "test" {
    %j = input f32[]
    %a = input f32[3, 4]
    %b = lt.Scalar(%j, 5)
    results %b
  }
  region "body" {
    %j = input f32[]
    %a = input f32[3, 4]
    %k = add.Tensor(%j, 1)
    results %k
  }
  region "step" {
    %j = input f32[]
    %a = input f32[4]
    %b = input f32[]
    %k = add.Tensor(%j, %b)
    %l = mul.Tensor(%a, %k)
    results %k, %l
  }
})";
  CHECK(fault_of(std::string(kLoop)) == "none");
  CHECK(fault_of(with(kLoop, "[%i], [%x]) : (f32[])", "[%i], [%x]) : (f64[])")) ==
        "node 'w': output 0 is f64[], and the carried value 'i' is f32[]");
  CHECK(fault_of(with(kLoop, "results %b", "results %j")) ==
        "node 'w': nested graph 'test' is the condition of a loop: it gives f32[], expected one "
        "bool");
  CHECK(fault_of(with(kLoop, "%z = input f32[3]", "%z = input f32[2]")) ==
        "node 's': operand 'x' is f32[3, 4], and operand 'z' is f32[2]: a loop reads as many "
        "slices of each");
  CHECK(fault_of(with(kLoop, "%z = input f32[3]", "%z = input f32[]")) ==
        "node 's': operand 'z' has no dimension, and a loop can't read its slices");
}

TEST_CASE("regions: faults of the text form", "[ir]") {
  CHECK(fault_of(with(kNested, "region \"yes\"", "region \"other\"")) ==
        "no external call names the region 'other'");
  CHECK(fault_of(with(kNested, "region \"no\"", "region \"yes\"")) ==
        "the graph has two regions 'yes'");
  CHECK(fault_of(with(kNested, "region \"yes\"", "region yes")) ==
        "expected the region's name in quotes, found 'yes'");
  CHECK(fault_of(with(kNested, "sin(%a)", "sin(%x)")).find("%x is not defined before this line") !=
        std::string::npos);
  CHECK(fault_of(with(kNested, "      results %n\n    }\n  }\n}\n", "      results %n\n")) ==
        "expected '}' at the end of the graph, found the end of the file");
  std::string deep = "graph \"g\" {\n";
  for (int i = 0; i < 100; ++i) deep += "region \"r\" {\n";
  CHECK(fault_of(deep) == "regions nested deeper than 32");
}

TEST_CASE("verifier 12: regions are sound and agree with their calls", "[ir]") {
  Graph graph = parse(kNested);
  Graph region = *graph.region("yes");
  region.results.push_back(NodeId());
  Graph other = graph.empty_like();
  other.regions = nullptr;
  CHECK(other.add_region("yes", region));
  CHECK_FALSE(other.add_region("yes", region));
  for (const NodeId id : graph.order()) other.carry(graph, id);
  other.results = graph.results;
  const Failures failures = verify(other);
  REQUIRE(failures.size() == 1);
  CHECK(failures.front().invariant == 12);
  CHECK(failures.front().message ==
        "nested graph 'yes' gives 2 results, and the call has 1 outputs");
  CHECK(verify(other, graph).size() == 1);
  CHECK(verify(graph, graph).empty());

  Graph unsound = *graph.region("yes");
  unsound.append(Op::exp, {unsound.inputs().front()}, {make_type(DType::f32, {5})}, {});
  other.regions = nullptr;
  other.add_region("yes", unsound);
  REQUIRE(verify(other).size() == 1);
  CHECK(verify(other).front().message.starts_with("nested graph 'yes': 'exp': invariant 4: "));
}

TEST_CASE("regions: calls of another form are external calls like others", "[ir]") {
  const auto form_of = [](std::string_view call) {
    const Graph graph = parse(fmt::format(
        "graph \"g\" {{\n  %x = input f32[3]\n  %p = input bool[]\n  %c = external {}\n  results "
        "%x\n}}\n",
        call));
    return region_call(graph[graph.find("c")]).has_value();
  };
  const std::string cond = "torch.ops.higher_order.cond";
  CHECK(form_of(cond + "(%p, \"a\", \"b\", [%x]) : (f32[3])"));
  CHECK(form_of(cond + "(true, \"a\", \"b\", [%x, 3]) : (f32[3])"));
  CHECK_FALSE(form_of(cond + "(%p, \"a\", \"b\", %x) : (f32[3])"));
  CHECK_FALSE(form_of(cond + "(%p, \"a\", %x, [%x]) : (f32[3])"));
  CHECK_FALSE(form_of(cond + "(%p, \"a\", \"b\") : (f32[3])"));
  CHECK_FALSE(form_of(cond + "(%p, \"a\", \"b\", operands=[%x]) : (f32[3])"));
  CHECK_FALSE(form_of(cond + "(%p, \"a\", \"b\", [%x]) : f32[3]"));
  CHECK_FALSE(form_of("mine.cond.default(%p, \"a\", \"b\", [%x]) : (f32[3])"));
}

}  // namespace
}  // namespace recut
