#include "engine/partition/peak/peak_of.h"

#include <algorithm>
#include <cstddef>
#include <vector>

namespace recut::peak {

std::int64_t peak_of(const RematProblem& problem, std::span<const std::int32_t> sequence) {
  // By run: the index of its storages' last uses in `uses`.
  std::vector<std::size_t> first_use(sequence.size());
  std::vector<std::size_t> latest(static_cast<std::size_t>(problem.size()));  // run, by computation
  std::vector<std::size_t> uses;
  for (std::size_t t = 0; t < sequence.size(); ++t) {
    const std::int32_t c = sequence[t];
    for (const RematProblem::Read& read : problem.reads(c))
      uses[first_use[latest[read.producer]] + static_cast<std::size_t>(read.slot)] = t;
    latest[c] = t;
    first_use[t] = uses.size();
    uses.resize(uses.size() + static_cast<std::size_t>(problem.storage_count(c)), t);
  }
  std::vector<std::int64_t> change(sequence.size() + 1, 0);
  for (std::size_t t = 0; t < sequence.size(); ++t)
    for (std::int32_t j = 0; j < problem.storage_count(sequence[t]); ++j) {
      const std::int64_t bytes = problem.bytes(problem.first_storage(sequence[t]) + j);
      change[t] += bytes;
      change[uses[first_use[t] + static_cast<std::size_t>(j)] + 1] -= bytes;
    }
  std::int64_t alive = 0, peak = 0;
  for (const std::int64_t bytes : change) peak = std::max(peak, alive += bytes);
  return peak;
}

}  // namespace recut::peak
