// Forward mode as a pass of an opened document, and why it is refused.
#include <catch2/catch_test_macros.hpp>
#include <string>

#include "engine/ir/data_flow.h"
#include "engine/ir/graph_signature.h"
#include "engine/ir/printer.h"
#include "engine/workspace/gradients.h"
#include "engine/workspace/open_document.h"
#include "tests/input/parse.h"

namespace recut {
namespace {

constexpr const char* kLayer = R"(graph "layer" {
  %w = parameter f32[3, 2]
  %x = input f32[4, 3]
  %y = mm(%x, %w)
  %z = tanh(%y)
  %top = argmax(%z, 1)
  %loss = mean(%z)
  results %z, %top, %loss
}
)";

OpenOptions forward_mode() {
  OpenOptions options;
  options.differentiate = GradMode::forward;
  return options;
}

Document opened_forward(const OpenOptions& options) {
  auto document = open_document_bytes(kLayer, "layer.recut", options);
  if (!document) FAIL(format(document.diagnostics()));
  return std::move(*document);
}

std::string refusal(const std::string& text, const OpenOptions& options) {
  const auto document = open_document_bytes(text, "layer.recut", options);
  REQUIRE_FALSE(document.ok());
  return format(document.diagnostics());
}

TEST_CASE("forward mode: a document's graph is that of the command", "[workspace][jvp]") {
  OpenOptions options = forward_mode();
  options.passes.emplace();
  const Document document = opened_forward(options);
  CHECK(document.differentiated == GradMode::forward);
  CHECK_FALSE(is_joint(document.graph()));
  GradRequest request;
  request.mode = GradMode::forward;
  const auto made = make_gradients(parse(kLayer), request);
  REQUIRE(made.ok());
  CHECK(print(document.graph()) == print(made->graph));
}

TEST_CASE("forward mode: the pass's changes link results to tangents", "[workspace][jvp]") {
  const Document document = opened_forward(forward_mode());
  const PassReport& pass = document.passes.passes.front();
  CHECK(pass.name == kJvpPass);
  CHECK(&document.reference_graph() == &pass.graph);
  REQUIRE(pass.graph.signature != nullptr);
  const auto& duals = pass.graph.signature->dual_results;
  REQUIRE(duals.size() == 2);  // argmax has no tangent
  REQUIRE(pass.changes.size() == duals.size());
  for (std::size_t i = 0; i < duals.size(); ++i) {
    const NodeId primal = pass.graph.results[duals[i].primal];
    const NodeId tangent = pass.graph.results[duals[i].tangent];
    const Change& change = pass.changes[i];
    CHECK(document.passes.input.contains(change.before));
    CHECK(change.before == primal);
    CHECK(change.after == std::vector{primal, tangent});
    CHECK(change.description.text() ==
          print_node(pass.graph, primal) + "  =>  tangent " + print_node(pass.graph, tangent));
  }
}

TEST_CASE("forward mode: passes have modes", "[workspace][jvp]") {
  CHECK(grad_mode_of(kGradPass) == GradMode::reverse);
  CHECK(grad_mode_of(kJvpPass) == GradMode::forward);
  CHECK_FALSE(grad_mode_of("cse").has_value());
}

TEST_CASE("forward mode: what can't have it says why", "[workspace][jvp]") {
  OpenOptions trained = forward_mode();
  trained.training = TrainingOptions{Sgd{}, {}};
  CHECK(refusal(kLayer, trained)
            .find("layer.recut: error: forward mode makes tangents, and an "
                  "optimiser reads gradients") == 0);

  const auto joint = make_gradients(parse(kLayer), {});
  REQUIRE(joint.ok());
  const std::string of_joint = refusal(print(joint->graph), forward_mode());
  CHECK(of_joint.find("layer.recut: error: a joint graph") == 0);
  CHECK(of_joint.find("`recut grad --mode jvp`") != std::string::npos);

  const std::string gap = refusal(
      "graph \"g\" {\n  %x = parameter f32[8]\n  %s = slice.Tensor(%x, 0, 3, 8)\n"
      "  %y = as_strided(%s, [2], [1], 2)\n  results %y\n}\n",
      forward_mode());
  CHECK(gap.find("layer.recut") == 0);
  CHECK(gap.find("%y (as_strided)") != std::string::npos);
}

}  // namespace
}  // namespace recut
