// Fused recurrent cells (LSTM, GRU), forward and backward. The gates arrive as two products, of the
// input and of the hidden state, and the cell adds them. A row holds the gates one after another,
// each as long as the state.
#include "engine/codegen/lower/nest.h"

namespace recut::loop {
namespace {

ScalarExpr sigmoid(const ScalarExpr& x) { return 1.0 / (1.0 + exp(-x)); }

// The element of a gate that belongs to the element `at` of the state.
struct Gates {
  const Nest& nest;
  std::int64_t features;

  Indices position(std::int64_t gate, const Indices& at) const {
    return {at[0], Index(gate * features) + at[1]};
  }
  ScalarExpr of(std::string_view parameter, std::int64_t gate, const Indices& at) const {
    return nest.real(parameter, position(gate, at));
  }
  ScalarExpr with_bias(std::string_view parameter, std::string_view bias, std::int64_t gate,
                       const Indices& at) const {
    const ScalarExpr sum = of(parameter, gate, at);
    return nest.has(bias) ? sum + nest.real(bias, {position(gate, at)[1]}) : sum;
  }
  ScalarExpr from_input(std::int64_t gate, const Indices& at) const {
    return with_bias("input_gates", "input_bias", gate, at);
  }
  ScalarExpr from_hidden(std::int64_t gate, const Indices& at) const {
    return with_bias("hidden_gates", "hidden_bias", gate, at);
  }
};

void write_requested(const Nest& nest, std::size_t output, const Indices& at,
                     const ScalarExpr& value) {
  if (nest.is_requested(output)) nest.lowering.write(nest.output(output), at, value);
}

// The gradient of a bias: gate gradients summed over the rows.
void write_bias_gradient(const Nest& nest, std::size_t output, const Gates& gates,
                         const Shape& state, std::size_t count,
                         const std::function<std::vector<ScalarExpr>(const Indices&)>& gradients) {
  if (!nest.is_requested(output)) return;
  const ReductionSpace space{state, {true, false}, contiguous_strides(state)};
  for_each_ordered_reduction(nest.lowering, space, [&](Reducer& reducer) {
    std::vector<Accumulation> reductions;
    const ScalarExpr zero = nest.lowering.constant(nest.computing(nest.type(output).dtype), 0);
    for (std::size_t k = 0; k < count; ++k)
      reductions.push_back({"sum", Combine::add, zero,
                            [k, &gradients](const Indices& at) { return gradients(at)[k]; }});
    const std::vector<ScalarExpr> sums = reducer.reduce(std::move(reductions));
    for (std::size_t k = 0; k < count; ++k) {
      const Indices gate = gates.position(static_cast<std::int64_t>(k), reducer.at());
      nest.lowering.write(nest.output(output), {gate[1]}, sums[k]);
    }
  });
}

// LSTM: gates in the order input, forget, cell, output
// ----------------------------------------------------

void lstm_cell(const Nest& nest) {
  const Shape& state = nest.shape_of("cx");
  const Gates gates{nest, state[1]};
  nest.lowering.for_each(state, contiguous_strides(state), [&](const Indices& at) {
    std::vector<ScalarExpr> gate;
    for (std::int64_t k = 0; k < 4; ++k) {
      const ScalarExpr sum = gates.from_input(k, at) + gates.from_hidden(k, at);
      gate.push_back(k == 2 ? tanh(sum) : sigmoid(sum));
      write_requested(nest, 2, gates.position(k, at), gate.back());
    }
    const ScalarExpr next = gate[1] * nest.real("cx", at) + gate[0] * gate[2];
    write_requested(nest, 1, at, next);
    write_requested(nest, 0, at, gate[3] * tanh(next));
  });
}

struct CellGradients {
  std::vector<ScalarExpr> gates;
  ScalarExpr state;
};

CellGradients lstm_gradients(const Gates& gates, const Indices& at) {
  const Nest& nest = gates.nest;
  const auto given = [&](std::string_view parameter) {
    return nest.has(parameter) ? nest.real(parameter, at) : nest.real("cx", at).like(0);
  };
  const auto gate = [&](std::int64_t k) { return gates.of("workspace", k, at); };
  const ScalarExpr in = gate(0), forget = gate(1), cell = gate(2), out = gate(3);
  const ScalarExpr squashed = tanh(nest.real("cy", at));
  const ScalarExpr gh = given("grad_hy");
  const ScalarExpr gc = gh * out * (1.0 - squashed * squashed) + given("grad_cy");
  return {{gc * cell * in * (1.0 - in), gc * nest.real("cx", at) * forget * (1.0 - forget),
           gc * in * (1.0 - cell * cell), gh * squashed * out * (1.0 - out)},
          gc * forget};
}

void lstm_cell_backward(const Nest& nest) {
  const Shape& state = nest.shape_of("cx");
  const Gates gates{nest, state[1]};
  nest.lowering.for_each(state, contiguous_strides(state), [&](const Indices& at) {
    const CellGradients g = lstm_gradients(gates, at);
    for (std::int64_t k = 0; k < 4; ++k)
      write_requested(nest, 0, gates.position(k, at), g.gates[static_cast<std::size_t>(k)]);
    write_requested(nest, 1, at, g.state);
  });
  // As in PyTorch: sums of the gate gradients as they were stored.
  write_bias_gradient(nest, 2, gates, state, 4, [&](const Indices& at) {
    if (!nest.is_requested(0)) return lstm_gradients(gates, at).gates;
    std::vector<ScalarExpr> stored_gates;
    for (std::int64_t k = 0; k < 4; ++k)
      stored_gates.push_back(nest.lowering.stored(nest.output(0), gates.position(k, at)));
    return stored_gates;
  });
}

// GRU: gates in the order reset, update, new
// ------------------------------------------

void gru_cell(const Nest& nest) {
  const Shape& state = nest.shape_of("hx");
  const Gates gates{nest, state[1]};
  nest.lowering.for_each(state, contiguous_strides(state), [&](const Indices& at) {
    const ScalarExpr reset = sigmoid(gates.from_input(0, at) + gates.from_hidden(0, at));
    const ScalarExpr update = sigmoid(gates.from_input(1, at) + gates.from_hidden(1, at));
    const ScalarExpr part = gates.from_hidden(2, at);
    const ScalarExpr fresh = tanh(gates.from_input(2, at) + reset * part);
    const ScalarExpr old = nest.real("hx", at);
    write_requested(nest, 0, at, fresh + update * (old - fresh));
    std::int64_t k = 0;
    for (const ScalarExpr& kept : {reset, update, fresh, old, part})
      write_requested(nest, 1, gates.position(k++, at), kept);
  });
}

// Gradients by the gates from the input, or from the hidden state: the latter's new gate was
// multiplied by the reset gate.
enum class Side { input, hidden };

std::vector<ScalarExpr> gru_gradients(const Gates& gates, const Indices& at, Side side) {
  const auto kept = [&](std::int64_t k) { return gates.of("workspace", k, at); };
  const ScalarExpr reset = kept(0), update = kept(1), fresh = kept(2);
  const ScalarExpr grad = gates.nest.real("grad_hy", at);
  const ScalarExpr g_update = grad * (kept(3) - fresh) * (1.0 - update) * update;
  const ScalarExpr g_fresh = grad * (1.0 - update) * (1.0 - fresh * fresh);
  const ScalarExpr g_reset = g_fresh * kept(4) * (1.0 - reset) * reset;
  return {g_reset, g_update, side == Side::input ? g_fresh : g_fresh * reset};
}

void gru_cell_backward(const Nest& nest) {
  const Shape& state = nest.shape_of("grad_hy");
  const Gates gates{nest, state[1]};
  nest.lowering.for_each(state, contiguous_strides(state), [&](const Indices& at) {
    for (const Side side : {Side::input, Side::hidden}) {
      const std::vector<ScalarExpr> g = gru_gradients(gates, at, side);
      for (std::int64_t k = 0; k < 3; ++k)
        write_requested(nest, side == Side::input ? 0 : 1, gates.position(k, at),
                        g[static_cast<std::size_t>(k)]);
    }
    write_requested(nest, 2, at, nest.real("grad_hy", at) * gates.of("workspace", 1, at));
  });
  for (const Side side : {Side::input, Side::hidden})
    write_bias_gradient(nest, side == Side::input ? 3 : 4, gates, state, 3,
                        [&](const Indices& at) { return gru_gradients(gates, at, side); });
}

}  // namespace

void add_recurrent_nests(NestTable& table) {
  table.push_back({Op::_thnn_fused_lstm_cell, lstm_cell});
  table.push_back({Op::_thnn_fused_lstm_cell_backward_impl, lstm_cell_backward});
  table.push_back({Op::_thnn_fused_gru_cell, gru_cell});
  table.push_back({Op::_thnn_fused_gru_cell_backward, gru_cell_backward});
}

}  // namespace recut::loop
