// Bytes behind values, counted as they are really allocated and freed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace recut {

// Counts the bytes that are allocated at once, and the most there ever were.
struct MemoryMeter {
  std::int64_t live_bytes = 0;
  std::int64_t peak_bytes = 0;

  void allocate(std::int64_t bytes) {
    live_bytes += bytes;
    if (live_bytes > peak_bytes) peak_bytes = live_bytes;
  }
  void release(std::int64_t bytes) { live_bytes -= bytes; }
};

// One allocation; freed, and subtracted from its meter, with its last owner. Bytes start as zeros,
// so that nothing that an operator leaves unwritten (aten.empty) differs from run to run.
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
