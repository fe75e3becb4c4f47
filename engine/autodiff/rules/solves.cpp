// Linear systems, inverses, determinants and functions of matrices, real, with leading batches.
#include <algorithm>

#include "engine/autodiff/rules/formula.h"

namespace recut::autodiff {
namespace {

// -A^-T g A^-T
Value inverse(Site& s) { return -mul(t(s.out(0)), mul(s.grad(0), t(s.out(0)))); }

// Tells whether B is a vector (or a batch of vectors) rather than a matrix.
bool is_vector(const Value& a, const Value& b) {
  if (b.rank() == 1) return true;
  return b.rank() == a.rank() - 1 &&
         std::equal(b.shape().begin(), b.shape().end(), a.shape().begin());
}

bool on_left(Site& s) { return !s.has("left") || s.boolean("left"); }

Value solve_right(Site& s) {
  return s.b(Op::linalg_solve, {t(s["A"]), s.grad(0)}, {{"left", on_left(s)}});
}

Value solve_matrix(Site& s) {
  const Value g = solve_right(s), x = s.out(0);
  if (is_vector(s["A"], s["B"])) return -mul(column(g), t(column(x)));
  return on_left(s) ? -mul(g, t(x)) : -mul(t(x), g);
}

Value triangle_of(const Value& m, bool upper, bool unit) {
  return (*m.builder())(upper ? Op::triu : Op::tril, {m, unit ? (upper ? 1 : -1) : 0});
}

Value triangular_right(Site& s) {
  return s.b(Op::linalg_solve_triangular, {t(s["self"]), s.grad()},
             {{"upper", !s.boolean("upper")},
              {"left", s.given("left")},
              {"unitriangular", s.given("unitriangular")}});
}
Value triangular_matrix(Site& s) {
  const Value g = triangular_right(s), x = s.out();
  const Value whole = s.boolean("left") ? mul(g, t(x)) : mul(t(x), g);
  return -triangle_of(whole, s.boolean("upper"), s.boolean("unitriangular"));
}

Value old_triangular_right(Site& s) {
  if (!s.has_grad(0)) return {};
  return s.b(Op::triangular_solve, {s.grad(0), s["A"], s.given("upper"), !s.boolean("transpose"),
                                    s.given("unitriangular")})[0];
}
Value old_triangular_matrix(Site& s) {
  Value sum;
  if (s.has_grad(0)) {
    const Value g = old_triangular_right(s), x = s.out(0);
    const Value whole = s.boolean("transpose") ? mul(x, t(g)) : mul(g, t(x));
    sum = -triangle_of(whole, s.boolean("upper"), s.boolean("unitriangular"));
  }
  return s.has_grad(1) ? plus(sum, s.grad(1)) : sum;
}

// A X = B by A = P L U, or A^T X = B; what stands at the right of A is turned.
struct LuSystem {
  Site& s;
  Value lu, pivots, x, g;
  bool left, adjoint;

  Value right_side() const {
    return s.b(Op::linalg_lu_solve, {lu, pivots, g}, {{"left", left}, {"adjoint", !adjoint}});
  }

  Value solved(const Value& triangle, const Value& m, bool upper, bool on_the_left,
               bool unit) const {
    return s.b(Op::linalg_solve_triangular, {triangle, m},
               {{"upper", upper}, {"left", on_the_left}, {"unitriangular", unit}});
  }

