#include "engine/mesh/rules/masked_call.h"

#include <algorithm>

namespace recut::mesh {
namespace {

// Walks a tensor's elements with the position among the indices that each belongs to.
std::vector<std::int64_t> index_positions(const ShardingRule& rule, std::size_t indices,
                                          const DimensionFactors& dims, const Shape& shape) {
  const DimensionFactors& index_dims = rule.operands[indices];
  const Shape& index_shape = rule.operand_shapes[indices];
  std::vector<std::int64_t> steps(shape.size(), 0);
  const Strides strides = contiguous_strides(index_shape);
  for (std::size_t d = 0; d < shape.size(); ++d)
    for (std::size_t k = 0; k < index_dims.size(); ++k)
      if (index_dims[k] >= 0 && index_dims[k] == dims[d]) steps[d] = strides[k];
  std::vector<std::int64_t> positions;
  const std::int64_t count = element_count(shape);
  for (std::int64_t i = 0; i < count; ++i) {
    std::int64_t left = i, position = 0;
    for (std::size_t d = shape.size(); d-- > 0;) {
      position += left % shape[d] * steps[d];
      left /= shape[d];
    }
    positions.push_back(position);
  }
  return positions;
}

}  // namespace

void zero_misses(const std::vector<bool>& taken, const ShardingRule& rule, std::size_t indices,
                 bool result, std::size_t tensor, Tensor& values) {
  const DimensionFactors& dims = (result ? rule.results : rule.operands)[tensor];
  const std::vector<std::int64_t> positions = index_positions(rule, indices, dims, values.shape);
  Dense<Complex> all = unpack<Complex>(values);
  for (std::size_t i = 0; i < positions.size(); ++i)
    if (!taken[static_cast<std::size_t>(positions[i])]) all.data[i] = 0;
  if (is_complex(values.dtype)) return pack(all, values);
  Reals reals(values.shape);
  std::transform(all.data.begin(), all.data.end(), reals.data.begin(),
                 [](Complex value) { return value.real(); });
  pack(reals, values);
}

std::vector<bool> localize_indices(const Call& call, const ShardingRule& rule, const Factor& factor,
                                   std::vector<Argument>& arguments,
                                   std::vector<std::vector<Tensor>>& pieces, AxisRank at) {
  const Interval part = axis_part(factor.size, at);
  Tensor& indices = pieces[factor.indices].front();
  const auto excluded = factor.zeroed ? call.op().parameter("padding_idx") : std::nullopt;
  const std::int64_t padding = excluded ? call.integer("padding_idx") : -1;
  if (excluded) arguments[*excluded] = Argument(std::int64_t{-1});
  Integers values = unpack<std::int64_t>(indices);
  std::vector<bool> taken;
  for (std::int64_t& index : values.data) {
    const bool is_padding = excluded && index == padding;
    index -= part.offset;
    taken.push_back(!is_padding && index >= 0 && index < part.size);
    if (!taken.back()) index = 0;
  }
  pack(values, indices);
  if (factor.zeroed)
    zero_misses(taken, rule, factor.indices, false, *factor.zeroed, pieces[*factor.zeroed].front());
  return taken;
}

}  // namespace recut::mesh
