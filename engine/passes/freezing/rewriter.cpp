#include "engine/passes/freezing/rewriter.h"

#include <algorithm>

#include "engine/support/check.h"

namespace recut {

bool FreezingRewriter::used_once(NodeId old) const {
  const auto is_output = [&](const std::vector<NodeId>& outputs) {
    return std::find(outputs.begin(), outputs.end(), old) != outputs.end();
  };
  return users_.of(old).size() == 1 && !is_output(from_.results) && !is_output(from_.gradients);
}

bool FreezingRewriter::frozen(const Graph& to, const Argument& argument) {
  const auto* id = argument.get<NodeId>();
  return id != nullptr && frozen_.contains(to, *id);
}

NodeId FreezingRewriter::make(Graph& to, Op op, std::vector<Argument> arguments,
                              std::string_view name) {
  const auto id = to.make(op, std::move(arguments), {to.unused_name(name), "", -1});
  RECUT_CHECK(id.ok(), "a folded call does not fit its operands");
  return *id;
}

NodeId FreezingRewriter::with_types(Graph& to, NodeId id, const Node& old,
                                    const std::string& name) {
  if (to[id].outputs == old.outputs) return id;
  return to.append(to[id].op, to[id].arguments, old.outputs, {to.unused_name(name), "", -1});
}

NodeId FreezingRewriter::along(Graph& to, NodeId values, std::int64_t dimension, std::int64_t rank,
                               std::string_view name) {
  std::vector<std::int64_t> shape(static_cast<std::size_t>(rank), 1);
  shape[static_cast<std::size_t>(dimension)] = -1;
  return make(to, Op::reshape, {values, Argument(shape)}, name);
}

}  // namespace recut
