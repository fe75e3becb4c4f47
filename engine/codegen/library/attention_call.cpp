// Pattern matching of one call: ATen has several attention operators and backwards, whose schemas
// differ in the names and the number of their masks and statistics. All become one
// library::Attention:
//   _scaled_dot_product_flash_attention(%q, %k, %v)  =>  out, logsumexp = attention q, k, v
// `fits_` turns false at the first operand that no library takes, and the call is lowered to loops
// instead. Layouts are kept as they are: a broadcast dimension has the stride 0, so no operand is
// copied.
#include "engine/codegen/library/attention_call.h"

#include <cmath>

#include "engine/codegen/library/call_operands.h"

namespace recut::library {
namespace {

enum class AttentionDirection : std::uint8_t { none, forward, backward };

AttentionDirection direction_of(Op op) {
  switch (op) {
    case Op::_scaled_dot_product_efficient_attention:
    case Op::_scaled_dot_product_flash_attention:
    case Op::_scaled_dot_product_cudnn_attention:
    case Op::_scaled_dot_product_flash_attention_for_cpu:
    case Op::scaled_dot_product_attention:
    case Op::recut_scaled_dot_product_kept_attention:
      return AttentionDirection::forward;
    case Op::_scaled_dot_product_efficient_attention_backward:
    case Op::_scaled_dot_product_flash_attention_backward:
    case Op::_scaled_dot_product_cudnn_attention_backward:
    case Op::_scaled_dot_product_flash_attention_for_cpu_backward:
    case Op::recut_scaled_dot_product_kept_attention_backward:
      return AttentionDirection::backward;
    default:
      return AttentionDirection::none;
  }
}

class AttentionCallMatcher {
 public:
  AttentionCallMatcher(const Graph& graph, const StorageModel& storages, NodeId id)
      : operands_(graph, storages, id), call_(operands_.call()) {}

  std::optional<Kernel> run(AttentionDirection direction) {
    if (!has_shapes() || has_dropout()) return std::nullopt;
    dtype_ = call_.tensor("query").dtype;
    fits_ = dtype_ == DType::f32 || dtype_ == DType::bf16 || dtype_ == DType::f16;
    const double features = static_cast<double>(call_.tensor("query").shape.back());
    a_.scale = call_.given("scale") ? call_.real("scale") : 1 / std::sqrt(features);
    a_.causal = call_.op().parameter("is_causal") && call_.boolean("is_causal");
    a_.query = like_query("query");
    a_.key = like_query("key");
    a_.value = like_query("value");
    read_scores();
    direction == AttentionDirection::forward ? forward() : backward();
    if (!fits_) return std::nullopt;
    return std::move(operands_).kernel({std::move(a_)});
  }

 private:
  // The composite operator takes any rank and broadcasts; libraries take neither.
  bool has_shapes() const {
    const Shape& q = call_.tensor("query").shape;
    const Shape& k = call_.tensor("key").shape;
    const Shape& v = call_.tensor("value").shape;
    return q.size() == 4 && k.size() == 4 && v.size() == 4 && element_count(q) > 0 &&
           element_count(k) > 0 && element_count(v) > 0 && q[0] == k[0] && k[0] == v[0] &&
           k[1] == v[1] && q[1] % k[1] == 0;
  }
  bool has_dropout() const {
    return call_.op().parameter("dropout_p") && call_.real("dropout_p") != 0;
  }

  // Reads an operand; a dimension of size 1 gets the stride 0. An unreadable operand has no dtype.
  Operand read(std::string_view parameter, DType& dtype) {
    auto operand = operands_.read(parameter);
    fits_ = fits_ && operand.has_value();
    if (!operand) return {};
    dtype = operands_.dtype_of(*operand);
    Layout& layout = operand->layout;
    for (std::size_t d = 0; d < layout.shape.size(); ++d)
      if (layout.shape[d] == 1) layout.strides[d] = 0;
    return std::move(*operand);
  }
  // Reads a mask, padded with leading dimensions to the rank of the scores.
  Operand like_scores(std::string_view parameter, DType& dtype) {
    Operand operand = read(parameter, dtype);
    Layout& layout = operand.layout;
    fits_ = fits_ && layout.shape.size() <= 4;
    if (!fits_) return operand;
    layout.shape.insert(layout.shape.begin(), 4 - layout.shape.size(), 1);
    layout.strides.insert(layout.strides.begin(), 4 - layout.strides.size(), 0);
    return operand;
  }
  Operand like_query(std::string_view parameter) {
    DType dtype = DType::none;
    Operand operand = read(parameter, dtype);
    fits_ = fits_ && dtype == dtype_;
    return operand;
  }

  Operand written(std::size_t output) { return operands_.written(output); }
  bool is_requested(std::size_t output) const { return operands_.is_requested(output); }

  void read_scores() {
    DType dtype = DType::none;
    for (const std::string_view parameter : {"attn_bias", "attn_mask"})
      if (call_.op().parameter(parameter) && call_.is_tensor(parameter))
        a_.bias = like_scores(parameter, dtype);
    if (a_.bias)
      fits_ = fits_ && (dtype == DType::boolean || dtype == DType::f32 || dtype == dtype_);
    if (!call_.op().parameter("keep")) return;
    a_.keep = like_scores("keep", dtype);
    a_.keep_scale = call_.real("keep_scale");
    fits_ = fits_ && dtype == DType::boolean;
  }

  void forward() {
    fits_ = fits_ && is_requested(0);
    if (!fits_) return;
    a_.out = written(0);
    for (std::size_t output = 1; output < operands_.outputs().size(); ++output) {
      if (!is_requested(output) || element_count(operands_.outputs()[output].shape) == 0) continue;
      if (output == 1)
        a_.logsumexp = written(output);
      else
        a_.zeros.push_back(written(output));
    }
  }

  void backward() {
    a_.out = like_query("out");
    a_.grad = like_query(call_.op().parameters[0].name);
    DType of_sums = DType::none;
    a_.logsumexp = read("logsumexp", of_sums);
    fits_ = fits_ && of_sums == DType::f32 && !is_requested(3) &&
            (is_requested(0) || is_requested(1) || is_requested(2));
    if (!fits_) return;
    if (is_requested(0)) a_.query_gradient = written(0);
    if (is_requested(1)) a_.key_gradient = written(1);
    if (is_requested(2)) a_.value_gradient = written(2);
  }

  CallOperands operands_;
  const recut::Call& call_;
  DType dtype_ = DType::f32;
  Attention a_;
  bool fits_ = true;
};

}  // namespace

std::optional<Kernel> attention_kernel(const Graph& graph, const StorageModel& storages,
                                       NodeId id) {
  const AttentionDirection direction = direction_of(graph[id].op);
  if (direction == AttentionDirection::none) return std::nullopt;
  return AttentionCallMatcher(graph, storages, id).run(direction);
}

}  // namespace recut::library
