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

  ScalarExpr score(const Index& row, const Index& k) const {
    return nest.real("self", position(row, k)).to(type);
  }
  Indices position(const Index& row, const Index& k) const {
    return nest.shape_of("self").size() == 1 ? Indices{k} : Indices{row, k};
  }

  // The gradient that a row's loss receives.
  ScalarExpr row_gradient(const Index& row) const {
    const Shape& shape = nest.shape_of("grad_output");
    const Indices at(shape.size(), element_count(shape) > 1 ? row : Index(0));
    const ScalarExpr g = nest.real("grad_output", at).to(type);
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
  ScalarExpr hinge(const Index& row, const Index& k) const {
    const Index target_class = target(row);
    const ScalarExpr near =
        nest.call.scalar("margin").real - score(row, target_class) + score(row, k);
    const ScalarExpr counts =
        (nest.lowering.number(k) != nest.lowering.number(target_class)) & (near > 0.0);
    return select(counts, near, near.like(0));
  }
  ScalarExpr scale(const Index& row) const {
    const ScalarExpr one = nest.lowering.constant(type, 1);
    const ScalarExpr weight =
        nest.has("weight") ? nest.real("weight", {target(row)}).to(type) : one;
    return weight / static_cast<double>(classes);
  }
  bool linear() const { return nest.call.scalar("p").real == 1; }
  ScalarExpr loss(const Index& row, const Index& k) const {
    const ScalarExpr near = hinge(row, k);
    return scale(row) * (linear() ? near : near * near);
  }
  ScalarExpr slope(const Index& row, const Index& k) const {
    const ScalarExpr near = hinge(row, k);
    return scale(row) * (linear() ? (near > 0.0).to(type) : 2.0 * near);
  }
};

void multi_margin_loss(const Nest& nest) {
  const MultiMargin m(nest);
  const std::int64_t reduction = nest.call.integer("reduction");
  const ReductionSpace space{{m.rows, m.classes}, {reduction != 0, true}, {m.classes, 1}};
  for_each_ordered_reduction(nest.lowering, space, [&](Reducer& reducer) {
    const ScalarExpr sum =
        reducer.reduce({"sum", Combine::add, nest.lowering.constant(m.type, 0),
                        [&](const Indices& at) { return m.loss(at[0], at[1]); }});
    const Indices to(nest.type().shape.size(), reducer.at()[0]);
    nest.lowering.write(nest.output(), to,
                        reduction == 1 ? sum / static_cast<double>(m.rows) : sum);
  });
}

