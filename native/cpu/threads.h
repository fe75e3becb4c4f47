// Threads for loops whose parts last microseconds. They are OpenMP's, as oneDNN's are: two pools on
// the same cores would wait for each other.
#pragma once

#include <cstdint>
#include <functional>

namespace recut::cpu {

class Threads {
 public:
  // `count` threads work, the caller's among them; at least 1. oneDNN on the caller's thread uses
  // as many from then on.
  explicit Threads(int count);

  int count() const { return count_; }

  // The threads of loops of the calling thread: the count of its last Threads, or 1 within a
  // SingleThreadScope.
  static int available();

  // Calls work(first, last) for parts that together are 0 … extent: at most one part per thread,
  // each beginning at a multiple of `grain`. Returns when all have ended. The same extent and
  // grain always give the same parts.
  using Work = std::function<void(std::int64_t first, std::int64_t last)>;
  void run(std::int64_t extent, std::int64_t grain, const Work& work) const;

 private:
  int count_;
};

// While it lives, its thread works alone: OpenMP loops, oneDNN's primitives and their creation take
// no other thread.
class SingleThreadScope {
 public:
  SingleThreadScope();
  ~SingleThreadScope();
  SingleThreadScope(const SingleThreadScope&) = delete;
  SingleThreadScope& operator=(const SingleThreadScope&) = delete;

 private:
  const int before_;
};

}  // namespace recut::cpu
