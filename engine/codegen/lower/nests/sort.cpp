// Sorting along a dimension, and order statistics, by counting: an element's rank is the number of
// elements that come before it (O(n^2), without scratch). The sort is stable, and NaN is the
// largest. Lines are parallel, and each rank is independent.
#include "engine/codegen/lower/nest.h"

namespace recut::loop {
namespace {

// One line of self: along the call's dimension, or the flattened tensor.
struct Line {
  const Nest& nest;
  Builder& builder;
  Shape shape;  // of self
  bool flat;
  std::size_t dim = 0;
  std::int64_t length = 1;
  Indices outer;  // with 0 along the dimension

  Line(const Nest& n, bool flattened)
      : nest(n), builder(n.lowering.builder()), shape(n.shape_of("self")), flat(flattened) {
    if (flat) {
      length = element_count(shape);
    } else if (!shape.empty()) {
      if (nest.call.op().parameter("dim")) dim = nest.dimension("dim", shape.size());
      length = shape[dim];
    }
  }

  // Calls body inside of a loop over the lines.
  void for_each(const std::function<void()>& body) {
    const std::size_t depth = builder.depth();
    Shape lines = flat ? Shape{} : shape;
    if (!lines.empty()) lines[dim] = 1;
    outer = delinearize(builder.open_loop("i", element_count(lines), Builder::Order::parallel),
                        lines, builder);
    body();
    builder.close_to(depth);
  }
  Indices position(const Index& along) const {
    if (flat) return delinearize(along, shape, builder);
    Indices at = outer;
    if (!at.empty()) at[dim] = along;
    return at;
  }
  // The sort key: reals in their compute type, integers as i64, in the order of eval's keys.
  ScalarExpr element(const Index& along) const {
    const ScalarExpr x = nest.raw("self", position(along));
    return x.real() ? nest.real("self", position(along)) : x.to(DType::i64);
  }
  // The index into an output that lacks the dimension, or has another length there.
  Indices of_output(const Index& along, std::size_t output) const {
    Indices at = outer;
    const std::size_t rank = nest.type(output).shape.size();
    if (rank < at.size()) at.erase(at.begin() + static_cast<std::ptrdiff_t>(dim));
    if (rank == shape.size() && !flat && !at.empty()) at[dim] = along;
    return at;
  }

  // The number of elements of the line that satisfy a predicate.
  ScalarExpr count(const std::function<ScalarExpr(const ScalarExpr&, const Index&)>& is_so) const {
    const std::int64_t lanes = lanes_for_sum(length);
    const AccumulatorId sum = builder.accumulator(
        "count", Combine::add, builder.constant(DType::i64, std::int64_t{0}), lanes);
    const std::size_t depth = builder.depth();
    const Index j = builder.open_loop("j", length, Builder::Order::serial, lanes);
    builder.update(sum, is_so(element(j), j).to(DType::i64).id());
    builder.close_to(depth);
    return {&builder, builder.read(sum)};
  }

  ScalarExpr nan(const ScalarExpr& x) const {
    return x.real() ? is_nan(x) : ScalarExpr::constant(&builder, DType::boolean, std::int64_t{0});
  }
  // Ascending order: `a` before `b`, ignoring ties.
  ScalarExpr ascends(const ScalarExpr& a, const ScalarExpr& b) const {
    return (a < b) | (nan(b) & (!nan(a)));
  }
  ScalarExpr earlier(const Index& j, const Index& k) const {
    return nest.lowering.number(j) < nest.lowering.number(k);
  }
  ScalarExpr rank(const ScalarExpr& x, const Index& k, bool descending) const {
    return count([&](const ScalarExpr& y, const Index& j) {
      const ScalarExpr before = descending ? ascends(x, y) : ascends(y, x);
      const ScalarExpr after = descending ? ascends(y, x) : ascends(x, y);
      return before | ((!after) & earlier(j, k));
    });
  }

