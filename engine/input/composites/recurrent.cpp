// Recurrent networks of a program in training form, unrolled over time: aten::lstm.input,
// gru.input, rnn_tanh.input and rnn_relu.input; and their cells, one step each.
//
//   lstm(x[T, N, I], [h, c], …)  ⇒  one product of the whole sequence with the input weights, and for
//                                   each step a product of the state, gates and a new state
//
// The unrolled form has derivatives, loops and a memory that the planner sees step by step. A fused
// operator would hide the saved gates from the plan. It costs about 15 calls a step, so sequences
// of more than kMaxUnrolledSteps steps in all layers stay one external call. Gates stand in the
// order of PyTorch's weights: input, forget, cell, output (LSTM); reset, update, new (GRU). Packed
// sequences, whose steps have different batches, are other overloads and stay external. Source:
// torch.nn.LSTM, torch.nn.GRU and torch.nn.RNN in PyTorch's documentation.
#include "engine/input/composite_operators.h"

#include <algorithm>
#include <utility>

namespace recut {
namespace {

constexpr std::int64_t kMaxUnrolledSteps = 2048;

enum class Recurrence { lstm, gru, tanh, relu };

// Parameters of one layer and direction. Without biases or a projection, those are invalid.
struct LayerWeights {
  Value input, state, input_bias, state_bias, projection;
};

struct LayerState {
  Value hidden, cell;
};

CallArgument value_or_none(const Value& value) {
  return value.valid() ? CallArgument(value) : CallArgument(None{});
}

class RecurrentNetwork {
 public:
  RecurrentNetwork(Builder& b, const Call& call, Recurrence recurrence)
      : b_(b), call_(call), recurrence_(recurrence) {}

  Expansion run() {
    if (!read()) return Expansion::none();
    Value sequence = b_.value(call_.node("input"));
    if (batch_first_) sequence = b_(Op::transpose_int, {sequence, 0, 1});
    std::vector<Value> hidden, cells;
    for (std::int64_t layer = 0; layer < layers_; ++layer) {
      if (layer > 0 && call_.boolean("train") && call_.real("dropout") > 0)
        sequence = b_(Op::native_dropout, {sequence, call_.real("dropout"), true})[0];
      std::vector<Value> outputs;
      for (std::int64_t direction = 0; direction < directions_; ++direction) {
        LayerState state = initial_state(layer * directions_ + direction);
        outputs.push_back(
            unrolled(sequence, weights_of(layer * directions_ + direction), state, direction == 1));
        hidden.push_back(state.hidden);
        cells.push_back(state.cell);
      }
      sequence = directions_ == 1 ? outputs[0] : b_(Op::cat, {outputs, 2});
    }
    if (batch_first_) sequence = b_(Op::transpose_int, {sequence, 0, 1});
    std::vector<Value> results{sequence, b_(Op::stack, {hidden, 0})};
    if (recurrence_ == Recurrence::lstm) results.push_back(b_(Op::stack, {cells, 0}));
    return results;
  }

  // One step: aten::lstm_cell and its like.
  Expansion run_cell() {
    const auto tensor = [&](std::string_view parameter) {
      return call_.given(parameter) ? b_.value(call_.node(parameter)) : Value();
    };
    const LayerWeights weights{tensor("w_ih"), tensor("w_hh"), tensor("b_ih"), tensor("b_hh"), {}};
    LayerState state;
    if (recurrence_ == Recurrence::lstm) {
      const std::vector<NodeId> both = call_.nodes("hx");
      if (both.size() != 2) return Expansion::none();
      state = {b_.value(both[0]), b_.value(both[1])};
    } else {
      state.hidden = tensor("hx");
    }
    if (tensor("input").rank() != 2 || state.hidden.rank() != 2) return Expansion::none();
    const Value gates =
        b_(Op::linear, {tensor("input"), weights.input, value_or_none(weights.input_bias)});
    const LayerState next = next_state(gates, weights, state);
    if (recurrence_ != Recurrence::lstm) return next.hidden;
    return std::vector<Value>{next.hidden, next.cell};
  }

