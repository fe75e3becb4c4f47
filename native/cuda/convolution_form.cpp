#include "native/cuda/convolution_form.h"

#include <algorithm>
#include <limits>

namespace recut::cuda {
namespace {

using library::Convolution;

// The lowest rank of a cuDNN tensor: samples, channels and two dimensions of the plane.
constexpr std::size_t kMinTensorRank = 4;

class ConvolutionFormFormer {
 public:
  explicit ConvolutionFormFormer(const Convolution& c) : c_(c) {}

  Result<ConvolutionForm> run() {
    form_.direction = direction();
    form_.dtype = c_.dtype;
    form_.x = tensor(c_.transposed ? c_.output : c_.input);
    form_.y = tensor(c_.transposed ? c_.input : c_.output);
    form_.w = tensor(c_.weight);
    form_.padding = numbers(c_.padding, 0);
    form_.stride = numbers(c_.stride, 1);
    form_.dilation = numbers(c_.dilation, 1);
    form_.groups = number(c_.groups);
    if (c_.bias) add_bias();
    form_.channels_last = !is_dense(false) ||
                          (is_dense(true) && (lies_by_pixels(form_.x) || lies_by_pixels(form_.y)));
    if (!fits_) return error("a convolution is too large for cuDNN");
    // cuDNN has no code for that, on an H100 at least.
    if (form_.bias_is_gradient && form_.dtype == DType::bf16)
      return error("cuDNN sums no gradient of a bias in bf16");
    if (form_.channels_last && !is_dense(true))
      return error("cuDNN takes no weight of a convolution whose elements stand apart");
    if (form_.channels_last && !(has_channels_last(form_.x) && has_channels_last(form_.y)))
      return error("cuDNN takes no weight with its channels last beside tensors with them first");
    return form_;
  }

 private:
  ConvolutionForm::Direction direction() const {
    if (c_.direction == Convolution::Direction::weight_gradient)
      return ConvolutionForm::Direction::backward_filter;
    const bool forward = c_.direction == Convolution::Direction::forward;
    return forward != c_.transposed ? ConvolutionForm::Direction::forward
                                    : ConvolutionForm::Direction::backward_data;
  }

  int number(std::int64_t value) {
    fits_ = fits_ && value <= std::numeric_limits<int>::max();
    return static_cast<int>(value);
  }

  // One number for each dimension of the plane.
  std::vector<int> numbers(const Shape& values, int missing) {
    std::vector<int> all;
    if (values.size() + 2 < kMinTensorRank) all.push_back(missing);
    for (const std::int64_t value : values) all.push_back(number(value));
    return all;
  }

  std::int64_t bytes_before(const library::Operand& operand) const {
    return operand.layout.offset * item_bytes(c_.dtype);
  }

  TensorForm tensor(const library::Operand& operand) {
    TensorForm form{operand.buffer, bytes_before(operand), {}, {}};
    const Layout& layout = operand.layout;
    for (std::size_t d = 0; d < layout.shape.size(); ++d) {
      if (d == 2 && layout.shape.size() < kMinTensorRank) {
        form.shape.push_back(1);
        form.strides.push_back(number(layout.shape[2] * layout.strides[2]));
      }
      form.shape.push_back(number(layout.shape[d]));
      form.strides.push_back(number(layout.strides[d]));
    }
    return form;
  }

  void add_bias() {
    form_.bias_is_gradient = c_.direction == Convolution::Direction::weight_gradient;
    form_.biased_is_x = c_.transposed;
    TensorForm bias{c_.bias->buffer, bytes_before(*c_.bias), {}, {}};
    const int channels = number(c_.bias->layout.shape[0]);
    bias.shape.assign(form_.x.shape.size(), 1);
    bias.strides.assign(form_.x.shape.size(), 1);
    bias.shape[1] = channels;
    bias.strides[0] = channels;
    form_.bias = std::move(bias);
  }

  // True if the weight's elements follow each other, with channels innermost or right behind
  // outputs.
  bool is_dense(bool channels_last) const {
    const std::vector<int>&shape = form_.w.shape, &strides = form_.w.strides;
    std::vector<std::size_t> order;  // innermost first
    if (channels_last) order.push_back(1);
    for (std::size_t d = shape.size(); d-- > 2;) order.push_back(d);
    if (!channels_last) order.push_back(1);
    order.push_back(0);
    std::int64_t dense = 1;
    for (const std::size_t d : order) {
      if (shape[d] > 1 && strides[d] != dense) return false;
      dense *= shape[d];
    }
    return true;
  }

  static bool has_channels_last(const TensorForm& tensor) {
    return tensor.shape[1] == 1 || tensor.strides[1] == 1;
  }

  // True if the tensor has its channels last and can't be taken for one that has them first.
  static bool lies_by_pixels(const TensorForm& tensor) {
    const auto several = [](int size) { return size > 1; };
    return tensor.shape[1] > 1 && tensor.strides[1] == 1 &&
           std::any_of(tensor.shape.begin() + 2, tensor.shape.end(), several);
  }

  const Convolution& c_;
  ConvolutionForm form_;
  bool fits_ = true;
};

}  // namespace

bool keeps_f32(const ConvolutionForm& form, Precision precision) {
  const bool depthwise = form.groups > 1 && form.w.shape[1] == 1;
  return form.dtype == DType::f32 && (precision == Precision::f32 || depthwise);
}

Result<ConvolutionForm> form_of(const Convolution& convolution) {
  return ConvolutionFormFormer(convolution).run();
}

}  // namespace recut::cuda
