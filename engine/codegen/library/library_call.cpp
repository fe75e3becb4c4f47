// Pattern matching of one call (epilogues are in the operator already, e.g. addmm): its operands
// become strided views of buffers, and its attributes plain numbers.
//   %y = addmm(%b, %x, %w)  =>  %y[8, 4 by 4, 1] = product %x[8, 6 by 6, 1], ..., plus %b[4 by 1]
// Every accepted operand has distinct elements and a contiguous dimension, as BLAS requires of
// matrices; anything else is lowered to loops. A convolution's backward becomes one call for each
// requested gradient. The printed form serves goldens and dumps, and is never parsed.
#include "engine/codegen/library/library_call.h"

#include <fmt/format.h>

#include <algorithm>

#include "engine/codegen/library/attention_call.h"
#include "engine/codegen/library/call_operands.h"
#include "engine/codegen/lower/sliding_window.h"
#include "engine/support/text.h"

namespace recut::library {
namespace {

bool is_vector(const Layout& layout) {
  return layout.shape.size() == 1 && (layout.shape[0] == 1 || layout.strides[0] == 1);
}

// True where no two indices share an element. By ascending stride, each step has to exceed the
// reach of the dimensions before.
bool has_distinct_elements(const Layout& layout) {
  std::vector<std::pair<std::int64_t, std::int64_t>> steps;
  for (std::size_t d = 0; d < layout.shape.size(); ++d)
    if (layout.shape[d] > 1) steps.emplace_back(layout.strides[d], layout.shape[d]);
  std::sort(steps.begin(), steps.end());
  std::int64_t reached = 0;
  for (const auto& [stride, size] : steps) {
    if (stride <= reached) return false;
    reached += stride * (size - 1);
  }
  return true;
}

// A BLAS matrix: distinct elements, and the stride 1 in one of the last two dimensions.
bool is_matrix(const Layout& layout) {
  const std::size_t rank = layout.shape.size();
  const auto steps_by_one = [&](std::size_t d) {
    return layout.shape[d] == 1 || layout.strides[d] == 1;
  };
  return has_distinct_elements(layout) && (steps_by_one(rank - 1) || steps_by_one(rank - 2));
}

class LibraryCallMatcher {
 public:
  LibraryCallMatcher(const Graph& graph, const StorageModel& storages, NodeId id)
      : operands_(graph, storages, id), call_(operands_.call()) {}

  std::optional<Kernel> run() {
    switch (operands_.op()) {
      case Op::mm:
        product("self", "mat2");
        break;
      case Op::bmm:
        product("self", "mat2");
        break;
      case Op::addmm:
        product("mat1", "mat2", true);
        break;
      case Op::_addmm_activation:
        if (call_.boolean("use_gelu")) return std::nullopt;
        product("mat1", "mat2", true, true);
        break;
      case Op::baddbmm:
        product("batch1", "batch2", true);
        break;
      case Op::convolution:
      case Op::_convolution:
        forward(call_.boolean("transposed"));
        break;
      case Op::conv1d:
      case Op::conv2d:
      case Op::conv3d:
        forward(false);
        break;
      case Op::recut_clamped_convolution:
        forward(false);
        break;
      case Op::conv_transpose1d:
      case Op::conv_transpose2d_input:
      case Op::conv_transpose3d_input:
        forward(true);
        break;
      case Op::convolution_backward:
        backward();
        break;
      default:
        return std::nullopt;
    }
    if (!fits_ || calls_.empty() || !has_library_dtype()) return std::nullopt;
    return std::move(operands_).kernel(std::move(calls_));
  }

 private:
  // Operands
  Operand read(std::string_view parameter) {
    auto operand = operands_.read(parameter);
    fits_ = fits_ && operand.has_value();
    return operand.value_or(Operand());
  }
  Operand written(std::size_t output) { return operands_.written(output); }
  bool is_requested(std::size_t output) const { return operands_.is_requested(output); }

  // All operands have one dtype, and libraries support it.
  DType dtype() const { return operands_.buffers().front().dtype; }
  bool has_library_dtype() const {
    const DType one = dtype();
    return (one == DType::f32 || one == DType::f16 || one == DType::bf16) &&
           std::all_of(operands_.buffers().begin(), operands_.buffers().end(),
                       [&](const loop::Buffer& buffer) {
                         return buffer.dtype == one && buffer.elements > 0;
                       });
  }

