// The shortest path over shardings.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <queue>
#include <string>

#include "engine/mesh/redistribute.h"
#include "engine/mesh/redistribution_moves.h"
#include "engine/mesh/reduce_ranks.h"
#include "engine/mesh/sharding_text.h"
#include "engine/support/text.h"
#include "engine/support/units.h"

namespace recut::mesh {
namespace {

// A sharding as numbers that compare equal where the shardings do.
std::vector<int> key_of(const Sharding& sharding) {
  std::vector<int> key;
  for (const auto& axes : sharding.dims) {
    key.insert(key.end(), axes.begin(), axes.end());
    key.push_back(-1);
  }
  for (const auto& kind : sharding.partial) key.push_back(kind ? static_cast<int>(*kind) : -1);
  return key;
}

struct Distance {
  std::int64_t bytes = 0, steps = 0;
  bool operator<(const Distance& other) const {
    return bytes != other.bytes ? bytes < other.bytes : steps < other.steps;
  }
};

class ShortestPath {
 public:
  ShortestPath(const TensorType& type, const DeviceMesh& mesh, Sharding from, Sharding to)
      : type_(type), mesh_(mesh), to_(std::move(to)) {
    reach(std::move(from), {}, kNone, {});
  }

  std::vector<RedistributionStep> run() {
    const std::vector<int> goal = key_of(to_);
    while (!open_.empty()) {
      const auto [distance, index] = open_.top();
      open_.pop();
      if (distance < states_[index].distance || states_[index].distance < distance) continue;
      if (key_of(states_[index].sharding) == goal) return path_to(index);
      const Sharding sharding = states_[index].sharding;
      for (RedistributionStep& step : steps_from(sharding, to_, type_, mesh_)) {
        const Distance further{distance.bytes + step.bytes, distance.steps + 1};
        Sharding after = step.after;
        reach(std::move(after), further, index, std::move(step));
      }
    }
    RECUT_CHECK(false, "every sharding can be reached by way of R on all axes");
  }

 private:
  static constexpr std::size_t kNone = static_cast<std::size_t>(-1);

  struct State {
    Sharding sharding;
    Distance distance;
    std::size_t before = kNone;
    RedistributionStep step;  // from `before`
  };

  // States at equal distance are taken in the order in which they were found.
  struct Further {
    using Entry = std::pair<Distance, std::size_t>;
    bool operator()(const Entry& a, const Entry& b) const {
      if (a.first < b.first) return false;
      if (b.first < a.first) return true;
      return a.second > b.second;
    }
  };

  void reach(Sharding sharding, Distance distance, std::size_t before, RedistributionStep step) {
    const auto [found, is_new] = index_.emplace(key_of(sharding), states_.size());
    const std::size_t index = found->second;
    if (is_new)
      states_.push_back({std::move(sharding), distance, before, std::move(step)});
    else if (distance < states_[index].distance)
      states_[index] = {std::move(sharding), distance, before, std::move(step)};
    else
      return;
    open_.push({distance, index});
  }

  std::vector<RedistributionStep> path_to(std::size_t index) {
    std::vector<RedistributionStep> steps;
    for (; states_[index].before != kNone; index = states_[index].before)
      steps.push_back(std::move(states_[index].step));
    std::reverse(steps.begin(), steps.end());
    return steps;
  }

  const TensorType& type_;
  const DeviceMesh& mesh_;
  const Sharding to_;
  std::vector<State> states_;
  std::map<std::vector<int>, std::size_t> index_;
  std::priority_queue<typename Further::Entry, std::vector<typename Further::Entry>, Further> open_;
};

Result<Done> check_dtype(const Sharding& sharding, DType dtype) {
  for (const auto& kind : sharding.partial)
    if (kind)
      if (const auto why = why_not_reduced(reduction_of(*kind), dtype)) return error(*why);
  return Done{};
}

}  // namespace

const char* title(StepKind kind) {
  constexpr const char* kTitles[] = {"slice",      "all_gather",     "all_to_all",
                                     "all_reduce", "reduce_scatter", "hold_partial",
                                     "zero_fill",  "rescale",        "reorder"};
  return kTitles[static_cast<std::size_t>(kind)];
}

bool sends_messages(StepKind kind) {
  return kind == StepKind::all_gather || kind == StepKind::all_to_all ||
         kind == StepKind::all_reduce || kind == StepKind::reduce_scatter ||
         kind == StepKind::reorder;
}

std::int64_t RedistributionPlan::bytes() const {
  std::int64_t bytes = 0;
  for (const RedistributionStep& step : steps) bytes += step.bytes;
  return bytes;
}

Result<RedistributionPlan> plan_redistribution(const TensorType& type, const DeviceMesh& mesh,
                                               const Sharding& from, const Sharding& to) {
  for (const Sharding* sharding : {&from, &to}) {
    if (auto good = check_sharding(*sharding, mesh, type.rank()); !good) return good.diagnostics();
    if (auto good = check_dtype(*sharding, type.dtype); !good) return good.diagnostics();
  }
  ShortestPath path(type, mesh, without_single_ranks(from, mesh), without_single_ranks(to, mesh));
  return RedistributionPlan{mesh, type, from, to, path.run()};
}

Sharding gradient_sharding(const Sharding& input) {
  Sharding gradient = input;
  for (auto& kind : gradient.partial) kind = std::nullopt;
  return gradient;
}

std::string format(const RedistributionPlan& plan) {
  std::string text;
  for (const RedistributionStep& step : plan.steps) {
    text += title(step.kind);
    if (step.axis >= 0)
      text += fmt::format(" of axis {}",
                          quote(plan.mesh.axes()[static_cast<std::size_t>(step.axis)].name));
    if (step.from_dim >= 0) text += fmt::format(" on dimension {}", step.from_dim);
    if (step.to_dim >= 0 && step.to_dim != step.from_dim)
      text += fmt::format(" to dimension {}", step.to_dim);
    text += fmt::format(": {}, then {}\n", format_bytes(step.bytes), format(step.after, plan.mesh));
  }
  return text;
}

double dtensor_micros(StepKind kind, std::int64_t bytes, std::int64_t ranks, bool one_host) {
  if (!sends_messages(kind) || ranks == 1) return 0;
  constexpr double kBase = 6.6, kHopInside = 0.6, kHopBetween = 2.7, kGigabytes = 87.7;
  constexpr double kBetweenHosts = 0.22;
  const auto n = static_cast<double>(ranks);
  const double hops = kind == StepKind::all_reduce ? 2 * (n - 1) : n - 1;
  const double bytes_per_micro = kGigabytes * (one_host ? 1 : kBetweenHosts) *
                                 static_cast<double>(std::int64_t{1} << 30) / 1e6;
  return kBase + hops * (one_host ? kHopInside : kHopBetween) +
         static_cast<double>(bytes) * hops / n / bytes_per_micro;
}

}  // namespace recut::mesh
