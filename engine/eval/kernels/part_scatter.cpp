// A part of a tensor replaced: the part is a view of the output, and src is written through it.
#include <fmt/core.h>

#include "engine/eval/kernels/data_movement.h"
#include "engine/ir/layout.h"

namespace recut {
namespace {

using namespace data_movement;

Result<Done> copy_values(const Tensor& from, Tensor& to) {
  return with_numbers_of(from.dtype, [&](auto zero) -> Result<Done> {
    using T = decltype(zero);
    if (is_floating(from.dtype) || !is_floating(to.dtype))
      pack(unpack<T>(from), to);
    else
      pack(unpack<double>(from), to);
    return Done{};
  });
}

// Writes `part` through the view that `rule` shows of `whole`.
Result<Done> write_part(const Call& call, layout::Rule rule, const Tensor& part, Tensor& whole) {
  auto view = rule(call, Layout{whole.shape, whole.strides, whole.offset, false}, 0);
  if (!view) return view.diagnostics();
  const std::int64_t elements = whole.storage->size() / item_bytes(whole.dtype);
  if (!layout::is_within(*view, elements) || view->shape != part.shape)
    return error(
        fmt::format("{}: shape {} with strides {} from {} reaches outside a storage of {} "
                    "elements",
                    call.op().name, format_shape(view->shape), format_shape(view->strides),
                    view->offset, elements));
  Tensor target{whole.dtype, std::move(view->shape), std::move(view->strides), view->offset,
                whole.storage};
  return copy_values(part, target);
}

template <layout::Rule rule>
Result<Done> scatter_part(KernelContext& c) {
  if (auto copied = copy_values(c.tensor("self"), c.outputs[0]); !copied) return copied;
  return write_part(c.call, rule, c.tensor("src"), c.outputs[0]);
}

template <layout::Rule rule>
Result<Done> part_backward(KernelContext& c) {
  return write_part(c.call, rule, c.tensor("grad_output"), c.outputs[0]);
}

// The strides of as_strided_scatter count in self's layout, gaps included: so it works on a storage
// with those gaps.
Result<Done> as_strided_scatter(KernelContext& c) {
  const Tensor& self = c.tensor("self");
  Tensor spread{self.dtype, self.shape, self.strides, self.offset, nullptr};
  spread.storage = std::make_shared<Storage>(self.storage->size(), nullptr);
  if (auto copied = copy_values(self, spread); !copied) return copied;
  if (auto done = write_part(c.call, layout::as_strided, c.tensor("src"), spread); !done)
    return done;
  return copy_values(spread, c.outputs[0]);
}

}  // namespace

void add_part_scatter_kernels(KernelTable& table) {
  table.add_any(Op::slice_scatter, scatter_part<layout::slice>);
  table.add_any(Op::select_scatter, scatter_part<layout::select>);
  table.add_any(Op::diagonal_scatter, scatter_part<layout::diagonal>);
  table.add_any(Op::as_strided_scatter, as_strided_scatter);
  table.add_any(Op::slice_backward, part_backward<layout::slice>);
  table.add_any(Op::select_backward, part_backward<layout::select>);
  table.add_any(Op::diagonal_backward, part_backward<layout::diagonal>);
}

}  // namespace recut