  // Calls
  void product(std::string_view left, std::string_view right, bool plus_self = false,
               bool relu = false) {
    MatrixProduct p;
    p.relu = relu;
    p.left = read(left);
    p.right = read(right);
    if (plus_self) add_self(p);
    if (!fits_) return;
    p.out = written(0);
    p.dtype = dtype();
    const Shape& shape = p.out.layout.shape;
    fits_ = is_matrix(p.left.layout) && is_matrix(p.right.layout) && is_matrix(p.out.layout) &&
            (!p.bias || (is_vector(p.bias->layout) && p.bias->layout.shape[0] == shape.back())) &&
            (!p.addend || (p.addend->layout.shape == shape && is_matrix(p.addend->layout)));
    calls_.emplace_back(std::move(p));
  }

  // beta * self + alpha * product; self is not read where beta is 0 (as in ATen).
  void add_self(MatrixProduct& p) {
    p.alpha = call_.scalar("alpha").real;
    const double beta = call_.scalar("beta").real;
    if (beta == 0) return;
    if (call_.tensor("self").rank() == 1) {
      fits_ = fits_ && beta == 1;
      p.bias = read("self");
    } else {
      p.beta = beta;
      p.addend = read("self");
    }
  }

  Convolution convolution(Convolution::Direction direction, bool transposed,
                          std::size_t dims) const {
    Convolution c;
    c.direction = direction;
    c.transposed = transposed;
    c.groups = call_.integer("groups");
    c.stride = loop::per_dimension(call_, "stride", dims, 1);
    c.padding = loop::per_dimension(call_, "padding", dims, 0);
    c.dilation = loop::per_dimension(call_, "dilation", dims, 1);
    return c;
  }

  void add(Convolution c) {
    if (!fits_) return;
    fits_ = c.input.layout.shape.size() == c.weight.layout.shape.size() &&
            has_distinct_elements(c.input.layout) && has_distinct_elements(c.weight.layout) &&
            has_distinct_elements(c.output.layout) && (!c.bias || is_vector(c.bias->layout));
    c.dtype = dtype();
    calls_.emplace_back(std::move(c));
  }

  std::size_t dims() const { return call_.tensor("weight").shape.size() - 2; }

  void forward(bool transposed) {
    Convolution c = convolution(Convolution::Direction::forward, transposed, dims());
    c.input = read("input");
    c.weight = read("weight");
    if (call_.is_tensor("bias")) c.bias = read("bias");
    if (operands_.op() == Op::recut_clamped_convolution) read_epilogue(c);
    c.output = written(0);
    add(std::move(c));
  }

  void read_epilogue(Convolution& c) {
    if (call_.is_tensor("addend")) c.addend = read("addend");
    if (const auto low = call_.maybe_scalar("low")) c.low = low->real;
    if (const auto high = call_.maybe_scalar("high")) c.high = high->real;
  }

  // The gradient of the bias is computed with that of the weight, and not alone.
  void backward() {
    const bool transposed = call_.boolean("transposed");
    if (is_requested(2) && !is_requested(1)) {
      fits_ = false;
      return;
    }
    if (is_requested(0)) {
      Convolution c = convolution(Convolution::Direction::input_gradient, transposed, dims());
      c.output = read("grad_output");
      c.weight = read("weight");
      c.input = written(0);
      add(std::move(c));
    }
    if (!is_requested(1)) return;
    Convolution c = convolution(Convolution::Direction::weight_gradient, transposed, dims());
    c.output = read("grad_output");
    c.input = read("input");
    c.weight = written(1);
    if (is_requested(2)) c.bias = written(2);
    add(std::move(c));
  }

  CallOperands operands_;
  const recut::Call& call_;
  std::vector<Call> calls_;
  bool fits_ = true;
};

class Printer {
 public:
  explicit Printer(const Kernel& kernel) : kernel_(kernel) {}

  std::string run() const {
    std::string text = fmt::format("library kernel {} {{\n", string_literal(kernel_.name));
    for (const std::string& location : kernel_.locations)
      text += fmt::format("  note {}\n", string_literal(location));
    for (const loop::Buffer& buffer : kernel_.buffers)
      text +=
          fmt::format("  buffer %{} : {}[{}] {}\n", buffer.name, short_name(buffer.dtype),
                      buffer.elements, buffer.access == loop::Access::read ? "read" : "written");
    for (const Call& call : kernel_.calls)
      text += "  " + std::visit([&](const auto& c) { return line(c); }, call) + "\n";
    return text + "}\n";
  }

