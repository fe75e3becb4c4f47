// One level after another, the highest first, in a draft that keeps the level's calls as nodes:
//
//   %d = make_dual(%x, %v, 0)       a seed: its tangent is %v
//   %y = mul(%d, %d)                its tangent is 2 * %d * %v, by push_forward
//   %u = unpack_dual(%y, 0)         ends the sweep: its items have no tangent at the level
//
//   =>  %y = mul(%x, %x), and the item 1 of %u is 2 * %x * %v
//
// A primal and the dual number that is made of it must stay two nodes until all tangents are known,
// since mul(%d, %x) and mul(%d, %d) differ. Then each call gives way to the value behind it.
#include "engine/autodiff/dual_numbers.h"

#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "engine/autodiff/dual_level.h"
#include "engine/autodiff/tape.h"
#include "engine/ir/copy.h"
#include "engine/ir/dual_call.h"
#include "engine/ir/fresh_names.h"
#include "engine/ir/graph_signature.h"
#include "engine/ir/laid_out.h"
#include "engine/ir/node_diagnostic.h"
#include "engine/ir/printer.h"

namespace recut {
namespace {

using autodiff::Gradients;
using autodiff::Seed;

class LevelExpansion {
 public:
  LevelExpansion(const Graph& from, int level)
      : from_(from),
        level_(level),
        draft_(deep_copy(from)),
        head_(draft_.order().begin(), draft_.order().end()),
        b_(draft_),
        names_(from),
        to_(from.empty_like()) {}

  Result<Graph> run() {
    for (const NodeId id : head_)
      if (is_dual_call(draft_[id]))
        if (const DualCall call = *dual_call(draft_, id); call.level == level_) calls_[id] = call;
    if (Diagnostics wrong = push(); !wrong.empty()) return wrong;
    if (Diagnostics wrong = faults(); !wrong.empty()) return wrong;
    find_values();
    if (b_.diagnostic()) return *b_.diagnostic();
    for (const NodeId id : head_)
      if (calls_.count(id) == 0 && values_.count(id) == 0) write_with_operands(id);
    for (const auto& [alias, id] : draft_.aliases())
      if (images_.count(id) != 0) to_.add_alias(alias, images_[id]);
    write_outputs();
    return std::move(to_);
  }

 private:
  // The tangent of a node that the file has; invalid: none at this level.
  Value tangent(NodeId id) const { return tangents_[draft_.position(id)]; }

  // Lists have no tangent of their own; their items do.
  bool is_dual(NodeId id) const { return draft_.op(id).multiple_outputs() || tangent(id).valid(); }

  Diagnostics push() {
    std::vector<Seed> seeds, outputs;
    std::vector<NodeId> tape;
    for (const NodeId id : head_) {
      const auto call = calls_.find(id);
      if (call == calls_.end())
        tape.push_back(id);
      else if (call->second.kind == DualCallKind::make)
        seeds.push_back({id, b_.value(call->second.tangent)});
      outputs.push_back({id, {}});
    }
    autodiff::MissingRules missing_rules;
    autodiff::TapeTrace trace;
    tangents_ = autodiff::push_forward(
        b_, tape, seeds, outputs, missing_rules, &trace,
        [this](NodeId id, const autodiff::TangentOf& of) { return through(id, of); });
    if (!missing_rules.empty()) return missing_rules.diagnostics();
    if (b_.diagnostic()) return {*b_.diagnostic()};
    return {};
  }

  // A dual number of another level is linear in its parts: the same call of their tangents.
  std::optional<Gradients> through(NodeId id, const autodiff::TangentOf& of) {
    const Node& node = draft_[id];
    if (!is_dual_call(node)) return std::nullopt;
    const Builder::Scope scope(b_, autodiff::location_of_derivative(draft_, id));
    const auto part = [&](NodeId operand) {
      const Value known = of(operand, 0);
      return (known.valid() ? known : autodiff::zeros(b_, draft_.type(operand))).id();
    };
    Origin origin = draft_.origin(id);
    origin.name = draft_.unused_name(origin.name);
    const Value made = b_.value(
        draft_.append(node.op, arguments_with(node, part), node.outputs, std::move(origin)));
    if (!operator_of(node.op).returns_list) return Gradients{made};
    Gradients items;
    for (std::size_t i = 0; i < node.outputs.size(); ++i)
      items.push_back(made[static_cast<std::int64_t>(i)]);
    return items;
  }

