#include <algorithm>
#include <queue>
#include <unordered_map>
#include <vector>

#include "engine/partition/peak/bounds.h"
#include "engine/support/hash.h"

// The bound on the peak: a pebble game (Sethi 1975) played backwards. Before the last run of c, the
// inputs of c must be alive, together with everything that later steps need and c doesn't make:
//
//   live set {a, b}, b = f(c, d)    before the run of f  =>    {a, c, d}; the step holds a, b, c, d
//
// The argument follows last runs only, so the bound holds for any recomputation. The number of sets
// is exponential; `states` limits the visited ones, and a truncated search still gives a bound.

namespace recut::peak {
namespace {

constexpr std::int32_t kStart = -1;

// A set of storages that must be alive at some point of the sequence; everything before that point
// is open. It is given by the set after it and the computation in between: most sets are only
// weighed, and never materialised.
struct LiveSet {
  std::int64_t highest = 0;  // the highest step after the point
  std::int64_t bytes = 0;
  std::int32_t size = 0;
  std::uint64_t hash = 0;  // the sum of its storages' hashes
  std::int32_t after = kStart;
  std::int32_t computation = 0;
};

std::uint64_t hash_of(std::int32_t storage) {
  return hash_mix(1, static_cast<std::uint64_t>(storage));
}

// Every sequence has a last run that the end needs, a last run that this one needs, and so on. The
// minimum over all such paths of their highest step therefore bounds every peak (a bottleneck
// shortest path, best first).
class ReversePebbling {
 public:
  ReversePebbling(const RematProblem& p, std::size_t states)
      : p_(p), states_(states), latest_set_(static_cast<std::size_t>(p.storages()), -1) {}

  // If the search stops early, the best open set is the bound.
  std::int64_t run() {
    push(before(LiveSet{}, kStart, p_.end()));
    while (!open_.empty()) {
      const std::int32_t at = open_.top().second;
      if (all_[at].size == 0 || seen_.size() >= states_) return all_[at].highest;
      open_.pop();
      make_set(at);
      std::int32_t last = -1;
      for (const std::int32_t s : sets_[at]) {
        const std::int32_t c = p_.producer(s);
        if (c == last) continue;  // storages of one computation are neighbours
        last = c;
        push(before(all_[at], at, c));
      }
    }
    return 0;
  }

 private:
  using Rank = std::pair<std::int64_t, std::int64_t>;
  using Open = std::pair<Rank, std::int32_t>;  // lowest first, then fewest bytes, then oldest

  // The set before a run of `c`. The set after it was materialised last.
  LiveSet before(const LiveSet& behind, std::int32_t after, std::int32_t c) const {
    LiveSet live{behind.highest, behind.bytes, behind.size, behind.hash, after, c};
    std::int64_t level = behind.bytes;
    const std::int32_t first = p_.first_storage(c), end = first + p_.storage_count(c);
    for (std::int32_t s = first; s < end; ++s) {
      if (after != kStart && latest_set_[s] == after) {
        --live.size;
        live.bytes -= p_.bytes(s);
        live.hash -= hash_of(s);
      } else {
        level += p_.bytes(s);
      }
    }
    for (const RematProblem::Read& read : p_.reads(c)) {
      if (after != kStart && latest_set_[read.storage] == after) continue;
      level += p_.bytes(read.storage);
      ++live.size;
      live.bytes += p_.bytes(read.storage);
      live.hash += hash_of(read.storage);
    }
    live.highest = std::max(live.highest, level);
    return live;
  }

  // Keeps it if no earlier path to the same set was as low.
  void push(const LiveSet& live) {
    const auto [at, fresh] = seen_.try_emplace(live.hash, live.highest);
    if (!fresh && at->second <= live.highest) return;
    at->second = live.highest;
    open_.push({{live.highest, live.bytes}, static_cast<std::int32_t>(all_.size())});
    all_.push_back(live);
  }

  void make_set(std::int32_t at) {
    const auto [after, c] = std::pair(all_[at].after, all_[at].computation);
    std::vector<std::int32_t>& set = sets_[at];
    const std::int32_t first = p_.first_storage(c), end = first + p_.storage_count(c);
    if (after != kStart)
      for (const std::int32_t s : sets_.at(after))
        if (s < first || s >= end) set.push_back(s);
    for (const RematProblem::Read& read : p_.reads(c)) {
      const auto place = std::lower_bound(set.begin(), set.end(), read.storage);
      if (place == set.end() || *place != read.storage) set.insert(place, read.storage);
    }
    for (const std::int32_t s : set) latest_set_[s] = at;
  }

  const RematProblem& p_;
  std::size_t states_;
  std::vector<std::int32_t> latest_set_;  // by storage: the last materialised set with it
  std::vector<LiveSet> all_;
  std::unordered_map<std::int32_t, std::vector<std::int32_t>> sets_;  // materialised ones
  std::unordered_map<std::uint64_t, std::int64_t> seen_;              // the lowest path to each set
  std::priority_queue<Open, std::vector<Open>, std::greater<>> open_;
};

}  // namespace

std::int64_t peak_bound(const RematProblem& p, std::size_t states) {
  std::int64_t bound = 0;
  for (std::int32_t c = 0; c < p.size(); ++c) bound = std::max(bound, p.step_bytes(c));
  if (p.end() < 0 || states == 0) return bound;
  return std::max(bound, ReversePebbling(p, states).run());
}

}  // namespace recut::peak
