#include "engine/mesh/rules/validator.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "engine/eval/compare.h"
#include "engine/eval/evaluator.h"
#include "engine/mesh/rules/local_call.h"
#include "engine/mesh/rules/masked_call.h"
#include "engine/mesh/rules/pieces.h"

namespace recut::mesh {
namespace {

std::vector<TensorType> types_like(const Node& node, const Strategy& strategy, AxisRank at) {
  std::vector<TensorType> types;
  for (std::size_t r = 0; r < node.outputs.size(); ++r) {
    const TensorType& type = node.outputs[r];
    types.push_back(!type.exists()
                        ? type
                        : make_type(type.dtype, part_shape(type.shape, strategy.results[r], at)));
  }
  return types;
}

// Shape rules of a rank's call must give the shapes that the strategy says.
std::optional<std::string> wrong_shape(const Operator& op, const std::vector<Argument>& arguments,
                                       const NodePool& pool,
                                       const std::vector<TensorType>& wanted) {
  const Call::TypesOf types_of = [&](NodeId id) { return pool.types_of(id); };
  if (op.is(kDataDependent) || dtype_without_arithmetic(arguments, wanted, types_of) != DType::none)
    return std::nullopt;
  const auto inferred = infer_types(op, arguments, types_of);
  if (!inferred) return format(inferred.diagnostics());
  for (std::size_t r = 0; r < wanted.size(); ++r)
    if (wanted[r].exists() && (*inferred)[r].shape != wanted[r].shape)
      return fmt::format("result {} of a rank is {}, the strategy says {}", r,
                         format_shape((*inferred)[r].shape), format_shape(wanted[r].shape));
  return std::nullopt;
}

// A call alone in a graph. Nodes with several outputs are inputs a piece, read by the call itself.
class CallRun {
 public:
  CallRun(const Operator& op, std::vector<Argument> arguments,
          const std::vector<std::vector<Tensor>>& operands)
      : op_(op), arguments_(std::move(arguments)) {
    std::size_t next = 0;
    for (Argument& argument : arguments_)
      for_each_node(argument, [&](NodeId& id) {
        const Tensor& tensor = operands[next].front();
        TensorType type = make_type(tensor.dtype, tensor.shape);
        id = graph_.add_input(InputKind::input, std::move(type), {fmt::format("x{}", next)});
        inputs_[id] = tensor;
        ++next;
      });
  }

  Result<std::vector<Tensor>> results(const std::vector<TensorType>& types, std::uint64_t seed) {
    if (const auto problem = wrong_shape(op_, arguments_, graph_.pool(), types))
      return error(*problem);
    const NodeId call = graph_.append(op_.op, arguments_, types, {"y"});
    for (std::size_t r = 0; r < types.size(); ++r) {
      if (!types[r].exists()) continue;
      graph_.results.push_back(op_.multiple_outputs() ? output(call, r, types[r]) : call);
    }
    EvaluateOptions options;
    options.seed = seed;
    auto evaluation = evaluate(graph_, inputs_, options);
    if (!evaluation) return evaluation.diagnostics();
    std::vector<Tensor> results(types.size());
    std::size_t next = 0;
    for (std::size_t r = 0; r < types.size(); ++r)
      if (types[r].exists()) results[r] = evaluation->outputs[next++];
    return results;
  }

 private:
  NodeId output(NodeId call, std::size_t r, const TensorType& type) {
    return graph_.append(Op::getitem, {call, static_cast<std::int64_t>(r)}, {type},
                         {fmt::format("y{}", r)});
  }

  const Operator& op_;
  std::vector<Argument> arguments_;
  Graph graph_;
  Inputs inputs_;
};

// True if multiples of the values are finite, too.
bool all_finite(const Tensor& tensor) {
  if (!tensor.exists() || !has_gradient(tensor.dtype)) return true;
  const DType dtype = is_complex(tensor.dtype) ? real_of(tensor.dtype) : tensor.dtype;
  const std::vector<Complex> values = unpack<Complex>(tensor).data;
  return std::all_of(values.begin(), values.end(), [&](Complex value) {
    return std::isfinite(round_to(dtype, 4 * value.real())) &&
           std::isfinite(round_to(dtype, 4 * value.imag()));
  });
}

// The error that parts may have: each is rounded to a dtype of few bits.
double allowed_of(DType dtype) {
  if (!has_gradient(dtype) || is_complex(dtype)) return 0;
  return item_bytes(dtype) == 2 ? 0.05 : (item_bytes(dtype) == 1 ? 0.5 : 0);
}

// True if an operand is a sum or a product of parts.
bool adds_parts(const Strategy& strategy) {
  return std::any_of(strategy.operands.begin(), strategy.operands.end(), [](Placement at) {
    return at.is_partial() && at.reduction != Reduction::min && at.reduction != Reduction::max;
  });
}

class StrategyTrial {
 public:
  StrategyTrial(const ConcreteCall& concrete, const ShardingRule& rule, std::int64_t ranks,
                std::uint64_t seed)
      : concrete_(concrete),
        node_((*concrete.graph)[concrete.node]),
        op_(operator_of(node_.op)),
        rule_(rule),
        ranks_(ranks),
        seed_(seed) {
    for (const TensorType& type : node_.outputs)
      allowed_ = std::max(allowed_, allowed_of(type.dtype));
    for (const std::vector<Tensor>& operand : concrete.operands)
      allowed_ = std::max(allowed_, allowed_of(operand.front().dtype));
  }

