#include "engine/partition/peak/two_pass_backward.h"

#include <algorithm>

namespace recut::peak {
namespace {

class TwoPassExpansion {
 public:
  TwoPassExpansion(const RematProblem& p, const std::vector<bool>& saved, double share)
      : p_(p),
        saved_(saved),
        deferred_(p.size(), false),
        needed_(p.size(), false),
        available_(p.storages(), false) {
    const auto boundary = std::find(p.order.begin(), p.order.end(), p.boundary());
    forward_.assign(p.order.begin(), boundary);
    backward_.assign(boundary + 1, p.order.end());
    find_deferred(share);
    find_needed();
  }

  std::vector<std::int32_t> run() {
    sequence_ = forward_;
    sequence_.push_back(p_.boundary());
    // First pass: forward's saved values are available, and nothing of backward.
    for (std::int32_t s = 0; s < p_.storages(); ++s)
      available_[s] = saved_[s] || runs_once(p_.producer(s));
    for (const std::int32_t c : backward_)
      if (c != p_.end() && !(deferred_[c] && makes_only_results(p_, c))) expand(c);
    // Second pass: recompute forward as far as the deferred results need it, with the same saved
    // set.
    for (const std::int32_t c : forward_)
      if (needed_[c] && !runs_once(c)) sequence_.push_back(c);
    for (std::int32_t s = 0; s < p_.storages(); ++s)
      available_[s] = runs_once(p_.producer(s)) || !needed_[p_.producer(s)] ||
                      (saved_[s] && is_forward_[p_.producer(s)]);
    for (const RematProblem::Read& read : p_.reads(p_.end()))
      if (!deferred_[read.producer]) available_[read.storage] = true;
    for (const std::int32_t c : backward_)
      if (deferred_[c]) expand(c);
    expand(p_.end());
    return std::move(sequence_);
  }

 private:
  // Never runs a second time.
  bool runs_once(std::int32_t c) const {
    return p_.once(c) || (p_.flags(c) & RematProblem::kBeforeBoundary) != 0;
  }

  void find_deferred(double share) {
    is_forward_.assign(static_cast<std::size_t>(p_.size()), false);
    for (const std::int32_t c : forward_) is_forward_[c] = true;
    std::vector<std::int64_t> bytes(static_cast<std::size_t>(p_.size()), 0);
    std::int64_t all = 0, sum = 0;
    for (const RematProblem::Read& read : p_.reads(p_.end())) {
      if (is_forward_[read.producer] || runs_once(read.producer)) continue;
      bytes[read.producer] += p_.bytes(read.storage);
      all += p_.bytes(read.storage);
    }
    for (const std::int32_t c : backward_) {
      if (static_cast<double>(sum + bytes[c]) > share * static_cast<double>(all)) break;
      sum += bytes[c];
      deferred_[c] = bytes[c] > 0;
    }
  }

  void find_needed() {
    needed_ = deferred_;
    for (auto c = backward_.rbegin(); c != backward_.rend(); ++c) need_inputs(*c);
    for (auto c = forward_.rbegin(); c != forward_.rend(); ++c) need_inputs(*c);
  }

  void need_inputs(std::int32_t c) {
    if (!needed_[c] || c == p_.end() || runs_once(c)) return;
    for (const RematProblem::Read& read : p_.reads(c)) needed_[read.producer] = true;
  }

  // Runs `goal`, and before it its missing inputs, depth first.
  void expand(std::int32_t goal) {
    stack_.assign(1, goal);
    while (!stack_.empty()) {
      const std::int32_t c = stack_.back();
      const auto reads = p_.reads(c);
      const auto missing =
          std::find_if(reads.begin(), reads.end(),
                       [&](const RematProblem::Read& read) { return !available_[read.storage]; });
      if (missing != reads.end()) {
        stack_.push_back(missing->producer);
        continue;
      }
      sequence_.push_back(c);
      for (std::int32_t j = 0; j < p_.storage_count(c); ++j)
        available_[p_.first_storage(c) + j] = true;
      stack_.pop_back();
    }
  }

  const RematProblem& p_;
  const std::vector<bool>& saved_;
  std::vector<std::int32_t> forward_, backward_;  // in the problem's order
  std::vector<bool> is_forward_;                  // by computation
  std::vector<bool> deferred_;                    // its results belong to the second pass
  std::vector<bool> needed_;                      // a deferred result needs it
  std::vector<bool> available_;                   // by storage
  std::vector<std::int32_t> sequence_, stack_;
};

}  // namespace

bool makes_only_results(const RematProblem& p, std::int32_t c) {
  if (p.end() < 0 || (p.flags(c) & (RematProblem::kOnce | RematProblem::kBeforeBoundary)) != 0)
    return false;
  std::int64_t bytes = 0;
  for (std::int32_t j = 0; j < p.storage_count(c); ++j) {
    const std::int32_t s = p.first_storage(c) + j;
    for (const std::int32_t reader : p.readers(s))
      if (reader != p.end()) return false;
    if (!p.readers(s).empty()) bytes += p.bytes(s);
  }
  return bytes > 0;
}

std::vector<std::int32_t> expand_in_two_passes(const RematProblem& problem,
                                               const std::vector<bool>& saved, double share) {
  return TwoPassExpansion(problem, saved, share).run();
}

}  // namespace recut::peak
