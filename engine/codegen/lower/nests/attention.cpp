#include "engine/codegen/lower/nests/attention.h"

#include <algorithm>
#include <cmath>

namespace recut::loop {
namespace {

constexpr std::int64_t kTile = 32, kBlock = 64;
// The maximal bytes of the rows that a tile or a block keeps in scratch: half of it or less.
constexpr std::int64_t kMaxTileBytes = std::int64_t{64} << 10;
constexpr std::int64_t kMaxLanesAtOnce = 64;

// The most lanes that divide the extent, so that no remainder loop is needed.
std::int64_t lanes_dividing(std::int64_t extent) {
  std::int64_t lanes = kMaxLanesAtOnce;
  while (lanes > kLanes && extent % lanes != 0) lanes /= 2;
  return extent >= kLanes ? lanes : 1;
}

}  // namespace

Attention::Attention(const Nest& of)
    : nest(of), builder(of.lowering.builder()), type(of.computing(of.dtype_of("query"))) {
  const Call& call = nest.call;
  const Shape& query = nest.shape_of("query");
  const Shape& key = nest.shape_of("key");
  const Shape& value = nest.shape_of("value");
  const bool composite = call.op().op == Op::scaled_dot_product_attention;
  const Shape& whole = composite ? nest.type().shape : query;
  lead.assign(whole.begin(), whole.end() - 2);
  queries = query[query.size() - 2];
  features = query.back();
  keys = key[key.size() - 2];
  value_features = value.back();
  const bool shares = composite ? call.boolean("enable_gqa") : true;
  if (shares && key.size() > 2 && key[key.size() - 3] > 0)
    group_size = lead.back() / key[key.size() - 3];
  scale = call.given("scale") ? call.real("scale") : 1 / std::sqrt(static_cast<double>(features));
  causal = call.op().parameter("is_causal") && call.boolean("is_causal");
  for (const std::string_view parameter : {"attn_bias", "attn_mask"})
    if (nest.has(parameter)) mask = parameter;
  choose_tiles();
}

void Attention::choose_tiles() {
  const std::int64_t row_bytes = (features + value_features) * item_bytes(type);
  tile = std::clamp<std::int64_t>(std::max(queries, keys), 1, kTile);
  block = std::clamp<std::int64_t>(std::max(queries, keys), 1, kBlock);
  for (std::int64_t* rows : {&tile, &block})
    while (*rows > 1 && *rows * row_bytes > kMaxTileBytes) *rows /= 2;
}

// Dimensions of size 1 are broadcast.
ScalarExpr Attention::at_position(std::string_view parameter, const Indices& whole) const {
  const Shape& shape = nest.shape_of(parameter);
  Indices at(shape.size(), 0);
  for (std::size_t d = 0; d < shape.size(); ++d)
    if (shape[d] != 1) at[d] = whole[whole.size() - shape.size() + d];
  return nest.raw(parameter, at);
}

ScalarExpr Attention::of_query(std::string_view parameter, const Indices& at, const Index& row,
                               const Index& column) const {
  Indices whole = at;
  whole.insert(whole.end(), {row, column});
  return at_position(parameter, whole).to(type);
}

ScalarExpr Attention::of_key(std::string_view parameter, const Indices& at, const Index& row,
                             const Index& column) const {
  Indices whole = at;
  if (group_size > 1) whole.back() = builder.quotient(whole.back(), group_size);
  whole.insert(whole.end(), {row, column});
  return at_position(parameter, whole).to(type);
}

Indices Attention::of_statistic(const Shape& shape, const Indices& at, const Index& row) const {
  Indices position = at;
  position.push_back(row);
  position.resize(shape.size(), 0);
  return position;
}

ScalarExpr Attention::score(const ScalarExpr& product, const Indices& at, const Index& query,
                            const Index& key) const {
  ScalarExpr score = product * scale;
  const ScalarExpr hidden = number(-HUGE_VAL);
  if (!mask.empty()) {
    Indices whole = at;
    whole.insert(whole.end(), {query, key});
    const ScalarExpr given = at_position(mask, whole);
    score = given.type() == DType::boolean ? select(given, score, hidden) : score + given.to(type);
  }
  if (!causal) return score;
  return select(nest.lowering.number(key - query) <= 0.0, score, hidden);
}

ScalarExpr Attention::apply_dropout(const ScalarExpr& value, const Indices& at, const Index& query,
                                    const Index& key) const {
  if (!nest.has("keep")) return value;
  Indices whole = at;
  whole.insert(whole.end(), {query, key});
  return value * select(at_position("keep", whole).to(DType::boolean),
                        number(nest.call.real("keep_scale")), number(0));
}

Scratch Attention::scratch(const char* name, std::int64_t elements) const {
  return {builder, name, type, elements};
}

ScalarExpr Attention::sum(std::int64_t count,
                          const std::function<ScalarExpr(const Index&)>& term) const {
  const AccumulatorId total = builder.accumulator("sum", Combine::add, number(0).id(), 1);
  const std::size_t depth = builder.depth();
  builder.update(total, term(builder.open_loop("f", count)).id());
  builder.close_to(depth);
  return {&builder, builder.read(total)};
}

ScalarExpr Attention::sum_in_lanes(std::int64_t count,
                                   const std::function<ScalarExpr(const Index&)>& term) const {
  const std::int64_t lanes = lanes_for_sum(count);
  const AccumulatorId total = builder.accumulator("sum", Combine::add, number(0).id(), lanes);
  const std::size_t depth = builder.depth();
  const Index i = builder.open_loop("f", count, Builder::Order::serial, lanes);
  builder.update(total, term(i).id());
  builder.close_to(depth);
  return {&builder, builder.read(total)};
}

void Attention::in_lanes(const char* name, std::int64_t count,
                         const std::function<void(const Index&)>& body) const {
  const std::size_t depth = builder.depth();
  body(builder.open_loop(name, count, Builder::Order::serial, lanes_dividing(count)));
  builder.close_to(depth);
}

void Attention::for_each_tile(const Shape& heads, std::int64_t rows,
                              const std::function<void(const Indices&, const Index&)>& body) const {
  const std::size_t depth = builder.depth();
  Shape all = heads;
  all.push_back((rows + tile - 1) / tile);
  const Index number = builder.open_any_loop("t", element_count(all), Builder::Order::parallel);
  Indices at = delinearize(number, all, builder);
  const Index first = tile * at.back();
  at.pop_back();
  body(at, first);
  builder.close_to(depth);
}

void Attention::for_each_row(const Index& first, std::int64_t rows,
                             const std::function<void(const Index&, const Index&)>& body) const {
  const std::size_t depth = builder.depth();
  const Index in_tile = builder.open_loop("r", tile);
  const Index row = first + in_tile;
  if (rows % tile != 0)
    builder.open_if((nest.lowering.number(row) < static_cast<double>(rows)).id());
  body(in_tile, row);
  builder.close_to(depth);
}

void Attention::for_each_block(std::int64_t rows,
                               const std::function<void(const Index&, std::int64_t)>& body) const {
  const std::size_t depth = builder.depth();
  const std::int64_t whole = rows / block;
  if (whole > 0) body(block * builder.open_loop("b", whole), block);
  builder.close_to(depth);
  if (rows % block > 0) body(Index(whole * block), rows % block);
}

void Attention::if_visible(const Index& last_query, const Index& first_key,
                           const std::function<void()>& body) const {
  const std::size_t depth = builder.depth();
  if (causal) builder.open_if((nest.lowering.number(last_query - first_key) >= 0.0).id());
  body();
  builder.close_to(depth);
}

void Attention::pack_transposed(
    const Scratch& to, std::int64_t rows, std::int64_t columns,
    const std::function<ScalarExpr(const Index&, const Index&)>& element) const {
  const std::size_t depth = builder.depth();
  const Index row = builder.open_loop("j", rows);
  in_lanes("f", columns, [&](const Index& f) { to.write(block * f + row, element(row, f)); });
  builder.close_to(depth);
}

// Forward
// ----------------------------------------------------------------------------------------

namespace {

// Online softmax (Milakov and Gimelshein 2018): a tile of queries visits one block of keys after
// another. `largest` and `total` are a row's maximal score so far and its sum of exponentials
// relative to that; `out` is the sum of values weighted by these exponentials. When the maximum
// grows, the sums are rescaled.
struct Forward {
  const Attention& a;
  Scratch transposed_keys, weights, largest, total, out;