// A class gets its own slope; the target gets the negated sum of all slopes.
void multi_margin_loss_backward(const Nest& nest) {
  const MultiMargin m(nest);
  const ReductionSpace space{{m.rows, m.classes}, {false, true}, {m.classes, 1}};
  for_each_ordered_reduction(nest.lowering, space, [&](Reducer& reducer) {
    const ScalarExpr slopes =
        reducer.reduce({"slopes", Combine::add, nest.lowering.constant(m.type, 0),
                        [&](const Indices& at) { return m.slope(at[0], at[1]); }});
    reducer.for_each([&](const Indices& at) {
      const ScalarExpr is_target =
          nest.lowering.number(at[1]) == nest.lowering.number(m.target(at[0]));
      const ScalarExpr slope = select(is_target, -slopes, m.slope(at[0], at[1]));
      nest.lowering.write(nest.output(), m.position(at[0], at[1]), slope * m.row_gradient(at[0]));
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
  void each_target(const Index& row, const ScalarExpr& count,
                   const std::function<void(const Index&)>& body) const {
    each_class([&](const Index& n) {
      const std::size_t depth = builder_.depth();
      builder_.open_if((nest.lowering.number(n) < count).id());
      body(nest.checked(named(row, n), classes, false));
      builder_.close_to(depth);
    });
  }

  // The number of targets of a row.
  ScalarExpr count(const Index& row) const {
    const ScalarExpr all = ScalarExpr::constant(&builder_, DType::i64, classes);
    return reduce_range(nest.lowering, classes, {"count", Combine::min, all, [&](const Indices& n) {
                                                   return select(named(row, n[0]) < 0.0,
                                                                 nest.lowering.number(n[0]), all);
                                                 }});
  }
  // Marks the target classes of a row.
  Scratch marked(const Index& row, const ScalarExpr& count) const {
    const Scratch marks(builder_, "is_target", DType::boolean, classes);
    const auto truth = [&](std::int64_t is) {
      return ScalarExpr::constant(&builder_, DType::boolean, is);
    };
    each_class([&](const Index& k) { marks.write(k, truth(0)); });
    each_target(row, count, [&](const Index& target) { marks.write(target, truth(1)); });
    return marks;
  }
  // Sums `term` of the violations: for each target, every non-target class that comes within 1 of
  // it.
  ScalarExpr sum(const Index& row, const Scratch& marks, const Index& target,
                 const std::function<ScalarExpr(const ScalarExpr&)>& term) const {
    const ScalarExpr zero = nest.lowering.constant(type, 0);
    return reduce_range(nest.lowering, classes, {"sum", Combine::add, zero, [&](const Indices& k) {
                                                   const ScalarExpr near = hinge(row, target, k[0]);
                                                   return select((!marks.read(k[0])) & (near > 0.0),
                                                                 term(near), zero);
                                                 }});
  }
  AccumulatorId accumulator(const char* name) const {
    return builder_.accumulator(name, Combine::add, nest.lowering.constant(type, 0).id(), 1);
  }
  ScalarExpr hinge(const Index& row, const Index& target, const Index& k) const {
    return 1.0 - score(row, target) + score(row, k);
  }

 private:
  ScalarExpr named(const Index& row, const Index& n) const {
    return nest.raw("target", position(row, n)).to(DType::i64);
  }

  Builder& builder_;
};

// The loss of a row; also writes the output of its target classes.
ScalarExpr row_loss(const MultilabelMargin& m, const Index& row) {
  const Nest& nest = m.nest;
  Builder& builder = nest.lowering.builder();
  const ScalarExpr count = m.count(row);
  const Scratch marks = m.marked(row, count);
  const AccumulatorId loss = m.accumulator("loss");
  m.each_target(row, count, [&](const Index& target) {
    const ScalarExpr near =
        m.sum(row, marks, target, [](const ScalarExpr& hinge) { return hinge; });
    builder.update(loss, (near / static_cast<double>(m.classes)).id());
  });
  if (nest.is_requested(1))
    m.each_class([&](const Index& k) {
      nest.lowering.write(nest.output(1), m.position(row, k), marks.read(k));
    });
  return {&builder, builder.read(loss)};
}

void multilabel_margin_loss(const Nest& nest) {
  const MultilabelMargin m(nest);
  const auto write = [&](const Indices& at, const ScalarExpr& loss) {
    if (nest.is_requested(0)) nest.lowering.write(nest.output(), at, loss);
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
  const ScalarExpr total{&builder, builder.read(losses)};
  write({}, reduction == 1 ? total / static_cast<double>(m.rows) : total);
}

// A class gets a step for each target that it comes near; the targets get the opposite sum.
void multilabel_margin_loss_backward(const Nest& nest) {
  const MultilabelMargin m(nest);
  Builder& builder = nest.lowering.builder();
  m.each_row(Builder::Order::parallel, [&](const Index& row) {
    const ScalarExpr count = m.count(row);
    const Scratch marks = m.marked(row, count);
    const Scratch steps(builder, "steps", m.type, m.classes);
    const ScalarExpr zero = nest.lowering.constant(m.type, 0);
    m.each_class([&](const Index& k) { steps.write(k, zero); });
    m.each_target(row, count, [&](const Index& target) {
      const ScalarExpr near =
          m.sum(row, marks, target, [](const ScalarExpr& hinge) { return hinge.like(1); });
      steps.write(target, steps.read(target) - near);
      m.each_class([&](const Index& k) {
        const ScalarExpr comes_near = (!marks.read(k)) & (m.hinge(row, target, k) > 0.0);
        steps.write(k, steps.read(k) + comes_near.to(m.type));
      });
    });
    const ScalarExpr g = m.row_gradient(row) / static_cast<double>(m.classes);
    m.each_class([&](const Index& k) {
      nest.lowering.write(nest.output(), m.position(row, k), steps.read(k) * g);
    });
  });
}

// Scratch holds a mark and a step for every class.
std::optional<std::string> many_classes(const Call& call) {
  constexpr std::int64_t kMaxCount = kMaxScratchBytes / 16;
  if (call.tensor("self").shape.back() <= kMaxCount) return std::nullopt;
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
