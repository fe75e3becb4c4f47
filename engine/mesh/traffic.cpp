#include "engine/mesh/traffic.h"

#include <algorithm>

namespace recut::mesh {

Sent sent_by_all_gather(std::int64_t n, std::int64_t shard_bytes) {
  return {(n - 1) * shard_bytes, n - 1};
}

Sent sent_by_all_to_all(std::int64_t n, std::int64_t part_bytes) {
  return {(n - 1) * part_bytes, n - 1};
}

Sent sent_by_reduce_scatter(std::int64_t n, std::int64_t part_bytes) {
  return {(n - 1) * part_bytes, n - 1};
}

Sent sent_by_all_reduce(std::int64_t n, std::int64_t whole_bytes) {
  return {(2 * (n - 1) * whole_bytes + n - 1) / n, 2 * (n - 1)};
}

void Traffic::add(std::int64_t position, Sent sent) {
  Sent& total = sent_[static_cast<std::size_t>(position)];
  total.bytes += sent.bytes;
  total.messages += sent.messages;
}

void Traffic::add(std::span<const std::int64_t> group, Sent each) {
  for (const std::int64_t position : group) add(position, each);
}

std::int64_t Traffic::calls() const {
  std::int64_t calls = 0;
  for (const std::int64_t of_kind : calls_) calls += of_kind;
  return calls;
}

std::int64_t Traffic::max_bytes_sent() const {
  std::int64_t most = 0;
  for (const Sent& sent : sent_) most = std::max(most, sent.bytes);
  return most;
}

std::int64_t Traffic::messages() const {
  std::int64_t messages = 0;
  for (const Sent& sent : sent_) messages += sent.messages;
  return messages;
}

}  // namespace recut::mesh
