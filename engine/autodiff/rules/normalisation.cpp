// Softmax and the normalisations (batch, layer, group, RMS).
//
// First derivatives are ATen's fused backward operators, which reuse the saved mean and rstd:
//
//   %y, %mean, %rstd = native_layer_norm(%x, …)
//     =>  %gx, … = native_layer_norm_backward(%g, %x, …, %mean, %rstd, …)
//
// A backward operator differentiated again is decomposed, with mean and rstd recomputed from x:
// as saved values they would be constants, and their part of the derivative would be lost.
#include "engine/autodiff/rules/formula.h"

namespace recut::autodiff {
namespace {

using Ints = std::vector<std::int64_t>;

Value softmax(Site& s) {
  return s.b(Op::_softmax_backward_data, {s.grad(), s.out(), s.given("dim"), s["self"].dtype()});
}
Value log_softmax(Site& s) {
  return s.b(Op::_log_softmax_backward_data,
             {s.grad(), s.out(), s.given("dim"), s["self"].dtype()});
}

// (g - sum(g y)) y
std::vector<Value> softmax_backward(Site& s) {
  const Value g = s["grad_output"], y = s["output"], gy = g * y;
  return {s.b.convert(gy - y * s.b.sum(gy, {s.integer("dim")}, true), s.out_type().dtype)};
}
// g - exp(y) sum(g)
std::vector<Value> log_softmax_backward(Site& s) {
  const Value g = s["grad_output"];
  const Value sum = s.b.sum(g, {s.integer("dim")}, true);
  return {s.b.convert(g - s.b.exp(s["output"]) * sum, s.out_type().dtype)};
}

template <Op plain>
std::vector<Value> composite_softmax(Site& s) {
  return {s.b(plain, {s.b.convert(s["self"], s.out_type().dtype), s.given("dim"), false})};
}

// softmax, and 0 in rows that are -inf throughout. Those rows give NaN in the gradient of softmax
// alone, so that it is taken of 0 there.
std::vector<Value> safe_softmax(Site& s) {
  const Value x = s.b.convert(s["self"], s.out_type().dtype);
  const Value lost = s.b(Op::all_dim, {s.b(Op::eq_Scalar, {x, -INFINITY}), s.integer("dim"), true});
  const Value y = s.b(Op::_softmax, {zero_where(lost, x), s.given("dim"), false});
  return {zero_where(lost, y)};
}

ArgumentList mask(Site& s) { return {s.wants("input"), s.wants("weight"), s.wants("bias")}; }

template <std::int64_t part>
Value layer_norm_part(Site& s) {
  return s.b(Op::native_layer_norm_backward,
             {s.grad(), s["input"], s.given("normalized_shape"), s.out(1), s.out(2),
              s.given("weight"), s.given("bias"), mask(s)})[part];
}

template <std::int64_t part>
Value group_norm_part(Site& s) {
  return s.b(Op::native_group_norm_backward,
             {s.grad(), s["input"], s.out(1), s.out(2), s.given("weight"), s.given("N"),
              s.given("C"), s.given("HxW"), s.given("group"), mask(s)})[part];
}

template <std::int64_t part>
Value rms_norm_part(Site& s) {
  return s.b(Op::_fused_rms_norm_backward,
             {s.grad(), s["input"], s.given("normalized_shape"), s.out(1), s.given("weight"),
              ArgumentList{s.wants("input"), s.wants("weight")}})[part];
}

template <std::int64_t part>
Value batch_norm_part(Site& s) {
  const bool training = !s.has("training") || s.boolean("training");
  const bool trains = s.op() != Op::_native_batch_norm_legit_no_training && training;
  const Given mean = s.has("running_mean") ? s.given("running_mean") : Given(None{});
  const Given variance = s.has("running_var") ? s.given("running_var") : Given(None{});
  return s.b(Op::native_batch_norm_backward,
             {s.grad(), s["input"], s.given("weight"), mean, variance, s.out(1), s.out(2), trains,
              s.given("eps"), mask(s)})[part];
}

std::vector<Value> layer_norm(Site& s) {
  return {s.b(Op::native_layer_norm, {s["input"], s.given("normalized_shape"), s.given("weight"),
                                      s.given("bias"), s.given("eps")})[0]};
}

std::vector<Value> rms_norm(Site& s) {
  return {s.b(Op::_fused_rms_norm,
              {s["input"], s.given("normalized_shape"), s.given("weight"), s.given("eps")})[0]};
}

std::vector<Value> group_norm(Site& s) {
  const Value x = s["input"];
  const std::int64_t n = x.size(0), c = x.size(1), area = n * c == 0 ? 0 : x.count() / (n * c);
  return {s.b(Op::native_group_norm, {x, s.given("weight"), s.given("bias"), n, c, area,
                                      s.given("num_groups"), s.given("eps")})[0]};
}

std::vector<Value> batch_norm(Site& s) {
  return {
      s.b(Op::native_batch_norm,
          {s["input"], s.given("weight"), s.given("bias"), s.given("running_mean"),
           s.given("running_var"), s.given("training"), s.given("momentum"), s.given("eps")})[0]};
}

// The gradient of x^ = (x - mean) r, with mean and r = rstd of x itself, over `dims` of n elements:
// r (g - mean(g) - x^ mean(g x^)), where mean and rstd are recomputed from x, so that
// differentiating again sees what they depend on. `rms`: without the mean.
struct Normalised {
  Value hat, rstd;
  Ints dims;
  bool centred;

