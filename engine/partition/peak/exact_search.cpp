#include "engine/partition/peak/exact_search.h"

#include <algorithm>
#include <map>
#include <queue>

namespace recut::peak {
namespace {

// One bit for each computation that has run (low half) and each storage alive (high half).
using Key = std::uint64_t;

// Dijkstra's algorithm (1959). A state is a set of computations that have run and a set of storages
// that are alive; a move runs one computation or frees one storage. The cost of a path is its
// duration, under a limit on the bytes, or its highest step (a bottleneck path).
class ExactSearch {
 public:
  ExactSearch(const RematProblem& p, std::int64_t budget, bool minimize_peak,
              std::size_t max_states)
      : p_(p), budget_(budget), minimize_peak_(minimize_peak), max_states_(max_states) {}

  std::optional<ExactSolution> run(bool* exhausted) {
    const Key all = (Key{1} << p_.size()) - 1;
    reach(0, 0, 0, -1);
    while (!queue_.empty()) {
      const auto [cost, state] = queue_.top();
      queue_.pop();
      const Reached& reached = reached_.at(state);
      if (cost != reached.cost) continue;
      if ((state & 0xffffffff) == all) {
        if (exhausted != nullptr) *exhausted = true;
        return ExactSolution{cost, trace(state)};
      }
      if (reached_.size() > max_states_) {
        if (exhausted != nullptr) *exhausted = false;
        return std::nullopt;
      }
      expand(state, cost);
    }
    if (exhausted != nullptr) *exhausted = true;
    return std::nullopt;
  }

 private:
  struct Reached {
    std::int64_t cost;
    Key from;
    std::int32_t ran;  // -1: a storage was freed
  };

  static Key alive_bit(std::int32_t storage) { return Key{1} << (32 + storage); }

  void expand(Key state, std::int64_t cost) {
    std::int64_t bytes = 0;
    for (std::int32_t s = 0; s < p_.storages(); ++s) {
      if ((state & alive_bit(s)) == 0) continue;
      bytes += p_.bytes(s);
      reach(state & ~alive_bit(s), cost, state, -1);
    }
    for (std::int32_t c = 0; c < p_.size(); ++c) {
      if ((state >> c & 1) != 0 && p_.once(c)) continue;
      if ((state >> std::max(0, p_.boundary()) & 1) != 0 && p_.boundary() >= 0 &&
          (p_.flags(c) & RematProblem::kBeforeBoundary) != 0)
        continue;
      Key after = state | Key{1} << c;
      bool ready = true;
      for (const RematProblem::Read& read : p_.reads(c))
        ready &= (state & alive_bit(read.storage)) != 0;
      if (!ready) continue;
      std::int64_t during = bytes;
      for (std::int32_t j = 0; j < p_.storage_count(c); ++j) {
        const Key bit = alive_bit(p_.first_storage(c) + j);
        if ((state & bit) == 0) during += p_.bytes(p_.first_storage(c) + j);
        after |= bit;
      }
      if (during > budget_) continue;
      reach(after, minimize_peak_ ? std::max(cost, during) : cost + p_.duration(c), state, c);
    }
  }

  void reach(Key state, std::int64_t cost, Key from, std::int32_t ran) {
    const auto [at, fresh] = reached_.try_emplace(state, Reached{cost, from, ran});
    if (!fresh) {
      if (at->second.cost <= cost) return;
      at->second = {cost, from, ran};
    }
    queue_.push({cost, state});
  }

  std::vector<std::int32_t> trace(Key state) const {
    std::vector<std::int32_t> sequence;
    while (state != 0) {
      const Reached& reached = reached_.at(state);
      if (reached.ran >= 0) sequence.push_back(reached.ran);
      state = reached.from;
    }
    std::reverse(sequence.begin(), sequence.end());
    return sequence;
  }

  const RematProblem& p_;
  std::int64_t budget_;
  bool minimize_peak_;
  std::size_t max_states_;
  std::map<Key, Reached> reached_;
  std::priority_queue<std::pair<std::int64_t, Key>, std::vector<std::pair<std::int64_t, Key>>,
                      std::greater<>>
      queue_;
};

}  // namespace

bool fits_exact(const RematProblem& p) { return p.size() <= 31 && p.storages() <= 31; }

std::optional<ExactSolution> exact_duration(const RematProblem& problem, std::int64_t budget,
                                            std::size_t max_states, bool* exhausted) {
  return ExactSearch(problem, budget, false, max_states).run(exhausted);
}

std::optional<ExactSolution> exact_peak(const RematProblem& problem, std::size_t max_states,
                                        bool* exhausted) {
  return ExactSearch(problem, std::int64_t{1} << 62, true, max_states).run(exhausted);
}

}  // namespace recut::peak
