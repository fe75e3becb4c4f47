// Gradients of attention. With P the softmax and O = P V:
//   dV = P^T dO,  dS = P (dO V^T - rowsum(dO O)),  dQ = scale dS K,  dK = scale dS^T Q
// and with dropout D(P) for P in dV and D(dO V^T) for dO V^T. P is recomputed from the scores and
// the logarithms of their sums. Two passes, each over rows that it alone writes: dQ over queries,
// dK and dV over keys.
#include "engine/codegen/lower/nests/attention.h"

#include <algorithm>

namespace recut::loop {
namespace {

struct AttentionBackward {
  const Attention& a;
  const std::string_view grad = a.nest.call.op().parameters[0].name;
  // Scratch of both passes: transposed blocks of the other side's rows, a row's weights and score
  // gradients, rowsum(dO O), and the gradients of a tile.
  const Scratch transposed = a.scratch("transposed", a.features* a.block);
  const Scratch transposed_values = a.scratch("transposed_values", a.value_features* a.block);
  const Scratch weights = a.scratch("weights", a.block);
  const Scratch slopes = a.scratch("slopes", a.block);
  const Scratch shared = a.scratch("shared", std::max(a.tile, a.block));
  const Scratch out = a.scratch("out", a.tile* a.features);
  const Scratch value_out = a.scratch("value_out", a.tile* a.value_features);

  // D(P) and dS of one query and key, from q k, dO V^T and rowsum(dO O).
  struct Weight {
    ScalarExpr kept, slope;
  };
  Weight weigh(const ScalarExpr& product, const ScalarExpr& grad_product, const ScalarExpr& row_sum,
               const Indices& at, const Index& query, const Index& key) const {
    const ScalarExpr score = a.score(product, at, query, key);
    const Indices row = a.of_statistic(a.nest.shape_of("logsumexp"), at, query);
    const ScalarExpr log_sum = a.nest.raw("logsumexp", row).to(a.type);
    const ScalarExpr p = select(score == -HUGE_VAL, a.number(0), exp(score - log_sum));
    return {a.apply_dropout(p, at, query, key),
            p * (a.apply_dropout(grad_product, at, query, key) - row_sum)};
  }

  // rowsum(dO O) of a query.
  ScalarExpr row_sum(const Indices& at, const Index& query) const {
    return a.sum_in_lanes(a.value_features, [&](const Index& d) {
      return a.of_query(grad, at, query, d) * a.of_query("out", at, query, d);
    });
  }

  void clear(const Scratch& rows, std::int64_t width, const Index& r) const {
    a.in_lanes("d", width, [&](const Index& d) { rows.write(width * r + d, a.number(0)); });
  }

  // rows[r] += the sum over i of weights[i] * element(i).
  void add(const Scratch& rows, std::int64_t width, const Index& r, const Scratch& weights,
           std::int64_t count,
           const std::function<ScalarExpr(const Index&, const Index&)>& element) const {
    a.in_lanes("d", width, [&](const Index& d) {
      const ScalarExpr before = rows.read(width * r + d);
      rows.write(width * r + d, before + a.sum(count, [&](const Index& i) {
        return weights.read(i) * element(i, d);
      }));
    });
  }

  void write(std::size_t output, const Scratch& rows, std::int64_t width, const Indices& at,
             const Index& r, const Index& row, double scale) const {
    Indices position = at;
    position.insert(position.end(), {row, Index(0)});
    a.in_lanes("d", width, [&](const Index& d) {
      position.back() = d;
      a.nest.lowering.write(a.nest.output(output), position, rows.read(width * r + d) * scale);
    });
  }
};

// A tile of queries visits one block of keys after another.
void query_gradient(const AttentionBackward& b) {
  const Attention& a = b.a;
  a.for_each_tile(a.lead, a.queries, [&](const Indices& at, const Index& first) {
    a.for_each_row(first, a.queries, [&](const Index& r, const Index& row) {
      b.shared.write(r, b.row_sum(at, row));
      b.clear(b.out, a.features, r);
    });
    const auto add_block = [&](const Index& key, std::int64_t count) {
      a.pack_transposed(b.transposed, count, a.features, [&](const Index& j, const Index& f) {
        return a.of_key("key", at, key + j, f);
      });
      a.pack_transposed(
          b.transposed_values, count, a.value_features,
          [&](const Index& j, const Index& d) { return a.of_key("value", at, key + j, d); });
      a.for_each_row(first, a.queries, [&](const Index& r, const Index& row) {
        const ScalarExpr of_row = b.shared.read(r);
        a.in_lanes("j", count, [&](const Index& j) {
          const ScalarExpr product = a.sum(a.features, [&](const Index& f) {
            return a.of_query("query", at, row, f) * b.transposed.read(a.block * f + j);
          });
          const ScalarExpr grad_product = a.sum(a.value_features, [&](const Index& d) {
            return a.of_query(b.grad, at, row, d) * b.transposed_values.read(a.block * d + j);
          });
          b.slopes.write(j, b.weigh(product, grad_product, of_row, at, row, key + j).slope);
        });
        b.add(b.out, a.features, r, b.slopes, count,
              [&](const Index& j, const Index& f) { return a.of_key("key", at, key + j, f); });
      });
    };
    a.for_each_block(a.keys, [&](const Index& key, std::int64_t count) {
      a.if_visible(first + Index(a.tile - 1), key, [&] { add_block(key, count); });
    });
    a.for_each_row(first, a.queries, [&](const Index& r, const Index& row) {
      b.write(0, b.out, a.features, at, r, row, a.scale);
    });
  });
}

// A tile of keys visits one block of queries after another, of all heads that share it.
struct KeyGradients {
  const AttentionBackward& b;
  const Attention& a = b.a;

