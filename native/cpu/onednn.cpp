// Library kernels as sequences of oneDNN primitives. Matrix products take the graph's layouts as
// they are. Convolutions let oneDNN choose layouts (format_tag any), with reorders before and
// after:
//   operand -> reorder -> convolution -> reorder -> result
// Operands that keep their values, such as the weights of inference, are reordered once (pack).
// Other reordered operands and oneDNN's scratchpads lie in one buffer of the caller, so a run
// allocates nothing and its memory is known before it. A primitive fixes its number of threads when
// it is made. Small kernels are made for one thread; the threshold is on the call's multiply-adds alone,
// so the choice is the same on every machine.
#include "native/cpu/onednn.h"

#include <fmt/core.h>

#include <dnnl.hpp>
#include <functional>
#include <optional>
#include <utility>
#include <vector>

#include "engine/schedule/schedule.h"
#include "engine/support/check.h"
#include "engine/support/text.h"
#include "native/cpu/threads.h"

namespace recut::cpu {
namespace {

using dnnl::memory;
using library::Convolution;
using library::MatrixProduct;
using library::Operand;

constexpr std::int64_t kAlignment = 64;
constexpr auto kReal = memory::data_type::f32;
// Multiply-adds in the time of one loop statement. A core runs several statements at once;
// multiply-adds run on two units of eight lanes, on most cores.
constexpr double kFmasPerStatement = 5;

double elements(const Operand& operand) {
  return static_cast<double>(element_count(operand.layout.shape));
}

// Multiply-adds of a call. A convolution has as many as each of its two gradients.
double adds_of(const MatrixProduct& p) {
  return elements(p.out) * static_cast<double>(p.left.layout.shape.back());
}
double adds_of(const Convolution& c) {
  const double windows = elements(c.transposed ? c.input : c.output);
  return windows * elements(c.weight) / static_cast<double>(c.weight.layout.shape.front());
}
double adds_of(const library::Attention&) { return 0; }  // oneDNN doesn't run it

// The work in the units of loop stages. It depends on the call alone, so it is the same on every
// machine.
double work_of(const library::Kernel& kernel) {
  double adds = 0;
  for (const library::Call& call : kernel.calls)
    adds += std::visit([](const auto& c) { return adds_of(c); }, call);
  return adds / kFmasPerStatement;
}

// A graph's tensor: its location and layout.
struct OperandView {
  std::size_t buffer = 0;
  std::int64_t offset = 0;  // bytes
  memory::desc form;
};

OperandView view_of(const Operand& operand, const memory::dims& shape,
                    const memory::dims& strides) {
  return {operand.buffer, operand.layout.offset * item_bytes(DType::f32),
          memory::desc(shape, kReal, strides)};
}
OperandView view_of(const Operand& operand) {
  return view_of(operand, operand.layout.shape, operand.layout.strides);
}

// The layout that the primitive chooses.
memory::desc any(const OperandView& g) { return {g.form.dims(), kReal, memory::format_tag::any}; }

// One primitive with its memory. Its code is made just before it runs; its description already
// tells whether there is any.
struct PrimitiveCall {
  enum class Place : std::uint8_t { buffer, scratch, packed };
  struct Argument {
    memory where;
    Place place = Place::buffer;
    std::size_t buffer = 0;
    std::int64_t offset = 0;  // bytes
  };
  std::function<dnnl::primitive()> make;
  dnnl::primitive primitive;
  std::vector<Argument> arguments;
  std::vector<dnnl_exec_arg_t> names;
  bool packs = false;  // reorders a constant operand: once
};

// The primitives of one kernel, in order.
struct KernelPrimitives {
  std::vector<PrimitiveCall> actions;
  std::int64_t scratch_bytes = 0, packed_bytes = 0;
  bool single_threaded = false;  // runs on one thread
};

class Preparation {
  using Place = PrimitiveCall::Place;

 public:
  // `constant`: by buffer; empty: none.
  explicit Preparation(const dnnl::engine& engine, std::vector<bool> constant = {})
      : engine_(engine), constant_(std::move(constant)) {
    attributes_.set_scratchpad_mode(dnnl::scratchpad_mode::user);
  }

  KernelPrimitives run(const library::Kernel& kernel) {
    for (const library::Call& call : kernel.calls) {
      used_ = 0;
      std::visit([&](const auto& c) { add(c); }, call);
    }
    return std::move(sequence_);
  }

 private:
  // The memory of a primitive's operand: the graph's own, or another in the primitive's layout.
  struct BoundOperand {
    PrimitiveCall::Argument argument;
    std::optional<OperandView> original;  // set where the operand is reordered
  };

  std::int64_t take(std::size_t bytes) {
    const std::int64_t at = used_;
    used_ += aligned(static_cast<std::int64_t>(bytes), kAlignment);
    sequence_.scratch_bytes = std::max(sequence_.scratch_bytes, used_);
    return at;
  }

