// Removes calls whose value is one of their operands.
//
//   %a = view(%x, [4, 8])                 (x is f32[4, 8])
//   %b = mul.Tensor(%a, 1.0)
//   %c = exp(%b)                   =>     %c = exp(%x)
//
// Needs nothing. Bit-exact. Establishes: no view, copy, conversion or arithmetic call of the table
// below returns its operand unchanged, unless that is observable:
//   - by the type: dtype, shape, layout and device have to be the same, to the stride;
//   - by the value: x + 0.0 is not x where x is -0.0, but x + (-0.0) and x - 0.0 are;
//   - by the storage: the operand of as_strided keeps its own, and an output is neither an argument
//     of the graph nor another output where it was not before (engine/ir/aliases.h).
// The rules are those of Inductor's remove_noop_ops and constant_fold_uniform_value.
#include <algorithm>
#include <cmath>
#include <string_view>

#include "engine/ir/aliases.h"
#include "engine/ir/call.h"
#include "engine/ir/operator_map.h"
#include "engine/passes/rewrite_nodes.h"
#include "engine/rewrite/splat_values.h"

namespace recut::passes {
namespace {

// A call with its operands replaced by their successors, since this pass may have made two branches
// equal or a factor a known 1.
struct Query {
  const Call& call;
  const TensorType& result;
  const SplatAnalysis& splats;

  // The number that a parameter has in every element: a scalar argument or a splat. It is compared
  // unrounded: 1.001 is not 1 even in bf16, since arithmetic rounds only its result.
  std::optional<SplatValue> number(std::string_view parameter) const {
    if (const NodeId id = call.node(parameter); id.valid()) {
      const SplatValue* value = splats.of(id);
      if (value == nullptr) return std::nullopt;
      return is_floating(value->dtype) ? in_result(value->real, 0, true)
                                       : in_result(0, value->integer, false);
    }
    const Scalar s = call.scalar(parameter);
    return in_result(s.real, s.integer, s.category == DType::f64);
  }

