#include "engine/partition/peak/on_demand.h"

#include <algorithm>

#include "engine/partition/peak/power.h"

namespace recut::peak {
namespace {

class Memory {
 public:
  Memory(const Problem& p, std::int64_t budget, const Eviction& eviction)
      : p_(p),
        budget_(budget),
        eviction_(eviction),
        position_(p.size(), 0),
        uses_(p.storages()),
        next_use_(p.storages(), 0),
        locks_(p.storages(), 0),
        place_(p.storages(), kAbsent),
        ran_(p.size(), false),
        rank_(p.storages(), 0),
        ranked_(p.storages(), kNever),
        stretched_(p.order.size() + 2) {
    for (std::size_t i = 0; i < stretched_.size(); ++i)
      stretched_[i] = quarter_power(static_cast<double>(i), eviction.stretch);
    for (std::size_t i = 0; i < p.order.size(); ++i)
      position_[p.order[i]] = static_cast<std::int32_t>(i);
    for (std::int32_t s = 0; s < p.storages(); ++s) {
      for (const std::int32_t reader : p.readers(s)) uses_[s].push_back(position_[reader]);
      std::sort(uses_[s].begin(), uses_[s].end());
    }
  }

  bool run_all() {
    for (now_ = 0; now_ < static_cast<std::int32_t>(p_.order.size()); ++now_)
      if (!run(p_.order[now_])) return false;
    return true;
  }

  std::vector<std::int32_t> take() { return std::move(sequence_); }

 private:
  static constexpr std::int32_t kAbsent = -1;
  static constexpr std::int64_t kNever = std::int64_t{-1} << 40;

  // A computation that waits for its inputs; those before `next` are there and locked.
  struct Frame {
    std::int32_t computation;
    std::size_t next = 0;
    std::vector<std::int32_t> inputs;  // storages, the earliest producer first
  };

  bool resident(std::int32_t s) const {
    return place_[s] != kAbsent || (p_.once(p_.producer(s)) && ran_[p_.producer(s)]);
  }

  Frame frame_of(std::int32_t c) const {
    Frame frame{c, 0, {}};
    for (const Problem::Read& read : p_.reads(c)) frame.inputs.push_back(read.storage);
    std::sort(frame.inputs.begin(), frame.inputs.end(), [&](std::int32_t a, std::int32_t b) {
      const std::int32_t at_a = position_[p_.producer(a)], at_b = position_[p_.producer(b)];
      if (p_.border() >= 0 && eviction_.tangents_first) {
        const std::int32_t border = position_[p_.border()];
        if ((at_a > border) != (at_b > border)) return at_a > border;
      }
      return at_a != at_b ? at_a < at_b : a < b;
    });
    return frame;
  }

  bool run(std::int32_t goal) {
    stack_.clear();
    stack_.push_back(frame_of(goal));
    while (!stack_.empty()) {
      Frame& frame = stack_.back();
      while (frame.next < frame.inputs.size() && resident(frame.inputs[frame.next]))
        ++locks_[frame.inputs[frame.next++]];
      if (frame.next < frame.inputs.size()) {
        stack_.push_back(frame_of(p_.producer(frame.inputs[frame.next])));
        continue;
      }
      if (!execute(frame.computation)) return false;
      for (const std::int32_t s : frame.inputs) --locks_[s];
      stack_.pop_back();
    }
    return true;
  }

  bool execute(std::int32_t c) {
    if (static_cast<std::int64_t>(sequence_.size()) >= eviction_.max_runs) return false;
    const std::int32_t first = p_.first_storage(c), end = first + p_.storage_count(c);
    std::int64_t bytes = 0;
    for (std::int32_t s = first; s < end; ++s) {
      ++locks_[s];
      if (place_[s] == kAbsent) bytes += p_.bytes(s);
    }
    if (!make_room(bytes)) return false;
    sequence_.push_back(c);
    ran_[c] = true;
    for (std::int32_t s = first; s < end; ++s) {
      --locks_[s];
      if (place_[s] != kAbsent) continue;
      place_[s] = static_cast<std::int32_t>(alive_.size());
      alive_.push_back(s);
      ranked_[s] = kNever;
      live_ += p_.bytes(s);
    }
    return true;
  }

