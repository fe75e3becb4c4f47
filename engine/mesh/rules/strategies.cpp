// From a rule to the strategies on one axis.
#include <fmt/format.h>

#include <algorithm>

#include "engine/mesh/rules/sharding_rule.h"

namespace recut::mesh {
namespace {

std::int64_t shard_length(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }

int dimension_with(const DimensionFactors& dims, int factor) {
  const auto found = std::find(dims.begin(), dims.end(), factor);
  return found == dims.end() ? -1 : static_cast<int>(found - dims.begin());
}

// True if the shards of every dimension end at the same index of the factor, so that a rank's
// tensors fit together. A dimension that is a multiple of its factor may divide otherwise.
bool shards_agree(const ShardingRule& rule, int factor, std::int64_t ranks) {
  const std::int64_t size = rule.factors[static_cast<std::size_t>(factor)].size;
  const std::int64_t shard = shard_length(size, ranks);
  const auto agree = [&](const std::vector<DimensionFactors>& tensors,
                         const std::vector<Shape>& shapes) {
    for (std::size_t t = 0; t < tensors.size(); ++t) {
      const int d = dimension_with(tensors[t], factor);
      if (d < 0) continue;
      const std::int64_t length = shapes[t][static_cast<std::size_t>(d)];
      if (shard_length(length, ranks) * size != shard * length) return false;
    }
    return true;
  };
  return agree(rule.operands, rule.operand_shapes) && agree(rule.results, rule.result_shapes);
}

bool usable(const ShardingRule& rule, int index, std::int64_t ranks) {
  const Factor& factor = rule.factors[static_cast<std::size_t>(index)];
  if (factor.kind > FactorKind::masked || factor.size < 2) return false;
  const bool divides = factor.size % ranks == 0;
  if (factor.kind == FactorKind::reduce && factor.reduction == Reduction::avg && !divides)
    return false;
  const std::int64_t last = factor.size - shard_length(factor.size, ranks) * (ranks - 1);
  const bool may_be_empty = rule.allows_empty && factor.kind == FactorKind::pass;
  if (last < factor.least_shard && !may_be_empty) return false;
  return shards_agree(rule, index, ranks);
}

Placement without_factor(const Factor& factor) {
  if (factor.kind == FactorKind::reduce) return Placement::partial(factor.reduction);
  if (factor.kind == FactorKind::masked) return Placement::partial(Reduction::sum);
  return Placement::replicate();
}

Strategy replicated(const ShardingRule& rule) {
  return {std::vector<Placement>(rule.operands.size()), std::vector<Placement>(rule.results.size()),
          -1};
}

Strategy along_factor(const ShardingRule& rule, int index) {
  const Factor& factor = rule.factors[static_cast<std::size_t>(index)];
  Strategy strategy = replicated(rule);
  strategy.factor = index;
  for (std::size_t i = 0; i < rule.operands.size(); ++i) {
    const int d = dimension_with(rule.operands[i], index);
    const bool once = std::find(rule.once.begin(), rule.once.end(), i) != rule.once.end();
    if (d >= 0)
      strategy.operands[i] = Placement::shard(d);
    else if (once && factor.kind == FactorKind::reduce)
      strategy.operands[i] = Placement::partial(factor.reduction);
  }
  for (std::size_t r = 0; r < rule.results.size(); ++r) {
    if (rule.constant[r]) continue;
    const int d = dimension_with(rule.results[r], index);
    strategy.results[r] = d >= 0 ? Placement::shard(d) : without_factor(factor);
  }
  return strategy;
}

Strategy along_group(const ShardingRule& rule, const PartialGroup& group) {
  Strategy strategy = replicated(rule);
  for (const std::size_t i : group.operands) strategy.operands[i] = Placement::partial(group.from);
  for (std::size_t r = 0; r < rule.results.size(); ++r)
    if (!rule.constant[r]) strategy.results[r] = Placement::partial(group.to);
  return strategy;
}

std::string dims_text(const ShardingRule& rule, const DimensionFactors& dims, const Shape& shape) {
  std::string text;
  for (std::size_t d = 0; d < dims.size(); ++d) {
    if (d > 0) text += ' ';
    if (dims[d] < 0) {
      text += '*';
      continue;
    }
    const Factor& factor = rule.factors[static_cast<std::size_t>(dims[d])];
    text += factor.name + (factor.size == shape[d] ? "" : ".");
  }
  return dims.empty() ? "()" : text;
}

std::string tensors_text(const ShardingRule& rule, const std::vector<DimensionFactors>& tensors,
                         const std::vector<Shape>& shapes) {
  std::string text;
  for (std::size_t t = 0; t < tensors.size(); ++t)
    text += (t > 0 ? ", " : "") + dims_text(rule, tensors[t], shapes[t]);
  return text;
}

std::string kind_text(const Factor& factor) {
  switch (factor.kind) {
    case FactorKind::pass:
      return "pass";
    case FactorKind::reduce:
      return title(factor.reduction);
    case FactorKind::masked:
      return "masked";
    case FactorKind::merge:
      return "merge";
    case FactorKind::halo:
      return "halo";
    case FactorKind::whole:
      return "whole";
  }
  return "";
}

}  // namespace

std::vector<Strategy> strategies(const ShardingRule& rule, std::int64_t ranks) {
  std::vector<Strategy> all{replicated(rule)};
  for (std::size_t f = 0; f < rule.factors.size(); ++f)
    if (usable(rule, static_cast<int>(f), ranks))
      all.push_back(along_factor(rule, static_cast<int>(f)));
  for (const PartialGroup& group : rule.groups) all.push_back(along_group(rule, group));
  return all;
}

std::string format(const ShardingRule& rule) {
  std::string text = tensors_text(rule, rule.operands, rule.operand_shapes) + " -> " +
                     tensors_text(rule, rule.results, rule.result_shapes);
  for (const Factor& factor : rule.factors)
    if (factor.kind != FactorKind::pass)
      text += fmt::format("; {}: {}", factor.name, kind_text(factor));
  return text;
}

std::string format(const Strategy& strategy) {
  std::string text;
  for (std::size_t i = 0; i < strategy.operands.size(); ++i)
    text += (i > 0 ? ", " : "") + format(strategy.operands[i]);
  text += " ->";
  for (std::size_t r = 0; r < strategy.results.size(); ++r)
    text += (r > 0 ? ", " : " ") + format(strategy.results[r]);
  return text;
}

}  // namespace recut::mesh
