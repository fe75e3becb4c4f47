// Counts of the bytes and messages of collectives, by the ring algorithms.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

namespace recut::mesh {

enum class CollectiveKind : std::uint8_t {
  scatter,
  broadcast,
  all_gather,
  all_to_all,
  all_reduce,
  reduce_scatter,
  permute
};
inline constexpr std::size_t kCollectiveKinds = 7;

// The bytes and messages that one rank sends in a collective of one group.
struct Sent {
  std::int64_t bytes = 0;
  std::int64_t messages = 0;
};

// With n ranks: every rank sends its shard to all others (`shard_bytes`, padding counted); a part
// to each other rank; or the whole value's parts twice, rounded up. All are 0 for one rank.
Sent sent_by_all_gather(std::int64_t n, std::int64_t shard_bytes);
Sent sent_by_all_to_all(std::int64_t n, std::int64_t part_bytes);
Sent sent_by_reduce_scatter(std::int64_t n, std::int64_t part_bytes);
Sent sent_by_all_reduce(std::int64_t n, std::int64_t whole_bytes);

// Of all ranks of a mesh, by position.
class Traffic {
 public:
  explicit Traffic(std::int64_t ranks) : sent_(static_cast<std::size_t>(ranks)) {}

  // A collective that every rank takes part in, once each: several groups count as one call.
  void begin(CollectiveKind kind) { ++calls_[static_cast<std::size_t>(kind)]; }
  void add(std::int64_t position, Sent sent);
  void add(std::span<const std::int64_t> group, Sent each);

  std::int64_t calls(CollectiveKind kind) const { return calls_[static_cast<std::size_t>(kind)]; }
  std::int64_t calls() const;  // of all kinds
  std::int64_t bytes_sent(std::int64_t position) const {
    return sent_[static_cast<std::size_t>(position)].bytes;
  }
  std::int64_t max_bytes_sent() const;  // by one rank
  std::int64_t messages() const;        // of all ranks

 private:
  std::array<std::int64_t, kCollectiveKinds> calls_{};
  std::vector<Sent> sent_;
};

}  // namespace recut::mesh
