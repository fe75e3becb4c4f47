// The subjects that reductions, scans and sorts are divided into.
#pragma once

#include "engine/eval/kernel.h"

namespace recut {

void add_sum_kernels(KernelTable& table);
void add_norm_kernels(KernelTable& table);
void add_extreme_kernels(KernelTable& table);
void add_scan_kernels(KernelTable& table);
void add_sort_kernels(KernelTable& table);
void add_search_kernels(KernelTable& table);
void add_unique_kernels(KernelTable& table);
void add_histogram_kernels(KernelTable& table);

}  // namespace recut
