// A call's callbacks, in the form that the engine polls.
#pragma once

#include <chrono>
#include <string>

#include "native/c_api/recut.h"

namespace recut::c_api {

class Watcher {
 public:
  explicit Watcher(const recut_callbacks* callbacks) {
    if (callbacks != nullptr) callbacks_ = *callbacks;
  }

  bool has_progress() const { return callbacks_.progress != nullptr; }
  bool has_cancelled() const { return callbacks_.cancelled != nullptr; }

  static constexpr double kUnknown = -1;

  void report_progress(double fraction, const std::string& message) const {
    if (has_progress()) callbacks_.progress(callbacks_.user, fraction, message.c_str());
  }

  // Asks the caller at most once in kPause; a yes is final.
  bool should_stop() {
    if (stopped_ || !has_cancelled()) return stopped_;
    const auto now = Clock::now();
    if (now < next_) return false;
    stopped_ = callbacks_.cancelled(callbacks_.user) != 0;
    next_ = Clock::now() + kPause;
    return stopped_;
  }

  // Asks at once, whenever it asked last: before and after the work.
  bool stop_now() {
    next_ = {};
    return should_stop();
  }

 private:
  using Clock = std::chrono::steady_clock;
  static constexpr std::chrono::milliseconds kPause{2};

  recut_callbacks callbacks_{};
  Clock::time_point next_{};
  bool stopped_ = false;
};

}  // namespace recut::c_api