  explicit Forward(const Attention& attention)
      : a(attention),
        transposed_keys(a.scratch("transposed_keys", a.features * a.block)),
        weights(a.scratch("weights", a.block)),
        largest(a.scratch("largest", a.tile)),
        total(a.scratch("total", a.tile)),
        out(a.scratch("out", a.tile * a.value_features)) {}

  void tile(const Indices& at, const Index& first) const {
    a.for_each_row(first, a.queries, [&](const Index& r, const Index&) {
      largest.write(r, a.number(-HUGE_VAL));
      total.write(r, a.number(0));
      a.in_lanes("d", a.value_features,
                 [&](const Index& d) { out.write(a.value_features * r + d, a.number(0)); });
    });
    a.for_each_block(a.keys, [&](const Index& key, std::int64_t count) {
      a.if_visible(first + Index(a.tile - 1), key, [&] { add_block(at, first, key, count); });
    });
    a.for_each_row(first, a.queries,
                   [&](const Index& r, const Index& row) { write_row(at, r, row); });
  }

  void add_block(const Indices& at, const Index& first, const Index& key,
                 std::int64_t count) const {
    a.pack_transposed(transposed_keys, count, a.features, [&](const Index& j, const Index& f) {
      return a.of_key("key", at, key + j, f);
    });
    a.for_each_row(first, a.queries, [&](const Index& r, const Index& row) {
      const ScalarExpr before = largest.read(r);
      const ScalarExpr most = write_scores(at, before, row, key, count);
      // The maximum is -inf while no key was visible; it must not be subtracted.
      const ScalarExpr base = select(most == -HUGE_VAL, a.number(0), most);
      const ScalarExpr shrunk = exp(before - base);
      const ScalarExpr sum = weigh(at, base, shrunk * total.read(r), row, key, count);
      add_values(at, shrunk, r, key, count);
      largest.write(r, most);
      total.write(r, sum);
    });
  }

