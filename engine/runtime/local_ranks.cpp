#include "engine/runtime/local_ranks.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <string>

#include "engine/ir/call.h"
#include "engine/mesh/rank_collectives.h"
#include "engine/support/check.h"
#include "engine/support/clock.h"
#include "engine/support/text.h"

namespace recut {
namespace {

std::string group_name_of(const Graph& graph, NodeId id) {
  const Call::TypesOf types_of = [&graph](NodeId node) { return graph.pool().types_of(node); };
  return std::string(Call(graph.op(id), graph[id].arguments, types_of).text("group_name"));
}

// "all_gather_into_tensor of group 'tp', node 'x'".
std::string step_text(const RankSide& side, const CollectiveStep& step) {
  const Graph& graph = *side.graph;
  return fmt::format("{}{}, node {}", graph.op(step.node).name,
                     step.started ? "" : " of group " + quote(group_name_of(graph, step.node)),
                     quote(graph.node_name(step.node)));
}

bool makes_same_call(const RankSide& a, const CollectiveStep& x, const RankSide& b,
                     const CollectiveStep& y) {
  return x.started == y.started && (*a.graph)[x.node].op == (*b.graph)[y.node].op &&
         (x.started || group_name_of(*a.graph, x.node) == group_name_of(*b.graph, y.node));
}

Result<Done> check_same_calls(std::span<const RankSide> ranks) {
  const RankSide& first = ranks.front();
  const auto& expected = first.program->collectives;
  for (std::size_t r = 1; r < ranks.size(); ++r) {
    const auto& own = ranks[r].program->collectives;
    for (std::size_t s = 0; s < std::min(own.size(), expected.size()); ++s)
      if (!makes_same_call(ranks[r], own[s], first, expected[s]))
        return error(
            fmt::format("rank {} calls {}, and rank 0 calls {} instead; all ranks make "
                        "the same calls in one order",
                        r, step_text(ranks[r], own[s]), step_text(first, expected[s])));
    if (own.size() != expected.size())
      return error(
          fmt::format("rank {} has {} starts and waits of collectives, expected {} as "
                      "rank 0 has",
                      r, own.size(), expected.size()));
  }
  return Done{};
}

CollectiveMemory memory_of(const RankRun& run, const CollectiveStep& step) {
  CollectiveMemory memory;
  for (const ProgramOutput& input : step.inputs) memory.inputs.push_back(run.memory(input.address));
  for (const ProgramOutput& output : step.outputs)
    memory.outputs.push_back(output.node.valid() ? run.memory(output.address) : nullptr);
  return memory;
}

}  // namespace

struct LocalRanks::State {
  // The members of a group that have come to a start, and the memory of each.
  struct Meeting {
    std::vector<std::int64_t> group;
    std::map<std::int64_t, CollectiveMemory> come;
    bool done = false;
  };
  using Key = std::pair<std::size_t, std::int64_t>;  // step, and the group's first rank

  std::span<const std::int64_t> group_of(std::size_t step, std::int64_t rank) const {
    const RankSide& side = ranks[static_cast<std::size_t>(rank)];
    const NodeId node = side.program->collectives[step].node;
    return *groups.group_of(group_name_of(*side.graph, node), rank);
  }

  bool has_wait(std::size_t start) const {
    const auto& steps = ranks.front().program->collectives;
    return std::any_of(steps.begin() + static_cast<std::ptrdiff_t>(start), steps.end(),
                       [&](const CollectiveStep& step) { return step.started == start; });
  }

  Result<Done> start(std::size_t step, std::int64_t rank, CollectiveMemory memory) {
    const std::span<const std::int64_t> group = group_of(step, rank);
    Meeting& meeting = meetings[{step, group.front()}];
    if (meeting.come.empty() || meeting.done) meeting = {{group.begin(), group.end()}, {}, false};
    meeting.come[rank] = std::move(memory);
    const bool complete = meeting.come.size() == group.size();
    const bool now = moment == CollectiveMoment::start || !has_wait(step);
    return complete && now ? compute(step, meeting) : Result<Done>(Done{});
  }

  Result<Done> wait(std::size_t step, std::int64_t rank) {
    const std::size_t started =
        *ranks[static_cast<std::size_t>(rank)].program->collectives[step].started;
    Meeting& meeting = meetings[{started, group_of(started, rank).front()}];
    RECUT_CHECK(meeting.come.size() == meeting.group.size(), "in lockstep all ranks have started");
    return meeting.done ? Result<Done>(Done{}) : compute(started, meeting);
  }

  Result<Done> compute(std::size_t step, Meeting& meeting) const {
    std::vector<mesh::RankCall> calls;
    for (const std::int64_t rank : meeting.group) {
      const RankSide& side = ranks[static_cast<std::size_t>(rank)];
      const CollectiveStep& own = side.program->collectives[step];
      mesh::RankCall call{rank, side.graph, own.node, {}};
      for (std::size_t i = 0; i < own.inputs.size(); ++i)
        call.inputs.push_back(output_value(own.inputs[i], meeting.come.at(rank).inputs[i]));
      calls.push_back(std::move(call));
    }
    const auto values = mesh::run_collective(calls);
    if (!values) return values.diagnostics();
    for (std::size_t m = 0; m < calls.size(); ++m) {
      const RankSide& side = ranks[static_cast<std::size_t>(meeting.group[m])];
      write(side.program->collectives[step], (*values)[m], meeting.come.at(meeting.group[m]));
    }
    meeting.done = true;
    return Done{};
  }

