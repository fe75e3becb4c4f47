#include "engine/mesh/spmd/local_nodes.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "engine/ir/call.h"
#include "engine/ir/dimension_order.h"
#include "engine/support/check.h"
#include "engine/support/text.h"

namespace recut::mesh {
namespace {

bool has_factor(const CallShardings& shardings) {
  return std::any_of(shardings.factors.begin(), shardings.factors.end(),
                     [](int factor) { return factor >= 0; });
}

std::vector<int> axes_of(const CallShardings& shardings, std::size_t factor) {
  std::vector<int> axes;
  for (std::size_t a = 0; a < shardings.factors.size(); ++a)
    if (shardings.factors[a] == static_cast<int>(factor)) axes.push_back(static_cast<int>(a));
  return axes;
}

// The row-major index of a part's first element, if its elements follow each other in the whole.
std::optional<std::int64_t> first_of_run(const Shape& whole, const Block& part) {
  const Strides strides = contiguous_strides(whole);
  std::int64_t first = 0;
  bool must_be_whole = false;  // an outer dimension has several elements
  for (std::size_t d = 0; d < whole.size(); ++d) {
    if (must_be_whole && part.shape[d] != whole[d]) return std::nullopt;
    first += part.offset[d] * strides[d];
    must_be_whole |= part.shape[d] != 1;
  }
  return first;
}

}  // namespace

// A truth value for each index: whether it names an element of another rank.
struct LocalNodes::Masked {
  std::size_t indices = 0;  // the operand
  Value missed;
};

std::vector<Value> LocalNodes::call(NodeId id, const CallShardings& shardings,
                                    std::vector<Value> operands) {
  const Origin& origin = graph_.origin(id);
  const auto scope = b_.scope({origin.module, origin.seq_nr, {}, origin.source});
  const ShardingRule rule = sharding_rule(graph_, id);
  if (rule.by_global_index && has_factor(shardings))
    return part_of_whole(id, shardings, rule, std::move(operands));
  if (graph_.op(id).is(kReadsStorage) && !operands.empty())
    operands.front() = with_layout(operands.front(), graph_.type(graph_[id].operands.front()),
                                   graph_.node_name(id));
  const RankCallPart part = part_of(rule, shardings);
  const Call::TypesOf types_of = [&](NodeId node) { return graph_.pool().types_of(node); };
  std::vector<Argument> arguments =
      local_arguments(Call(graph_.op(id), graph_[id].arguments, types_of), rule, part);
  if (const Factor* factor = masked_factor(rule, shardings))
    return masked(id, rule, *factor, part, std::move(arguments), std::move(operands));
  return append(id, std::move(arguments), operands, part.results);
}

RankCallPart LocalNodes::part_of(const ShardingRule& rule, const CallShardings& shardings) const {
  RankCallPart part;
  for (std::size_t i = 0; i < rule.operand_shapes.size(); ++i)
    part.operands.push_back(
        local_block(rule.operand_shapes[i], shardings.operands[i], mesh_, at_).shape);
  for (std::size_t r = 0; r < rule.result_shapes.size(); ++r)
    part.results.push_back(
        local_block(rule.result_shapes[r], shardings.results[r], mesh_, at_).shape);
  for (std::size_t f = 0; f < rule.factors.size(); ++f)
    part.factors.push_back(local_interval(rule.factors[f].size, axes_of(shardings, f), mesh_, at_));
  return part;
}

// A draw that counts its numbers from an offset draws the part alone, if that is one run of them.
std::optional<std::vector<Argument>> LocalNodes::drawn_from_offset(NodeId id,
                                                                   const CallShardings& shardings,
                                                                   const ShardingRule& rule) const {
  const Operator& op = graph_.op(id);
  const auto offset = op.parameter("offset"), size = op.parameter("size");
  if (!offset || !size || rule.result_shapes.size() != 1) return std::nullopt;
  const Shape& whole = rule.result_shapes.front();
  const Block part = local_block(whole, shardings.results.front(), mesh_, at_);
  const auto first = first_of_run(whole, part);
  if (!first) return std::nullopt;
  const Call::TypesOf types_of = [&](NodeId node) { return graph_.pool().types_of(node); };
  const Call call(op, graph_[id].arguments, types_of);
  std::vector<Argument> arguments = graph_[id].arguments;
  arguments[*offset] = Argument(call.integer("offset") + *first);
  arguments[*size] = Argument(part.shape);
  return arguments;
}

// A value depends on the element's index in the whole result, so that the whole call is run.
std::vector<Value> LocalNodes::part_of_whole(NodeId id, const CallShardings& shardings,
                                             const ShardingRule& rule,
                                             std::vector<Value> operands) {
  const std::string& name = graph_.node_name(id);
  if (auto arguments = drawn_from_offset(id, shardings, rule))
    return append(
        id, std::move(*arguments), operands,
        {local_block(rule.result_shapes.front(), shardings.results.front(), mesh_, at_).shape});
  for (std::size_t i = 0; i < operands.size(); ++i)
    operands[i] = parts_.embed(operands[i], rule.operand_shapes[i], shardings.operands[i], name);
  std::vector<Value> outputs = append(id, graph_[id].arguments, operands, rule.result_shapes);
  for (std::size_t r = 0; r < outputs.size(); ++r)
    if (outputs[r].valid()) outputs[r] = parts_.take_part(outputs[r], shardings.results[r], name);
  return outputs;
}

const Factor* LocalNodes::masked_factor(const ShardingRule& rule,
                                        const CallShardings& shardings) const {
  for (const int factor : shardings.factors)
    if (factor >= 0 && rule.factors[static_cast<std::size_t>(factor)].kind == FactorKind::masked)
      return &rule.factors[static_cast<std::size_t>(factor)];
  return nullptr;
}

std::vector<Value> LocalNodes::masked(NodeId id, const ShardingRule& rule, const Factor& factor,
                                      const RankCallPart& part, std::vector<Argument> arguments,
                                      std::vector<Value> operands) {
  const std::string& name = graph_.node_name(id);
  const auto index = static_cast<std::size_t>(&factor - rule.factors.data());
  const Masked found = localize(id, factor, part.factors[index], arguments, operands);
  if (factor.zeroed) {
    Value& zeroed = operands[*factor.zeroed];
    zeroed = zero_misses(found, rule, rule.operands[*factor.zeroed], zeroed, name);
  }
  std::vector<Value> outputs = append(id, std::move(arguments), operands, part.results);
  if (!factor.zeroed)
    outputs.front() = zero_misses(found, rule, rule.results.front(), outputs.front(), name);
  return outputs;
}

// Shifts the indices to the rank's own shard. An index that `padding_idx` excludes counts as another
// rank's.
LocalNodes::Masked LocalNodes::localize(NodeId id, const Factor& factor, Interval part,
                                        std::vector<Argument>& arguments,
                                        std::vector<Value>& operands) {
  const std::string& name = graph_.node_name(id);
  Value& indices = operands[factor.indices];
  const Value shifted = parts_.call(Op::sub_Scalar, {indices, part.offset}, name);
  Value missed = parts_.call(Op::logical_or,
                             {parts_.call(Op::lt_Scalar, {shifted, 0}, name),
                              parts_.call(Op::ge_Scalar, {shifted, part.size}, name)},
                             name);
  const auto excluded =
      factor.zeroed ? graph_.op(id).parameter("padding_idx") : std::optional<std::size_t>();
  if (excluded) {
    const Call::TypesOf types_of = [&](NodeId node) { return graph_.pool().types_of(node); };
    const Call call(graph_.op(id), graph_[id].arguments, types_of);
    const Value unused = parts_.call(Op::eq_Scalar, {indices, call.integer("padding_idx")}, name);
    missed = parts_.call(Op::logical_or, {missed, unused}, name);
    arguments[*excluded] = Argument(std::int64_t{-1});
  }
  indices = parts_.call(Op::masked_fill_Scalar, {shifted, missed, 0}, name);
  return {factor.indices, missed};
}

// Zeroes the elements whose index is another rank's: dimensions of the indices stand where the
// tensor has their factors.
Value LocalNodes::zero_misses(const Masked& found, const ShardingRule& rule,
                              const DimensionFactors& dims, const Value& x,
                              const std::string& name) {
  const DimensionFactors& index_dims = rule.operands[found.indices];
  std::vector<std::int64_t> order;
  Shape shape(dims.size(), 1);
  for (std::size_t d = 0; d < dims.size(); ++d) {
    const auto at = std::find(index_dims.begin(), index_dims.end(), dims[d]);
    if (dims[d] < 0 || at == index_dims.end()) continue;
    order.push_back(at - index_dims.begin());
    shape[d] = found.missed.size(order.back());
  }
  for (std::int64_t k = 0; k < found.missed.rank(); ++k)  // these have one element
    if (std::find(order.begin(), order.end(), k) == order.end()) order.push_back(k);
  Value missed = found.missed;
  if (!std::is_sorted(order.begin(), order.end()))
    missed = parts_.call(Op::permute, {missed, order}, name);
  if (missed.shape() != shape) missed = parts_.call(Op::reshape, {missed, shape}, name);
  return parts_.call(Op::masked_fill_Scalar, {x, missed, 0}, name);
}

// A call that addresses the storage of its operand needs the layout that the whole graph has there.
Value LocalNodes::with_layout(const Value& x, const TensorType& whole, const std::string& name) {
  if (!x.valid() || x.type().strides == whole.strides) return x;
  if (!is_dense(whole) || x.shape() != whole.shape)
    return b_.fail(
        fmt::format("{} reads the storage of a value with the layout {}, which a rank's "
                    "part hasn't, expected a dense layout",
                    quote(name), format(whole)));
  const DimensionOrder order = storage_order(whole);
  const Value moved = parts_.call(Op::permute, {x, order}, name);
  const Value copied = parts_.copy(moved, name);
  return parts_.call(Op::permute, {copied, inverse_order(order)}, name);
}

std::vector<Value> LocalNodes::append(NodeId id, std::vector<Argument> arguments,
                                      const std::vector<Value>& operands,
                                      const std::vector<Shape>& shapes) {
  const std::string& name = graph_.node_name(id);
  for (const Value& operand : operands)
    if (!operand.valid()) return std::vector<Value>(shapes.size());
  std::size_t next = 0;
  for (Argument& argument : arguments)
    for_each_node(argument, [&](NodeId& node) { node = operands[next++].id(); });
  const std::vector<TensorType> types = types_of(id, arguments, operands, shapes);
  if (types.empty()) return std::vector<Value>(shapes.size());
  return outputs_of(
      b_.graph().append(graph_[id].op, std::move(arguments), types, graph_.origin(id)), name);
}

// As the file has them where nothing changes; else by the operator's shape rule, if it knows them.
std::vector<TensorType> LocalNodes::types_of(NodeId id, const std::vector<Argument>& arguments,
                                             const std::vector<Value>& operands,
                                             const std::vector<Shape>& shapes) {
  std::vector<TensorType> types = graph_[id].outputs;
  const std::vector<NodeId> whole = operand_nodes(graph_[id].arguments);
  bool unchanged = true;
  for (std::size_t i = 0; i < operands.size(); ++i)
    unchanged &= operands[i].type() == graph_.type(whole[i]);
  for (std::size_t r = 0; r < types.size(); ++r)
    unchanged &= !types[r].exists() || types[r].shape == shapes[r];
  if (unchanged) return types;
  for (std::size_t r = 0; r < types.size(); ++r)
    if (types[r].exists()) types[r] = make_type(types[r].dtype, shapes[r], types[r].device);
  const Call::TypesOf types_at = [&](NodeId node) { return b_.graph().pool().types_of(node); };
  if (graph_.op(id).is(kDataDependent) || is_external(graph_[id].op) ||
      dtype_without_arithmetic(arguments, types, types_at) != DType::none)
    return types;
  auto inferred = infer_types(graph_.op(id), arguments, types_at);
  if (!inferred) {
    b_.fail(fmt::format("a rank's part of {} doesn't fit: {}", quote(graph_.node_name(id)),
                        inferred.diagnostics().front().message));
    return {};
  }
  for (std::size_t r = 0; r < types.size(); ++r)
    if (types[r].exists())
      RECUT_CHECK((*inferred)[r].shape == types[r].shape, "a part has the shape of its sharding");
  return std::move(*inferred);
}

std::vector<Value> LocalNodes::outputs_of(NodeId call, const std::string& name) {
  const Node& node = b_.graph()[call];
  if (!operator_of(node.op).multiple_outputs()) return {b_.value(call)};
  std::vector<Value> outputs(node.outputs.size());
  for (std::size_t r = 0; r < outputs.size(); ++r)
    if (node.outputs[r].exists())
      outputs[r] = parts_.call(Op::getitem, {b_.value(call), static_cast<std::int64_t>(r)}, name);
  return outputs;
}

}  // namespace recut::mesh