  Diagnostics faults() const {
    Diagnostics found;
    for (const auto& [id, call] : calls_)
      for (const NodeId part : {call.value, call.tangent}) {
        if (call.kind != DualCallKind::make || !tangent(part).valid()) continue;
        found.push_back(node_diagnostic(
            draft_, id,
            fmt::format(
                "{} makes a dual number of %{}, which already has a tangent at level {}, by {}; "
                "unpack that one first, or make this one at another level",
                print_node(draft_, id), draft_.node_name(part), level_,
                print_node(draft_, source_of(part)))));
      }
    for (const NodeId id : draft_.gradients)
      if (id.valid() && tangent(id).valid())
        found.push_back(node_diagnostic(
            draft_, id,
            fmt::format("a gradient is a dual number at level {}, by {}, expected one without a "
                        "tangent: unpack it first",
                        level_, print_node(draft_, source_of(id)))));
    return found;
  }

  // The call that the tangent of a node comes from: the first one behind it.
  NodeId source_of(NodeId id) const {
    std::vector<NodeId> waiting = {id};
    std::set<NodeId> seen;
    while (!waiting.empty()) {
      const NodeId next = waiting.back();
      waiting.pop_back();
      if (const auto call = calls_.find(next); call != calls_.end()) {
        if (call->second.kind == DualCallKind::make) return next;
        continue;
      }
      for (const NodeId operand : draft_[next].operands)
        if (is_dual(operand) && seen.insert(operand).second) waiting.push_back(operand);
    }
    return id;
  }

  // The value behind each call of the level, and behind each item of an unpacked one. PyTorch has
  // None as the tangent of a tensor without one; a graph's values are tensors, so it is zeros.
  void find_values() {
    for (const auto& [id, call] : calls_)
      if (call.kind != DualCallKind::unpack) values_[id] = call.value;
    for (const NodeId id : head_) {
      if (draft_[id].op != Op::getitem) continue;
      const auto call = calls_.find(*draft_[id].arguments[0].get<NodeId>());
      if (call == calls_.end()) continue;
      const NodeId dual = call->second.value;
      if (*draft_[id].arguments[1].get<std::int64_t>() == 0) {
        values_[id] = dual;
        continue;
      }
      const Value known = tangent(dual);
      values_[id] = (known.valid() ? known : autodiff::zeros(b_, draft_.type(dual))).id();
      wanted_names_.emplace(values_[id], draft_.node_name(id));
    }
  }

  // The nodes that must be written before this one.
  std::vector<NodeId> needs(NodeId id) const {
    const auto value = values_.find(id);
    return value != values_.end() ? std::vector{value->second} : draft_[id].operands;
  }

  // A stack of its own: a chain of tangents may be as long as the graph.
  NodeId write_with_operands(NodeId root) {
    std::vector<NodeId> stack = {root};
    while (!stack.empty()) {
      const NodeId id = stack.back();
      const std::size_t before = stack.size();
      const std::vector<NodeId> needed = needs(id);
      for (auto it = needed.rbegin(); it != needed.rend() && images_.count(id) == 0; ++it)
        if (images_.count(*it) == 0) stack.push_back(*it);
      if (stack.size() != before) continue;
      if (images_.count(id) == 0) images_[id] = written(id);
      stack.pop_back();
    }
    return images_.at(root);
  }

  NodeId written(NodeId id) {
    if (const auto value = values_.find(id); value != values_.end())
      return laid_out(to_, images_.at(value->second), draft_.type(id));
    const auto image = [this](NodeId of) { return images_.at(of); };
    Origin origin = draft_.origin(id);
    if (draft_.position(id) < head_.size())
      return copy_node(draft_, id, to_, std::move(origin), image);
    const Node& node = draft_[id];
    const auto wanted = wanted_names_.find(id);
    if (wanted == wanted_names_.end())
      return names_.append(to_, node.op, arguments_with(node, image), node.outputs,
                           std::move(origin));
    origin.name = wanted->second;
    return to_.append(node.op, arguments_with(node, image), node.outputs, std::move(origin));
  }