 private:
  // An integer operand of a floating result converts: integer zero becomes 0.0, not -0.0.
  std::optional<SplatValue> in_result(double real, std::int64_t integer, bool is_real) const {
    if (is_floating(result.dtype))
      return SplatValue{result.dtype, is_real ? real : static_cast<double>(integer), 0};
    if (is_real) return std::nullopt;
    return SplatValue{result.dtype, 0, integer};
  }
};

// Returns the name of the parameter that the call equals, if any.
using FindSurvivor = std::optional<std::string_view> (*)(const Query&);
using Name = std::optional<std::string_view>;

bool is_zero_of_sign(const std::optional<SplatValue>& value, bool negative) {
  if (!value || !value->is(0)) return false;
  return !is_floating(value->dtype) || std::signbit(value->real) == negative;
}

bool alpha_is_one(const Query& q) { return q.call.scalar("alpha").real == 1; }

// For most views, copies and conversions the type alone decides, which is checked for all rules.
Name operand(const Query& q) { return q.call.op().parameters.front().name; }

// Dimensions of length 1 may be permuted freely.
Name unpermuted(const Query& q) {
  const TensorType& in = q.call.tensor("self");
  std::vector<std::int64_t> order;
  for (const std::int64_t d : q.call.integers("dims")) {
    const std::int64_t from = d < 0 ? d + in.rank() : d;
    if (in.shape[static_cast<std::size_t>(from)] != 1) order.push_back(from);
  }
  return std::is_sorted(order.begin(), order.end()) ? Name("self") : std::nullopt;
}

Name plus_nothing(const Query& q) {
  if (!alpha_is_one(q)) return std::nullopt;
  if (is_zero_of_sign(q.number("other"), true)) return "self";
  if (q.call.is_tensor("other") && is_zero_of_sign(q.number("self"), true)) return "other";
  return std::nullopt;
}

Name minus_nothing(const Query& q) {
  return alpha_is_one(q) && is_zero_of_sign(q.number("other"), false) ? Name("self") : std::nullopt;
}

Name times_one(const Query& q) {
  if (const auto other = q.number("other"); other && other->is(1)) return "self";
  if (const auto factor = q.number("self"); factor && factor->is(1) && q.call.is_tensor("other"))
    return "other";
  return std::nullopt;
}

Name over_one(const Query& q) {
  const auto other = q.number("other");
  if (!is_floating(q.result.dtype) || !other || !other->is(1)) return std::nullopt;
  const bool rounds = q.call.op().parameter("rounding_mode") && q.call.given("rounding_mode");
  return rounds ? std::nullopt : Name("self");
}

Name to_the_first(const Query& q) {
  if (!q.call.is_tensor("self") || q.call.is_tensor("exponent")) return std::nullopt;
  return q.call.scalar("exponent").real == 1 ? Name("self") : std::nullopt;
}

Name equal_branches(const Query& q) {
  return q.call.node("self") == q.call.node("other") ? Name("self") : std::nullopt;
}

Name no_padding(const Query& q) {
  const auto pad = q.call.integers("pad");
  return std::all_of(pad.begin(), pad.end(), [](std::int64_t p) { return p == 0; }) ? Name("self")
                                                                                    : std::nullopt;
}

Name source(const Query&) { return "src"; }

struct NoopRule {
  std::string_view packet;
  std::string_view rule;
  FindSurvivor survivor;
};

constexpr NoopRule kNoopRules[] = {
    {"view", "view to its own shape", operand},
    {"expand", "expand to its own shape", operand},
    {"squeeze", "squeeze of nothing", operand},
    {"slice", "slice of everything", operand},
    {"permute", "permute of nothing", unpermuted},
    {"alias", "alias", operand},
    {"detach", "alias", operand},
    {"clone", "copy", operand},
    {"lift_fresh_copy", "copy", operand},
    {"copy", "copy", source},
    {"slice_scatter", "slice_scatter of everything", source},
    {"repeat", "repeat once", operand},
    {"constant_pad_nd", "padding by nothing", no_padding},
    {"prims.convert_element_type", "conversion to its own dtype", operand},
    {"_to_copy", "conversion to its own dtype", operand},
    {"add", "add of zero", plus_nothing},
    {"sub", "subtraction of zero", minus_nothing},
    {"mul", "multiplication by one", times_one},
    {"div", "division by one", over_one},
    {"pow", "first power", to_the_first},
    {"where", "equal branches", equal_branches},
};

const NoopRule* noop_rule_of(Op op) {
  static const OperatorMap<const NoopRule*> kByOperator = [] {
    OperatorMap<const NoopRule*> rules;
    for (const Operator& o : all_operators()) {
      const auto* rule = std::find_if(
          std::begin(kNoopRules), std::end(kNoopRules),
          [&](const NoopRule& r) { return r.packet == o.packet && !o.multiple_outputs(); });
      if (rule != std::end(kNoopRules)) rules.set(o.op, rule);
    }
    return rules;
  }();
  return kByOperator[op];
}

class NoopRemoval {
 public:
  explicit NoopRemoval(const Graph& from)
      : from_(from), splats_(from.pool()), pinned_(from), outputs_(from) {}

  PassResult run() {
    return rewrite_nodes(
        from_,
        [&](Graph& to, NodeId old, const std::vector<Argument>& arguments) {
          return try_rewrite(to, old, arguments);
        },
        [&](NodeId old, const Graph& to, NodeId successor) {
          splats_.analyze(successor);
          outputs_.record(old, to, successor);
        });
  }

 private:
  std::optional<Rewrite> try_rewrite(const Graph& to, NodeId old,
                                     const std::vector<Argument>& arguments) const {
    const NoopRule* rule = noop_rule_of(from_[old].op);
    if (rule == nullptr) return std::nullopt;
    const auto index = survivor(*rule, from_.op(old), from_.type(old), arguments);
    if (!index) return std::nullopt;
    const auto* successor = arguments[*index].get<NodeId>();
    if (successor == nullptr || !may_become(old, to, *successor)) return std::nullopt;
    return Rewrite{rule->rule, *successor};
  }

  std::optional<std::size_t> survivor(const NoopRule& rule, const Operator& op,
                                      const TensorType& result,
                                      const std::vector<Argument>& arguments) const {
    const Call::TypesOf types_of = [&](NodeId id) { return from_.pool().types_of(id); };
    const Call call(op, arguments, types_of);
    const Name name = rule.survivor(Query{call, result, splats_});
    return name ? op.parameter(*name) : std::nullopt;
  }

  bool may_become(NodeId old, const Graph& to, NodeId successor) const {
    if (to[successor].outputs != from_[old].outputs) return false;
    if (!from_.op(old).is(kView) && pinned_.contains(old)) return false;
    return outputs_.may_become(old, to, successor);
  }

  const Graph& from_;
  SplatAnalysis splats_;
  PinnedStorages pinned_;
  OutputStorages outputs_;
};

}  // namespace

PassResult noop_removal(const Graph& graph) { return NoopRemoval(graph).run(); }

}  // namespace recut::passes
