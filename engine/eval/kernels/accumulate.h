// The reduction of values with equal indices, shared by scatter_reduce and index_reduce.
#pragma once

#include <cmath>
#include <optional>
#include <string_view>
#include <vector>

#include "engine/eval/kernels/places.h"

namespace recut::places {

enum class Meeting : std::uint8_t { replace, sum, product, mean, largest, smallest };

// Parses ATen's `reduce` argument.
inline std::optional<Meeting> meeting_of(std::string_view name) {
  if (name == "sum" || name == "add") return Meeting::sum;
  if (name == "prod" || name == "multiply") return Meeting::product;
  if (name == "mean") return Meeting::mean;
  if (name == "amax") return Meeting::largest;
  if (name == "amin") return Meeting::smallest;
  return std::nullopt;
}

// Starts as self; without `include_self`, self counts only at positions that receive no value.
template <class T>
class Accumulator {
 public:
  Accumulator(Dense<T> self, Meeting meeting, bool include_self)
      : values_(std::move(self)),
        meeting_(meeting),
        include_self_(include_self),
        arrived_(values_.data.size(), 0) {}

  void put(std::int64_t index, T value) {
    T& own = values_[index];
    const bool first = arrived_[at(index)]++ == 0 && !include_self_;
    own = first || meeting_ == Meeting::replace ? value : combined(own, value);
  }

  Dense<T> finish() {
    if (meeting_ == Meeting::mean)
      for (std::size_t i = 0; i < arrived_.size(); ++i)
        if (arrived_[i] > 0)
          values_.data[i] = divided(values_.data[i], arrived_[i] + (include_self_ ? 1 : 0));
    return std::move(values_);
  }

 private:
  T combined(T a, T b) const {
    switch (meeting_) {
      case Meeting::product:
        return elementwise::times(a, b);
      case Meeting::largest:
        return elementwise::larger(a, b);
      case Meeting::smallest:
        return elementwise::smaller(a, b);
      default:
        return elementwise::plus(a, b);
    }
  }

  // Integers are rounded down, as ATen's scatter_reduce does.
  static double divided(double sum, std::int64_t count) { return sum / static_cast<double>(count); }
  static std::int64_t divided(std::int64_t sum, std::int64_t count) {
    return sum / count - (sum % count < 0 ? 1 : 0);
  }

  Dense<T> values_;
  Meeting meeting_;
  bool include_self_;
  std::vector<std::int64_t> arrived_;  // number of values put to each position
};

}  // namespace recut::places