 private:
  // False where the call isn't one that can be unrolled.
  bool read() {
    const TensorType& input = call_.tensor("input");
    batch_first_ = call_.boolean("batch_first");
    layers_ = call_.integer("num_layers");
    directions_ = call_.boolean("bidirectional") ? 2 : 1;
    parameters_ = call_.nodes("params");
    const auto count = static_cast<std::int64_t>(parameters_.size());
    if (input.rank() != 3 || layers_ < 1 || layers_ > count || count % (layers_ * directions_) != 0)
      return false;
    each_ = count / (layers_ * directions_);
    const std::int64_t plain = call_.boolean("has_biases") ? 4 : 2;
    if (each_ != plain && (recurrence_ != Recurrence::lstm || each_ != plain + 1)) return false;
    const std::int64_t steps = input.shape[batch_first_ ? 1 : 0];
    if (steps < 1 || steps > kMaxUnrolledSteps / (layers_ * directions_)) return false;
    states_ =
        recurrence_ == Recurrence::lstm ? call_.nodes("hx") : std::vector<NodeId>{call_.node("hx")};
    return states_.size() == (recurrence_ == Recurrence::lstm ? 2U : 1U);
  }

  LayerWeights weights_of(std::int64_t index) {
    const auto at = [&](std::int64_t offset) {
      return b_.value(parameters_[static_cast<std::size_t>(index * each_ + offset)]);
    };
    LayerWeights weights{at(0), at(1), {}, {}, {}};
    if (call_.boolean("has_biases")) {
      weights.input_bias = at(2);
      weights.state_bias = at(3);
    }
    if (each_ % 2 == 1) weights.projection = at(each_ - 1);
    return weights;
  }

  LayerState initial_state(std::int64_t index) {
    const auto of = [&](NodeId all) { return b_(Op::select_int, {b_.value(all), 0, index}); };
    return {of(states_[0]), states_.size() > 1 ? of(states_[1]) : Value()};
  }

  // The outputs of all steps, [steps, batch, features]; `state` becomes the last one.
  Value unrolled(const Value& sequence, const LayerWeights& weights, LayerState& state,
                 bool backwards) {
    const Value gates =
        b_(Op::linear, {sequence, weights.input, value_or_none(weights.input_bias)});
    const std::int64_t steps = sequence.size(0);
    std::vector<Value> outputs(static_cast<std::size_t>(steps));
    for (std::int64_t i = 0; i < steps; ++i) {
      const std::int64_t t = backwards ? steps - 1 - i : i;
      state = next_state(b_(Op::select_int, {gates, 0, t}), weights, state);
      outputs[static_cast<std::size_t>(t)] = state.hidden;
    }
    return b_(Op::stack, {outputs, 0});
  }

  // `gates` are the input's part of them.
  LayerState next_state(const Value& gates, const LayerWeights& weights, const LayerState& state) {
    const Value own =
        b_(Op::linear, {state.hidden, weights.state, value_or_none(weights.state_bias)});
    if (recurrence_ == Recurrence::tanh) return {b_(Op::tanh, {gates + own}), {}};
    if (recurrence_ == Recurrence::relu) return {b_.relu(gates + own), {}};
    const std::int64_t size = weights.state.size(0) / (recurrence_ == Recurrence::gru ? 3 : 4);
    const auto gate = [&](const Value& all, std::int64_t index) {
      return b_(Op::slice_Tensor, {all, 1, index * size, (index + 1) * size});
    };
    const auto sigmoid = [&](const Value& x) { return b_(Op::sigmoid, {x}); };
    if (recurrence_ == Recurrence::gru) {
      const Value reset = sigmoid(gate(gates, 0) + gate(own, 0));
      const Value update = sigmoid(gate(gates, 1) + gate(own, 1));
      const Value fresh = b_(Op::tanh, {gate(gates, 2) + reset * gate(own, 2)});
      return {(state.hidden - fresh) * update + fresh, {}};
    }
    const Value sum = gates + own;
    const Value cell =
        sigmoid(gate(sum, 1)) * state.cell + sigmoid(gate(sum, 0)) * b_(Op::tanh, {gate(sum, 2)});
    const Value hidden = sigmoid(gate(sum, 3)) * b_(Op::tanh, {cell});
    if (!weights.projection.valid()) return {hidden, cell};
    return {b_(Op::linear, {hidden, weights.projection, None{}}), cell};
  }

