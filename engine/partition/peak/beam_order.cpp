#include "engine/partition/peak/beam_order.h"

#include <algorithm>
#include <limits>

#include "engine/support/hash.h"

// Beam search by rounds: each round extends every state of the beam by each ready item and keeps
// the best `width` of the results, by peak, then by bytes alive, then at random. Two states of the
// same set have the same future, so only the better one stays. A state of low peak but many bytes
// alive may block the way to a better one; the beam keeps alternatives that a greedy order would
// have dropped.

namespace recut::peak {
namespace {

// A set of items that have run, and the bytes alive after it.
struct State {
  std::vector<std::uint16_t> waits;    // by item: predecessors that have not run; kRan: it ran
  std::vector<std::uint16_t> readers;  // by instance: consumers that have not run
  std::vector<std::int32_t> ready;
  std::int64_t now = 0, peak = 0;
  std::uint64_t set = 0;  // hash of the set
  std::int32_t trace = -1;
};

struct TraceEntry {
  std::int32_t previous, item;
};

struct Extension {
  std::int64_t peak, now;
  std::uint64_t set, tie;
  std::int32_t state, item;
};

constexpr std::uint16_t kRan = 0xffff;

class BeamSearch {
 public:
  BeamSearch(const OrderingProblem& q, int width, std::int64_t target_peak, std::uint64_t seed)
      : q_(q), width_(width), target_peak_(target_peak), seed_(seed) {
    makes_.resize(q.items);
    reads_.resize(q.items);
    for (std::size_t i = 0; i < q.instances.size(); ++i) {
      if (q.instances[i].producer >= 0)
        makes_[q.instances[i].producer].push_back(static_cast<std::int32_t>(i));
      for (const std::int32_t c : q.instances[i].consumers)
        reads_[c].push_back(static_cast<std::int32_t>(i));
    }
  }

  Ordering run() {
    std::vector<State> beam{first()}, next;
    std::vector<Extension> extensions;
    for (std::int32_t done = 0; done < q_.items;) {
      // An item that costs nothing runs at once. One item a round keeps all states equally long.
      extensions.clear();
      for (std::size_t i = 0; i < beam.size(); ++i)
        extend(beam[i], static_cast<int>(i), extensions);
      if (extensions.empty()) return {};
      keep_best(extensions);
      next.clear();
      for (const Extension& e : extensions) next.push_back(apply(beam[e.state], e.item));
      beam.swap(next);
      ++done;
    }
    const State& best = beam.front();
    Ordering ordering;
    ordering.peak = best.peak;
    for (std::int32_t t = best.trace; t >= 0; t = trace_[t].previous)
      ordering.order.push_back(trace_[t].item);
    std::reverse(ordering.order.begin(), ordering.order.end());
    return ordering;
  }

 private:
  State first() {
    State s;
    s.waits.assign(q_.items, 0);
    for (const auto& successors : q_.successors)
      for (const std::int32_t item : successors) ++s.waits[item];
    for (const OrderingProblem::Instance& instance : q_.instances) {
      s.readers.push_back(static_cast<std::uint16_t>(instance.consumers.size()));
      if (instance.producer < 0) s.now += instance.bytes;
    }
    s.peak = s.now;
    for (std::int32_t i = 0; i < q_.items; ++i)
      if (s.waits[i] == 0) s.ready.push_back(i);
    return s;
  }

  Extension price(const State& s, std::int32_t state, std::int32_t item) const {
    std::int64_t during = s.now, after = s.now;
    for (const std::int32_t i : makes_[item]) {
      const auto& instance = q_.instances[i];
      during += instance.bytes;
      if (instance.stays || !instance.consumers.empty()) after += instance.bytes;
    }
    for (const std::int32_t i : reads_[item])
      if (s.readers[i] == 1 && !q_.instances[i].stays) after -= q_.instances[i].bytes;
    const std::uint64_t key = hash_mix(0x5eed, static_cast<std::uint64_t>(item));
    return {std::max(s.peak, during),     after, s.set ^ key,
            hash_mix(seed_, s.set ^ key), state, item};
  }

  void extend(const State& s, std::int32_t index, std::vector<Extension>& out) const {
    const std::size_t begin = out.size();
    for (const std::int32_t item : s.ready) {
      const Extension e = price(s, index, item);
      // An item that raises neither the peak nor the bytes alive is safe to run now (a dominance
      // rule).
      if (e.now <= s.now && e.peak <= std::max(s.peak, target_peak_)) {
        out.resize(begin);
        out.push_back(e);
        return;
      }
      out.push_back(e);
    }
  }

  void keep_best(std::vector<Extension>& list) const {
    const auto better = [&](const Extension& a, const Extension& b) {
      const std::int64_t pa = std::max(a.peak, target_peak_), pb = std::max(b.peak, target_peak_);
      if (pa != pb) return pa < pb;
      if (a.now != b.now) return a.now < b.now;
      if (a.set != b.set) return a.tie != b.tie ? a.tie < b.tie : a.set < b.set;
      return a.state != b.state ? a.state < b.state : a.item < b.item;
    };
    std::sort(list.begin(), list.end(), better);
    std::size_t kept = 0;
    for (std::size_t i = 0; i < list.size() && kept < static_cast<std::size_t>(width_); ++i) {
      // Equal sets have the same bytes alive, so they are neighbours in the sorted list.
      bool known = false;
      for (std::size_t k = kept; k-- > 0 && list[k].now == list[i].now;)
        if (list[k].set == list[i].set) known = true;
      if (!known) list[kept++] = list[i];
    }
    list.resize(kept);
  }

  State apply(const State& from, std::int32_t item) {
    State s = from;
    const Extension e = price(from, 0, item);
    s.now = e.now;
    s.peak = e.peak;
    s.set = e.set;
    trace_.push_back({from.trace, item});
    s.trace = static_cast<std::int32_t>(trace_.size()) - 1;
    s.waits[item] = kRan;
    for (const std::int32_t i : reads_[item]) --s.readers[i];
    s.ready.erase(std::find(s.ready.begin(), s.ready.end(), item));
    for (const std::int32_t successor : q_.successors[item])
      if (--s.waits[successor] == 0) s.ready.push_back(successor);
    return s;
  }

  const OrderingProblem& q_;
  int width_;
  std::int64_t target_peak_;
  std::uint64_t seed_;
  std::vector<std::vector<std::int32_t>> makes_, reads_;
  std::vector<TraceEntry> trace_;
};

}  // namespace

Ordering find_order(const OrderingProblem& problem, int width, std::int64_t target_peak,
                    std::uint64_t seed) {
  return BeamSearch(problem, width, target_peak, seed).run();
}

OrderingProblem ordering_problem_of(const RematProblem& p) {
  OrderingProblem q;
  q.items = p.size();
  q.successors.resize(p.size());
  for (std::int32_t c = 0; c < p.size(); ++c)
    for (const RematProblem::Read& read : p.reads(c)) q.successors[read.producer].push_back(c);
  for (std::int32_t s = 0; s < p.storages(); ++s) {
    OrderingProblem::Instance instance{p.bytes(s), p.producer(s), {}, false};
    instance.consumers.assign(p.readers(s).begin(), p.readers(s).end());
    q.instances.push_back(std::move(instance));
  }
  return q;
}

}  // namespace recut::peak
