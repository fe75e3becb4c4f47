#include "engine/eval/kernels/reduction.h"

#include "engine/eval/kernels/families.h"

namespace recut {

void add_reduction_kernels(KernelTable& table) {
  add_sum_kernels(table);
  add_norm_kernels(table);
  add_extreme_kernels(table);
  add_scan_kernels(table);
  add_sort_kernels(table);
  add_search_kernels(table);
  add_unique_kernels(table);
  add_histogram_kernels(table);
}

}  // namespace recut
