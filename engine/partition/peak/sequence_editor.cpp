#include "engine/partition/peak/sequence_editor.h"

#include <algorithm>

namespace recut::peak {
namespace {

// A browser's call stack is small. Live values cut chains of thousands of runs into shorter ones,
// so this depth suffices in practice.
constexpr int kMaxDepth = 3000;

}  // namespace

bool SequenceEditor::recompute(std::int32_t computation, RunId user, std::int64_t limit,
                               double price, int allowance) {
  allowance_ = allowance;
  price_ = price;
  if (p_.once(computation)) return false;
  const RunId run = s_.insert_after(s_.previous(user), computation);
  --allowance_;
  return recompute_inputs(run, limit, 0);
}

bool SequenceEditor::recompute_inputs(RunId run, std::int64_t limit, int depth) {
  if (depth > kMaxDepth) return false;
  const auto reads = p_.reads(s_.computation(run));
  struct Input {
    std::uint32_t born;
    std::int32_t index;
  };
  Input inline_inputs[8];
  std::vector<Input> many;
  Input* inputs = inline_inputs;
  if (reads.size() > 8) many.resize(reads.size()), inputs = many.data();
  std::size_t count = 0;
  for (std::size_t i = 0; i < reads.size(); ++i) {
    if (p_.bytes(reads[i].storage) == 0) continue;
    const RunId producer = s_.latest_before(reads[i].producer, s_.label(run));
    if (s_.last_use(producer, reads[i].slot) != run) continue;  // another reader keeps it alive
    inputs[count++] = {s_.label(producer), static_cast<std::int32_t>(i)};
  }
  std::sort(inputs, inputs + count, [](const Input& a, const Input& b) {
    return a.born != b.born ? a.born < b.born : a.index < b.index;
  });
  for (std::size_t k = 0; k < count; ++k) {
    const RematProblem::Read& read = reads[inputs[k].index];
    const std::uint32_t here = s_.label(run);
    const RunId producer = s_.latest_before(read.producer, here);
    if (s_.last_use(producer, read.slot) != run) continue;
    const RunId used = s_.last_use_before(producer, read.slot, here);
    const std::uint32_t from = s_.label(used) + 1;
    if (from >= here) continue;
    const std::int64_t highest = s_.tree().maximum(from, here - 1);
    // Recomputing gains nothing if its own step is as high as keeping the input.
    if (highest <= std::max(limit, s_.bytes_at(s_.previous(run)) - p_.bytes(read.storage) +
                                       p_.step_bytes(read.producer)))
      continue;
    // It stays alive whatever the peak: the caller checks that.
    if (p_.once(read.producer)) continue;
    const double worth = price_ * static_cast<double>(p_.bytes(read.storage));
    if (worth < 9e18) {
      const auto bound = static_cast<std::int64_t>(worth);
      int look = 4;
      if (estimate(read.producer, here, limit, bound, look) > bound) continue;
    }
    if (--allowance_ < 0) return false;
    const RunId again = s_.insert_after(s_.previous(run), read.producer);
    if (!recompute_inputs(again, limit, depth + 1)) return false;
    remove_dead_runs(producer);
  }
  return true;
}

std::int64_t SequenceEditor::estimate(std::int32_t computation, std::uint32_t at,
                                      std::int64_t limit, std::int64_t bound, int& allowance,
                                      std::uint32_t over) const {
  std::int64_t cost = p_.duration(computation);
  if (--allowance <= 0) return cost;
  for (const RematProblem::Read& read : p_.reads(computation)) {
    if (cost > bound || allowance <= 0) return cost;
    const std::int64_t bytes = p_.bytes(read.storage);
    if (bytes == 0 || p_.once(read.producer)) continue;
    const RunId producer = s_.latest_before(read.producer, at);
    if (producer == kNoRun) continue;
    const std::uint32_t last = s_.label(s_.last_use(producer, read.slot));
    if (last + 1 >= at) continue;
    const bool crosses = last < over && over < at;
    if (!crosses && s_.tree().maximum(last + 1, at - 1) + bytes <= limit) continue;
    cost += estimate(read.producer, at, limit, bound - cost, allowance, over);
  }
  return cost;
}

bool SequenceEditor::drop(const Gap& gap, std::int64_t limit, double price, int allowance) {
  if (!recompute(s_.computation(gap.run), gap.to, limit, price, allowance)) return false;
  remove_dead_runs(gap.run);
  return true;
}

bool SequenceEditor::hoist(RunId run, RunId at, int depth) {
  const std::int32_t c = s_.computation(run);
  if (depth < 0 || c == p_.boundary() || c == p_.end()) return false;
  const RunId same = s_.previous_same(run);
  if (same != kNoRun && !s_.before(same, at)) return false;
  for (const RematProblem::Read& read : p_.reads(c)) {
    const RunId producer = s_.latest_before(read.producer, s_.label(run));
    if (producer == at || !s_.before(producer, at))
      if (producer == at || !hoist(producer, at, depth - 1)) return false;
  }
  s_.move_after(s_.previous(at), run);
  return true;
}

bool SequenceEditor::sink(RunId run, RunId user, int depth) {
  const std::int32_t c = s_.computation(run);
  if (c == p_.boundary() || (p_.flags(c) & RematProblem::kBeforeBoundary) != 0) return false;
  const std::uint32_t limit = s_.label(user);
  for (std::int32_t j = 0; j < p_.storage_count(c); ++j)
    if (s_.last_use_before(run, j, limit) != run) return false;
  const RunId same = s_.next_same(run);
  if (same != kNoRun && s_.before(same, user)) return false;
  const RunId moved = s_.move_after(s_.previous(user), run);
  if (depth == 0) return true;
  for (const RematProblem::Read& read : p_.reads(c)) {
    const RunId producer = s_.latest_before(read.producer, s_.label(moved));
    if (p_.bytes(read.storage) != 0 && s_.last_use(producer, read.slot) == moved)
      sink(producer, moved, depth - 1);
  }
  return true;
}

bool SequenceEditor::remove(RunId run) {
  if (!removable(run)) return false;
  const std::int32_t computation = s_.computation(run);
  const std::uint32_t label = s_.label(run);
  s_.remove(run);
  for (const RematProblem::Read& read : p_.reads(computation)) {
    const RunId producer = s_.latest_before(read.producer, label);
    if (producer != kNoRun) remove_dead_runs(producer);
  }
  return true;
}

void SequenceEditor::remove_dead_runs(RunId run) {
  if (!s_.alive(run) || !s_.unused(run)) return;
  if (s_.previous_same(run) == kNoRun && s_.next_same(run) == kNoRun) return;
  remove(run);
}

}  // namespace recut::peak
