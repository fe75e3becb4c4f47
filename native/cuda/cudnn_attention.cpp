#include "native/cuda/cudnn_attention.h"

#include <fmt/core.h>

#include <algorithm>
#include <limits>
#include <utility>
#include <vector>

#include "native/cuda/cudnn_graph.h"

// Attention as a cuDNN graph. Writer spells the operations of scaled dot-product attention (matmul,
// scale, causal select, softmax, matmul) in the pattern that cuDNN's fused engines match; the graph
// is not run operation by operation. Forward: O = softmax(scale Q K^T) V with the log-sums kept.
// Backward: dV, dK, dQ from dO, with the row sums of O dO in scratch. Scores never reach memory:
// cost O(n) memory in the sequence length. Source: cuDNN developer guide, "Fused Flash Attention";
// FlashAttention-2 (Dao 2023).

namespace recut::cuda {
namespace {

using cudnn::GraphPlan;
using cudnn::OperationGraph;
using library::Attention;
using library::Operand;
using Sizes = std::vector<std::int64_t>;
using GraphValue = OperationGraph::Value;

constexpr std::size_t kMaxAttentionPlans = 4;
constexpr std::int64_t kF32Bytes = 4;
constexpr std::int64_t kAlignment = 16;  // bytes, of every tensor of the graph

const Attention& attention_of(const library::Kernel& kernel) {
  return std::get<Attention>(kernel.calls.front());
}

DType dtype_of(const library::Kernel& kernel) {
  return kernel.buffers[attention_of(kernel).query.buffer].dtype;
}

// The graph's inputs, in order: operands, then tensors in the workspace, then scalars of the host.
struct GraphInputs {
  std::vector<Operand> operands;
  std::vector<std::int64_t> scratch;  // bytes of each
  std::vector<float> numbers;
};

// Builds the graph of one call.
class Writer {
 public:
  Writer(OperationGraph& graph, const library::Kernel& kernel)
      : graph_(graph),
        a_(attention_of(kernel)),
        type_(dtype_of(kernel) == DType::f16 ? cudnn::kF16 : cudnn::kBf16),
        batches_(a_.query.layout.shape[0]),
        heads_(a_.query.layout.shape[1]),
        queries_(a_.query.layout.shape[2]),
        features_(a_.query.layout.shape[3]),
        key_heads_(a_.key.layout.shape[1]),
        keys_(a_.key.layout.shape[2]),
        value_features_(a_.value.layout.shape[3]) {}

  GraphInputs forward() {
    const GraphValue q = add_input(a_.query), kt = add_input(a_.key, true), v = add_input(a_.value),
                     o = add_input(a_.out);
    std::optional<GraphValue> sums;
    if (a_.logsumexp) sums = add_log_sums();
    add_scalars();
    const GraphValue scores = causally_masked(scaled(q, kt));
    const GraphValue row_max = of_rows(), less = of_scores(), e = of_scores(), sum = of_rows(),
                     log = of_rows(), weights = of_scores(type_);
    if (!sums) sums = of_rows();
    graph_.reduce(cudnn::kLargest, row_max, scores);
    graph_.pointwise(cudnn::kSubtract, less, scores, row_max);
    graph_.pointwise(cudnn::kExp, e, less);
    graph_.reduce(cudnn::kSum, sum, e);
    graph_.pointwise(cudnn::kLog, log, sum);
    graph_.pointwise(cudnn::kAdd, *sums, row_max, log);
    graph_.pointwise(cudnn::kDivide, weights, e, sum);
    graph_.product(o, weights, v);
    return std::move(inputs_);
  }

  GraphInputs backward() {
    const GraphValue q = add_input(a_.query), kt = add_input(a_.key, true),
                     vt = add_input(a_.value, true), o = add_input(a_.out), g = add_input(*a_.grad),
                     sums = add_log_sums(), dq = add_input(*a_.query_gradient),
                     dk = add_input(*a_.key_gradient), dv = add_input(*a_.value_gradient);
    const GraphValue row_sums = add_scratch({batches_, heads_, queries_, 1});
    const GraphValue all_dq = add_scratch({batches_, heads_, queries_, features_});
    add_scalars();
    const GraphValue one = number(1);

    const GraphValue og = virtual_tensor({batches_, heads_, queries_, value_features_}),
                     of_row = of_rows();
    graph_.pointwise(cudnn::kMultiply, og, g, o);
    graph_.reduce(cudnn::kSum, of_row, og);
    graph_.pointwise(cudnn::kMultiply, row_sums, of_row, one);

    const GraphValue less = of_scores(), weights = of_scores();
    graph_.pointwise(cudnn::kSubtract, less, scaled(q, kt), sums);
    graph_.pointwise(cudnn::kExp, weights, causally_masked(less));
    product_over_heads(dv, transposed(weights), g, value_features_);

    const GraphValue dw = of_scores(), apart = of_scores(), times = of_scores(), ds = of_scores();
    graph_.product(dw, g, vt);
    graph_.pointwise(cudnn::kSubtract, apart, dw, row_sums);
    graph_.pointwise(cudnn::kMultiply, times, apart, weights);
    graph_.pointwise(cudnn::kMultiply, ds, times, scale_);
    product_over_heads(dk, transposed(ds), q, features_);

    const GraphValue k = virtual_tensor(a_.key.layout.shape, type_, strides_of(a_.key));
    graph_.reshape(k, kt);
    graph_.product(all_dq, ds, k);
    graph_.pointwise(cudnn::kIdentity, dq, all_dq);
    return std::move(inputs_);
  }

