#include "engine/eval/kernels/families.h"

namespace recut {

void add_indexing_kernels(KernelTable& table) {
  add_movement_kernels(table);
  add_plane_kernels(table);
  add_part_scatter_kernels(table);
  add_gather_scatter_kernels(table);
  add_index_kernels(table);
  add_index_dimension_kernels(table);
  add_embedding_kernels(table);
  add_mask_kernels(table);
}

}  // namespace recut
