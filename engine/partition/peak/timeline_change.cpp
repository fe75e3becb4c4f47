// Prices and applies the changes of a Timeline. A change is a list of pieces, each adding bytes to
// all steps from its start to a common end: lengthened and shortened lifetimes, plus one new step.
//
//   moving c later: its outputs are born later (-bytes), inputs it reads last die later (+bytes)
//
// The excess of the pieces is summed over their prefix sums, O(pieces log pieces + steps touched).
#include <algorithm>

#include "engine/partition/peak/timeline.h"

namespace recut::peak {

// Bytes alive across the boundary from the step before `step` into it.
std::int64_t Timeline::flow_before(std::int32_t step) const {
  return step == steps() ? 0 : bytes_[step] - output_bytes_[runs_[order_[step]].computation];
}

// The change of the excess if `bytes` are added to each of the steps first … last.
std::int64_t Timeline::scan(std::int32_t first, std::int32_t last, std::int64_t bytes) const {
  std::int64_t sum = 0;
  for (std::int32_t block = first / kBlock; block <= last / kBlock; ++block) {
    if (bytes < 0 ? block_over_[block] == 0 : block_max_[block] + bytes <= budget_) continue;
    const std::int32_t end = std::min(last, block * kBlock + kBlock - 1);
    for (std::int32_t i = std::max(first, block * kBlock); i <= end; ++i)
      sum += over(bytes_[i] + bytes) - over(bytes_[i]);
  }
  return sum;
}

std::int64_t Timeline::excess_of_pieces() {
  std::sort(pieces_.begin(), pieces_.end(),
            [](const Piece& a, const Piece& b) { return a.start < b.start; });
  std::int64_t sum = 0, bytes = 0;
  for (std::size_t i = 0; i < pieces_.size(); ++i) {
    bytes += pieces_[i].bytes;
    const std::int32_t last = i + 1 < pieces_.size() ? pieces_[i + 1].start - 1 : pending_.end;
    if (bytes != 0) sum += scan(pieces_[i].start, last, bytes);
  }
  return sum;
}

void Timeline::begin(Pending::Kind kind, RunId run, std::int32_t at, std::int32_t to) {
  pieces_.clear();
  last_uses_.clear();
  pending_ = {kind, run, at, to, kind == Pending::kMove && to > at ? to : at - 1, 0, {}};
}

Timeline::Change Timeline::price(std::int64_t duration, std::int64_t excess_of_step) {
  const auto empty = [&](const Piece& piece) {
    return piece.bytes == 0 || piece.start > pending_.end;
  };
  pieces_.erase(std::remove_if(pieces_.begin(), pieces_.end(), empty), pieces_.end());
  pending_.change = {duration, excess_of_step + excess_of_pieces()};
  return pending_.change;
}

Timeline::Change Timeline::price_move(RunId run, std::int32_t to) {
  const std::int32_t at = runs_[run].step;
  begin(Pending::kMove, run, at, to);
  to > at ? collect_later() : collect_earlier();
  return price(0, over(pending_.step_bytes) - over(bytes_[at]));
}

// The run's outputs are born later; inputs that it now reads last die later.
void Timeline::collect_later() {
  const auto [kind, run, at, to, end, step_bytes, change] = pending_;
  const std::int32_t c = runs_[run].computation;
  pending_.step_bytes = flow_before(to + 1);
  for (std::int32_t j = 0; j < p_.storage_count(c); ++j) {
    const std::int64_t bytes = p_.bytes(p_.first_storage(c) + j);
    if (last_use(run, j) == run) {
      pending_.step_bytes += bytes;
    } else {
      pieces_.push_back({at + 1, -bytes});
    }
  }
  for (const RematProblem::Read& read : p_.reads(c)) {
    const RunId source = latest_before(read.producer, at);
    const std::int32_t dies = runs_[last_use(source, read.slot)].step;
    if (dies > to) continue;
    const std::int64_t bytes = p_.bytes(read.storage);
    pieces_.push_back({dies + 1, bytes});
    pending_.step_bytes += bytes;
    last_uses_.push_back({source, read.slot, run});
  }
}

void Timeline::collect_earlier() {
  const auto [kind, run, at, to, end, step_bytes, change] = pending_;
  const std::int32_t c = runs_[run].computation;
  pending_.step_bytes = flow_before(to) + output_bytes_[c];
  for (std::int32_t j = 0; j < p_.storage_count(c); ++j)
    if (last_use(run, j) != run) pieces_.push_back({to, p_.bytes(p_.first_storage(c) + j)});
  for (const RematProblem::Read& read : p_.reads(c)) {
    const RunId source = latest_before(read.producer, at);
    if (last_use(source, read.slot) != run) continue;
    const RunId other = last_use_before(source, read.slot, at);
    const std::int32_t dies = runs_[other].step;
    pieces_.push_back({std::max(dies + 1, to), -p_.bytes(read.storage)});
    if (dies >= to) last_uses_.push_back({source, read.slot, other});
  }
}

// Ends the old run's instances at their last use before the new run.
void Timeline::collect_insertion(std::int32_t c, std::int32_t at) {
  const RunId old = latest_before(c, at);
  begin(Pending::kInsertion, old, at, at);
  pending_.step_bytes = flow_before(at) + output_bytes_[c];
  for (std::int32_t j = 0; j < p_.storage_count(c); ++j) {
    if (runs_[last_use(old, j)].step < at) continue;
    const std::int64_t bytes = p_.bytes(p_.first_storage(c) + j);
    const RunId used = last_use_before(old, j, at);
    pieces_.push_back({runs_[used].step + 1, -bytes});
    pending_.step_bytes -= bytes;
    last_uses_.push_back({old, j, used});
  }
}

Timeline::Change Timeline::price_insertion_alone(std::int32_t c, std::int32_t at) {
  collect_insertion(c, at);
  return price(p_.duration(c), over(pending_.step_bytes));
}

Timeline::Change Timeline::price_insertion(std::int32_t c, std::int32_t at) {
  collect_insertion(c, at);
  for (const RematProblem::Read& read : p_.reads(c)) {
    const RunId source = latest_before(read.producer, at);
    const std::int32_t dies = runs_[last_use(source, read.slot)].step;
    if (dies >= at) continue;
    pieces_.push_back({dies + 1, p_.bytes(read.storage)});
    pending_.step_bytes += p_.bytes(read.storage);
    last_uses_.push_back({source, read.slot, kNoRun});
  }
  return price(p_.duration(c), over(pending_.step_bytes));
}

Timeline::Change Timeline::price_removal(RunId run) {
  const auto [c, at, old, next, uses, repeat] = runs_[run];
  begin(Pending::kRemoval, run, at, at);
  for (std::int32_t j = 0; j < p_.storage_count(c); ++j) {
    if (last_use(run, j) == run) continue;
    pieces_.push_back({runs_[last_use(old, j)].step + 1, p_.bytes(p_.first_storage(c) + j)});
    last_uses_.push_back({old, j, last_use(run, j)});
  }
  for (const RematProblem::Read& read : p_.reads(c)) {
    const RunId source = latest_before(read.producer, at);
    if (last_use(source, read.slot) != run) continue;
    const RunId used = last_use_before(source, read.slot, at);
    pieces_.push_back({runs_[used].step + 1, -p_.bytes(read.storage)});
    last_uses_.push_back({source, read.slot, used});
  }
  return price(-p_.duration(c), -over(bytes_[at]));
}

void Timeline::apply() {
  excess_ += pending_.change.excess;
  for (const Piece& piece : pieces_)
    for (std::int32_t i = piece.start; i <= pending_.end; ++i) bytes_[i] += piece.bytes;
  switch (pending_.kind) {
    case Pending::kMove:
      return apply_move();
    case Pending::kInsertion:
      return apply_insertion();
    case Pending::kRemoval:
      return apply_removal();
  }
}

void Timeline::apply_move() {
  const auto [kind, run, at, to, end, step_bytes, change] = pending_;
  const auto rotate = [at = at, to = to](auto& list, auto value) {
    const auto from = list.begin() + at, target = list.begin() + to;
    to > at ? std::move(from + 1, target + 1, from) : std::move_backward(target, from, from + 1);
    *target = value;
  };
  rotate(order_, run);
  rotate(bytes_, step_bytes);
  settle(std::min(at, to), std::max(at, to));
  for (const LastUse& use : last_uses_) last_use_[runs_[use.run].uses + use.slot] = use.last;
}

void Timeline::apply_insertion() {
  const auto [kind, old, at, to, end, step_bytes, change] = pending_;
  const std::int32_t c = runs_[old].computation;
  const RunId run = new_run(c), next = runs_[old].next_same;
  runs_[run].previous_same = old;
  runs_[run].next_same = next;
  runs_[old].next_same = run;
  (next == kNoRun ? last_run_[c] : runs_[next].previous_same) = run;
  note_repeat(run);
  for (std::int32_t j = 0; j < p_.storage_count(c); ++j)
    if (runs_[last_use(old, j)].step >= at) last_use_[runs_[run].uses + j] = last_use(old, j);
  for (const LastUse& use : last_uses_)
    last_use_[runs_[use.run].uses + use.slot] = use.last == kNoRun ? run : use.last;
  const std::int32_t first = first_step_priced();
  order_.insert(order_.begin() + at, run);
  bytes_.insert(bytes_.begin() + at, step_bytes);
  settle(first, steps() - 1);
}

void Timeline::apply_removal() {
  const auto [kind, run, at, to, end, step_bytes, change] = pending_;
  const auto [c, step, old, next, uses, repeat] = runs_[run];
  forget_repeat(repeat < 0 ? next : run);
  if (old != kNoRun) runs_[old].next_same = next;
  (next == kNoRun ? last_run_[c] : runs_[next].previous_same) = old;
  runs_[run].step = -1;
  runs_[run].next_same = free_run_[c];
  free_run_[c] = run;
  duration_ -= p_.duration(c);
  for (const LastUse& use : last_uses_) last_use_[runs_[use.run].uses + use.slot] = use.last;
  const std::int32_t first = first_step_priced();
  order_.erase(order_.begin() + at);
  bytes_.erase(bytes_.begin() + at);
  settle(std::min(std::max(0, at - 1), first), steps() - 1);
}

std::int32_t Timeline::first_step_priced() const {
  std::int32_t first = pending_.at;
  for (const Piece& piece : pieces_) first = std::min(first, piece.start);
  return first;
}

}  // namespace recut::peak
