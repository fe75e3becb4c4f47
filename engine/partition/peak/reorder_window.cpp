#include "engine/partition/peak/reorder_window.h"

#include <algorithm>
#include <vector>

#include "engine/partition/peak/beam_order.h"

namespace recut::peak {
namespace {

class RunWindow {
 public:
  RunWindow(const Sequence& s, RunId first, int count) : s_(s), p_(s.problem()) {
    for (RunId run = first; run != kNoRun && static_cast<int>(runs_.size()) < count;
         run = s.next(run)) {
      runs_.push_back(run);
    }
    low_ = s.label(runs_.front());
    high_ = s.label(runs_.back());
  }

  const std::vector<RunId>& runs() const { return runs_; }

  OrderingProblem ordering_problem() {
    q_.items = static_cast<std::int32_t>(runs_.size());
    q_.successors.resize(runs_.size());
    for (std::int32_t i = 0; i < q_.items; ++i) add_made(i);
    for (std::int32_t i = 0; i < q_.items; ++i) add_reads(i);
    return std::move(q_);
  }

 private:
  // The run's position in the window; -1 outside. Labels ascend: binary search.
  std::int32_t item_of(RunId run) const {
    const std::uint32_t label = s_.label(run);
    if (label < low_ || label > high_) return -1;
    const auto at = std::lower_bound(runs_.begin(), runs_.end(), label,
                                     [&](RunId r, std::uint32_t l) { return s_.label(r) < l; });
    return static_cast<std::int32_t>(at - runs_.begin());
  }

  void add_made(std::int32_t item) {
    const RunId run = runs_[item];
    const std::int32_t c = s_.computation(run);
    first_instance_.push_back(static_cast<std::int32_t>(q_.instances.size()));
    for (std::int32_t j = 0; j < p_.storage_count(c); ++j)
      q_.instances.push_back(
          {p_.bytes(p_.first_storage(c) + j), item, {}, s_.label(s_.last_use(run, j)) > high_});
    link_next_run(run, item);
  }

  // Keeps the order of a computation's runs, and of readers and the run that replaces their
  // instance.
  void link_next_run(RunId run, std::int32_t item) {
    const RunId next = s_.next_same(run);
    if (next == kNoRun) return;
    const std::int32_t other = item_of(next);
    if (other >= 0) q_.successors[item].push_back(other);
  }

  void add_reads(std::int32_t item) {
    for (const RematProblem::Read& read : p_.reads(s_.computation(runs_[item]))) {
      const RunId producer = s_.latest_before(read.producer, s_.label(runs_[item]));
      link_next_run(producer, item);
      const std::int32_t other = item_of(producer);
      if (other >= 0) {
        q_.successors[other].push_back(item);
        q_.instances[first_instance_[other] + read.slot].consumers.push_back(item);
        continue;
      }
      const std::int64_t bytes = p_.bytes(read.storage);
      if (bytes == 0 || s_.label(s_.last_use(producer, read.slot)) > high_) continue;
      const auto known = std::find_if(outer_.begin(), outer_.end(),
                                      [&](const Outer& o) { return o.storage == read.storage; });
      if (known == outer_.end()) {
        outer_.push_back({read.storage, static_cast<std::int32_t>(q_.instances.size())});
        q_.instances.push_back({bytes, -1, {item}, false});
      } else {
        q_.instances[known->instance].consumers.push_back(item);
      }
    }
  }

  struct Outer {
    std::int32_t storage, instance;
  };

  const Sequence& s_;
  const RematProblem& p_;
  std::vector<RunId> runs_;
  std::uint32_t low_ = 0, high_ = 0;
  std::vector<std::int32_t> first_instance_;
  std::vector<Outer> outer_;  // instances born before the window that die in it
  OrderingProblem q_;
};

}  // namespace

bool reorder_window(Sequence& s, RunId first, int count, int width, std::int64_t target_peak,
                    std::uint64_t seed) {
  RunWindow window(s, first, count);
  const std::vector<RunId>& runs = window.runs();
  if (runs.size() < 3) return false;
  const std::int64_t before = s.tree().maximum(s.label(runs.front()), s.label(runs.back()));
  if (before <= target_peak) return false;
  const OrderingProblem ordering_problem = window.ordering_problem();
  // The ordering's peak excludes bytes that are alive throughout the window.
  std::int64_t born = 0;
  for (const auto& instance : ordering_problem.instances)
    if (instance.producer < 0 || instance.producer == 0) born += instance.bytes;
  const std::int64_t constant = s.bytes_at(runs.front()) - born;
  s.charge(static_cast<std::int64_t>(runs.size()) * (width + 2));
  const Ordering ordering = find_order(ordering_problem, width, target_peak - constant, seed);
  if (ordering.order.empty() || ordering.peak + constant >= before) return false;
  RunId previous = s.previous(runs.front());
  for (const std::int32_t item : ordering.order) {
    RunId run = runs[item];
    if (s.previous(run) != previous) run = s.move_after(previous, run);
    previous = run;
  }
  return true;
}

void reorder_all(Sequence& s, int count, int width, std::int64_t target_peak) {
  RunId first = s.first();
  while (first != kNoRun) {
    const RunId before = s.previous(first);
    reorder_window(s, first, count, width, target_peak, 1);
    first = before == kNoRun ? s.first() : s.next(before);
    for (int i = 0; i < count / 2 && first != kNoRun; ++i) first = s.next(first);
  }
}

}  // namespace recut::peak
