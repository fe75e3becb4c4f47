// A few threads that wait for work: for loops whose parts last microseconds.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace recut::cpu {

class Threads {
 public:
  // `count` threads work, the caller's among them; at least 1.
  explicit Threads(int count);
  ~Threads();
  Threads(const Threads&) = delete;
  Threads& operator=(const Threads&) = delete;

  int count() const { return static_cast<int>(workers_.size()) + 1; }

  // Calls work(first, last) for parts that together are 0 … extent, a part a thread at most, each
  // beginning at a multiple of `grain`; returns when all have. The same extent and grain always
  // give the same parts.
  using Work = std::function<void(std::int64_t first, std::int64_t last)>;
  void run(std::int64_t extent, std::int64_t grain, const Work& work);

 private:
  void wait_for_work(int worker);
  void do_part(int worker);

  std::vector<std::thread> workers_;
  std::mutex mutex_;
  std::condition_variable begun_, ended_;
  std::uint64_t round_ = 0;  // counts the calls of run
  int at_work_ = 0;
  bool closing_ = false;

  const Work* work_ = nullptr;
  std::int64_t extent_ = 0, grain_ = 1;
};

}  // namespace recut::cpu
