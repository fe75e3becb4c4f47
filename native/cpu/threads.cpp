#include "native/cpu/threads.h"

#include <algorithm>

namespace recut::cpu {

Threads::Threads(int count) {
  for (int worker = 1; worker < count; ++worker)
    workers_.emplace_back([this, worker] { wait_for_work(worker); });
}

Threads::~Threads() {
  {
    const std::lock_guard lock(mutex_);
    closing_ = true;
  }
  begun_.notify_all();
  for (std::thread& worker : workers_) worker.join();
}

void Threads::run(std::int64_t extent, std::int64_t grain, const Work& work) {
  if (workers_.empty() || extent <= grain) {
    if (extent > 0) work(0, extent);
    return;
  }
  {
    const std::lock_guard lock(mutex_);
    work_ = &work;
    extent_ = extent;
    grain_ = grain;
    at_work_ = static_cast<int>(workers_.size());
    ++round_;
  }
  begun_.notify_all();
  do_part(0);
  std::unique_lock lock(mutex_);
  ended_.wait(lock, [&] { return at_work_ == 0; });
}

// Grains as evenly as they go, in order.
void Threads::do_part(int worker) {
  const std::int64_t grains = (extent_ + grain_ - 1) / grain_;
  const std::int64_t first = grains * worker / count() * grain_;
  const std::int64_t last = std::min(extent_, grains * (worker + 1) / count() * grain_);
  if (first < last) (*work_)(first, last);
}

void Threads::wait_for_work(int worker) {
  std::uint64_t done = 0;
  for (;;) {
    {
      std::unique_lock lock(mutex_);
      begun_.wait(lock, [&] { return closing_ || round_ != done; });
      if (closing_) return;
      done = round_;
    }
    do_part(worker);
    const std::lock_guard lock(mutex_);
    if (--at_work_ == 0) ended_.notify_one();
  }
}

}  // namespace recut::cpu