  void tile(const Indices& head, const Index& first) const {
    a.for_each_row(first, a.keys, [&](const Index& r, const Index&) {
      b.clear(b.out, a.features, r);
      b.clear(b.value_out, a.value_features, r);
    });
    const std::size_t depth = a.builder.depth();
    Indices at = head;
    at.back() = a.group_size * head.back() + a.builder.open_loop("h", a.group_size);
    a.for_each_block(a.queries, [&](const Index& query, std::int64_t count) {
      a.if_visible(query + Index(count - 1), first, [&] { add_block(at, first, query, count); });
    });
    a.builder.close_to(depth);
    a.for_each_row(first, a.keys, [&](const Index& r, const Index& row) {
      if (a.nest.is_requested(1)) b.write(1, b.out, a.features, head, r, row, a.scale);
      if (a.nest.is_requested(2)) b.write(2, b.value_out, a.value_features, head, r, row, 1);
    });
  }

  void add_block(const Indices& at, const Index& first, const Index& query,
                 std::int64_t count) const {
    const auto q = [&](const Index& i, const Index& f) {
      return a.of_query("query", at, query + i, f);
    };
    const auto grad = [&](const Index& i, const Index& d) {
      return a.of_query(b.grad, at, query + i, d);
    };
    a.pack_transposed(b.transposed, count, a.features, q);
    a.pack_transposed(b.transposed_values, count, a.value_features, grad);
    const std::size_t depth = a.builder.depth();
    const Index i = a.builder.open_loop("i", count);
    b.shared.write(i, b.row_sum(at, query + i));
    a.builder.close_to(depth);
    a.for_each_row(first, a.keys, [&](const Index& r, const Index& row) {
      write_weights(at, row, query, count);
      b.add(b.out, a.features, r, b.slopes, count, q);
      b.add(b.value_out, a.value_features, r, b.weights, count, grad);
    });
  }

  // The weights of one key and a block of queries.
  void write_weights(const Indices& at, const Index& key, const Index& query,
                     std::int64_t count) const {
    a.in_lanes("i", count, [&](const Index& i) {
      const ScalarExpr product = a.sum(a.features, [&](const Index& f) {
        return a.of_key("key", at, key, f) * b.transposed.read(a.block * f + i);
      });
      const ScalarExpr grad_product = a.sum(a.value_features, [&](const Index& d) {
        return a.of_key("value", at, key, d) * b.transposed_values.read(a.block * d + i);
      });
      const auto w = b.weigh(product, grad_product, b.shared.read(i), at, query + i, key);
      b.weights.write(i, w.kept);
      b.slopes.write(i, w.slope);
    });
  }
};

// The gradient of a broadcast mask element is the sum over all scores that read it.
void mask_gradient(const AttentionBackward& b) {
  const Attention& a = b.a;
  const Shape& mask = a.nest.shape_of(a.mask);
  ReductionSpace space{a.lead, {}, {}};
  space.shape.insert(space.shape.end(), {a.queries, a.keys});
  const std::size_t missing = space.shape.size() - mask.size();
  for (std::size_t d = 0; d < space.shape.size(); ++d)
    space.reduced.push_back(d < missing || mask[d - missing] == 1);
  space.strides = contiguous_strides(space.shape);
  for_each_ordered_reduction(a.nest.lowering, space, [&](Reducer& reducer) {
    const ScalarExpr sum = reducer.reduce(
        {"sum", Combine::add, a.number(0), [&](const Indices& position) {
           const Index query = position[position.size() - 2], key = position.back();
           const Indices at(position.begin(), position.end() - 2);
           const auto product = [&](std::string_view left, std::string_view right,
                                    std::int64_t width) {
             return a.sum(width, [&](const Index& f) {
               return a.of_query(left, at, query, f) * a.of_key(right, at, key, f);
             });
           };
           const ScalarExpr row_sum = a.sum(a.value_features, [&](const Index& d) {
             return a.of_query(b.grad, at, query, d) * a.of_query("out", at, query, d);
           });
           const ScalarExpr grad_product = product(b.grad, "value", a.value_features);
           return b
               .weigh(product("query", "key", a.features), grad_product, row_sum, at, query, key)
               .slope;
         }});
    const Indices position(reducer.at().begin() + static_cast<std::ptrdiff_t>(missing),
                           reducer.at().end());
    a.nest.lowering.write(a.nest.output(3), position, sum);
  });
}

}  // namespace

void attention_backward(const Nest& nest) {
  const Attention a(nest);
  const AttentionBackward b{a};
  if (nest.is_requested(0)) query_gradient(b);
  if (nest.is_requested(1) || nest.is_requested(2)) {
    Shape heads = a.lead;
    heads.back() /= a.group_size;
    const KeyGradients gradients{b};
    a.for_each_tile(heads, a.keys,
                    [&](const Indices& at, const Index& first) { gradients.tile(at, first); });
  }
  if (nest.is_requested(3)) mask_gradient(b);
}

}  // namespace recut::loop
