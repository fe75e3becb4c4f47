// The judge of compiled steps (engine/eval/accuracy.h): it accepts what rounding does, for any
// seed, and finds wrong values.
#include <catch2/catch_test_macros.hpp>
#include <cmath>

#include "engine/eval/accuracy.h"
#include "engine/workspace/open_document.h"
#include "native/cpu/execution.h"
#include "tests/effort.h"
#include "tests/paths.h"

namespace recut::cpu {
namespace {

// Batch norms of two samples divide by the difference of two numbers, and pooling and relus choose.
constexpr const char* kIllConditioned = R"(graph "norms" {
  %x = input f32[2, 3, 16, 16]
  %w1 = parameter f32[8, 3, 3, 3]
  %w2 = parameter f32[16, 8, 3, 3]
  %g1 = parameter f32[16]
  %b1 = parameter f32[16]
  %w3 = parameter f32[10, 16]
  %c1 = convolution(%x, %w1, none, [2, 2], [1, 1], [1, 1], false, [0, 0], 1)
  %r1 = relu(%c1)
  %p1 = max_pool2d_with_indices(%r1, [3, 3], [2, 2])
  %q1 = getitem(%p1, 0)
  %c2 = convolution(%q1, %w2, none, [2, 2], [0, 0], [1, 1], false, [0, 0], 1)
  %n1 = _native_batch_norm_legit.no_stats(%c2, %g1, %b1, true, 0.1, 1e-05)
  %m1 = getitem(%n1, 0)
  %r2 = relu(%m1)
  %v = view(%r2, [2, 16])
  %n2 = _native_batch_norm_legit.no_stats(%v, none, none, true, 0.1, 1e-05)
  %m2 = getitem(%n2, 0)
  %wt = permute(%w3, [1, 0])
  %y = mm(%m2, %wt)
  %s = _softmax(%y, 1, false)
  %loss = sum(%s)
  %top = argmax(%y, 1)
  results %loss, %y, %top
})";

struct CompiledStep {
  Document document;
  ReadyStep step;
};

CompiledStep compiled(Result<Document> document) {
  INFO((document ? std::string() : format(document.diagnostics())));
  REQUIRE(document.ok());
  SchedulingRequest request;
  request.planning.cost_model = "fused";
  auto plan = schedule_document(*document, request);
  REQUIRE(plan.ok());
  auto step = StepCache(std::nullopt, {}).compile(*document, request, *plan);
  REQUIRE(step.ok());
  return {std::move(*document), std::move(*step)};
}

struct StepOutputs {
  Inputs inputs;
  std::vector<Tensor> found;
};

StepOutputs outputs_of(const CompiledStep& compiled, std::uint64_t seed) {
  const Graph& graph = compiled.document.graph();
  auto inputs = inputs_from(graph, {}, seed);
  REQUIRE(inputs.ok());
  auto run = Run::prepare(compiled.step.step,
                          kernel_inputs(graph, compiled.step.step.program(), *inputs), 1);
  REQUIRE(run.ok());
  REQUIRE(run->run(seed).ok());
  return {std::move(*inputs), run->outputs()};
}

Accuracy judged(const CompiledStep& compiled, const StepOutputs& outputs, std::uint64_t seed) {
  EvaluateOptions options;
  options.seed = seed;
  auto accuracy = judge_outputs(compiled.document.graph(), outputs.inputs, options, outputs.found);
  REQUIRE(accuracy.ok());
  CHECK(accuracy->no_f64.empty());
  return std::move(*accuracy);
}

TEST_CASE("judged step: no seed fails because of rounding", "[native][cpu]") {
  OpenOptions options;
  options.differentiate = GradMode::reverse;
  const CompiledStep step = compiled(open_document_bytes(kIllConditioned, "norms.recut", options));
  for (std::uint64_t seed = 0; seed < test::tries(40); ++seed) {
    const Accuracy accuracy = judged(step, outputs_of(step, seed), seed);
    for (const OutputComparison& output : accuracy.outputs) {
      INFO(seed << ": " << accuracy_text(output));
      CHECK(output.ok());
      // What passes with a large error is listed.
      const bool large = output.comparison.relative_error > 1e-3;
      CHECK((!large || output.comparison.ok || output.ill_conditioned));
    }
  }
}

// One element is off by a hundredth of the output's scale.
Tensor with_fault(const Tensor& tensor) {
  Tensor wrong = allocate(make_type(tensor.dtype, tensor.shape), nullptr);
  if (!is_floating(tensor.dtype)) {
    Integers values = unpack<std::int64_t>(tensor);
    values[values.count() / 2] ^= 1;
    pack(values, wrong);
    return wrong;
  }
  Reals values = unpack<double>(tensor);
  double squares = 0;
  for (const double value : values.data) squares += value * value;
  const double rms = std::sqrt(squares / static_cast<double>(values.count()));
  double& value = values[values.count() / 2];
  value += 0.01 * (std::abs(value) + (rms > 0 ? rms : 1));
  pack(values, wrong);
  return wrong;
}

TEST_CASE("judged step: one wrong element of any output is found", "[native][cpu]") {
  for (const char* name : {"tiny_conv", "tiny_lm", "tiny_lstm", "tiny_ops"}) {
    const CompiledStep step = compiled(
        open_document(RECUT_SOURCE_DIR "/samples/joint/" + std::string(name) + ".json.gz", {}));
    StepOutputs outputs = outputs_of(step, 1);
    CHECK(all_ok(judged(step, outputs, 1).outputs));
    for (Tensor& output : outputs.found)
      if (output.exists() && output.count() > 0) output = with_fault(output);
    for (const OutputComparison& output : judged(step, outputs, 1).outputs) {
      INFO(name << ": " << accuracy_text(output));
      // A hundredth of rounding about 0 can't be told from it.
      CHECK((!output.ok() || output.comparison.negligible));
    }
  }
}

}  // namespace
}  // namespace recut::cpu
