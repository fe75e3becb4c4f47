// The rematerialisation problem: computations with a duration, storages with bytes, and which
// computation reads which storage. The planner knows nothing else of a graph. Checkmate (Jain et
// al., MLSys 2020) and Moccasin (Bartan et al., ICML 2023) state the same problem as an integer and
// a constraint program; finding a plan of minimum duration for a memory budget is NP-hard.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace recut {

// A scheduling problem with recomputation. Computations and storages are numbered from 0, storages
// in the order of the computations that make them.
//
// A *sequence* runs computations in some order, any of them more than once. A run allocates all
// storages of its computation at the start of its step. Readers read the latest instance, and an
// instance is freed after the step of its last reader (an unread one lives one step). Moccasin
// calls this span a retention interval. Every computation runs at least once. The peak is the most
// bytes alive in one step.
//
// Three conventions express the rest. An input costs nothing and isn't part of the problem. The
// boundary between forward and backward is a computation without bytes and duration: it runs once,
// reads forward's results, and owns a storage of 0 bytes that all users of tangents read. The end
// is a last computation that runs once and reads everything that has to stay alive.
class RematProblem {
 public:
  enum Flag : std::uint8_t {
    kOnce = 1,            // runs only once: random, saved by force, boundary, end
    kBeforeBoundary = 2,  // may not run after the boundary: forward's results
  };

  struct Read {
    std::int32_t storage;
    std::int32_t producer;
    std::int32_t slot;  // the storage is the slot-th of `producer`
  };

  // Reads name existing storages; equal ones count once. Bytes and duration are 0 or more.
  std::int32_t add(std::int64_t duration, std::span<const std::int64_t> storage_bytes,
                   std::span<const std::int32_t> reads, std::uint8_t flags = 0);

  // Declare the boundary and the end; both must have kOnce.
  void set_boundary(std::int32_t computation) { boundary_ = computation; }
  void set_end(std::int32_t computation) { end_ = computation; }

  // The program order: a topological order of all computations, each once.
  std::vector<std::int32_t> order;

  std::int32_t size() const { return static_cast<std::int32_t>(duration_.size()); }
  std::int32_t storages() const { return static_cast<std::int32_t>(bytes_.size()); }
  std::int32_t boundary() const { return boundary_; }  // -1: no boundary
  std::int32_t end() const { return end_; }            // -1: no end

  std::int64_t duration(std::int32_t c) const { return duration_[c]; }
  std::uint8_t flags(std::int32_t c) const { return flags_[c]; }
  bool once(std::int32_t c) const { return (flags_[c] & kOnce) != 0; }
  void set_flags(std::int32_t c, std::uint8_t flags) { flags_[c] = flags; }

  std::int64_t bytes(std::int32_t storage) const { return bytes_[storage]; }
  std::int32_t producer(std::int32_t storage) const { return producer_[storage]; }
  std::int32_t first_storage(std::int32_t c) const { return first_storage_[c]; }
  std::int32_t storage_count(std::int32_t c) const {
    return first_storage_[c + 1] - first_storage_[c];
  }

  std::span<const Read> reads(std::int32_t c) const {
    return std::span(reads_).subspan(first_read_[c], first_read_[c + 1] - first_read_[c]);
  }
  // Computations that read a storage, ascending. Valid after finish().
  std::span<const std::int32_t> readers(std::int32_t storage) const {
    return std::span(readers_).subspan(first_reader_[storage],
                                       first_reader_[storage + 1] - first_reader_[storage]);
  }

  // All bytes that a run reads and makes: a lower bound on its step. Valid after finish().
  std::int64_t step_bytes(std::int32_t c) const { return step_bytes_[c]; }

  // Builds the index from storages to readers; call once after the last add().
  void finish();

  // The sum over all computations, each once.
  std::int64_t total_duration() const { return total_duration_; }

 private:
  std::vector<std::int64_t> duration_;
  std::int64_t total_duration_ = 0;
  std::vector<std::uint8_t> flags_;
  std::vector<std::int32_t> first_storage_{0};
  std::vector<std::int64_t> bytes_;
  std::vector<std::int32_t> producer_;
  std::vector<std::int32_t> first_read_{0};
  std::vector<Read> reads_;
  std::vector<std::int32_t> first_reader_;
  std::vector<std::int32_t> readers_;
  std::vector<std::int64_t> step_bytes_;
  std::int32_t boundary_ = -1;
  std::int32_t end_ = -1;
};

}  // namespace recut
