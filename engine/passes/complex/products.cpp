// Products of complex matrices and vectors: up to four real ones, of which numbers of 0 need none.
#include "engine/passes/complex/call_parts.h"

namespace recut::complex_parts {
namespace {

// A product takes its first two parameters, and is linear in both.
class Product {
 public:
  explicit Product(CallParts& c) : c_(c) {}

  Part of(const Part& a, const Part& b) const {
    if (a.is(0) || b.is(0)) return {};
    return c_.b(c_.call.op().op, {tensor(a, 0), tensor(b, 1)});
  }
  Parts of(const Parts& a, const Parts& b) const {
    return {of(a.re, b.re) - of(a.im, b.im), of(a.re, b.im) + of(a.im, b.re)};
  }

 private:
  Value tensor(const Part& part, std::size_t parameter) const {
    const TensorType& type = c_.call.tensor(c_.call.op().parameters[parameter].name);
    return part.filled(c_.b, c_.dtype(), type.shape, type.device);
  }

  CallParts& c_;
};

bool are_tensors(const CallParts& c, std::size_t count) {
  for (std::size_t p = 0; p < count; ++p)
    if (!c.call.is_tensor(c.call.op().parameters[p].name)) return false;
  return true;
}

MaybeParts matrix_product(CallParts& c) {
  if (!are_tensors(c, 2)) return std::nullopt;
  return Product(c).of(c[0], c[1]);
}

MaybeParts linear_layer(CallParts& c) {
  if (!are_tensors(c, 2)) return std::nullopt;
  const Parts outputs = Product(c).of(c[0], c[1]);
  return c.call.given("bias") ? outputs + c["bias"] : outputs;
}

// The operator has no complex form of its own among real ones: dot is the product without it.
MaybeParts conjugated_dot(CallParts& c) {
  if (!are_tensors(c, 2)) return std::nullopt;
  const Parts a = conjugate(c[0]), b = c[1];
  const auto dot = [&](const Part& x, const Part& y) {
    if (x.is(0) || y.is(0)) return Part();
    const auto tensor = [&](const Part& part) {
      return part.filled(c.b, c.dtype(), c.call.tensor("self").shape, c.out.device);
    };
    return Part(c.b(Op::dot, {tensor(x), tensor(y)}));
  };
  return Parts{dot(a.re, b.re) - dot(a.im, b.im), dot(a.re, b.im) + dot(a.im, b.re)};
}

// beta * self + alpha * (a @ b): the second real product adds to the first.
class AddedProduct {
 public:
  explicit AddedProduct(CallParts& c) : c_(c), a_(c[1]), b_(c[2]) {}

  Parts run() const {
    const Parts self = c_[0];
    const double alpha = c_.number("alpha");
    return {both(self.re, {a_.re, b_.re, alpha}, {a_.im, b_.im, -alpha}),
            both(self.im, {a_.re, b_.im, alpha}, {a_.im, b_.re, alpha})};
  }

 private:
  struct Term {
    Part a, b;
    double alpha;
    bool is_zero() const { return a.is(0) || b.is(0); }
  };

  Part both(const Part& self, const Term& first, const Term& second) const {
    const double beta = c_.number("beta");
    if (first.is_zero() && second.is_zero()) return self * Part(beta);
    if (first.is_zero()) return added(self, second, beta);
    const Part sum = added(self, first, beta);
    return second.is_zero() ? sum : added(sum, second, 1);
  }

  Part added(const Part& self, const Term& term, double beta) const {
    return c_.b(c_.call.op().op, {tensor(self, 0), tensor(term.a, 1), tensor(term.b, 2)},
                {{"beta", beta}, {"alpha", term.alpha}});
  }

  Value tensor(const Part& part, std::size_t parameter) const {
    const TensorType& type = c_.call.tensor(c_.call.op().parameters[parameter].name);
    const Shape& shape = part.is_tensor() ? part.tensor().shape() : type.shape;
    return part.filled(c_.b, c_.dtype(), shape, type.device);
  }

  CallParts& c_;
  const Parts a_, b_;
};

MaybeParts added_matrix_product(CallParts& c) {
  if (!are_tensors(c, 3)) return std::nullopt;
  return AddedProduct(c).run();
}

}  // namespace

void add_products(PartRules& rules) {
  for (const Op op : {Op::mm, Op::bmm, Op::mv, Op::matmul, Op::dot, Op::outer, Op::ger, Op::inner})
    rules.set(op, matrix_product);
  rules.set(Op::linear, linear_layer);
  rules.set(Op::vdot, conjugated_dot);
  for (const Op op : {Op::addmm, Op::baddbmm, Op::addbmm, Op::addmv, Op::addr})
    rules.set(op, added_matrix_product);
}

}  // namespace recut::complex_parts
