// Fused recurrent cells (cuDNN's and ATen's): gates are given as two products, one of the input and
// one of the hidden state, and the cell adds them. Backward kernels use the saved activations of
// the gates.
#include <array>
#include <cmath>

#include "engine/eval/kernels/pointwise.h"

namespace recut {
namespace {

Reals optional_reals_recurrent(const KernelContext& c, std::string_view parameter) {
  return c.call.is_tensor(parameter) ? c.reals(parameter) : Reals();
}

double or_zero(const Reals& x, std::int64_t i) { return x.data.empty() ? 0.0 : x[i]; }

Result<Done> lstm_cell(KernelContext& c) {
  const Reals input = c.reals("input_gates");
  const Reals hidden = c.reals("hidden_gates");
  const Reals cx = c.reals("cx");
  const Reals input_bias = optional_reals_recurrent(c, "input_bias");
  const Reals hidden_bias = optional_reals_recurrent(c, "hidden_bias");
  const std::int64_t features = cx.shape[1];
  Reals hy(cx.shape);
  Reals cy(cx.shape);
  Reals workspace(input.shape);
  for (std::int64_t i = 0; i < cx.count(); ++i) {
    std::array<double, 4> gate;  // input, forget, cell, output
    for (std::int64_t k = 0; k < 4; ++k) {
      const std::int64_t column = k * features + i % features;
      const std::int64_t at = i / features * 4 * features + column;
      const double sum =
          input[at] + hidden[at] + or_zero(input_bias, column) + or_zero(hidden_bias, column);
      gate[static_cast<std::size_t>(k)] = k == 2 ? std::tanh(sum) : sigmoid(sum);
      workspace[at] = gate[static_cast<std::size_t>(k)];
    }
    cy[i] = gate[1] * cx[i] + gate[0] * gate[2];
    hy[i] = gate[3] * std::tanh(cy[i]);
  }
  c.write(hy, 0);
  c.write(cy, 1);
  c.write(workspace, 2);
  return Done{};
}

// A gradient of the gates summed over the rows.
Reals column_sums(const Reals& gates) {
  Reals out(Shape{gates.shape[1]});
  for (std::int64_t i = 0; i < gates.count(); ++i) out[i % gates.shape[1]] += gates[i];
  return out;
}

Result<Done> lstm_cell_backward(KernelContext& c) {
  const Reals grad_hy = optional_reals_recurrent(c, "grad_hy");
  const Reals grad_cy = optional_reals_recurrent(c, "grad_cy");
  const Reals cx = c.reals("cx");
  const Reals cy = c.reals("cy");
  const Reals workspace = c.reals("workspace");
  const std::int64_t features = cx.shape[1];
  Reals grad_gates(workspace.shape);
  Reals grad_cx(cx.shape);
  for (std::int64_t i = 0; i < cx.count(); ++i) {
    const std::int64_t at = i / features * 4 * features + i % features;
    const double in = workspace[at];
    const double forget = workspace[at + features];
    const double cell = workspace[at + 2 * features];
    const double out = workspace[at + 3 * features];
    const double squashed = std::tanh(cy[i]);
    const double gh = or_zero(grad_hy, i);
    const double gc = gh * out * (1 - squashed * squashed) + or_zero(grad_cy, i);
    grad_gates[at] = gc * cell * in * (1 - in);
    grad_gates[at + features] = gc * cx[i] * forget * (1 - forget);
    grad_gates[at + 2 * features] = gc * in * (1 - cell * cell);
    grad_gates[at + 3 * features] = gh * squashed * out * (1 - out);
    grad_cx[i] = gc * forget;
  }
  c.write(grad_gates, 0);
  c.write(grad_cx, 1);
  if (c.requested(2)) c.write(column_sums(grad_gates), 2);
  return Done{};
}

// Gates in the order reset, input, new.
Result<Done> gru_cell(KernelContext& c) {
  const Reals input = c.reals("input_gates");
  const Reals hidden = c.reals("hidden_gates");
  const Reals hx = c.reals("hx");
  const Reals input_bias = optional_reals_recurrent(c, "input_bias");
  const Reals hidden_bias = optional_reals_recurrent(c, "hidden_bias");
  const std::int64_t features = hx.shape[1];
  Reals hy(hx.shape);
  Reals workspace(c.output_types[1].shape);
  for (std::int64_t i = 0; i < hx.count(); ++i) {
    const std::int64_t row = i / features;
    const std::int64_t column = i % features;
    const auto from_input = [&](std::int64_t k) {
      const std::int64_t at = k * features + column;
      return input[row * 3 * features + at] + or_zero(input_bias, at);
    };
    const auto from_hidden = [&](std::int64_t k) {
      const std::int64_t at = k * features + column;
      return hidden[row * 3 * features + at] + or_zero(hidden_bias, at);
    };
    const double reset = sigmoid(from_input(0) + from_hidden(0));
    const double update = sigmoid(from_input(1) + from_hidden(1));
    const double part = from_hidden(2);
    const double fresh = std::tanh(from_input(2) + reset * part);
    hy[i] = fresh + update * (hx[i] - fresh);
    const std::array<double, 5> kept{reset, update, fresh, hx[i], part};
    for (std::size_t k = 0; k < 5; ++k)
      workspace[row * 5 * features + static_cast<std::int64_t>(k) * features + column] = kept[k];
  }
  c.write(hy, 0);
  c.write(workspace, 1);
  return Done{};
}

Result<Done> gru_cell_backward(KernelContext& c) {
  const Reals grad = c.reals("grad_hy");
  const Reals workspace = c.reals("workspace");
  const std::int64_t features = grad.shape[1];
  Reals grad_input(Shape{grad.shape[0], 3 * features});
  Reals grad_hidden(grad_input.shape);
  Reals grad_hx(grad.shape);
  for (std::int64_t i = 0; i < grad.count(); ++i) {
    const std::int64_t row = i / features;
    const std::int64_t column = i % features;
    const auto kept = [&](std::int64_t k) {
      return workspace[row * 5 * features + k * features + column];
    };
    const double reset = kept(0);
    const double update = kept(1);
    const double fresh = kept(2);
    const double g_update = grad[i] * (kept(3) - fresh) * (1 - update) * update;
    const double g_fresh = grad[i] * (1 - update) * (1 - fresh * fresh);
    const double g_reset = g_fresh * kept(4) * (1 - reset) * reset;
    const std::int64_t at = row * 3 * features + column;
    grad_input[at] = grad_hidden[at] = g_reset;
    grad_input[at + features] = grad_hidden[at + features] = g_update;
    grad_input[at + 2 * features] = g_fresh;
    grad_hidden[at + 2 * features] = g_fresh * reset;
    grad_hx[i] = grad[i] * update;
  }
  c.write(grad_input, 0);
  c.write(grad_hidden, 1);
  c.write(grad_hx, 2);
  if (c.requested(3)) c.write(column_sums(grad_input), 3);
  if (c.requested(4)) c.write(column_sums(grad_hidden), 4);
  return Done{};
}

}  // namespace

void add_recurrent_kernels(KernelTable& t) {
  t.add(Op::_thnn_fused_lstm_cell, lstm_cell);
  t.add(Op::_thnn_fused_lstm_cell_backward_impl, lstm_cell_backward);
  t.add(Op::_thnn_fused_gru_cell, gru_cell);
  t.add(Op::_thnn_fused_gru_cell_backward, gru_cell_backward);
}

}  // namespace recut
