// Negative log likelihood, forward and backward.
#include "engine/codegen/lower/nest.h"

namespace recut::loop {
namespace {

// Scores [N, C, places...] or [C]; targets without the classes.
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

  // The place of a class' score.
  Indices score(const Indices& at, const Index& of_class) const {
    Indices place = at;
    place.insert(place.begin() + (at.empty() ? 0 : 1), of_class);
    return place;
  }

  Quantity target(const Indices& at) const { return nest.raw("target", at).to(DType::i64); }
  Quantity counts(const Quantity& target) const {
    return target !=
           Quantity::constant(target.builder(), DType::i64, nest.call.integer("ignore_index"));
  }
  // A class that can be read at: 0 where the target is ignored.
  Index of_class(const Quantity& target, const Quantity& counts) const {
    return nest.checked(select(counts, target, target.like(0)), classes, false);
  }
  Quantity weight(const Index& of_class, const Quantity& counts) const {
    const Quantity one = nest.lowering.constant(type, 1);
    const Quantity given = nest.has("weight") ? nest.real("weight", {of_class}).to(type) : one;
    return select(counts, given, one.like(0));
  }
};

// 0 of a target that is ignored, whatever its score is.
Quantity loss(const Targets& t, const Indices& at) {
  const Quantity target = t.target(at);
  const Quantity counts = t.counts(target);
  const Index of_class = t.of_class(target, counts);
  const Quantity x = t.nest.real("self", t.score(at, of_class));
  return select(counts, -x * t.weight(of_class, counts), x.like(0));
}

Quantity weight(const Targets& t, const Indices& at) {
  const Quantity target = t.target(at);
  const Quantity counts = t.counts(target);
  return t.weight(t.of_class(target, counts), counts);
}

void nll_loss(const Nest& nest) {
  const Targets t(nest, "self");
  const std::int64_t reduction = nest.call.integer("reduction");
  const Quantity zero = nest.lowering.constant(t.type, 0);
  if (reduction == 0) {
    nest.lowering.for_each(t.shape, contiguous_strides(t.shape), [&](const Indices& at) {
      nest.lowering.write(nest.output(), at, loss(t, at));
    });
    if (nest.wanted(1)) nest.lowering.write(nest.output(1), {}, zero);
    return;
  }
  const FoldSpace space{t.shape, std::vector<bool>(t.shape.size(), true),
                        contiguous_strides(t.shape)};
  for_each_fold(nest.lowering, space, [&](Folder& folder) {
    const auto sums = folder.fold(
        {{"loss", Combine::add, zero, [&](const Indices& at) { return loss(t, at); }},
         {"weight", Combine::add, zero, [&](const Indices& at) { return weight(t, at); }}});
    if (nest.wanted(0))
      nest.lowering.write(nest.output(), {}, reduction == 1 ? sums[0] / sums[1] : sums[0]);
    if (nest.wanted(1)) nest.lowering.write(nest.output(1), {}, sums[1]);
  });
}

// Every score's own gradient: 0 but for the target's class.
void nll_loss_backward(const Nest& nest) {
  const Targets t(nest, "self");
  const std::int64_t reduction = nest.call.integer("reduction");
  const Layout out = storage_layout(nest.type());
  const std::size_t class_dimension = out.shape.size() > 1 ? 1 : 0;
  nest.lowering.for_each(out.shape, out.strides, [&](const Indices& at) {
    Indices item = at;
    item.erase(item.begin() + static_cast<std::ptrdiff_t>(class_dimension));
    const Quantity target = t.target(item);
    const Quantity counts = t.counts(target);
    const Index of_class = t.of_class(target, counts);
    const Indices none(nest.shape_of("grad_output").size(), 0);
    Quantity g = -nest.real("grad_output", reduction == 0 ? item : none).to(t.type) *
                 t.weight(of_class, counts);
    if (reduction == 1)
      g = g /
          nest.real("total_weight", Indices(nest.shape_of("total_weight").size(), 0)).to(t.type);
    const Quantity named = nest.lowering.number(of_class);
    const Quantity here = counts & (named == nest.lowering.number(at[class_dimension]));
    nest.lowering.write(nest.output(), at, select(here, g, g.like(0)));
  });
}

}  // namespace

void add_loss_nests(NestTable& table) {
  for (const Op op : {Op::nll_loss_forward, Op::nll_loss2d_forward, Op::nll_loss, Op::nll_loss_nd,
                      Op::nll_loss2d})
    table.push_back({op, nll_loss});
  for (const Op op : {Op::nll_loss_backward, Op::nll_loss2d_backward})
    table.push_back({op, nll_loss_backward});
}

}  // namespace recut::loop