  // Results of the whole call, or why there are none.
  Result<std::vector<Tensor>> whole() const {
    CallRun run(op_, node_.arguments, concrete_.operands);
    std::vector<TensorType> types;
    for (const TensorType& type : node_.outputs)
      types.push_back(type.exists() ? make_type(type.dtype, type.shape) : type);
    return run.results(types, seed_);
  }

  // Infinities have no parts that add up.
  bool is_finite(const std::vector<Tensor>& expected) const {
    const auto first_finite = [](const std::vector<Tensor>& operand) {
      return all_finite(operand.front());
    };
    return std::all_of(expected.begin(), expected.end(), all_finite) &&
           std::all_of(concrete_.operands.begin(), concrete_.operands.end(), first_finite);
  }

  std::optional<std::string> problem(const Strategy& strategy,
                                     const std::vector<Tensor>& expected) const {
    std::vector<std::vector<Tensor>> by_rank;
    for (std::int64_t r = 0; r < ranks_; ++r) {
      auto results = rank_results(strategy, {ranks_, r});
      if (!results) return format(results.diagnostics());
      by_rank.push_back(std::move(*results));
    }
    for (std::size_t i = 0; i < expected.size(); ++i) {
      if (!expected[i].exists()) continue;
      if (auto difference = compared(strategy.results[i], by_rank, i, expected[i]))
        return fmt::format("result {}: {}", i, *difference);
    }
    return std::nullopt;
  }

 private:
  std::optional<std::string> compared(Placement placement,
                                      const std::vector<std::vector<Tensor>>& by_rank,
                                      std::size_t i, const Tensor& expected) const {
    std::vector<Tensor> pieces;
    for (const std::vector<Tensor>& results : by_rank) pieces.push_back(results[i]);
    if (placement.is_replicate())
      for (const Tensor& piece : pieces)
        if (const Comparison c = compare(piece, expected); !c.ok) return c.problem;
    const double allowed = placement.is_partial() ? allowed_ : 0;
    const Comparison c = compare(join_pieces(pieces, placement, expected.shape), expected, allowed);
    if (!c.ok) return c.problem;
    if (op_.is(kView | kCopy) && !placement.is_partial() && c.error != 0)
      return "moved elements differ";
    return std::nullopt;
  }

  Result<std::vector<Tensor>> rank_results(const Strategy& strategy, AxisRank at) const {
    std::vector<std::vector<Tensor>> pieces;
    for (std::size_t i = 0; i < concrete_.operands.size(); ++i)
      pieces.push_back({piece_of(concrete_.operands[i].front(), strategy.operands[i], at)});
    if (strategy.factor >= 0 && rule_.by_global_index) return global_results(strategy, pieces, at);
    const Call::TypesOf types_of = [&](NodeId id) { return concrete_.graph->pool().types_of(id); };
    const Call call(op_, node_.arguments, types_of);
    std::vector<Argument> arguments = local_arguments(call, rule_, rank_part(rule_, strategy, at));
    const Factor* factor =
        strategy.factor < 0 ? nullptr : &rule_.factors[static_cast<std::size_t>(strategy.factor)];
    const bool masked = factor != nullptr && factor->kind == FactorKind::masked;
    std::vector<bool> taken;
    if (masked) taken = localize_indices(call, rule_, *factor, arguments, pieces, at);
    CallRun run(op_, std::move(arguments), pieces);
    auto results = run.results(types_like(node_, strategy, at), seed_);
    if (results && masked && !factor->zeroed)
      zero_misses(taken, rule_, factor->indices, true, 0, results->front());
    return results;
  }

  // The rank's part of the whole call on pieces in their places.
  Result<std::vector<Tensor>> global_results(const Strategy& strategy,
                                             std::vector<std::vector<Tensor>> pieces,
                                             AxisRank at) const {
    for (std::size_t i = 0; i < pieces.size(); ++i)
      pieces[i].front() =
          embedded_piece(pieces[i].front(), strategy.operands[i], rule_.operand_shapes[i], at);
    CallRun run(op_, node_.arguments, pieces);
    auto results = run.results(
        types_like(node_, Strategy{{}, std::vector<Placement>(node_.outputs.size()), -1}, at),
        seed_);
    if (!results) return results;
    for (std::size_t r = 0; r < results->size(); ++r)
      if ((*results)[r].exists()) (*results)[r] = piece_of((*results)[r], strategy.results[r], at);
    return results;
  }

  const ConcreteCall& concrete_;
  const Node& node_;
  const Operator& op_;
  const ShardingRule& rule_;
  std::int64_t ranks_;
  std::uint64_t seed_;
  double allowed_ = 0;
};

}  // namespace

Validation validate_strategies(const ConcreteCall& call, const ShardingRule& rule,
                               std::span<const Strategy> tried, std::int64_t ranks,
                               std::uint64_t seed) {
  Validation validation;
  const StrategyTrial trial(call, rule, ranks, seed);
  const auto expected = trial.whole();
  if (!expected) {
    validation.unchecked = format(expected.diagnostics());
    return validation;
  }
  const bool finite = trial.is_finite(*expected);
  for (const Strategy& strategy : tried) {
    if (!finite && adds_parts(strategy)) continue;
    ++validation.tried;
    if (auto problem = trial.problem(strategy, *expected))
      validation.wrong.push_back({strategy, std::move(*problem)});
  }
  return validation;
}

Validation validate_rule(const ConcreteCall& call, std::int64_t ranks, std::uint64_t seed) {
  const ShardingRule rule = sharding_rule(*call.graph, call.node);
  return validate_strategies(call, rule, strategies(rule, ranks), ranks, seed);
}

}  // namespace recut::mesh
