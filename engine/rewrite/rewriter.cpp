#include "engine/rewrite/rewriter.h"

#include <algorithm>
#include <chrono>
#include <functional>
#include <memory>
#include <unordered_map>
#include <unordered_set>

#include "engine/ir/aliases.h"
#include "engine/ir/data_flow.h"
#include "engine/ir/external_operator.h"
#include "engine/ir/fresh_names.h"
#include "engine/ir/operator_map.h"
#include "engine/ir/rebuild.h"
#include "engine/rewrite/external_patterns.h"
#include "engine/rewrite/matcher.h"

namespace recut {
namespace {

struct Match {
  const Rule* rule;
  std::vector<NodeId> results;   // before replacement
  std::vector<NodeId> external;  // external calls among the matched ones
  PlannedReplacement planned;
  std::vector<NodeId> made;                    // by planned call: its node, once created
  std::vector<NodeId> after;                   // the replacements of the results
  std::vector<ChangeDescription::Part> shown;  // new and existing nodes
};

// Rules by the operator of their anchor, in the order of the set.
using RuleIndex = std::unordered_map<Op, std::vector<const Rule*>>;

// The operators of a graph's calls.
class OperatorsOf {
 public:
  explicit OperatorsOf(const Graph& graph) {
    for (const NodeId id : graph.order())
      if (const Op op = graph[id].op; !is_external(op))
        known_.set(op, true);
      else if (std::find(external_.begin(), external_.end(), op) == external_.end())
        external_.push_back(op);
  }

  bool has(const Operator& op) const {
    return is_external(op.op) ? !calls_of(op).empty() : known_[op.op];
  }

  // The operators whose calls an anchor of this operator matches.
  std::vector<Op> calls_of(const Operator& op) const {
    if (!is_external(op.op)) return {op.op};
    std::vector<Op> same;
    for (const Op other : external_)
      if (have_same_form(op, operator_of(other))) same.push_back(other);
    return same;
  }

 private:
  OperatorMap<bool> known_;
  std::vector<Op> external_;
};

// Keeps only rules all of whose operators the graph has. Most rules drop out, which matters because
// a row with many @optional calls is hundreds of rules.
RuleIndex index_of(const RuleSet& rules, const Graph& graph) {
  const OperatorsOf operators(graph);
  const auto may_stand = [&](const PatternNode& node) {
    return node.kind != PatternNode::Kind::call || operators.has(*node.op);
  };
  RuleIndex index;
  for (const auto& [anchor, rule_indices] : rules.by_anchor) {
    const Operator& op = operator_of(anchor);
    if (!operators.has(op)) continue;
    const std::vector<Op> anchors = operators.calls_of(op);
    for (const std::size_t rule_index : rule_indices) {
      const Rule& rule = rules.rules[rule_index];
      if (!std::all_of(rule.pattern.begin(), rule.pattern.end(), may_stand)) continue;
      for (const Op matched : anchors) index[matched].push_back(&rule);
    }
  }
  // Several rows of the set may have one form.
  for (auto& [anchor, found] : index)
    if (is_external(anchor)) std::sort(found.begin(), found.end(), std::less<>());
  return index;
}

// Finding
// ------------------------------------------------------------------------------------------------

class Finder {
 public:
  Finder(const Graph& graph, const RuleIndex& index, std::vector<RuleStatistics>& statistics)
      : graph_(graph), index_(index), statistics_(statistics), subject_(graph) {
    for (const NodeId id : effect_calls(graph)) effects_.insert(id);
  }

  std::vector<Match> run() {
    for (const NodeId id : graph_.order()) {
      const auto rules = index_.find(graph_[id].op);
      if (rules == index_.end() || !subject_.alive(id)) continue;
      for (const Rule* rule : rules->second)
        if (try_rule(*rule, id)) break;
    }
    return std::move(matches_);
  }

 private:
  bool try_rule(const Rule& rule, NodeId anchor) {
    RuleStatistics& statistics = statistics_[rule.row];
    ++statistics.tries;
    const auto start = std::chrono::steady_clock::now();
    const auto bindings = match(rule, subject_, anchor);
    const bool taken = bindings && take(rule, *bindings, statistics);
    const std::chrono::duration<double, std::milli> time = std::chrono::steady_clock::now() - start;
    statistics.milliseconds += time.count();
    return taken;
  }