  PrimitiveCall::Argument argument(const OperandView& g) const {
    return {memory(g.form, engine_, DNNL_MEMORY_NONE), Place::buffer, g.buffer, g.offset};
  }
  PrimitiveCall::Argument scratch(const memory::desc& form) {
    return {memory(form, engine_, DNNL_MEMORY_NONE), Place::scratch, 0, take(form.get_size())};
  }
  PrimitiveCall::Argument packed(const memory::desc& form) {
    const std::int64_t at = sequence_.packed_bytes;
    sequence_.packed_bytes += aligned(static_cast<std::int64_t>(form.get_size()), kAlignment);
    return {memory(form, engine_, DNNL_MEMORY_NONE), Place::packed, 0, at};
  }
  bool is_constant(std::size_t buffer) const { return !constant_.empty() && constant_[buffer]; }

  BoundOperand bind(const OperandView& g, const memory::desc& preferred) {
    if (preferred == g.form) return {argument(g), {}};
    return {is_constant(g.buffer) ? packed(preferred) : scratch(preferred), g};
  }

  template <class Primitive, class Description>
  void push(const Description& description,
            std::vector<std::pair<int, PrimitiveCall::Argument>> arguments) {
    PrimitiveCall action;
    action.make = [description] { return dnnl::primitive(Primitive(description)); };
    for (auto& [name, one] : arguments) {
      action.names.push_back({name, one.where.get()});
      action.arguments.push_back(std::move(one));
    }
    sequence_.actions.push_back(std::move(action));
  }

  void reorder(const PrimitiveCall::Argument& from, const PrimitiveCall::Argument& to) {
    const dnnl::reorder::primitive_desc description(engine_, from.where.get_desc(), engine_,
                                                    to.where.get_desc(), attributes_);
    push<dnnl::reorder>(description,
                        {{DNNL_ARG_FROM, from},
                         {DNNL_ARG_TO, to},
                         {DNNL_ARG_SCRATCHPAD, scratch(description.scratchpad_desc())}});
  }

  // Operands that are read are reordered before the primitive, those written after it.
  struct NamedOperand {
    int name;
    OperandView tensor;
    memory::desc preferred;
    bool written = false;
  };
  template <class Primitive, class Description>
  void add(const Description& description, const std::vector<NamedOperand>& tensors) {
    std::vector<std::pair<int, PrimitiveCall::Argument>> arguments;
    std::vector<std::pair<PrimitiveCall::Argument, OperandView>> leaving;
    for (const NamedOperand& tensor : tensors) {
      BoundOperand one = bind(tensor.tensor, tensor.preferred);
      if (one.original && tensor.written) leaving.emplace_back(one.argument, *one.original);
      if (one.original && !tensor.written) {
        reorder(argument(*one.original), one.argument);
        sequence_.actions.back().packs = one.argument.place == Place::packed;
      }
      arguments.emplace_back(tensor.name, std::move(one.argument));
    }
    arguments.emplace_back(DNNL_ARG_SCRATCHPAD, scratch(description.scratchpad_desc()));
    push<Primitive>(description, std::move(arguments));
    for (const auto& [from, to] : leaving) reorder(from, argument(to));
  }

  void add(const MatrixProduct& p) {
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

  void add(const library::Attention&) { RECUT_CHECK(false, "what oneDNN runs is_common()"); }

  void add(const Convolution& c);
  template <class Direct>
  void add_as(const Convolution& c);

  const dnnl::engine& engine_;
  std::vector<bool> constant_;
  dnnl::primitive_attr attributes_;
  KernelPrimitives sequence_;
  std::int64_t used_ = 0;  // bytes of scratch, by this call
};

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

void Preparation::add(const Convolution& c) {
  c.transposed ? add_as<DeconvolutionFamily>(c) : add_as<ConvolutionFamily>(c);
}

template <class Family>
void Preparation::add_as(const Convolution& c) {
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
  const memory::desc bias_form = c.bias ? any(bias) : memory::desc();
  const auto made_for = [&](const memory::desc& from, const memory::desc& to) {
    return typename Forward::primitive_desc({kind, Family::kAlgorithm, from, any(weight), bias_form,
                                             to, c.stride, dilation, c.padding, behind},
                                            attributes_, engine_);
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
    return add<Forward>(forward, tensors);
  }
  if (c.direction == Convolution::Direction::input_gradient) {
    const typename Data::primitive_desc data({Family::kAlgorithm, any(input), any(weight),
                                              any(output), c.stride, dilation, c.padding, behind},
                                             attributes_, engine_, forward);
    return add<Data>(data, {{DNNL_ARG_DIFF_DST, output, data.diff_dst_desc()},
                            {DNNL_ARG_WEIGHTS, weight, data.weights_desc()},
                            {DNNL_ARG_DIFF_SRC, input, data.diff_src_desc(), true}});
  }
  const typename Weights::primitive_desc weights(
      {Family::kAlgorithm, any(input), any(weight), bias_form, any(output), c.stride, dilation,
       c.padding, behind},
      attributes_, engine_, forward);
  std::vector<NamedOperand> tensors{
      {DNNL_ARG_SRC, input, weights.src_desc()},
      {DNNL_ARG_DIFF_DST, output, weights.diff_dst_desc()},
      {DNNL_ARG_DIFF_WEIGHTS, weight, weights.diff_weights_desc(), true}};
  if (c.bias) tensors.push_back({DNNL_ARG_DIFF_BIAS, bias, weights.diff_bias_desc(), true});
  add<Weights>(weights, tensors);
}

}  // namespace

bool onednn_takes(const library::Kernel& kernel) {
  if (!library::is_portable(kernel)) return false;
  static const dnnl::engine kEngine(dnnl::engine::kind::cpu, 0);
  try {
    Preparation(kEngine).run(kernel);
  } catch (const dnnl::error&) {
    return false;
  }
  return true;
}

std::string onednn_version() {
  const dnnl_version_t* version = dnnl_version();
  return fmt::format("{}.{}.{}", version->major, version->minor, version->patch);
}

struct OneDnn::Primitives {
  dnnl::engine engine{dnnl::engine::kind::cpu, 0};
  dnnl::stream stream{engine};
  std::vector<KernelPrimitives> kernels;

