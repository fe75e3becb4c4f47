// RNN, GRU and LSTM, unrolled: the graph has no loops. Each cell computes one step of one direction
// from its state; the driver below runs it over the steps of both directions. A sequence that is
// shorter than the others keeps its state after its last step (before its first one where it is run
// backwards), and its outputs there are 0.
// Source: https://onnx.ai/onnx/operators (RNN, GRU, LSTM).
#include <fmt/core.h>

#include <algorithm>
#include <array>

#include "engine/onnx/lowering.h"

namespace recut::onnx {
namespace {

using Ints = std::vector<std::int64_t>;

constexpr std::int64_t kMaxRecurrentSteps = 4'096;

// Activation functions without parameters, or with ONNX's defaults.
using Activation = NodeId (*)(Lowering&, NodeId);

template <Op op>
NodeId activated(Lowering& node, NodeId id) {
  return node.make(op, {id});
}

NodeId hard_sigmoid_of(Lowering& node, NodeId id) {
  const NodeId scaled = node.make(Op::mul_Tensor, {id, double{0.2F}});
  return node.make(Op::clamp, {node.make(Op::add_Tensor, {scaled, 0.5}), 0, 1});
}

NodeId softsign_of(Lowering& node, NodeId id) {
  const NodeId below = node.make(Op::add_Tensor, {node.make(Op::abs, {id}), 1});
  return node.make(Op::div_Tensor, {id, below});
}

// Names differ in case between exporters.
Activation find_activation(std::string name) {
  constexpr std::pair<std::string_view, Activation> kActivations[] = {
      {"sigmoid", activated<Op::sigmoid>}, {"tanh", activated<Op::tanh>},
      {"relu", activated<Op::relu>},       {"softplus", activated<Op::softplus>},
      {"hardsigmoid", hard_sigmoid_of},    {"softsign", softsign_of},
  };
  for (char& c : name) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  for (const auto& [known, function] : kActivations)
    if (known == name) return function;
  return nullptr;
}

// One direction's weights, state and functions.
struct Direction {
  NodeId input_weights, hidden_weights;   // [inputs, gates hidden], [hidden, gates hidden]
  NodeId input_bias, hidden_bias;         // [gates hidden], invalid: none
  NodeId peepholes;                       // [3 hidden], invalid: none
  NodeId hidden, cell;                    // [batch, hidden]; cell is invalid where there is none
  std::array<Activation, 3> activations;  // f, g, h
};

// Arithmetic on states and gates.
class Cell {
 public:
  Cell(Lowering& node, std::int64_t hidden) : node_(node), hidden_(hidden) {}

  NodeId add(NodeId a, NodeId b) { return node_.make(Op::add_Tensor, {a, b}); }
  NodeId multiply(NodeId a, NodeId b) { return node_.make(Op::mul_Tensor, {a, b}); }
  NodeId rest(NodeId a) { return node_.make(Op::rsub_Scalar, {a, 1}); }  // 1 - a
  NodeId apply(Activation function, NodeId id) { return function(node_, id); }

  // Columns of the gates `from` to `to`, each of hidden size.
  NodeId gates(NodeId id, std::int64_t from, std::int64_t to) {
    return node_.make(Op::slice_Tensor, {id, -1, from * hidden_, to * hidden_});
  }

  // x times `weights`, and a bias where there is one.
  NodeId product(NodeId x, NodeId weights, NodeId bias) {
    return bias.valid() ? node_.make(Op::addmm, {bias, x, weights})
                        : node_.make(Op::mm, {x, weights});
  }

  // Of all gates: from the step's input, both biases and the hidden state.
  NodeId whole(const Direction& d, NodeId x) {
    const NodeId bias = d.input_bias.valid() ? add(d.input_bias, d.hidden_bias) : NodeId();
    return node_.make(Op::addmm, {product(x, d.input_weights, bias), d.hidden, d.hidden_weights});
  }

