// Fused cells of recurrent networks.
#include "engine/autodiff/rules/formula.h"

namespace recut::autodiff {
namespace {

// Parts k of n side by side.
Value part_of(const Value& whole, std::int64_t k, std::int64_t n) {
  const std::int64_t width = whole.size(-1) / n;
  return (*whole.builder())(Op::slice_Tensor, {whole, -1, k * width, (k + 1) * width});
}
Value joined(Site& s, const std::vector<Value>& parts) { return s.b(Op::cat, {parts, -1}); }

Value gates_of(Site& s, const char* gates, const char* bias) { return plus(s[gates], s[bias]); }

// The slope of a sigmoid and of a tanh, from what they gave.
Value sigmoid_slope(const Value& y) { return y * (1 - y); }
Value tanh_slope(const Value& y) { return 1 - squared(y); }

// Input, forget, cell and output gate; the workspace holds all four.
std::vector<Value> lstm_written_out(Site& s) {
  const Value all =
      total({gates_of(s, "input_gates", "input_bias"), gates_of(s, "hidden_gates", "hidden_bias")});
  const auto open = [&](std::int64_t k) { return unary(Op::sigmoid, part_of(all, k, 4)); };
  const Value in = open(0), forget = open(1), out = open(3);
  const Value fresh = unary(Op::tanh, part_of(all, 2, 4));
  const Value cell = total({forget * s["cx"], in * fresh});
  return {out * unary(Op::tanh, cell), cell, joined(s, {in, forget, fresh, out})};
}

std::vector<Value> lstm_backward(Site& s) {
  const Value cx = s["cx"], workspace = s["workspace"], squashed = unary(Op::tanh, s["cy"]);
  const auto given = [&](const char* name) {
    return s.is_given(name) ? s[name] : zeros(s.b, cx.type());
  };
  const Value in = part_of(workspace, 0, 4), forget = part_of(workspace, 1, 4);
  const Value fresh = part_of(workspace, 2, 4), out = part_of(workspace, 3, 4);
  const Value hidden = given("grad_hy");
  const Value cell = total({product({hidden, out, tanh_slope(squashed)}), given("grad_cy")});
  const Value gates = joined(
      s, {product({cell, fresh, sigmoid_slope(in)}), product({cell, cx, sigmoid_slope(forget)}),
          product({cell, in, tanh_slope(fresh)}), product({hidden, squashed, sigmoid_slope(out)})});
  return {gates, cell * forget, s.boolean("has_bias") ? s.b.sum(gates, {0}) : Value()};
}

// Reset, update and new gate; the reset gate stands before the state's part of the new one. The
// workspace holds the gates, the state and that part.
std::vector<Value> gru_written_out(Site& s) {
  const Value in = gates_of(s, "input_gates", "input_bias");
  const Value state = gates_of(s, "hidden_gates", "hidden_bias");
  const auto open = [&](std::int64_t k) {
    return unary(Op::sigmoid, total({part_of(in, k, 3), part_of(state, k, 3)}));
  };
  const Value reset = open(0), update = open(1), part = part_of(state, 2, 3), hx = s["hx"];
  const Value fresh = unary(Op::tanh, total({part_of(in, 2, 3), reset * part}));
  return {fresh + update * (hx - fresh), joined(s, {reset, update, fresh, hx, part})};
}

std::vector<Value> gru_backward(Site& s) {
  const Value g = s["grad_hy"], workspace = s["workspace"];
  const auto kept = [&](std::int64_t k) { return part_of(workspace, k, 5); };
  const Value reset = kept(0), update = kept(1), fresh = kept(2);
  const Value of_update = product({g, kept(3) - fresh, sigmoid_slope(update)});
  const Value of_fresh = product({g, 1 - update, tanh_slope(fresh)});
  const Value of_reset = product({of_fresh, kept(4), sigmoid_slope(reset)});
  const Value of_input = joined(s, {of_reset, of_update, of_fresh});
  const Value of_hidden = joined(s, {of_reset, of_update, of_fresh * reset});
  std::vector<Value> gradients = {of_input, of_hidden, g * update, {}, {}};
  if (s.boolean("has_bias")) {
    gradients[3] = s.b.sum(of_input, {0});
    gradients[4] = s.b.sum(of_hidden, {0});
  }
  return gradients;
}

// The gradient through the workspace, which has one if a backward is differentiated.
Value through_workspace(Site& s, std::size_t output, Expansion written_out, const char* operand) {
  const auto place = static_cast<std::int64_t>(output);
  if (!s.has_grad(place)) return {};
  return gradients_of(s, written_out(s)[output], s.grad(place), {s[operand]}).front();
}

// Gates of input and state are added, so that they have the same gradient; biases its sum by batch.
template <std::int64_t part>
Value lstm(Site& s, const char* operand) {
  Value gradient;
  if (s.has_grad(0) || s.has_grad(1)) {
    const Given hidden = s.has_grad(0) ? Given(s.grad(0)) : Given(None{});
    const Given cell = s.has_grad(1) ? Given(s.grad(1)) : Given(None{});
    gradient = s.b(Op::_thnn_fused_lstm_cell_backward_impl,
                   {hidden, cell, s["cx"], s.out(1), s.out(2), s.is_given("input_bias")})[part];
  }
  return plus(gradient, through_workspace(s, 2, lstm_written_out, operand));
}

template <std::int64_t part>
Value gru(Site& s, const char* operand) {
  Value gradient;
  if (s.has_grad(0))
    gradient = s.b(Op::_thnn_fused_gru_cell_backward,
                   {s.grad(), s.out(1), s.is_given("input_bias")})[part];
  return plus(gradient, through_workspace(s, 1, gru_written_out, operand));
}

}  // namespace

Rows recurrent_rows() {
  return {
      formulas_and_forward({Op::_thnn_fused_lstm_cell},
                           {{"input_gates", [](Site& s) { return lstm<0>(s, "input_gates"); }},
                            {"hidden_gates", [](Site& s) { return lstm<0>(s, "hidden_gates"); }},
                            {"cx", [](Site& s) { return lstm<1>(s, "cx"); }},
                            {"input_bias", [](Site& s) { return lstm<2>(s, "input_bias"); }},
                            {"hidden_bias", [](Site& s) { return lstm<2>(s, "hidden_bias"); }}},
                           lstm_written_out),
      expands({Op::_thnn_fused_lstm_cell_backward_impl}, lstm_backward),
      formulas_and_forward({Op::_thnn_fused_gru_cell},
                           {{"input_gates", [](Site& s) { return gru<0>(s, "input_gates"); }},
                            {"hidden_gates", [](Site& s) { return gru<1>(s, "hidden_gates"); }},
                            {"hx", [](Site& s) { return gru<2>(s, "hx"); }},
                            {"input_bias", [](Site& s) { return gru<3>(s, "input_bias"); }},
                            {"hidden_bias", [](Site& s) { return gru<4>(s, "hidden_bias"); }}},
                           gru_written_out),
      expands({Op::_thnn_fused_gru_cell_backward}, gru_backward),
  };
}

}  // namespace recut::autodiff
