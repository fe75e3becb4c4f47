#include "engine/mesh/lockstep.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "engine/ir/call.h"
#include "engine/mesh/rank_collectives.h"
#include "engine/support/text.h"

namespace recut::mesh {
namespace {

Diagnostics of_rank(std::size_t rank, const Diagnostics& diagnostics) {
  Diagnostics named = diagnostics;
  for (Diagnostic& diagnostic : named)
    diagnostic.message = fmt::format("rank {}: {}", rank, diagnostic.message);
  return named;
}

class Lockstep {
 public:
  Lockstep(std::span<const RankProgram> programs, const GroupTable& groups,
           const EvaluateOptions& options)
      : programs_(programs), groups_(groups) {
    for (const RankProgram& program : programs) ranks_.emplace_back(*program.graph, options);
  }

  Result<std::vector<Evaluation>> run() {
    for (std::size_t r = 0; r < ranks_.size(); ++r)
      if (auto ready = ranks_[r].begin(programs_[r].inputs); !ready)
        return of_rank(r, ready.diagnostics());
    for (;;) {
      const auto moved = take_steps();
      if (!moved) return moved.diagnostics();
      if (*moved) continue;
      const auto met = run_collectives();
      if (!met) return met.diagnostics();
      if (!*met) break;
    }
    if (auto ended = check_ended(); !ended) return ended.diagnostics();
    std::vector<Evaluation> evaluations;
    for (StepEvaluator& rank : ranks_) evaluations.push_back(rank.finish());
    return evaluations;
  }

 private:
  // A step of every rank that doesn't wait; false where all wait or have ended.
  Result<bool> take_steps() {
    bool moved = false;
    for (std::size_t r = 0; r < ranks_.size(); ++r) {
      if (ranks_[r].done() || ranks_[r].awaits_ranks()) continue;
      if (auto ran = ranks_[r].run(); !ran) return of_rank(r, ran.diagnostics());
      moved = true;
    }
    return moved;
  }

  // All collectives whose groups are complete; false where there are none.
  Result<bool> run_collectives() {
    bool met = false;
    for (std::size_t r = 0; r < ranks_.size(); ++r) {
      if (!ranks_[r].awaits_ranks()) continue;
      const auto group = group_of(r);
      if (!group) return group.diagnostics();
      if (missing_of(r, *group) != kNone) continue;
      if (auto ran = run_group(*group); !ran) return ran.diagnostics();
      met = true;
    }
    return met;
  }

  std::string group_name(std::size_t rank) const {
    const Graph& graph = *programs_[rank].graph;
    const NodeId node = ranks_[rank].next();
    const Call::TypesOf types_of = [&graph](NodeId id) { return graph.pool().types_of(id); };
    return std::string(Call(graph.op(node), graph[node].arguments, types_of).text("group_name"));
  }

  Result<std::span<const std::int64_t>> group_of(std::size_t rank) const {
    auto group = groups_.group_of(group_name(rank), static_cast<std::int64_t>(rank));
    if (!group)
      return error(
          fmt::format("{}: {}", place_of(call_of(rank)), group.diagnostics().front().message));
    return group;
  }

  // The first member of a rank's group that isn't at a call of the group; kNone if all are.
  std::size_t missing_of(std::size_t rank, std::span<const std::int64_t> group) const {
    const std::string name = group_name(rank);
    for (const std::int64_t member : group) {
      const auto m = static_cast<std::size_t>(member);
      if (!ranks_[m].awaits_ranks() || group_name(m) != name) return m;
    }
    return kNone;
  }

  RankCall call_of(std::size_t rank) const {
    const Graph& graph = *programs_[rank].graph;
    const NodeId node = ranks_[rank].next();
    return {static_cast<std::int64_t>(rank), &graph, node, {}};
  }

  // With a tensor for each mention: a list may name one twice.
  RankCall call_with_inputs(std::size_t rank) const {
    RankCall call = call_of(rank);
    for (const Argument& argument : (*call.graph)[call.node].arguments)
      for_each_node(argument,
                    [&](NodeId id) { call.inputs.push_back(ranks_[rank].value(id).front()); });
    return call;
  }

  Result<Done> run_group(std::span<const std::int64_t> group) {
    std::vector<RankCall> members;
    for (const std::int64_t rank : group)
      members.push_back(call_with_inputs(static_cast<std::size_t>(rank)));
    const auto outputs = run_collective(members);
    if (!outputs) return outputs.diagnostics();
    for (std::size_t i = 0; i < group.size(); ++i) {
      const auto rank = static_cast<std::size_t>(group[i]);
      if (auto taken = ranks_[rank].give((*outputs)[i]); !taken)
        return of_rank(rank, taken.diagnostics());
    }
    return Done{};
  }

  // Nothing can go on: either all have ended, or a rank waits for one that won't come.
  Result<Done> check_ended() const {
    for (std::size_t r = 0; r < ranks_.size(); ++r) {
      if (ranks_[r].done()) continue;
      const std::size_t missing = missing_of(r, *group_of(r));
      RECUT_CHECK(missing != kNone, "a complete group has run");
      const std::string elsewhere =
          ranks_[missing].done() ? fmt::format("rank {} has ended", missing)
                                 : fmt::format("{} waits for group {}", place_of(call_of(missing)),
                                               quote(group_name(missing)));
      return error(
          fmt::format("{}: it waits for group {}, but {}; all ranks of a group make the "
                      "same calls in one order",
                      place_of(call_of(r)), quote(group_name(r)), elsewhere));
    }
    return Done{};
  }

  static constexpr std::size_t kNone = static_cast<std::size_t>(-1);

  std::span<const RankProgram> programs_;
  const GroupTable& groups_;
  std::vector<StepEvaluator> ranks_;
};

}  // namespace

Result<std::vector<Evaluation>> evaluate_ranks(std::span<const RankProgram> programs,
                                               const GroupTable& groups,
                                               const EvaluateOptions& options) {
  if (auto good = groups.check_world(static_cast<std::int64_t>(programs.size())); !good)
    return good.diagnostics();
  return Lockstep(programs, groups, options).run();
}

}  // namespace recut::mesh