 private:
  Lowering& node_;
  std::int64_t hidden_;
};

void rnn_step(Lowering&, Cell& cell, Direction& d, NodeId x) {
  d.hidden = cell.apply(d.activations[0], cell.whole(d, x));
}

// ONNX's order of gates: update, reset, hidden.
void gru_step(Lowering& node, Cell& cell, Direction& d, NodeId x) {
  const bool reset_after = node.integer("linear_before_reset", 0) != 0;
  const NodeId from_x = cell.product(x, d.input_weights, d.input_bias);
  const auto from_hidden = [&](NodeId state, std::int64_t from, std::int64_t to) {
    const NodeId bias = d.hidden_bias.valid() ? cell.gates(d.hidden_bias, from, to) : NodeId();
    return cell.product(state, cell.gates(d.hidden_weights, from, to), bias);
  };
  const NodeId both =
      cell.apply(d.activations[0], cell.add(cell.gates(from_x, 0, 2), from_hidden(d.hidden, 0, 2)));
  const NodeId update = cell.gates(both, 0, 1), reset = cell.gates(both, 1, 2);
  const NodeId kept = reset_after ? cell.multiply(reset, from_hidden(d.hidden, 2, 3))
                                  : from_hidden(cell.multiply(reset, d.hidden), 2, 3);
  const NodeId fresh = cell.apply(d.activations[1], cell.add(cell.gates(from_x, 2, 3), kept));
  d.hidden = cell.add(cell.multiply(cell.rest(update), fresh), cell.multiply(update, d.hidden));
}

// ONNX's order of gates: input, output, forget, cell; of peepholes: input, output, forget.
void lstm_step(Lowering& node, Cell& cell, Direction& d, NodeId x) {
  const NodeId all = cell.whole(d, x);
  const auto gate = [&](std::int64_t index, NodeId state) {
    NodeId id = cell.gates(all, index, index + 1);
    if (d.peepholes.valid())
      id = cell.add(id, cell.multiply(cell.gates(d.peepholes, index, index + 1), state));
    return cell.apply(d.activations[0], id);
  };
  const NodeId in = gate(0, d.cell);
  const NodeId forget = node.integer("input_forget", 0) != 0 ? cell.rest(in) : gate(2, d.cell);
  const NodeId fresh = cell.apply(d.activations[1], cell.gates(all, 3, 4));
  d.cell = cell.add(cell.multiply(forget, d.cell), cell.multiply(in, fresh));
  d.hidden = cell.multiply(gate(1, d.cell), cell.apply(d.activations[2], d.cell));
}

// The part of an operator beside the driver.
struct Recurrence {
  std::int64_t gates;
  bool cell;  // has a second state, and peepholes
  std::vector<const char*> activations;
  void (*step)(Lowering&, Cell&, Direction&, NodeId x);
};

class Recurrent {
 public:
  Recurrent(Lowering& node, const Recurrence& kind)
      : node_(node), kind_(kind), batch_first_(node.integer("layout", 0) != 0) {
    if (node.rank(0) != 3 || node.rank(1) != 3 || node.rank(2) != 3)
      node.refuse(fmt::format("operands {}, {} and {}, expected three dimensions each",
                              format(node.type(0)), format(node.type(1)), format(node.type(2))));
    steps_ = node.type(0).shape[batch_first_ ? 1 : 0];
    batch_ = node.type(0).shape[batch_first_ ? 0 : 1];
    hidden_ = node.type(2).shape[2];
    if (node.integer("hidden_size", hidden_) != hidden_)
      node.refuse("hidden_size is another than R's");
    if (steps_ < 1 || steps_ > kMaxRecurrentSteps)
      node.refuse(fmt::format("{} steps, expected 1 to {}", steps_, kMaxRecurrentSteps));
    for (const char* name : {"clip", "activation_alpha", "activation_beta"})
      if (node.given(name)) node.refuse(fmt::format("attribute '{}'", name));
  }

  Lowered run() {
    const std::vector<bool> reversed = directions();
    mark_active_steps();
    ArgumentList outputs, hidden, cells;
    for (std::size_t i = 0; i < reversed.size(); ++i) {
      Direction direction = direction_of(i);
      outputs.emplace_back(run_direction(direction, reversed[i]));
      hidden.emplace_back(direction.hidden);
      if (kind_.cell) cells.emplace_back(direction.cell);
    }
    Lowered results;
    const auto show = [&](ArgumentList parts, std::int64_t axis) {
      results.push_back(Lowering::one(node_, node_.make(Op::stack, {std::move(parts), axis}))[0]);
    };
    show(std::move(outputs), batch_first_ ? 2 : 1);
    show(std::move(hidden), batch_first_ ? 1 : 0);
    if (kind_.cell) show(std::move(cells), batch_first_ ? 1 : 0);
    results.resize(std::min(results.size(), node_.outputs()));
    return results;
  }

 private:
  std::vector<bool> directions() const {
    const std::string order = node_.text("direction", "forward");
    std::vector<bool> reversed = {order == "reverse"};
    if (order == "bidirectional")
      reversed = {false, true};
    else if (order != "forward" && order != "reverse")
      node_.refuse(fmt::format("direction '{}'", order));
    if (node_.type(1).shape[0] != static_cast<std::int64_t>(reversed.size()))
      node_.refuse("not one set of weights a direction");
    return reversed;
  }