 private:
  // Strides of dimensions with one element are free; cuDNN wants the widest.
  static Sizes strides_of(const Operand& operand) {
    const Layout& layout = operand.layout;
    std::int64_t widest = 1;
    for (std::size_t d = 0; d < layout.shape.size(); ++d)
      widest = std::max(widest, layout.shape[d] * layout.strides[d]);
    Sizes strides = layout.strides;
    for (std::size_t d = 0; d + 1 < strides.size(); ++d)
      if (layout.shape[d] == 1) strides[d] = widest;
    return strides;
  }

  GraphValue add_input(const Operand& operand, bool transposed = false) {
    Sizes shape = operand.layout.shape, strides = strides_of(operand);
    if (transposed) {
      std::swap(shape[2], shape[3]);
      std::swap(strides[2], strides[3]);
    }
    inputs_.operands.push_back(operand);
    return graph_.input(type_, shape, strides);
  }

  GraphValue add_log_sums() {
    const Strides& strides = a_.logsumexp->layout.strides;
    inputs_.operands.push_back(*a_.logsumexp);
    return graph_.input(cudnn::kF32, {batches_, heads_, queries_, 1},
                        {batches_ == 1 ? heads_ * queries_ : strides[0],
                         heads_ == 1 ? queries_ : strides[1], 1, 1});
  }

  GraphValue add_scratch(const Sizes& shape) {
    inputs_.scratch.push_back(element_count(shape) * kF32Bytes);
    return graph_.input(cudnn::kF32, shape, contiguous_strides(shape));
  }

  GraphValue number(double value) {
    inputs_.numbers.push_back(static_cast<float>(value));
    return graph_.host_scalar(4);
  }
  void add_scalars() {
    scale_ = number(a_.scale);
    if (a_.causal) lowest_ = number(std::numeric_limits<float>::lowest());
  }

  GraphValue virtual_tensor(const Sizes& shape, cudnn::Type type = cudnn::kF32,
                            const Sizes& strides = {}) {
    return graph_.virtual_tensor(type, shape, strides);
  }
  GraphValue of_scores(cudnn::Type type = cudnn::kF32) {
    return virtual_tensor({batches_, heads_, queries_, keys_}, type);
  }
  GraphValue of_rows() { return virtual_tensor({batches_, heads_, queries_, 1}); }

  GraphValue scaled(GraphValue q, GraphValue kt) {
    const GraphValue products = of_scores(), scores = of_scores();
    graph_.product(products, q, kt);
    graph_.pointwise(cudnn::kMultiply, scores, products, scale_);
    return scores;
  }

  // Sets the lowest number where a key comes after the query.
  GraphValue causally_masked(GraphValue scores) {
    if (!a_.causal) return scores;
    const GraphValue row = of_scores(cudnn::kInt32), column = of_scores(cudnn::kInt32),
                     holds = of_scores(cudnn::kBoolean), masked = of_scores();
    graph_.index(row, scores, 2);
    graph_.index(column, scores, 3);
    graph_.pointwise(cudnn::kGreaterEqual, holds, row, column);
    graph_.pointwise(cudnn::kSelect, masked, scores, lowest_, holds);
    return masked;
  }

  // Shape [keys, queries], in 16 bits.
  GraphValue transposed(GraphValue scores) {
    const GraphValue made = virtual_tensor({batches_, heads_, keys_, queries_}, type_,
                                           {heads_ * queries_ * keys_, queries_ * keys_, 1, keys_});
    graph_.reshape(made, scores);
    return made;
  }

  // A product whose heads that share keys are summed.
  void product_over_heads(GraphValue to, GraphValue left, GraphValue right, std::int64_t columns) {
    if (heads_ == key_heads_) return graph_.product(to, left, right);
    const GraphValue each = virtual_tensor({batches_, heads_, keys_, columns}, type_);
    graph_.product(each, left, right);
    graph_.reduce(cudnn::kSum, to, each);
  }

