// The graph signature: its text form, its faults, and that passes and derivatives keep it.
#include "engine/ir/graph_signature.h"

#include <catch2/catch_test_macros.hpp>
#include <string>
#include <vector>

#include "engine/autodiff/differentiate.h"
#include "engine/ir/printer.h"
#include "engine/ir/verifier.h"
#include "engine/passes/runner.h"
#include "tests/input/parse.h"

namespace recut {
namespace {

// A step of a moving average: result 0 is its new value.
constexpr const char* kStep = R"(graph "step" on cpu {
  %w = parameter f32[4]
  %mean = input f32[4]
  %other = input f32[4]
  %t = tangent f32[4]
  %scaled = mul.Tensor(%mean, %other) : f32[4]
  %next = add.Tensor(%scaled, %other) : f32[4]
  %y = mul.Tensor(%w, %next) : f32[4]
  %g = mul.Tensor(%t, %next) : f32[4]
  results %next, %y
  gradients %g, none, none
  mutation 0 %mean
  tangent_of 1
  shared_storage %mean, %other
  deterministic
}
)";

std::string with_line(std::string text, const std::string& line, const std::string& other) {
  const std::size_t at = text.find(line);
  REQUIRE(at != std::string::npos);
  return text.replace(at, line.size(), other);
}

std::string signature_fault(const std::string& text) {
  const auto graph = parse_graph_text(text, "test");
  REQUIRE_FALSE(graph.ok());
  return format(graph.diagnostics());
}

TEST_CASE("signature: print and parse are inverse") {
  const Graph graph = parse(kStep);
  CHECK(print(graph) == kStep);
  CHECK(mutated_input(graph, 0) == graph.find("mean"));
  CHECK_FALSE(mutated_input(graph, 1).valid());
  CHECK(is_mutated(graph, graph.find("mean")));
  CHECK_FALSE(is_mutated(graph, graph.find("other")));
  CHECK(user_results(graph) == std::vector<std::size_t>{1});
  CHECK(verify(graph).empty());
}

TEST_CASE("signature: sizes and strides may change, with the elements or alone") {
  const std::string text = R"(graph "t" on cpu {
  %x = input f32[2, 3]
  %y = permute(%x, [1, 0]) : f32[3, 2]{1, 3}
  results %y
  mutation 0 %x metadata
}
)";
  for (const std::string& both : {text, with_line(text, " metadata", " value metadata")}) {
    const Graph graph = parse(both);
    CHECK(print(graph) == both);
    CHECK_FALSE(mutated_input(graph, 0).valid());
    CHECK(user_results(graph).empty());
  }
  CHECK(signature_fault(with_line(text, " metadata", ""))
            .find("result 0, the new value of 'x', is f32[3, 2], expected f32[2, 3]") !=
        std::string::npos);
  CHECK(signature_fault(with_line(text, " metadata", " value")).find("expected 'metadata'") !=
        std::string::npos);
}

TEST_CASE("signature: faults name the place and the fact") {
  const struct {
    const char *line, *other, *fault;
  } cases[] = {
      {"mutation 0 %mean", "mutation 2 %mean", "result 2, expected one of the 2 results"},
      {"mutation 0 %mean", "mutation 0 %next", "names 'next', expected an input"},
      {"mutation 0 %mean", "mutation 0 %nothing", "names 'nothing', expected an input"},
      {"mutation 0 %mean", "mutation 0 %mean\n  mutation 1 %mean",
       "two results are the new value of 'mean'"},
      {"mutation 0 %mean", "mutation 0 %mean\n  mutation 0 %other",
       "result 0 is the new value of two inputs"},
      {"mutation 0 %mean", "mutation -1 %mean", "a negative number"},
      {"mutation 0 %mean", "mutation %mean", "expected a whole number"},
      {"tangent_of 1", "tangent_of 1, 1", "tells of 2 tangents, the graph has 1"},
      {"tangent_of 1", "tangent_of 7", "result 7"},
      {"shared_storage %mean, %other", "shared_storage %mean", "fewer than two inputs"},
      {"shared_storage %mean, %other", "shared_storage %mean, %y", "names 'y', expected an input"},
      {"deterministic", "deterministc", "did you mean 'deterministic'"},
  };
  for (const auto& c : cases) {
    INFO(c.other);
    const std::string fault = signature_fault(with_line(kStep, c.line, c.other));
    INFO(fault);
    CHECK(fault.find(c.fault) != std::string::npos);
    CHECK(fault.find("test:") == 0);
  }
}

TEST_CASE("signature: the verifier finds facts that a pass broke") {
  Graph graph = parse(kStep);
  GraphSignature signature = *graph.signature;
  signature.mutations.front().result = 5;
  set_signature(graph, signature);
  const Failures failures = verify(graph);
  REQUIRE(failures.size() == 1);
  CHECK(failures.front().invariant == 13);
}

TEST_CASE("signature: passes keep it") {
  const Graph graph = parse(kStep);
  const auto report = run_passes(graph, default_passes());
  REQUIRE(report.ok());
  REQUIRE(report->graph().signature != nullptr);
  CHECK(mutated_input(report->graph(), 0) == report->graph().find("mean"));
}

TEST_CASE("signature: derivatives are of results that are no mutation") {
  const Graph forward = parse(R"(graph "f" on cpu {
  %w = parameter f32[4]
  %state = parameter f32[4]
  %next = mul.Tensor(%state, %w) : f32[4]
  %y = sin(%next) : f32[4]
  results %next, %y
  mutation 0 %state
}
)");
  const auto joint = differentiate(forward, {});
  REQUIRE(joint.ok());
  CHECK(verify(*joint).empty());
  REQUIRE(joint->signature != nullptr);
  CHECK(joint->signature->tangent_of == std::vector<std::size_t>{1});
  const auto back = extract_forward_graph(*joint);
  REQUIRE(back.ok());
  CHECK(back->differentiable == std::vector<std::size_t>{1});
  CHECK(back->graph.signature->tangent_of.empty());
  CHECK(back->graph.signature->mutations == forward.signature->mutations);
}

TEST_CASE("signature: fewer results") {
  const GraphSignature signature = *parse(kStep).signature;
  const GraphSignature second = with_results(signature, {1});
  CHECK(second.mutations.empty());
  CHECK(second.tangent_of == std::vector<std::size_t>{0});
  const GraphSignature first = with_results(signature, {0});
  CHECK(first.mutations == signature.mutations);
  CHECK(first.tangent_of.empty());
}

}  // namespace
}  // namespace recut
