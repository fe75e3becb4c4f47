// Factorisations and spectra, real matrices with leading batch dimensions. Formulas after Giles,
// Collected Matrix Derivative Results for Forward and Reverse Mode (2008), Murray (2016, Cholesky),
// Townsend (2016, singular values), and Roberts and Roberts (2020, QR of wide matrices).
#include "engine/autodiff/rules/formula.h"

namespace recut::autodiff {
namespace {

Value lower(const Value& m, std::int64_t diagonal = 0) {
  return m.valid() ? (*m.builder())(Op::tril, {m, diagonal}) : m;
}
Value upper(const Value& m, std::int64_t diagonal = 0) {
  return m.valid() ? (*m.builder())(Op::triu, {m, diagonal}) : m;
}

// T^-1 m, or m T^-1.
Value solved(const Value& triangle, const Value& m, bool is_upper, bool left, bool unit = false) {
  return (*m.builder())(Op::linalg_solve_triangular, {triangle, m},
                        {{"upper", is_upper}, {"left", left}, {"unitriangular", unit}});
}

Value columns(const Value& m, std::int64_t from, std::int64_t to) {
  return m.valid() ? (*m.builder())(Op::slice_Tensor, {m, -1, from, to}) : m;
}
Value rows(const Value& m, std::int64_t from, std::int64_t to) {
  return m.valid() ? (*m.builder())(Op::slice_Tensor, {m, -2, from, to}) : m;
}
Value diagonal_matrix(const Value& v) { return (*v.builder())(Op::diag_embed, {v}); }
Value row(const Value& v) { return (*v.builder())(Op::unsqueeze, {v, -2}); }
Value identity(const Value& like, std::int64_t n) {
  return (*like.builder())(Op::eye, {n}, {{"dtype", like.dtype()}});
}

bool is_upper(VjpContext& ctx) { return ctx.has("upper") && ctx.boolean("upper"); }

// Half of L^-T (P + P^T with the diagonal once) L^-1, P = tril(L^T gL).
Value cholesky(VjpContext& ctx) {
  const bool up = is_upper(ctx);
  const Value l = up ? t(ctx.out(0)) : ctx.out(0), g = up ? t(ctx.grad(0)) : ctx.grad(0);
  const Value p = mul(t(l), g);
  const Value symmetric = lower(p) + t(lower(p, -1));
  return solved(l, solved(t(l), symmetric, true, true), false, false) * 0.5;
}

// (L L^T)^-1: -(A^-1 (g + g^T) A^-1) L
Value cholesky_inverse(VjpContext& ctx) {
  const Value l = ctx["self"], a = ctx.out();
  const Value term = mul(a, mul(ctx.grad() + t(ctx.grad()), a));
  return ctx.boolean("upper") ? -mul(l, term) : -mul(term, l);
}

const char* rhs(VjpContext& ctx) { return ctx.has("A") ? "A" : "input2"; }

Value cholesky_solve_right(VjpContext& ctx) {
  return ctx.b(Op::cholesky_solve, {ctx.grad(), ctx[rhs(ctx)], ctx.given("upper")});
}
Value cholesky_solve_factor(VjpContext& ctx) {
  const Value l = ctx[rhs(ctx)], x = mul(cholesky_solve_right(ctx), t(ctx.out()));
  const Value sum = x + t(x);
  return ctx.boolean("upper") ? -mul(l, sum) : -mul(sum, l);
}

// A = P L U. Square: P L^-T (tril(L^T gL, -1) + triu(gU U^T)) U^-T. Of a wide one the columns
// beyond the square are U2 = L^-1 P^T A2, of a tall one the rows beyond are L2 = A2 U^-1.
Value plu(const Value& p, const Value& l, const Value& u, const Value& gl, const Value& gu) {
  const std::int64_t m = l.size(-2), n = u.size(-1), k = l.size(-1);
  const Value l1 = rows(l, 0, k), u1 = columns(u, 0, k);
  Value by_l = mul(t(l1), rows(gl, 0, k)), by_u = mul(columns(gu, 0, k), t(u1));
  if (n > k) by_l = by_l - mul(columns(gu, k, n), t(columns(u, k, n)));
  if (m > k) by_u = by_u - mul(t(rows(l, k, m)), rows(gl, k, m));
  const Value middle = solved(t(u1), lower(by_l, -1) + upper(by_u), false, false);
  Value whole = solved(t(l1), middle, true, true, true);
  Builder& b = *l.builder();
  if (n > k) {
    const Value beyond = solved(t(l1), columns(gu, k, n), true, true, true);
    whole = b(Op::cat, {std::vector<Value>{whole, beyond}, -1});
  }
  if (m > k) {
    const Value beyond = solved(t(u1), rows(gl, k, m), false, false);
    whole = b(Op::cat, {std::vector<Value>{whole, beyond}, -2});
  }
  return p.valid() ? mul(p, whole) : whole;
}

Value lu(VjpContext& ctx) {
  const Value p = ctx.boolean("pivot") ? ctx.out(0) : Value();
  return plu(p, ctx.out(1), ctx.out(2), ctx.grad(1), ctx.grad(2));
}

Value lu_factor(VjpContext& ctx) {
  const Value unpacked = ctx.b(Op::lu_unpack, {ctx.out(0), ctx.out(1)});
  const Value g = ctx.grad(0), l = unpacked[1], u = unpacked[2];
  return plu(unpacked[0], l, u, columns(lower(g, -1), 0, l.size(-1)),
             rows(upper(g), 0, u.size(-2)));
}

// Both triangles side by side in one matrix again.
Value lu_unpack(VjpContext& ctx) {
  const std::int64_t m = ctx["LU_data"].size(-2), n = ctx["LU_data"].size(-1);
  Value sum;
  if (ctx.has_grad(1)) {
    const Value l = lower(ctx.grad(1), -1);
    sum = ctx.b(Op::constant_pad_nd, {l, {0, n - l.size(-1), 0, 0}});
  }
  if (ctx.has_grad(2)) {
    const Value u = upper(ctx.grad(2));
    sum = plus(sum, ctx.b(Op::constant_pad_nd, {u, {0, 0, 0, m - u.size(-2)}}));
  }
  return sum;
}

Value symmetric_with_diagonal_once(const Value& m) { return upper(m) + t(upper(m, 1)); }

// Square or tall: (gQ + Q M) R^-T, M = triu(gR R^T - Q^T gQ) made symmetric.
Value qr_of(const Value& q, const Value& r, const Value& gq, const Value& gr) {
  const Value middle = symmetric_with_diagonal_once(mul(gr, t(r)) - mul(t(q), gq));
  return solved(t(r), gq + mul(q, middle), false, false);
}

// Wide: R2 = Q^T A2, so that gA2 = Q gR2, and Q gets A2 gR2^T besides.
Value qr(VjpContext& ctx) {
  if (ctx.text("mode") == "r") return ctx.b.fail("there is none in mode 'r': Q is needed");
  const Value a = ctx["A"], q = ctx.out(0), r = ctx.out(1), gq = ctx.grad(0), gr = ctx.grad(1);
  const std::int64_t m = a.size(-2), n = a.size(-1);
  if (m > n && ctx.text("mode") == "complete")
    return ctx.b.fail("there is none in mode 'complete' of a tall matrix");
  if (m >= n) return qr_of(q, r, gq, gr);
  const Value gr2 = columns(gr, m, n);
  const Value first =
      qr_of(q, columns(r, 0, m), gq + mul(columns(a, m, n), t(gr2)), columns(gr, 0, m));
  return ctx.b(Op::cat, {std::vector<Value>{first, mul(q, gr2)}, -1});
}

// V (skew(V^T gV) / 2 / E + diag(gL)) V^T, E_ij = l_j - l_i.
Value eigh(VjpContext& ctx) {
  const Value l = ctx.out(0), v = ctx.out(1);
  Value middle;
  if (ctx.has_grad(1)) {
    const Value differences = row(l) - column(l);
    const Value same = ctx.b.convert(identity(l, l.size(-1)), DType::boolean);
    const Value x = mul(t(v), ctx.grad(1));
    middle = zero_where(same, (x - t(x)) * 0.5 / number_where(same, 1, differences));
  }
  if (ctx.has_grad(0)) middle = plus(middle, diagonal_matrix(ctx.grad(0)));
  return mul(v, mul(middle, t(v)));
}

std::vector<Value> eigvalsh(VjpContext& ctx) {
  return {ctx.b(Op::_linalg_eigh, {ctx["self"], ctx.given("UPLO"), true})[0]};
}
std::vector<Value> eigh_alias(VjpContext& ctx) {
  const Value pair = ctx.b(Op::_linalg_eigh, {ctx["self"], ctx.given("UPLO"), true});
  return {pair[0], pair[1]};
}

// One side of the singular vectors: skew(U^T gU) / E, E_ij = s_j^2 - s_i^2.
Value rotation(const Value& u, const Value& gu, const Value& sigma) {
  const Value x = mul(t(u), gu);
  const Value skew = x - t(x);
  const Value squares = squared(sigma), e = row(squares) - column(squares);
  const Value same = sigma.builder()->convert(identity(sigma, sigma.size(-1)), DType::boolean);
  return zero_where(same, skew / number_where(same, 1, e));
}

// The thin decomposition's gradient. A tall U (or V) also turns out of the space that it spans.
Value svd_of(const Value& u, const Value& sigma, const Value& vh, const Value& gu, const Value& gs,
             const Value& gvh) {
  const std::int64_t k = sigma.size(-1);
  const Value v = t(vh), gv = t(gvh);
  Value middle, beyond;
  if (gu.valid()) middle = rotation(u, gu, sigma) * row(sigma);
  if (gv.valid()) middle = plus(middle, column(sigma) * rotation(v, gv, sigma));
  if (gs.valid()) middle = plus(middle, diagonal_matrix(gs));
  Value whole = middle.valid() ? mul(u, mul(middle, vh)) : Value();
  if (gu.valid() && u.size(-2) > k) beyond = mul((gu - mul(u, mul(t(u), gu))) / row(sigma), vh);
  if (gv.valid() && v.size(-2) > k)
    beyond = plus(beyond, mul(u, t((gv - mul(v, mul(vh, gv))) / row(sigma))));
  return plus(whole, beyond);
}

Value svd(VjpContext& ctx) {
  const std::int64_t k = ctx.out(1).size(-1);
  const auto g = [&](std::int64_t i) { return ctx.has_grad(i) ? ctx.grad(i) : Value(); };
  return svd_of(columns(ctx.out(0), 0, k), ctx.out(1), rows(ctx.out(2), 0, k), columns(g(0), 0, k),
                g(1), rows(g(2), 0, k));
}

std::vector<Value> svdvals(VjpContext& ctx) {
  return {ctx.b(Op::_linalg_svd, {ctx["A"], false, true})[1]};
}

// The product of reflections I - tau v v^T, v with a 1 at its place and zeros above it.
Value reflections(const Value& vectors, const Value& tau, std::int64_t n) {
  Builder& b = *vectors.builder();
  const std::int64_t m = vectors.size(-2);
  Value q = columns(identity(vectors, m), 0, n);
  for (std::int64_t i = tau.size(-1); i-- > 0;) {
    const Value below = lower(columns(vectors, i, i + 1), -i - 1);
    const Value v = below + b.view(columns(identity(vectors, m), i, i + 1), {m, 1});
    const Value scale = column(columns(tau, i, i + 1));
    q = q - scale * mul(v, mul(t(v), q));
  }
  return q;
}

std::vector<Value> householder(VjpContext& ctx) {
  const char* vectors = ctx.has("input") ? "input" : "self";
  const char* scales = ctx.has("tau") ? "tau" : "input2";
  return {reflections(ctx[vectors], ctx[scales], ctx[vectors].size(-1))};
}

std::vector<Value> ormqr(VjpContext& ctx) {
  const Value q = reflections(ctx["self"], ctx["input2"], ctx["self"].size(-2));
  const Value transposed = ctx.boolean("transpose") ? t(q) : q;
  return {ctx.boolean("left") ? mul(transposed, ctx["input3"]) : mul(ctx["input3"], transposed)};
}

}  // namespace

DerivativeRules factorisation_rules() {
  return {
      vjp({Op::cholesky, Op::linalg_cholesky, Op::linalg_cholesky_ex}, {{"self", cholesky}}, 1),
      vjp({Op::cholesky_inverse}, {{"self", cholesky_inverse}}),
      vjp({Op::cholesky_solve, Op::_cholesky_solve_helper}, {{"self", cholesky_solve_right},
                                                             {"input2", cholesky_solve_factor},
                                                             {"A", cholesky_solve_factor}}),
      vjp({Op::linalg_lu}, {{"A", lu}}),
      vjp({Op::linalg_lu_factor, Op::linalg_lu_factor_ex}, {{"A", lu_factor}}, 1),
      vjp({Op::lu_unpack}, {{"LU_data", lu_unpack}}),
      vjp({Op::linalg_qr}, {{"A", qr}}),
      vjp({Op::_linalg_eigh}, {{"A", eigh}}),
      decomposes({Op::linalg_eigh}, eigh_alias),
      decomposes({Op::linalg_eigvalsh}, eigvalsh),
      vjp({Op::_linalg_svd, Op::linalg_svd}, {{"A", svd}}),
      decomposes({Op::linalg_svdvals}, svdvals),
      decomposes({Op::linalg_householder_product, Op::orgqr}, householder),
      decomposes({Op::ormqr}, ormqr),
  };
}

}  // namespace recut::autodiff
