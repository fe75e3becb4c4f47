// scatter_reduce, index_add and their kin: updates to indices that are data. Lines along the
// dimension are parallel; the updates of one line run serially in the order of the indices, so
// colliding updates have a fixed order without atomics.
#include "engine/codegen/lower/nest.h"

namespace recut::loop {
namespace {

// The combination of colliding updates, by the name in ATen's `reduce`.
struct ScatterReduction {
  Combine how = Combine::add;
  bool mean = false;
  bool replaces = false;  // the last update wins
};

ScatterReduction scatter_reduction_of(std::string_view name) {
  if (name == "prod" || name == "multiply") return {Combine::mul};
  if (name == "mean") return {Combine::add, true};
  if (name == "amax") return {Combine::max};
  if (name == "amin") return {Combine::min};
  return {Combine::add};
}

// The identity element of a combination: it leaves any other value unchanged.
ScalarExpr identity_element(const Nest& nest, Combine how) {
  const DType dtype = nest.type().dtype;
  Builder* builder = &nest.lowering.builder();
  const Constant whole = neutral(how, DType::i64);
  if (is_floating(dtype))
    return ScalarExpr::constant(builder, DType::f64, neutral(how, dtype).real);
  if (how == Combine::add || how == Combine::mul || dtype == DType::i64)
    return ScalarExpr::constant(builder, DType::i64, whole.integer);
  const std::int64_t half = std::int64_t{1} << (8 * item_bytes(dtype) - 1);
  const std::int64_t least = dtype == DType::u8 ? 0 : -half;
  const std::int64_t most = dtype == DType::u8 ? 2 * half - 1 : half - 1;
  return ScalarExpr::constant(builder, DType::i64, how == Combine::max ? least : most);
}

// The updates of a scatter: `index` holds either an index for each value, or one for each position
// along the dimension.
struct ScatterUpdates {
  const Nest& nest;
  bool index_is_line;  // one-dimensional or scalar index
  bool negative_from_end = false;
  std::size_t dim;
  Shape shape;  // of the values

  explicit ScatterUpdates(const Nest& n)
      : nest(n),
        index_is_line(n.call.op().packet.rfind("index_", 0) == 0),
        dim(n.dimension("dim", n.type().shape.size())) {
    const Shape& index = nest.shape_of("index");
    shape = atleast_1d(index_is_line ? nest.type().shape : index);
    if (index_is_line) shape[dim] = element_count(index);
  }

  Index target(const Indices& from) const {
    const Indices at = index_in(nest.shape_of("index"), index_is_line ? Indices{from[dim]} : from);
    return nest.checked(nest.raw("index", at), atleast_1d(nest.type().shape)[dim],
                        negative_from_end);
  }

  // Calls put(from, to) for all updates.
  void for_each(const std::function<void(const Indices&, const Indices&)>& put) const {
    Builder& builder = nest.lowering.builder();
    const std::size_t depth = builder.depth();
    Shape lines = shape;
    lines[dim] = 1;
    const Index line = builder.open_loop("i", element_count(lines), Builder::Order::parallel);
    Indices from = delinearize(line, lines, builder);
    from[dim] = builder.open_loop("n", shape[dim]);
    Indices to = from;
    to[dim] = target(from);
    put(from, index_in(nest.type().shape, to));
    builder.close_to(depth);
  }

