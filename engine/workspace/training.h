// From a document's file to a training step that updates its parameters, and what such a step is
// given: values to begin with, and data to learn.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "engine/autodiff/optimizer.h"
#include "engine/eval/tensor.h"
#include "engine/ir/graph.h"
#include "engine/support/result.h"

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

// A parameter before the first step, by seed and name. Of two and more dimensions: uniform in
// ±1/sqrt(n), where n numbers add up to one of the output, as torch.nn.Linear and Conv2d begin
// (after He, Zhang, Ren, Sun 2015). Of fewer: ones where it scales, else zeros.
Tensor initial_value(const Graph& step, NodeId parameter, std::uint64_t seed);

}  // namespace recut
