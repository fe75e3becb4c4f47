// Attention in tiles, after FlashAttention (Dao et al. 2022): rows of scores live in scratch, a
// block of keys at a time, and the score matrix is never written. What forward and backward share.
#pragma once

#include <functional>
#include <string_view>

#include "engine/codegen/lower/nest.h"
#include "engine/codegen/lower/scratch.h"

namespace recut::loop {

// How one call reads its operands, and the tiles that it is computed in.
struct Attention {
  explicit Attention(const Nest& nest);

  const Nest& nest;
  Builder& builder;
  Shape lead;                // of the scores: batches and heads, without queries and keys
  std::int64_t sharing = 1;  // heads of queries that share a head of keys and values
  std::int64_t queries, keys, features, value_features;
  double scale;
  bool causal;
  std::string_view mask;  // the parameter; empty: none
  DType type;             // of the computation

  // Rows of a tile, which one iteration computes, and rows of the other side that it takes at once.
  std::int64_t tile, block;

  // An element of what is laid out as the queries are, and of a key or value as the heads `at` of
  // the queries see it.
  Quantity of_query(std::string_view parameter, const Indices& at, const Index& row,
                    const Index& column) const;
  Quantity of_key(std::string_view parameter, const Indices& at, const Index& row,
                  const Index& column) const;

  // The place of a row's statistic; cuDNN's have a last dimension of one.
  Indices of_statistic(const Shape& shape, const Indices& at, const Index& row) const;

  // query * key as a score: scaled and masked, -inf where the key is hidden.
  Quantity score(const Quantity& product, const Indices& at, const Index& query,
                 const Index& key) const;
  // What dropout makes of a probability, or of its gradient.
  Quantity kept(const Quantity& value, const Indices& at, const Index& query,
                const Index& key) const;

  Quantity number(double value) const { return nest.lowering.constant(type, value); }
  Scratch scratch(const char* name, std::int64_t elements) const;

  // The sum of term(i) for i in 0 ... count - 1, one after another.
  Quantity sum(std::int64_t count, const std::function<Quantity(const Index&)>& term) const;
  // The same in lanes, for sums that stand in none.
  Quantity sum_in_lanes(std::int64_t count,
                        const std::function<Quantity(const Index&)>& term) const;
  // Calls body(i) in lanes.
  void in_lanes(const char* name, std::int64_t count,
                const std::function<void(const Index&)>& body) const;

  // Calls body(heads, first row) for every tile of `rows` rows of every place of `heads`, at once.
  void for_each_tile(const Shape& heads, std::int64_t rows,
                     const std::function<void(const Indices&, const Index&)>& body) const;
  // Calls body(row in the tile, row) for rows of a tile that lie below `rows`.
  void for_each_row(const Index& first, std::int64_t rows,
                    const std::function<void(const Index&, const Index&)>& body) const;
  // Calls body(first row, how many) for blocks of `rows` rows: a loop over whole ones, then the
  // rest.
  void for_each_block(std::int64_t rows,
                      const std::function<void(const Index&, std::int64_t)>& body) const;
  // Only where a query up to the last one may see a key from the first one on.
  void where_seen(const Index& last_query, const Index& first_key,
                  const std::function<void()>& body) const;
  // A block of rows, column by column: to[block * column + row].
  void turn(const Scratch& to, std::int64_t rows, std::int64_t columns,
            const std::function<Quantity(const Index&, const Index&)>& element) const;

 private:
  void choose_tiles();
  Quantity at_place(std::string_view parameter, const Indices& whole) const;
};

void attention_backward(const Nest& nest);

}  // namespace recut::loop