  // Plain: R = -U^-T g X^T, gU = triu(R), gL = tril(L^-T R U^T, -1).
  // Adjoint, with W = P^T X: R = -W (P^T g)^T L^-T, gL = tril(R, -1), gU = triu(L^T R U^-T).
  Value factor() const {
    const Value unpacked = s.b(Op::lu_unpack, {lu, pivots});
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

LuSystem new_system(Site& s) {
  return {s, s["LU"], s["pivots"], s.out(), s.grad(), s.boolean("left"), s.boolean("adjoint")};
}
LuSystem old_system(Site& s) {
  return {s, s["LU_data"], s["LU_pivots"], s.out(), s.grad(), true, false};
}

// det(A) A^-T, through the factors of A: where one of U's diagonal is 0, a tiny number stands
// there, which gives the adjugate of singular matrices up to rounding.
Value determinant(Site& s) {
  const Value a = s["A"];
  const std::int64_t n = a.size(-1);
  const Value factored = s.b(Op::linalg_lu_factor_ex, {a});
  const Value lu = factored[0];
  const Value zero =
      s.b(Op::diag_embed, {s.b(Op::eq_Scalar, {s.b(Op::diagonal, {lu, 0, -2, -1}), 0})});
  const double tiny = a.dtype() == DType::f64 ? 2.220446049250313e-16 : 1.1920928955078125e-07;
  const Value safe = number_where(zero, tiny, lu);
  // det of the factors that are really divided by
  const Value unpacked = s.b(Op::lu_unpack, {lu, factored[1]});
  const Value det = s.b(Op::_linalg_det, {unpacked[0]})[0] *
                    s.b(Op::prod_dim_int, {s.b(Op::diagonal, {safe, 0, -2, -1}), -1});
  const Value eye = s.b(Op::eye, {n}, {{"dtype", a.dtype()}});
  const Value right = column(column(s.grad(0) * det)) * eye;
  return s.b(Op::linalg_lu_solve, {safe, factored[1], right}, {{"adjoint", true}});
}

Value log_determinant(Site& s) {
  if (!s.has_grad(1)) return {};
  const Value a = s["A"];
  const Value eye = s.b(Op::eye, {a.size(-1)}, {{"dtype", a.dtype()}});
  return s.b(Op::linalg_solve, {t(a), column(column(s.grad(1))) * eye});
}

std::vector<Value> det(Site& s) { return {s.b(Op::_linalg_det, {s["A"]})[0]}; }
std::vector<Value> slogdet(Site& s) {
  const Value pair = s.b(Op::_linalg_slogdet, {s["A"]});
  return {pair[0], pair[1]};
}

// Golub and Pereyra (1973), with the products bracketed for the shorter side.
Value pseudo_inverse(Site& s) {
  const Value a = s["self"], p = s.out(), g = t(s.grad()), ph = t(p);
  if (a.size(-2) <= a.size(-1)) {
    const Value k = mul(g, p), kp = mul(k, ph);
    return -t(mul(p, k)) + kp - mul(mul(a, p), kp) + mul(mul(ph, p), g - mul(k, a));
  }
  const Value k = mul(p, g), pk = mul(ph, k);
  return -t(mul(k, p)) + mul(mul(g - mul(a, k), p), ph) + pk - mul(mul(pk, p), a);
}

std::vector<Value> least_squares(Site& s) {
  const Value a = s["self"], b = s["b"];
  const Value pinv = s.b(Op::linalg_pinv_atol_rtol_tensor, {a});
  if (is_vector(a, b) && b.rank() == a.rank() - 1)
    return {s.b(Op::squeeze_dim, {mul(pinv, column(b)), -1})};
  return {mul(pinv, b)};
}

// The corner of exp [[A^T, g], [0, A^T]] (Higham, Functions of Matrices, 2008, section 3.2).
Value matrix_exponential(Site& s) {
  const Value a = t(s["self"]), g = s.grad();
  const std::int64_t n = a.size(-1);
  const auto beside = [&](const Value& x, const Value& y, std::int64_t dim) {
    return s.b(Op::cat, {std::vector<Value>{x, y}, dim});
  };
  const Value block = beside(beside(a, g, -1), beside(zeros(s.b, g.type()), a, -1), -2);
  const Value whole = s.b(Op::linalg_matrix_exp, {block});
  const Value top = s.b(Op::slice_Tensor, {whole, -2, 0, n});
  return s.b(Op::slice_Tensor, {top, -1, n, 2 * n});
}

Rows systems() {
  return {
      formulas({Op::linalg_inv_ex, Op::linalg_inv, Op::inverse},
               {{"A", inverse}, {"self", inverse}}, 1),
      formulas({Op::_linalg_solve_ex, Op::linalg_solve_ex, Op::linalg_solve},
               {{"A", solve_matrix}, {"B", solve_right}}, 1),
      formulas({Op::linalg_solve_triangular},
               {{"self", triangular_matrix}, {"B", triangular_right}}),
      formulas({Op::triangular_solve},
               {{"self", old_triangular_right}, {"A", old_triangular_matrix}}),
      formulas({Op::linalg_lu_solve}, {{"LU", [](Site& s) { return new_system(s).factor(); }},
                                       {"B", [](Site& s) { return new_system(s).right_side(); }}}),
      formulas({Op::lu_solve}, {{"LU_data", [](Site& s) { return old_system(s).factor(); }},
                                {"self", [](Site& s) { return old_system(s).right_side(); }}}),
      formulas({Op::linalg_pinv, Op::linalg_pinv_atol_rtol_tensor, Op::linalg_pinv_atol_rtol_float},
               {{"self", pseudo_inverse}}),
      expands({Op::linalg_lstsq}, least_squares, 1),
  };
}

Rows functions_of_matrices() {
  return {
      formulas({Op::_linalg_det}, {{"A", determinant}}, 1),
      formulas({Op::_linalg_slogdet}, {{"A", log_determinant}}, 2),
      expands({Op::linalg_det}, det),
      expands({Op::linalg_slogdet}, slogdet),
      formulas({Op::linalg_matrix_exp, Op::matrix_exp}, {{"self", matrix_exponential}}),
      linear({Op::linalg_cross},
             {{"self",
               [](Site& s) {
                 return s.b(Op::linalg_cross, {s["other"], s.grad()}, {{"dim", s.given("dim")}});
               }},
              {"other",
               [](Site& s) {
                 return s.b(Op::linalg_cross, {s.grad(), s["self"]}, {{"dim", s.given("dim")}});
               }}}),
  };
}

}  // namespace

Rows solve_rows() {
  Rows rows = systems();
  for (Row& row : functions_of_matrices()) rows.push_back(std::move(row));
  return rows;
}

}  // namespace recut::autodiff
