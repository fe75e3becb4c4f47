// Losses that compare element by element, whole, as a mean or as a sum, and their gradients.
#include "engine/codegen/lower/nest.h"

namespace recut::loop {
namespace {

// A loss of x and its target, with the extra argument of the schema (beta, delta, log_target).
using ElementwiseLossPart = ScalarExpr (*)(const ScalarExpr& x, const ScalarExpr& target,
                                           double number);

ScalarExpr sign(const ScalarExpr& x) {
  return select(x > 0.0, x.like(1), select(x < 0.0, x.like(-1), x));
}

ScalarExpr square(const ScalarExpr& x, const ScalarExpr& t, double) { return (x - t) * (x - t); }
ScalarExpr square_slope(const ScalarExpr& x, const ScalarExpr& t, double) { return 2.0 * (x - t); }

ScalarExpr absolute(const ScalarExpr& x, const ScalarExpr& t, double) { return abs(x - t); }

// Of width 0 it is the absolute difference.
ScalarExpr smooth(const ScalarExpr& x, const ScalarExpr& t, double beta) {
  const ScalarExpr d = abs(x - t);
  if (beta == 0) return d;
  return select(d < beta, 0.5 * d * d / beta, d - 0.5 * beta);
}
ScalarExpr smooth_slope(const ScalarExpr& x, const ScalarExpr& t, double beta) {
  const ScalarExpr d = x - t;
  return beta == 0 ? sign(d) : select(abs(d) < beta, d / beta, sign(d));
}

ScalarExpr huber(const ScalarExpr& x, const ScalarExpr& t, double delta) {
  const ScalarExpr d = abs(x - t);
  return select(d <= delta, 0.5 * d * d, delta * (d - 0.5 * delta));
}
ScalarExpr huber_slope(const ScalarExpr& x, const ScalarExpr& t, double delta) {
  const double most = std::fabs(delta);
  const ScalarExpr d = x - t;
  return select(d < -most, d.like(-most), select(d > most, d.like(most), d));
}

ScalarExpr soft_margin(const ScalarExpr& x, const ScalarExpr& t, double) {
  return log1p(exp(-t * x));
}
ScalarExpr soft_margin_slope(const ScalarExpr& x, const ScalarExpr& t, double) {
  const ScalarExpr z = exp(-t * x);
  return select(is_infinite(z), -t, -t * z / (1.0 + z));
}

// A target of 0 adds nothing, even where its logarithm is infinite.
ScalarExpr divergence(const ScalarExpr& x, const ScalarExpr& t, double log_target) {
  if (log_target != 0) return exp(t) * (t - x);
  return select(t == 0.0, t.like(0), t * (log(t) - x));
}

ScalarExpr log_at_least(const ScalarExpr& x) { return larger(log(x), -100.0); }
ScalarExpr entropy(const ScalarExpr& x, const ScalarExpr& t, double) {
  return (t - 1.0) * log_at_least(1.0 - x) - t * log_at_least(x);
}
ScalarExpr entropy_slope(const ScalarExpr& x, const ScalarExpr& t, double) {
  return (x - t) / larger((1.0 - x) * x, 1e-12);
}

double number_of(const Call& call) {
  for (const std::string_view name : {"beta", "delta"})
    if (call.op().parameter(name)) return call.real(name);
  if (call.op().parameter("log_target")) return call.boolean("log_target") ? 1 : 0;
  return 0;
}

// Reads all operands, broadcast to one shape.
struct Elements {
  const Nest& nest;
  Shape shape;
  DType type;

  explicit Elements(const Nest& n)
      : nest(n),
        shape(broadcast(n.shape_of("self"), n.shape_of("target")).value()),
        type(n.computing(n.dtype_of("self"))) {}

