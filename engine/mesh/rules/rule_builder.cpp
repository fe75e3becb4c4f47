#include "engine/mesh/rules/rule_builder.h"

#include <algorithm>

#include "engine/ir/graph.h"
#include "engine/mesh/rules/rule_text.h"

namespace recut::mesh {

std::vector<NodeId> operand_nodes(std::span<const Argument> arguments) {
  std::vector<NodeId> nodes;
  for (const Argument& argument : arguments)
    for_each_node(argument, [&](NodeId id) { nodes.push_back(id); });
  return nodes;
}

namespace {

// The type that a call reads of an operand: getitem reads the output that it names.
const TensorType& type_read(const Call& call, NodeId id) {
  const auto types = call.types(id);
  if (call.op().op != Op::getitem) return types.front();
  return types[static_cast<std::size_t>(call.integer("index"))];
}

}  // namespace

RuleBuilder::RuleBuilder(const Call& call, std::span<const TensorType> results)
    : call_(call), results_(results), nodes_(operand_nodes(call.arguments())) {
  for (std::size_t p = 0; p < call.arguments().size(); ++p)
    for_each_node(call.arguments()[p], [&](NodeId) { parameters_.push_back(p); });
  for (const NodeId id : nodes_) rule_.operand_shapes.push_back(type_read(call, id).shape);
  for (const TensorType& type : results) rule_.result_shapes.push_back(type.shape);
  for (const Shape& shape : rule_.operand_shapes) rule_.operands.emplace_back(shape.size(), -1);
  for (const Shape& shape : rule_.result_shapes) rule_.results.emplace_back(shape.size(), -1);
  for (std::size_t r = 0; r < results.size(); ++r) rule_.constant.push_back(!has_elements(true, r));
}

DType RuleBuilder::operand_dtype(std::size_t i) const { return type_read(call_, nodes_[i]).dtype; }

std::pair<std::size_t, std::size_t> RuleBuilder::operands_of(std::size_t parameter) const {
  const auto range = std::equal_range(parameters_.begin(), parameters_.end(), parameter);
  return {static_cast<std::size_t>(range.first - parameters_.begin()),
          static_cast<std::size_t>(range.second - range.first)};
}

bool RuleBuilder::has_elements(bool result, std::size_t tensor) const {
  if (result && !results_[tensor].exists()) return false;
  return element_count(result ? result_shape(tensor) : operand_shape(tensor)) > 0;
}

int RuleBuilder::factor(const std::string& name) {
  for (std::size_t f = 0; f < rule_.factors.size(); ++f)
    if (rule_.factors[f].name == name) return static_cast<int>(f);
  rule_.factors.push_back({name});
  return static_cast<int>(rule_.factors.size()) - 1;
}

bool RuleBuilder::has_factor(const std::string& name) const {
  return std::any_of(rule_.factors.begin(), rule_.factors.end(),
                     [&](const Factor& factor) { return factor.name == name; });
}

void RuleBuilder::map(Mapping mapping) {
  if (has_elements(mapping.result, mapping.tensor)) mappings_.push_back(mapping);
}

void RuleBuilder::add_group(std::vector<std::size_t> operands, Reduction from, Reduction to) {
  if (!operands.empty()) rule_.groups.push_back({std::move(operands), from, to});
}

void RuleBuilder::add_moves(std::vector<std::size_t> operands) {
  for (const std::size_t i : operands)
    if (operand_dtype(i) != results_.front().dtype || is_complex(operand_dtype(i))) return;
  const bool truth = results_.front().dtype == DType::boolean;
  if (!truth)
    for (const Reduction r : {Reduction::sum, Reduction::product}) add_group(operands, r, r);
  if (has_gradient(results_.front().dtype)) add_group(operands, Reduction::avg, Reduction::avg);
  add_group(operands, Reduction::min, Reduction::min);
  add_group(operands, Reduction::max, Reduction::max);
}

void RuleBuilder::add_linear(std::vector<std::size_t> operands) {
  // Integers wrap at the ends of their dtype, so sums of them are none of a wider one.
  const auto keeps_sums = [&](std::size_t i) {
    const DType from = operand_dtype(i);
    return std::all_of(results_.begin(), results_.end(), [&](const TensorType& result) {
      if (!result.exists()) return true;
      if (!has_gradient(from)) return is_integral(from) && result.dtype == from;
      return has_gradient(result.dtype) && (is_complex(result.dtype) || !is_complex(from));
    });
  };
  if (std::all_of(operands.begin(), operands.end(), keeps_sums))
    add_group(std::move(operands), Reduction::sum, Reduction::sum);
}

const Shape& RuleBuilder::shape(const Mapping& mapping) const {
  return mapping.result ? result_shape(mapping.tensor) : operand_shape(mapping.tensor);
}

// True if each index belongs to elements of the tensor that is masked by it.
bool RuleBuilder::indices_fit(const Factor& factor) const {
  const DimensionFactors& masked =
      factor.zeroed ? rule_.operands[*factor.zeroed] : rule_.results.front();
  const Shape& shape = rule_.operand_shapes[factor.indices];
  for (std::size_t d = 0; d < shape.size(); ++d) {
    const int of_dim = rule_.operands[factor.indices][d];
    if (shape[d] == 1) continue;
    if (of_dim < 0 || std::find(masked.begin(), masked.end(), of_dim) == masked.end()) return false;
  }
  return has_elements(false, factor.indices);
}

// True if a tensor has no elements, and yet a dimension that could be sharded.
bool RuleBuilder::has_empty_tensor() const {
  const auto sized = [](const Shape& shape) {
    return std::any_of(shape.begin(), shape.end(), [](std::int64_t length) { return length > 0; });
  };
  for (std::size_t i = 0; i < operands(); ++i)
    if (!has_elements(false, i) && sized(operand_shape(i))) return true;
  for (std::size_t r = 0; r < results(); ++r)
    if (results_[r].exists() && !has_elements(true, r) && sized(result_shape(r))) return true;
  return false;
}

ShardingRule RuleBuilder::finish() {
  std::vector<bool> sized;
  for (const Factor& factor : rule_.factors) sized.push_back(factor.size > 0);
  for (const Mapping& m : mappings_) {
    Factor& factor = rule_.factors[static_cast<std::size_t>(m.factor)];
    if (!sized[static_cast<std::size_t>(m.factor)] && !m.multiple)
      factor.size = std::max(factor.size, shape(m)[m.dim]);
  }
  for (const Mapping& m : mappings_) {
    Factor& factor = rule_.factors[static_cast<std::size_t>(m.factor)];
    const std::int64_t length = shape(m)[m.dim];
    if (m.broadcasts && length == 1) continue;
    if (factor.size == 0 || (m.multiple ? length % factor.size != 0 : length != factor.size))
      factor.kind = FactorKind::whole;
    else
      (m.result ? rule_.results : rule_.operands)[m.tensor][m.dim] = m.factor;
  }
  for (Factor& factor : rule_.factors)
    if (factor.kind == FactorKind::masked && !indices_fit(factor)) factor.kind = FactorKind::whole;
  if (has_empty_tensor())
    for (Factor& factor : rule_.factors) factor.kind = FactorKind::whole;
  return std::move(rule_);
}

ShardingRule sharding_rule(const Call& call, std::span<const TensorType> results) {
  for (const RuleText& text : rule_texts(call.op())) {
    RuleBuilder builder(call, results);
    if (fill_rule(text, builder)) return builder.finish();
  }
  return RuleBuilder(call, results).finish();
}

ShardingRule sharding_rule(const Graph& graph, NodeId id) {
  const Node& node = graph[id];
  const Call::TypesOf types_of = [&](NodeId n) { return graph.pool().types_of(n); };
  return sharding_rule(Call(operator_of(node.op), node.arguments, types_of), node.outputs);
}

}  // namespace recut::mesh
