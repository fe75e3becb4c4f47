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

}  // namespace

Rows recurrent_rows() {
  return {
      formulas({Op::_thnn_fused_lstm_cell},
               {{"input_gates", lstm<0>},
                {"hidden_gates", lstm<0>},
                {"cx", lstm<1>},
                {"input_bias", lstm<2>},
                {"hidden_bias", lstm<2>}},
               2),
      formulas({Op::_thnn_fused_gru_cell},
               {{"input_gates", gru<0>},
                {"hidden_gates", gru<1>},
                {"hx", gru<2>},
                {"input_bias", gru<3>},
                {"hidden_bias", gru<4>}},
               1),
  };
}

}  // namespace recut::autodiff
