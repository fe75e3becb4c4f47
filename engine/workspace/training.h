// Makes a training step, which updates its parameters, of a document's graph, and its initial
// values.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "engine/autodiff/optimizer.h"
#include "engine/eval/tensor.h"
#include "engine/ir/graph.h"
#include "engine/passes/pass.h"
#include "engine/support/result.h"
#include "engine/workspace/gradients.h"

namespace recut {

// A joint graph, or a forward graph's, with the optimiser's step in it (autodiff/optimizer.h).
struct TrainingStep {
  Graph graph;
  std::size_t loss = 0;  // among its results
};

// The loss is a floating-point result without dimensions: the one named `loss`, or by default the
// one of the only tangent, or a forward graph's only one. A joint graph of another result is
// differentiated again. Fails if there is no such result, or more than one.
Result<TrainingStep> make_training_step(const Graph& graph, const Optimizer& optimizer,
                                        std::string_view loss = {});

// The index of the loss among the results of a forward graph.
Result<std::size_t> find_loss(const Graph& forward, std::string_view name);

// The same as a pass. Each of its changes links a gradient, or a buffer's update (differentiate.h),
// to the value after the step. On failure it changes nothing and leaves the reasons in the state.
inline constexpr std::string_view kOptimizerPass = "optimizer";
inline constexpr std::string_view kOptimizerPassProse =
    "Trains: the optimiser's update of every parameter becomes a part of the step.";
Pass optimizer_pass(std::shared_ptr<StepPassState> state, Optimizer optimizer, std::string loss);

// The optimiser "sgd", "adam" or "adamw", with torch.optim's defaults, except for SGD's learning
// rate; nullopt for other names.
std::optional<Optimizer> find_optimizer(std::string_view name);
void set_learning_rate(Optimizer& optimizer, double rate);

// The optimiser as text: "adam, learning rate 0.001, betas 0.9 and 0.999".
std::string description_of(const Optimizer& optimizer);

// A parameter's initial value, by seed and name. With two or more dimensions: uniform in
// ±1/sqrt(fan_in), as torch.nn.Linear and Conv2d (after He, Zhang, Ren, Sun 2015). With fewer: ones
// for a scale, else zeros.
Tensor initial_value(const Graph& step, NodeId parameter, std::uint64_t seed);

}  // namespace recut