  ScalarExpr of(std::string_view parameter, const Indices& at) const {
    const Shape& own = nest.shape_of(parameter);
    Indices position(own.size(), 0);
    for (std::size_t d = 0; d < own.size(); ++d)
      if (own[d] != 1) position[d] = at[at.size() - own.size() + d];
    return nest.real(parameter, position).to(type);
  }
  ScalarExpr weighed(const ScalarExpr& loss, const Indices& at) const {
    return nest.has("weight") ? loss * of("weight", at) : loss;
  }

  // Writes all losses, or their mean or sum.
  void write_reduced(const std::function<ScalarExpr(const Indices&)>& loss) const {
    const std::int64_t reduction = nest.call.integer("reduction");
    if (reduction == 0)
      return nest.lowering.for_each(shape, contiguous_strides(shape), [&](const Indices& at) {
        nest.lowering.write(nest.output(), at, loss(at));
      });
    const ReductionSpace space{shape, std::vector<bool>(shape.size(), true),
                               contiguous_strides(shape)};
    for_each_ordered_reduction(nest.lowering, space, [&](Reducer& reducer) {
      const ScalarExpr sum =
          reducer.reduce({"sum", Combine::add, nest.lowering.constant(type, 0), loss});
      const auto count = static_cast<double>(reducer.count());
      nest.lowering.write(nest.output(), {}, reduction == 1 ? sum / count : sum);
    });
  }
};

template <ElementwiseLossPart loss>
void forward_elementwise_loss(const Nest& nest) {
  const Elements e(nest);
  const double number = number_of(nest.call);
  e.write_reduced([&](const Indices& at) {
    return e.weighed(loss(e.of("self", at), e.of("target", at), number), at);
  });
}

template <ElementwiseLossPart slope>
void backward_elementwise_loss(const Nest& nest) {
  const Elements e(nest);
  const double number = number_of(nest.call);
  const bool mean = nest.call.integer("reduction") == 1;
  const double share = mean ? 1 / static_cast<double>(element_count(e.shape)) : 1.0;
  nest.lowering.for_each(e.shape, contiguous_strides(e.shape), [&](const Indices& at) {
    const ScalarExpr own = slope(e.of("self", at), e.of("target", at), number);
    nest.lowering.write(nest.output(), at, e.weighed(own * e.of("grad_output", at) * share, at));
  });
}

// (1 - t) x + (1 + (p - 1) t) log(1 + exp(-x)), in a form that never overflows.
void entropy_with_logits(const Nest& nest) {
  const Elements e(nest);
  e.write_reduced([&](const Indices& at) {
    const ScalarExpr x = e.of("self", at), t = e.of("target", at);
    const ScalarExpr softplus = log1p(exp(-abs(x))) + larger(-x, 0.0);
    const ScalarExpr factor =
        nest.has("pos_weight") ? 1.0 + (e.of("pos_weight", at) - 1.0) * t : x.like(1);
    return e.weighed((1.0 - t) * x + factor * softplus, at);
  });
}

}  // namespace

void add_elementwise_loss_nests(NestTable& table) {
  table.insert(table.end(),
               {{Op::mse_loss, forward_elementwise_loss<square>},
                {Op::mse_loss_backward, backward_elementwise_loss<square_slope>},
                {Op::l1_loss, forward_elementwise_loss<absolute>},
                {Op::smooth_l1_loss, forward_elementwise_loss<smooth>},
                {Op::smooth_l1_loss_backward, backward_elementwise_loss<smooth_slope>},
                {Op::huber_loss, forward_elementwise_loss<huber>},
                {Op::huber_loss_backward, backward_elementwise_loss<huber_slope>},
                {Op::soft_margin_loss, forward_elementwise_loss<soft_margin>},
                {Op::soft_margin_loss_backward, backward_elementwise_loss<soft_margin_slope>},
                {Op::kl_div, forward_elementwise_loss<divergence>},
                {Op::binary_cross_entropy, forward_elementwise_loss<entropy>},
                {Op::binary_cross_entropy_backward, backward_elementwise_loss<entropy_slope>},
                {Op::binary_cross_entropy_with_logits, entropy_with_logits}});
}

}  // namespace recut::loop