  OperationGraph& graph_;
  const Attention& a_;
  const cudnn::Type type_;
  const std::int64_t batches_, heads_, queries_, features_, key_heads_, keys_, value_features_;
  GraphInputs inputs_;
  GraphValue scale_ = 0, lowest_ = 0;
};

class CudnnAttention : public DeviceCall {
 public:
  CudnnAttention(const library::Kernel& kernel, GraphInputs given, std::vector<GraphPlan> plans,
                 SharedGpu gpu, const Stream& stream)
      : kernel_(kernel),
        inputs_(std::move(given)),
        plans_(std::move(plans)),
        gpu_(std::move(gpu)),
        stream_(stream.handle()) {
    for (const std::int64_t bytes : inputs_.scratch) scratch_bytes_ += aligned_scratch(bytes);
  }

  std::size_t algorithm_count() const override { return plans_.size(); }
  std::int64_t workspace_bytes(std::size_t algorithm) const override {
    return scratch_bytes_ + plans_[algorithm].workspace_bytes();
  }
  bool is_nondeterministic(std::size_t) const override {
    return attention_of(kernel_).grad.has_value();
  }

  Result<Done> run(std::size_t algorithm, std::span<const driver::Address> buffers,
                   driver::Address workspace) const override {
    for (const Operand& zeros : attention_of(kernel_).zeros)
      if (auto done = clear(zeros, buffers); !done) return done;
    std::vector<void*> given;
    for (const Operand& operand : inputs_.operands)
      given.push_back(pointer(address_of(operand, buffers)));
    for (const std::int64_t bytes : inputs_.scratch) {
      given.push_back(pointer(workspace));
      workspace += static_cast<driver::Address>(aligned_scratch(bytes));
    }
    std::vector<float> numbers = inputs_.numbers;
    for (float& number : numbers) given.push_back(&number);
    return plans_[algorithm].run(given, pointer(workspace));
  }

  // Removes the plans that need more than that.
  void keep_within(std::int64_t max_bytes) {
    std::erase_if(plans_, [&](const GraphPlan& plan) {
      return scratch_bytes_ + plan.workspace_bytes() > max_bytes;
    });
  }

 private:
  static std::int64_t aligned_scratch(std::int64_t bytes) {
    return (bytes + kWorkspaceAlignment - 1) / kWorkspaceAlignment * kWorkspaceAlignment;
  }
  static void* pointer(driver::Address address) {
    return reinterpret_cast<void*>(address);  // NOLINT: the GPU's addresses are pointers to cuDNN
  }
  std::int64_t item(const Operand& operand) const {
    return item_bytes(kernel_.buffers[operand.buffer].dtype);
  }
  driver::Address address_of(const Operand& operand,
                             std::span<const driver::Address> buffers) const {
    return buffers[operand.buffer] +
           static_cast<driver::Address>(operand.layout.offset * item(operand));
  }

  Result<Done> clear(const Operand& zeros, std::span<const driver::Address> buffers) const {
    const auto bytes = static_cast<std::size_t>(element_count(zeros.layout.shape) * item(zeros));
    const driver::Status status =
        gpu_->driver().cuMemsetD8Async(address_of(zeros, buffers), 0, bytes, stream_);
    if (status == driver::kSuccess) return Done{};
    return gpu_->done(status, fmt::format("kernel '{}' can't clear a seed", kernel_.name));
  }

  const library::Kernel kernel_;
  const GraphInputs inputs_;
  std::vector<GraphPlan> plans_;
  SharedGpu gpu_;
  driver::StreamHandle stream_;
  std::int64_t scratch_bytes_ = 0;
};

}  // namespace

bool cudnn_may_take(const library::Kernel& attention) {
  const Attention& a = attention_of(attention);
  const DType dtype = dtype_of(attention);
  const bool sums = !a.logsumexp || (a.logsumexp->layout.shape[2] == a.query.layout.shape[2] &&
                                     a.logsumexp->layout.strides[2] == 1 &&
                                     a.logsumexp->layout.offset * kF32Bytes % kAlignment == 0);
  const bool gradients = !a.grad || (a.query_gradient && a.key_gradient && a.value_gradient);
  return (dtype == DType::f16 || dtype == DType::bf16) && !a.bias && !a.keep && sums && gradients;
}

std::unique_ptr<DeviceCall> cudnn_attention(std::shared_ptr<const Cudnn> library,
                                            const library::Kernel& attention, SharedGpu gpu,
                                            const Stream& stream, std::int64_t max_workspace) {
  OperationGraph graph(std::move(library));
  Writer writer(graph, attention);
  GraphInputs given = attention_of(attention).grad ? writer.backward() : writer.forward();
  auto call = std::make_unique<CudnnAttention>(
      attention, std::move(given), graph.plans(kMaxAttentionPlans), std::move(gpu), stream);
  call->keep_within(max_workspace);
  if (call->algorithm_count() == 0) return nullptr;
  return call;
}

}  // namespace recut::cuda