  bool take(const Rule& rule, const Bindings& bindings, RuleStatistics& statistics) {
    if (overlaps(rule, bindings)) return false;
    auto planned = plan_replacement(rule, subject_, bindings);
    if (!planned) {
      if (statistics.untyped++ == 0)
        statistics.untyped_reason = planned.diagnostics().front().message;
      return false;
    }
    Match found{&rule, {}, {}, std::move(*planned), {}, {}, {}};
    for (const std::size_t result : rule.results) found.results.push_back(bindings.nodes[result]);
    for (std::size_t i = 0; i < rule.pattern.size(); ++i)
      if (rule.pattern[i].kind == PatternNode::Kind::call && is_external(rule.pattern[i].op->op))
        found.external.push_back(bindings.nodes[i]);
    if (!in_order(found) || changes_nothing(found)) return false;
    replaced_.insert(found.results.begin(), found.results.end());
    claim(rule, bindings);
    matches_.push_back(std::move(found));
    return true;
  }

  // Rejects a match that reads a call replaced in this sweep, or replaces a call that another match
  // reads. The next sweep tries it again. A call that runs for its effects alone is no value.
  bool overlaps(const Rule& rule, const Bindings& bindings) const {
    for (std::size_t i = 0; i < rule.pattern.size(); ++i)
      if (rule.pattern[i].kind == PatternNode::Kind::call &&
          (replaced_.count(bindings.nodes[i]) != 0 || effects_.count(bindings.nodes[i]) != 0))
        return true;
    for (const std::size_t result : rule.results) {
      const NodeId id = bindings.nodes[result];
      if (claimed_.count(id) != 0 || subject_.pinned(id)) return true;
    }
    return false;
  }

  void claim(const Rule& rule, const Bindings& bindings) {
    for (std::size_t i = 0; i < rule.pattern.size(); ++i)
      if (rule.pattern[i].kind == PatternNode::Kind::call) claimed_.insert(bindings.nodes[i]);
  }

  // A replacement is created at its result's position, so that all its operands must come earlier.
  // This keeps the new graph acyclic.
  bool in_order(const Match& found) const {
    for (std::size_t i = 0; i < found.results.size(); ++i)
      if (last_read(found.planned, found.planned.results[i]) > graph_.position(found.results[i]))
        return false;
    return true;
  }

  std::size_t last_read(const PlannedReplacement& planned, NodeId id) const {
    if (id.index < kFirstPlanned) return graph_.position(id);
    std::size_t last = 0;
    for (const Argument& argument : planned.calls[id.index - kFirstPlanned].arguments)
      for_each_node(argument,
                    [&](NodeId operand) { last = std::max(last, last_read(planned, operand)); });
    return last;
  }

  // A replacement by the same calls, such as a + b for b + a if both are one value.
  bool changes_nothing(const Match& found) const {
    for (std::size_t i = 0; i < found.results.size(); ++i) {
      const NodeId after = found.planned.results[i];
      if (after == found.results[i]) continue;
      if (after.index < kFirstPlanned) return false;
      const PlannedReplacement::Call& call = found.planned.calls[after.index - kFirstPlanned];
      const Node& before = graph_[found.results[i]];
      if (call.op->op != before.op || call.arguments != before.arguments) return false;
    }
    return true;
  }

  const Graph& graph_;
  const RuleIndex& index_;
  std::vector<RuleStatistics>& statistics_;
  Subject subject_;
  std::vector<Match> matches_;
  std::unordered_set<NodeId> replaced_, claimed_, effects_;  // looked up only
};

// Replacing
// ------------------------------------------------------------------------------------------------

class Replacer {
 public:
  Replacer(const Graph& from, std::vector<Match>& matches)
      : from_(from), matches_(matches), outputs_(from), names_(from), images_(from.order().size()) {
    for (Match& match : matches_) {
      match.made.resize(match.planned.calls.size());
      match.after.resize(match.results.size());
      for (std::size_t i = 0; i < match.results.size(); ++i)
        slot_of_.emplace(match.results[i], ResultSlot{&match, i});
    }
  }

