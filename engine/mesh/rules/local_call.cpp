#include "engine/mesh/rules/local_call.h"

#include <algorithm>

namespace recut::mesh {
namespace {

// Sizes of a rank's part where an attribute is a size.
std::vector<std::int64_t> local_sizes(const ShardingRule& rule, const Strategy& strategy,
                                      const SizeArgument& size, AxisRank at) {
  if (size.factor >= 0) {
    const std::int64_t whole = rule.factors[static_cast<std::size_t>(size.factor)].size;
    return {size.factor == strategy.factor ? axis_part(whole, at).size : whole};
  }
  const auto& shapes = size.of_result ? rule.result_shapes : rule.operand_shapes;
  const auto& placements = size.of_result ? strategy.results : strategy.operands;
  const Shape local = part_shape(shapes[size.tensor], placements[size.tensor], at);
  const auto first = local.begin() + static_cast<std::ptrdiff_t>(size.first);
  return {first, first + static_cast<std::ptrdiff_t>(size.count)};
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

std::vector<Argument> local_arguments(const Call& call, const ShardingRule& rule,
                                      const Strategy& strategy, AxisRank at) {
  std::vector<Argument> arguments(call.arguments().begin(), call.arguments().end());
  if (strategy.factor < 0 || rule.by_global_index) return arguments;
  for (const SizeArgument& size : rule.sizes) {
    const std::vector<std::int64_t> sizes = local_sizes(rule, strategy, size, at);
    Argument& argument = arguments[size.parameter];
    if (call.op().parameters[size.parameter].list && !argument.get<std::int64_t>())
      argument = Argument(sizes);
    else
      argument = Argument(sizes.front());
  }
  return arguments;
}

}  // namespace recut::mesh