  Builder& b_;
  const Call& call_;
  const Recurrence recurrence_;
  bool batch_first_ = false;
  std::int64_t layers_ = 0, directions_ = 1, each_ = 0;  // `each_`: parameters of a layer
  std::vector<NodeId> parameters_, states_;
};

Expansion lstm(Builder& b, const Call& call) {
  return RecurrentNetwork(b, call, Recurrence::lstm).run();
}
Expansion gru(Builder& b, const Call& call) {
  return RecurrentNetwork(b, call, Recurrence::gru).run();
}
Expansion rnn_tanh(Builder& b, const Call& call) {
  return RecurrentNetwork(b, call, Recurrence::tanh).run();
}
Expansion rnn_relu(Builder& b, const Call& call) {
  return RecurrentNetwork(b, call, Recurrence::relu).run();
}

template <Recurrence recurrence>
Expansion cell(Builder& b, const Call& call) {
  return RecurrentNetwork(b, call, recurrence).run_cell();
}

}  // namespace

std::vector<CompositeRow> recurrent_composites() {
  return {
      {"aten::lstm_cell(Tensor input, Tensor[] hx, Tensor w_ih, Tensor w_hh, Tensor? b_ih=None, "
       "Tensor? b_hh=None) -> (Tensor, Tensor)",
       cell<Recurrence::lstm>},
      {"aten::gru_cell(Tensor input, Tensor hx, Tensor w_ih, Tensor w_hh, Tensor? b_ih=None, "
       "Tensor? b_hh=None) -> Tensor",
       cell<Recurrence::gru>},
      {"aten::rnn_tanh_cell(Tensor input, Tensor hx, Tensor w_ih, Tensor w_hh, Tensor? b_ih=None, "
       "Tensor? b_hh=None) -> Tensor",
       cell<Recurrence::tanh>},
      {"aten::rnn_relu_cell(Tensor input, Tensor hx, Tensor w_ih, Tensor w_hh, Tensor? b_ih=None, "
       "Tensor? b_hh=None) -> Tensor",
       cell<Recurrence::relu>},
      {"aten::lstm.input(Tensor input, Tensor[] hx, Tensor[] params, bool has_biases, int "
       "num_layers, "
       "float dropout, bool train, bool bidirectional, bool batch_first) -> (Tensor, Tensor, "
       "Tensor)",
       lstm},
      {"aten::gru.input(Tensor input, Tensor hx, Tensor[] params, bool has_biases, int num_layers, "
       "float dropout, bool train, bool bidirectional, bool batch_first) -> (Tensor, Tensor)",
       gru},
      {"aten::rnn_tanh.input(Tensor input, Tensor hx, Tensor[] params, bool has_biases, int "
       "num_layers, float dropout, bool train, bool bidirectional, bool batch_first) -> (Tensor, "
       "Tensor)",
       rnn_tanh},
      {"aten::rnn_relu.input(Tensor input, Tensor hx, Tensor[] params, bool has_biases, int "
       "num_layers, float dropout, bool train, bool bidirectional, bool batch_first) -> (Tensor, "
       "Tensor)",
       rnn_relu},
  };
}

}  // namespace recut
