// Losses, and other operators with their reduction argument. reduction: 0 none, 1 mean, 2 sum.
#include "engine/autodiff/rules/formula.h"

namespace recut::autodiff {
namespace {

// (grad, self, target, …) with the call's own arguments of the same names.
template <Op backward>
Value by_backward(VjpContext& ctx) {
  const Operator& row = operator_of(backward);
  Positional arguments = {ctx.grad(), ctx["self"], ctx["target"]};
  for (std::size_t i = 3; i < row.parameters.size(); ++i)
    arguments.push_back(ctx.given(row.parameters[i].name));
  return ctx.b(backward, arguments);
}

// Of losses that depend on the difference alone the target gets the opposite.
template <Op backward>
Value opposite(VjpContext& ctx) {
  return -by_backward<backward>(ctx);
}

// The gradient of a loss's elements from that of the loss.
Value of_elements(VjpContext& ctx, const Value& gradient, const Value& like) {
  const std::int64_t reduction = ctx.integer("reduction");
  const Value wide = broadcast_to(gradient, like.shape());
  return reduction == 1 ? wide / static_cast<double>(like.count()) : wide;
}

std::vector<Value> mse_backward(VjpContext& ctx) {
  const Value d = ctx["self"] - ctx["target"];
  return {of_elements(ctx, ctx["grad_output"], d) * d * 2};
}

std::vector<Value> smooth_l1_backward(VjpContext& ctx) {
  const Value d = ctx["self"] - ctx["target"], g = of_elements(ctx, ctx["grad_output"], d);
  const double beta = ctx.real("beta");
  if (beta == 0) return {g * unary(Op::sgn, d)};
  const Value within = ctx.b(Op::lt_Scalar, {unary(Op::abs, d), beta});
  return {g * ctx.b.where(within, d / beta, unary(Op::sgn, d))};
}

std::vector<Value> huber_backward(VjpContext& ctx) {
  const Value d = ctx["self"] - ctx["target"], g = of_elements(ctx, ctx["grad_output"], d);
  const double delta = ctx.real("delta");
  return {g * ctx.b(Op::clamp, {d, -delta, delta})};
}

// log(1 + exp(-t x)): -t sigmoid(-t x)
std::vector<Value> soft_margin_backward(VjpContext& ctx) {
  const Value x = ctx["self"], t = ctx["target"];
  return {of_elements(ctx, ctx["grad_output"], x) * -(t * unary(Op::sigmoid, -(t * x)))};
}

std::vector<Value> soft_margin(VjpContext& ctx) {
  const Value z = -(ctx["self"] * ctx["target"]);
  return {reduced(unary(Op::softplus, z), ctx.integer("reduction"))};
}

std::vector<Value> l1(VjpContext& ctx) {
  return {reduced(unary(Op::abs, ctx["self"] - ctx["target"]), ctx.integer("reduction"))};
}

std::vector<Value> kl_div(VjpContext& ctx) {
  const Value x = ctx["self"], t = ctx["target"];
  const Value elements =
      ctx.boolean("log_target") ? ctx.b.exp(t) * (t - x) : ctx.b(Op::xlogy_Tensor, {t, t}) - t * x;
  return {reduced(elements, ctx.integer("reduction"))};
}

// (x - t) / (x (1 - x)) with the denominator kept from 0.
Value bce_slope(VjpContext& ctx) {
  const Value x = ctx["self"];
  const Value below = ctx.b(Op::clamp_min, {(1 - x) * x, 1e-12});
  const Value slope = (x - ctx["target"]) / below;
  return ctx["weight"].valid() ? slope * ctx["weight"] : slope;
}
std::vector<Value> bce_backward(VjpContext& ctx) {
  return {of_elements(ctx, ctx["grad_output"], ctx["self"]) * bce_slope(ctx)};
}

// d/dt: log(1 - x) - log(x), both kept above -100 as the loss keeps them.
Value bce_target(VjpContext& ctx) {
  const Value x = ctx["self"];
  const auto held = [&](const Value& v) { return ctx.b(Op::clamp_min, {v, -100}); };
  const Value slope = held(unary(Op::log1p, -x)) - held(ctx.b.log(x));
  const Value g = of_elements(ctx, ctx.grad(), x);
  return ctx["weight"].valid() ? g * slope * ctx["weight"] : g * slope;
}

std::vector<Value> bce_with_logits(VjpContext& ctx) {
  const Value x = ctx["self"], t = ctx["target"], p = ctx["pos_weight"], w = ctx["weight"];
  const Value log_sigmoid = unary(Op::log_sigmoid, x);
  const Value scaled = p.valid() ? log_sigmoid * ((p - 1) * t + 1) : log_sigmoid;
  Value elements = (1 - t) * x - scaled;
  if (w.valid()) elements = elements * w;
  return {reduced(elements, ctx.integer("reduction"))};
}

template <Op backward>
Value nll(VjpContext& ctx) {
  return ctx.b(backward, {ctx.grad(), ctx["self"], ctx["target"], ctx.given("weight"),
                          ctx.given("reduction"), ctx.given("ignore_index"), ctx.out(1)});
}

// nll's backward: minus the weight of the target's class at the target's place, 0 where it is to be
// ignored; of a mean, by the total weight.
std::vector<Value> nll_backward(VjpContext& ctx) {
  const Value x = ctx["self"];
  const std::int64_t dim = x.rank() == 1 ? 0 : 1, reduction = ctx.integer("reduction");
  const auto raised = [&](const Value& v) {
    return v.rank() < x.rank() ? ctx.b(Op::unsqueeze, {v, dim}) : v;
  };
  const Value target = raised(ctx["target"]);
  const Value counts = ctx.b(Op::ne_Scalar, {target, ctx.integer("ignore_index")});
  const Value class_index = keep_where(counts, target);
  Value g = ctx["grad_output"];
  if (reduction == 0) g = raised(g);
  if (reduction == 1) g = g / ctx["total_weight"];
  if (const Value w = ctx["weight"]; w.valid()) {
    const Value each =
        ctx.b(Op::index_select, {w, 0, ctx.b.view(class_index, {class_index.count()})});
    g = g * ctx.b.view(each, class_index.shape());
  }
  const Value part = broadcast_to(keep_where(counts, -g), class_index.shape());
  return {ctx.b(Op::scatter_add, {zeros(ctx.b, x.type()), dim, class_index, part})};
}

// Every class but the target's own: max(0, margin - x_target + x)^p w_target / classes.
std::vector<Value> multi_margin(VjpContext& ctx) {
  Value x = ctx["self"], target = ctx["target"];
  const bool alone = x.rank() < 2;
  x = alone ? ctx.b.view(x, {1, x.count()}) : x;
  const Value class_index = ctx.b.view(target, {target.count(), 1});
  const Value mine = ctx.b(Op::gather, {x, 1, class_index});
  const Value excess = ctx.b.relu(x - mine + ctx.real("margin"));
  Value terms = ctx.real("p") == 1 ? excess : squared(excess);
  if (const Value w = ctx["weight"]; w.valid())
    terms = terms * ctx.b.view(ctx.b(Op::index_select,
                                     {w, 0, ctx.b.view(class_index, {class_index.count()})}),
                               class_index.shape());
  const Value others = ctx.b(Op::scatter_value, {terms, 1, class_index, 0});
  const Value each = ctx.b.sum(others, {1}) / static_cast<double>(x.size(1));
  return {reduced(ctx.b.view(each, target.shape()), ctx.integer("reduction"))};
}

// nll_loss of 1, 2 or more dimensions by its two kernels.
Value nll_of(VjpContext& ctx, const Value& x, const Value& target, const Value& weight) {
  const CallArgument w = weight.valid() ? CallArgument(weight) : CallArgument(None{});
  const Positional more = {x, target, w, ctx.given("reduction"), ctx.given("ignore_index")};
  if (x.rank() <= 2) return ctx.b(Op::nll_loss_forward, more)[0];
  if (x.rank() == 4) return ctx.b(Op::nll_loss2d_forward, more)[0];
  const std::int64_t area = x.size(0) * x.size(1) == 0 ? 0 : x.count() / (x.size(0) * x.size(1));
  Positional flat = more;
  flat[0] = ctx.b.view(x, {x.size(0), x.size(1), 1, area});
  flat[1] = ctx.b.view(target, {x.size(0), 1, area});
  const Value loss = ctx.b(Op::nll_loss2d_forward, flat)[0];
  return ctx.integer("reduction") == 0 ? ctx.b.view(loss, target.shape()) : loss;
}

std::vector<Value> nll_loss(VjpContext& ctx) {
  return {nll_of(ctx, ctx["self"], ctx["target"], ctx["weight"])};
}

// Every class with its share: probabilities, or one for the class of a label and 0 for the others,
// nothing where the label is to be ignored.
Value shares_of(VjpContext& ctx, const Value& logs, const Value& counts, std::int64_t dim) {
  const Value target = ctx["target"];
  if (!counts.valid()) return target;
  const auto raised = [&](const Value& v) { return ctx.b(Op::unsqueeze, {v, dim}); };
  const Value class_index = raised(keep_where(counts, target));
  const Value shares = ctx.b(Op::scatter_value, {zeros(ctx.b, logs.type()), dim, class_index, 1});
  return keep_where(raised(counts), shares);
}

// -sum of weight, share and log-probability over classes, a part of each share (label_smoothing)
// spread evenly. The mean is by the weights of the labels, or by the items.
std::vector<Value> soft_cross_entropy(VjpContext& ctx, const Value& logs, std::int64_t dim) {
  const bool labels = !is_floating(ctx["target"].dtype());
  const Value counts =
      labels ? ctx.b(Op::ne_Scalar, {ctx["target"], ctx.integer("ignore_index")}) : Value();
  const std::int64_t classes = logs.size(dim), reduction = ctx.integer("reduction");
  const double smoothing = ctx.real("label_smoothing");
  const Value shares = shares_of(ctx, logs, counts, dim);
  Value weight = ctx["weight"].valid() ? ctx["weight"] : filled(logs, 1);
  if (weight.rank() == 1 && logs.rank() > 1) {
    Shape apart(static_cast<std::size_t>(logs.rank()), 1);
    apart[static_cast<std::size_t>(dim)] = classes;
    weight = ctx.b.view(weight, apart);
  }
  const Value smoothed = shares * (1 - smoothing) + smoothing / static_cast<double>(classes);
  Value each = -ctx.b.sum(logs * weight * smoothed, {dim});
  if (labels) each = keep_where(counts, each);
  if (reduction != 1) return {reduced(each, reduction)};
  const Value sum = ctx.b.sum(each);
  return {labels ? sum / ctx.b.sum(shares * weight) : sum / static_cast<double>(each.count())};
}

std::vector<Value> cross_entropy(VjpContext& ctx) {
  const Value x = ctx["self"], target = ctx["target"];
  const std::int64_t dim = x.rank() == 1 ? 0 : 1;
  const Value logs = ctx.b(Op::_log_softmax, {x, dim, false});
  if (is_floating(target.dtype()) || ctx.real("label_smoothing") != 0)
    return soft_cross_entropy(ctx, logs, dim);
  return {nll_of(ctx, logs, target, ctx["weight"])};
}

std::vector<Value> multi_margin_backward(VjpContext& ctx) {
  return gradients_of(ctx, multi_margin(ctx).front(), ctx["grad_output"], {ctx["self"]});
}

// The number of occurrences of each class in the list of targets, which ends at the first negative
// one.
Value target_counts(VjpContext& ctx, const Value& target, const Value& like) {
  const Value ends = ctx.b.convert(ctx.b(Op::lt_Scalar, {target, 0}), DType::i64);
  const Value listed = ctx.b(Op::eq_Scalar, {ctx.b(Op::cumsum, {ends, 1}), 0});
  return ctx.b(Op::scatter_add, {zeros(ctx.b, like.type()), 1, ctx.b(Op::clamp_min, {target, 0}),
                                 ctx.b.convert(listed, like.dtype())});
}

// Every target against every class that is none: max(0, 1 - x_target + x) / classes.
std::vector<Value> multilabel_written_out(VjpContext& ctx) {
  const Value self = ctx["self"];
  const bool alone = self.rank() < 2;
  const Shape rows = alone ? Shape{1, self.count()} : self.shape();
  const Value x = ctx.b.view(self, rows);
  const Value counts = target_counts(ctx, ctx.b.view(ctx["target"], rows), x);
  const Value others = ctx.b.convert(ctx.b(Op::eq_Scalar, {counts, 0}), x.dtype());
  const Value of_targets = ctx.b(Op::unsqueeze, {x, 2}), of_others = ctx.b(Op::unsqueeze, {x, 1});
  const Value terms =
      product({ctx.b.relu(of_others - of_targets + 1), ctx.b(Op::unsqueeze, {counts, 2}),
               ctx.b(Op::unsqueeze, {others, 1})});
  const Value each = ctx.b.sum(terms, {1, 2}) / static_cast<double>(x.size(1));
  return {reduced(alone ? ctx.b.view(each, {}) : each, ctx.integer("reduction"))};
}

std::vector<Value> multilabel_backward(VjpContext& ctx) {
  return gradients_of(ctx, multilabel_written_out(ctx).front(), ctx["grad_output"], {ctx["self"]});
}

Value multilabel(VjpContext& ctx) {
  return ctx.b(Op::multilabel_margin_loss_backward,
               {ctx.grad(), ctx["self"], ctx["target"], ctx.given("reduction"), ctx.out(1)});
}

std::vector<Value> glu_backward(VjpContext& ctx) {
  const Value x = ctx["self"], g = ctx["grad_output"];
  const std::int64_t dim = ctx.dim("dim", x.rank()), half = x.size(dim) / 2;
  const Value a = ctx.b(Op::slice_Tensor, {x, dim, 0, half});
  const Value p = unary(Op::sigmoid, ctx.b(Op::slice_Tensor, {x, dim, half, 2 * half}));
  return {ctx.b(Op::cat, {std::vector<Value>{g * p, g * a * p * (1 - p)}, dim})};
}

// x1·x2 / max(|x1|, eps) max(|x2|, eps)
std::vector<Value> cosine_similarity(VjpContext& ctx) {
  const auto shape = broadcast(ctx["x1"].shape(), ctx["x2"].shape());
  if (!shape) return {ctx.b.fail(shape.diagnostics().front().message)};
  const Value a = ctx.b.expand(ctx["x1"], *shape), b = ctx.b.expand(ctx["x2"], *shape);
  const std::vector<std::int64_t> dim = {ctx.integer("dim")};
  const auto unit = [&](const Value& v) {
    const Value norm = ctx.b(Op::linalg_vector_norm, {v, 2, dim, true});
    return v / ctx.b(Op::clamp_min, {norm, ctx.given("eps")});
  };
  return {ctx.b.sum(unit(a) * unit(b), dim)};
}

std::vector<Value> pairwise_distance(VjpContext& ctx) {
  const Value d = ctx["x1"] - ctx["x2"] + ctx.real("eps");
  return {ctx.b(Op::linalg_vector_norm, {d, ctx.given("p"), {-1}, ctx.given("keepdim")})};
}

template <Op backward>
void add_difference_loss(DerivativeRules& rows, Op forward, DecompositionFormula again) {
  rows.push_back(vjp({forward}, {{"self", by_backward<backward>}, {"target", opposite<backward>}}));
  rows.push_back(decomposes({backward}, again));
}

DerivativeRules differences() {
  DerivativeRules rows = {decomposes({Op::l1_loss}, l1)};
  add_difference_loss<Op::mse_loss_backward>(rows, Op::mse_loss, mse_backward);
  add_difference_loss<Op::smooth_l1_loss_backward>(rows, Op::smooth_l1_loss, smooth_l1_backward);
  add_difference_loss<Op::huber_loss_backward>(rows, Op::huber_loss, huber_backward);
  return rows;
}

DerivativeRules entropies() {
  return {
      decomposes({Op::soft_margin_loss}, soft_margin),
      decomposes({Op::soft_margin_loss_backward}, soft_margin_backward),
      decomposes({Op::kl_div}, kl_div),
      vjp({Op::binary_cross_entropy},
          {{"self", by_backward<Op::binary_cross_entropy_backward>}, {"target", bce_target}}),
      decomposes({Op::binary_cross_entropy_backward}, bce_backward),
      decomposes({Op::binary_cross_entropy_with_logits}, bce_with_logits),
      vjp({Op::nll_loss_forward}, {{"self", nll<Op::nll_loss_backward>}}, 1),
      vjp({Op::nll_loss2d_forward}, {{"self", nll<Op::nll_loss2d_backward>}}, 1),
      decomposes({Op::nll_loss_backward, Op::nll_loss2d_backward}, nll_backward),
      decomposes({Op::nll_loss, Op::nll_loss_nd, Op::nll_loss2d}, nll_loss),
      decomposes({Op::cross_entropy_loss}, cross_entropy),
  };
}

DerivativeRules margins_and_similarities() {
  return {
      vjp_and_decomposition({Op::multi_margin_loss},
                            {{"self", by_backward<Op::multi_margin_loss_backward>}}, multi_margin),
      decomposes({Op::multi_margin_loss_backward}, multi_margin_backward),
      vjp_and_decomposition({Op::multilabel_margin_loss_forward}, {{"self", multilabel}},
                            multilabel_written_out, 1),
      decomposes({Op::multilabel_margin_loss_backward}, multilabel_backward),
      vjp({Op::glu},
          {{"self",
            [](VjpContext& ctx) {
              return ctx.b(Op::glu_backward, {ctx.grad(), ctx["self"], ctx.given("dim")});
            }}}),
      decomposes({Op::glu_backward}, glu_backward),
      decomposes({Op::cosine_similarity}, cosine_similarity),
      decomposes({Op::pairwise_distance}, pairwise_distance),
  };
}

}  // namespace

DerivativeRules loss_rules() {
  DerivativeRules rows;
  for (const auto family : {differences, entropies, margins_and_similarities})
    for (DerivativeRule& row : family()) rows.push_back(std::move(row));
  return rows;
}

}  // namespace recut::autodiff
