// A complex value has a successor in one or both of two forms: its parts, which calls with a rule
// make and read, and a whole, which outputs of the graph and other calls need. Each is made from
// the other where it is asked for: a whole by complex, parts by view_as_real.
#include "engine/passes/complex/splitter.h"

#include <algorithm>

#include "engine/ir/data_flow.h"

namespace recut::complex_parts {
namespace {

bool any_complex(std::span<const TensorType> types) {
  return std::any_of(types.begin(), types.end(),
                     [](const TensorType& type) { return is_complex(type.dtype); });
}

bool is_view_as_real(Op op) { return op == Op::view_as_real || op == Op::view_as_real_copy; }
bool is_view_as_complex(Op op) {
  return op == Op::view_as_complex || op == Op::view_as_complex_copy;
}

Value part_of_pairs(const Value& pairs, std::int64_t index) {
  return (*pairs.builder())(Op::select_int, {pairs, std::int64_t{-1}, index});
}

}  // namespace

bool touches_complex(const Graph& graph, NodeId id) {
  const auto& operands = graph[id].operands;
  return any_complex(graph[id].outputs) ||
         std::any_of(operands.begin(), operands.end(),
                     [&](NodeId operand) { return any_complex(graph[operand].outputs); });
}

Splitter::Splitter(const Graph& from)
    : from_(from), to_(from.empty_like()), outputs_(from), is_output_(from.order().size()) {
  for (const NodeId id : graph_outputs(from)) is_output_[from.position(id)] = true;
}

void Splitter::run() {
  for (const NodeId id : from_.order()) place(id);
  for (const NodeId id : from_.results) to_.results.push_back(whole(id));
  for (const NodeId id : from_.gradients) to_.gradients.push_back(id.valid() ? whole(id) : id);
}

void Splitter::place(NodeId id) {
  if (from_.op(id).is(kInput)) return set_whole(id, to_.carry(from_, id));
  const std::size_t first = to_.order().size();
  const bool concerned = touches_complex(from_, id) || pairs_of_parts(id).valid();
  const bool rewritten = concerned && rewrite(id);
  // An output's whole is made here: backward may be all that comes later.
  if (rewritten && is_output_[from_.position(id)]) whole(id);
  set_made_for(first, id);
  if (!rewritten) keep(id);
}

std::vector<NodeId> Splitter::successors(NodeId old) const {
  const auto parts = parts_.find(old.index);
  std::vector<NodeId> nodes;
  if (parts != parts_.end()) nodes = {parts->second.re.tensor, parts->second.im.tensor};
  nodes.push_back(find(whole_, old));
  std::erase_if(nodes, [](NodeId id) { return !id.valid(); });
  return nodes;
}

void Splitter::set_made_for(std::size_t first, NodeId old) {
  for (std::size_t p = first; p < to_.order().size(); ++p)
    if (!from_.contains(to_.order()[p])) made_for_.emplace(to_.order()[p].index, old);
}

void Splitter::set_name(NodeId node, NodeId old, std::string_view suffix) {
  if (!from_.contains(node)) names_.emplace(node.index, from_.node_name(old) + std::string(suffix));
}

// Wholes and parts
// ----------------

void Splitter::set_whole(NodeId old, NodeId node) {
  whole_[old.index] = node;
  outputs_.record(old, to_, node);
}

NodeId Splitter::whole(NodeId old) {
  if (const NodeId known = find(whole_, old); known.valid()) return known;
  Builder b(to_);
  const TensorType& type = from_.type(old);
  const Parts parts = known_parts(b, old);
  const Value re = parts.re.filled(b, real_of(type.dtype), type.shape, type.device);
  const Value im = parts.im.filled(b, real_of(type.dtype), type.shape, type.device);
  Value made = b(Op::complex, {re, im});
  if (!outputs_.may_become(old, to_, made.id())) made = b(Op::complex, {b(Op::clone, {re}), im});
  RECUT_CHECK(made.valid(), "both parts have the shape of the value");
  set_name(made.id(), old, "");
  set_whole(old, made.id());
  return made.id();
}

Parts Splitter::known_parts(Builder& b, NodeId old) const {
  const auto loaded = [&](const StoredPart& part) {
    return part.tensor.valid() ? Part(b.value(part.tensor)) : Part(part.number);
  };
  const auto found = parts_.find(old.index);
  const StoredParts& stored = found == parts_.end() ? read_.at(old.index) : found->second;
  return {loaded(stored.re), loaded(stored.im)};
}

Parts Splitter::parts(Builder& b, NodeId old) {
  if (!has_parts(old) && read_.count(old.index) == 0) {
    const Value pairs = b(Op::view_as_real, {b.value(whole(old))});
    read_[old.index] = {{part_of_pairs(pairs, 0).id()}, {part_of_pairs(pairs, 1).id()}};
  }
  return known_parts(b, old);
}

void Splitter::store(NodeId old, const Parts& parts) {
  const auto stored = [&](const Part& part, std::string_view suffix) {
    if (!part.is_tensor()) return StoredPart{{}, part.number()};
    set_name(part.tensor().id(), old, suffix);
    return StoredPart{part.tensor().id()};
  };
  const StoredParts both{stored(parts.re, "_re"), stored(parts.im, "_im")};
  parts_[old.index] = both;
  Replaced& replaced = replaced_.emplace_back(Replaced{old, {}});
  for (const NodeId id : {both.re.tensor, both.im.tensor})
    if (id.valid()) replaced.by.push_back(id);
}

// Calls that stay
// ---------------

void Splitter::keep(NodeId id) {
  const std::size_t first = to_.order().size();
  std::vector<Argument> arguments = from_[id].arguments;
  for (Argument& argument : arguments)
    for_each_node(argument, [&](NodeId& operand) { operand = whole(operand); });
  set_made_for(first, id);
  if (arguments == from_[id].arguments) return set_whole(id, to_.carry(from_, id));
  set_whole(id, with_arguments(id, std::move(arguments)));
}

// A new operand has the dtype and the shape of the old one, and maybe other strides.
NodeId Splitter::with_arguments(NodeId id, std::vector<Argument> arguments) {
  const Operator& op = from_.op(id);
  std::vector<TensorType> types = from_[id].outputs;
  if (!touches_complex(from_, id)) {
    auto inferred =
        infer_types(op, arguments, [&](NodeId node) { return to_.pool().types_of(node); });
    if (inferred) {
      types = std::move(*inferred);
    } else if (op.is(kView) && op.is(kKeepsOrder)) {
      Builder b(to_);
      const Value copy = b(Op::reshape, {b.value(*arguments[0].get<NodeId>()), types[0].shape});
      made_for_.emplace(copy.id().index, id);
      set_name(copy.id(), id, "");
      return copy.id();
    }
  }
  return to_.carry(from_, id, std::move(arguments), std::move(types));
}

// Calls that are replaced
// -----------------------

bool Splitter::rewrite(NodeId id) {
  const Op op = from_[id].op;
  const bool from_operand = op == Op::getitem || is_view_as_real(op) || is_view_as_complex(op);
  if (from_[id].outputs.empty() || (from_operand && from_[id].operands.empty())) return false;
  Builder b(to_);
  MaybeParts made;
  if (op == Op::getitem)
    made = picked(b, id);
  else if (is_view_as_real(op))
    made = as_pairs(b, id);
  else if (is_view_as_complex(op))
    made = of_pairs(b, id);
  else if (pairs_of_parts(id).valid())
    made = selected(b, id);
  else
    made = by_rule(b, id);
  return made && accept(b, id, *made);
}

MaybeParts Splitter::by_rule(Builder& b, NodeId id) {
  const PartRule rule = part_rule(from_[id].op);
  if (rule == nullptr) return std::nullopt;
  const Call::TypesOf types_of = [this](NodeId node) { return from_.pool().types_of(node); };
  const Call call(from_.op(id), from_[id].arguments, types_of);
  CallParts c(b, call, from_.type(id),
              {[&](NodeId operand) { return parts(b, operand); },
               [&](NodeId operand) { return b.value(whole(operand)); }});
  return rule(c);
}

// One output of a call that was replaced.
MaybeParts Splitter::picked(Builder& b, NodeId id) const {
  const NodeId source = from_[id].operands.front();
  const auto* index = from_[id].arguments[1].get<std::int64_t>();
  if (!has_parts(source) || index == nullptr) return std::nullopt;
  return of_tensors(known_parts(b, source), [&](const Value& list) { return list[*index]; });
}

// The complex value of which the call selects a part, where that has parts.
NodeId Splitter::pairs_of_parts(NodeId id) const {
  const Node& node = from_[id];
  if (node.op != Op::select_int || node.operands.empty()) return {};
  const Node& pairs = from_[node.operands.front()];
  const auto *dim = node.arguments[1].get<std::int64_t>(),
             *index = node.arguments[2].get<std::int64_t>();
  if (!is_view_as_real(pairs.op) || pairs.operands.empty() || dim == nullptr || index == nullptr)
    return {};
  const bool last = *dim == -1 || *dim + 1 == pairs.type().rank();
  return last && has_parts(pairs.operands.front()) ? pairs.operands.front() : NodeId();
}

MaybeParts Splitter::selected(Builder& b, NodeId id) const {
  const std::int64_t index = *from_[id].arguments[2].get<std::int64_t>();
  const Parts parts = known_parts(b, pairs_of_parts(id));
  return Parts{index == 0 || index == -2 ? parts.re : parts.im, {}};
}

// A selection by the part's number is element-wise, and fuses with the calls that make both parts.
MaybeParts Splitter::as_pairs(Builder& b, NodeId id) {
  const NodeId source = from_[id].operands.front();
  if (!has_parts(source)) return std::nullopt;
  if (const NodeId pairs = find(pairs_, source); pairs.valid()) return Parts{b.value(pairs), {}};
  const TensorType& type = from_.type(source);
  const Parts parts = known_parts(b, source);
  const auto tensor = [&](const Part& part) {
    return b(Op::unsqueeze,
             {part.filled(b, real_of(type.dtype), type.shape, type.device), std::int64_t{-1}});
  };
  Keywords keywords = {{"dtype", DType::i64}};
  if (!type.device.empty()) keywords.emplace_back("device", type.device);
  const Value first =
      b(Op::eq_Scalar, {b(Op::arange, {std::int64_t{2}}, keywords), std::int64_t{0}});
  return Parts{b.where(first, tensor(parts.re), tensor(parts.im)), {}};
}

Parts Splitter::of_pairs(Builder& b, NodeId id) {
  const NodeId source = whole(from_[id].operands.front());
  pairs_[id.index] = source;
  const Value pairs = b.value(source);
  return {part_of_pairs(pairs, 0), part_of_pairs(pairs, 1)};
}

// A graph's types come from its file, since few shape rules know complex numbers: a call that does
// not fit them stays.
bool Splitter::accept(Builder& b, NodeId id, Parts made) {
  if (b.diagnostic()) return false;
  if (from_.op(id).multiple_outputs()) return accept_list(id, made);
  const TensorType& type = from_.type(id);
  const auto fitted = [&](const Part& part) {
    if (!part.is_tensor()) return part;
    return Part(b.expand(b.convert(part.tensor(), real_of(type.dtype)), type.shape));
  };
  made = {fitted(made.re), fitted(made.im)};
  if (!is_complex(type.dtype)) return accept_real(b, id, made.re);
  if (b.diagnostic()) return false;
  store(id, made);
  return true;
}

bool Splitter::accept_list(NodeId id, const Parts& made) {
  const auto fits = [&](const Part& part) {
    if (!part.is_tensor()) return true;
    const std::vector<TensorType>& found = to_[part.tensor().id()].outputs;
    return std::equal(found.begin(), found.end(), from_[id].outputs.begin(),
                      from_[id].outputs.end(), [](const TensorType& a, const TensorType& b) {
                        return a.dtype == real_of(b.dtype) && a.shape == b.shape;
                      });
  };
  if (!fits(made.re) || !fits(made.im)) return false;
  store(id, made);
  return true;
}

// Readers may need the strides that the value had.
bool Splitter::accept_real(Builder& b, NodeId id, const Part& part) {
  const TensorType& type = from_.type(id);
  Value made = part.filled(b, type.dtype, type.shape, type.device);
  if (!made.valid()) return false;
  const bool taken = is_output_[from_.position(id)] &&
                     (from_.contains(made.id()) || !outputs_.may_become(id, to_, made.id()));
  if (taken || (is_contiguous(type) && !is_contiguous(made.type())))
    made = b(Op::clone, {made}, {{"memory_format", "contiguous_format"}});
  set_name(made.id(), id, "");
  set_whole(id, made.id());
  replaced_.push_back({id, {made.id()}});
  return true;
}

}  // namespace recut::complex_parts
