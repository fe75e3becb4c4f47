#include "engine/partition/peak/min_cut_saved_set.h"

#include <algorithm>
#include <cmath>

#include "engine/partition/flow/max_flow.h"
#include "engine/support/check.h"

namespace recut::peak {
namespace {

// The computations before the boundary in the problem's order.
struct Forward {
  std::vector<bool> is_forward;
  explicit Forward(const RematProblem& p) : is_forward(p.size(), false) {
    for (const std::int32_t c : p.order) {
      if (c == p.boundary()) break;
      is_forward[c] = true;
    }
  }
};

}  // namespace

SavedSet min_cut_saved_set(const RematProblem& p, double price, const std::vector<double>& weight) {
  const Forward forward(p);
  // Vertices: source, sink, one for each computation (sink's side: recomputed), one for each
  // storage (sink's side: available in backward).
  const auto n = static_cast<std::size_t>(p.size());
  FlowNetwork network(2 + n + static_cast<std::size_t>(p.storages()));
  const auto of_computation = [](std::int32_t c) { return static_cast<std::uint32_t>(2 + c); };
  const auto of_storage = [&](std::int32_t s) { return static_cast<std::uint32_t>(2 + n + s); };
  // Durations are scaled up so that prices of small storages don't round to 0.
  const std::int64_t total = std::max<std::int64_t>(1, p.total_duration());
  const double scale = std::ldexp(1.0, 50) / static_cast<double>(total);
  for (std::int32_t c = 0; c < p.size(); ++c) {
    if (!forward.is_forward[c]) continue;
    network.add_edge(0, of_computation(c),
                     p.once(c)
                         ? FlowNetwork::kUnbounded
                         : static_cast<std::int64_t>(scale * static_cast<double>(p.duration(c))));
    for (std::int32_t j = 0; j < p.storage_count(c); ++j) {
      const std::int32_t s = p.first_storage(c) + j;
      const double cost =
          scale * price * static_cast<double>(p.bytes(s)) * (weight.empty() ? 1.0 : weight[s]);
      network.add_edge(of_computation(c), of_storage(s),
                       static_cast<std::int64_t>(std::min(cost, std::ldexp(1.0, 46))));
      network.add_edge(of_storage(s), of_computation(c), FlowNetwork::kUnbounded);
      bool needed = false;
      for (const std::int32_t reader : p.readers(s)) {
        if (forward.is_forward[reader])
          network.add_edge(of_storage(s), of_computation(reader), FlowNetwork::kUnbounded);
        else if (reader != p.boundary())
          needed = true;
      }
      if (needed) network.add_edge(of_storage(s), 1, FlowNetwork::kUnbounded);
    }
  }
  const CutOutcome outcome = minimum_cut(network, 0, 1);
  const auto* cut = std::get_if<MinimumCut>(&outcome);
  RECUT_CHECK(cut != nullptr, "a cut that saves everything always exists");
  SavedSet set;
  set.saved.assign(p.storages(), false);
  set.recomputed.assign(n, false);
  for (std::int32_t c = 0; c < p.size(); ++c) {
    if (!forward.is_forward[c]) continue;
    set.recomputed[c] = cut->sink_side[of_computation(c)];
    if (set.recomputed[c]) set.duration += p.duration(c);
    for (std::int32_t j = 0; j < p.storage_count(c); ++j) {
      const std::int32_t s = p.first_storage(c) + j;
      set.saved[s] = !set.recomputed[c] && cut->sink_side[of_storage(s)];
      if (set.saved[s]) set.bytes += p.bytes(s);
    }
  }
  return set;
}

std::vector<std::int32_t> expand_lazily(const RematProblem& p, const std::vector<bool>& saved) {
  const Forward forward(p);
  std::vector<std::int32_t> sequence;
  std::vector<bool> available(p.storages(), false);
  std::vector<std::int32_t> stack;
  bool behind = false;
  for (const std::int32_t c : p.order) {
    if (!behind) {
      sequence.push_back(c);
      if (c == p.boundary()) {
        behind = true;
        for (std::int32_t s = 0; s < p.storages(); ++s)
          available[s] = saved[s] || p.once(p.producer(s));
      }
      continue;
    }
    stack.assign(1, c);
    while (!stack.empty()) {
      const std::int32_t top = stack.back();
      std::int32_t missing = -1;
      for (const RematProblem::Read& read : p.reads(top))
        if (!available[read.storage]) {
          missing = read.producer;
          break;
        }
      if (missing >= 0) {
        stack.push_back(missing);
        continue;
      }
      sequence.push_back(top);
      for (std::int32_t j = 0; j < p.storage_count(top); ++j)
        available[p.first_storage(top) + j] = true;
      stack.pop_back();
    }
  }
  return sequence;
}

}  // namespace recut::peak