  void write_outputs() {
    GraphSignature signature = from_.signature == nullptr ? GraphSignature() : *from_.signature;
    for (const NodeId id : draft_.results)
      to_.results.push_back(id.valid() ? write_with_operands(id) : id);
    for (const NodeId id : draft_.gradients)
      to_.gradients.push_back(id.valid() ? write_with_operands(id) : id);
    for (std::size_t i = 0; i < draft_.results.size(); ++i) {
      const NodeId id = draft_.results[i];
      if (!id.valid() || !tangent(id).valid()) continue;
      signature.dual_results.push_back({i, to_.results.size(), level_});
      to_.results.push_back(write_with_operands(tangent(id).id()));
    }
    set_signature(to_, std::move(signature));
  }

  const Graph& from_;
  const int level_;
  Graph draft_;
  const std::vector<NodeId> head_;  // the draft's nodes that the file has
  Builder b_;
  std::map<NodeId, DualCall> calls_;            // of this level
  std::vector<Value> tangents_;                 // by position in the draft
  std::map<NodeId, NodeId> values_;             // of the level's calls and their items
  std::map<NodeId, std::string> wanted_names_;  // of tangents that the file names
  std::map<NodeId, NodeId> images_;             // of the draft's nodes
  FreshNames names_;
  Graph to_;
};

// The highest level of the graph's calls; below 0 where there are none.
int highest_level(const Graph& graph) {
  int highest = -1;
  for (const NodeId id : graph.order())
    if (is_dual_call(graph[id])) highest = std::max(highest, dual_call(graph, id)->level);
  return highest;
}

bool is_unpacked_list(const Graph& graph, NodeId id) {
  return id.valid() && is_dual_call(graph[id]) && graph.op(id).multiple_outputs();
}

// The unpacked dual number that a call reads whole, instead of its items; invalid: none.
NodeId read_as_list(const Graph& graph, NodeId id) {
  if (graph[id].op == Op::getitem) return {};
  for (const NodeId operand : graph[id].operands)
    if (is_unpacked_list(graph, operand)) return operand;
  return {};
}

// Faults of the calls alone: their form, their readers, and levels that the graph's signature has
// already.
Diagnostics faults_of_calls(const Graph& graph) {
  Diagnostics faults;
  for (const NodeId id : graph.order()) {
    if (const NodeId list = read_as_list(graph, id); list.valid())
      faults.push_back(node_diagnostic(
          graph, id,
          fmt::format("found {}, which reads primal and tangent %{} as one list; expected getitem "
                      "of each",
                      print_node(graph, id), graph.node_name(list))));
    if (!is_dual_call(graph[id])) continue;
    const auto call = dual_call(graph, id);
    if (!call) {
      faults.insert(faults.end(), call.diagnostics().begin(), call.diagnostics().end());
      continue;
    }
    const auto free = autodiff::free_dual_level(graph, call->level);
    if (!free) faults.push_back(node_diagnostic(graph, id, free.diagnostics().front().message));
  }
  for (const auto* outputs : {&graph.results, &graph.gradients})
    for (const NodeId id : *outputs)
      if (is_unpacked_list(graph, id))
        faults.push_back(node_diagnostic(
            graph, id, "an output is primal and tangent as one list; expected getitem of each"));
  return faults;
}

}  // namespace

Result<Graph> expand_dual_numbers(const Graph& graph) {
  if (Diagnostics wrong = faults_of_calls(graph); !wrong.empty()) return wrong;
  Graph expanded = graph;
  for (int level = highest_level(expanded); level >= 0;) {
    auto next = LevelExpansion(expanded, level).run();
    if (!next) return next;
    expanded = std::move(*next);
    const int rest = highest_level(expanded);
    RECUT_CHECK(rest < level, "a level has calls of dual numbers after its expansion");
    level = rest;
  }
  return expanded;
}

}  // namespace recut