  // [steps, batch, 1] where sequences may differ in length.
  void mark_active_steps() {
    if (!node_.has(4)) return;
    if (node_.value(4).known) {
      const Ints lengths = node_.integers(4, "sequence_lens");
      if (std::any_of(lengths.begin(), lengths.end(), [&](auto n) { return n < 1 || n > steps_; }))
        node_.refuse(fmt::format("a length beyond 1 to {}", steps_));
      if (std::all_of(lengths.begin(), lengths.end(), [&](auto n) { return n == steps_; })) return;
    }
    const NodeId lengths = node_.reshape(node_.convert(node_.in(4), DType::i64), {1, batch_, 1});
    const NodeId steps =
        node_.reshape(node_.make(Op::arange, {steps_, DType::i64}), {steps_, 1, 1});
    active_ = node_.make(Op::lt_Tensor, {steps, lengths});
  }

  NodeId pick(NodeId id, std::int64_t dimension, std::int64_t index) {
    return node_.make(Op::select_int, {id, dimension, index});
  }

  NodeId weights(std::size_t input, std::int64_t direction) {
    const NodeId one = pick(node_.in(input), 0, direction);
    return node_.make(Op::permute, {one, Argument(Ints{1, 0})});
  }

  NodeId initial(std::size_t input, std::int64_t direction) {
    if (node_.has(input)) return pick(node_.in(input), batch_first_ ? 1 : 0, direction);
    return node_.make(Op::full, {Argument(Ints{batch_, hidden_}), 0.0, node_.type(0).dtype});
  }

  Direction direction_of(std::size_t index) {
    const auto i = static_cast<std::int64_t>(index);
    Direction direction;
    direction.input_weights = weights(1, i);
    direction.hidden_weights = weights(2, i);
    if (node_.has(3)) {  // of input and hidden state, one after another
      const NodeId both = pick(node_.in(3), 0, i);
      Cell cell(node_, hidden_);
      direction.input_bias = cell.gates(both, 0, kind_.gates);
      direction.hidden_bias = cell.gates(both, kind_.gates, 2 * kind_.gates);
    }
    direction.hidden = initial(5, i);
    if (kind_.cell) direction.cell = initial(6, i);
    if (kind_.cell && node_.has(7)) direction.peepholes = pick(node_.in(7), 0, i);
    const std::size_t count = kind_.activations.size();
    const std::vector<std::string> given = node_.texts("activations");
    for (std::size_t a = 0; a < count; ++a) {
      const std::size_t at = index * count + a;
      if (!given.empty() && at >= given.size())
        node_.refuse(fmt::format("{} activations, expected {} a direction", given.size(), count));
      const std::string name = given.empty() ? kind_.activations[a] : given[at];
      direction.activations[a] = find_activation(name);
      if (direction.activations[a] == nullptr) node_.refuse(fmt::format("activation '{}'", name));
    }
    return direction;
  }

  // Where a sequence is over: its state before the step.
  void keep_ended(Direction& direction, const Direction& before, NodeId active) {
    direction.hidden = node_.make(Op::where_self, {active, direction.hidden, before.hidden});
    if (kind_.cell)
      direction.cell = node_.make(Op::where_self, {active, direction.cell, before.cell});
  }

  // The hidden states of all steps in the order of the input, [steps, batch, hidden] or
  // [batch, steps, hidden].
  NodeId run_direction(Direction& direction, bool reversed) {
    const NodeId x = node_.in(0);
    const std::int64_t along = batch_first_ ? 1 : 0;
    Cell cell(node_, hidden_);
    ArgumentList states(static_cast<std::size_t>(steps_));
    for (std::int64_t i = 0; i < steps_; ++i) {
      const std::int64_t at = reversed ? steps_ - 1 - i : i;
      const Direction before = direction;
      kind_.step(node_, cell, direction, pick(x, along, at));
      NodeId shown = direction.hidden;
      if (active_.valid()) {
        const NodeId active = pick(active_, 0, at);
        const NodeId none = node_.make(Op::full, {Argument(Ints{}), 0.0, node_.type(shown).dtype});
        shown = node_.make(Op::where_self, {active, shown, none});
        keep_ended(direction, before, active);
      }
      states[static_cast<std::size_t>(at)] = shown;
    }
    return node_.make(Op::stack, {std::move(states), along});
  }

  Lowering& node_;
  const Recurrence& kind_;
  const bool batch_first_;
  std::int64_t steps_ = 0, batch_ = 0, hidden_ = 0;
  NodeId active_;
};

Lowered rnn(Lowering& node) { return Recurrent(node, {1, false, {"Tanh"}, rnn_step}).run(); }
Lowered gru(Lowering& node) {
  return Recurrent(node, {3, false, {"Sigmoid", "Tanh"}, gru_step}).run();
}
Lowered lstm(Lowering& node) {
  return Recurrent(node, {4, true, {"Sigmoid", "Tanh", "Tanh"}, lstm_step}).run();
}

}  // namespace

std::vector<OperatorLowering> recurrent_lowerings() {
  return {{"RNN", rnn}, {"GRU", gru}, {"LSTM", lstm}};
}

}  // namespace recut::onnx
