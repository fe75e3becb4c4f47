// Gradients by central differences, for kernels that compute gradients.
#pragma once

#include <cmath>
#include <functional>
#include <vector>

#include "tests/eval/one_call.h"

namespace recut::test {

using List = std::vector<double>;

// Numbers without a pattern, the same everywhere.
inline List noise(std::int64_t count, double phase = 0) {
  List values;
  for (std::int64_t i = 0; i < count; ++i)
    values.push_back(std::sin(1.7 * static_cast<double>(i) + phase) +
                     0.3 * std::cos(5.1 * static_cast<double>(i) - phase));
  return values;
}

inline double dot(const List& a, const List& b) {
  REQUIRE(a.size() == b.size());
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
  return sum;
}

// The gradient of dot(weights, f(x)), which is what a backward operator gives for `weights`.
inline List numeric_gradient(const std::function<List(const List&)>& f, List x,
                             const List& weights) {
  constexpr double kStep = 1e-5;
  List gradient;
  for (double& element : x) {
    const double middle = element;
    element = middle + kStep;
    const double above = dot(weights, f(x));
    element = middle - kStep;
    const double below = dot(weights, f(x));
    element = middle;
    gradient.push_back((above - below) / (2 * kStep));
  }
  return gradient;
}

// Within an absolute error: what differences leave of double's digits.
inline bool near(const List& found, const List& expected, double error = 1e-7) {
  UNSCOPED_INFO("found    " << Catch::Detail::stringify(found));
  UNSCOPED_INFO("expected " << Catch::Detail::stringify(expected));
  if (found.size() != expected.size()) return false;
  for (std::size_t i = 0; i < found.size(); ++i)
    if (!(std::abs(found[i] - expected[i]) <= error)) return false;
  return true;
}

inline Argument flags(std::vector<bool> values) {
  ArgumentList list;
  for (const bool value : values) list.emplace_back(value);
  return Argument(std::move(list));
}

}  // namespace recut::test
