// Tells a search when to stop: when its effort is spent, its time is over, or its caller cancels.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>

#include "engine/partition/peak/solve_outcome.h"

namespace recut::peak {

class SearchClock {
 public:
  // `options` must outlive this.
  explicit SearchClock(const SolveOptions& options)
      : options_(options), effort_(options.effort), began_(std::chrono::steady_clock::now()) {}

  // Extends the limit to `work` plus this share of the whole effort.
  void allow(std::int64_t work, double share) {
    effort_ = work + static_cast<std::int64_t>(share * static_cast<double>(options_.effort));
  }

  bool spent(std::int64_t work) const {
    if (work >= effort_) return true;
    if (options_.cancelled()) return true;
    const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - began_;
    return options_.seconds > 0 && taken.count() >= options_.seconds;
  }

  // The share of the limit that is spent, 0 … 1: of the effort or of the time, whichever is larger.
  double share(std::int64_t work) const {
    const double of_effort =
        static_cast<double>(work) / static_cast<double>(std::max<std::int64_t>(1, effort_));
    if (options_.seconds <= 0) return std::min(1.0, of_effort);
    const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - began_;
    return std::min(1.0, std::max(of_effort, taken.count() / options_.seconds));
  }

  void report_progress(const Progress& progress) const {
    if (options_.on_progress) options_.on_progress(progress);
  }

 private:
  const SolveOptions& options_;
  std::int64_t effort_;
  std::chrono::steady_clock::time_point began_;
};

}  // namespace recut::peak
