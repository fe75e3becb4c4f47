// Fused cells of recurrent networks.
#include "engine/autodiff/rules/formula.h"

namespace recut::autodiff {
namespace {

// Gates of input and state are added, so that they have the same gradient; biases its sum by batch.
template <std::int64_t part>
Value lstm(Site& s) {
  const Given hidden = s.has_grad(0) ? Given(s.grad(0)) : Given(None{});
  const Given cell = s.has_grad(1) ? Given(s.grad(1)) : Given(None{});
  return s.b(Op::_thnn_fused_lstm_cell_backward_impl,
             {hidden, cell, s["cx"], s.out(1), s.out(2), s.is_given("input_bias")})[part];
}

template <std::int64_t part>
Value gru(Site& s) {
  return s.b(Op::_thnn_fused_gru_cell_backward,
             {s.grad(), s.out(1), s.is_given("input_bias")})[part];
}

Value gates_of(Site& s, const char* gates, const char* bias) { return plus(s[gates], s[bias]); }

// Gate k of n side by side.
Value gate(const Value& gates, std::int64_t k, std::int64_t n) {
  const std::int64_t width = gates.size(-1) / n;
  return (*gates.builder())(Op::slice_Tensor, {gates, -1, k * width, (k + 1) * width});
}

// Input, forget, cell and output gate.
std::vector<Value> lstm_written_out(Site& s) {
  const Value all =
      gates_of(s, "input_gates", "input_bias") + gates_of(s, "hidden_gates", "hidden_bias");
  const auto open = [&](std::int64_t k) { return unary(Op::sigmoid, gate(all, k, 4)); };
  const Value cell = open(1) * s["cx"] + open(0) * unary(Op::tanh, gate(all, 2, 4));
  return {open(3) * unary(Op::tanh, cell), cell};
}

// Reset, update and new gate; the reset gate stands before the state's part of the new one.
std::vector<Value> gru_written_out(Site& s) {
  const Value in = gates_of(s, "input_gates", "input_bias");
  const Value state = gates_of(s, "hidden_gates", "hidden_bias");
  const auto open = [&](std::int64_t k) {
    return unary(Op::sigmoid, gate(in, k, 3) + gate(state, k, 3));
  };
  const Value fresh = unary(Op::tanh, gate(in, 2, 3) + open(0) * gate(state, 2, 3));
  return {fresh + open(1) * (s["hx"] - fresh)};
}

}  // namespace

Rows recurrent_rows() {
  return {
      formulas_and_forward({Op::_thnn_fused_lstm_cell},
                           {{"input_gates", lstm<0>},
                            {"hidden_gates", lstm<0>},
                            {"cx", lstm<1>},
                            {"input_bias", lstm<2>},
                            {"hidden_bias", lstm<2>}},
                           lstm_written_out, 2),
      formulas_and_forward({Op::_thnn_fused_gru_cell},
                           {{"input_gates", gru<0>},
                            {"hidden_gates", gru<1>},
                            {"hx", gru<2>},
                            {"input_bias", gru<3>},
                            {"hidden_bias", gru<4>}},
                           gru_written_out, 1),
  };
}

}  // namespace recut::autodiff
