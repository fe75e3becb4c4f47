// The subjects that element-wise kernels are divided into.
#pragma once

#include <cmath>

#include "engine/eval/kernel.h"

namespace recut {

void add_arithmetic_kernels(KernelTable& table);
void add_power_kernels(KernelTable& table);
void add_rounding_kernels(KernelTable& table);
void add_elementary_kernels(KernelTable& table);
void add_comparison_kernels(KernelTable& table);
void add_selection_kernels(KernelTable& table);
void add_bit_kernels(KernelTable& table);
void add_copy_kernels(KernelTable& table);
void add_activation_kernels(KernelTable& table);
void add_activation_gradient_kernels(KernelTable& table);

// -1, 0 or 1; NaN and zeros stay as they are.
inline double sign_or_nan(double x) { return x > 0 ? 1.0 : x < 0 ? -1.0 : x; }
inline double sigmoid(double x) { return 1 / (1 + std::exp(-x)); }

}  // namespace recut
