#include "engine/partition/torch/bans.h"

#include <functional>
#include <queue>

namespace recut::torch {
namespace {

using Position = Analysis::Position;

// The longest chain in forward order before it is cut: PyTorch's "arbitrary choice".
constexpr std::uint32_t kMaxFusibleChain = 100;

class BanFinder {
 public:
  BanFinder(const Analysis& analysis, const CutOptions& options, const std::vector<bool>& allowed)
      : analysis_(analysis), options_(options), allowed_(allowed) {
    bans_.assign(analysis.size(), Ban::none);
  }

  std::vector<Ban> run() {
    for (Position p = 0; p < analysis_.size(); ++p) {
      if (analysis_.classes().tangent_closure[p]) continue;
      if (analysis_.is_primal(p))
        ban(p, Ban::input);
      else if (analysis_.classes().forward[p])
        ban(p, ban_by_operator(p));
    }
    if (options_.used_far_apart)
      for (Position p = 0; p < analysis_.size(); ++p)
        if (analysis_.used_far_apart(p)) ban(p, Ban::used_far_apart);
    if (options_.long_fusible_chains) ban_long_chains();
    return std::move(bans_);
  }

 private:
  void ban(Position p, Ban reason) {
    if (bans_[p] != Ban::none || analysis_.traits(p).view) return;
    if (!allowed_.empty() && allowed_[p]) return;
    bans_[p] = reason;
  }

  // The reason that the node's own operator and size give.
  Ban ban_by_operator(Position p) const {
    const OpTraits& traits = analysis_.traits(p);
    if (analysis_.is_input(p) || traits.lifted_constant) return Ban::none;
    if (analysis_.graph()[analysis_.node(p)].op == Op::getitem) return Ban::none;
    if (options_.allowlist) {
      if (!traits.recomputable) return Ban::not_on_allowlist;
    } else {
      if (traits.random) return Ban::random;
      if (traits.compute_intensive) return Ban::compute_intensive;
    }
    if (options_.materialized_in_backward && analysis_.materialized_in_backward(p))
      return Ban::materialized_in_backward;
    if (options_.reductions && analysis_.reduces(p)) return Ban::reduction;
    return Ban::none;
  }

  // Bans the node at which a chain of fusible nodes narrows to one, more than a hundred nodes after
  // its start. Each node is visited once, from the first start that reaches it.
  void ban_long_chains() {
    const JointClasses& classes = analysis_.classes();
    const std::vector<std::uint32_t>& order = classes.forward_order;
    std::vector<bool> visited(analysis_.size(), false);
    for (Position start = 0; start < analysis_.size(); ++start) {
      if (!classes.forward[start] || visited[start]) continue;
      // Positions follow forward order, so they are the queue's keys. A position may be queued
      // several times, and then the chain doesn't count as narrow.
      std::priority_queue<Position, std::vector<Position>, std::greater<Position>> waiting;
      waiting.push(start);
      while (!waiting.empty()) {
        const Position p = waiting.top();
        waiting.pop();
        if (visited[p]) continue;
        visited[p] = true;
        if (order[p] > order[start] + kMaxFusibleChain && waiting.empty()) {
          ban(p, Ban::long_fusible_chain);
          break;
        }
        for (const Position user : analysis_.users(p))
          if (classes.forward[user] && analysis_.fusible(p, user) && bans_[user] == Ban::none)
            waiting.push(user);
      }
    }
  }

  const Analysis& analysis_;
  const CutOptions& options_;
  const std::vector<bool>& allowed_;
  std::vector<Ban> bans_;
};

}  // namespace

CutOptions cut_options(const TorchOptions& options) {
  const bool aggressive = options.aggressive_recomputation;
  CutOptions rules;
  rules.used_far_apart = options.ban_recompute_used_far_apart && !aggressive;
  rules.long_fusible_chains = options.ban_recompute_long_fusible_chains && !aggressive;
  rules.materialized_in_backward = options.ban_recompute_materialized_backward && !aggressive;
  rules.allowlist = options.ban_recompute_not_in_allowlist && !aggressive;
  rules.reductions = options.ban_recompute_reductions;
  return rules;
}

std::vector<Ban> find_bans(const Analysis& analysis, const CutOptions& options,
                           const std::vector<bool>& allowed) {
  return BanFinder(analysis, options, allowed).run();
}

std::string_view message(Ban ban) {
  switch (ban) {
    case Ban::none:
      return "may be recomputed";
    case Ban::input:
      return "is an input";
    case Ban::not_on_allowlist:
      return "is not on the list of operators to recompute";
    case Ban::random:
      return "draws random numbers";
    case Ban::compute_intensive:
      return "takes much computation";
    case Ban::materialized_in_backward:
      return "has to be in memory for backward anyway";
    case Ban::reduction:
      return "is much smaller than what it is computed from";
    case Ban::used_far_apart:
      return "its operand is used far apart";
    case Ban::long_fusible_chain:
      return "ends a long chain of cheap operators";
  }
  return "";
}

}  // namespace recut::torch
