#include "engine/workspace/training.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "engine/ir/data_flow.h"
#include "engine/ir/graph_signature.h"
#include "engine/support/hash.h"
#include "engine/support/philox.h"
#include "engine/support/text.h"
#include "engine/workspace/gradients.h"

// A training step is made in three parts: find the loss, differentiate with respect to the
// parameters (gradients.h), append the optimiser's updates (autodiff/optimizer.h). A joint graph
// whose only tangent belongs to the loss is used as it is.

namespace recut {
namespace {

bool is_loss(const TensorType& type) { return is_floating(type.dtype) && type.shape.empty(); }

std::string listed(const Graph& graph, const std::vector<NodeId>& ids) {
  std::string text;
  for (const NodeId id : ids)
    if (id.valid())
      text += fmt::format("{}%{} is {}", text.empty() ? "" : ", ", graph.node_name(id),
                          format(graph.type(id)));
  return text.empty() ? "there is none" : text;
}

}  // namespace

Result<std::size_t> find_loss(const Graph& graph, std::string_view name) {
  std::vector<std::size_t> found;
  for (const std::size_t i : user_results(graph)) {
    const NodeId id = graph.results[i];
    if (id.valid() && is_loss(graph.type(id)) && (name.empty() || graph.node_name(id) == name))
      found.push_back(i);
  }
  if (found.size() == 1 || (!name.empty() && !found.empty())) return found.front();
  return error(fmt::format(
      "training needs one result{} that is a loss, a real number without dimensions{}; of the "
      "results {}",
      name.empty() ? "" : " " + quote(name), found.empty() ? "" : ", or the name of one of them",
      listed(graph, graph.results)));
}

namespace {

std::vector<NodeId> tangents_of(const Graph& graph) {
  std::vector<NodeId> tangents;
  for (const NodeId id : graph.inputs())
    if (graph.input_kind(id) == InputKind::tangent) tangents.push_back(id);
  return tangents;
}

Result<std::size_t> loss_of_joint(const Graph& joint) {
  const std::vector<NodeId> tangents = tangents_of(joint);
  if (tangents.empty()) return find_loss(joint, {});
  if (tangents.size() > 1 || !is_loss(joint.type(tangents.front())))
    return error(fmt::format(
        "training needs one tangent, that of a loss, a real number without dimensions; of the "
        "tangents {}",
        listed(joint, tangents)));
  const auto extracted = extract_forward_graph(joint);
  if (!extracted) return extracted.diagnostics();
  return extracted->differentiable.front();
}

// The joint graph of a loss, and the loss's index among the results.
struct LossGradients {
  Graph joint;
  std::size_t loss = 0;
};

Result<LossGradients> gradients_of_loss(const Graph& graph, std::string_view name) {
  if (is_joint(graph)) {
    const auto own = loss_of_joint(graph);
    if (own && (name.empty() || graph.node_name(graph.results[*own]) == name))
      return LossGradients{graph, *own};
    if (name.empty()) return own.diagnostics();
  }
  const auto loss = find_loss(graph, name);
  if (!loss) return loss.diagnostics();
  GradRequest request;
  request.options.differentiable = std::vector{*loss};
  auto gradients = make_gradients(graph, request);
  if (!gradients) return gradients.diagnostics();
  return LossGradients{std::move(gradients->graph), *loss};
}

// The parameter is a scale: a factor of a product, or the weight of a normalisation.
bool is_scale(const Graph& graph, NodeId parameter) {
  const Users users(graph);
  std::vector<NodeId> same{parameter};
  for (std::size_t i = 0; i < same.size(); ++i)
    for (const NodeId user : users.of(same[i])) {
      const Operator& op = graph.op(user);
      if (op.is(kView)) same.push_back(user);
      if (op.op == Op::mul_Tensor && graph[user].operands.size() == 2) return true;
      const auto weight = op.is(kNormalisation) ? op.parameter("weight") : std::nullopt;
      const NodeId* given = weight ? graph[user].arguments[*weight].get<NodeId>() : nullptr;
      if (given != nullptr && *given == same[i]) return true;
    }
  return false;
}

// The number of inputs that sum to one output. Weights have a row for each output, as in torch.nn,
// unless a matrix product takes them untransposed.
std::int64_t fan_in(const Graph& graph, NodeId parameter) {
  const Shape& shape = graph.type(parameter).shape;
  const Users users(graph);
  for (const NodeId user : users.of(parameter)) {
    const Operator& op = graph.op(user);
    const auto right = op.is(kMatrixProduct) ? op.parameter("mat2") : std::nullopt;
    const NodeId* given = right ? graph[user].arguments[*right].get<NodeId>() : nullptr;
    if (given != nullptr && *given == parameter) return shape[shape.size() - 2];
  }
  return element_count(std::span(shape).subspan(1));
}

std::string_view name_of(const Optimizer& optimizer) {
  const Adam* adam = std::get_if<Adam>(&optimizer);
  return adam == nullptr ? "sgd" : adam->decoupled ? "adamw" : "adam";
}

// Links each gradient to its update. Both graphs list their common inputs in the same order.
std::vector<Change> updates(const Graph& joint, const Graph& step, std::string_view rule) {
  std::vector<Change> changes;
  for (std::size_t i = 0; i < joint.gradients.size() && i < step.gradients.size(); ++i) {
    const NodeId gradient = joint.gradients[i], next = step.gradients[i];
    if (!gradient.valid() || !next.valid() || gradient == next) continue;
    changes.push_back({rule, gradient, {next}, {}});
  }
  return changes;
}

}  // namespace

Result<TrainingStep> make_training_step(const Graph& graph, const Optimizer& optimizer,
                                        std::string_view loss) {
  const auto gradients = gradients_of_loss(graph, loss);
  if (!gradients) return gradients.diagnostics();
  const NodeId loss_node = gradients->joint.results[gradients->loss];
  auto step = with_optimizer(gradients->joint, optimizer);
  if (!step) return step.diagnostics();
  const auto at = std::find(step->results.begin(), step->results.end(), loss_node);
  if (at == step->results.end())
    return error(
        fmt::format("the loss %{} is the new value of an input, expected a result of its own",
                    gradients->joint.node_name(loss_node)));
  const auto loss_index = static_cast<std::size_t>(at - step->results.begin());
  return TrainingStep{std::move(*step), loss_index};
}

Pass optimizer_pass(std::shared_ptr<StepPassState> state, Optimizer optimizer, std::string loss) {
  const auto run = [state, optimizer, loss = std::move(loss)](const Graph& joint) {
    auto step = make_training_step(joint, optimizer, loss);
    if (!step) {
      state->faults = step.diagnostics();
      return PassResult{joint, false, {}};
    }
    state->loss = step->loss;
    std::vector<Change> changes = updates(joint, step->graph, name_of(optimizer));
    return PassResult{std::move(step->graph), true, std::move(changes)};
  };
  return {kOptimizerPass, kOptimizerPassProse, run, false};
}

std::optional<Optimizer> find_optimizer(std::string_view name) {
  if (name == "sgd") return Sgd();
  if (name == "adam") return Adam();
  if (name != "adamw") return std::nullopt;
  Adam adam;
  adam.weight_decay = 0.01;
  adam.decoupled = true;
  return adam;
}

void set_learning_rate(Optimizer& optimizer, double rate) {
  std::visit([rate](auto& one) { one.learning_rate = rate; }, optimizer);
}

std::string description_of(const Optimizer& optimizer) {
  std::string text(name_of(optimizer));
  if (const Sgd* sgd = std::get_if<Sgd>(&optimizer)) {
    text += fmt::format(", learning rate {}", sgd->learning_rate);
    if (sgd->momentum != 0) text += fmt::format(", momentum {}", sgd->momentum);
    if (sgd->weight_decay != 0) text += fmt::format(", weight decay {}", sgd->weight_decay);
    return text;
  }
  const Adam& adam = std::get<Adam>(optimizer);
  text += fmt::format(", learning rate {}, betas {} and {}", adam.learning_rate, adam.beta1,
                      adam.beta2);
  if (adam.weight_decay != 0) text += fmt::format(", weight decay {}", adam.weight_decay);
  return text;
}

Tensor initial_value(const Graph& step, NodeId parameter, std::uint64_t seed) {
  const TensorType& type = step.type(parameter);
  Tensor tensor = allocate(type, nullptr);
  Reals values(type.shape);
  if (type.rank() < 2) {
    std::fill(values.data.begin(), values.data.end(), is_scale(step, parameter) ? 1.0 : 0.0);
  } else {
    const std::uint64_t draw = hash_text(0, step.node_name(parameter));
    const double bound =
        1 / std::sqrt(static_cast<double>(std::max<std::int64_t>(1, fan_in(step, parameter))));
    for (std::int64_t i = 0; i < values.count(); ++i)
      values[i] =
          bound *
          (2 * random_uniform(random_words(seed, draw, static_cast<std::uint64_t>(i)), 53) - 1);
  }
  pack(values, tensor);
  return tensor;
}

}  // namespace recut
