// Deterministic creation: fills, ranges, identity matrices, triangle indices. linspace counts from
// the nearer end, like ATen's, so that both ends are exact.
#include <algorithm>
#include <cmath>

#include "engine/eval/kernel.h"
#include "engine/eval/kernels/elementwise.h"

namespace recut {
namespace {

using namespace elementwise;

const Shape& shape_of(const KernelContext& c) { return c.output_types[0].shape; }

Done fill_with(KernelContext& c, const Scalar& scalar) {
  if (scalar.category == DType::f64)
    c.write(Reals(shape_of(c), scalar.real));
  else
    c.write(Integers(shape_of(c), scalar.integer));
  return Done{};
}

Result<Done> zeros(KernelContext&) { return Done{}; }  // storages start as zeros
Result<Done> ones(KernelContext& c) { return fill_with(c, Scalar{DType::i64, 1, 1}); }
Result<Done> full(KernelContext& c) { return fill_with(c, c.call.scalar("fill_value")); }
Result<Done> scalar_tensor(KernelContext& c) { return fill_with(c, c.call.scalar("s")); }

// Fills a one-dimensional tensor with f(i).
template <class T, class F>
Done count_up(KernelContext& c, F f) {
  Dense<T> out(shape_of(c));
  for (std::int64_t i = 0; i < out.count(); ++i) out[i] = f(i);
  c.write(out);
  return Done{};
}

Result<Done> eye(KernelContext& c) {
  Integers out(shape_of(c));
  const std::int64_t columns = out.shape[1];
  for (std::int64_t i = 0; i < std::min(out.shape[0], columns); ++i) out[i * columns + i] = 1;
  c.write(out);
  return Done{};
}

Result<Done> arange(KernelContext& c) {
  const auto number_at = [&](std::string_view name, std::int64_t otherwise) {
    return c.call.op().parameter(name)
               ? c.call.scalar(name)
               : Scalar{DType::i64, static_cast<double>(otherwise), otherwise};
  };
  const Scalar start = number_at("start", 0);
  const Scalar step = number_at("step", 1);
  if (is_floating(c.output_types[0].dtype))
    return count_up<double>(
        c, [=](std::int64_t i) { return start.real + step.real * static_cast<double>(i); });
  return count_up<std::int64_t>(
      c, [=](std::int64_t i) { return plus(start.integer, times(step.integer, i)); });
}

// ATen counts from the nearer end, so that both ends come out exactly.
double evenly_spaced(double start, double end, std::int64_t steps, std::int64_t i) {
  if (steps == 1) return start;
  const double step = (end - start) / static_cast<double>(steps - 1);
  if (i < steps / 2) return start + step * static_cast<double>(i);
  return end - step * static_cast<double>(steps - 1 - i);
}

Result<Done> linspace(KernelContext& c) {
  const DType dtype = c.output_types[0].dtype;
  const auto end_of = [&](std::string_view name) {
    const Reals value = c.reals(name);
    const double real = value.count() == 1 ? value[0] : 0;
    return is_floating(dtype) ? round_to(dtype, real) : std::trunc(real);
  };
  const double start = end_of("start");
  const double end = end_of("end");
  const std::int64_t steps = c.call.integer("steps");
  const bool logarithmic = c.call.op().packet == "logspace";
  const double base = logarithmic ? c.call.real("base") : 0;
  return count_up<double>(c, [=](std::int64_t i) {
    const double x = evenly_spaced(start, end, steps, i);
    return logarithmic ? std::pow(base, x) : x;
  });
}

Result<Done> iota(KernelContext& c) {
  const std::int64_t start = c.call.integer("start");
  const std::int64_t step = c.call.integer("step");
  return count_up<std::int64_t>(c, [=](std::int64_t i) { return plus(start, times(step, i)); });
}

// Row-major positions of a triangle: their rows, then their columns.
Result<Done> triangle_indices(KernelContext& c) {
  const bool lower = c.call.op().packet == "tril_indices";
  const std::int64_t columns = c.call.integer("col");
  const std::int64_t offset = c.call.integer("offset");
  Integers out(shape_of(c));
  const std::int64_t count = out.shape[1];
  std::int64_t k = 0;
  for (std::int64_t row = 0; k < count; ++row) {
    const std::int64_t edge = row + offset;
    const std::int64_t first = lower ? 0 : std::max<std::int64_t>(edge, 0);
    const std::int64_t last = lower ? std::min(edge, columns - 1) : columns - 1;
    for (std::int64_t column = first; column <= last; ++column, ++k) {
      out[k] = row;
      out[count + k] = column;
    }
  }
  c.write(out);
  return Done{};
}

Result<Done> one_hot(KernelContext& c) {
  const Integers indices = c.integers("self");
  const std::int64_t classes = shape_of(c).back();
  Integers out(shape_of(c));
  for (std::int64_t i = 0; i < indices.count(); ++i) {
    if (indices[i] < 0 || indices[i] >= classes)
      return error("one_hot has no such class as one of the indices");
    out[i * classes + indices[i]] = 1;
  }
  c.write(out);
  return Done{};
}

Result<Done> vander(KernelContext& c) {
  const Reals x = c.reals("x");
  const std::int64_t columns = shape_of(c)[1];
  const bool increasing = c.call.boolean("increasing");
  Reals out(shape_of(c));
  for (std::int64_t i = 0; i < x.count(); ++i) {
    double power = 1;
    for (std::int64_t k = 0; k < columns; ++k, power *= x[i])
      out[i * columns + (increasing ? k : columns - 1 - k)] = power;
  }
  c.write(out);
  return Done{};
}

}  // namespace

void add_creation_kernels(KernelTable& table) {
  for (const Op op : {Op::empty_memory_format, Op::empty_strided, Op::empty_permuted, Op::zeros,
                      Op::_efficientzerotensor, Op::empty_like, Op::zeros_like, Op::new_empty,
                      Op::new_zeros, Op::new_empty_strided})
    table.add_any(op, zeros);
  for (const Op op : {Op::ones, Op::ones_like, Op::new_ones}) table.add_any(op, ones);
  for (const Op op : {Op::full, Op::full_like, Op::new_full}) table.add_any(op, full);
  table.add_any(Op::scalar_tensor, scalar_tensor);
  for (const Op op : {Op::eye, Op::eye_m}) table.add_any(op, eye);
  for (const Op op : {Op::arange, Op::arange_start, Op::arange_start_step}) table.add(op, arange);
  for (const Op op : {Op::linspace, Op::linspace_Tensor_Tensor, Op::linspace_Tensor_Scalar,
                      Op::linspace_Scalar_Tensor, Op::logspace, Op::logspace_Tensor_Tensor,
                      Op::logspace_Tensor_Scalar, Op::logspace_Scalar_Tensor})
    table.add(op, linspace);
  table.add(Op::prims_iota, iota);
  for (const Op op : {Op::tril_indices, Op::triu_indices}) table.add(op, triangle_indices);
  table.add(Op::one_hot, one_hot);
  table.add(Op::vander, vander);
}

}  // namespace recut
