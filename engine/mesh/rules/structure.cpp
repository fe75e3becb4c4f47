// Dimensions of calls that a row's text can't tell: views, and operators whose attributes or lists
// of operands decide where dimensions stand.
#include <algorithm>
#include <array>
#include <functional>
#include <string>
#include <vector>

#include "engine/ir/graph.h"
#include "engine/ir/layout.h"
#include "engine/mesh/rules/reshape_walk.h"
#include "engine/mesh/rules/rule_builder.h"

namespace recut::mesh {
namespace {

std::string numbered(char letter, std::size_t number) { return letter + std::to_string(number); }

// Dimensions of the result whose sizes attribute `parameter` lists, from dimension `first` on.
void add_result_sizes(RuleBuilder& b, std::string_view parameter, std::size_t first,
                      std::size_t count) {
  const auto p = b.call().op().parameter(parameter);
  if (p && b.call().op().parameters[*p].list)
    b.rule().sizes.push_back({*p, -1, true, 0, first, count});
}

// Reshapes: a factor shards both dimensions where it is the major part of each.
void map_reshape(RuleBuilder& b) {
  const Shape& from = b.operand_shape(0);
  const Shape& to = b.result_shape(0);
  std::vector<bool> begun_from(from.size()), begun_to(to.size());
  for (const ReshapeFactor& f : reshape_walk(from, to)) {
    const auto d = static_cast<std::size_t>(f.from), e = static_cast<std::size_t>(f.to);
    const bool leads = f.from >= 0 && f.to >= 0 && !begun_from[d] && !begun_to[e];
    if (f.from >= 0) begun_from[d] = true;
    if (f.to >= 0) begun_to[e] = true;
    if (!leads) continue;
    const int factor = b.factor(numbered('d', d));
    b[factor].size = f.size;
    b.map({false, 0, d, factor, true});
    b.map({true, 0, e, factor, true});
  }
}

// The layout rule shows where a dimension goes, if each has a prime as its stride. Neither steps
// nor sums of these are another one.
bool map_strided(RuleBuilder& b, layout::Rule rule) {
  static constexpr std::array<std::int64_t, 16> kPrimes{10007, 10009, 10037, 10039, 10061, 10067,
                                                        10069, 10079, 10091, 10093, 10099, 10103,
                                                        10111, 10133, 10139, 10141};
  const Shape& from = b.operand_shape(0);
  if (from.size() > kPrimes.size()) return false;
  const Layout self{from,
                    Strides(kPrimes.begin(), kPrimes.begin() + static_cast<long>(from.size()))};
  std::vector<std::vector<int>> places(from.size());  // by dimension: that of each result, or -1
  for (std::size_t r = 0; r < b.results(); ++r) {
    const auto shown = rule(b.call(), self, static_cast<std::int64_t>(r));
    if (!shown || shown->copied || shown->shape != b.result_shape(r)) return false;
    for (std::size_t d = 0; d < from.size(); ++d) {
      const auto found = std::find(shown->strides.begin(), shown->strides.end(), kPrimes[d]);
      const auto e = static_cast<std::size_t>(found - shown->strides.begin());
      const bool kept = found != shown->strides.end() && shown->shape[e] == from[d];
      places[d].push_back(kept ? static_cast<int>(e) : -1);
    }
  }
  for (std::size_t d = 0; d < from.size(); ++d) {
    if (from[d] < 2 || std::count(places[d].begin(), places[d].end(), -1) > 0) continue;
    const int factor = b.factor(numbered('d', d));
    b.map({false, 0, d, factor});
    for (std::size_t r = 0; r < b.results(); ++r)
      b.map({true, r, static_cast<std::size_t>(places[d][r]), factor});
  }
  return true;
}

// A shard of one element would lose its dimension, where the call may squeeze that.
void keep_squeezed(RuleBuilder& b) {
  const auto rank = static_cast<std::int64_t>(b.operand_shape(0).size());
  const bool named = b.call().op().parameter("dim").has_value();
  std::vector<std::string> squeezed;
  if (named)
    for (const std::int64_t dim : b.call().integers("dim"))
      if (const auto wrapped = wrap_dimension(dim, rank))
        squeezed.push_back(numbered('d', static_cast<std::size_t>(*wrapped)));
  for (Factor& factor : b.rule().factors)
    if (!named || std::find(squeezed.begin(), squeezed.end(), factor.name) != squeezed.end())
      factor.least_shard = 2;
}

bool fill_view(RuleBuilder& b) {
  const layout::Rule rule = layout::rule_of(b.call().op().op);
  if (b.operands() != 1 || b.call().op().parameter("stride")) return false;
  const bool reshapes =
      rule == layout::view || rule == layout::flatten || rule == layout::unflatten;
  if (reshapes)
    map_reshape(b);
  else if (rule == nullptr || rule == layout::narrow || !map_strided(b, rule))
    return false;
  if (rule == layout::squeeze_all || rule == layout::squeeze) keep_squeezed(b);
  if (b.results() == 1) {
    const std::size_t rank = b.result_shape(0).size();
    add_result_sizes(b, "size", 0, rank);
    add_result_sizes(b, "shape", 0, rank);
    if (rule == layout::unflatten) {
      const auto self = static_cast<std::int64_t>(b.operand_shape(0).size());
      const auto dim = wrap_dimension(b.call().integer("dim"), self);
      if (!dim) return false;
      add_result_sizes(b, "sizes", static_cast<std::size_t>(*dim),
                       b.call().integers("sizes").size());
    }
  }
  b.add_moves({0});
  return true;
}

// One output of a call that has several.
bool fill_output(RuleBuilder& b) {
  for (std::size_t d = 0; d < b.result_shape(0).size(); ++d) {
    const int factor = b.factor(numbered('d', d));
    b.map({false, 0, d, factor});
    b.map({true, 0, d, factor});
  }
  b.rule().allows_empty = true;
  b.add_moves({0});
  return true;
}

bool fill_stack(RuleBuilder& b) {
  const auto dim =
      wrap_dimension(b.call().integer("dim"), static_cast<std::int64_t>(b.result_shape(0).size()));
  if (!dim || b.operands() == 0) return false;
  const auto inserted = static_cast<std::size_t>(*dim);
  std::vector<std::size_t> all;
  for (std::size_t i = 0; i < b.operands(); ++i) {
    all.push_back(i);
    for (std::size_t d = 0; d < b.operand_shape(i).size(); ++d)
      b.map({false, i, d, b.factor(numbered('d', d))});
  }
  for (std::size_t d = 0; d + 1 < b.result_shape(0).size(); ++d)
    b.map({true, 0, d + (d >= inserted ? 1 : 0), b.factor(numbered('d', d))});
  b.add_moves(std::move(all));
  return true;
}

// Padding: `pad` has two numbers a dimension, from the last one on.
bool fill_pad(RuleBuilder& b) {
  const std::vector<std::int64_t> pad = b.call().integers("pad");
  const std::size_t rank = b.operand_shape(0).size();
  for (std::size_t d = 0; d < rank; ++d) {
    const std::size_t pair = 2 * (rank - 1 - d);
    if (pair + 1 < pad.size() && (pad[pair] != 0 || pad[pair + 1] != 0)) continue;
    const int factor = b.factor(numbered('d', d));
    b.map({false, 0, d, factor});
    b.map({true, 0, d, factor});
  }
  if (b.call().scalar("value").real == 0) b.add_linear({0});
  return true;
}

bool fill_repeat(RuleBuilder& b) {
  const std::vector<std::int64_t> repeats =
      b.call().integers(b.call().op().parameter("repeats") ? "repeats" : "dims");
  const std::size_t rank = b.operand_shape(0).size(), more = b.result_shape(0).size() - rank;
  for (std::size_t d = 0; d < rank; ++d) {
    const std::size_t from_end = rank - d;
    if (from_end <= repeats.size() && repeats[repeats.size() - from_end] != 1) continue;
    const int factor = b.factor(numbered('d', d));
    b.map({false, 0, d, factor});
    b.map({true, 0, d + more, factor});
  }
  b.add_moves({0});
  return true;
}

// Advanced indexing: which factor each dimension of the indexed part has.
struct Indexed {
  std::vector<int> self;  // factors of self's dimensions; -1: indexed
  std::vector<int> part;  // of self[indices]
  std::vector<std::string> index_factors;
};

bool map_indices(RuleBuilder& b, Indexed& indexed) {
  const std::size_t parameter = *b.call().op().parameter("indices");
  const auto [first, count] = b.operands_of(parameter);
  const auto* list = b.call().arguments()[parameter].get<ArgumentList>();
  if (list == nullptr || count == 0) return false;
  std::size_t index_rank = 0;
  for (std::size_t i = first; i < first + count; ++i) {
    if (!is_integral(b.operand_dtype(i)) || b.operand_dtype(i) == DType::u8) return false;
    index_rank = std::max(index_rank, b.operand_shape(i).size());
  }
  for (std::size_t k = 0; k < index_rank; ++k) indexed.index_factors.push_back(numbered('i', k));
  for (std::size_t i = first; i < first + count; ++i) {
    const std::size_t rank = b.operand_shape(i).size();
    for (std::size_t d = 0; d < rank; ++d)
      b.map({false, i, d, b.factor(indexed.index_factors[index_rank - rank + d]), false, true});
  }
  std::vector<std::size_t> at;
  for (std::size_t d = 0; d < b.operand_shape(0).size(); ++d) {
    const bool taken = d < list->size() && (*list)[d].get<NodeId>() != nullptr;
    if (taken) at.push_back(d);
    indexed.self.push_back(taken ? -1 : b.factor(numbered('d', d)));
  }
  const bool adjacent = at.back() - at.front() + 1 == at.size();
  const std::size_t before = adjacent ? at.front() : 0;
  for (std::size_t d = 0; d < before; ++d) indexed.part.push_back(indexed.self[d]);
  for (const std::string& name : indexed.index_factors) indexed.part.push_back(b.factor(name));
  for (std::size_t d = before; d < indexed.self.size(); ++d)
    if (indexed.self[d] >= 0) indexed.part.push_back(indexed.self[d]);
  return true;
}

void map_dims(RuleBuilder& b, bool result, std::size_t tensor, const std::vector<int>& factors,
              bool broadcasts) {
  const std::size_t rank = (result ? b.result_shape(tensor) : b.operand_shape(tensor)).size();
  if (rank > factors.size()) return;
  for (std::size_t d = 0; d < rank; ++d)
    if (const int factor = factors[factors.size() - rank + d]; factor >= 0)
      b.map({result, tensor, d, factor, false, broadcasts});
}

bool fill_index(RuleBuilder& b) {
  Indexed indexed;
  if (!map_indices(b, indexed)) return false;
  map_dims(b, false, 0, indexed.self, false);
  map_dims(b, true, 0, indexed.part, false);
  b.add_moves({0});
  return true;
}

bool fill_index_put(RuleBuilder& b) {
  Indexed indexed;
  const auto values = b.operands_of(*b.call().op().parameter("values"));
  if (values.second != 1 || !map_indices(b, indexed) ||
      b.operand_shape(values.first).size() > indexed.part.size())
    return false;
  map_dims(b, false, 0, indexed.self, false);
  map_dims(b, false, values.first, indexed.part, true);
  map_dims(b, true, 0, indexed.self, false);
  const bool adds = b.call().boolean("accumulate");
  for (const std::string& name : indexed.index_factors)
    b[b.factor(name)].kind = adds ? FactorKind::reduce : FactorKind::whole;
  if (adds) b.rule().once.push_back(0);
  if (adds) b.add_linear({0, values.first});
  return true;
}

}  // namespace

bool fill_structure(std::string_view name, RuleBuilder& builder) {
  static constexpr std::pair<std::string_view, bool (*)(RuleBuilder&)> kStructures[] = {
      {"view", fill_view},          {"output", fill_output},
      {"stack", fill_stack},        {"pad", fill_pad},
      {"repeat", fill_repeat},      {"index", fill_index},
      {"index_put", fill_index_put}};
  for (const auto& [known, fill] : kStructures)
    if (known == name) return fill(builder);
  RECUT_CHECK(false, "a structure is unknown");
  return false;
}

}  // namespace recut::mesh
