// Losses of classes that come within a margin of the target class, forward and backward.
#include "engine/codegen/lower/nest.h"

namespace recut::loop {
namespace {

// Scores [N, C] or [C]; a target a row.
struct MultiMargin {
  const Nest& nest;
  std::int64_t classes, rows;
  DType type;

  explicit MultiMargin(const Nest& n)
      : nest(n),
        classes(n.shape_of("self").back()),
        rows(element_count(n.shape_of("self")) / classes),
        type(n.computing(n.dtype_of("self"))) {}

  Quantity score(const Index& row, const Index& k) const {
    return nest.real("self", place(row, k)).to(type);
  }
  Indices place(const Index& row, const Index& k) const {
    return nest.shape_of("self").size() == 1 ? Indices{k} : Indices{row, k};
  }
  Index target(const Index& row) const {
    const Indices at(nest.shape_of("target").size(), row);
    return nest.checked(nest.raw("target", at), classes, false);
  }

  // How far a class comes within the margin; 0 of the target itself.
  Quantity hinge(const Index& row, const Index& k) const {
    const Index target_class = target(row);
    const Quantity near =
        nest.call.scalar("margin").real - score(row, target_class) + score(row, k);
    const Quantity counts =
        (nest.lowering.number(k) != nest.lowering.number(target_class)) & (near > 0.0);
    return select(counts, near, near.like(0));
  }
  Quantity scale(const Index& row) const {
    const Quantity one = nest.lowering.constant(type, 1);
    const Quantity weight = nest.has("weight") ? nest.real("weight", {target(row)}).to(type) : one;
    return weight / static_cast<double>(classes);
  }
  bool linear() const { return nest.call.scalar("p").real == 1; }
  Quantity loss(const Index& row, const Index& k) const {
    const Quantity near = hinge(row, k);
    return scale(row) * (linear() ? near : near * near);
  }
  Quantity slope(const Index& row, const Index& k) const {
    const Quantity near = hinge(row, k);
    return scale(row) * (linear() ? (near > 0.0).to(type) : 2.0 * near);
  }

  // The gradient that a row's loss receives.
  Quantity row_gradient(const Index& row) const {
    const Shape& shape = nest.shape_of("grad_output");
    const Indices at(shape.size(), element_count(shape) > 1 ? row : Index(0));
    const Quantity g = nest.real("grad_output", at).to(type);
    return nest.call.integer("reduction") == 1 ? g / static_cast<double>(rows) : g;
  }
};

void multi_margin_loss(const Nest& nest) {
  const MultiMargin m(nest);
  const std::int64_t reduction = nest.call.integer("reduction");
  const FoldSpace space{{m.rows, m.classes}, {reduction != 0, true}, {m.classes, 1}};
  for_each_fold(nest.lowering, space, [&](Folder& folder) {
    const Quantity sum = folder.fold({"sum", Combine::add, nest.lowering.constant(m.type, 0),
                                      [&](const Indices& at) { return m.loss(at[0], at[1]); }});
    const Indices to(nest.type().shape.size(), folder.at()[0]);
    nest.lowering.write(nest.output(), to,
                        reduction == 1 ? sum / static_cast<double>(m.rows) : sum);
  });
}

// A class takes its own slope; the target has the other side of them all.
void multi_margin_loss_backward(const Nest& nest) {
  const MultiMargin m(nest);
  const FoldSpace space{{m.rows, m.classes}, {false, true}, {m.classes, 1}};
  for_each_fold(nest.lowering, space, [&](Folder& folder) {
    const Quantity slopes = folder.fold({"slopes", Combine::add, nest.lowering.constant(m.type, 0),
                                         [&](const Indices& at) { return m.slope(at[0], at[1]); }});
    folder.for_each([&](const Indices& at) {
      const Quantity is_target =
          nest.lowering.number(at[1]) == nest.lowering.number(m.target(at[0]));
      const Quantity slope = select(is_target, -slopes, m.slope(at[0], at[1]));
      nest.lowering.write(nest.output(), m.place(at[0], at[1]), slope * m.row_gradient(at[0]));
    });
  });
}

}  // namespace

void add_margin_loss_nests(NestTable& table) {
  table.push_back({Op::multi_margin_loss, multi_margin_loss});
  table.push_back({Op::multi_margin_loss_backward, multi_margin_loss_backward});
}

}  // namespace recut::loop
