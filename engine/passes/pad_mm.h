// pad_mm for a device of one's own: the pass of the table decides by ProductRates' defaults.
#pragma once

#include <array>
#include <cstddef>

#include "engine/ir/dtype.h"
#include "engine/passes/pass.h"

namespace recut {

// What a device sustains. Defaults: near to one H100 on tf32 products and on copies, the reference
// that plans are priced by.
struct ProductRates {
  ProductRates() {
    flops_per_second.fill(3.0e14);
    unaligned_slowdown.fill(kGuessedSlowdown);
  }

  // Where nobody measured it: libraries lose a fourth to nine tenths there.
  static constexpr double kGuessedSlowdown = 2;

  double flops_of(DType dtype) const { return flops_per_second[static_cast<std::size_t>(dtype)]; }
  double slowdown_of(DType dtype) const {
    return unaligned_slowdown[static_cast<std::size_t>(dtype)];
  }
  double& slowdown_of(DType dtype) { return unaligned_slowdown[static_cast<std::size_t>(dtype)]; }

  std::array<double, kDTypes> flops_per_second;  // of aligned products, by dtype
  double bytes_per_second = 3.0e12;

  // By dtype: how many times longer a product takes whose rows don't begin at addresses that wide
  // loads and tensor cores ask for.
  std::array<double, kDTypes> unaligned_slowdown;

  bool wherever = false;  // the step runs on this device, whichever the graph names
};

// Under the name pad_mm, to stand in RunnerOptions::more.
Pass pad_mm_pass(const ProductRates& rates);

}  // namespace recut