  Graph run() {
    return rebuild(from_, [&](Graph& to, NodeId old, const std::vector<Argument>& arguments) {
      const auto slot = slot_of_.find(old);
      NodeId image;
      if (slot != slot_of_.end())
        image = replace(to, *slot->second.match, slot->second.result, old, arguments);
      if (!image.valid()) image = keep_node(from_, to, old, arguments);
      images_[from_.position(old)] = image;
      outputs_.record(old, to, image);
      return image;
    });
  }

  // The replacement of a node. Inputs and nodes of other graphs are their own.
  NodeId image(NodeId old) const {
    const NodeId image = from_.contains(old) ? images_[from_.position(old)] : NodeId();
    return image.valid() ? image : old;
  }

 private:
  struct ResultSlot {
    Match* match;
    std::size_t result;
  };

  // The replacement of a result, or an invalid id if the result must stay: an output must not
  // become an input of the graph or another output.
  NodeId replace(Graph& to, Match& match, std::size_t result, NodeId old,
                 const std::vector<Argument>& arguments) {
    const NodeId planned = match.planned.results[result];
    const NodeId base = storage_base(match.planned, planned);
    const bool view = is_view(old);
    if (base.index < kFirstPlanned && (planned == base || !view) &&
        !outputs_.may_become(old, to, image(base)))
      return NodeId();
    const NodeId after = make(to, match, planned, old);
    if (to[after].op == from_[old].op && to[after].arguments == arguments) return after;
    match.after[result] = after;
    if (planned.index < kFirstPlanned) match.shown.push_back({after, false});
    return after;
  }

  // The value whose storage a planned value is a view of; the planned value itself if it owns one.
  NodeId storage_base(const PlannedReplacement& planned, NodeId id) const {
    while (id.index >= kFirstPlanned) {
      const PlannedReplacement::Call& call = planned.calls[id.index - kFirstPlanned];
      const auto* of = call.op->is(kView) ? call.arguments.front().get<NodeId>() : nullptr;
      if (of == nullptr || (call.op->op == Op::getitem && !is_view(planned, *of))) return id;
      id = *of;
    }
    return id;
  }

  // One value of an operator that has several is a view where the operator's values are.
  bool is_view(NodeId old) const {
    if (from_[old].op == Op::getitem) old = from_[old].operands.front();
    return from_.op(old).is(kView);
  }

  bool is_view(const PlannedReplacement& planned, NodeId id) const {
    return id.index < kFirstPlanned ? from_.op(id).is(kView)
                                    : planned.calls[id.index - kFirstPlanned].op->is(kView);
  }

  // The node of a planned value in the new graph, created on first use.
  NodeId make(Graph& to, Match& match, NodeId planned, NodeId old) {
    if (planned.index < kFirstPlanned) return image(planned);
    NodeId& made = match.made[planned.index - kFirstPlanned];
    if (made.valid()) return made;
    PlannedReplacement::Call& call = match.planned.calls[planned.index - kFirstPlanned];
    std::vector<Argument> arguments = call.arguments;
    for (Argument& argument : arguments)
      for_each_node(argument, [&](NodeId& operand) { operand = make(to, match, operand, old); });
    const auto& results = match.planned.results;
    const auto at = std::find(results.begin(), results.end(), planned);
    if (at == results.end()) {
      made = names_.append(to, call.op->op, std::move(arguments), call.types, from_.origin(old));
    } else {
      const NodeId result = match.results[static_cast<std::size_t>(at - results.begin())];
      made = to.append(call.op->op, std::move(arguments), call.types, from_.origin(result));
    }
    match.shown.push_back({made, true});
    return made;
  }

