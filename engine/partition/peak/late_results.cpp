#include "engine/partition/peak/late_results.h"

#include <algorithm>

namespace recut::peak {
namespace {

class TwoPasses {
 public:
  TwoPasses(const Problem& p, const std::vector<bool>& saved, double share)
      : p_(p),
        saved_(saved),
        late_(p.size(), false),
        needed_(p.size(), false),
        there_(p.storages(), false) {
    const auto border = std::find(p.order.begin(), p.order.end(), p.border());
    forward_.assign(p.order.begin(), border);
    backward_.assign(border + 1, p.order.end());
    find_late(share);
    find_needed();
  }

  std::vector<std::int32_t> run() {
    sequence_ = forward_;
    sequence_.push_back(p_.border());
    // First pass: forward's saved values are available, and nothing of backward.
    for (std::int32_t s = 0; s < p_.storages(); ++s) there_[s] = saved_[s] || stays(p_.producer(s));
    for (const std::int32_t c : backward_)
      if (c != p_.end() && !(late_[c] && makes_results_alone(p_, c))) expand(c);
    // Second pass: recompute forward as far as the deferred results need it, with the same saved
    // set.
    for (const std::int32_t c : forward_)
      if (needed_[c] && !stays(c)) sequence_.push_back(c);
    for (std::int32_t s = 0; s < p_.storages(); ++s)
      there_[s] = stays(p_.producer(s)) || !needed_[p_.producer(s)] ||
                  (saved_[s] && is_forward_[p_.producer(s)]);
    for (const Problem::Read& read : p_.reads(p_.end()))
      if (!late_[read.producer]) there_[read.storage] = true;
    for (const std::int32_t c : backward_)
      if (late_[c]) expand(c);
    expand(p_.end());
    return std::move(sequence_);
  }

 private:
  // Never runs a second time.
  bool stays(std::int32_t c) const {
    return p_.once(c) || (p_.flags(c) & Problem::kBeforeBorder) != 0;
  }

  void find_late(double share) {
    is_forward_.assign(static_cast<std::size_t>(p_.size()), false);
    for (const std::int32_t c : forward_) is_forward_[c] = true;
    std::vector<std::int64_t> bytes(static_cast<std::size_t>(p_.size()), 0);
    std::int64_t all = 0, sum = 0;
    for (const Problem::Read& read : p_.reads(p_.end())) {
      if (is_forward_[read.producer] || stays(read.producer)) continue;
      bytes[read.producer] += p_.bytes(read.storage);
      all += p_.bytes(read.storage);
    }
    for (const std::int32_t c : backward_) {
      if (static_cast<double>(sum + bytes[c]) > share * static_cast<double>(all)) break;
      sum += bytes[c];
      late_[c] = bytes[c] > 0;
    }
  }

  void find_needed() {
    needed_ = late_;
    for (auto c = backward_.rbegin(); c != backward_.rend(); ++c) need_inputs(*c);
    for (auto c = forward_.rbegin(); c != forward_.rend(); ++c) need_inputs(*c);
  }

  void need_inputs(std::int32_t c) {
    if (!needed_[c] || c == p_.end() || stays(c)) return;
    for (const Problem::Read& read : p_.reads(c)) needed_[read.producer] = true;
  }

  // Runs `goal`, and before it its missing inputs, depth first.
  void expand(std::int32_t goal) {
    stack_.assign(1, goal);
    while (!stack_.empty()) {
      const std::int32_t c = stack_.back();
      const auto reads = p_.reads(c);
      const auto missing = std::find_if(reads.begin(), reads.end(), [&](const Problem::Read& read) {
        return !there_[read.storage];
      });
      if (missing != reads.end()) {
        stack_.push_back(missing->producer);
        continue;
      }
      sequence_.push_back(c);
      for (std::int32_t j = 0; j < p_.storage_count(c); ++j) there_[p_.first_storage(c) + j] = true;
      stack_.pop_back();
    }
  }

  const Problem& p_;
  const std::vector<bool>& saved_;
  std::vector<std::int32_t> forward_, backward_;  // in the problem's order
  std::vector<bool> is_forward_;                  // by computation
  std::vector<bool> late_;                        // its results belong to the second pass
  std::vector<bool> needed_;                      // a deferred result needs it
  std::vector<bool> there_;                       // by storage
  std::vector<std::int32_t> sequence_, stack_;
};

}  // namespace

bool makes_results_alone(const Problem& p, std::int32_t c) {
  if (p.end() < 0 || (p.flags(c) & (Problem::kOnce | Problem::kBeforeBorder)) != 0) return false;
  std::int64_t bytes = 0;
  for (std::int32_t j = 0; j < p.storage_count(c); ++j) {
    const std::int32_t s = p.first_storage(c) + j;
    for (const std::int32_t reader : p.readers(s))
      if (reader != p.end()) return false;
    if (!p.readers(s).empty()) bytes += p.bytes(s);
  }
  return bytes > 0;
}

std::vector<std::int32_t> expand_in_two_passes(const Problem& problem,
                                               const std::vector<bool>& saved, double share) {
  return TwoPasses(problem, saved, share).run();
}

}  // namespace recut::peak
