#include "engine/partition/peak/timeline.h"

#include <algorithm>

#include "engine/support/check.h"

// The sequence itself: assignment, queries, and the invariants after a change. bytes_ is the exact
// memory profile; blocks of 16 steps keep its maximum and its excess, so that a scan skips a block
// that can't exceed the budget. timeline_change.cpp prices and applies the changes.

namespace recut::peak {

Timeline::Timeline(const RematProblem& problem, std::int64_t budget)
    : p_(problem), budget_(budget), output_bytes_(problem.size(), 0) {
  double max_bytes = 1;
  for (std::int32_t s = 0; s < p_.storages(); ++s) {
    output_bytes_[p_.producer(s)] += p_.bytes(s);
    max_bytes += static_cast<double>(p_.bytes(s));
  }
  // Headroom for a sequence 64 times as long as the problem.
  for (max_bytes *= 64.0 * (p_.size() + 1); max_bytes > 0x1p62; max_bytes /= 2) ++unit_bits_;
}

void Timeline::assign(std::span<const std::int32_t> computations) {
  runs_.clear(), order_.clear(), last_use_.clear(), repeats_.clear();
  last_run_.assign(p_.size(), kNoRun);
  free_run_.assign(p_.size(), kNoRun);
  duration_ = 0;
  for (const std::int32_t c : computations) {
    const RunId old = last_run_[c], run = new_run(c);
    last_run_[c] = run;
    runs_[run].previous_same = old;
    runs_[run].step = steps();
    order_.push_back(run);
    if (old != kNoRun) {
      runs_[old].next_same = run;
      note_repeat(run);
    }
    for (const RematProblem::Read& read : p_.reads(c)) {
      const RunId producer = last_run_[read.producer];
      RECUT_CHECK(producer != kNoRun, "a run without its inputs");
      last_use_[runs_[producer].uses + read.slot] = run;
    }
  }
  measure();
}

// Computes the bytes of every step from births and last uses.
void Timeline::measure() {
  bytes_.assign(order_.size() + 1, 0);
  for (const RunId run : order_) {
    const std::int32_t c = runs_[run].computation;
    for (std::int32_t j = 0; j < p_.storage_count(c); ++j) {
      const std::int64_t bytes = p_.bytes(p_.first_storage(c) + j);
      bytes_[runs_[run].step] += bytes;
      bytes_[runs_[last_use(run, j)].step + 1] -= bytes;
    }
  }
  bytes_.pop_back();
  for (std::size_t i = 1; i < bytes_.size(); ++i) bytes_[i] += bytes_[i - 1];
  excess_ = 0;
  for (const std::int64_t bytes : bytes_) excess_ += over(bytes);
  settle(0, steps() - 1);
}

// Renumbers steps first … last after a change, and updates their blocks.
void Timeline::settle(std::int32_t first, std::int32_t last) {
  for (std::int32_t i = first; i <= last; ++i) runs_[order_[i]].step = i;
  const std::int32_t n = steps();
  block_max_.resize((n + kBlock - 1) / kBlock);
  block_over_.resize(block_max_.size());
  for (std::int32_t block = first / kBlock; block * kBlock <= last; ++block) {
    std::int64_t max_bytes = 0, sum = 0;
    const std::int32_t end = std::min(n, (block + 1) * kBlock);
    for (std::int32_t i = block * kBlock; i < end; ++i) {
      max_bytes = std::max(max_bytes, bytes_[i]);
      sum += over(bytes_[i]);
    }
    block_max_[block] = max_bytes;
    block_over_[block] = sum;
  }
}

std::vector<std::int32_t> Timeline::computations() const {
  std::vector<std::int32_t> list;
  list.reserve(order_.size());
  for (const RunId run : order_) list.push_back(runs_[run].computation);
  return list;
}

std::int64_t Timeline::peak() const {
  return block_max_.empty() ? 0 : *std::max_element(block_max_.begin(), block_max_.end());
}

RunId Timeline::new_run(std::int32_t c) {
  RunId run = free_run_[c];
  if (run != kNoRun) {
    free_run_[c] = runs_[run].next_same;
  } else {
    run = static_cast<RunId>(runs_.size());
    runs_.push_back({c, 0, kNoRun, kNoRun, static_cast<std::int32_t>(last_use_.size()), -1});
    last_use_.resize(last_use_.size() + p_.storage_count(c));
  }
  Run& r = runs_[run];
  r.previous_same = r.next_same = kNoRun;
  for (std::int32_t j = 0; j < p_.storage_count(c); ++j) last_use_[r.uses + j] = run;
  duration_ += p_.duration(c);
  return run;
}

void Timeline::note_repeat(RunId run) {
  runs_[run].repeat = static_cast<std::int32_t>(repeats_.size());
  repeats_.push_back(run);
}

void Timeline::forget_repeat(RunId run) {
  const std::int32_t index = runs_[run].repeat;
  repeats_[index] = repeats_.back();
  runs_[repeats_[index]].repeat = index;
  repeats_.pop_back();
  runs_[run].repeat = -1;
}

RunId Timeline::last_use_before(RunId run, std::int32_t slot, std::int32_t step) const {
  RunId best = run;
  std::int32_t best_step = runs_[run].step;
  for (const std::int32_t reader : p_.readers(p_.first_storage(runs_[run].computation) + slot)) {
    const RunId candidate = latest_before(reader, step);
    if (candidate != kNoRun && runs_[candidate].step > best_step)
      best = candidate, best_step = runs_[candidate].step;
  }
  return best;
}

RunId Timeline::first_use_after(RunId run, std::int32_t slot, std::int32_t step) const {
  const RunId next = runs_[run].next_same;
  RunId best = kNoRun;
  std::int32_t best_step = next == kNoRun ? steps() : runs_[next].step;
  for (const std::int32_t reader : p_.readers(p_.first_storage(runs_[run].computation) + slot))
    for (RunId use = last_run_[reader]; use != kNoRun && runs_[use].step > step;
         use = runs_[use].previous_same)
      if (runs_[use].step < best_step) best = use, best_step = runs_[use].step;
  return best;
}

bool Timeline::unused(RunId run) const {
  for (std::int32_t j = 0; j < p_.storage_count(runs_[run].computation); ++j)
    if (last_use(run, j) != run) return false;
  return true;
}

Timeline::Range Timeline::move_range(RunId run) const {
  const Run& r = runs_[run];
  const std::int32_t c = r.computation;
  if (c == p_.boundary() || c == p_.end()) return {r.step, r.step};
  Range range{0, steps() - 1};
  const auto not_after = [&](RunId other) {
    if (other != kNoRun) range.high = std::min(range.high, runs_[other].step - 1);
  };
  const auto not_before = [&](RunId other) {
    if (other != kNoRun) range.low = std::max(range.low, runs_[other].step + 1);
  };
  for (const RematProblem::Read& read : p_.reads(c)) {
    const RunId source = latest_before(read.producer, r.step);
    not_before(source);
    not_after(runs_[source].next_same);
  }
  for (std::int32_t j = 0; j < p_.storage_count(c); ++j) {
    if (last_use(run, j) != run) not_after(first_use_after(run, j, r.step));
    if (r.previous_same != kNoRun) not_before(last_use(r.previous_same, j));
  }
  not_before(r.previous_same);
  not_after(r.next_same);
  if (p_.end() >= 0) not_after(last_run_[p_.end()]);
  if (p_.boundary() >= 0 && (p_.flags(c) & RematProblem::kBeforeBoundary) != 0)
    not_after(last_run_[p_.boundary()]);
  return range;
}

}  // namespace recut::peak