  // Computes the block's scores into `weights`; returns the maximum of them and `before`.
  ScalarExpr write_scores(const Indices& at, const ScalarExpr& before, const Index& row,
                          const Index& key, std::int64_t count) const {
    const std::int64_t lanes = lanes_dividing(count);
    const AccumulatorId most = a.builder.accumulator("most", Combine::max, before.id(), lanes);
    a.in_lanes("j", count, [&](const Index& j) {
      const ScalarExpr product = a.sum(a.features, [&](const Index& f) {
        return a.of_query("query", at, row, f) * transposed_keys.read(a.block * f + j);
      });
      const ScalarExpr score = a.score(product, at, row, key + j);
      weights.write(j, score);
      a.builder.update(most, score.id());
    });
    return {&a.builder, a.builder.read(most)};
  }

  // Turns scores into exponentials with dropout; returns `so_far` plus their sum before dropout.
  ScalarExpr weigh(const Indices& at, const ScalarExpr& base, const ScalarExpr& so_far,
                   const Index& row, const Index& key, std::int64_t count) const {
    const std::int64_t lanes = lanes_dividing(count);
    const AccumulatorId sum = a.builder.accumulator("sum", Combine::add, so_far.id(), lanes);
    a.in_lanes("j", count, [&](const Index& j) {
      const ScalarExpr weight = exp(weights.read(j) - base);
      a.builder.update(sum, weight.id());
      weights.write(j, a.apply_dropout(weight, at, row, key + j));
    });
    return {&a.builder, a.builder.read(sum)};
  }

