// The subjects that element-wise kernels are divided into.
#pragma once

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

}  // namespace recut
