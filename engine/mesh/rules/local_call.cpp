#include "engine/mesh/rules/local_call.h"

#include <algorithm>

namespace recut::mesh {
namespace {

// Sizes of a rank's part where an attribute is a size.
std::vector<std::int64_t> local_sizes(const RankCallPart& part, const SizeArgument& size) {
  if (size.factor >= 0) return {part.factors[static_cast<std::size_t>(size.factor)].size};
  const Shape& local = (size.of_result ? part.results : part.operands)[size.tensor];
  const auto first = local.begin() + static_cast<std::ptrdiff_t>(size.first);
  return {first, first + static_cast<std::ptrdiff_t>(size.count)};
}

bool is_whole(const ShardingRule& rule, const RankCallPart& part) {
  for (std::size_t f = 0; f < rule.factors.size(); ++f)
    if (part.factors[f].size != rule.factors[f].size) return false;
  return part.operands == rule.operand_shapes && part.results == rule.result_shapes;
}

}  // namespace

Shape part_shape(const Shape& shape, Placement placement, AxisRank at) {
  Shape local = shape;
  if (placement.is_shard()) {
    std::int64_t& length = local[static_cast<std::size_t>(placement.dim)];
    length = axis_part(length, at).size;
  }
  return local;
}

RankCallPart rank_part(const ShardingRule& rule, const Strategy& strategy, AxisRank at) {
  RankCallPart part;
  for (std::size_t i = 0; i < rule.operand_shapes.size(); ++i)
    part.operands.push_back(part_shape(rule.operand_shapes[i], strategy.operands[i], at));
  for (std::size_t r = 0; r < rule.result_shapes.size(); ++r)
    part.results.push_back(part_shape(rule.result_shapes[r], strategy.results[r], at));
  for (std::size_t f = 0; f < rule.factors.size(); ++f) {
    const std::int64_t whole = rule.factors[f].size;
    part.factors.push_back(static_cast<int>(f) == strategy.factor ? axis_part(whole, at)
                                                                  : Interval{0, whole});
  }
  return part;
}

std::vector<Argument> local_arguments(const Call& call, const ShardingRule& rule,
                                      const RankCallPart& part) {
  std::vector<Argument> arguments(call.arguments().begin(), call.arguments().end());
  if (rule.by_global_index || is_whole(rule, part)) return arguments;
  for (const SizeArgument& size : rule.sizes) {
    const std::vector<std::int64_t> sizes = local_sizes(part, size);
    Argument& argument = arguments[size.parameter];
    if (call.op().parameters[size.parameter].list && !argument.get<std::int64_t>())
      argument = Argument(sizes);
    else
      argument = Argument(sizes.front());
  }
  return arguments;
}

}  // namespace recut::mesh
