#include "engine/partition/peak/sequence.h"

#include <algorithm>

#include "engine/support/check.h"

// Inserting a second run of c between a use and a later use of its storage splits one lifetime in
// two:
//
//   c . u . . . . v      =>      c . u . . c' . v
//   |------------>|              |-->|     |--->|
//
// take_readers() hands v from c to c' and tells the tree that the bytes are dead in between;
// give_readers_back() is its inverse. last_use_ has each instance's last reader, so a change
// touches only the instances of the run and of its inputs.

namespace recut::peak {
namespace {

// Four labels for each run leave gaps for recomputations before relabelling starts.
std::uint32_t leaves_for(std::size_t runs) {
  std::uint32_t leaves = 16;
  while (leaves < 4 * (runs + 2)) leaves *= 2;
  return leaves;
}

}  // namespace

Sequence::Sequence(const RematProblem& problem)
    : problem_(&problem),
      tree_(leaves_for(static_cast<std::size_t>(problem.size()))),
      by_label_(tree_.leaves(), kNoRun),
      first_run_(problem.size(), kNoRun),
      last_run_(problem.size(), kNoRun),
      free_run_(problem.size(), kNoRun),
      counts_(problem.size(), 0),
      repeated_index_(problem.size(), 0) {}

// Keeps its allocations: a search assigns often.
void Sequence::clear(std::size_t runs) {
  const std::uint32_t leaves =
      leaves_for(std::max(runs, static_cast<std::size_t>(problem_->size())));
  if (leaves == tree_.leaves()) {
    tree_.clear();
  } else {
    tree_ = MemoryTree(leaves);
  }
  by_label_.assign(leaves, kNoRun);
  runs_.clear();
  last_use_.clear();
  std::fill(first_run_.begin(), first_run_.end(), kNoRun);
  std::fill(last_run_.begin(), last_run_.end(), kNoRun);
  std::fill(free_run_.begin(), free_run_.end(), kNoRun);
  std::fill(counts_.begin(), counts_.end(), 0);
  repeated_.clear();
  first_ = last_ = kNoRun;
  run_count_ = 0;
  duration_ = 0;
  log_.clear();
}

void Sequence::assign(std::span<const std::int32_t> computations) {
  clear(computations.size());
  work_ += static_cast<std::int64_t>(computations.size());
  // Even spacing from the start: appending one by one would halve the gap each time.
  const std::uint64_t room = tree_.capacity();
  RunId before = kNoRun;
  for (std::size_t i = 0; i < computations.size(); ++i) {
    const RunId run = new_run(computations[i]);
    Run& r = runs_[run];
    r.label = static_cast<std::uint32_t>(1 + i * room / computations.size());
    r.previous = before;
    (before == kNoRun ? first_ : runs_[before].next) = run;
    last_ = before = run;
    by_label_[r.label] = run;
    const std::int32_t c = r.computation;
    r.previous_same = last_run_[c];
    (last_run_[c] == kNoRun ? first_run_[c] : runs_[last_run_[c]].next_same) = run;
    last_run_[c] = run;
    for (const RematProblem::Read& read : problem_->reads(c)) {
      const RunId producer = last_run_[read.producer];
      RECUT_CHECK(producer != kNoRun, "a run without its inputs");
      last_use_[runs_[producer].uses + read.slot] = run;
    }
  }
  for (RunId run = first_; run != kNoRun; run = runs_[run].next) {
    const std::int32_t first = problem_->first_storage(runs_[run].computation);
    for (std::int32_t j = 0; j < problem_->storage_count(runs_[run].computation); ++j) {
      const std::int64_t bytes = problem_->bytes(first + j);
      tree_.put(runs_[run].label, {bytes, 0});
      tree_.put(runs_[last_use_[runs_[run].uses + j]].label, {0, bytes});
    }
  }
  tree_.rebuild(0, tree_.leaves());
}

std::vector<std::int32_t> Sequence::computations() const {
  std::vector<std::int32_t> list;
  list.reserve(run_count_);
  for (RunId run = first_; run != kNoRun; run = runs_[run].next)
    list.push_back(runs_[run].computation);
  return list;
}

RunId Sequence::new_run(std::int32_t computation) {
  RunId run = free_run_[computation];
  if (run != kNoRun) {
    free_run_[computation] = runs_[run].next_same;
  } else {
    run = static_cast<RunId>(runs_.size());
    runs_.push_back({});
    runs_[run].computation = computation;
    runs_[run].uses = static_cast<std::int32_t>(last_use_.size());
    last_use_.resize(last_use_.size() + problem_->storage_count(computation));
  }
  Run& r = runs_[run];
  r.previous = r.next = r.previous_same = r.next_same = kNoRun;
  r.alive = true;
  for (std::int32_t j = 0; j < problem_->storage_count(computation); ++j)
    last_use_[r.uses + j] = run;
  count_run(computation, 1);
  return run;
}

void Sequence::count_run(std::int32_t computation, std::int32_t change) {
  const bool was_repeated = counts_[computation] > 1;
  counts_[computation] += change;
  run_count_ += change;
  duration_ += change * problem_->duration(computation);
  if (was_repeated == (counts_[computation] > 1)) return;
  std::int32_t& index = repeated_index_[computation];
  if (was_repeated) {
    repeated_[index] = repeated_.back();
    repeated_index_[repeated_.back()] = index;
    repeated_.pop_back();
  } else {
    index = static_cast<std::int32_t>(repeated_.size());
    repeated_.push_back(computation);
  }
}

RunId Sequence::link(RunId before, std::int32_t computation) {
  const auto low = [&] { return before == kNoRun ? 0 : runs_[before].label; };
  const auto after = before == kNoRun ? first_ : runs_[before].next;
  const auto high = [&] { return after == kNoRun ? tree_.leaves() - 1 : runs_[after].label; };
  if (high() - low() < 2) relabel(before);
  const RunId run = new_run(computation);
  Run& r = runs_[run];
  r.label = low() + (high() - low()) / 2;
  by_label_[r.label] = run;
  r.previous = before;
  r.next = after;
  (before == kNoRun ? first_ : runs_[before].next) = run;
  (after == kNoRun ? last_ : runs_[after].previous) = run;
  r.previous_same = latest_before(computation, r.label);
  r.next_same =
      r.previous_same == kNoRun ? first_run_[computation] : runs_[r.previous_same].next_same;
  (r.previous_same == kNoRun ? first_run_[computation] : runs_[r.previous_same].next_same) = run;
  (r.next_same == kNoRun ? last_run_[computation] : runs_[r.next_same].previous_same) = run;
  return run;
}

void Sequence::unlink(RunId run) {
  Run& r = runs_[run];
  const std::int32_t c = r.computation;
  by_label_[r.label] = kNoRun;
  (r.previous == kNoRun ? first_ : runs_[r.previous].next) = r.next;
  (r.next == kNoRun ? last_ : runs_[r.next].previous) = r.previous;
  (r.previous_same == kNoRun ? first_run_[c] : runs_[r.previous_same].next_same) = r.next_same;
  (r.next_same == kNoRun ? last_run_[c] : runs_[r.next_same].previous_same) = r.previous_same;
  r.alive = false;
  r.next_same = free_run_[c];  // last freed, first reused: roll_back() relies on it
  free_run_[c] = run;
  count_run(c, -1);
}

RunId Sequence::last_use_before(RunId run, std::int32_t slot, std::uint32_t limit) const {
  const std::int32_t storage = problem_->first_storage(runs_[run].computation) + slot;
  RunId best = run;
  for (const std::int32_t reader : problem_->readers(storage)) {
    const RunId candidate = latest_before(reader, limit);
    if (candidate != kNoRun && runs_[candidate].label > runs_[best].label) best = candidate;
  }
  return best;
}

RunId Sequence::first_use_after(RunId run, std::int32_t slot, std::uint32_t limit) const {
  const std::int32_t storage = problem_->first_storage(runs_[run].computation) + slot;
  std::uint32_t best_label = limit_of(run);
  RunId best = kNoRun;
  for (const std::int32_t reader : problem_->readers(storage)) {
    RunId candidate = last_run_[reader];
    while (candidate != kNoRun && runs_[candidate].label > limit) {
      if (runs_[candidate].label < best_label)
        best = candidate, best_label = runs_[candidate].label;
      candidate = runs_[candidate].previous_same;
    }
  }
  return best;
}

bool Sequence::unused(RunId run) const {
  const Run& r = runs_[run];
  for (std::int32_t j = 0; j < problem_->storage_count(r.computation); ++j)
    if (last_use_[r.uses + j] != run) return false;
  return true;
}

RunId Sequence::run_at(std::uint32_t label) const {
  while (label > 0 && by_label_[label] == kNoRun) --label;
  return label == 0 ? kNoRun : by_label_[label];
}

// A new run takes over the readers between itself and its computation's next run from the run
// before it.
void Sequence::take_readers(RunId run) {
  Run& r = runs_[run];
  const RunId old = r.previous_same;
  const std::int32_t first = problem_->first_storage(r.computation);
  for (std::int32_t j = 0; j < problem_->storage_count(r.computation); ++j) {
    const std::int64_t bytes = problem_->bytes(first + j);
    if (old != kNoRun) {
      RunId& old_last = last_use_[runs_[old].uses + j];
      if (runs_[old_last].label > r.label) {
        last_use_[r.uses + j] = old_last;
        old_last = last_use_before(old, j, r.label);
        // The bytes are dead from the old run's last reader up to the new run.
        if (bytes != 0) tree_.interrupt(runs_[old_last].label, r.label, bytes);
        continue;
      }
    } else if (r.next_same != kNoRun) {
      last_use_[r.uses + j] = last_use_before(run, j, limit_of(run));
    }
    if (bytes != 0) tree_.add(r.label, runs_[last_use_[r.uses + j]].label, bytes);
  }
}

void Sequence::give_readers_back(RunId run) {
  Run& r = runs_[run];
  const RunId old = r.previous_same;
  const std::int32_t first = problem_->first_storage(r.computation);
  for (std::int32_t j = 0; j < problem_->storage_count(r.computation); ++j) {
    const std::int64_t bytes = problem_->bytes(first + j);
    const RunId last = last_use_[r.uses + j];
    if (last == run || old == kNoRun) {
      RECUT_CHECK(last == run, "a run was removed from under its readers");
      if (bytes != 0) tree_.add(r.label, r.label, -bytes);
      continue;
    }
    RunId& old_last = last_use_[runs_[old].uses + j];
    if (bytes != 0) tree_.interrupt(runs_[old_last].label, r.label, -bytes);
    old_last = last;
  }
}

RunId Sequence::insert_unlogged(RunId before, std::int32_t computation) {
  ++work_;
  const RunId run = link(before, computation);
  const std::uint32_t label = runs_[run].label;
  take_readers(run);
  for (const RematProblem::Read& read : problem_->reads(computation)) {
    const RunId producer = latest_before(read.producer, label);
    RECUT_CHECK(producer != kNoRun, "a run without its inputs");
    RunId& last = last_use_[runs_[producer].uses + read.slot];
    if (runs_[last].label >= label) continue;
    const std::int64_t bytes = problem_->bytes(read.storage);
    if (bytes != 0) tree_.prolong(runs_[last].label, label, bytes);
    last = run;
  }
  return run;
}

void Sequence::remove_unlogged(RunId run) {
  ++work_;
  const std::uint32_t label = runs_[run].label;
  const std::int32_t computation = runs_[run].computation;
  for (const RematProblem::Read& read : problem_->reads(computation)) {
    const RunId producer = latest_before(read.producer, label);
    RunId& last = last_use_[runs_[producer].uses + read.slot];
    if (last != run) continue;
    last = last_use_before(producer, read.slot, label);
    const std::int64_t bytes = problem_->bytes(read.storage);
    if (bytes != 0) tree_.prolong(runs_[last].label, label, -bytes);
  }
  give_readers_back(run);
  unlink(run);
}

RunId Sequence::insert_after(RunId before, std::int32_t computation) {
  const RunId run = insert_unlogged(before, computation);
  log_.push_back({true, run, before, computation});
  return run;
}

void Sequence::remove(RunId run) {
  log_.push_back({false, run, runs_[run].previous, runs_[run].computation});
  remove_unlogged(run);
}

RunId Sequence::move_after(RunId before, RunId run) {
  const RunId moved = insert_after(before, runs_[run].computation);
  remove(run);
  return moved;
}

void Sequence::roll_back(std::size_t mark) {
  while (log_.size() > mark) {
    const Change change = log_.back();
    log_.pop_back();
    if (change.inserted) {
      remove_unlogged(change.run);
    } else {
      const RunId run = insert_unlogged(change.before, change.computation);
      RECUT_CHECK(run == change.run, "the roll-back gave a run another number");
    }
  }
}

// Relabels: finds the smallest aligned neighbourhood that is at most half full and spreads its runs
// evenly.
void Sequence::relabel(RunId before) {
  const RunId anchor = before == kNoRun ? first_ : before;
  const std::uint32_t at = runs_[anchor].label;
  RunId from = anchor, to = anchor;
  std::uint32_t count = 1;
  for (std::uint32_t width = 16; width <= tree_.leaves(); width *= 2) {
    const std::uint32_t base = at & ~(width - 1);
    const std::uint32_t low = base == 0 ? 1 : base;
    const std::uint32_t high = std::min(base + width - 1, tree_.capacity());
    while (runs_[from].previous != kNoRun && runs_[runs_[from].previous].label >= low)
      from = runs_[from].previous, ++count;
    while (runs_[to].next != kNoRun && runs_[runs_[to].next].label <= high)
      to = runs_[to].next, ++count;
    if (2 * (count + 1) <= high - low + 1) {
      spread_labels(from, to, low, high);
      return tree_.rebuild(base, width);
    }
  }
  enlarge_labels();
}

// A run's births and deaths in the tree move along with its label.
void Sequence::spread_labels(RunId from, RunId to, std::uint32_t low, std::uint32_t high) {
  moved_ends_.clear();
  for (RunId run = from;; run = runs_[run].next) {
    moved_ends_.push_back(tree_.take(runs_[run].label));
    by_label_[runs_[run].label] = kNoRun;
    if (run == to) break;
  }
  const std::uint64_t room = high - low + 1, count = moved_ends_.size();
  // At least one label stays free between two runs, before the first and after the last.
  RunId run = from;
  for (std::uint64_t i = 0; i < count; ++i, run = runs_[run].next) {
    const auto label = low + static_cast<std::uint32_t>((i + 1) * room / (count + 1));
    runs_[run].label = label;
    by_label_[label] = run;
    tree_.put(label, moved_ends_[i]);
  }
}

void Sequence::enlarge_labels() {
  MemoryTree larger(tree_.leaves() * 2);
  by_label_.assign(larger.leaves(), kNoRun);
  std::uint64_t i = 0;
  for (RunId run = first_; run != kNoRun; run = runs_[run].next, ++i) {
    const auto label = static_cast<std::uint32_t>(1 + i * std::uint64_t{larger.capacity()} /
                                                          static_cast<std::uint64_t>(run_count_));
    larger.put(label, tree_.take(runs_[run].label));
    runs_[run].label = label;
    by_label_[label] = run;
  }
  larger.rebuild(0, larger.leaves());
  tree_ = std::move(larger);
}

}  // namespace recut::peak
