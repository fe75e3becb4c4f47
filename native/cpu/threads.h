// Threads that share loops whose parts last microseconds. They are OpenMP's, as oneDNN's are: two
// pools on the same cores would wait for each other.
#pragma once

#include <cstdint>
#include <functional>

namespace recut::cpu {

class Threads {
 public:
  // `count` threads work, the caller's among them; at least 1. What the caller's thread does by
  // oneDNN from then on takes as many, too.
  explicit Threads(int count);

  int count() const { return count_; }

  // Calls work(first, last) for parts that together are 0 … extent, a part a thread at most, each
  // beginning at a multiple of `grain`; returns when all have. The same extent and grain always
  // give the same parts.
  using Work = std::function<void(std::int64_t first, std::int64_t last)>;
  void run(std::int64_t extent, std::int64_t grain, const Work& work) const;

 private:
  int count_;
};

// While it lives, the thread that made it works by itself: what it does by OpenMP, oneDNN's
// primitives and the making of them included, takes no other thread.
class Alone {
 public:
  Alone();
  ~Alone();
  Alone(const Alone&) = delete;
  Alone& operator=(const Alone&) = delete;

 private:
  const int before_;
};

}  // namespace recut::cpu