  // Calls body(k) for the positions of the line.
  void for_each_position(const std::function<void(const Index&)>& body) const {
    const std::size_t depth = builder.depth();
    body(builder.open_loop("k", length));
    builder.close_to(depth);
  }
};

// The outputs for values and indices.
struct Outputs {
  int values, indices;  // -1: none
};

void write_picked(const Line& line, const Outputs& out, const Index& from, const Index& to) {
  const Nest& nest = line.nest;
  for (const int output : {out.values, out.indices}) {
    const auto o = static_cast<std::size_t>(output);
    if (output < 0 || !nest.is_requested(o)) continue;
    nest.lowering.write(
        nest.output(o), line.of_output(to, o),
        output == out.values ? nest.raw("self", line.position(from)) : nest.lowering.number(from));
  }
}

// The first `kept` elements in sorted order.
void write_sorted(const Nest& nest, const Outputs& out, bool descending, std::int64_t kept) {
  Line line(nest, false);
  line.for_each([&] {
    line.for_each_position([&](const Index& k) {
      const std::size_t depth = line.builder.depth();
      const ScalarExpr rank = line.rank(line.element(k), k, descending);
      if (kept < line.length) line.builder.open_if((rank < static_cast<double>(kept)).id());
      write_picked(line, out, k, line.builder.check(rank.id(), kept));
      line.builder.close_to(depth);
    });
  });
}

// The element of one rank.
void write_ranked(Line& line, const Outputs& out,
                  const std::function<ScalarExpr()>& requested_rank) {
  line.for_each([&] {
    const ScalarExpr requested{&line.builder, requested_rank().id()};
    line.for_each_position([&](const Index& k) {
      const std::size_t depth = line.builder.depth();
      line.builder.open_if((line.rank(line.element(k), k, false) == requested).id());
      write_picked(line, out, k, 0);
      line.builder.close_to(depth);
    });
  });
}

template <int values, int indices>
void sort(const Nest& nest) {
  const bool descending = nest.call.op().parameter("descending") && nest.call.boolean("descending");
  const Shape& shape = nest.shape_of("self");
  const std::size_t dim =
      shape.empty() || !nest.call.op().parameter("dim") ? 0 : nest.dimension("dim", shape.size());
  write_sorted(nest, {values, indices}, descending, shape.empty() ? 1 : shape[dim]);
}

void topk(const Nest& nest) {
  write_sorted(nest, {0, 1}, nest.call.boolean("largest"), nest.call.integer("k"));
}

void kthvalue(const Nest& nest) {
  Line line(nest, false);
  write_ranked(line, {0, 1}, [&] {
    return ScalarExpr::constant(&line.builder, DType::i64, nest.call.integer("k") - 1);
  });
}

// The lower median; the first NaN if there is one, unless NaNs are ignored (they sort last).
template <bool ignores_nan, bool flat>
void median(const Nest& nest) {
  Line line(nest, flat);
  write_ranked(line, {0, flat ? -1 : 1}, [&] {
    const ScalarExpr size = ScalarExpr::constant(&line.builder, DType::i64, line.length);
    const ScalarExpr nans =
        line.count([&](const ScalarExpr& x, const Index&) { return line.nan(x); });
    const ScalarExpr middle = quotient(size - nans - 1.0, 2.0);
    const ScalarExpr without = nans == 0.0;
    return select(ignores_nan ? without | (nans != size) : without, middle, size - nans);
  });
}

// mode: the smallest of the most frequent values, at its last index. A NaN equals none, so each
// counts alone.
void mode(const Nest& nest) {
  Line line(nest, false);
  const auto frequency = [&](const ScalarExpr& x) {
    return line.count([&](const ScalarExpr& y, const Index&) { return y == x; });
  };
  const auto reduce = [&](Combine how, std::int64_t initial,
                          const std::function<ScalarExpr(const Index&)>& term) {
    const AccumulatorId found =
        line.builder.accumulator("found", how, line.builder.constant(DType::i64, initial), 1);
    line.for_each_position([&](const Index& k) { line.builder.update(found, term(k).id()); });
    return ScalarExpr{&line.builder, line.builder.read(found)};
  };
  line.for_each([&] {
    const ScalarExpr most =
        reduce(Combine::max, 1, [&](const Index& k) { return frequency(line.element(k)); });
    // By rank, which finds the smallest value and the last of its equals.
    const ScalarExpr none =
        ScalarExpr::constant(&line.builder, DType::i64, std::int64_t{INT64_MAX});
    const auto candidate_rank = [&](const Index& k) {
      const ScalarExpr x = line.element(k);
      const ScalarExpr later = line.count(
          [&](const ScalarExpr& y, const Index& j) { return (y == x) & line.earlier(k, j); });
      const ScalarExpr times = larger(frequency(x), 1.0);
      const ScalarExpr rank = line.rank(x, k, false);
      return select((later == 0.0) & (times == most), rank, none);
    };
    const ScalarExpr first = reduce(Combine::min, INT64_MAX, candidate_rank);
    line.for_each_position([&](const Index& k) {
      const std::size_t depth = line.builder.depth();
      line.builder.open_if((candidate_rank(k) == first).id());
      write_picked(line, {0, 1}, k, 0);
      line.builder.close_to(depth);
    });
  });
}

std::optional<std::string> nothing(const Call& call) {
  if (element_count(call.tensor("self").shape) == 0) return "tensors without elements";
  return std::nullopt;
}

}  // namespace

void add_sort_nests(NestTable& table) {
  for (const Op op : {Op::sort, Op::sort_stable}) table.push_back({op, sort<0, 1>});
  for (const Op op : {Op::argsort, Op::argsort_stable}) table.push_back({op, sort<-1, 0>});
  table.push_back({Op::msort, sort<0, -1>});
  table.push_back({Op::topk, topk});
  table.push_back({Op::kthvalue, kthvalue});
  table.push_back({Op::median, median<false, true>, nothing});
  table.push_back({Op::nanmedian, median<true, true>, nothing});
  table.push_back({Op::median_dim, median<false, false>});
  table.push_back({Op::nanmedian_dim, median<true, false>});
  table.push_back({Op::mode, mode});
}

}  // namespace recut::loop