  const Graph& from_;
  std::vector<Match>& matches_;
  OutputStorages outputs_;
  FreshNames names_;
  std::unordered_map<NodeId, ResultSlot> slot_of_;  // looked up only
  std::vector<NodeId> images_;  // by position: the replacement, invalid for inputs
};

// Sweeps
// ------------------------------------------------------------------------------------------------

class Rewriting {
 public:
  Rewriting(const Graph& graph, const RuleSet& rules)
      : input_(graph), rules_(rules), result_{graph.empty_like(), false, {}, {}, true} {
    for (const RuleRow& row : rules.rows) result_.statistics.push_back({row.name, 0, 0, 0, 0, {}});
  }

  Rewritten run() {
    rewrite();
    result_.graph = result_.changed ? graph() : input_;
    return std::move(result_);
  }

 private:
  void rewrite() {
    if (!external_names(rules_).empty()) begin_with_all_items();
    // A rule that matches its own result may double the graph with every sweep.
    const std::size_t max_nodes = 4 * input_.order().size() + 10000;
    for (int sweep = 0; sweep < kMaxRuleSweeps && graph().order().size() < max_nodes; ++sweep)
      if (!step()) return;
    result_.converged = false;
  }

  // The graph after the last sweep. The input graph is copied only if a rule matches.
  const Graph& graph() const { return stage_ != nullptr ? *stage_ : input_; }

  void begin_with_all_items() {
    stage_ = std::make_shared<const Graph>(with_all_items(input_));
    for (const NodeId id : stage_->order())
      if (!input_.contains(id)) came_from_.emplace(id, (*stage_)[id].operands.front());
  }

  Graph replace(Replacer& replacer, const std::vector<Match>& matches) const {
    Graph to = replacer.run();
    std::unordered_set<NodeId> external;
    for (const Match& match : matches)
      for (const NodeId id : match.external)
        if (const NodeId image = replacer.image(id);
            to.contains(image) && is_external(to[image].op))
          external.insert(image);
    return external.empty() ? to : without_replaced_calls(to, external);
  }

  bool step() {
    const RuleIndex index = index_of(rules_, graph());
    if (index.empty()) return false;
    std::vector<Match> matches = Finder(graph(), index, result_.statistics).run();
    if (matches.empty()) return false;
    const auto before = stage_ != nullptr ? stage_ : std::make_shared<const Graph>(input_);
    Replacer replacer(*before, matches);
    stage_ = std::make_shared<const Graph>(replace(replacer, matches));
    for (RuleHit& hit : result_.hits)
      for (NodeId& id : hit.after) id = replacer.image(id);
    bool changed = false;
    for (Match& match : matches) changed = log(match, before) || changed;
    for (const NodeId id : before->order()) {
      const NodeId image = replacer.image(id);
      if (image != id && !input_.contains(image)) came_from_.emplace(image, came_from(id));
    }
    result_.changed = result_.changed || changed;
    return changed;
  }

  bool log(Match& match, const std::shared_ptr<const Graph>& before) {
    RuleHit hit{rules_.name_of(*match.rule), NodeId(), {}, {}};
    std::vector<NodeId> old_nodes;
    for (std::size_t i = 0; i < match.results.size(); ++i) {
      if (!match.after[i].valid()) continue;
      if (!hit.before.valid()) hit.before = came_from(match.results[i]);
      hit.after.push_back(match.after[i]);
      old_nodes.push_back(match.results[i]);
    }
    if (hit.after.empty()) return false;
    std::sort(old_nodes.begin(), old_nodes.end(),
              [&](NodeId a, NodeId b) { return before->position(a) < before->position(b); });
    hit.description =
        ChangeDescription(before, std::move(old_nodes), stage_, std::move(match.shown));
    ++result_.statistics[match.rule->row].hits;
    result_.hits.push_back(std::move(hit));
    return true;
  }

  // The node of the input graph that this node replaces.
  NodeId came_from(NodeId id) const {
    const auto it = came_from_.find(id);
    return it == came_from_.end() ? id : it->second;
  }

  const Graph& input_;
  const RuleSet& rules_;
  Rewritten result_;
  std::shared_ptr<const Graph> stage_;            // after the last sweep; null before the first
  std::unordered_map<NodeId, NodeId> came_from_;  // looked up only
};

}  // namespace

Rewritten apply_rules(const Graph& graph, const RuleSet& rules) {
  return Rewriting(graph, rules).run();
}

}  // namespace recut
