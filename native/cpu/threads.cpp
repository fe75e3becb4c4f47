#include "native/cpu/threads.h"

#include <omp.h>

#include <algorithm>

namespace recut::cpu {

Threads::Threads(int count) : count_(std::max(1, count)) { omp_set_num_threads(count_); }

int Threads::available() { return omp_get_max_threads(); }

void Threads::run(std::int64_t extent, std::int64_t grain, const Work& work) const {
  if (count_ == 1 || extent <= grain) {
    if (extent > 0) work(0, extent);
    return;
  }
  // Divides the grains evenly, in order.
  const std::int64_t grains = (extent + grain - 1) / grain;
#pragma omp parallel for num_threads(count_) schedule(static, 1)
  for (int part = 0; part < count_; ++part) {
    const std::int64_t first = grains * part / count_ * grain;
    const std::int64_t last = std::min(extent, grains * (part + 1) / count_ * grain);
    if (first < last) work(first, last);
  }
}

SingleThreadScope::SingleThreadScope() : before_(omp_get_max_threads()) { omp_set_num_threads(1); }

SingleThreadScope::~SingleThreadScope() { omp_set_num_threads(before_); }

}  // namespace recut::cpu