 private:
  std::string line(const MatrixProduct& p) const {
    std::string plus;
    if (p.bias) plus = ", plus " + operand(*p.bias);
    if (p.addend) plus = ", plus " + times(p.beta) + operand(*p.addend);
    return fmt::format("{} = {}product {}, {}{}{}", operand(p.out), times(p.alpha), operand(p.left),
                       operand(p.right), plus, p.relu ? ", relu" : "");
  }

  std::string line(const Convolution& c) const {
    std::string text;
    const auto bias = [&](const char* before) {
      return c.bias ? before + operand(*c.bias) : std::string();
    };
    switch (c.direction) {
      case Convolution::Direction::forward:
        text = fmt::format("{} = convolution {}, {}{}{}{}{}", operand(c.output), operand(c.input),
                           operand(c.weight), bias(", plus "),
                           c.addend ? ", plus " + operand(*c.addend) : "",
                           c.low ? fmt::format(", at least {}", *c.low) : "",
                           c.high ? fmt::format(", at most {}", *c.high) : "");
        break;
      case Convolution::Direction::input_gradient:
        text = fmt::format("{} = input gradient of convolution {}, {}", operand(c.input),
                           operand(c.output), operand(c.weight));
        break;
      case Convolution::Direction::weight_gradient:
        text = fmt::format("{}{} = weight gradient of convolution {}, {}", operand(c.weight),
                           bias(", "), operand(c.output), operand(c.input));
        break;
    }
    return text + fmt::format("{} stride {} padding {} dilation {} groups {}",
                              c.transposed ? " transposed" : "", fmt::join(c.stride, "x"),
                              fmt::join(c.padding, "x"), fmt::join(c.dilation, "x"), c.groups);
  }

  std::string line(const Attention& a) const {
    std::string text, results;
    const auto add = [&](std::string& to, const char* before, const std::optional<Operand>& o) {
      if (o) to += before + operand(*o);
    };
    for (const auto* written : {&a.query_gradient, &a.key_gradient, &a.value_gradient})
      add(results, results.empty() ? "" : ", ", *written);
    if (!a.grad) {
      results = operand(a.out);
      add(results, ", ", a.logsumexp);
      for (const Operand& zero : a.zeros) results += ", " + operand(zero);
    }
    text =
        fmt::format("{} = {} {}, {}, {}", results, a.grad ? "gradients of attention" : "attention",
                    operand(a.query), operand(a.key), operand(a.value));
    add(text, ", plus ", a.bias);
    add(text, ", kept ", a.keep);
    if (a.grad) text += ", of " + operand(a.out);
    add(text, ", ", a.grad ? a.logsumexp : std::nullopt);
    add(text, ", ", a.grad);
    return text + fmt::format(" scale {}{}{}", a.scale, a.causal ? " causal" : "",
                              a.keep ? fmt::format(" keep scale {}", a.keep_scale) : "");
  }

  static std::string times(double scale) { return scale == 1 ? "" : fmt::format("{} * ", scale); }

  std::string operand(const Operand& o) const {
    return fmt::format("%{}{}[{} by {}]", kernel_.buffers[o.buffer].name,
                       o.layout.offset == 0 ? "" : fmt::format(" + {}", o.layout.offset),
                       fmt::join(o.layout.shape, ", "), fmt::join(o.layout.strides, ", "));
  }

  const Kernel& kernel_;
};

}  // namespace

std::optional<Kernel> library_kernel(const Graph& graph, const StorageModel& storages, NodeId id) {
  if (auto attention = attention_kernel(graph, storages, id)) return attention;
  return LibraryCallMatcher(graph, storages, id).run();
}

bool is_portable(const Kernel& kernel) {
  return std::all_of(kernel.calls.begin(), kernel.calls.end(), [](const Call& call) {
    if (const auto* product = std::get_if<MatrixProduct>(&call))
      return product->dtype == DType::f32 && product->alpha == 1 && !product->addend &&
             !product->relu;
    const auto* convolution = std::get_if<Convolution>(&call);
    return convolution != nullptr && convolution->dtype == DType::f32 &&
           !convolution->has_epilogue();
  });
}

Kernel strip_names(Kernel kernel) {
  kernel.name.clear();
  kernel.locations.clear();
  for (std::size_t b = 0; b < kernel.buffers.size(); ++b)
    kernel.buffers[b].name = std::to_string(b);
  return kernel;
}

std::string print(const Kernel& kernel) { return Printer(kernel).run(); }

}  // namespace recut::library
