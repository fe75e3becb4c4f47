// From a document's file to a training step that updates its parameters, and what such a step is
// given: values to begin with, and data to learn.
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

// The loss is a result that is one real number: the one named `loss`, or where none is named that
// of the only tangent, or of a forward graph the only one. A joint graph of something else than the
// loss is differentiated anew. Fails where there is no such result, or more than one.
Result<TrainingStep> make_training_step(const Graph& graph, const Optimizer& optimizer,
                                        std::string_view loss = {});

// Its place among the results of a forward graph.
Result<std::size_t> find_loss(const Graph& forward, std::string_view name);

// The same as a pass, whose changes are the updates: each of a gradient, or of a buffer's update
// (differentiate.h), and of the value after the step. Where there is no step to be had, it changes
// nothing and leaves the reasons with its maker.
inline constexpr std::string_view kOptimizerPass = "optimizer";
inline constexpr std::string_view kOptimizerPassProse =
    "Trains: the optimiser's update of every parameter becomes a part of the step.";
Pass optimizer_pass(std::shared_ptr<StepMaking> making, Optimizer optimizer, std::string loss);

// "sgd", "adam", "adamw", with torch.optim's usual settings but SGD's learning rate, which there
// has none; nothing for other names.
std::optional<Optimizer> optimizer_named(std::string_view name);
void set_learning_rate(Optimizer& optimizer, double rate);

// "adam, learning rate 0.001, betas 0.9 and 0.999".
std::string words_of(const Optimizer& optimizer);

// A parameter before the first step, by seed and name. Of two and more dimensions: uniform in
// ±1/sqrt(n), where n numbers add up to one of the output, as torch.nn.Linear and Conv2d begin
// (after He, Zhang, Ren, Sun 2015). Of fewer: ones where it scales, else zeros.
Tensor initial_value(const Graph& step, NodeId parameter, std::uint64_t seed);

}  // namespace recut
