#include "engine/mesh/reduce_ranks.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "engine/mesh/blocks.h"
#include "engine/support/check.h"

namespace recut::mesh {
namespace {

constexpr std::string_view kNames[] = {"sum", "avg",  "product", "min",
                                       "max", "band", "bor",     "bxor"};

double combine(RankReduction reduction, double a, double b) {
  switch (reduction) {
    case RankReduction::product:
      return a * b;
    case RankReduction::min:
      return std::isnan(a) || a < b ? a : b;
    case RankReduction::max:
      return std::isnan(a) || a > b ? a : b;
    default:
      return a + b;
  }
}

Complex combine(RankReduction, Complex a, Complex b) { return a + b; }

// By unsigned numbers, whose overflow wraps.
std::int64_t combine(RankReduction reduction, std::int64_t a, std::int64_t b) {
  const auto x = static_cast<std::uint64_t>(a), y = static_cast<std::uint64_t>(b);
  switch (reduction) {
    case RankReduction::product:
      return static_cast<std::int64_t>(x * y);
    case RankReduction::min:
      return std::min(a, b);
    case RankReduction::max:
      return std::max(a, b);
    case RankReduction::band:
      return a & b;
    case RankReduction::bor:
      return a | b;
    case RankReduction::bxor:
      return a ^ b;
    default:
      return static_cast<std::int64_t>(x + y);
  }
}

double rounded(DType wide, double value) { return round_to(wide, value); }
std::int64_t rounded(DType, std::int64_t value) { return value; }
Complex rounded(DType wide, Complex value) {
  return {round_to(wide, value.real()), round_to(wide, value.imag())};
}

template <class T>
Tensor reduce_as(std::span<const Tensor* const> tensors, RankReduction reduction, DType wide) {
  Dense<T> result = unpack<T>(*tensors.front());
  for (const Tensor* next : tensors.subspan(1)) {
    const Dense<T> other = unpack<T>(*next);
    for (std::int64_t i = 0; i < result.count(); ++i)
      result[i] = rounded(wide, combine(reduction, result[i], other[i]));
  }
  if constexpr (!std::is_same_v<T, std::int64_t>)
    if (reduction == RankReduction::avg)
      for (T& value : result.data)
        value = rounded(wide, value / static_cast<double>(tensors.size()));
  Tensor out = zeros(tensors.front()->dtype, tensors.front()->shape);
  pack(result, out);
  return out;
}

}  // namespace

RankReduction reduction_of(Reduction reduction) { return *find_rank_reduction(title(reduction)); }

std::optional<RankReduction> find_rank_reduction(std::string_view name) {
  for (std::size_t i = 0; i < std::size(kNames); ++i)
    if (kNames[i] == name) return static_cast<RankReduction>(i);
  return std::nullopt;
}

std::string_view name_of(RankReduction reduction) {
  return kNames[static_cast<std::size_t>(reduction)];
}

std::optional<std::string> why_not_reduced(RankReduction reduction, DType dtype) {
  const auto refuse = [&](std::string_view instead) {
    return fmt::format("{} values can't be reduced by {}, expected {}", short_name(dtype),
                       name_of(reduction), instead);
  };
  if (!has_values(dtype)) return fmt::format("Recut doesn't compute with {}", short_name(dtype));
  const bool bitwise = reduction >= RankReduction::band;
  if (is_complex(dtype))
    return reduction <= RankReduction::avg ? std::nullopt : std::optional(refuse("sum or avg"));
  if (is_floating(dtype))
    return bitwise ? std::optional(refuse("sum, avg, product, min or max")) : std::nullopt;
  return reduction == RankReduction::avg ? std::optional(refuse("sum, which stays exact"))
                                         : std::nullopt;
}

Tensor reduce_ranks(std::span<const Tensor* const> tensors, RankReduction reduction) {
  const DType dtype = tensors.front()->dtype;
  RECUT_CHECK(!why_not_reduced(reduction, dtype), "the caller asks why_not_reduced() first");
  const DType wide = dtype == DType::f64 || dtype == DType::c128 ? DType::f64 : DType::f32;
  if (is_complex(dtype)) return reduce_as<Complex>(tensors, reduction, wide);
  if (is_floating(dtype)) return reduce_as<double>(tensors, reduction, wide);
  return reduce_as<std::int64_t>(tensors, reduction, wide);
}

Tensor reduce_ranks(std::span<const Tensor> tensors, RankReduction reduction) {
  std::vector<const Tensor*> each;
  for (const Tensor& tensor : tensors) each.push_back(&tensor);
  return reduce_ranks(each, reduction);
}

}  // namespace recut::mesh
