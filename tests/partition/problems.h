// Random problems, and the peak of a sequence measured from its definition.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "engine/partition/problem/remat_problem.h"
#include "engine/support/hash.h"

namespace recut {

class RandomSource {
 public:
  explicit RandomSource(std::uint64_t seed) : state_(seed) {}
  std::int64_t below(std::int64_t n) {
    state_ = hash_mix(state_, 1);
    return static_cast<std::int64_t>((state_ >> 16) % static_cast<std::uint64_t>(n));
  }

 private:
  std::uint64_t state_;
};

// `size` computations with one or two storages each that read up to three recent ones; half of the
// problems have a boundary, half an end.
inline RematProblem random_problem(std::uint64_t seed, int size) {
  RandomSource dice(seed);
  RematProblem p;
  const int boundary = dice.below(2) == 0 ? size / 2 : -1;
  std::int32_t token = -1;
  for (int i = 0; i < size; ++i) {
    if (i == boundary) {
      const std::int64_t none = 0;
      const std::vector<std::int32_t> last{p.storages() - 1};
      token = p.storages();
      p.set_boundary(p.add(0, std::span(&none, 1), last, RematProblem::kOnce));
    }
    std::vector<std::int32_t> reads;
    for (std::int64_t k = p.storages() > 0 ? dice.below(4) : 0; k > 0; --k) {
      const std::int64_t back = dice.below(dice.below(2) == 0 ? 3 : 9);
      reads.push_back(
          static_cast<std::int32_t>(std::max<std::int64_t>(0, p.storages() - 1 - back)));
    }
    if (token >= 0 && dice.below(2) == 0) reads.push_back(token);
    std::vector<std::int64_t> bytes;
    for (std::int64_t k = 1 + (dice.below(5) == 0 ? 1 : 0); k > 0; --k)
      bytes.push_back(dice.below(4) == 0 ? 0 : 1 + dice.below(20));
    const std::uint8_t flags = dice.below(8) == 0 ? RematProblem::kOnce : 0;
    p.add(dice.below(30), bytes, reads, flags);
  }
  if (dice.below(2) == 0) {
    std::vector<std::int32_t> reads{p.storages() - 1};
    for (std::int32_t s = 0; s + 1 < p.storages(); ++s)
      if (dice.below(4) == 0) reads.push_back(s);
    p.set_end(p.add(0, {}, reads, RematProblem::kOnce));
  }
  p.finish();
  for (std::int32_t c = 0; c < p.size(); ++c) p.order.push_back(c);
  return p;
}

// Step by step, from the definition in remat_problem.h; nothing if the sequence can't run.
inline std::optional<std::int64_t> measured_peak(const RematProblem& p,
                                                 std::span<const std::int32_t> sequence) {
  const std::size_t steps = sequence.size();
  std::vector<std::int64_t> run(p.size(), -1);
  std::vector<std::vector<std::size_t>> last(steps);
  for (std::size_t t = 0; t < steps; ++t) {
    const std::int32_t c = sequence[t];
    for (const RematProblem::Read& read : p.reads(c)) {
      if (run[read.producer] < 0) return std::nullopt;
      last[static_cast<std::size_t>(run[read.producer])][static_cast<std::size_t>(read.slot)] = t;
    }
    if (run[c] >= 0 && p.once(c)) return std::nullopt;
    last[t].assign(static_cast<std::size_t>(p.storage_count(c)), t);
    run[c] = static_cast<std::int64_t>(t);
  }
  if (std::find(run.begin(), run.end(), -1) != run.end()) return std::nullopt;
  std::int64_t peak = 0;
  for (std::size_t at = 0; at < steps; ++at) {
    std::int64_t alive = 0;
    for (std::size_t t = 0; t <= at; ++t)
      for (std::size_t j = 0; j < last[t].size(); ++j)
        if (last[t][j] >= at)
          alive += p.bytes(p.first_storage(sequence[t]) + static_cast<std::int32_t>(j));
    peak = std::max(peak, alive);
  }
  return peak;
}

// The sum over all runs of a sequence.
inline std::int64_t duration_of(const RematProblem& p, const std::vector<std::int32_t>& sequence) {
  std::int64_t sum = 0;
  for (const std::int32_t c : sequence) sum += p.duration(c);
  return sum;
}

}  // namespace recut
