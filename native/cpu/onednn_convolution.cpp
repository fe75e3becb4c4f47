// Convolutions let oneDNN choose layouts (format_tag any), with reorders before and after:
//   operand -> reorder -> convolution -> reorder -> result
#include <algorithm>
#include <string_view>
#include <utility>

#include "native/cpu/onednn_kernel.h"

namespace recut::cpu::onednn {
namespace {

using library::Convolution;

// Convolutions and transposed convolutions are two families of primitives with the same interface.
struct ConvolutionFamily {
  using Forward = dnnl::convolution_forward;
  using Data = dnnl::convolution_backward_data;
  using Weights = dnnl::convolution_backward_weights;
  static constexpr auto kAlgorithm = dnnl::algorithm::convolution_direct;
};
struct DeconvolutionFamily {
  using Forward = dnnl::deconvolution_forward;
  using Data = dnnl::deconvolution_backward_data;
  using Weights = dnnl::deconvolution_backward_weights;
  static constexpr auto kAlgorithm = dnnl::algorithm::deconvolution_direct;
};

// oneDNN orders weights as groups, outputs, channels.
OperandView weight_of(const Convolution& c) {
  const Layout& layout = c.weight.layout;
  const std::int64_t groups = c.groups, first = layout.shape[0] / groups, second = layout.shape[1];
  memory::dims shape{first, second}, strides{layout.strides[0], layout.strides[1]};
  if (c.transposed) {
    std::swap(shape[0], shape[1]);
    std::swap(strides[0], strides[1]);
  }
  if (groups > 1) {
    shape.insert(shape.begin(), groups);
    strides.insert(strides.begin(), first * layout.strides[0]);
  }
  shape.insert(shape.end(), layout.shape.begin() + 2, layout.shape.end());
  strides.insert(strides.end(), layout.strides.begin() + 2, layout.strides.end());
  return view_of(c.weight, shape, strides);
}

// The trailing padding of the plane; `padding` is the leading one. The windows of a transposed
// convolution lie on its output.
memory::dims trailing_padding(const Convolution& c) {
  memory::dims behind = c.padding;
  if (!c.transposed) return behind;
  for (std::size_t d = 0; d < behind.size(); ++d)
    behind[d] = (c.input.layout.shape[d + 2] - 1) * c.stride[d] +
                (c.weight.layout.shape[d + 2] - 1) * c.dilation[d] + 1 - c.padding[d] -
                c.output.layout.shape[d + 2];
  return behind;
}

bool is_channels_last(const Layout& layout) {
  const Shape& shape = layout.shape;
  return shape.size() == 4 && shape[1] > 1 &&
         layout.strides ==
             Strides{shape[1] * shape[2] * shape[3], 1, shape[1] * shape[3], shape[1]};
}

// A sum adds to the output's old values, for which oneDNN has quicker code than for another operand.
dnnl::primitive_attr attributes_of(const Convolution& c) {
  dnnl::primitive_attr attributes;
  attributes.set_scratchpad_mode(dnnl::scratchpad_mode::user);
  dnnl::post_ops after;
  if (c.addend) after.append_sum(1);
  attributes.set_post_ops(after);
  return attributes;
}

template <class Family>
void add_as(KernelPreparation& kernel, const Convolution& c) {
  using Forward = typename Family::Forward;
  using Data = typename Family::Data;
  using Weights = typename Family::Weights;
  const OperandView input = view_of(c.input), weight = weight_of(c), output = view_of(c.output);
  const OperandView bias = c.bias ? view_of(*c.bias) : OperandView();
  memory::dims dilation = c.dilation;
  for (std::int64_t& step : dilation) step -= 1;
  const memory::dims behind = trailing_padding(c);
  const bool training = c.direction != Convolution::Direction::forward;
  const auto kind =
      training ? dnnl::prop_kind::forward_training : dnnl::prop_kind::forward_inference;
  const dnnl::primitive_attr attributes = attributes_of(c);
  const memory::desc bias_form = c.bias ? any(bias) : memory::desc();
  const auto made_for = [&](const memory::desc& from, const memory::desc& to) {
    return typename Forward::primitive_desc({kind, Family::kAlgorithm, from, any(weight), bias_form,
                                             to, c.stride, dilation, c.padding, behind},
                                            attributes, kernel.engine());
  };
  typename Forward::primitive_desc forward = made_for(any(input), any(output));
  // oneDNN is as quick channels last as in its own layouts, unless it falls back to plain loops.
  if (!training && is_channels_last(c.input.layout) && is_channels_last(c.output.layout)) {
    const auto as_given = made_for(input.form, output.form);
    if (!std::string_view(as_given.impl_info_str()).starts_with("ref")) forward = as_given;
  }
  if (c.direction == Convolution::Direction::forward) {
    std::vector<NamedOperand> tensors{{DNNL_ARG_SRC, input, forward.src_desc()},
                                      {DNNL_ARG_WEIGHTS, weight, forward.weights_desc()},
                                      {DNNL_ARG_DST, output, forward.dst_desc(), true}};
    if (c.bias) tensors.push_back({DNNL_ARG_BIAS, bias, forward.bias_desc()});
    if (c.addend) {
      if (forward.dst_desc() != output.form)
        throw dnnl::error(dnnl_unimplemented, "a residual in another layout");
      kernel.copy(view_of(*c.addend), output);
    }
    kernel.add<Forward>(forward, tensors);
    if (c.low || c.high) kernel.clamp(c.output, c.low, c.high);
    return;
  }
  if (c.direction == Convolution::Direction::input_gradient) {
    const typename Data::primitive_desc data({Family::kAlgorithm, any(input), any(weight),
                                              any(output), c.stride, dilation, c.padding, behind},
                                             kernel.attributes(), kernel.engine(), forward);
    return kernel.add<Data>(data, {{DNNL_ARG_DIFF_DST, output, data.diff_dst_desc()},
                                   {DNNL_ARG_WEIGHTS, weight, data.weights_desc()},
                                   {DNNL_ARG_DIFF_SRC, input, data.diff_src_desc(), true}});
  }
  const typename Weights::primitive_desc weights(
      {Family::kAlgorithm, any(input), any(weight), bias_form, any(output), c.stride, dilation,
       c.padding, behind},
      kernel.attributes(), kernel.engine(), forward);
  std::vector<NamedOperand> tensors{
      {DNNL_ARG_SRC, input, weights.src_desc()},
      {DNNL_ARG_DIFF_DST, output, weights.diff_dst_desc()},
      {DNNL_ARG_DIFF_WEIGHTS, weight, weights.diff_weights_desc(), true}};
  if (c.bias) tensors.push_back({DNNL_ARG_DIFF_BIAS, bias, weights.diff_bias_desc(), true});
  kernel.add<Weights>(weights, tensors);
}

}  // namespace

bool supports_epilogue(const library::Kernel& kernel) {
  return std::all_of(kernel.calls.begin(), kernel.calls.end(), [](const library::Call& call) {
    const auto* c = std::get_if<Convolution>(&call);
    if (c == nullptr || c->dtype != DType::f32 || !c->has_epilogue()) return false;
    if (!is_dense({DType::f32, c->output.layout.shape, c->output.layout.strides, ""})) return false;
    return !c->addend || (is_channels_last(c->input.layout) && is_channels_last(c->output.layout) &&
                          is_channels_last(c->addend->layout));
  });
}

void add_convolution(KernelPreparation& kernel, const Convolution& c) {
  c.transposed ? add_as<DeconvolutionFamily>(kernel, c) : add_as<ConvolutionFamily>(kernel, c);
}

}  // namespace recut::cpu::onednn