  void run(const PrimitiveCall& action, void* const* buffers, std::byte* scratch,
           std::byte* packed) const;
  // The actions that pack constant operands, or all others.
  void run_all(bool packing, std::uint32_t kernel, void* const* buffers, std::byte* scratch,
               std::byte* packed) const;
};

OneDnn::OneDnn(std::unique_ptr<Primitives> primitives) : primitives_(std::move(primitives)) {}
OneDnn::OneDnn(OneDnn&& other) noexcept = default;
OneDnn& OneDnn::operator=(OneDnn&& other) noexcept = default;
OneDnn::~OneDnn() = default;

Result<OneDnn> OneDnn::prepare(std::span<const library::Kernel> kernels, double min_parallel_work,
                               const std::vector<std::vector<bool>>& constant) {
  auto primitives = std::make_unique<Primitives>();
  for (std::size_t k = 0; k < kernels.size(); ++k) try {
      const library::Kernel& kernel = kernels[k];
      // A primitive fixes its number of threads when it is made.
      std::optional<SingleThreadScope> single_threaded;
      if (work_of(kernel) < min_parallel_work) single_threaded.emplace();
      KernelPrimitives sequence = Preparation(primitives->engine, constant[k]).run(kernel);
      for (PrimitiveCall& action : sequence.actions) action.primitive = action.make();
      sequence.single_threaded = single_threaded.has_value();
      primitives->kernels.push_back(std::move(sequence));
    } catch (const dnnl::error& fault) {
      return error(fmt::format("node {}: oneDNN has no code for it: {}", quote(kernels[k].name),
                               fault.what()));
    }
  return OneDnn(std::move(primitives));
}

std::int64_t OneDnn::scratch_bytes() const {
  std::int64_t most = 0;
  for (const KernelPrimitives& sequence : primitives_->kernels)
    most = std::max(most, sequence.scratch_bytes);
  return most;
}

void OneDnn::Primitives::run(const PrimitiveCall& action, void* const* buffers, std::byte* scratch,
                             std::byte* packed) const {
  for (const PrimitiveCall::Argument& argument : action.arguments) {
    std::byte* base = static_cast<std::byte*>(buffers[argument.buffer]);
    if (argument.place == PrimitiveCall::Place::scratch) base = scratch;
    if (argument.place == PrimitiveCall::Place::packed) base = packed;
    dnnl_memory_set_data_handle(argument.where.get(), base + argument.offset);
  }
  const dnnl_status_t status =
      dnnl_primitive_execute(action.primitive.get(), stream.get(),
                             static_cast<int>(action.names.size()), action.names.data());
  RECUT_CHECK(status == dnnl_success, "a primitive that was made runs");
}

void OneDnn::Primitives::run_all(bool packing, std::uint32_t kernel, void* const* buffers,
                                 std::byte* scratch, std::byte* packed) const {
  const KernelPrimitives& sequence = kernels[kernel];
  std::optional<SingleThreadScope> single_threaded;
  if (sequence.single_threaded) single_threaded.emplace();
  for (const PrimitiveCall& action : sequence.actions)
    if (action.packs == packing) run(action, buffers, scratch, packed);
}

std::int64_t OneDnn::packed_bytes(std::uint32_t kernel) const {
  return primitives_->kernels[kernel].packed_bytes;
}

void OneDnn::pack(std::uint32_t kernel, void* const* buffers, std::byte* scratch,
                  std::byte* packed) const {
  primitives_->run_all(true, kernel, buffers, scratch, packed);
}

void OneDnn::run(std::uint32_t kernel, void* const* buffers, std::byte* scratch,
                 std::byte* packed) const {
  primitives_->run_all(false, kernel, buffers, scratch, packed);
}

}  // namespace recut::cpu
