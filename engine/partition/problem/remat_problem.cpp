#include "engine/partition/problem/remat_problem.h"

#include <algorithm>

#include "engine/support/check.h"

namespace recut {

std::int32_t RematProblem::add(std::int64_t duration, std::span<const std::int64_t> storage_bytes,
                               std::span<const std::int32_t> reads, std::uint8_t flags) {
  RECUT_CHECK(duration >= 0, "a computation takes no negative time");
  const std::int32_t id = size();
  duration_.push_back(duration);
  total_duration_ += duration;
  flags_.push_back(flags);
  for (const std::int64_t bytes : storage_bytes) {
    RECUT_CHECK(bytes >= 0, "a storage has no negative size");
    bytes_.push_back(bytes);
    producer_.push_back(id);
  }
  first_storage_.push_back(storages());
  const auto first = static_cast<std::ptrdiff_t>(reads_.size());
  for (const std::int32_t storage : reads) {
    RECUT_CHECK(storage >= 0 && storage < first_storage_[id], "a read of a storage added later");
    const bool known = std::any_of(reads_.begin() + first, reads_.end(),
                                   [&](const Read& r) { return r.storage == storage; });
    if (known) continue;
    const std::int32_t producer = producer_[storage];
    reads_.push_back({storage, producer, storage - first_storage_[producer]});
  }
  first_read_.push_back(static_cast<std::int32_t>(reads_.size()));
  return id;
}

void RematProblem::finish() {
  first_reader_.assign(static_cast<std::size_t>(storages()) + 1, 0);
  for (const Read& read : reads_) ++first_reader_[read.storage + 1];
  for (std::int32_t s = 0; s < storages(); ++s) first_reader_[s + 1] += first_reader_[s];
  readers_.resize(reads_.size());
  std::vector<std::int32_t> next(first_reader_.begin(), first_reader_.end() - 1);
  for (std::int32_t c = 0; c < size(); ++c)
    for (const Read& read : reads(c)) readers_[next[read.storage]++] = c;
  step_bytes_.assign(size(), 0);
  for (std::int32_t c = 0; c < size(); ++c) {
    for (const Read& read : reads(c)) step_bytes_[c] += bytes_[read.storage];
    for (std::int32_t s = first_storage_[c]; s < first_storage_[c + 1]; ++s)
      step_bytes_[c] += bytes_[s];
  }
}

}  // namespace recut
