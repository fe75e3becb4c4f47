// Matrix products take the graph's layouts as they are. Operands that keep their values, such as
// the weights of inference, are reordered once (pack). Other reordered operands and oneDNN's
// scratchpads lie in one buffer of the caller, so a run allocates nothing and its memory is known
// before it.
#include "native/cpu/onednn_kernel.h"

#include <algorithm>
#include <cmath>

#include "engine/schedule/schedule.h"
#include "engine/support/check.h"
#include "native/cpu/threads.h"

namespace recut::cpu::onednn {

using library::MatrixProduct;
using library::Operand;

OperandView view_of(const Operand& operand, const memory::dims& shape,
                    const memory::dims& strides) {
  return {operand.buffer, operand.layout.offset * item_bytes(DType::f32),
          memory::desc(shape, kReal, strides)};
}

OperandView view_of(const Operand& operand) {
  return view_of(operand, operand.layout.shape, operand.layout.strides);
}

memory::desc any(const OperandView& g) { return {g.form.dims(), kReal, memory::format_tag::any}; }

void PrimitiveCall::run(const dnnl::stream& stream, void* const* buffers, std::byte* scratch,
                        std::byte* packed) const {
  for (const Argument& argument : arguments) {
    std::byte* base = static_cast<std::byte*>(buffers[argument.buffer]);
    if (argument.place == Place::scratch) base = scratch;
    if (argument.place == Place::packed) base = packed;
    dnnl_memory_set_data_handle(argument.where.get(), base + argument.offset);
  }
  const dnnl_status_t status = dnnl_primitive_execute(primitive.get(), stream.get(),
                                                      static_cast<int>(names.size()), names.data());
  RECUT_CHECK(status == dnnl_success, "a primitive that was made runs");
}

void ClampCall::run(void* const* buffers) const {
  constexpr std::int64_t kGrain = 1024;
  float* const values = static_cast<float*>(buffers[buffer]) + offset;
  const auto part = [&](std::int64_t first, std::int64_t last) {
#pragma omp simd
    for (std::int64_t i = first; i < last; ++i) {
      const float above = values[i] < low ? low : values[i];
      values[i] = above > high ? high : above;
    }
  };
  Threads(threads).run(count, kGrain, std::cref(part));
}

KernelPreparation::KernelPreparation(const dnnl::engine& engine, std::vector<bool> constant)
    : engine_(engine), constant_(std::move(constant)) {
  attributes_.set_scratchpad_mode(dnnl::scratchpad_mode::user);
}

KernelPrimitives KernelPreparation::run(const library::Kernel& kernel) {
  for (const library::Call& call : kernel.calls) {
    used_ = 0;
    if (const auto* product = std::get_if<MatrixProduct>(&call)) add_product(*product);
    if (const auto* convolution = std::get_if<library::Convolution>(&call))
      add_convolution(*this, *convolution);
    if (const auto* attention = std::get_if<library::Attention>(&call)) {
      AttentionCall heads(engine_, kernel, *attention);
      take(heads.scratch_bytes());
      sequence_.actions.emplace_back(std::move(heads));
    }
  }
  return std::move(sequence_);
}

std::int64_t KernelPreparation::take(std::int64_t bytes) {
  const std::int64_t at = used_;
  used_ += aligned(bytes, kScratchAlignment);
  sequence_.scratch_bytes = std::max(sequence_.scratch_bytes, used_);
  return at;
}

PrimitiveCall::Argument KernelPreparation::argument(const OperandView& g) const {
  return {memory(g.form, engine_, DNNL_MEMORY_NONE), Place::buffer, g.buffer, g.offset};
}

PrimitiveCall::Argument KernelPreparation::scratch(const memory::desc& form) {
  return {memory(form, engine_, DNNL_MEMORY_NONE), Place::scratch, 0,
          take(static_cast<std::int64_t>(form.get_size()))};
}

PrimitiveCall::Argument KernelPreparation::packed(const memory::desc& form) {
  const std::int64_t at = sequence_.packed_bytes;
  sequence_.packed_bytes += aligned(static_cast<std::int64_t>(form.get_size()), kScratchAlignment);
  return {memory(form, engine_, DNNL_MEMORY_NONE), Place::packed, 0, at};
}

KernelPreparation::BoundOperand KernelPreparation::bind(const OperandView& g,
                                                        const memory::desc& preferred) {
  if (preferred == g.form) return {argument(g), {}};
  return {is_constant(g.buffer) ? packed(preferred) : scratch(preferred), g};
}

PrimitiveCall& KernelPreparation::push(Code code, NamedArguments arguments) {
  PrimitiveCall action;
  action.code = std::move(code);
  for (auto& [name, one] : arguments) {
    action.names.push_back({name, one.where.get()});
    action.arguments.push_back(std::move(one));
  }
  return std::get<PrimitiveCall>(sequence_.actions.emplace_back(std::move(action)));
}

PrimitiveCall& KernelPreparation::reorder(const PrimitiveCall::Argument& from,
                                          const PrimitiveCall::Argument& to) {
  const dnnl::reorder::primitive_desc description(engine_, from.where.get_desc(), engine_,
                                                  to.where.get_desc(), attributes_);
  return push([description] { return dnnl::primitive(dnnl::reorder(description)); },
              {{DNNL_ARG_FROM, from},
               {DNNL_ARG_TO, to},
               {DNNL_ARG_SCRATCHPAD, scratch(description.scratchpad_desc())}});
}

void KernelPreparation::clamp(const Operand& result, std::optional<double> low,
                              std::optional<double> high) {
  sequence_.actions.emplace_back(
      ClampCall{result.buffer, result.layout.offset, element_count(result.layout.shape),
                static_cast<float>(low.value_or(-HUGE_VAL)),
                static_cast<float>(high.value_or(HUGE_VAL)), Threads::available()});
}

void KernelPreparation::add(Code code, const memory::desc& scratchpad,
                            const std::vector<NamedOperand>& tensors) {
  NamedArguments arguments;
  std::vector<std::pair<PrimitiveCall::Argument, OperandView>> leaving;
  for (const NamedOperand& tensor : tensors) {
    BoundOperand one = bind(tensor.tensor, tensor.preferred);
    if (one.original && tensor.written) leaving.emplace_back(one.argument, *one.original);
    if (one.original && !tensor.written)
      reorder(argument(*one.original), one.argument).packs = one.argument.place == Place::packed;
    arguments.emplace_back(tensor.name, std::move(one.argument));
  }
  arguments.emplace_back(DNNL_ARG_SCRATCHPAD, scratch(scratchpad));
  push(std::move(code), std::move(arguments));
  for (const auto& [from, to] : leaving) reorder(from, argument(to));
}

void KernelPreparation::add_product(const MatrixProduct& p) {
  const OperandView left = view_of(p.left), right = view_of(p.right), out = view_of(p.out);
  std::optional<OperandView> bias;
  if (p.bias) {
    memory::dims shape(p.out.layout.shape.size(), 1);
    shape.back() = p.out.layout.shape.back();
    bias = view_of(*p.bias, shape, contiguous_strides(shape));
  }
  // Rows of a power of two share sets of the cache, and a layout of blocks doesn't have them.
  const memory::desc factor = is_constant(p.right.buffer) ? any(right) : right.form;
  const auto d = bias ? dnnl::matmul::desc(left.form, factor, bias->form, out.form)
                      : dnnl::matmul::desc(left.form, factor, out.form);
  const dnnl::matmul::primitive_desc description(d, attributes_, engine_);
  std::vector<NamedOperand> tensors{{DNNL_ARG_SRC, left, description.src_desc()},
                                    {DNNL_ARG_WEIGHTS, right, description.weights_desc()},
                                    {DNNL_ARG_DST, out, description.dst_desc(), true}};
  if (bias) tensors.push_back({DNNL_ARG_BIAS, *bias, description.bias_desc()});
  add<dnnl::matmul>(description, tensors);
}

}  // namespace recut::cpu::onednn