  static void write(const CollectiveStep& step, const std::vector<Tensor>& values,
                    const CollectiveMemory& memory) {
    for (std::size_t i = 0; i < values.size(); ++i) {
      if (memory.outputs[i] == nullptr) continue;
      const Tensor laid = as_kernels_read(step.outputs[i].type, values[i]);
      const auto bytes = static_cast<std::size_t>(laid.count() * item_bytes(laid.dtype));
      if (bytes > 0) std::memcpy(memory.outputs[i], laid.storage->data(), bytes);
    }
  }

  std::span<const RankSide> ranks;
  mesh::GroupTable groups;
  CollectiveMoment moment;
  std::map<Key, Meeting> meetings;
};

class LocalRanks::Side : public Communicator {
 public:
  Side(State& state, std::size_t rank) : state_(state), rank_(static_cast<std::int64_t>(rank)) {}

  Result<Done> start(std::size_t step, CollectiveMemory memory) override {
    return state_.start(step, rank_, std::move(memory));
  }
  Result<Done> wait(std::size_t step) override { return state_.wait(step, rank_); }

 private:
  State& state_;
  const std::int64_t rank_;
};

Diagnostics with_rank(std::size_t rank, Diagnostics diagnostics) {
  for (Diagnostic& diagnostic : diagnostics)
    diagnostic.message = fmt::format("rank {}: {}", rank, diagnostic.message);
  return diagnostics;
}

LocalRanks::LocalRanks(std::vector<RankSide> ranks, mesh::GroupTable groups,
                       CollectiveMoment moment)
    : ranks_(std::move(ranks)), state_(std::make_unique<State>()) {
  state_->ranks = ranks_;
  state_->groups = std::move(groups);
  state_->moment = moment;
  for (std::size_t rank = 0; rank < ranks_.size(); ++rank)
    communicators_.push_back(std::make_unique<Side>(*state_, rank));
}

LocalRanks::LocalRanks(LocalRanks&&) noexcept = default;
LocalRanks::~LocalRanks() = default;

Result<LocalRanks> LocalRanks::connect(std::vector<RankSide> ranks, mesh::GroupTable groups,
                                       CollectiveMoment moment) {
  RECUT_CHECK(!ranks.empty(), "a mesh has a rank");
  if (auto good = groups.check_world(static_cast<std::int64_t>(ranks.size())); !good)
    return good.diagnostics();
  if (auto same = check_same_calls(ranks); !same) return same.diagnostics();
  for (const CollectiveStep& step : ranks.front().program->collectives) {
    if (step.started) continue;
    const std::string name = group_name_of(*ranks.front().graph, step.node);
    for (std::size_t rank = 0; rank < ranks.size(); ++rank)
      if (auto group = groups.group_of(name, static_cast<std::int64_t>(rank)); !group)
        return error(fmt::format("node {}: {}", quote(ranks.front().graph->node_name(step.node)),
                                 group.diagnostics().front().message));
  }
  return LocalRanks(std::move(ranks), std::move(groups), moment);
}

Communicator& LocalRanks::of(std::size_t rank) { return *communicators_[rank]; }

namespace {

// A step's way through all ranks.
class LockstepRun {
 public:
  LockstepRun(LocalRanks& ranks, std::span<RankRun* const> runs, std::uint64_t seed)
      : ranks_(ranks), runs_(runs), seed_(seed), at_(runs.size()) {}

  Result<LockstepTime> run() {
    const Clock::time_point began = Clock::now();
    const std::size_t steps = ranks_.sides().front().program->collectives.size();
    for (std::size_t step = 0; step < steps; ++step) {
      if (auto done = run_to(step); !done) return done.diagnostics();
      const Clock::time_point met = Clock::now();
      if (auto done = communicate(step); !done) return done.diagnostics();
      time_.in_collectives += seconds_since(met);
    }
    if (auto done = run_to(steps); !done) return done.diagnostics();
    time_.seconds = seconds_since(began);
    return time_;
  }

 private:
  // Runs every rank to its collective of this step, or to its end.
  Result<Done> run_to(std::size_t step) {
    for (std::size_t r = 0; r < runs_.size(); ++r) {
      const Program& program = *ranks_.sides()[r].program;
      const std::size_t end = step < program.collectives.size() ? program.collectives[step].before
                                                                : program.launches.size();
      if (auto done = runs_[r]->run_launches(at_[r], end, seed_); !done)
        return with_rank(r, done.diagnostics());
      at_[r] = end;
    }
    return Done{};
  }

  Result<Done> communicate(std::size_t step) {
    for (std::size_t r = 0; r < runs_.size(); ++r) {
      const CollectiveStep& own = ranks_.sides()[r].program->collectives[step];
      auto done = own.started ? ranks_.of(r).wait(step)
                              : ranks_.of(r).start(step, memory_of(*runs_[r], own));
      if (!done) return done;
    }
    return Done{};
  }

  LocalRanks& ranks_;
  std::span<RankRun* const> runs_;
  const std::uint64_t seed_;
  std::vector<std::size_t> at_;  // the next launch of each rank
  LockstepTime time_;
};

}  // namespace

Result<LockstepTime> run_lockstep(LocalRanks& ranks, std::span<RankRun* const> runs,
                                  std::uint64_t seed) {
  return LockstepRun(ranks, runs, seed).run();
}

}  // namespace recut
