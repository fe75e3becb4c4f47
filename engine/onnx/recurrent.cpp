// LSTM, unrolled: the graph has no loops.
#include <fmt/core.h>

#include "engine/onnx/lowering.h"

namespace recut::onnx {
namespace {

using Ints = std::vector<std::int64_t>;

constexpr std::int64_t kMaxLstmSteps = 4'096;

// One direction's weights and state.
struct Direction {
  NodeId input_weights, hidden_weights;  // [inputs, 4 hidden], [hidden, 4 hidden]
  NodeId bias;                           // [4 hidden], invalid: none
  NodeId hidden, cell;                   // [batch, hidden]
};

class Lstm {
 public:
  explicit Lstm(Lowering& node) : node_(node) {
    if (node.rank(0) != 3 || node.rank(1) != 3 || node.rank(2) != 3)
      node.refuse("operands of other than three dimensions");
    steps_ = node.type(0).shape[0];
    batch_ = node.type(0).shape[1];
    hidden_ = node.type(2).shape[2];
    if (node.integer("hidden_size", hidden_) != hidden_)
      node.refuse("hidden_size is another than R's");
    if (steps_ < 1 || steps_ > kMaxLstmSteps)
      node.refuse(fmt::format("{} steps, expected 1 to {}", steps_, kMaxLstmSteps));
    if (node.has(4)) node.refuse("sequence_lens; expected sequences of equal length");
    if (node.has(7)) node.refuse("peepholes");
    for (const char* name : {"activations", "clip", "input_forget", "layout"})
      if (node.given(name) &&
          !(std::string_view(name) == "layout" && node.integer("layout", 0) == 0))
        node.refuse(fmt::format("attribute '{}'", name));
  }

  Lowered run() {
    const std::string order = node_.text("direction", "forward");
    std::vector<bool> reversed = {order == "reverse"};
    if (order == "bidirectional")
      reversed = {false, true};
    else if (order != "forward" && order != "reverse")
      node_.refuse(fmt::format("direction '{}'", order));
    if (node_.type(1).shape[0] != static_cast<std::int64_t>(reversed.size()))
      node_.refuse("not one set of weights a direction");
    ArgumentList outputs, hidden, cells;
    for (std::size_t i = 0; i < reversed.size(); ++i) {
      Direction direction = direction_of(static_cast<std::int64_t>(i));
      outputs.emplace_back(run_direction(direction, reversed[i]));
      hidden.emplace_back(direction.hidden);
      cells.emplace_back(direction.cell);
    }
    Lowered results;
    results.push_back(Lowering::one(node_, node_.make(Op::stack, {outputs, 1}))[0]);
    results.push_back(Lowering::one(node_, node_.make(Op::stack, {hidden, 0}))[0]);
    results.push_back(Lowering::one(node_, node_.make(Op::stack, {cells, 0}))[0]);
    results.resize(std::min(results.size(), node_.outputs()));
    return results;
  }

 private:
  NodeId pick(NodeId id, std::int64_t dimension, std::int64_t index) {
    return node_.make(Op::select_int, {id, dimension, index});
  }

  NodeId weights(std::size_t input, std::int64_t direction) {
    const NodeId one = pick(node_.in(input), 0, direction);
    return node_.make(Op::permute, {one, Argument(Ints{1, 0})});
  }

  NodeId initial(std::size_t input, std::int64_t direction) {
    if (node_.has(input)) return pick(node_.in(input), 0, direction);
    return node_.make(Op::full, {Argument(Ints{batch_, hidden_}), 0.0, node_.type(0).dtype});
  }

  Direction direction_of(std::int64_t index) {
    Direction direction;
    direction.input_weights = weights(1, index);
    direction.hidden_weights = weights(2, index);
    if (node_.has(3)) {  // of input and hidden state, one after another
      const NodeId both = pick(node_.in(3), 0, index);
      direction.bias = node_.make(Op::add_Tensor, {columns(both, 0, 4), columns(both, 4, 8)});
    }
    direction.hidden = initial(5, index);
    direction.cell = initial(6, index);
    return direction;
  }

  // Columns of the gates `from` to `to`, each of hidden size.
  NodeId columns(NodeId id, std::int64_t from, std::int64_t to) {
    return node_.make(Op::slice_Tensor, {id, -1, from * hidden_, to * hidden_});
  }

  // ONNX's order of gates: input, output, forget, cell.
  void step(Direction& d, NodeId x) {
    const NodeId from_x = d.bias.valid() ? node_.make(Op::addmm, {d.bias, x, d.input_weights})
                                         : node_.make(Op::mm, {x, d.input_weights});
    const NodeId gates = node_.make(Op::addmm, {from_x, d.hidden, d.hidden_weights});
    const NodeId in = node_.make(Op::sigmoid, {columns(gates, 0, 1)});
    const NodeId out = node_.make(Op::sigmoid, {columns(gates, 1, 2)});
    const NodeId forget = node_.make(Op::sigmoid, {columns(gates, 2, 3)});
    const NodeId fresh = node_.make(Op::tanh, {columns(gates, 3, 4)});
    const NodeId kept = node_.make(Op::mul_Tensor, {forget, d.cell});
    const NodeId added = node_.make(Op::mul_Tensor, {in, fresh});
    d.cell = node_.make(Op::add_Tensor, {kept, added});
    const NodeId shown = node_.make(Op::tanh, {d.cell});
    d.hidden = node_.make(Op::mul_Tensor, {out, shown});
  }

  // The hidden states of all steps, [steps, batch, hidden], in the order of the input.
  NodeId run_direction(Direction& direction, bool reversed) {
    const NodeId x = node_.in(0);
    ArgumentList states(static_cast<std::size_t>(steps_));
    for (std::int64_t i = 0; i < steps_; ++i) {
      const std::int64_t at = reversed ? steps_ - 1 - i : i;
      step(direction, pick(x, 0, at));
      states[static_cast<std::size_t>(at)] = direction.hidden;
    }
    return node_.make(Op::stack, {std::move(states), 0});
  }

  Lowering& node_;
  std::int64_t steps_ = 0, batch_ = 0, hidden_ = 0;
};

Lowered lstm(Lowering& node) { return Lstm(node).run(); }

}  // namespace

std::vector<OperatorLowering> recurrent_lowerings() { return {{"LSTM", lstm}}; }

}  // namespace recut::onnx