  Value gradient(const Value& g) const {
    Builder& b = *g.builder();
    const auto mean = [&](const Value& v) { return b(Op::mean_dim, {v, dims, true}); };
    const Value projected = hat * mean(g * hat);
    return (centred ? g - mean(g) - projected : g - projected) * rstd;
  }
};

// What `rstd` holds is a function of x; its value tells eps: eps = rstd^-2 - variance, a constant.
Normalised normalised(const Value& x, const Value& rstd, const Ints& dims, bool centred) {
  Builder& b = *x.builder();
  const auto mean = [&](const Value& v) { return b(Op::mean_dim, {v, dims, true}); };
  const Value middle = centred ? x - mean(x) : x;
  const Value variance = mean(squared(middle));
  const Value eps = b(Op::detach, {power(rstd, -2.0) - variance});
  const Value r = unary(Op::rsqrt, variance + eps);
  return {middle * r, r, dims, centred};
}

Ints last_dims(std::int64_t rank, std::size_t n) {
  Ints dims;
  for (std::int64_t d = rank - static_cast<std::int64_t>(n); d < rank; ++d) dims.push_back(d);
  return dims;
}

Value summed_leading(const Value& v, const Value& like) {
  return like.valid() ? sum_to(v, like.shape()) : Value();
}

std::vector<Value> layer_norm_backward(Site& s) {
  const Value x = s["input"], g = s["grad_out"], w = s["weight"];
  const auto dims = last_dims(x.rank(), s.integers("normalized_shape").size());
  const Normalised n = normalised(x, s["rstd"], dims, true);
  return {n.gradient(w.valid() ? g * w : g), summed_leading(g * n.hat, w),
          summed_leading(g, s["bias"])};
}

std::vector<Value> rms_norm_backward(Site& s) {
  const Value x = s["input"], g = s["grad_out"], w = s["weight"];
  const auto dims = last_dims(x.rank(), s.integers("normalized_shape").size());
  const Normalised n = normalised(x, s["rstd"], dims, false);
  return {n.gradient(w.valid() ? g * w : g), summed_leading(g * n.hat, w)};
}

std::vector<Value> group_norm_backward(Site& s) {
  const Value x = s["input"], w = s["weight"];
  const std::int64_t n = s.integer("N"), c = s.integer("C"), area = s.integer("HxW");
  const std::int64_t groups = s.integer("group");
  const Shape grouped = {n, groups, groups == 0 ? 0 : c / groups, area};
  const Value g = s.b.view(s["grad_out"], grouped);
  const Value rstd = s.b.view(s["rstd"], {n, groups, 1, 1});
  const Normalised norm = normalised(s.b.view(x, grouped), rstd, {2, 3}, true);
  const Shape channels = {1, groups, groups == 0 ? 0 : c / groups, 1};
  const Value scaled = w.valid() ? g * s.b.view(w, channels) : g;
  const auto by_channel = [&](const Value& v) { return s.b.view(s.b.sum(v, {0, 3}), {c}); };
  return {s.b.view(norm.gradient(scaled), x.shape()), by_channel(g * norm.hat), by_channel(g)};
}

std::vector<Value> batch_norm_backward(Site& s) {
  const Value x = s["input"], g = s["grad_out"], w = s["weight"];
  Shape channels(static_cast<std::size_t>(x.rank()), 1);
  if (x.rank() > 1) channels[1] = x.size(1);
  Ints dims;
  for (std::int64_t d = 0; d < x.rank(); ++d)
    if (d != 1) dims.push_back(d);
  const auto wide = [&](const Value& v) { return s.b.view(v, channels); };
  const auto by_channel = [&](const Value& v) { return s.b.sum(v, dims); };
  const Value scaled = w.valid() ? g * wide(w) : g;
  if (s.boolean("train")) {
    const Normalised n = normalised(x, wide(s["save_invstd"]), dims, true);
    return {n.gradient(scaled), by_channel(g * n.hat), by_channel(g)};
  }
  const Value rstd = unary(Op::rsqrt, wide(s["running_var"]) + s.real("eps"));
  const Value hat = (x - wide(s["running_mean"])) * rstd;
  return {scaled * rstd, by_channel(g * hat), by_channel(g)};
}

Rows softmaxes() {
  return {
      formulas({Op::_softmax}, {{"self", softmax}}),
      formulas({Op::_log_softmax}, {{"self", log_softmax}}),
      expands({Op::_softmax_backward_data}, softmax_backward),
      expands({Op::_log_softmax_backward_data}, log_softmax_backward),
      expands({Op::softmax_int}, composite_softmax<Op::_softmax>),
      expands({Op::log_softmax_int}, composite_softmax<Op::_log_softmax>),
      expands({Op::_safe_softmax}, safe_softmax),
  };
}

Rows norms() {
  return {
      formulas({Op::native_layer_norm},
               {{"input", layer_norm_part<0>},
                {"weight", layer_norm_part<1>},
                {"bias", layer_norm_part<2>}},
               1),
      formulas({Op::native_group_norm},
               {{"input", group_norm_part<0>},
                {"weight", group_norm_part<1>},
                {"bias", group_norm_part<2>}},
               1),
      formulas({Op::_fused_rms_norm}, {{"input", rms_norm_part<0>}, {"weight", rms_norm_part<1>}},
               1),
      formulas({Op::native_batch_norm, Op::_native_batch_norm_legit,
                Op::_native_batch_norm_legit_no_stats, Op::_native_batch_norm_legit_no_training,
                Op::_native_batch_norm_legit_functional},
               {{"input", batch_norm_part<0>},
                {"weight", batch_norm_part<1>},
                {"bias", batch_norm_part<2>}},
               1),
      expands({Op::layer_norm}, layer_norm),
      expands({Op::rms_norm}, rms_norm),
      expands({Op::group_norm}, group_norm),
      expands({Op::batch_norm}, batch_norm),
      expands({Op::native_layer_norm_backward}, layer_norm_backward),
      expands({Op::_fused_rms_norm_backward}, rms_norm_backward),
      expands({Op::native_group_norm_backward}, group_norm_backward),
      expands({Op::native_batch_norm_backward}, batch_norm_backward),
  };
}

}  // namespace

Rows normalisation_rows() {
  Rows rows = softmaxes();
  for (Row& row : norms()) rows.push_back(std::move(row));
  return rows;
}

}  // namespace recut::autodiff
