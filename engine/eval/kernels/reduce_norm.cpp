// Norms over dimensions.
#include <cmath>

#include "engine/eval/kernel.h"
#include "engine/eval/kernels/elementwise.h"
#include "engine/eval/kernels/reduction.h"

namespace recut {
namespace {

using elementwise::larger;
using elementwise::smaller;

// A p-norm as a fold: initial value, step, and final function.
struct ReduceNormNorm {
  double p;

  double initial() const { return p == -INFINITY ? INFINITY : 0; }
  double join(double total, double x) const {
    const double size = std::abs(x);
    if (p == 0) return total + (x != 0 ? 1 : 0);
    if (p == INFINITY) return larger(total, size);
    if (p == -INFINITY) return smaller(total, size);
    if (p == 2) return total + x * x;
    return total + (p == 1 ? size : std::pow(size, p));
  }
  double finish(double total) const {
    if (p == 0 || p == 1 || std::isinf(p)) return total;
    return p == 2 ? std::sqrt(total) : std::pow(total, 1 / p);
  }
};

Reals norm_of(const Reals& values, const std::vector<bool>& reduced, const Shape& output,
              ReduceNormNorm norm) {
  Reals out = fold<double>(values, reduced, output, norm.initial(),
                           [&](double total, double x) { return norm.join(total, x); });
  for (double& x : out.data) x = norm.finish(x);
  return out;
}

Result<Done> norm(KernelContext& c) {
  const bool vector = c.call.op().parameter("ord").has_value();
  const auto p = c.call.maybe_scalar(vector ? "ord" : "p");
  const TensorType& out = c.output_types[0];
  const Reals self = read_as<double>(c, "self", out.dtype);
  const auto reduced = reduced_dimensions(c.call, self.shape);
  c.write(norm_of(self, reduced, out.shape, ReduceNormNorm{p ? p->real : 2}));
  return Done{};
}

Result<Done> dist(KernelContext& c) {
  const DType dtype = c.output_types[0].dtype;
  const auto shape = broadcast(c.call.tensor("self").shape, c.call.tensor("other").shape);
  if (!shape) return shape.diagnostics();
  const auto read = [&](std::string_view name) {
    return elementwise::broadcast_to(read_as<double>(c, name, dtype), *shape);
  };
  const Reals off = elementwise::map<double>([](double a, double b) { return a - b; }, read("self"),
                                             read("other"));
  const std::vector<bool> all(shape->size(), true);
  c.write(norm_of(off, all, Shape{}, ReduceNormNorm{c.call.scalar("p").real}));
  return Done{};
}

// ATen leaves a little room below the bound, so that rounding does not pass it.
Result<Done> renorm(KernelContext& c) {
  Reals self = c.reals("self");
  const ReduceNormNorm by{c.call.scalar("p").real};
  const double max_norm = c.call.scalar("maxnorm").real;
  const auto dim = wrap_dimension(c.call.integer("dim"), self.rank());
  if (!dim || self.rank() < 2) return error("renorm takes a dimension of a tensor of two or more");
  std::vector<bool> reduced(self.shape.size(), true);
  reduced[static_cast<std::size_t>(*dim)] = false;
  const Reals norms = norm_of(self, reduced, {self.shape[static_cast<std::size_t>(*dim)]}, by);
  for_each_reduced(self.shape, reduced, [&](std::int64_t i, std::int64_t o) {
    if (norms[o] > max_norm) self[i] *= max_norm / (norms[o] + 1e-7);
  });
  c.write(self);
  return Done{};
}

}  // namespace

void add_norm_kernels(KernelTable& table) {
  for (const Op op : {Op::norm_Scalar, Op::norm_ScalarOpt_dim, Op::norm_ScalarOpt_dtype,
                      Op::norm_ScalarOpt_dim_dtype, Op::linalg_vector_norm})
    table.add(op, norm);
  table.add(Op::dist, dist);
  table.add(Op::renorm, renorm);
}

}  // namespace recut
