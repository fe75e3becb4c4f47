// What `recut grad` does with a document's graph: its joint graph, or its forward mode.
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
  bool steps = false;  // GradReport::steps are asked for: of reverse mode
};

struct GradReport {
  Graph graph;                    // the joint graph, or that with tangents as further results
  bool forward_of_joint = false;  // reverse mode was asked of a joint graph: of its forward half
  std::size_t nodes_before = 0;   // calls of the graph that was differentiated
  std::size_t nodes_after = 0;
  std::size_t differentiated = 0;             // results with a tangent, outputs in forward mode
  std::vector<std::string> with_gradient;     // inputs that got one, or a tangent in forward mode
  std::vector<std::string> without_gradient;  // wanted, but nothing depends on them
  std::vector<DerivativeStep> steps;
  double milliseconds = 0;
};

// Whether backward is a part of the graph: it has tangents or gradients.
bool is_joint(const Graph& graph);

// Reverse mode of a joint graph is that of its forward half, with the results differentiable that
// had a tangent, unless the request names them.
Result<GradReport> make_gradients(const Graph& graph, const GradRequest& request);

// What the passes that make another program of a graph leave for whoever runs them.
struct StepMaking {
  Diagnostics faults;               // why one of them couldn't
  std::optional<std::size_t> loss;  // of `optimizer` (training.h): among the results
};

// Reverse mode as a pass over a forward graph: its changes are the sweep's steps, each of a call of
// forward, which stays, and of what its derivative row made. Where there is no joint graph to be
// had, the pass changes nothing and adds the reasons to the faults.
inline constexpr std::string_view kGradPass = "grad";
inline constexpr std::string_view kGradPassProse =
    "Differentiates: the forward graph becomes the joint graph of a training step.";
Pass gradient_pass(std::shared_ptr<StepMaking> making, GradOptions options = {});

}  // namespace recut
