// Interned nodes and graphs over them (graph.h). NodePool is a hash-consing table with open
// addressing: intern() is amortised O(arguments). A Graph keeps an order of node ids, their origins
// and a name table indexed by NameId; append, contains, position and find are O(1). Equal calls
// become one node at construction, which is common subexpression elimination; a merged name
// survives as an alias, so that names of the input file stay resolvable.
#include "engine/ir/graph.h"

#include <fmt/core.h>

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
  nodes.reserve(arguments.size());
  for (const Argument& a : arguments)
    for_each_node(a, [&](NodeId id) {
      if (std::find(nodes.begin(), nodes.end(), id) == nodes.end()) nodes.push_back(id);
    });
  return nodes;
}

}  // namespace

NodeId NodePool::intern(Op op, std::vector<Argument> arguments, std::vector<TensorType> outputs) {
  if (2 * (nodes_.size() + 1) > slots_.size()) grow_table();
  const std::uint64_t h = hash_call(op, arguments, outputs);
  std::size_t at = h & (slots_.size() - 1);
  for (; slots_[at].id.valid(); at = (at + 1) & (slots_.size() - 1)) {
    if (slots_[at].hash != h) continue;
    const Node& other = nodes_[slots_[at].id.index];
    if (other.op == op && other.arguments == arguments && other.outputs == outputs)
      return slots_[at].id;
  }
  const NodeId id(nodes_.size());
  std::vector<NodeId> operands = distinct_nodes(arguments);
  for (const NodeId operand : operands)
    RECUT_CHECK(operand.index < id.index, "a node's operands are made before it");
  nodes_.push_back(Node{op, std::move(arguments), std::move(outputs), std::move(operands)});
  slots_[at] = {h, id};
  return id;
}

void NodePool::grow_table() {
  std::vector<Slot> before(std::max<std::size_t>(1024, 2 * slots_.size()));
  before.swap(slots_);
  for (const Slot& slot : before)
    if (slot.id.valid()) {
      std::size_t at = slot.hash & (slots_.size() - 1);
      while (slots_[at].id.valid()) at = (at + 1) & (slots_.size() - 1);
      slots_[at] = slot;
    }
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

Graph Graph::empty_like() const {
  Graph graph(pool_);
  graph.name = name;
  graph.device = device;
  graph.measured = measured;
  graph.regions = regions;
  graph.signature = signature;
  return graph;
}

const Graph* Graph::region(std::string_view region_name) const {
  if (regions == nullptr) return nullptr;
  const auto found = regions->find(region_name);
  return found == regions->end() ? nullptr : found->second.get();
}

bool Graph::add_region(std::string region_name, Graph region) {
  if (this->region(region_name) != nullptr) return false;
  auto all = regions == nullptr ? std::make_shared<Regions>() : std::make_shared<Regions>(*regions);
  all->emplace(std::move(region_name), std::make_shared<const Graph>(std::move(region)));
  regions = std::move(all);
  return true;
}

NodeId Graph::append(Op op, std::vector<Argument> arguments, std::vector<TensorType> outputs,
                     Origin origin) {
  const NodeId id = pool_->intern(op, std::move(arguments), std::move(outputs));
  if (contains(id)) {
    if (!origin.name.empty()) add_alias(std::move(origin.name), id);
    return id;
  }
  origin.name =
      unused_name(origin.name.empty() ? operator_of(op).packet : std::string_view(origin.name));
  insert(id, pool_->origins().add(std::move(origin)));
  return id;
}

NodeId Graph::carry(const Graph& from, NodeId id) {
  insert_as(from, id, id);
  if (from.is_input(id)) record_input(id, from.input_kind(id));
  return id;
}

NodeId Graph::carry(const Graph& from, NodeId id, std::vector<Argument> arguments,
                    std::vector<TensorType> outputs) {
  return insert_as(from, id, pool_->intern(from[id].op, std::move(arguments), std::move(outputs)));
}

NodeId Graph::insert_as(const Graph& from, NodeId old, NodeId id) {
  RECUT_CHECK(from.pool_ == pool_, "nodes are carried between graphs of one pool");
  if (contains(id)) {
    add_alias(from.node_name(old), id);
    return id;
  }
  OriginId origin = from.origins_[from.position(old)];
  if (named(pool_->origins().name_of(origin)).valid()) {
    Origin renamed = from.origin(old);
    renamed.name = unused_name(renamed.name);
    origin = pool_->origins().add(std::move(renamed));
  }
  insert(id, origin);
  return id;
}

void Graph::insert(NodeId id, OriginId origin) {
  if (position_.size() <= id.index)
    position_.resize(std::max<std::size_t>(id.index + 1, pool_->size()), kAbsent);
  position_[id.index] = static_cast<std::uint32_t>(order_.size());
  order_.push_back(id);
  origins_.push_back(origin);
  take_name(pool_->origins().name_of(origin), id);
}

NodeId Graph::named(NameId name) const {
  return name.valid() && name.index < by_name_.size() ? by_name_[name.index] : NodeId();
}

bool Graph::take_name(NameId name, NodeId id) {
  if (named(name).valid()) return false;
  if (by_name_.size() <= name.index) by_name_.resize(name.index + 1);
  by_name_[name.index] = id;
  return true;
}

bool Graph::owns_its_name(NodeId id) const {
  return named(pool_->origins().name_of(origins_[position(id)])) == id;
}

bool Graph::add_alias(std::string alias, NodeId id) {
  if (!take_name(pool_->origins().name(alias), id)) return false;
  aliases_.emplace_back(std::move(alias), id);
  alias_positions_.push_back(order_.size());
  return true;
}

std::vector<NodeId> Graph::program() const {
  std::vector<NodeId> program;
  program.reserve(order_.size() + aliases_.size());
  std::size_t alias = 0;
  for (std::size_t p = 0; p <= order_.size(); ++p) {
    for (; alias < aliases_.size() && alias_positions_[alias] == p; ++alias)
      program.push_back(aliases_[alias].second);
    if (p < order_.size()) program.push_back(order_[p]);
  }
  return program;
}

NodeId Graph::add_input(InputKind kind, TensorType type, Origin origin) {
  const NodeId id = append(Op::placeholder, {origin.name}, {std::move(type)}, origin);
  record_input(id, kind);
  return id;
}

void Graph::record_input(NodeId id, InputKind kind) {
  if (input_kinds_.emplace(id.index, kind).second) inputs_.push_back(id);
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
  return named(pool_->origins().find_name(node_name));
}

InputKind Graph::input_kind(NodeId id) const {
  const auto it = input_kinds_.find(id.index);
  RECUT_CHECK(it != input_kinds_.end(), "only placeholders have an input kind");
  return it->second;
}

std::string Graph::unused_name(std::string_view base) {
  std::string candidate(base);
  while (find(candidate).valid())
    candidate = fmt::format("{}_{}", base, ++next_suffix_[std::string(base)]);
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
