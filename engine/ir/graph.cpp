#include "engine/ir/graph.h"

#include <fmt/format.h>

#include <algorithm>

#include "engine/ir/call.h"
#include "engine/support/hash.h"

namespace recut {
namespace {

std::uint64_t hash_type(const TensorType& type, std::uint64_t seed) {
  std::uint64_t h = hash_mix(seed, static_cast<std::uint64_t>(type.dtype));
  for (const std::int64_t d : type.shape) h = hash_mix(h, static_cast<std::uint64_t>(d));
  for (const std::int64_t s : type.strides) h = hash_mix(h, static_cast<std::uint64_t>(s));
  return hash_text(h, type.device);
}

std::uint64_t hash_call(Op op, std::span<const Argument> arguments,
                        std::span<const TensorType> outputs) {
  std::uint64_t h = hash_mix(0, static_cast<std::uint64_t>(op));
  for (const Argument& a : arguments) h = hash(a, h);
  for (const TensorType& t : outputs) h = hash_type(t, h);
  return h;
}

std::vector<NodeId> distinct_nodes(std::span<const Argument> arguments) {
  std::vector<NodeId> nodes;
  for (const Argument& a : arguments)
    for_each_node(a, [&](NodeId id) {
      if (std::find(nodes.begin(), nodes.end(), id) == nodes.end()) nodes.push_back(id);
    });
  return nodes;
}

}  // namespace

NodeId NodePool::intern(Op op, std::vector<Argument> arguments, std::vector<TensorType> outputs) {
  const std::uint64_t h = hash_call(op, arguments, outputs);
  for (auto [it, end] = by_hash_.equal_range(h); it != end; ++it) {
    const Node& other = nodes_[it->second.index];
    if (other.op == op && other.arguments == arguments && other.outputs == outputs)
      return it->second;
  }
  const NodeId id(nodes_.size());
  std::vector<NodeId> operands = distinct_nodes(arguments);
  for (const NodeId operand : operands)
    RECUT_CHECK(operand.index < id.index, "a node's operands are made before it");
  nodes_.push_back(Node{op, std::move(arguments), std::move(outputs), std::move(operands)});
  by_hash_.emplace(h, id);
  return id;
}

std::string_view name_of(InputKind kind) {
  switch (kind) {
    case InputKind::parameter:
      return "parameter";
    case InputKind::input:
      return "input";
    case InputKind::tangent:
      return "tangent";
  }
  return "";
}

Graph Graph::fresh() const {
  Graph graph(pool_);
  graph.name = name;
  graph.device = device;
  graph.measured = measured;
  return graph;
}

NodeId Graph::append(Op op, std::vector<Argument> arguments, std::vector<TensorType> outputs,
                     Origin origin) {
  const NodeId id = pool_->intern(op, std::move(arguments), std::move(outputs));
  if (contains(id)) {
    if (!origin.name.empty()) add_alias(std::move(origin.name), id);
    return id;
  }
  if (position_.size() <= id.index)
    position_.resize(std::max<std::size_t>(id.index + 1, pool_->size()), kAbsent);
  position_[id.index] = static_cast<std::uint32_t>(order_.size());
  order_.push_back(id);
  origin.name =
      unused_name(origin.name.empty() ? operator_of(op).packet : std::string_view(origin.name));
  by_name_.emplace(origin.name, id);
  origins_.push_back(std::move(origin));
  return id;
}

bool Graph::add_alias(std::string alias, NodeId id) {
  if (!by_name_.emplace(alias, id).second) return false;
  aliases_.emplace_back(std::move(alias), id);
  alias_places_.push_back(order_.size());
  return true;
}

std::vector<NodeId> Graph::program() const {
  std::vector<NodeId> program;
  program.reserve(order_.size() + aliases_.size());
  std::size_t alias = 0;
  for (std::size_t p = 0; p <= order_.size(); ++p) {
    for (; alias < aliases_.size() && alias_places_[alias] == p; ++alias)
      program.push_back(aliases_[alias].second);
    if (p < order_.size()) program.push_back(order_[p]);
  }
  return program;
}

NodeId Graph::add_input(InputKind kind, TensorType type, Origin origin) {
  const NodeId id = append(Op::placeholder, {origin.name}, {std::move(type)}, origin);
  if (!input_kinds_.emplace(id.index, kind).second) return id;
  inputs_.push_back(id);
  return id;
}

NodeId Graph::add_constant(TensorType type, Origin origin) {
  return append(Op::constant, {origin.name}, {std::move(type)}, origin);
}

Result<NodeId> Graph::make(Op op, std::vector<Argument> arguments, Origin origin) {
  const Operator& row = operator_of(op);
  arguments.resize(row.parameters.size());
  auto types = infer_types(row, arguments, [this](NodeId id) { return pool_->types_of(id); });
  if (!types) return types.diagnostics();
  return append(op, std::move(arguments), std::move(*types), std::move(origin));
}

NodeId Graph::find(std::string_view node_name) const {
  const auto it = by_name_.find(std::string(node_name));
  return it == by_name_.end() ? NodeId() : it->second;
}

InputKind Graph::input_kind(NodeId id) const {
  const auto it = input_kinds_.find(id.index);
  RECUT_CHECK(it != input_kinds_.end(), "only placeholders have an input kind");
  return it->second;
}

std::string Graph::unused_name(std::string_view wish) {
  std::string candidate(wish);
  while (by_name_.count(candidate) != 0)
    candidate = fmt::format("{}_{}", wish, ++next_suffix_[std::string(wish)]);
  return candidate;
}

Users::Users(const Graph& graph) : graph_(&graph), first_(graph.order().size() + 1, 0) {
  for (const NodeId id : graph.order())
    for (const NodeId operand : graph[id].operands) ++first_[graph.position(operand) + 1];
  for (std::size_t p = 1; p < first_.size(); ++p) first_[p] += first_[p - 1];
  users_.resize(first_.back());
  std::vector<std::size_t> next(first_.begin(), first_.end() - 1);
  for (const NodeId id : graph.order())
    for (const NodeId operand : graph[id].operands) users_[next[graph.position(operand)]++] = id;
}

}  // namespace recut
