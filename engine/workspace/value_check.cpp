#include "engine/workspace/value_check.h"

#include "engine/eval/compare.h"
#include "engine/eval/evaluator.h"
#include "engine/eval/inputs.h"

namespace recut {

Result<GraphCheck> same_values_check(const Graph& original, std::span<const NamedTensor> tensors,
                                     std::optional<std::uint64_t> seed) {
  auto inputs = inputs_from(original, tensors, seed);
  if (!inputs) return inputs.diagnostics();
  EvaluateOptions options;
  options.seed = seed.value_or(0);
  auto expected = evaluate(original, *inputs, options);
  if (!expected) return expected.diagnostics();
  return GraphCheck([inputs = std::move(*inputs), expected = std::move(expected->outputs),
                     options](const Graph& graph) -> Result<bool> {
    const auto found = evaluate(graph, inputs, options);
    if (!found || found->outputs.size() != expected.size()) return false;
    for (std::size_t i = 0; i < expected.size(); ++i) {
      if (expected[i].exists() != found->outputs[i].exists()) return false;
      if (expected[i].exists() && !compare(found->outputs[i], expected[i]).ok) return false;
    }
    return true;
  });
}

}  // namespace recut
