// Negative log likelihood, forward and backward, and cross entropy.
#include <cmath>

#include "engine/codegen/lower/nest.h"

namespace recut::loop {
namespace {

// Scores [N, C, positions...] or [C]; targets have no class dimension.
struct Targets {
  const Nest& nest;
  Shape shape;  // of the targets
  std::int64_t classes;
  DType type;

  Targets(const Nest& n, std::string_view scores)
      : nest(n),
        shape(n.shape_of("target")),
        classes(n.shape_of(scores).size() > 1 ? n.shape_of(scores)[1] : n.shape_of(scores)[0]),
        type(n.computing(n.dtype_of(scores))) {}

  // The index of a class' score.
  Indices score(const Indices& at, const Index& of_class) const {
    Indices position = at;
    position.insert(position.begin() + (at.empty() ? 0 : 1), of_class);
    return position;
  }

  ScalarExpr target(const Indices& at) const { return nest.raw("target", at).to(DType::i64); }
  ScalarExpr counts(const ScalarExpr& target) const {
    return target !=
           ScalarExpr::constant(target.builder(), DType::i64, nest.call.integer("ignore_index"));
  }
  // A class that is safe to read: 0 for an ignored target.
  Index of_class(const ScalarExpr& target, const ScalarExpr& counts) const {
    return nest.checked(select(counts, target, target.like(0)), classes, false);
  }
  ScalarExpr weight(const Index& of_class, const ScalarExpr& counts) const {
    const ScalarExpr one = nest.lowering.constant(type, 1);
    const ScalarExpr given = nest.has("weight") ? nest.real("weight", {of_class}).to(type) : one;
    return select(counts, given, one.like(0));
  }
};

// 0 for an ignored target, whatever its score.
ScalarExpr loss(const Targets& t, const Indices& at) {
  const ScalarExpr target = t.target(at);
  const ScalarExpr counts = t.counts(target);
  const Index of_class = t.of_class(target, counts);
  const ScalarExpr x = t.nest.real("self", t.score(at, of_class));
  return select(counts, -x * t.weight(of_class, counts), x.like(0));
}

ScalarExpr weight(const Targets& t, const Indices& at) {
  const ScalarExpr target = t.target(at);
  const ScalarExpr counts = t.counts(target);
  return t.weight(t.of_class(target, counts), counts);
}

void nll_loss(const Nest& nest) {
  const Targets t(nest, "self");
  const std::int64_t reduction = nest.call.integer("reduction");
  const ScalarExpr zero = nest.lowering.constant(t.type, 0);
  if (reduction == 0) {
    nest.lowering.for_each(t.shape, contiguous_strides(t.shape), [&](const Indices& at) {
      nest.lowering.write(nest.output(), at, loss(t, at));
    });
    if (nest.is_requested(1)) nest.lowering.write(nest.output(1), {}, zero);
    return;
  }
  const ReductionSpace space{t.shape, std::vector<bool>(t.shape.size(), true),
                             contiguous_strides(t.shape)};
  for_each_ordered_reduction(nest.lowering, space, [&](Reducer& reducer) {
    const auto sums = reducer.reduce(
        {{"loss", Combine::add, zero, [&](const Indices& at) { return loss(t, at); }},
         {"weight", Combine::add, zero, [&](const Indices& at) { return weight(t, at); }}});
    if (nest.is_requested(0))
      nest.lowering.write(nest.output(), {}, reduction == 1 ? sums[0] / sums[1] : sums[0]);
    if (nest.is_requested(1)) nest.lowering.write(nest.output(1), {}, sums[1]);
  });
}

// The gradient of every score: 0 except for the target's class.
void nll_loss_backward(const Nest& nest) {
  const Targets t(nest, "self");
  const std::int64_t reduction = nest.call.integer("reduction");
  const Layout out = output_layout(nest.type());
  const std::size_t class_dimension = out.shape.size() > 1 ? 1 : 0;
  nest.lowering.for_each(out.shape, out.strides, [&](const Indices& at) {
    Indices item = at;
    item.erase(item.begin() + static_cast<std::ptrdiff_t>(class_dimension));
    const ScalarExpr target = t.target(item);
    const ScalarExpr counts = t.counts(target);
    const Index of_class = t.of_class(target, counts);
    const Indices none(nest.shape_of("grad_output").size(), 0);
    ScalarExpr g = -nest.real("grad_output", reduction == 0 ? item : none).to(t.type) *
                   t.weight(of_class, counts);
    if (reduction == 1)
      g = g /
          nest.real("total_weight", Indices(nest.shape_of("total_weight").size(), 0)).to(t.type);
    const ScalarExpr named = nest.lowering.number(of_class);
    const ScalarExpr here = counts & (named == nest.lowering.number(at[class_dimension]));
    nest.lowering.write(nest.output(), at, select(here, g, g.like(0)));
  });
}

// Cross entropy
// -------------

// Scores [N, C, positions...] or [C] against a class index or class probabilities. An item sums
// over all classes: label smoothing spreads a part of its target evenly.
class CrossEntropy {
 public:
  explicit CrossEntropy(const Nest& n)
      : nest_(n), t_(n, "self"), probabilities_(is_floating(n.dtype_of("target"))) {}