  void add_values(const Indices& at, const ScalarExpr& shrunk, const Index& r, const Index& key,
                  std::int64_t count) const {
    a.in_lanes("d", a.value_features, [&](const Index& d) {
      const Index position = a.value_features * r + d;
      const ScalarExpr before = shrunk * out.read(position);
      const ScalarExpr added = a.sum(count, [&](const Index& j) {
        return weights.read(j) * a.of_key("value", at, key + j, d);
      });
      out.write(position, before + added);
    });
  }

  // A row without any visible key gives zeros, as in PyTorch's fused kernels.
  void write_row(const Indices& at, const Index& r, const Index& row) const {
    const ScalarExpr sum = total.read(r);
    const ScalarExpr most = largest.read(r);
    Indices position = at;
    position.insert(position.end(), {row, Index(0)});
    if (a.nest.is_requested(0))
      a.in_lanes("d", a.value_features, [&](const Index& d) {
        position.back() = d;
        const ScalarExpr mean = out.read(a.value_features * r + d) / sum;
        a.nest.lowering.write(a.nest.output(0), position, select(sum == 0.0, a.number(0), mean));
      });
    if (a.nest.is_requested(1))
      a.nest.lowering.write(a.nest.output(1), a.of_statistic(a.nest.type(1).shape, at, row),
                            select(sum == 0.0, a.number(-HUGE_VAL), most + log(sum)));
  }
};

// Fills an output with one number.
void fill(const Nest& nest, std::size_t output, double number) {
  if (!nest.is_requested(output)) return;
  const Layout whole = output_layout(nest.type(output));
  nest.lowering.for_each(whole.shape, whole.strides, [&](const Indices& at) {
    nest.lowering.write(nest.output(output), at,
                        nest.lowering.constant(value_type(nest.type(output).dtype), number));
  });
}

// PyTorch's kernels pad the rows of logsumexp with +inf. Seeds of an unused dropout are 0.
void attention(const Nest& nest) {
  const Attention a(nest);
  if (nest.is_requested(1) && nest.type(1).shape[a.lead.size()] > a.queries)
    fill(nest, 1, HUGE_VAL);
  const Forward forward(a);
  a.for_each_tile(a.lead, a.queries,
                  [&](const Indices& at, const Index& first) { forward.tile(at, first); });
  for (std::size_t output = 2; output < nest.lowering.graph()[nest.node].outputs.size(); ++output)
    fill(nest, output, 0);
}

std::optional<std::string> other_forms_attention(const Call& call) {
  if (call.op().parameter("dropout_p") && call.real("dropout_p") != 0)
    return "dropout by random numbers of the device's own";
  const std::int64_t width = call.tensor("query").shape.back() + call.tensor("value").shape.back();
  if (width * item_bytes(DType::f64) > kMaxTileBytes) return "heads of so many features";
  return std::nullopt;
}

}  // namespace

void add_attention_nests(NestTable& table) {
  for (const Op op :
       {Op::_scaled_dot_product_efficient_attention, Op::_scaled_dot_product_flash_attention,
        Op::_scaled_dot_product_cudnn_attention, Op::_scaled_dot_product_flash_attention_for_cpu,
        Op::scaled_dot_product_attention, Op::recut_scaled_dot_product_kept_attention})
    table.push_back({op, attention, other_forms_attention});
  for (const Op op : {Op::_scaled_dot_product_efficient_attention_backward,
                      Op::_scaled_dot_product_flash_attention_backward,
                      Op::_scaled_dot_product_cudnn_attention_backward,
                      Op::_scaled_dot_product_flash_attention_for_cpu_backward,
                      Op::recut_scaled_dot_product_kept_attention_backward})
    table.push_back({op, attention_backward, other_forms_attention});
}

}  // namespace recut::loop
