// Storages whose bytes are counted as they are allocated and freed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace recut {

// Counts live bytes and their peak.
struct MemoryMeter {
  std::int64_t live_bytes = 0;
  std::int64_t peak_bytes = 0;

  void allocate(std::int64_t bytes) {
    live_bytes += bytes;
    if (live_bytes > peak_bytes) peak_bytes = live_bytes;
  }
  void release(std::int64_t bytes) { live_bytes -= bytes; }
};

// One reference-counted allocation, counted by its meter. Bytes start as zeros, so that unwritten
// elements (aten.empty) are the same in every run.
class Storage {
 public:
  Storage(std::int64_t bytes, std::shared_ptr<MemoryMeter> meter);
  ~Storage();
  Storage(const Storage&) = delete;
  Storage& operator=(const Storage&) = delete;

  std::byte* data() { return bytes_.data(); }
  const std::byte* data() const { return bytes_.data(); }
  std::int64_t size() const { return static_cast<std::int64_t>(bytes_.size()); }

 private:
  std::vector<std::byte> bytes_;
  std::shared_ptr<MemoryMeter> meter_;  // null: not counted (inputs)
};

}  // namespace recut
