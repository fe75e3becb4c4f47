#include <algorithm>
#include <queue>
#include <unordered_map>
#include <vector>

#include "engine/partition/peak/bounds.h"
#include "engine/support/hash.h"

namespace recut::peak {
namespace {

// A set of storages that are needed from some point of the sequence on; everything before that
// point is still open.
struct Needed {
  std::int64_t highest;  // of the steps after the point
  std::int64_t bytes;
  std::vector<std::int32_t> set;  // ascending
};

struct Worse {
  bool operator()(const Needed& a, const Needed& b) const {
    if (a.highest != b.highest) return a.highest > b.highest;
    if (a.bytes != b.bytes) return a.bytes > b.bytes;
    return a.set > b.set;
  }
};

std::uint64_t hash_of(const std::vector<std::int32_t>& set) {
  std::uint64_t h = set.size();
  for (const std::int32_t s : set) h = hash_mix(h, static_cast<std::uint64_t>(s));
  return h;
}

// The set before a run of `c`, and how high the run stands.
Needed before_run(const Problem& p, const Needed& after, std::int32_t c) {
  Needed before{0, 0, after.set};
  std::int64_t level = after.bytes;
  const std::int32_t first = p.first_storage(c), last = first + p.storage_count(c);
  auto& set = before.set;
  for (std::int32_t s = first; s < last; ++s)
    if (!std::binary_search(set.begin(), set.end(), s)) level += p.bytes(s);
  set.erase(std::remove_if(set.begin(), set.end(),
                           [&](std::int32_t s) { return s >= first && s < last; }),
            set.end());
  for (const Problem::Read& read : p.reads(c)) {
    const auto at = std::lower_bound(set.begin(), set.end(), read.storage);
    if (at != set.end() && *at == read.storage) continue;
    set.insert(at, read.storage);
    level += p.bytes(read.storage);
  }
  for (const std::int32_t s : set) before.bytes += p.bytes(s);
  before.highest = std::max(after.highest, level);
  return before;
}

// Every sequence has a last run that the end needs, a last run that this needs, and so on: the
// least over all such paths of their highest step bounds every peak. Where the search stops early,
// the best open set does.
std::int64_t search_backwards(const Problem& p, Needed start, std::size_t states) {
  std::priority_queue<Needed, std::vector<Needed>, Worse> open;
  std::unordered_map<std::uint64_t, std::int64_t> seen;  // the lowest way to each set so far
  open.push(std::move(start));
  while (!open.empty()) {
    const Needed needed = open.top();
    if (needed.set.empty() || seen.size() >= states) return needed.highest;
    open.pop();
    std::int32_t last = -1;
    for (const std::int32_t s : needed.set) {
      const std::int32_t c = p.producer(s);
      if (c == last) continue;  // storages of one computation stand side by side
      last = c;
      Needed before = before_run(p, needed, c);
      const auto [at, fresh] = seen.try_emplace(hash_of(before.set), before.highest);
      if (!fresh && at->second <= before.highest) continue;
      at->second = before.highest;
      open.push(std::move(before));
    }
  }
  return 0;
}

}  // namespace

std::int64_t peak_bound(const Problem& p, std::size_t states) {
  std::int64_t bound = 0;
  for (std::int32_t c = 0; c < p.size(); ++c) bound = std::max(bound, p.step_bytes(c));
  if (p.end() < 0 || states == 0) return bound;
  return std::max(bound, search_backwards(p, before_run(p, {0, 0, {}}, p.end()), states));
}

}  // namespace recut::peak
