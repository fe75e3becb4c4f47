// Files with dual numbers: as a document opens, their calls become plain calls for all later work.
#include "engine/workspace/dual_document.h"

#include <catch2/catch_test_macros.hpp>
#include <string>

#include "engine/eval/evaluator.h"
#include "engine/eval/inputs.h"
#include "engine/ir/data_flow.h"
#include "engine/ir/graph_signature.h"
#include "engine/ir/printer.h"
#include "engine/workspace/open_document.h"

namespace recut {
namespace {

constexpr const char* kDualText = R"(graph "forward" on cpu {
  %x = input f32[3]
  %v = input f32[3]
  %d = external aten._make_dual.default(%x, %v, 0) : f32[3]
  %y = sin(%d)
  %u = external aten._unpack_dual.default(%y, 0) : (f32[3], f32[3])
  %p = getitem(%u, 0)
  %t = getitem(%u, 1)
  results %p, %t
}
)";

constexpr const char* kExpandedText = R"(graph "forward" on cpu {
  %x = input f32[3]
  %v = input f32[3]
  %y = sin(%x) : f32[3]
  %cos = cos(%x) : f32[3]
  %t = mul.Tensor(%v, %cos) : f32[3]
  results %y, %t
}
)";

OpenOptions no_passes(std::optional<GradMode> mode = std::nullopt) {
  OpenOptions options;
  options.passes.emplace();
  options.differentiate = mode;
  return options;
}

Document opened_duals(const std::string& text, const OpenOptions& options) {
  auto document = open_document_bytes(text, "duals.recut", options);
  if (!document) FAIL(format(document.diagnostics()));
  return std::move(*document);
}

TEST_CASE("dual document: the text form, JSON and a printed graph mean the same", "[workspace]") {
  const Document text = opened_duals(kDualText, no_passes());
  CHECK(print(text.graph()) == kExpandedText);
  CHECK(text.file.unknown_note.empty());

  const std::string value =
      R"("val": {"shape": [3], "stride": [1], "dtype": "float32", "device": "cpu"})";
  const std::string pair =
      R"("val": [{"shape": [3], "stride": [1], "dtype": "float32", "device": "cpu"},
                                      {"shape": [3], "stride": [1], "dtype": "float32", "device": "cpu"}])";
  const auto call = [&](const char* name, const char* target, const char* arguments,
                        const std::string& types) {
    return std::string(R"({"name": ")") + name + R"(", "op": "call_function", "target": ")" +
           target + R"(", "args": )" + arguments + ", " + types + "},\n";
  };
  const std::string json =
      R"({"format": "fx-joint-graph", "version": 1, "model": "forward", "forward": [
      {"name": "x", "op": "placeholder", "target": "", )" +
      value + R"(},
      {"name": "v", "op": "placeholder", "target": "", )" +
      value + "},\n" +
      call("d", "aten._make_dual.default", R"([{"node": "x"}, {"node": "v"}, 0])", value) +
      call("y", "aten.sin.default", R"([{"node": "d"}])", value) +
      call("u", "aten._unpack_dual.default", R"([{"node": "y"}, 0])", pair) +
      call("p", "getitem", R"([{"node": "u"}, 0])", value) +
      call("t", "getitem", R"([{"node": "u"}, 1])", value) +
      R"({"name": "output", "op": "output", "target": "output", "args": [[{"node": "p"}, {"node": "t"}]]}]})";
  const Document of_json = opened_duals(json, no_passes());
  CHECK(print(of_json.graph()) == kExpandedText);

  const Document printed = opened_duals(R"(class GraphModule(torch.nn.Module):
    def forward(self, x: "f32[3][1]cpu", v: "f32[3][1]cpu"):
        d: "f32[3][1]cpu" = torch.ops.aten._make_dual.default(x, v, 0);  x = v = None
        y: "f32[3][1]cpu" = torch.ops.aten.sin.default(d);  d = None
        u = torch.ops.aten._unpack_dual.default(y, 0);  y = None
        p: "f32[3][1]cpu" = u[0]
        t: "f32[3][1]cpu" = u[1];  u = None
        return (p, t)
)",
                                        no_passes());
  std::string found = print(printed.graph()), wanted = kExpandedText;
  CHECK(found.substr(found.find('\n')) == wanted.substr(wanted.find('\n')));
}

