#include "engine/autodiff/optimizer.h"

#include <map>
#include <utility>

#include "engine/autodiff/requires_grad.h"
#include "engine/ir/builder.h"
#include "engine/ir/graph_signature.h"
#include "engine/ir/rebuild.h"

namespace recut {
namespace {

constexpr const char* kModule = "optimizer";

// The value of a parameter, or of optimiser state, after the step.
struct Update {
  NodeId input;
  Value next;
};

// Appends the update formulas of Sgd and Adam (optimizer.h), one call for each operation.
class Writer {
 public:
  // `count` is the number of earlier steps; invalid if the optimiser has no step count.
  Writer(Builder& builder, const Value& count) : b_(builder) {
    if (!count.valid()) return;
    next_count_ = b_.as("step_count_next")("add.Tensor", {count, 1});
    updates_.push_back({count.id(), next_count_});
  }

  void write(const Sgd& sgd, const std::string& name, Value w, Value gradient,
             const std::vector<Value>& state) {
    Value moved = decayed(gradient, w, sgd.weight_decay);
    if (sgd.momentum != 0) {
      moved = b_.as(name + "_momentum_next")("add.Tensor", {state[0] * sgd.momentum, moved});
      updates_.push_back({state[0].id(), moved});
    }
    move(name, w, w, moved * sgd.learning_rate);
  }

  void write(const Adam& adam, const std::string& name, Value w, Value gradient,
             const std::vector<Value>& state) {
    const Value g = adam.decoupled ? gradient : decayed(gradient, w, adam.weight_decay);
    const Value mean = b_.as(name + "_mean_next")("lerp.Scalar", {state[0], g, 1 - adam.beta1});
    const Value square = b_.as(name + "_square_next")("addcmul", {state[1] * adam.beta2, g, g},
                                                      {{"value", 1 - adam.beta2}});
    updates_.push_back({state[0].id(), mean});
    updates_.push_back({state[1].id(), square});
    if (!rate_.valid()) correct(adam);
    const Value root = b_("sqrt", {square}) / root_correction_ + adam.epsilon;
    const Value from = adam.decoupled && adam.weight_decay != 0
                           ? w * (1 - adam.learning_rate * adam.weight_decay)
                           : w;
    move(name, w, from, mean / root * rate_);
  }

  const std::vector<Update>& updates() const { return updates_; }

 private:
  static Value decayed(const Value& gradient, const Value& w, double decay) {
    return decay == 0 ? gradient : gradient + w * decay;
  }

  void move(const std::string& name, const Value& w, const Value& from, const Value& by) {
    const Value moved = b_.as(name + "_next")("sub.Tensor", {from, by});
    updates_.push_back({w.id(), b_.convert(moved, w.dtype())});
  }

  // The bias corrections depend on the step count alone: once for all parameters.
  void correct(const Adam& adam) {
    const Value t = b_.convert(next_count_, DType::f64);
    const auto correction = [&](double beta) { return 1 - b_("pow.Scalar", {beta, t}); };
    rate_ = adam.learning_rate / correction(adam.beta1);
    root_correction_ = b_("sqrt", {correction(adam.beta2)});
  }

  Builder& b_;
  Value next_count_, rate_, root_correction_;
  std::vector<Update> updates_;
};

class StepBuilder {
 public:
  StepBuilder(const Graph& joint, const Optimizer& optimizer)
      : joint_(joint), optimizer_(optimizer), step_(joint.empty_like()) {}

  Result<Graph> build() && {
    find_trained();
    if (trained_.empty()) return error("there is nothing to train: no parameter has a gradient");
    carry_graph();
    Builder builder(step_);
    const auto scope = builder.scope({kModule, -1});
    Writer writer(builder, builder.value(count_));
    for (const Trained& one : trained_) {
      std::vector<Value> state;
      for (const NodeId id : one.state) state.push_back(builder.value(id));
      std::visit(
          [&](const auto& optimizer) {
            writer.write(optimizer, joint_.node_name(one.parameter), builder.value(one.parameter),
                         builder.value(one.gradient), state);
          },
          optimizer_);
    }
    if (builder.diagnostic()) return *builder.diagnostic();
    for (const Update& update : writer.updates()) next_[update.input] = update.next.id();
    set_outputs();
    return without_dead_nodes(step_);
  }

 private:
  struct Trained {
    NodeId parameter, gradient;
    std::vector<NodeId> state;
  };

  void find_trained() {
    std::size_t index = 0;
    for (const NodeId id : joint_.inputs()) {
      if (joint_.input_kind(id) == InputKind::tangent) continue;
      const NodeId gradient = index < joint_.gradients.size() ? joint_.gradients[index] : NodeId();
      ++index;
      if (gradient.valid() && joint_.input_kind(id) == InputKind::parameter)
        trained_.push_back({id, gradient, {}});
    }
  }

  // State inputs follow the graph's own inputs.
  void carry_graph() {
    Graph names = joint_;
    const auto add = [&](const std::string& preferred, TensorType type) {
      return step_.add_input(InputKind::input, std::move(type), {names.unused_name(preferred)});
    };
    for (const NodeId id : joint_.inputs()) step_.carry(joint_, id);
    const bool adam = std::holds_alternative<Adam>(optimizer_);
    for (Trained& one : trained_) {
      const std::string& name = joint_.node_name(one.parameter);
      if (adam)
        for (const char* state : {"_mean", "_square"})
          one.state.push_back(add(name + state, joint_.type(one.parameter)));
      else if (std::get<Sgd>(optimizer_).momentum != 0)
        one.state.push_back(add(name + "_momentum", joint_.type(one.parameter)));
    }
    if (adam) count_ = add("step_count", make_type(DType::i64, {}));
    for (const NodeId id : joint_.order())
      if (!joint_.is_input(id)) step_.carry(joint_, id);
    for (const auto& [alias, id] : joint_.aliases()) step_.add_alias(alias, id);
  }

  void set_outputs() {
    std::vector<std::size_t> kept;
    for (std::size_t i = 0; i < joint_.results.size(); ++i) {
      const NodeId id = joint_.results[i], buffer = autodiff::updated_buffer(joint_, i);
      if (buffer.valid() && joint_.is_input(buffer) && next_.emplace(buffer, id).second) continue;
      kept.push_back(i);
      step_.results.push_back(id);
    }
    if (joint_.signature != nullptr) set_signature(step_, with_results(*joint_.signature, kept));
    for (const NodeId id : step_.inputs())
      if (step_.input_kind(id) != InputKind::tangent) step_.gradients.push_back(next_[id]);
  }

  const Graph& joint_;
  const Optimizer& optimizer_;
  Graph step_;
  std::vector<Trained> trained_;
  NodeId count_;
  std::map<NodeId, NodeId> next_;  // by input
};

}  // namespace

Result<Graph> with_optimizer(const Graph& joint, const Optimizer& optimizer) {
  return StepBuilder(joint, optimizer).build();
}

std::vector<NodeId> carried_inputs(const Graph& step) {
  std::vector<NodeId> carried;
  std::size_t index = 0;
  for (const NodeId id : step.inputs()) {
    if (step.input_kind(id) == InputKind::tangent) continue;
    if (step.gradients[index++].valid() && step.input_kind(id) != InputKind::parameter)
      carried.push_back(id);
  }
  return carried;
}

}  // namespace recut
