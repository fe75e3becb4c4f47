// Differentiates a document's graph for `recut grad`: reverse mode (a joint graph) or forward mode.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/autodiff/differentiate.h"
#include "engine/passes/pass.h"
#include "engine/support/result.h"

namespace recut {

enum class GradMode : std::uint8_t { reverse, forward };

struct GradRequest {
  GradMode mode = GradMode::reverse;
  GradOptions options;
  bool steps = false;  // fills GradReport::steps; reverse mode only
};

struct GradReport {
  Graph graph;  // the joint graph; forward mode: with tangents as further results
  bool extracted_forward = false;  // the input was a joint graph: its forward graph was extracted
  std::size_t nodes_before = 0;    // calls of the differentiated graph
  std::size_t nodes_after = 0;
  std::size_t differentiated = 0;             // results with a tangent; forward mode: outputs
  std::vector<std::string> with_gradient;     // inputs with one; forward mode: with a tangent
  std::vector<std::string> without_gradient;  // requested, but no result depends on them
  std::vector<DerivativeStep> steps;
  double milliseconds = 0;
};

// Reverse mode of a joint graph differentiates its forward graph. Differentiable are the results
// that had a tangent, unless the request names them.
Result<GradReport> make_gradients(const Graph& graph, const GradRequest& request);

// The side results of the passes `grad` and `optimizer`, for their caller.
struct StepPassState {
  Diagnostics faults;               // why a pass failed
  std::optional<std::size_t> loss;  // index among the results, set by `optimizer`
};

// Reverse mode as a pass over a forward graph. Its changes are the steps of the reverse sweep: each
// links a forward call, which stays, to the nodes of its derivative. On failure the pass changes
// nothing and adds the reasons to the faults.
inline constexpr std::string_view kGradPass = "grad";
inline constexpr std::string_view kGradPassProse =
    "Differentiates: the forward graph becomes the joint graph of a training step.";
Pass gradient_pass(std::shared_ptr<StepPassState> state, GradOptions options = {});

// Forward mode as a pass over a forward graph. Each of its changes links a result to its tangent
// (jvp in differentiate.h). It fails like the other pass.
inline constexpr std::string_view kJvpPass = "jvp";
inline constexpr std::string_view kJvpPassProse =
    "Differentiates in forward mode: inputs and results become dual numbers, each with a tangent.";
Pass jvp_pass(std::shared_ptr<StepPassState> state, GradOptions options = {});

// The mode of the pass `grad` or `jvp`; nullopt for other passes.
std::optional<GradMode> grad_mode_of(std::string_view pass);

// Fails where forward mode can't be a pass: with training, which reads gradients, and on a joint
// graph. `recut grad` takes the latter.
Result<Done> check_forward_mode(const Graph& graph, bool trained);

}  // namespace recut
