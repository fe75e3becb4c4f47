// Linear systems, inverses, determinants and functions of matrices, real, with leading batches.
#include <algorithm>

#include "engine/autodiff/rules/formula.h"

namespace recut::autodiff {
namespace {

// -A^-T g A^-T
Value inverse(VjpContext& ctx) { return -mul(t(ctx.out(0)), mul(ctx.grad(0), t(ctx.out(0)))); }

// Tells whether B is a vector (or a batch of vectors) rather than a matrix.
bool is_vector(const Value& a, const Value& b) {
  if (b.rank() == 1) return true;
  return b.rank() == a.rank() - 1 &&
         std::equal(b.shape().begin(), b.shape().end(), a.shape().begin());
}

bool on_left(VjpContext& ctx) { return !ctx.has("left") || ctx.boolean("left"); }

Value solve_right(VjpContext& ctx) {
  return ctx.b(Op::linalg_solve, {t(ctx["A"]), ctx.grad(0)}, {{"left", on_left(ctx)}});
}

Value solve_matrix(VjpContext& ctx) {
  const Value g = solve_right(ctx), x = ctx.out(0);
  if (is_vector(ctx["A"], ctx["B"])) return -mul(column(g), t(column(x)));
  return on_left(ctx) ? -mul(g, t(x)) : -mul(t(x), g);
}

Value triangle_of(const Value& m, bool upper, bool unit) {
  return (*m.builder())(upper ? Op::triu : Op::tril, {m, unit ? (upper ? 1 : -1) : 0});
}

Value triangular_right(VjpContext& ctx) {
  return ctx.b(Op::linalg_solve_triangular, {t(ctx["self"]), ctx.grad()},
               {{"upper", !ctx.boolean("upper")},
                {"left", ctx.given("left")},
                {"unitriangular", ctx.given("unitriangular")}});
}
Value triangular_matrix(VjpContext& ctx) {
  const Value g = triangular_right(ctx), x = ctx.out();
  const Value whole = ctx.boolean("left") ? mul(g, t(x)) : mul(t(x), g);
  return -triangle_of(whole, ctx.boolean("upper"), ctx.boolean("unitriangular"));
}

Value old_triangular_right(VjpContext& ctx) {
  if (!ctx.has_grad(0)) return {};
  return ctx.b(Op::triangular_solve, {ctx.grad(0), ctx["A"], ctx.given("upper"),
                                      !ctx.boolean("transpose"), ctx.given("unitriangular")})[0];
}
Value old_triangular_matrix(VjpContext& ctx) {
  Value sum;
  if (ctx.has_grad(0)) {
    const Value g = old_triangular_right(ctx), x = ctx.out(0);
    const Value whole = ctx.boolean("transpose") ? mul(x, t(g)) : mul(g, t(x));
    sum = -triangle_of(whole, ctx.boolean("upper"), ctx.boolean("unitriangular"));
  }
  return ctx.has_grad(1) ? plus(sum, ctx.grad(1)) : sum;
}

// A X = B by A = P L U, or A^T X = B. For X A = B, X and its gradient are
// transposed.
struct LuSystem {
  VjpContext& ctx;
  Value lu, pivots, x, g;
  bool left, adjoint;

  Value right_side() const {
    return ctx.b(Op::linalg_lu_solve, {lu, pivots, g}, {{"left", left}, {"adjoint", !adjoint}});
  }

  Value solved(const Value& triangle, const Value& m, bool upper, bool on_the_left,
               bool unit) const {
    return ctx.b(Op::linalg_solve_triangular, {triangle, m},
                 {{"upper", upper}, {"left", on_the_left}, {"unitriangular", unit}});
  }

