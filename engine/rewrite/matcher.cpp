// Matches a rule's pattern below an anchor, and types its replacement.
//
// Backtracking search over goals (pattern node, graph node): meeting a goal binds the node and adds
// a goal for each operand. Operands are unique, so only commutative calls and steps to users
// (MatchPlan) branch. undo() returns to a mark by popping stacks of bindings, without copies.
// Conditions come last, when everything is bound.
//
// The replacement is typed before anything is built, on ids beyond the graph's, so a rule that
// doesn't fit leaves no trace. Cost: linear in the pattern without branches; a search ends after
// kMaxMatchSteps.
#include "engine/rewrite/matcher.h"

#include <fmt/core.h>

#include <algorithm>

#include "engine/ir/external_operator.h"

namespace recut {
namespace {

// Steps of one search; a pattern of 60 nodes takes about a hundred.
constexpr int kMaxMatchSteps = 20000;

class Matcher {
 public:
  Matcher(const Rule& rule, Subject& subject)
      : rule_(rule), subject_(subject), graph_(subject.graph()) {
    bindings_.nodes.resize(rule.pattern.size());
    bindings_.variables.resize(rule.variables.size());
  }

  std::optional<Bindings> run(NodeId anchor) {
    goals_.push_back({rule_.plan.anchor, anchor});
    if (!solve(0)) return std::nullopt;
    return std::move(bindings_);
  }

 private:
  struct Goal {
    std::size_t node;
    NodeId id;
  };

  // Sizes of the binding stacks, to which undo() returns.
  struct Mark {
    std::size_t nodes, variables, goals;
  };
  Mark mark() const { return {bound_nodes_.size(), bound_variables_.size(), goals_.size()}; }
  void undo(const Mark& to) {
    for (; bound_nodes_.size() > to.nodes; bound_nodes_.pop_back())
      bindings_.nodes[bound_nodes_.back()] = NodeId();
    for (; bound_variables_.size() > to.variables; bound_variables_.pop_back())
      bindings_.variables[bound_variables_.back()] = Argument();
    goals_.resize(to.goals);
  }

  // Meets the goals that are left, from `next` on, then the plan's steps, then the conditions.
  bool solve(std::size_t next) {
    if (--steps_left_ < 0) return false;
    if (next == goals_.size()) return next_step(next);
    const Goal goal = goals_[next];
    NodeId& bound = bindings_.nodes[goal.node];
    if (bound.valid()) return bound == goal.id && solve(next + 1);
    const PatternNode& node = rule_.pattern[goal.node];
    if (!kind_fits(node, goal.id)) return false;
    const Mark before = mark();
    bound = goal.id;
    bound_nodes_.push_back(goal.node);
    if (type_fits(node.type, goal.id)) {
      const Mark typed = mark();
      if (arguments_fit(node, goal.id, false) && solve(next + 1)) return true;
      undo(typed);
      if (node.commutative && arguments_fit(node, goal.id, true) && solve(next + 1)) return true;
    }
    undo(before);
    return false;
  }

  bool next_step(std::size_t next) {
    for (const MatchPlan::Step& step : rule_.plan.steps)
      if (!bindings_.nodes[step.node].valid()) return try_users(step, next);
    return complete();
  }

  bool try_users(const MatchPlan::Step& step, std::size_t next) {
    const PatternNode& node = rule_.pattern[step.node];
    for (const NodeId user : subject_.users(bindings_.nodes[step.via])) {
      if (!kind_fits(node, user)) continue;
      const Mark before = mark();
      goals_.push_back({step.node, user});
      if (solve(next)) return true;
      undo(before);
    }
    return false;
  }

  bool kind_fits(const PatternNode& node, NodeId id) const {
    switch (node.kind) {
      case PatternNode::Kind::any:
        return true;
      case PatternNode::Kind::constant:
        return graph_[id].op == Op::constant;
      case PatternNode::Kind::call:
        return is_call_of(*node.op, graph_[id].op) && (!node.users || users_of(id) == *node.users);
    }
    return false;
  }

  static bool is_call_of(const Operator& expected, Op found) {
    if (expected.op == found || !is_external(expected.op) || !is_external(found))
      return expected.op == found;
    return have_same_form(expected, operator_of(found));
  }

  std::int64_t users_of(NodeId id) const {
    return static_cast<std::int64_t>(subject_.users(id).size()) + subject_.outputs(id);
  }

  // Types
  // ----------------------------------------------------------------------------------------------

