// Margin losses, forward and backward: they penalize classes within a margin of the target class,
// or of any of several target classes.
#include "engine/codegen/lower/nest.h"
#include "engine/codegen/lower/scratch.h"

namespace recut::loop {
namespace {

// Scores [N, C] or [C].
struct Rows {
  const Nest& nest;
  std::int64_t classes, rows;
  DType type;

  explicit Rows(const Nest& n)
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

  // The gradient that a row's loss receives.
  Quantity row_gradient(const Index& row) const {
    const Shape& shape = nest.shape_of("grad_output");
    const Indices at(shape.size(), element_count(shape) > 1 ? row : Index(0));
    const Quantity g = nest.real("grad_output", at).to(type);
    return nest.call.integer("reduction") == 1 ? g / static_cast<double>(rows) : g;
  }
};

// A target a row.
struct MultiMargin : Rows {
  using Rows::Rows;

  Index target(const Index& row) const {
    const Indices at(nest.shape_of("target").size(), row);
    return nest.checked(nest.raw("target", at), classes, false);
  }

  // The margin violation of a class; 0 for the target itself.
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

// A class gets its own slope; the target gets the negated sum of all slopes.
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

// Several targets
// ---------------

// The targets of a row end at its first negative one. Target classes are not compared with each
// other.
class MultilabelMargin : public Rows {
 public:
  explicit MultilabelMargin(const Nest& n) : Rows(n), builder_(n.lowering.builder()) {}

  // Calls body(row) in a loop over the rows.
  void each_row(Builder::Order order, const std::function<void(const Index&)>& body) const {
    const std::size_t depth = builder_.depth();
    body(builder_.open_any_loop("i", rows, order));
    builder_.close_to(depth);
  }
  // Calls body(k) for the classes, serially.
  void each_class(const std::function<void(const Index&)>& body) const {
    const std::size_t depth = builder_.depth();
    body(builder_.open_loop("k", classes));
    builder_.close_to(depth);
  }
  // Calls body(class) for a row's targets.
  void each_target(const Index& row, const Quantity& count,
                   const std::function<void(const Index&)>& body) const {
    each_class([&](const Index& n) {
      const std::size_t depth = builder_.depth();
      builder_.open_if((nest.lowering.number(n) < count).id());
      body(nest.checked(named(row, n), classes, false));
      builder_.close_to(depth);
    });
  }

  // The number of targets of a row.
  Quantity count(const Index& row) const {
    const Quantity all = Quantity::constant(&builder_, DType::i64, classes);
    return fold_steps(nest.lowering, classes, {"count", Combine::min, all, [&](const Indices& n) {
                                                 return select(named(row, n[0]) < 0.0,
                                                               nest.lowering.number(n[0]), all);
                                               }});
  }
  // Marks the target classes of a row.
  Scratch marked(const Index& row, const Quantity& count) const {
    const Scratch marks(builder_, "is_target", DType::boolean, classes);
    const auto truth = [&](std::int64_t is) {
      return Quantity::constant(&builder_, DType::boolean, is);
    };
    each_class([&](const Index& k) { marks.write(k, truth(0)); });
    each_target(row, count, [&](const Index& target) { marks.write(target, truth(1)); });
    return marks;
  }
  // Sums `term` of the violations: for each target, every non-target class that comes within 1 of
  // it.
  Quantity sum(const Index& row, const Scratch& marks, const Index& target,
               const std::function<Quantity(const Quantity&)>& term) const {
    const Quantity zero = nest.lowering.constant(type, 0);
    return fold_steps(nest.lowering, classes, {"sum", Combine::add, zero, [&](const Indices& k) {
                                                 const Quantity near = hinge(row, target, k[0]);
                                                 return select((!marks.read(k[0])) & (near > 0.0),
                                                               term(near), zero);
                                               }});
  }
  AccumulatorId accumulator(const char* name) const {
    return builder_.accumulator(name, Combine::add, nest.lowering.constant(type, 0).id(), 1);
  }
  Quantity hinge(const Index& row, const Index& target, const Index& k) const {
    return 1.0 - score(row, target) + score(row, k);
  }

