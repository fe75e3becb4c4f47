// Copies, casts and fills.
#include "engine/eval/kernels/elementwise.h"
#include "engine/eval/kernels/pointwise.h"

namespace recut {
namespace {

using namespace elementwise;

// Values of the tensor `parameter`, broadcast to the output; writing them casts. Integers go
// through integers, so that all 64 bits arrive.
Done copy_values(KernelContext& c, std::string_view parameter) {
  const Shape& shape = c.output_types[0].shape;
  const DType dtype =
      c.call.is_tensor(parameter) ? c.tensor(parameter).dtype : c.call.scalar(parameter).category;
  if (is_complex(dtype))
    c.write(broadcast_to(c.complexes(parameter), shape));
  else if (is_floating(dtype))
    c.write(broadcast_to(c.reals(parameter), shape));
  else
    c.write(broadcast_to(c.integers(parameter), shape));
  return Done{};
}

Result<Done> copy_first(KernelContext& c) { return copy_values(c, name_of_parameter(c, 0)); }
Result<Done> copy_src(KernelContext& c) { return copy_values(c, "src"); }
Result<Done> fill(KernelContext& c) { return copy_values(c, "value"); }
Result<Done> zero(KernelContext&) { return Done{}; }  // storages start as zeros

}  // namespace

void add_copy_kernels(KernelTable& table) {
  for (const Op op :
       {Op::clone, Op::_to_copy, Op::prims_convert_element_type, Op::prims_device_put,
        Op::lift_fresh_copy, Op::_to_sparse, Op::_to_sparse_sparse_dim, Op::_to_dense})
    table.add_any(op, copy_first);
  table.add_any(Op::copy, copy_src);
  for (const Op op : {Op::fill_Scalar, Op::fill_Tensor}) table.add_any(op, fill);
  table.add_any(Op::zero, zero);
}

}  // namespace recut