  bool type_fits(const TypePattern& pattern, NodeId id) {
    if (pattern.kind == TypePattern::Kind::any && !pattern.dims) return true;
    if (graph_[id].outputs.size() != 1) return false;
    const TensorType& type = graph_.type(id);
    return dtype_fits(pattern, type.dtype) &&
           (!pattern.dims || dims_fit(*pattern.dims, type.shape));
  }

  bool dtype_fits(const TypePattern& pattern, DType dtype) {
    switch (pattern.kind) {
      case TypePattern::Kind::any:
        return true;
      case TypePattern::Kind::floating:
        return is_floating(dtype);
      case TypePattern::Kind::integral:
        return is_integral(dtype);
      case TypePattern::Kind::exact:
        return dtype == pattern.dtype;
      case TypePattern::Kind::variable:
        return bind(pattern.variable, dtype);
    }
    return false;
  }

  bool dims_fit(const std::vector<TypePattern::Dimension>& dims, const Shape& shape) {
    if (dims.size() != shape.size()) return false;
    for (std::size_t i = 0; i < dims.size(); ++i) {
      if (dims[i].length && *dims[i].length != shape[i]) return false;
      if (dims[i].variable && !bind(*dims[i].variable, shape[i])) return false;
    }
    return true;
  }

  bool bind(std::size_t variable, Argument value) {
    Argument& bound = bindings_.variables[variable];
    if (!bound.absent()) return bound == value;
    bound = std::move(value);
    bound_variables_.push_back(variable);
    return true;
  }

  // Arguments
  // ----------------------------------------------------------------------------------------------

  // Adds a goal for each operand. `swapped`: the first two arguments change places.
  bool arguments_fit(const PatternNode& node, NodeId id, bool swapped) {
    if (node.kind != PatternNode::Kind::call) return true;
    const auto& arguments = graph_[id].arguments;
    for (std::size_t i = 0; i < arguments.size(); ++i) {
      const std::size_t at = argument_of(node, id, swapped && i < 2 ? 1 - i : i);
      const Parameter& parameter = node.op->parameters[at];
      const Argument& given = arguments[at].absent() ? parameter.default_value : arguments[at];
      if (!argument_fits(node.arguments[i], given, *node.op, i)) return false;
    }
    return true;
  }

  // The call's argument of a parameter of the pattern's operator. External calls of one form may
  // have their keywords in another order.
  std::size_t argument_of(const PatternNode& node, NodeId id, std::size_t parameter) const {
    if (graph_[id].op == node.op->op) return parameter;
    return graph_.op(id).parameter(node.op->parameters[parameter].name).value();
  }

  bool argument_fits(const PatternArgument& pattern, const Argument& given, const Operator& op,
                     std::size_t parameter) {
    switch (pattern.kind) {
      case PatternArgument::Kind::absent:
        return given == op.parameters[parameter].default_value || is_draw(op, parameter);
      case PatternArgument::Kind::literal:
        return given == pattern.literal;
      case PatternArgument::Kind::variable:
        return is_literal(given) && bind(pattern.index, given);
      case PatternArgument::Kind::ignored:
        return true;
      case PatternArgument::Kind::value: {
        const auto* operand = given.get<NodeId>();
        if (operand != nullptr) goals_.push_back({pattern.index, *operand});
        return operand != nullptr;
      }
      case PatternArgument::Kind::list:
        return list_fits(pattern.items, given, op, parameter);
    }
    return false;
  }

  bool list_fits(const std::vector<PatternArgument>& items, const Argument& given,
                 const Operator& op, std::size_t parameter) {
    const auto* list = given.get<ArgumentList>();
    if (list == nullptr || list->size() != items.size()) return false;
    for (std::size_t i = 0; i < items.size(); ++i)
      if (!argument_fits(items[i], (*list)[i], op, parameter)) return false;
    return true;
  }

  // A pattern can't name a random operator's draw.
  static bool is_draw(const Operator& op, std::size_t parameter) {
    return op.is(kImpure) && op.parameters[parameter].name == "draw";
  }

  static bool is_literal(const Argument& argument) {
    bool literal = !argument.absent();
    for_each_node(argument, [&](NodeId) { literal = false; });
    return literal;
  }

  // Conditions
  // ----------------------------------------------------------------------------------------------

  bool complete() {
    if (!results_differ() || (rule_.closed && !is_closed())) return false;
    const Mark before = mark();
    const Scope scope{bindings_.nodes, bindings_.variables, subject_.types_of(),
                      subject_.splat_of()};
    for (const Condition& condition : rule_.conditions) {
      if (!condition.defines) {
        if (holds(condition.expression, scope)) continue;
      } else if (auto value = evaluate(condition.expression, scope)) {
        if (bind(*condition.defines, std::move(*value))) continue;
      }
      undo(before);
      return false;
    }
    return true;
  }

