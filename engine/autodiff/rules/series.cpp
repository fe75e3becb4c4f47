// Tensors made from a few numbers that are themselves values: ends of a range, bases of powers.
#include "engine/autodiff/rules/formula.h"

namespace recut::autodiff {
namespace {

// start + (end - start) i / (steps - 1), in the output's dtype.
Value evenly_spaced(Site& s) {
  const DType dtype = s.out_type().dtype;
  const auto bound = [&](std::string_view name) {
    const Value given = s[name];
    return given.valid() ? s.b.convert(given, dtype)
                         : s.b.full({}, s.call().argument(name), dtype, s.out_type().device);
  };
  const Value start = bound("start"), end = bound("end");
  const Value part = s.b(Op::linspace, {0, 1, s.given("steps")}, {{"dtype", dtype}});
  return start + (end - start) * part;
}

std::vector<Value> linspace(Site& s) { return {evenly_spaced(s)}; }

std::vector<Value> logspace(Site& s) {
  return {s.b(Op::pow_Scalar, {s.real("base"), evenly_spaced(s)})};
}

// x to the powers 0 … N - 1, the largest first unless `increasing`.
std::vector<Value> vander(Site& s) {
  const Value x = s.b.convert(s["x"], s.out_type().dtype);
  const std::int64_t count = s.out_type().shape.back();
  Value powers = s.b(Op::arange, {count}, {{"dtype", x.dtype()}});
  if (!s.boolean("increasing")) powers = s.b(Op::flip, {powers, {0}});
  return {s.b(Op::pow_Tensor_Tensor, {s.b(Op::unsqueeze, {x, -1}), powers})};
}

}  // namespace

Rows series_rows() {
  return {
      expands({Op::linspace_Tensor_Tensor, Op::linspace_Tensor_Scalar, Op::linspace_Scalar_Tensor},
              linspace),
      expands({Op::logspace_Tensor_Tensor, Op::logspace_Tensor_Scalar, Op::logspace_Scalar_Tensor},
              logspace),
      expands({Op::vander}, vander),
  };
}

}  // namespace recut::autodiff
