// Arithmetic, comparisons and conversions of complex numbers by their parts.
#include <cmath>

#include "engine/passes/complex/call_parts.h"

namespace recut::complex_parts {
namespace {

MaybeParts sum(CallParts& c) { return c["self"] + c["other"] * c.number("alpha"); }
MaybeParts difference(CallParts& c) { return c["self"] - c["other"] * c.number("alpha"); }
MaybeParts reversed_difference(CallParts& c) { return c["other"] - c["self"] * c.number("alpha"); }
MaybeParts plain_sum(CallParts& c) { return c[0] + c[1]; }
MaybeParts plain_difference(CallParts& c) { return c[0] - c[1]; }
MaybeParts product(CallParts& c) { return c[0] * c[1]; }
MaybeParts quotient(CallParts& c) {
  if (c.call.op().parameter("rounding_mode") && c.call.given("rounding_mode")) return std::nullopt;
  return c[0] / c[1];
}
MaybeParts added_product(CallParts& c) {
  return c["self"] + c["tensor1"] * c["tensor2"] * c.number("value");
}
MaybeParts added_quotient(CallParts& c) {
  return c["self"] + c["tensor1"] / c["tensor2"] * c.number("value");
}

MaybeParts negative(CallParts& c) { return -c[0]; }
MaybeParts square(CallParts& c) { return c[0] * c[0]; }
MaybeParts reciprocal(CallParts& c) { return Parts{1.0, {}} / c[0]; }
MaybeParts conjugated(CallParts& c) { return conjugate(c[0]); }
MaybeParts absolute(CallParts& c) { return Parts{magnitude(c[0]), {}}; }
MaybeParts angle_of(CallParts& c) { return Parts{angle(c[0]), {}}; }

// x / |x|; 0 for 0.
MaybeParts direction(CallParts& c) {
  const Parts x = c[0];
  const Part radius = magnitude(x);
  if (!radius.is_tensor()) return radius.is(0) ? x : Parts{x.re / radius, x.im / radius};
  const Value none = c.b(Op::eq_Scalar, {radius.tensor(), 0.0});
  const Value by = c.b(Op::where_ScalarSelf, {none, 1.0, radius.tensor()});
  return Parts{x.re / Part(by), x.im / Part(by)};
}

MaybeParts from_parts(CallParts& c) { return Parts{c["real"].re, c["imag"].re}; }
MaybeParts from_polar(CallParts& c) {
  const Part radius = c["abs"].re, turn = c["angle"].re;
  return Parts{radius * applied(Op::cos, turn, std::cos),
               radius * applied(Op::sin, turn, std::sin)};
}

// Predicates
// ----------

// A predicate of both parts as tensors, joined by `join`.
Value of_both(CallParts& c, const Parts& x, Op predicate, Op join) {
  const auto tensor = [&](const Part& part) {
    return part.filled(c.b, c.dtype(), c.out.shape, c.out.device);
  };
  return c.b(join, {c.b(predicate, {tensor(x.re)}), c.b(predicate, {tensor(x.im)})});
}

template <Op predicate, Op join>
MaybeParts predicate_of_parts(CallParts& c) {
  return Parts{of_both(c, c[0], predicate, join), {}};
}

Value equal(CallParts& c) {
  const Parts a = c[0], b = c[1];
  const auto same = [&](const Part& x, const Part& y) {
    const auto tensor = [&](const Part& part) {
      return part.filled(c.b, c.dtype(), c.out.shape, c.out.device);
    };
    return c.b(Op::eq_Tensor, {tensor(x), tensor(y)});
  };
  return c.b(Op::logical_and, {same(a.re, b.re), same(a.im, b.im)});
}
MaybeParts equals(CallParts& c) { return Parts{equal(c), {}}; }
MaybeParts differs(CallParts& c) { return Parts{c.b(Op::logical_not, {equal(c)}), {}}; }

// A complex number that becomes a real one loses its imaginary part; a bool tells whether it's not
// 0.
MaybeParts converted(CallParts& c) {
  if (is_complex(c.out.dtype)) return c.of_each();
  if (c.out.dtype != DType::boolean) return Parts{c.of_each().re, {}};
  const Value zero = of_both(c, c[0], Op::logical_not, Op::logical_and);
  return Parts{c.b(Op::logical_not, {zero}), {}};
}

}  // namespace

void add_arithmetic(PartRules& rules) {
  const auto add = [&](std::initializer_list<Op> ops, PartRule rule) {
    for (const Op op : ops) rules.set(op, rule);
  };
  add({Op::add_Tensor, Op::add_Scalar}, sum);
  add({Op::sub_Tensor, Op::sub_Scalar}, difference);
  add({Op::rsub_Tensor, Op::rsub_Scalar}, reversed_difference);
  add({Op::prims_add}, plain_sum);
  add({Op::prims_sub}, plain_difference);
  add({Op::mul_Tensor, Op::mul_Scalar, Op::prims_mul}, product);
  add({Op::div_Tensor, Op::div_Scalar, Op::div_Tensor_mode, Op::div_Scalar_mode, Op::prims_div},
      quotient);
  add({Op::addcmul}, added_product);
  add({Op::addcdiv}, added_quotient);
  add({Op::neg}, negative);
  add({Op::square}, square);
  add({Op::reciprocal}, reciprocal);
  add({Op::_conj, Op::_conj_copy, Op::_conj_physical, Op::conj_physical}, conjugated);
  add({Op::abs}, absolute);
  add({Op::angle}, angle_of);
  add({Op::sgn}, direction);
  add({Op::complex}, from_parts);
  add({Op::polar}, from_polar);
  add({Op::eq_Tensor, Op::eq_Scalar}, equals);
  add({Op::ne_Tensor, Op::ne_Scalar}, differs);
  add({Op::logical_not}, predicate_of_parts<Op::logical_not, Op::logical_and>);
  add({Op::isnan}, predicate_of_parts<Op::isnan, Op::logical_or>);
  add({Op::isinf}, predicate_of_parts<Op::isinf, Op::logical_or>);
  add({Op::isfinite}, predicate_of_parts<Op::isfinite, Op::logical_and>);
  add({Op::clone, Op::positive, Op::_to_copy, Op::prims_convert_element_type, Op::prims_device_put,
       Op::lift_fresh_copy},
      converted);
}

}  // namespace recut::complex_parts