  bool results_differ() const {
    std::vector<NodeId> results;
    for (const std::size_t result : rule_.results) results.push_back(bindings_.nodes[result]);
    std::sort(results.begin(), results.end());
    return std::adjacent_find(results.begin(), results.end()) == results.end();
  }

  // Calls under the results have no users outside the match.
  bool is_closed() const {
    std::vector<NodeId> own;
    for (std::size_t i = 0; i < rule_.pattern.size(); ++i)
      if (rule_.pattern[i].kind == PatternNode::Kind::call) own.push_back(bindings_.nodes[i]);
    std::sort(own.begin(), own.end());
    for (std::size_t i = 0; i < rule_.pattern.size(); ++i) {
      const bool result =
          std::find(rule_.results.begin(), rule_.results.end(), i) != rule_.results.end();
      if (result || rule_.pattern[i].kind != PatternNode::Kind::call) continue;
      const NodeId id = bindings_.nodes[i];
      const auto users = subject_.users(id);
      const bool inside = std::all_of(users.begin(), users.end(), [&](NodeId user) {
        return std::binary_search(own.begin(), own.end(), user);
      });
      if (!inside || subject_.outputs(id) != 0) return false;
    }
    return true;
  }

  const Rule& rule_;
  Subject& subject_;
  const Graph& graph_;
  Bindings bindings_;
  std::vector<Goal> goals_;
  std::vector<std::size_t> bound_nodes_, bound_variables_;  // in the order of binding
  int steps_left_ = kMaxMatchSteps;
};

// Types the calls of a replacement, one after another.
class Planner {
 public:
  Planner(const Rule& rule, Subject& subject, const Bindings& bindings)
      : rule_(rule), subject_(subject), values_(bindings.nodes), variables_(bindings.variables) {}

  Result<PlannedReplacement> run() {
    for (const ReplacementNode& node : rule_.replacement) {
      auto call = plan(node);
      if (!call) return error(fmt::format("%{}: {}", node.name, call.diagnostics()[0].message));
      values_.push_back(NodeId(kFirstPlanned + planned_.calls.size()));
      planned_.calls.push_back(std::move(*call));
    }
    for (std::size_t i = 0; i < rule_.results.size(); ++i) {
      planned_.results.push_back(values_[rule_.replacement_results[i]]);
      const auto before = types_of(values_[rule_.results[i]]);
      const auto after = types_of(planned_.results.back());
      if (!std::equal(before.begin(), before.end(), after.begin(), after.end()))
        return error(fmt::format("result {} would become {} where it is {}", i + 1,
                                 format(after.front()), format(before.front())));
    }
    return std::move(planned_);
  }

 private:
  std::span<const TensorType> types_of(NodeId id) const {
    if (id.index >= kFirstPlanned) return planned_.calls[id.index - kFirstPlanned].types;
    return subject_.graph().pool().types_of(id);
  }

  Result<PlannedReplacement::Call> plan(const ReplacementNode& node) {
    const Call::TypesOf types = [&](NodeId id) { return types_of(id); };
    const std::function<const SplatValue*(NodeId)> splat = [&](NodeId id) {
      return id.index >= kFirstPlanned ? nullptr : subject_.splat(id);
    };
    const Scope scope{values_, variables_, types, splat};
    PlannedReplacement::Call call{node.op, {}, {}};
    for (std::size_t i = 0; i < node.arguments.size(); ++i) {
      auto value = evaluate(node.arguments[i], scope);
      if (!value)
        return error(fmt::format("its argument '{}' is undefined", node.op->parameters[i].name));
      call.arguments.push_back(std::move(*value));
    }
    auto inferred = infer_types(*node.op, call.arguments, types);
    if (!inferred) return inferred.diagnostics();
    call.types = std::move(*inferred);
    return call;
  }

  const Rule& rule_;
  Subject& subject_;
  std::vector<NodeId> values_;
  const std::vector<Argument>& variables_;
  PlannedReplacement planned_;
};

}  // namespace

std::optional<Bindings> match(const Rule& rule, Subject& subject, NodeId anchor) {
  return Matcher(rule, subject).run(anchor);
}

Result<PlannedReplacement> plan_replacement(const Rule& rule, Subject& subject,
                                            const Bindings& bindings) {
  return Planner(rule, subject, bindings).run();
}

}  // namespace recut