  // The number of updates that hit an output position.
  ScalarExpr count(const Indices& at) const {
    Lowering& lowering = nest.lowering;
    Builder& builder = lowering.builder();
    const ScalarExpr zero = ScalarExpr::constant(&builder, DType::i64, std::int64_t{0});
    const AccumulatorId sum = builder.accumulator("count", Combine::add, zero.id(), 1);
    const std::size_t depth = builder.depth();
    for (std::size_t d = 0; d < shape.size(); ++d)
      if (d != dim && shape[d] < nest.type().shape[d])
        builder.open_if((lowering.number(at[d]) < static_cast<double>(shape[d])).id());
    Indices from = at.empty() ? Indices{0} : at;
    const ScalarExpr position = lowering.number(from[dim]);
    from[dim] = builder.open_loop("n", shape[dim]);
    const ScalarExpr here = lowering.number(target(from)) == position;
    builder.update(sum, here.to(DType::i64).id());
    builder.close_to(depth);
    return {&builder, builder.read(sum)};
  }
};

// Means of integers round down.
ScalarExpr divided(const ScalarExpr& sum, const ScalarExpr& count) {
  if (sum.real()) return sum / count.to(sum.type());
  const ScalarExpr whole = sum.to(DType::i64);
  const ScalarExpr over = rem(whole, count);
  return quotient(whole, count) - (over < 0.0).to(DType::i64);
}

void write_means(const Nest& nest, const ScatterUpdates& updates, bool include_self) {
  const Layout whole = output_layout(nest.type());
  nest.lowering.for_each(whole.shape, whole.strides, [&](const Indices& at) {
    const ScalarExpr update_count = updates.count(at);
    const ScalarExpr all = include_self ? update_count + 1.0 : larger(update_count, 1.0);
    const ScalarExpr sum = nest.lowering.stored(nest.output(), at);
    nest.lowering.write(nest.output(), at,
                        divided(sum.real() ? sum.to(nest.computing(nest.type().dtype)) : sum, all));
  });
}

void scatter_all(const Nest& nest, const ScatterUpdates& updates, const ScatterReduction& reduction,
                 bool include_self, const std::function<ScalarExpr(const Indices&)>& value) {
  const Layout whole = output_layout(nest.type());
  nest.lowering.for_each(whole.shape, whole.strides, [&](const Indices& at) {
    nest.lowering.write(nest.output(), at, nest.raw("self", at));
  });
  if (!include_self)
    updates.for_each([&](const Indices&, const Indices& to) {
      nest.lowering.write(nest.output(), to, identity_element(nest, reduction.how));
    });
  updates.for_each([&](const Indices& from, const Indices& to) {
    if (reduction.replaces)
      nest.lowering.write(nest.output(), to, value(from));
    else
      nest.lowering.combine_into(nest.output(), to, reduction.how, value(from));
  });
  if (reduction.mean) write_means(nest, updates, include_self);
}

ScalarExpr number(const Nest& nest, std::string_view parameter) {
  const Scalar scalar = nest.call.scalar(parameter);
  Builder* builder = &nest.lowering.builder();
  return is_floating(nest.type().dtype)
             ? ScalarExpr::constant(builder, nest.computing(nest.type().dtype), scalar.real)
             : ScalarExpr::constant(builder, DType::i64, scalar.integer);
}

ScalarExpr element(const Nest& nest, std::string_view parameter, const Indices& from) {
  return nest.raw(parameter, index_in(nest.shape_of(parameter), from));
}

void scatter_reduce(const Nest& nest) {
  const bool by_value = nest.call.op().parameter("value").has_value();
  const ScatterUpdates updates(nest);
  const bool include_self =
      !nest.call.op().parameter("include_self") || nest.call.boolean("include_self");
  scatter_all(nest, updates, scatter_reduction_of(nest.call.text("reduce")), include_self,
              [&](const Indices& from) {
                return by_value ? number(nest, "value") : element(nest, "src", from);
              });
}

void index_reduce(const Nest& nest) {
  scatter_all(nest, ScatterUpdates(nest), scatter_reduction_of(nest.call.text("reduce")),
              nest.call.boolean("include_self"),
              [&](const Indices& from) { return element(nest, "source", from); });
}

void index_add(const Nest& nest) {
  scatter_all(nest, ScatterUpdates(nest), {Combine::add}, true, [&](const Indices& from) {
    const ScalarExpr alpha = number(nest, "alpha");
    return alpha * element(nest, "source", from).to(alpha.type());
  });
}

void index_copy(const Nest& nest) {
  scatter_all(nest, ScatterUpdates(nest), {Combine::add, false, true}, true,
              [&](const Indices& from) { return element(nest, "source", from); });
}

void index_fill(const Nest& nest) {
  ScatterUpdates updates(nest);
  updates.negative_from_end = true;
  scatter_all(nest, updates, {Combine::add, false, true}, true, [&](const Indices&) {
    return nest.has("value") ? nest.raw("value", {}) : number(nest, "value");
  });
}

}  // namespace

void add_scatter_reduce_nests(NestTable& table) {
  for (const Op op : {Op::scatter_reduce, Op::scatter_value_reduce, Op::scatter_reduce_two})
    table.push_back({op, scatter_reduce, sums_bools});
  table.push_back({Op::index_reduce, index_reduce, sums_bools});
  table.push_back({Op::index_add, index_add, sums_bools});
  table.push_back({Op::index_copy, index_copy});
  for (const Op op : {Op::index_fill_int_Scalar, Op::index_fill_int_Tensor})
    table.push_back({op, index_fill});
}

}  // namespace recut::loop