  bool make_room(std::int64_t bytes) {
    while (live_ + bytes > budget_) {
      std::int32_t best = least_wanted();
      if (best < 0) return false;
      // Ranks mostly fall as other things go: the best is looked at again before it is believed.
      while (ranked_[best] != evicted_) {
        rank(best);
        best = least_wanted();
      }
      evict(best);
    }
    return true;
  }

  // What is to go, by ranks that may be a few evictions old; -1 where all is locked.
  std::int32_t least_wanted() {
    constexpr std::int64_t kRecent = 4;
    std::int32_t best = -1;
    for (const std::int32_t s : alive_) {
      if (locks_[s] > 0 || p_.bytes(s) == 0) continue;
      if (ranked_[s] + kRecent < evicted_) rank(s);
      if (best < 0 || rank_[s] > rank_[best] || (rank_[s] == rank_[best] && s < best)) best = s;
    }
    return best;
  }

  void rank(std::int32_t s) {
    rank_[s] = rank_of(s);
    ranked_[s] = evicted_;
  }

  void evict(std::int32_t s) {
    const std::int32_t last = alive_.back();
    alive_[place_[s]] = last;
    place_[last] = place_[s];
    place_[s] = kAbsent;
    alive_.pop_back();
    live_ -= p_.bytes(s);
    ++evicted_;
  }

  double rank_of(std::int32_t s) {
    const std::int32_t c = p_.producer(s);
    auto& next = next_use_[s];
    while (next < uses_[s].size() && uses_[s][next] < now_) ++next;
    const auto bytes = static_cast<double>(p_.bytes(s));
    if (next == uses_[s].size()) return 1e30 * bytes;
    if (p_.once(c)) return -1e30 / bytes;  // it stays in truth: only where nothing else goes
    int look = 24;
    return bytes * stretched_[uses_[s][next] - now_ + 1] / (cost_of(c, look) + 1);
  }

  // What making it again costs, with what is missing for that.
  double cost_of(std::int32_t c, int& look) const {
    auto cost = static_cast<double>(p_.duration(c));
    for (const Problem::Read& read : p_.reads(c)) {
      if (resident(read.storage)) continue;
      if (--look <= 0) break;
      cost += cost_of(read.producer, look);
    }
    return cost;
  }

  const Problem& p_;
  std::int64_t budget_;
  Eviction eviction_;
  std::vector<std::int32_t> position_;           // by computation, in the problem's order
  std::vector<std::vector<std::int32_t>> uses_;  // by storage: where its readers stand
  std::vector<std::size_t> next_use_;            // by storage: the first in uses_ to come
  std::vector<std::int32_t> locks_, place_;      // by storage; its place in alive_
  std::vector<bool> ran_;
  std::vector<double> rank_;  // by storage, and when it was found, in evictions
  std::vector<std::int64_t> ranked_;
  std::int64_t evicted_ = 0;
  std::vector<double> stretched_;  // by distance
  std::vector<std::int32_t> alive_;
  std::vector<Frame> stack_;
  std::vector<std::int32_t> sequence_;
  std::int64_t live_ = 0;
  std::int32_t now_ = 0;
};

}  // namespace

std::vector<Eviction> evictions(const Problem& problem) {
  const std::int64_t runs = 8 * static_cast<std::int64_t>(problem.size()) + 1000;
  return {{2, true, runs}, {1, true, runs},  {4, true, runs},
          {0, true, runs}, {2, false, runs}, {1, false, runs}};
}

std::vector<std::int32_t> run_on_demand(const Problem& problem, std::int64_t budget,
                                        const Eviction& eviction) {
  Memory memory(problem, budget, eviction);
  return memory.run_all() ? memory.take() : std::vector<std::int32_t>();
}

}  // namespace recut::peak
