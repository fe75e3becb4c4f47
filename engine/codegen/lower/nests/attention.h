// Attention in tiles, after FlashAttention (Dao et al. 2022): rows of scores live in scratch, a
// block of keys at a time, and the score matrix is never materialized. Shared by forward and
// backward.
#pragma once

#include <functional>
#include <string_view>

#include "engine/codegen/lower/nest.h"
#include "engine/codegen/lower/scratch.h"

namespace recut::loop {

// A call's operands, and its tile sizes.
struct Attention {
  explicit Attention(const Nest& nest);

  const Nest& nest;
  Builder& builder;
  Shape lead;                   // leading dimensions of the scores: batches and heads
  std::int64_t group_size = 1;  // query heads a key/value head (grouped-query attention)
  std::int64_t queries, keys, features, value_features;
  double scale;
  bool causal;
  std::string_view mask;  // the parameter; empty: none
  DType type;             // of the computation

  // Rows of a tile, which one iteration computes, and rows of the other side that it visits at
  // once.
  std::int64_t tile, block;

  // An element of a query-like operand, and of a key or value as the query head at `at` reads it.
  ScalarExpr of_query(std::string_view parameter, const Indices& at, const Index& row,
                      const Index& column) const;
  ScalarExpr of_key(std::string_view parameter, const Indices& at, const Index& row,
                    const Index& column) const;

  // The index of a row's statistic; cuDNN's statistics have a last dimension of one.
  Indices of_statistic(const Shape& shape, const Indices& at, const Index& row) const;

  // A score from query * key: scaled and masked, -inf where the key is hidden.
  ScalarExpr score(const ScalarExpr& product, const Indices& at, const Index& query,
                   const Index& key) const;
  // Applies dropout to a probability, or to its gradient.
  ScalarExpr apply_dropout(const ScalarExpr& value, const Indices& at, const Index& query,
                           const Index& key) const;

  ScalarExpr number(double value) const { return nest.lowering.constant(type, value); }
  Scratch scratch(const char* name, std::int64_t elements) const;

  // The sum of term(i) for i in 0 ... count - 1, serially.
  ScalarExpr sum(std::int64_t count, const std::function<ScalarExpr(const Index&)>& term) const;
  // The sum in lanes; no loop with lanes may enclose it.
  ScalarExpr sum_in_lanes(std::int64_t count,
                          const std::function<ScalarExpr(const Index&)>& term) const;
  // Calls body(i) in lanes.
  void in_lanes(const char* name, std::int64_t count,
                const std::function<void(const Index&)>& body) const;

  // Calls body(heads, first row) for every tile of `rows` rows and every index of `heads`, in
  // parallel.
  void for_each_tile(const Shape& heads, std::int64_t rows,
                     const std::function<void(const Indices&, const Index&)>& body) const;
  // Calls body(row in the tile, row) for those rows of a tile that are below `rows`.
  void for_each_row(const Index& first, std::int64_t rows,
                    const std::function<void(const Index&, const Index&)>& body) const;
  // Calls body(first row, count) for blocks of `rows` rows: a loop over whole blocks, then the
  // remainder.
  void for_each_block(std::int64_t rows,
                      const std::function<void(const Index&, std::int64_t)>& body) const;
  // Guards `body`: it runs where a query up to the last one may see a key from the first one on
  // (causal block skipping).
  void if_visible(const Index& last_query, const Index& first_key,
                  const std::function<void()>& body) const;
  // Packs a block of rows transposed: to[block * column + row].
  void pack_transposed(const Scratch& to, std::int64_t rows, std::int64_t columns,
                       const std::function<ScalarExpr(const Index&, const Index&)>& element) const;

 private:
  void choose_tiles();
  ScalarExpr at_position(std::string_view parameter, const Indices& whole) const;
};

void attention_backward(const Nest& nest);

}  // namespace recut::loop