TEST_CASE("dual document: derivatives are taken of the plain calls", "[workspace]") {
  const Document joint = opened_duals(kDualText, no_passes(GradMode::reverse));
  CHECK(is_joint(joint.graph()));
  CHECK(joint.graph().gradients.size() == 2);
  CHECK(joint.graph().gradients[0].valid());

  // A dual number that stays one takes its level.
  const std::string kept = R"(graph "kept" on cpu {
  %x = input f64[3]
  %v = input f64[3]
  %d = external aten._make_dual(%x, %v, 2) : f64[3]
  %y = sin(%d)
  results %y
}
)";
  const Document twice = opened_duals(kept, no_passes(GradMode::forward));
  REQUIRE(twice.graph().signature != nullptr);
  CHECK(twice.graph().signature->dual_results.front().level == 2);
  CHECK(twice.graph().signature->dual_results.back().level == 3);
  CHECK(&twice.reference_graph() != &twice.passes.input);
  CHECK(print(opened_duals(print(twice.graph()), no_passes()).graph()) == print(twice.graph()));
}

TEST_CASE("dual document: loops and branches that read a dual number are inlined", "[workspace]") {
  const Document document = opened_duals(R"(graph "loop" on cpu {
  %x = input f64[]
  %v = input f64[]
  %xs = input f64[3]
  %d = external aten._make_dual(%x, %v, 0) : f64[]
  %c = external torch.ops.higher_order.scan("body", [%d], [%xs], []) : (f64[], f64[3])
  %last = getitem(%c, 0)
  %u = external aten._unpack_dual(%last, 0) : (f64[], f64[])
  %t = getitem(%u, 1)
  results %t
  region "body" {
    %a = input f64[]
    %b = input f64[]
    %r = mul.Tensor(%a, %b)
    %s = mul.Tensor(%r, %a)
    results %s, %b
  }
}
)",
                                         no_passes());
  const Graph& graph = document.graph();
  Inputs inputs;
  for (const NodeId id : graph.inputs()) {
    Tensor value = allocate(graph.type(id), nullptr);
    Reals reals;
    reals.shape = graph.type(id).shape;
    if (reals.shape.empty())
      reals.data = {graph.node_name(id) == "x" ? 0.5 : 1.0};
    else
      reals.data = {3, 5, 7};
    pack(reals, value);
    inputs[id] = std::move(value);
  }
  const auto evaluated = evaluate(graph, inputs);
  REQUIRE(evaluated.ok());
  // x ↦ 7 (5 (3 x²)²)² = 7 · 25 · 81 x⁸
  const double expected = 7.0 * 25 * 81 * 8 * (1.0 / 128);
  CHECK(unpack<double>(evaluated->outputs[0]).data[0] == expected);
}

TEST_CASE("dual document: a fault names the file, and nested graphs hold no dual numbers",
          "[workspace]") {
  const auto nested = open_document_bytes(R"(graph "nested" on cpu {
  %p = input bool[]
  %x = input f64[3]
  %c = external torch.ops.higher_order.cond(%p, "yes", "no", [%x]) : (f64[3])
  %y = getitem(%c, 0)
  results %y
  region "yes" {
    %a = input f64[3]
    %d = external aten._make_dual(%a, %a, 0) : f64[3]
    results %d
  }
  region "no" {
    %a = input f64[3]
    results %a
  }
}
)",
                                          "duals.recut", no_passes());
  REQUIRE_FALSE(nested.ok());
  CHECK(format(nested.diagnostics()) ==
        "duals.recut: error: nested graph 'yes': found %d = external aten._make_dual(%a, %a, 0, "
        "draw=1) : f64[3], expected no dual numbers in nested graphs: make and unpack them in the "
        "graph that calls it\n");
}

}  // namespace
}  // namespace recut
