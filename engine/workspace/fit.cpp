#include "engine/workspace/fit.h"

#include <algorithm>
#include <optional>

namespace recut {
namespace {

constexpr int kMaxGuesses = 4;  // by ratio, before bisection

class FitSearch {
 public:
  explicit FitSearch(const FitRequest& request) : request_(request), low_(request.min_size - 1) {}

  Result<Fit> run() {
    const std::int64_t first = std::clamp(request_.start, request_.min_size, request_.max_size);
    if (auto done = attempt(first); !done) return done.diagnostics();
    while (!closed())
      if (auto done = attempt(next()); !done) return done.diagnostics();
    fit_.size = low_ < request_.min_size ? 0 : low_;
    return std::move(fit_);
  }

 private:
  bool closed() const { return high_ ? *high_ - low_ <= 1 : low_ >= request_.max_size; }

  std::int64_t next() {
    if (!high_) return std::min(request_.max_size, std::max(low_ + 1, by_ratio(low_)));
    // A refused size's plan has the minimum peak, which the ratio needs.
    const std::int64_t guess =
        guesses_++ < kMaxGuesses ? by_ratio(*high_) : low_ + (*high_ - low_) / 2;
    return std::clamp(guess, low_ + 1, *high_ - 1);
  }

  std::int64_t by_ratio(std::int64_t size) const {
    const FitPoint& point = fit_.tried.at(size);
    if (point.peak_bytes <= 0) return low_ + (size - low_) / 2;
    const double ratio = static_cast<double>(budget_) / static_cast<double>(point.peak_bytes);
    const double scaled = static_cast<double>(size) * std::max(ratio, point.holds ? 2.0 : 0.0);
    return static_cast<std::int64_t>(std::min(scaled, static_cast<double>(request_.max_size)));
  }

  Result<Done> attempt(std::int64_t size) {
    request_.progress(size);
    const auto document = request_.open(size);
    if (!document) return document.diagnostics();
    const auto planned = plan_document(*document, request_.planning);
    if (!planned) return planned.diagnostics();
    const PlanReport& report = planned->report;
    budget_ = report.budget_bytes;
    FitPoint& point = fit_.tried[size];
    point.holds = report.holds();
    point.peak_bytes = report.peak_bytes;
    point.step_us = report.step_us;
    point.recompute_us = report.recompute_us;
    if (point.holds)
      low_ = std::max(low_, size);
    else
      high_ = size;
    return Done{};
  }

  const FitRequest& request_;
  Fit fit_;
  std::int64_t low_;  // the largest size that holds, or min_size - 1
  std::optional<std::int64_t> high_;
  std::int64_t budget_ = 0;
  int guesses_ = 0;
};

}  // namespace

Result<Fit> fit_size(const FitRequest& request) { return FitSearch(request).run(); }

}  // namespace recut
