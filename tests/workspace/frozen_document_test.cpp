// A document that is frozen as it is opened, in steps.
#include "engine/workspace/frozen_document.h"

#include <catch2/catch_test_macros.hpp>

#include "engine/eval/inputs.h"
#include "engine/workspace/evaluation.h"
#include "engine/workspace/open_document.h"
#include "tests/input/parse.h"

namespace recut {
namespace {

// y = x (p + q) exp(k), whose weights are p, q and k; r is read by nothing.
constexpr const char* kFrozenModel = R"(graph "model" {
  %x = input f32[4, 4]
  %p = parameter f32[4, 4]
  %q = parameter f32[4, 4]
  %r = parameter f32[4, 4]
  %k = constant f32[4, 4]
  %w = add.Tensor(%p, %q)
  %e = exp(%k)
  %a = mm(%x, %w)
  %y = mm(%a, %e)
  results %y
}
)";

// The bytes of a file's values.
struct FileValues {
  std::vector<std::string> bytes;
  std::vector<NamedTensor> tensors;

  explicit FileValues(const std::vector<std::string>& names) {
    bytes.reserve(names.size());
    for (const std::string& name : names) {
      const Tensor value = random_tensor(make_type(DType::f32, {4, 4}), 5, name);
      tensors.push_back(
          {"in." + name, value.dtype, value.shape, bytes.emplace_back(bytes_of(value))});
    }
  }
};

GraphFile file_with(const FileValues& values) {
  GraphFile file;
  file.graph = parse(kFrozenModel);
  file.tensors = values.tensors;
  return file;
}

OpenOptions freezing() {
  OpenOptions options;
  options.freeze = true;
  return options;
}

Tensor result_of(const Graph& graph, const std::vector<NamedTensor>& tensors) {
  const auto inputs = inputs_from(graph, tensors, 1);
  REQUIRE(inputs.ok());
  const auto evaluated = evaluate(graph, *inputs);
  REQUIRE(evaluated.ok());
  return evaluated->outputs.front();
}

TEST_CASE("freezing: a document opens frozen, in steps of a weight and of a call", "[workspace]") {
  const FileValues values({"p", "q", "r", "k"});
  DocumentOpener opener("", "model", freezing());
  REQUIRE(opener.begin_passes(file_with(values)));
  std::size_t steps = 0;
  while (opener.step()) ++steps;
  const auto document = opener.take();
  REQUIRE(document.ok());
  REQUIRE(document->passes.passes.back().name == kFoldFrozenPass);
  // Each pass and its check, four weights, the fold's beginning and two calls.
  CHECK(steps >= 2 * (document->passes.passes.size() - 1) + 7);

  REQUIRE(document->frozen);
  CHECK(document->frozen->constants == std::vector<std::string>{"w", "e"});
  CHECK(document->frozen->count(WeightFate::folded) == 3);
  CHECK(document->frozen->count(WeightFate::unread) == 1);
  CHECK(document->file.tensors.size() == 2);
  CHECK(document->reference_tensors().size() == 4);
  const Tensor frozen = result_of(document->graph(), document->file.tensors);
  const Tensor read = result_of(document->reference_graph(), document->reference_tensors());
  CHECK(compare(frozen, read).ok);
  CHECK_FALSE(compare(frozen, result_of(document->reference_graph(), {})).ok);

  // The stages, where their passes begin.
  REQUIRE(document->stages.size() == 2);
  CHECK(document->stages[0].stage == Stage::joint);
  CHECK(document->stages[1].stage == Stage::freezing);
  CHECK(document->stages[1].pass == default_passes().size());
}

TEST_CASE("freezing: other values precede the file's, and a weight without one stays",
          "[workspace]") {
  const FileValues values({"p", "q"});
  const FileValues others({"k"});
  OpenOptions options = freezing();
  options.weights = others.tensors;
  const auto document = open_document_graph(file_with(values), "model", options);
  REQUIRE(document.ok());
  CHECK(document->frozen->constants.size() == 2);
  const auto without = open_document_graph(file_with(values), "model", freezing());
  REQUIRE(without.ok());
  CHECK(without->frozen->constants == std::vector<std::string>{"w"});
  CHECK(without->frozen->count(WeightFate::no_value) == 1);
}

TEST_CASE("freezing: passes of the caller run, and extra ones have their place", "[workspace]") {
  const FileValues values({"p", "q", "k"});
  OpenOptions options = freezing();
  options.passes = {"dead_code"};
  const auto named = open_document_graph(file_with(values), "model", options);
  REQUIRE(named.ok());
  CHECK(named->passes.passes.size() == 2);
  CHECK(named->stages.empty());
  options = freezing();
  options.extra_passes = {"attention"};
  const auto extra = open_document_graph(file_with(values), "model", options);
  REQUIRE(extra.ok());
  CHECK(extra->stages[1].pass == default_passes().size() + 1);
  // A file of which the joint passes have run has the stage freezing alone.
  GraphFile passed = file_with(values);
  passed.after_joint_passes = true;
  const auto after = open_document_graph(std::move(passed), "model", freezing());
  REQUIRE(after.ok());
  CHECK(after->stages[1].pass == 0);
}

TEST_CASE("freezing: what can't be frozen names the file and the reason", "[workspace]") {
  const auto message = [](GraphFile file, const OpenOptions& options) {
    const auto document = open_document_graph(std::move(file), "model.recut", options);
    REQUIRE_FALSE(document.ok());
    CHECK(document.diagnostics().front().file == "model.recut");
    return document.diagnostics().front().message;
  };
  FileValues values({"p", "q"});
  values.tensors.front().shape = {2, 8};
  CHECK(message(file_with(values), freezing()).find("tensor 'in.p'") == 0);
  GraphFile joint;
  joint.graph = parse(R"(graph "joint" {
  %x = input f32[2]
  %t = tangent f32[2]
  %y = exp(%x)
  %g = mul.Tensor(%t, %y)
  results %y
  gradients %g
}
)");
  const std::string refusal = message(std::move(joint), freezing());
  CHECK(refusal.find("gradients") != std::string::npos);
  OpenOptions both = freezing();
  both.differentiate = GradMode::reverse;
  CHECK(message(file_with(FileValues({"p"})), both).find("gradients") != std::string::npos);
}

}  // namespace
}  // namespace recut
