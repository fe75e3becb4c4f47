#include "wasm/step/c_functions.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "engine/support/check.h"

namespace recut::step {
namespace {

using Unary = double (*)(double);
using Binary = double (*)(double, double);

struct Row {
  std::string_view name;
  void* function;
};
Row unary(std::string_view name, Unary function) {
  return {name, reinterpret_cast<void*>(function)};
}
Row binary(std::string_view name, Binary function) {
  return {name, reinterpret_cast<void*>(function)};
}

const std::array kRows{
    unary("exp", std::exp),
    unary("exp2", std::exp2),
    unary("expm1", std::expm1),
    unary("log", std::log),
    unary("log2", std::log2),
    unary("log10", std::log10),
    unary("log1p", std::log1p),
    unary("sin", std::sin),
    unary("cos", std::cos),
    unary("tan", std::tan),
    unary("asin", std::asin),
    unary("acos", std::acos),
    unary("atan", std::atan),
    unary("sinh", std::sinh),
    unary("cosh", std::cosh),
    unary("tanh", std::tanh),
    unary("asinh", std::asinh),
    unary("acosh", std::acosh),
    unary("atanh", std::atanh),
    unary("erf", std::erf),
    unary("erfc", std::erfc),
    unary("lgamma", std::lgamma),
    binary("fmod", std::fmod),
    binary("pow", std::pow),
    binary("atan2", std::atan2),
    binary("hypot", std::hypot),
    binary("nextafter", std::nextafter),
    Row{"nextafterf", reinterpret_cast<void*>(static_cast<float (*)(float, float)>(nextafterf))},
};

}  // namespace

void* c_function(std::string_view name) {
  const auto row =
      std::find_if(kRows.begin(), kRows.end(), [&](const Row& one) { return one.name == name; });
  RECUT_CHECK(row != kRows.end(), "kernels call no other functions");
  return row->function;
}

}  // namespace recut::step