  // Calls body(item) in a loop over the items.
  void each_item(Builder::Order order, const std::function<void(const Indices&)>& body) const {
    Builder& builder = nest_.lowering.builder();
    Shape items = nest_.shape_of("self");
    items.erase(items.begin() + (items.size() > 1 ? 1 : 0));
    const std::size_t depth = builder.depth();
    const Index i = builder.open_loop("i", element_count(items), order);
    body(delinearize(i, items, builder));
    builder.close_to(depth);
  }

  ScalarExpr loss(const Indices& at) const {
    const auto score = [&](const Indices& k) { return nest_.real("self", t_.score(at, k[0])); };
    const ScalarExpr largest = reduce("largest", Combine::max, -HUGE_VAL, score);
    const ScalarExpr total =
        reduce("total", Combine::add, 0, [&](const Indices& k) { return exp(score(k) - largest); });
    const ScalarExpr logarithm{total.builder(), log(total).id()};
    const ScalarExpr sum = reduce("loss", Combine::add, 0, [&](const Indices& k) {
      return -(score(k) - largest - logarithm) * class_weight(k[0]) * target(at, k[0]);
    });
    return probabilities_ ? sum : select(t_.counts(t_.target(at)), sum, sum.like(0));
  }

  // The mean divides by the sum of this weight.
  ScalarExpr weight(const Indices& at) const {
    return probabilities_ ? nest_.lowering.constant(t_.type, 1) : loop::weight(t_, at);
  }
  ScalarExpr zero() const { return nest_.lowering.constant(t_.type, 0); }

 private:
  ScalarExpr reduce(const std::string& name, Combine how, double initial,
                    const std::function<ScalarExpr(const Indices&)>& term) const {
    return reduce_range(nest_.lowering, t_.classes,
                        {name, how, nest_.lowering.constant(t_.type, initial), term});
  }
  ScalarExpr class_weight(const Index& k) const {
    return nest_.has("weight") ? nest_.real("weight", {k}).to(t_.type)
                               : nest_.lowering.constant(t_.type, 1);
  }
  ScalarExpr target(const Indices& at, const Index& k) const {
    const double smoothing = nest_.call.real("label_smoothing");
    return share(at, k) * (1 - smoothing) + smoothing / static_cast<double>(t_.classes);
  }
  ScalarExpr share(const Indices& at, const Index& k) const {
    if (probabilities_) return nest_.real("target", t_.score(at, k)).to(t_.type);
    const ScalarExpr named = t_.target(at);
    const Index of_class = t_.of_class(named, t_.counts(named));
    return (nest_.lowering.number(of_class) == nest_.lowering.number(k)).to(t_.type);
  }

  const Nest& nest_;
  const Targets t_;
  const bool probabilities_;
};

void cross_entropy_loss(const Nest& nest) {
  const CrossEntropy entropy(nest);
  const std::int64_t reduction = nest.call.integer("reduction");
  if (reduction == 0)
    return entropy.each_item(Builder::Order::parallel, [&](const Indices& at) {
      nest.lowering.write(nest.output(), at, entropy.loss(at));
    });
  Builder& builder = nest.lowering.builder();
  const auto sum = [&](const char* name) {
    return builder.accumulator(name, Combine::add, entropy.zero().id(), 1);
  };
  const AccumulatorId losses = sum("losses"), weights = sum("weights");
  entropy.each_item(Builder::Order::serial, [&](const Indices& at) {
    builder.update(losses, entropy.loss(at).id());
    builder.update(weights, entropy.weight(at).id());
  });
  const ScalarExpr total{&builder, builder.read(losses)};
  const ScalarExpr weight{&builder, builder.read(weights)};
  nest.lowering.write(nest.output(), {}, reduction == 1 ? total / weight : total);
}

std::optional<std::string> no_classes(const Call& call) {
  const Shape& scores = call.tensor("self").shape;
  if (scores[scores.size() > 1 ? 1 : 0] == 0) return "scores without classes";
  return std::nullopt;
}

}  // namespace

void add_loss_nests(NestTable& table) {
  for (const Op op : {Op::nll_loss_forward, Op::nll_loss2d_forward, Op::nll_loss, Op::nll_loss_nd,
                      Op::nll_loss2d})
    table.push_back({op, nll_loss});
  for (const Op op : {Op::nll_loss_backward, Op::nll_loss2d_backward})
    table.push_back({op, nll_loss_backward});
  table.push_back({Op::cross_entropy_loss, cross_entropy_loss, no_classes});
}

}  // namespace recut::loop
