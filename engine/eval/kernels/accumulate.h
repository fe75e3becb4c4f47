// The reduction of values with equal indices, shared by scatter_reduce and index_reduce.
#pragma once

#include <cmath>
#include <optional>
#include <string_view>
#include <vector>

#include "engine/eval/kernels/data_movement.h"

namespace recut::data_movement {

enum class ScatterReduction : std::uint8_t { replace, sum, product, mean, largest, smallest };

// Parses ATen's `reduce` argument.
inline std::optional<ScatterReduction> scatter_reduction_of(std::string_view name) {
  if (name == "sum" || name == "add") return ScatterReduction::sum;
  if (name == "prod" || name == "multiply") return ScatterReduction::product;
  if (name == "mean") return ScatterReduction::mean;
  if (name == "amax") return ScatterReduction::largest;
  if (name == "amin") return ScatterReduction::smallest;
  return std::nullopt;
}

// Starts as self; without `include_self`, self counts only at positions that receive no value.
template <class T>
class Accumulator {
 public:
  Accumulator(Dense<T> self, ScatterReduction reduction, bool include_self)
      : values_(std::move(self)),
        reduction_(reduction),
        include_self_(include_self),
        counts_(values_.data.size(), 0) {}

  void put(std::int64_t index, T value) {
    T& own = values_[index];
    const bool first = counts_[at(index)]++ == 0 && !include_self_;
    own = first || reduction_ == ScatterReduction::replace ? value : combined(own, value);
  }

  Dense<T> finish() {
    if (reduction_ == ScatterReduction::mean)
      for (std::size_t i = 0; i < counts_.size(); ++i)
        if (counts_[i] > 0)
          values_.data[i] = divided(values_.data[i], counts_[i] + (include_self_ ? 1 : 0));
    return std::move(values_);
  }

 private:
  // Complex numbers have no order.
  T combined(T a, T b) const {
    if (reduction_ == ScatterReduction::product) return elementwise::times(a, b);
    if constexpr (!std::is_same_v<T, Complex>) {
      if (reduction_ == ScatterReduction::largest) return elementwise::larger(a, b);
      if (reduction_ == ScatterReduction::smallest) return elementwise::smaller(a, b);
    }
    return elementwise::plus(a, b);
  }

  // Integers are rounded down, as ATen's scatter_reduce does.
  static double divided(double sum, std::int64_t count) { return sum / static_cast<double>(count); }
  static Complex divided(Complex sum, std::int64_t count) {
    return sum / static_cast<double>(count);
  }
  static std::int64_t divided(std::int64_t sum, std::int64_t count) {
    return sum / count - (sum % count < 0 ? 1 : 0);
  }

  Dense<T> values_;
  ScatterReduction reduction_;
  bool include_self_;
  std::vector<std::int64_t> counts_;  // number of values put to each position
};

}  // namespace recut::data_movement
