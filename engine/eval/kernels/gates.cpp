// Gates, and similarities along a dimension.
#include <cmath>

#include "engine/eval/kernels/elementwise.h"
#include "engine/eval/kernels/gemm.h"
#include "engine/eval/kernels/pointwise.h"

namespace recut {
namespace {

// Splits dimension `dim` in two halves, and pairs element i of the first half with its partner.
struct GluSplit {
  std::int64_t half = 0;  // elements of one half's block

  GluSplit(const Call& call, const Shape& in) {
    const auto d = static_cast<std::size_t>(
        wrap_dimension(call.integer("dim"), static_cast<std::int64_t>(in.size())).value());
    half = in[d] / 2 * contiguous_strides(in)[d];
  }
  std::int64_t first(std::int64_t i) const { return i / half * 2 * half + i % half; }
  std::int64_t second(std::int64_t i) const { return first(i) + half; }
};

Result<Done> glu(KernelContext& c) {
  const Reals x = c.reals("self");
  Reals out(c.output_types[0].shape);
  const GluSplit h(c.call, x.shape);
  for (std::int64_t i = 0; i < out.count(); ++i) out[i] = x[h.first(i)] * sigmoid(x[h.second(i)]);
  c.write(out);
  return Done{};
}

Result<Done> glu_backward(KernelContext& c) {
  const Reals x = c.reals("self");
  const Reals grad = c.reals("grad_output");
  Reals out(x.shape);
  const GluSplit h(c.call, x.shape);
  for (std::int64_t i = 0; i < grad.count(); ++i) {
    const double gate = sigmoid(x[h.second(i)]);
    out[h.first(i)] = grad[i] * gate;
    out[h.second(i)] = grad[i] * x[h.first(i)] * gate * (1 - gate);
  }
  c.write(out);
  return Done{};
}

Result<Done> prelu(KernelContext& c) {
  Reals out = c.reals("self");
  const Reals weight = c.reals("weight");
  const std::int64_t step =
      out.rank() > 1 ? element_count(Shape(out.shape.begin() + 2, out.shape.end())) : 1;
  for (std::int64_t i = 0; i < out.count(); ++i)
    if (!(out[i] > 0)) out[i] *= weight[weight.count() == 1 ? 0 : i / step % weight.count()];
  c.write(out);
  return Done{};
}

// Norms are kept above eps one by one, as torch does.
Result<Done> cosine_similarity(KernelContext& c) {
  const Shape shape = broadcast(c.call.tensor("x1").shape, c.call.tensor("x2").shape).value();
  const Reals a = elementwise::broadcast_to(c.reals("x1"), shape);
  const Reals b = elementwise::broadcast_to(c.reals("x2"), shape);
  Reals out(c.output_types[0].shape);
  const auto rank = static_cast<std::int64_t>(shape.size());
  const auto d = static_cast<std::size_t>(wrap_dimension(c.call.integer("dim"), rank).value());
  const std::int64_t count = rank == 0 ? 1 : shape[d];
  const std::int64_t step = rank == 0 ? 1 : contiguous_strides(shape)[d];
  const double eps = c.call.real("eps");
  for (std::int64_t i = 0; i < out.count(); ++i) {
    double aa = 0, bb = 0, ab = 0;
    for (std::int64_t k = 0; k < count; ++k) {
      const std::int64_t at = (i / step * count + k) * step + i % step;
      aa += a[at] * a[at];
      bb += b[at] * b[at];
      ab += a[at] * b[at];
    }
    out[i] = ab / (std::max(std::sqrt(aa), eps) * std::max(std::sqrt(bb), eps));
  }
  c.write(out);
  return Done{};
}

Result<Done> pairwise_distance(KernelContext& c) {
  const Shape shape = broadcast(c.call.tensor("x1").shape, c.call.tensor("x2").shape).value();
  const Reals a = elementwise::broadcast_to(c.reals("x1"), shape);
  const Reals b = elementwise::broadcast_to(c.reals("x2"), shape);
  Reals out(c.output_types[0].shape);
  const double p = c.call.real("p");
  const double eps = c.call.real("eps");
  const std::int64_t length = shape.back();
  for (std::int64_t i = 0; i < out.count(); ++i) {
    double sum = 0;
    for (std::int64_t k = 0; k < length; ++k) {
      const double d = std::abs(a[i * length + k] - b[i * length + k] + eps);
      if (std::isinf(p))
        sum = std::max(sum, d);
      else
        sum += p == 0 ? (d != 0 ? 1.0 : 0.0) : std::pow(d, p);
    }
    out[i] = std::isinf(p) || p == 0 ? sum : std::pow(sum, 1 / p);
  }
  c.write(out);
  return Done{};
}

}  // namespace

void add_gate_kernels(KernelTable& t) {
  t.add(Op::glu, glu);
  t.add(Op::glu_backward, glu_backward);
  t.add(Op::prelu, prelu);
  t.add(Op::cosine_similarity, cosine_similarity);
  t.add(Op::pairwise_distance, pairwise_distance);
}

}  // namespace recut
