// Losses, and what is composed like them. reduction: 0 none, 1 mean, 2 sum.
#include "engine/autodiff/rules/formula.h"

namespace recut::autodiff {
namespace {

// (grad, self, target, …) with the call's own arguments of the same names.
template <Op backward>
Value by_backward(Site& s) {
  const Operator& row = operator_of(backward);
  Positional arguments = {s.grad(), s["self"], s["target"]};
  for (std::size_t i = 3; i < row.parameters.size(); ++i)
    arguments.push_back(s.given(row.parameters[i].name));
  return s.b(backward, arguments);
}

// Of losses that depend on the difference alone the target gets the opposite.
template <Op backward>
Value opposite(Site& s) {
  return -by_backward<backward>(s);
}

// The gradient of a loss's elements from that of the loss.
Value of_elements(Site& s, const Value& gradient, const Value& like) {
  const std::int64_t reduction = s.integer("reduction");
  const Value wide = broadcast_to(gradient, like.shape());
  return reduction == 1 ? wide / static_cast<double>(like.count()) : wide;
}

std::vector<Value> mse_backward(Site& s) {
  const Value d = s["self"] - s["target"];
  return {of_elements(s, s["grad_output"], d) * d * 2};
}

std::vector<Value> smooth_l1_backward(Site& s) {
  const Value d = s["self"] - s["target"], g = of_elements(s, s["grad_output"], d);
  const double beta = s.real("beta");
  if (beta == 0) return {g * unary(Op::sgn, d)};
  const Value within = s.b(Op::lt_Scalar, {unary(Op::abs, d), beta});
  return {g * s.b.where(within, d / beta, unary(Op::sgn, d))};
}

std::vector<Value> huber_backward(Site& s) {
  const Value d = s["self"] - s["target"], g = of_elements(s, s["grad_output"], d);
  const double delta = s.real("delta");
  return {g * s.b(Op::clamp, {d, -delta, delta})};
}

// log(1 + exp(-t x)): -t sigmoid(-t x)
std::vector<Value> soft_margin_backward(Site& s) {
  const Value x = s["self"], t = s["target"];
  return {of_elements(s, s["grad_output"], x) * -(t * unary(Op::sigmoid, -(t * x)))};
}

std::vector<Value> soft_margin(Site& s) {
  const Value z = -(s["self"] * s["target"]);
  return {reduced(unary(Op::softplus, z), s.integer("reduction"))};
}

std::vector<Value> l1(Site& s) {
  return {reduced(unary(Op::abs, s["self"] - s["target"]), s.integer("reduction"))};
}

std::vector<Value> kl_div(Site& s) {
  const Value x = s["self"], t = s["target"];
  const Value elements =
      s.boolean("log_target") ? s.b.exp(t) * (t - x) : s.b(Op::xlogy_Tensor, {t, t}) - t * x;
  return {reduced(elements, s.integer("reduction"))};
}

// (x - t) / (x (1 - x)) with the denominator kept from 0.
Value bce_slope(Site& s) {
  const Value x = s["self"];
  const Value below = s.b(Op::clamp_min, {(1 - x) * x, 1e-12});
  const Value slope = (x - s["target"]) / below;
  return s["weight"].valid() ? slope * s["weight"] : slope;
}
std::vector<Value> bce_backward(Site& s) {
  return {of_elements(s, s["grad_output"], s["self"]) * bce_slope(s)};
}

// d/dt: log(1 - x) - log(x), both kept above -100 as the loss keeps them.
Value bce_target(Site& s) {
  const Value x = s["self"];
  const auto held = [&](const Value& v) { return s.b(Op::clamp_min, {v, -100}); };
  const Value slope = held(unary(Op::log1p, -x)) - held(s.b.log(x));
  const Value g = of_elements(s, s.grad(), x);
  return s["weight"].valid() ? g * slope * s["weight"] : g * slope;
}

std::vector<Value> bce_with_logits(Site& s) {
  const Value x = s["self"], t = s["target"], p = s["pos_weight"], w = s["weight"];
  const Value log_sigmoid = unary(Op::log_sigmoid, x);
  const Value scaled = p.valid() ? log_sigmoid * ((p - 1) * t + 1) : log_sigmoid;
  Value elements = (1 - t) * x - scaled;
  if (w.valid()) elements = elements * w;
  return {reduced(elements, s.integer("reduction"))};
}

template <Op backward>
Value nll(Site& s) {
  return s.b(backward, {s.grad(), s["self"], s["target"], s.given("weight"), s.given("reduction"),
                        s.given("ignore_index"), s.out(1)});
}

// nll's backward: minus the weight of the target's class at the target's place, 0 where it is to be
// ignored; of a mean, by the total weight.
std::vector<Value> nll_backward(Site& s) {
  const Value x = s["self"];
  const std::int64_t dim = x.rank() == 1 ? 0 : 1, reduction = s.integer("reduction");
  const auto raised = [&](const Value& v) {
    return v.rank() < x.rank() ? s.b(Op::unsqueeze, {v, dim}) : v;
  };
  const Value target = raised(s["target"]);
  const Value counts = s.b(Op::ne_Scalar, {target, s.integer("ignore_index")});
  const Value place = keep_where(counts, target);
  Value g = s["grad_output"];
  if (reduction == 0) g = raised(g);
  if (reduction == 1) g = g / s["total_weight"];
  if (const Value w = s["weight"]; w.valid()) {
    const Value each = s.b(Op::index_select, {w, 0, s.b.view(place, {place.count()})});
    g = g * s.b.view(each, place.shape());
  }
  const Value part = broadcast_to(keep_where(counts, -g), place.shape());
  return {s.b(Op::scatter_add, {zeros(s.b, x.type()), dim, place, part})};
}

// Every class but the target's own: max(0, margin - x_target + x)^p w_target / classes.
std::vector<Value> multi_margin(Site& s) {
  Value x = s["self"], target = s["target"];
  const bool alone = x.rank() < 2;
  x = alone ? s.b.view(x, {1, x.count()}) : x;
  const Value place = s.b.view(target, {target.count(), 1});
  const Value mine = s.b(Op::gather, {x, 1, place});
  const Value excess = s.b.relu(x - mine + s.real("margin"));
  Value terms = s.real("p") == 1 ? excess : squared(excess);
  if (const Value w = s["weight"]; w.valid())
    terms = terms * s.b.view(s.b(Op::index_select, {w, 0, s.b.view(place, {place.count()})}),
                             place.shape());
  const Value others = s.b(Op::scatter_value, {terms, 1, place, 0});
  const Value each = s.b.sum(others, {1}) / static_cast<double>(x.size(1));
  return {reduced(s.b.view(each, target.shape()), s.integer("reduction"))};
}

// nll_loss of 1, 2 or more dimensions by its two kernels.
Value nll_of(Site& s, const Value& x, const Value& target, const Value& weight) {
  const Given w = weight.valid() ? Given(weight) : Given(None{});
  const Positional more = {x, target, w, s.given("reduction"), s.given("ignore_index")};
  if (x.rank() <= 2) return s.b(Op::nll_loss_forward, more)[0];
  if (x.rank() == 4) return s.b(Op::nll_loss2d_forward, more)[0];
  const std::int64_t area = x.size(0) * x.size(1) == 0 ? 0 : x.count() / (x.size(0) * x.size(1));
  Positional flat = more;
  flat[0] = s.b.view(x, {x.size(0), x.size(1), 1, area});
  flat[1] = s.b.view(target, {x.size(0), 1, area});
  const Value loss = s.b(Op::nll_loss2d_forward, flat)[0];
  return s.integer("reduction") == 0 ? s.b.view(loss, target.shape()) : loss;
}

std::vector<Value> nll_loss(Site& s) { return {nll_of(s, s["self"], s["target"], s["weight"])}; }

// Every class with its share: probabilities, or one for the class of a label and 0 for the others,
// nothing where the label is to be ignored.
Value shares_of(Site& s, const Value& logs, const Value& counts, std::int64_t dim) {
  const Value target = s["target"];
  if (!counts.valid()) return target;
  const auto raised = [&](const Value& v) { return s.b(Op::unsqueeze, {v, dim}); };
  const Value place = raised(keep_where(counts, target));
  const Value shares = s.b(Op::scatter_value, {zeros(s.b, logs.type()), dim, place, 1});
  return keep_where(raised(counts), shares);
}

// -sum of weight, share and log-probability over classes, a part of each share (label_smoothing)
// spread evenly. The mean is by the weights of the labels, or by the items.
std::vector<Value> soft_cross_entropy(Site& s, const Value& logs, std::int64_t dim) {
  const bool labels = !is_floating(s["target"].dtype());
  const Value counts =
      labels ? s.b(Op::ne_Scalar, {s["target"], s.integer("ignore_index")}) : Value();
  const std::int64_t classes = logs.size(dim), reduction = s.integer("reduction");
  const double smoothing = s.real("label_smoothing");
  const Value shares = shares_of(s, logs, counts, dim);
  Value weight = s["weight"].valid() ? s["weight"] : filled(logs, 1);
  if (weight.rank() == 1 && logs.rank() > 1) {
    Shape apart(static_cast<std::size_t>(logs.rank()), 1);
    apart[static_cast<std::size_t>(dim)] = classes;
    weight = s.b.view(weight, apart);
  }
  const Value smoothed = shares * (1 - smoothing) + smoothing / static_cast<double>(classes);
  Value each = -s.b.sum(logs * weight * smoothed, {dim});
  if (labels) each = keep_where(counts, each);
  if (reduction != 1) return {reduced(each, reduction)};
  const Value sum = s.b.sum(each);
  return {labels ? sum / s.b.sum(shares * weight) : sum / static_cast<double>(each.count())};
}

std::vector<Value> cross_entropy(Site& s) {
  const Value x = s["self"], target = s["target"];
  const std::int64_t dim = x.rank() == 1 ? 0 : 1;
  const Value logs = s.b(Op::_log_softmax, {x, dim, false});
  if (is_floating(target.dtype()) || s.real("label_smoothing") != 0)
    return soft_cross_entropy(s, logs, dim);
  return {nll_of(s, logs, target, s["weight"])};
}

std::vector<Value> multi_margin_backward(Site& s) {
  return gradients_of(s, multi_margin(s).front(), s["grad_output"], {s["self"]});
}

// The number of occurrences of each class in the list of targets, which ends at the first negative
// one.
Value target_counts(Site& s, const Value& target, const Value& like) {
  const Value ends = s.b.convert(s.b(Op::lt_Scalar, {target, 0}), DType::i64);
  const Value listed = s.b(Op::eq_Scalar, {s.b(Op::cumsum, {ends, 1}), 0});
  return s.b(Op::scatter_add, {zeros(s.b, like.type()), 1, s.b(Op::clamp_min, {target, 0}),
                               s.b.convert(listed, like.dtype())});
}

// Every target against every class that is none: max(0, 1 - x_target + x) / classes.
std::vector<Value> multilabel_written_out(Site& s) {
  const Value self = s["self"];
  const bool alone = self.rank() < 2;
  const Shape rows = alone ? Shape{1, self.count()} : self.shape();
  const Value x = s.b.view(self, rows);
  const Value counts = target_counts(s, s.b.view(s["target"], rows), x);
  const Value others = s.b.convert(s.b(Op::eq_Scalar, {counts, 0}), x.dtype());
  const Value of_targets = s.b(Op::unsqueeze, {x, 2}), of_others = s.b(Op::unsqueeze, {x, 1});
  const Value terms = product({s.b.relu(of_others - of_targets + 1),
                               s.b(Op::unsqueeze, {counts, 2}), s.b(Op::unsqueeze, {others, 1})});
  const Value each = s.b.sum(terms, {1, 2}) / static_cast<double>(x.size(1));
  return {reduced(alone ? s.b.view(each, {}) : each, s.integer("reduction"))};
}

std::vector<Value> multilabel_backward(Site& s) {
  return gradients_of(s, multilabel_written_out(s).front(), s["grad_output"], {s["self"]});
}

Value multilabel(Site& s) {
  return s.b(Op::multilabel_margin_loss_backward,
             {s.grad(), s["self"], s["target"], s.given("reduction"), s.out(1)});
}

std::vector<Value> glu_backward(Site& s) {
  const Value x = s["self"], g = s["grad_output"];
  const std::int64_t dim = s.dim("dim", x.rank()), half = x.size(dim) / 2;
  const Value a = s.b(Op::slice_Tensor, {x, dim, 0, half});
  const Value p = unary(Op::sigmoid, s.b(Op::slice_Tensor, {x, dim, half, 2 * half}));
  return {s.b(Op::cat, {std::vector<Value>{g * p, g * a * p * (1 - p)}, dim})};
}

// x1·x2 / max(|x1|, eps) max(|x2|, eps)
std::vector<Value> cosine_similarity(Site& s) {
  const auto shape = broadcast(s["x1"].shape(), s["x2"].shape());
  if (!shape) return {s.b.fail(shape.diagnostics().front().message)};
  const Value a = s.b.expand(s["x1"], *shape), b = s.b.expand(s["x2"], *shape);
  const std::vector<std::int64_t> dim = {s.integer("dim")};
  const auto unit = [&](const Value& v) {
    const Value norm = s.b(Op::linalg_vector_norm, {v, 2, dim, true});
    return v / s.b(Op::clamp_min, {norm, s.given("eps")});
  };
  return {s.b.sum(unit(a) * unit(b), dim)};
}

std::vector<Value> pairwise_distance(Site& s) {
  const Value d = s["x1"] - s["x2"] + s.real("eps");
  return {s.b(Op::linalg_vector_norm, {d, s.given("p"), {-1}, s.given("keepdim")})};
}

template <Op backward>
void add_difference_loss(Rows& rows, Op forward, Expansion again) {
  rows.push_back(
      formulas({forward}, {{"self", by_backward<backward>}, {"target", opposite<backward>}}));
  rows.push_back(expands({backward}, again));
}

Rows differences() {
  Rows rows = {expands({Op::l1_loss}, l1)};
  add_difference_loss<Op::mse_loss_backward>(rows, Op::mse_loss, mse_backward);
  add_difference_loss<Op::smooth_l1_loss_backward>(rows, Op::smooth_l1_loss, smooth_l1_backward);
  add_difference_loss<Op::huber_loss_backward>(rows, Op::huber_loss, huber_backward);
  return rows;
}

Rows entropies() {
  return {
      expands({Op::soft_margin_loss}, soft_margin),
      expands({Op::soft_margin_loss_backward}, soft_margin_backward),
      expands({Op::kl_div}, kl_div),
      formulas({Op::binary_cross_entropy},
               {{"self", by_backward<Op::binary_cross_entropy_backward>}, {"target", bce_target}}),
      expands({Op::binary_cross_entropy_backward}, bce_backward),
      expands({Op::binary_cross_entropy_with_logits}, bce_with_logits),
      formulas({Op::nll_loss_forward}, {{"self", nll<Op::nll_loss_backward>}}, 1),
      formulas({Op::nll_loss2d_forward}, {{"self", nll<Op::nll_loss2d_backward>}}, 1),
      expands({Op::nll_loss_backward, Op::nll_loss2d_backward}, nll_backward),
      expands({Op::nll_loss, Op::nll_loss_nd, Op::nll_loss2d}, nll_loss),
      expands({Op::cross_entropy_loss}, cross_entropy),
  };
}

Rows margins_and_similarities() {
  return {
      formulas_and_forward({Op::multi_margin_loss},
                           {{"self", by_backward<Op::multi_margin_loss_backward>}}, multi_margin),
      expands({Op::multi_margin_loss_backward}, multi_margin_backward),
      formulas_and_forward({Op::multilabel_margin_loss_forward}, {{"self", multilabel}},
                           multilabel_written_out, 1),
      expands({Op::multilabel_margin_loss_backward}, multilabel_backward),
      formulas({Op::glu}, {{"self",
                            [](Site& s) {
                              return s.b(Op::glu_backward, {s.grad(), s["self"], s.given("dim")});
                            }}}),
      expands({Op::glu_backward}, glu_backward),
      expands({Op::cosine_similarity}, cosine_similarity),
      expands({Op::pairwise_distance}, pairwise_distance),
  };
}

}  // namespace

Rows loss_rows() {
  Rows rows;
  for (const auto family : {differences, entropies, margins_and_similarities})
    for (Row& row : family()) rows.push_back(std::move(row));
  return rows;
}

}  // namespace recut::autodiff
