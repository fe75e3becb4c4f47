#include "engine/autodiff/dual_level.h"

#include <fmt/core.h>

#include <string>

#include "engine/ir/graph_signature.h"

namespace recut::autodiff {
namespace {

// "%x has the tangent %x_tangent at level 1", for the last tangent at this level or above.
std::string tangent_from(const GraphSignature& signature, int level) {
  std::string text;
  for (const DualResult& dual : signature.dual_results)
    if (dual.level >= level)
      text = fmt::format("result {} has the tangent result {} at level {}", dual.primal,
                         dual.tangent, dual.level);
  for (const DualInput& dual : signature.dual_inputs)
    if (dual.level >= level)
      text =
          fmt::format("%{} has the tangent %{} at level {}", dual.primal, dual.tangent, dual.level);
  return text;
}

}  // namespace

Result<int> free_dual_level(const Graph& graph, std::optional<int> wanted) {
  const int next = next_dual_level(graph);
  const int level = wanted.value_or(next);
  if (level < 0) return error(fmt::format("level {}, expected 0 or above", level));
  if (level >= next) return level;
  return error(fmt::format("{}: a further derivative is of level {} or above, found {}",
                           tangent_from(*graph.signature, level), next, level));
}

}  // namespace recut::autodiff
