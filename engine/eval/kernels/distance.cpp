// Pairwise distances (cdist, pdist) with gradients, and _trilinear. Distances are computed directly
// from differences, not through a matrix product, which would cancel for near points.
#include <cmath>

#include "engine/eval/kernels/elementwise.h"
#include "engine/eval/kernels/gemm.h"
#include "engine/eval/kernels/pointwise.h"

namespace recut {
namespace {

// The p-norm of differences, one by one. Differences are rounded to the operands' dtype, as
// PyTorch's are: whether one equals the largest of them (p = inf) depends on it.
struct DistanceNorm {
  double p;
  DType dtype;

  double difference(double a, double b) const { return round_to(dtype, a - b); }

  double add(double sum, double difference) const {
    const double x = std::abs(difference);
    if (p == 0) return sum + (x != 0 ? 1 : 0);
    if (std::isinf(p)) return x > sum || std::isnan(x) ? x : sum;
    if (p == 1) return sum + x;
    return sum + (p == 2 ? x * x : std::pow(x, p));
  }
  double finish(double sum) const {
    if (p == 0 || p == 1 || std::isinf(p)) return sum;
    return p == 2 ? std::sqrt(sum) : std::pow(sum, 1 / p);
  }

  // The derivative with respect to one difference; 0 where it isn't defined.
  double derivative(double difference, double distance) const {
    const double x = std::abs(difference);
    if (p == 0) return 0;
    if (p == 1) return sign_or_nan(difference);
    if (std::isinf(p)) return x == distance ? sign_or_nan(difference) : 0;
    if (distance == 0 || (difference == 0 && p < 1)) return 0;
    return sign_or_nan(difference) * std::pow(x, p - 1) / std::pow(distance, p - 1);
  }
};

double distance(const DistanceNorm& norm, const double* a, const double* b, std::int64_t length) {
  double sum = 0;
  for (std::int64_t i = 0; i < length; ++i) sum = norm.add(sum, norm.difference(a[i], b[i]));
  return norm.finish(sum);
}

// The batch shape with the last two dimensions of `shape`.
Shape with_batch(const Shape& batch, const Shape& shape) {
  Shape out = batch;
  out.insert(out.end(), shape.end() - 2, shape.end());
  return out;
}

DistanceNorm norm_of(const KernelContext& c) {
  const DType dtype = c.output_types[0].dtype;
  return {c.call.op().parameter("p") ? c.call.real("p") : 2.0, dtype};
}

Result<Done> cdist(KernelContext& c) {
  Reals out(c.output_types[0].shape);
  const Shape batch(out.shape.begin(), out.shape.end() - 2);
  Reals x1 = c.reals("x1");
  Reals x2 = c.reals("x2");
  x1 = elementwise::broadcast_to(x1, with_batch(batch, x1.shape));
  x2 = elementwise::broadcast_to(x2, with_batch(batch, x2.shape));
  const std::int64_t n = x1.shape[x1.shape.size() - 2];
  const std::int64_t m = x2.shape[x2.shape.size() - 2];
  const std::int64_t length = x1.shape.back();
  const DistanceNorm norm = norm_of(c);
  for (std::int64_t i = 0; i < out.count(); ++i) {
    const std::int64_t b = i / (n * m);
    out[i] = distance(norm, x1.data.data() + i / m * length,
                      x2.data.data() + (b * m + i % m) * length, length);
  }
  c.write(out);
  return Done{};
}

Result<Done> cdist_backward(KernelContext& c) {
  Reals out(c.output_types[0].shape);
  const Shape batch(out.shape.begin(), out.shape.end() - 2);
  Reals x1 = c.reals("x1");
  Reals x2 = c.reals("x2");
  x1 = elementwise::broadcast_to(x1, with_batch(batch, x1.shape));
  x2 = elementwise::broadcast_to(x2, with_batch(batch, x2.shape));
  const Reals grad = c.reals("grad");
  const Reals distances = c.reals("cdist");
  const std::int64_t n = x1.shape[x1.shape.size() - 2];
  const std::int64_t m = x2.shape[x2.shape.size() - 2];
  const std::int64_t length = x1.shape.back();
  const DistanceNorm norm = norm_of(c);
  for (std::int64_t i = 0; i < grad.count(); ++i) {
    const std::int64_t row = i / m;
    const std::int64_t other = i / (n * m) * m + i % m;
    for (std::int64_t k = 0; k < length; ++k) {
      const double d = norm.difference(x1[row * length + k], x2[other * length + k]);
      out[row * length + k] += grad[i] * norm.derivative(d, distances[i]);
    }
  }
  c.write(out);
  return Done{};
}

Result<Done> pdist(KernelContext& c) {
  const Reals x = c.reals("self");
  const std::int64_t n = x.shape[0];
  const std::int64_t length = x.shape[1];
  const DistanceNorm norm = norm_of(c);
  Reals out(c.output_types[0].shape);
  std::int64_t at = 0;
  for (std::int64_t i = 0; i < n; ++i)
    for (std::int64_t j = i + 1; j < n; ++j)
      out[at++] = distance(norm, x.data.data() + i * length, x.data.data() + j * length, length);
  c.write(out);
  return Done{};
}

Result<Done> pdist_backward(KernelContext& c) {
  const Reals x = c.reals("self");
  const Reals grad = c.reals("grad");
  const Reals distances = c.reals("pdist");
  const std::int64_t n = x.shape[0];
  const std::int64_t length = x.shape[1];
  const DistanceNorm norm = norm_of(c);
  Reals out(x.shape);
  std::int64_t at = 0;
  for (std::int64_t i = 0; i < n; ++i)
    for (std::int64_t j = i + 1; j < n; ++j, ++at)
      for (std::int64_t k = 0; k < length; ++k) {
        const double d = norm.difference(x[i * length + k], x[j * length + k]);
        const double g = grad[at] * norm.derivative(d, distances[at]);
        out[i * length + k] += g;
        out[j * length + k] -= g;
      }
  c.write(out);
  return Done{};
}

// An operand of _trilinear with its dimensions inserted.
Reals expanded(const KernelContext& c, std::string_view operand, std::string_view expand) {
  Reals x = c.reals(operand);
  const auto inserted = c.call.integers(expand);
  std::vector<bool> is_new(x.shape.size() + inserted.size(), false);
  for (const std::int64_t d : inserted) is_new[static_cast<std::size_t>(d)] = true;
  Shape shape;
  std::size_t from = 0;
  for (const bool fresh : is_new) shape.push_back(fresh ? 1 : x.shape[from++]);
  x.shape = std::move(shape);
  return x;
}

Result<Done> trilinear(KernelContext& c) {
  const Reals i1 = expanded(c, "i1", "expand1");
  const Reals i2 = expanded(c, "i2", "expand2");
  const Reals i3 = expanded(c, "i3", "expand3");
  const Shape all = broadcast(broadcast(i1.shape, i2.shape).value(), i3.shape).value();
  Shape kept = all;  // the output's shape, with 1 where a dimension is summed
  for (const std::int64_t d : c.call.integers("sumdim"))
    kept[static_cast<std::size_t>(
        wrap_dimension(d, static_cast<std::int64_t>(all.size())).value())] = 1;
  Reals out(kept);
  const Reals a = elementwise::broadcast_to(i1, all);
  const Reals b = elementwise::broadcast_to(i2, all);
  const Reals d = elementwise::broadcast_to(i3, all);
  const Strides steps = contiguous_strides(kept);
  for (std::int64_t i = 0; i < a.count(); ++i) {
    std::int64_t to = 0;
    std::int64_t rest = i;
    for (std::size_t k = all.size(); k-- > 0;) {
      if (kept[k] != 1) to += rest % all[k] * steps[k];
      rest /= all[k];
    }
    out[to] += a[i] * b[i] * d[i];
  }
  out.shape = c.output_types[0].shape;
  c.write(out);
  return Done{};
}

}  // namespace

void add_distance_kernels(KernelTable& t) {
  t.add(Op::_cdist_forward, cdist);
  t.add(Op::cdist, cdist);
  t.add(Op::_euclidean_dist, cdist);
  t.add(Op::_cdist_backward, cdist_backward);
  t.add(Op::_pdist_forward, pdist);
  t.add(Op::pdist, pdist);
  t.add(Op::_pdist_backward, pdist_backward);
  t.add(Op::_trilinear, trilinear);
}

}  // namespace recut
