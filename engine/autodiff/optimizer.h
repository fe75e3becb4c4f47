// The optimiser's step as a part of the graph: a joint graph becomes one that updates its
// parameters.
//
//   %w = parameter f32[4]                      %w = parameter f32[4]
//   %x = input f32[4]                          %x = input f32[4]
//   %t = tangent f32[]                         %w_momentum = input f32[4]
//   …                                    =>    %t = tangent f32[]
//   %g = mul.Tensor(%x, %t)                    …
//                                              %g = mul.Tensor(%x, %t)
//                                              %kept = mul.Tensor(%w_momentum, 0.9)
//                                              %w_momentum_next = add.Tensor(%kept, %g)
//                                              %scaled = mul.Tensor(%w_momentum_next, 0.01)
//                                              %w_next = sub.Tensor(%w, %scaled)
//   results %loss                              results %loss
//   gradients %g, none                         gradients %w_next, none, %w_momentum_next
//
// The update uses ordinary operators, so that planner, fusion, interpreter and code generation need
// no special case. Where a joint graph has the gradient of an input, a step's graph has that
// input's value after the step, of the same type; the caller copies it into the input before the
// next step. Updates of buffers (differentiate.h), which are results of a joint graph, move there
// too.
#pragma once

#include <variant>

#include "engine/ir/graph.h"
#include "engine/support/result.h"

namespace recut {

// Stochastic gradient descent as torch.optim.SGD has it, without dampening or Nesterov's variant:
//   g += weight_decay w;  m = momentum m + g;  w -= learning_rate m
// With no momentum there is no m, and w -= learning_rate g.
struct Sgd {
  double learning_rate = 1e-3, momentum = 0, weight_decay = 0;
};

// Adam (Kingma and Ba 2015) as torch.optim.Adam has it; `decoupled`: AdamW (Loshchilov and Hutter
// 2019) as torch.optim.AdamW has it. In step t, counted from 1, with bias corrections in f64:
//   g += weight_decay w                        or, decoupled, w *= 1 - learning_rate weight_decay
//   m = lerp(m, g, 1 - beta1);  v = beta2 v + (1 - beta2) g g
//   w -= learning_rate / (1 - beta1^t)  m / (sqrt(v) / sqrt(1 - beta2^t) + epsilon)
struct Adam {
  double learning_rate = 1e-3, beta1 = 0.9, beta2 = 0.999, epsilon = 1e-8, weight_decay = 0;
  bool decoupled = false;
};

using Optimizer = std::variant<Sgd, Adam>;

// The joint graph with the update of every parameter that has a gradient. The optimiser's state is
// passed as further inputs of their parameter's type: NAME_momentum (SGD), NAME_mean and
// NAME_square (Adam's m and v), and one step_count, i64[], for all. All of them begin at 0.
// Gradients of other inputs are removed with the calls that only they needed. Fails if no parameter
// has a gradient.
Result<Graph> with_optimizer(const Graph& joint, const Optimizer& optimizer);

// The inputs, other than parameters, that the step updates: the optimiser's state and buffers.
std::vector<NodeId> carried_inputs(const Graph& step);

}  // namespace recut