  // Plain: R = -U^-T g X^T, gU = triu(R), gL = tril(L^-T R U^T, -1).
  // Adjoint, with W = P^T X: R = -W (P^T g)^T L^-T, gL = tril(R, -1), gU = triu(L^T R U^-T).
  Value factor() const {
    const Value unpacked = ctx.b(Op::lu_unpack, {lu, pivots});
    const Value p = unpacked[0], l = unpacked[1], u = unpacked[2];
    const Value y = left ? x : t(x), gy = left ? g : t(g);
    if (left != adjoint) {
      const Value r = -solved(t(u), mul(gy, t(y)), false, true, false);
      const Value of_l = solved(t(l), mul(r, t(u)), true, true, true);
      return triangle_of(r, true, false) + triangle_of(of_l, false, true);
    }
    const Value w = mul(t(p), y), gw = mul(t(p), gy);
    const Value r = -solved(t(l), mul(w, t(gw)), true, false, true);
    const Value of_u = solved(t(u), mul(t(l), r), false, false, false);
    return triangle_of(r, false, true) + triangle_of(of_u, true, false);
  }
};

LuSystem new_system(VjpContext& ctx) {
  return {ctx,        ctx["LU"],           ctx["pivots"],         ctx.out(),
          ctx.grad(), ctx.boolean("left"), ctx.boolean("adjoint")};
}
LuSystem old_system(VjpContext& ctx) {
  return {ctx, ctx["LU_data"], ctx["LU_pivots"], ctx.out(), ctx.grad(), true, false};
}

// det(A) A^-T, through the factors of A: where one of U's diagonal is 0, a tiny number stands
// there, which gives the adjugate of singular matrices up to rounding.
Value determinant(VjpContext& ctx) {
  const Value a = ctx["A"];
  const std::int64_t n = a.size(-1);
  const Value factored = ctx.b(Op::linalg_lu_factor_ex, {a});
  const Value lu = factored[0];
  const Value zero =
      ctx.b(Op::diag_embed, {ctx.b(Op::eq_Scalar, {ctx.b(Op::diagonal, {lu, 0, -2, -1}), 0})});
  const double tiny = a.dtype() == DType::f64 ? 2.220446049250313e-16 : 1.1920928955078125e-07;
  const Value safe = number_where(zero, tiny, lu);
  // det of the factors that are really divided by
  const Value unpacked = ctx.b(Op::lu_unpack, {lu, factored[1]});
  const Value det = ctx.b(Op::_linalg_det, {unpacked[0]})[0] *
                    ctx.b(Op::prod_dim_int, {ctx.b(Op::diagonal, {safe, 0, -2, -1}), -1});
  const Value eye = ctx.b(Op::eye, {n}, {{"dtype", a.dtype()}});
  const Value right = column(column(ctx.grad(0) * det)) * eye;
  return ctx.b(Op::linalg_lu_solve, {safe, factored[1], right}, {{"adjoint", true}});
}

Value log_determinant(VjpContext& ctx) {
  if (!ctx.has_grad(1)) return {};
  const Value a = ctx["A"];
  const Value eye = ctx.b(Op::eye, {a.size(-1)}, {{"dtype", a.dtype()}});
  return ctx.b(Op::linalg_solve, {t(a), column(column(ctx.grad(1))) * eye});
}

std::vector<Value> det(VjpContext& ctx) { return {ctx.b(Op::_linalg_det, {ctx["A"]})[0]}; }
std::vector<Value> slogdet(VjpContext& ctx) {
  const Value pair = ctx.b(Op::_linalg_slogdet, {ctx["A"]});
  return {pair[0], pair[1]};
}

// Golub and Pereyra (1973), with the products bracketed for the shorter side.
Value pseudo_inverse(VjpContext& ctx) {
  const Value a = ctx["self"], p = ctx.out(), g = t(ctx.grad()), ph = t(p);
  if (a.size(-2) <= a.size(-1)) {
    const Value k = mul(g, p), kp = mul(k, ph);
    return -t(mul(p, k)) + kp - mul(mul(a, p), kp) + mul(mul(ph, p), g - mul(k, a));
  }
  const Value k = mul(p, g), pk = mul(ph, k);
  return -t(mul(k, p)) + mul(mul(g - mul(a, k), p), ph) + pk - mul(mul(pk, p), a);
}

std::vector<Value> least_squares(VjpContext& ctx) {
  const Value a = ctx["self"], b = ctx["b"];
  const Value pinv = ctx.b(Op::linalg_pinv_atol_rtol_tensor, {a});
  if (is_vector(a, b) && b.rank() == a.rank() - 1)
    return {ctx.b(Op::squeeze_dim, {mul(pinv, column(b)), -1})};
  return {mul(pinv, b)};
}

// The corner of exp [[A^T, g], [0, A^T]] (Higham, Functions of Matrices, 2008, section 3.2).
Value matrix_exponential(VjpContext& ctx) {
  const Value a = t(ctx["self"]), g = ctx.grad();
  const std::int64_t n = a.size(-1);
  const auto beside = [&](const Value& x, const Value& y, std::int64_t dim) {
    return ctx.b(Op::cat, {std::vector<Value>{x, y}, dim});
  };
  const Value block = beside(beside(a, g, -1), beside(zeros(ctx.b, g.type()), a, -1), -2);
  const Value whole = ctx.b(Op::linalg_matrix_exp, {block});
  const Value top = ctx.b(Op::slice_Tensor, {whole, -2, 0, n});
  return ctx.b(Op::slice_Tensor, {top, -1, n, 2 * n});
}

DerivativeRules systems() {
  return {
      vjp({Op::linalg_inv_ex, Op::linalg_inv, Op::inverse}, {{"A", inverse}, {"self", inverse}}, 1),
      vjp({Op::_linalg_solve_ex, Op::linalg_solve_ex, Op::linalg_solve},
          {{"A", solve_matrix}, {"B", solve_right}}, 1),
      vjp({Op::linalg_solve_triangular}, {{"self", triangular_matrix}, {"B", triangular_right}}),
      vjp({Op::triangular_solve}, {{"self", old_triangular_right}, {"A", old_triangular_matrix}}),
      vjp({Op::linalg_lu_solve},
          {{"LU", [](VjpContext& ctx) { return new_system(ctx).factor(); }},
           {"B", [](VjpContext& ctx) { return new_system(ctx).right_side(); }}}),
      vjp({Op::lu_solve}, {{"LU_data", [](VjpContext& ctx) { return old_system(ctx).factor(); }},
                           {"self", [](VjpContext& ctx) { return old_system(ctx).right_side(); }}}),
      vjp({Op::linalg_pinv, Op::linalg_pinv_atol_rtol_tensor, Op::linalg_pinv_atol_rtol_float},
          {{"self", pseudo_inverse}}),
      decomposes({Op::linalg_lstsq}, least_squares, 1),
  };
}

DerivativeRules functions_of_matrices() {
  return {
      vjp({Op::_linalg_det}, {{"A", determinant}}, 1),
      vjp({Op::_linalg_slogdet}, {{"A", log_determinant}}, 2),
      decomposes({Op::linalg_det}, det),
      decomposes({Op::linalg_slogdet}, slogdet),
      vjp({Op::linalg_matrix_exp, Op::matrix_exp}, {{"self", matrix_exponential}}),
      linear({Op::linalg_cross}, {{"self",
                                   [](VjpContext& ctx) {
                                     return ctx.b(Op::linalg_cross, {ctx["other"], ctx.grad()},
                                                  {{"dim", ctx.given("dim")}});
                                   }},
                                  {"other",
                                   [](VjpContext& ctx) {
                                     return ctx.b(Op::linalg_cross, {ctx.grad(), ctx["self"]},
                                                  {{"dim", ctx.given("dim")}});
                                   }}}),
  };
}

}  // namespace

DerivativeRules solve_rules() {
  DerivativeRules rows = systems();
  for (DerivativeRule& row : functions_of_matrices()) rows.push_back(std::move(row));
  return rows;
}

}  // namespace recut::autodiff