 private:
  Quantity named(const Index& row, const Index& n) const {
    return nest.raw("target", place(row, n)).to(DType::i64);
  }

  Builder& builder_;
};

// The loss of a row; also writes the output of its target classes.
Quantity row_loss(const MultilabelMargin& m, const Index& row) {
  const Nest& nest = m.nest;
  Builder& builder = nest.lowering.builder();
  const Quantity count = m.count(row);
  const Scratch marks = m.marked(row, count);
  const AccumulatorId loss = m.accumulator("loss");
  m.each_target(row, count, [&](const Index& target) {
    const Quantity near = m.sum(row, marks, target, [](const Quantity& hinge) { return hinge; });
    builder.update(loss, (near / static_cast<double>(m.classes)).id());
  });
  if (nest.wanted(1))
    m.each_class([&](const Index& k) {
      nest.lowering.write(nest.output(1), m.place(row, k), marks.read(k));
    });
  return {&builder, builder.read(loss)};
}

void multilabel_margin_loss(const Nest& nest) {
  const MultilabelMargin m(nest);
  const auto write = [&](const Indices& at, const Quantity& loss) {
    if (nest.wanted(0)) nest.lowering.write(nest.output(), at, loss);
  };
  const std::int64_t reduction = nest.call.integer("reduction");
  if (reduction == 0)
    return m.each_row(Builder::Order::parallel, [&](const Index& row) {
      write(Indices(nest.type().shape.size(), row), row_loss(m, row));
    });
  Builder& builder = nest.lowering.builder();
  const AccumulatorId losses = m.accumulator("losses");
  m.each_row(Builder::Order::serial,
             [&](const Index& row) { builder.update(losses, row_loss(m, row).id()); });
  const Quantity total{&builder, builder.read(losses)};
  write({}, reduction == 1 ? total / static_cast<double>(m.rows) : total);
}

// A class gets a step for each target that it comes near; the targets get the opposite sum.
void multilabel_margin_loss_backward(const Nest& nest) {
  const MultilabelMargin m(nest);
  Builder& builder = nest.lowering.builder();
  m.each_row(Builder::Order::parallel, [&](const Index& row) {
    const Quantity count = m.count(row);
    const Scratch marks = m.marked(row, count);
    const Scratch steps(builder, "steps", m.type, m.classes);
    const Quantity zero = nest.lowering.constant(m.type, 0);
    m.each_class([&](const Index& k) { steps.write(k, zero); });
    m.each_target(row, count, [&](const Index& target) {
      const Quantity near =
          m.sum(row, marks, target, [](const Quantity& hinge) { return hinge.like(1); });
      steps.write(target, steps.read(target) - near);
      m.each_class([&](const Index& k) {
        const Quantity comes_near = (!marks.read(k)) & (m.hinge(row, target, k) > 0.0);
        steps.write(k, steps.read(k) + comes_near.to(m.type));
      });
    });
    const Quantity g = m.row_gradient(row) / static_cast<double>(m.classes);
    m.each_class([&](const Index& k) {
      nest.lowering.write(nest.output(), m.place(row, k), steps.read(k) * g);
    });
  });
}

// Scratch holds a mark and a step for every class.
std::optional<std::string> many_classes(const Call& call) {
  constexpr std::int64_t kMost = kMostScratchBytes / 16;
  if (call.tensor("self").shape.back() <= kMost) return std::nullopt;
  return "scores of more than 10240 classes";
}

}  // namespace

void add_margin_loss_nests(NestTable& table) {
  table.push_back({Op::multi_margin_loss, multi_margin_loss});
  table.push_back({Op::multi_margin_loss_backward, multi_margin_loss_backward});
  table.push_back({Op::multilabel_margin_loss_forward, multilabel_margin_loss, many_classes});
  table.push_back(
      {Op::multilabel_margin_loss_backward, multilabel_margin_loss_backward, many_classes});
}

}  // namespace recut::loop
