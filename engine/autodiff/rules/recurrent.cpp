// Fused cells of recurrent networks.
#include "engine/autodiff/rules/formula.h"

namespace recut::autodiff {
namespace {

// Parts k of n side by side.
Value part_of(const Value& whole, std::int64_t k, std::int64_t n) {
  const std::int64_t width = whole.size(-1) / n;
  return (*whole.builder())(Op::slice_Tensor, {whole, -1, k * width, (k + 1) * width});
}
Value joined(VjpContext& ctx, const std::vector<Value>& parts) {
  return ctx.b(Op::cat, {parts, -1});
}

Value gates_of(VjpContext& ctx, const char* gates, const char* bias) {
  return plus(ctx[gates], ctx[bias]);
}

// The slope of a sigmoid and of a tanh, from their outputs.
Value sigmoid_slope(const Value& y) { return y * (1 - y); }
Value tanh_slope(const Value& y) { return 1 - squared(y); }

// Input, forget, cell and output gate; the workspace holds all four.
std::vector<Value> lstm_written_out(VjpContext& ctx) {
  const Value all = total(
      {gates_of(ctx, "input_gates", "input_bias"), gates_of(ctx, "hidden_gates", "hidden_bias")});
  const auto open = [&](std::int64_t k) { return unary(Op::sigmoid, part_of(all, k, 4)); };
  const Value in = open(0), forget = open(1), out = open(3);
  const Value fresh = unary(Op::tanh, part_of(all, 2, 4));
  const Value cell = total({forget * ctx["cx"], in * fresh});
  return {out * unary(Op::tanh, cell), cell, joined(ctx, {in, forget, fresh, out})};
}

std::vector<Value> lstm_backward(VjpContext& ctx) {
  const Value cx = ctx["cx"], workspace = ctx["workspace"], squashed = unary(Op::tanh, ctx["cy"]);
  const auto given = [&](const char* name) {
    return ctx.is_given(name) ? ctx[name] : zeros(ctx.b, cx.type());
  };
  const Value in = part_of(workspace, 0, 4), forget = part_of(workspace, 1, 4);
  const Value fresh = part_of(workspace, 2, 4), out = part_of(workspace, 3, 4);
  const Value hidden = given("grad_hy");
  const Value cell = total({product({hidden, out, tanh_slope(squashed)}), given("grad_cy")});
  const Value gates = joined(
      ctx,
      {product({cell, fresh, sigmoid_slope(in)}), product({cell, cx, sigmoid_slope(forget)}),
       product({cell, in, tanh_slope(fresh)}), product({hidden, squashed, sigmoid_slope(out)})});
  return {gates, cell * forget, ctx.boolean("has_bias") ? ctx.b.sum(gates, {0}) : Value()};
}

// Reset, update and new gate; the reset gate stands before the state's part of the new one. The
// workspace holds the gates, the state and that part.
std::vector<Value> gru_written_out(VjpContext& ctx) {
  const Value in = gates_of(ctx, "input_gates", "input_bias");
  const Value state = gates_of(ctx, "hidden_gates", "hidden_bias");
  const auto open = [&](std::int64_t k) {
    return unary(Op::sigmoid, total({part_of(in, k, 3), part_of(state, k, 3)}));
  };
  const Value reset = open(0), update = open(1), part = part_of(state, 2, 3), hx = ctx["hx"];
  const Value fresh = unary(Op::tanh, total({part_of(in, 2, 3), reset * part}));
  return {fresh + update * (hx - fresh), joined(ctx, {reset, update, fresh, hx, part})};
}

std::vector<Value> gru_backward(VjpContext& ctx) {
  const Value g = ctx["grad_hy"], workspace = ctx["workspace"];
  const auto saved = [&](std::int64_t k) { return part_of(workspace, k, 5); };
  const Value reset = saved(0), update = saved(1), fresh = saved(2);
  const Value of_update = product({g, saved(3) - fresh, sigmoid_slope(update)});
  const Value of_fresh = product({g, 1 - update, tanh_slope(fresh)});
  const Value of_reset = product({of_fresh, saved(4), sigmoid_slope(reset)});
  const Value of_input = joined(ctx, {of_reset, of_update, of_fresh});
  const Value of_hidden = joined(ctx, {of_reset, of_update, of_fresh * reset});
  std::vector<Value> gradients = {of_input, of_hidden, g * update, {}, {}};
  if (ctx.boolean("has_bias")) {
    gradients[3] = ctx.b.sum(of_input, {0});
    gradients[4] = ctx.b.sum(of_hidden, {0});
  }
  return gradients;
}

// The gradient through the workspace, which has one if a backward is differentiated.
Value through_workspace(VjpContext& ctx, std::size_t output, DecompositionFormula written_out,
                        const char* operand) {
  const auto output_index = static_cast<std::int64_t>(output);
  if (!ctx.has_grad(output_index)) return {};
  return gradients_of(ctx, written_out(ctx)[output], ctx.grad(output_index), {ctx[operand]})
      .front();
}

// Gates of input and state are added, so that they have the same gradient; biases its sum by batch.
template <std::int64_t part>
Value lstm(VjpContext& ctx, const char* operand) {
  Value gradient;
  if (ctx.has_grad(0) || ctx.has_grad(1)) {
    const CallArgument hidden = ctx.has_grad(0) ? CallArgument(ctx.grad(0)) : CallArgument(None{});
    const CallArgument cell = ctx.has_grad(1) ? CallArgument(ctx.grad(1)) : CallArgument(None{});
    gradient =
        ctx.b(Op::_thnn_fused_lstm_cell_backward_impl,
              {hidden, cell, ctx["cx"], ctx.out(1), ctx.out(2), ctx.is_given("input_bias")})[part];
  }
  return plus(gradient, through_workspace(ctx, 2, lstm_written_out, operand));
}

template <std::int64_t part>
Value gru(VjpContext& ctx, const char* operand) {
  Value gradient;
  if (ctx.has_grad(0))
    gradient = ctx.b(Op::_thnn_fused_gru_cell_backward,
                     {ctx.grad(), ctx.out(1), ctx.is_given("input_bias")})[part];
  return plus(gradient, through_workspace(ctx, 1, gru_written_out, operand));
}

}  // namespace

DerivativeRules recurrent_rules() {
  return {
      vjp_and_decomposition(
          {Op::_thnn_fused_lstm_cell},
          {{"input_gates", [](VjpContext& ctx) { return lstm<0>(ctx, "input_gates"); }},
           {"hidden_gates", [](VjpContext& ctx) { return lstm<0>(ctx, "hidden_gates"); }},
           {"cx", [](VjpContext& ctx) { return lstm<1>(ctx, "cx"); }},
           {"input_bias", [](VjpContext& ctx) { return lstm<2>(ctx, "input_bias"); }},
           {"hidden_bias", [](VjpContext& ctx) { return lstm<2>(ctx, "hidden_bias"); }}},
          lstm_written_out),
      decomposes({Op::_thnn_fused_lstm_cell_backward_impl}, lstm_backward),
      vjp_and_decomposition(
          {Op::_thnn_fused_gru_cell},
          {{"input_gates", [](VjpContext& ctx) { return gru<0>(ctx, "input_gates"); }},
           {"hidden_gates", [](VjpContext& ctx) { return gru<1>(ctx, "hidden_gates"); }},
           {"hx", [](VjpContext& ctx) { return gru<2>(ctx, "hx"); }},
           {"input_bias", [](VjpContext& ctx) { return gru<3>(ctx, "input_bias"); }},
           {"hidden_bias", [](VjpContext& ctx) { return gru<4>(ctx, "hidden_bias"); }}},
          gru_written_out),
      decomposes({Op::_thnn_fused_gru_cell_backward}, gru_backward),
  };
}

}  // namespace recut::autodiff
