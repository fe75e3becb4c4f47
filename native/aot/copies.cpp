#include "native/aot/copies.h"

#include <algorithm>

#include "engine/codegen/loop/simplify.h"

namespace recut::aot {
namespace {

// The last element of a storage that a view shows.
std::int64_t last_element(const Layout& layout) {
  std::int64_t last = layout.offset;
  for (std::size_t d = 0; d < layout.shape.size(); ++d)
    last += std::max<std::int64_t>(0, layout.strides[d]) * (layout.shape[d] - 1);
  return last;
}

// The offset of a view's element number `number`, in row-major order.
loop::Index offset_in(const Layout& layout, const loop::Index& number, const loop::Ranges& ranges) {
  if (layout.strides == contiguous_strides(layout.shape)) return number + layout.offset;
  loop::Index offset = layout.offset;
  std::int64_t inner = 1;  // elements of the inner dimensions
  for (std::size_t d = layout.shape.size(); d-- > 0; inner *= layout.shape[d])
    offset =
        offset + layout.strides[d] * modulo(divide(number, inner, ranges), layout.shape[d], ranges);
  return simplify(offset, ranges);
}

// The row-major number of the element at a place in memory. Each place of a dense type has one.
loop::Index row_major_number(const TensorType& type, const loop::Index& place,
                             const loop::Ranges& ranges) {
  if (is_contiguous(type)) return place;
  const Strides rows = contiguous_strides(type.shape);
  loop::Index number = 0;
  for (std::size_t d = 0; d < type.shape.size(); ++d)
    if (type.shape[d] > 1)
      number =
          number + rows[d] * modulo(divide(place, type.strides[d], ranges), type.shape[d], ranges);
  return simplify(number, ranges);
}

}  // namespace

loop::Kernel copy_kernel(const ProgramOutput& output, const TensorType& type,
                         const std::string& name) {
  const DType dtype = output.type.dtype;
  const std::int64_t elements = element_count(output.type.shape);
  loop::Kernel kernel;
  kernel.name = "copy of " + name;
  kernel.buffers = {{"from", dtype, last_element(output.layouts.front()) + 1, loop::Access::read},
                    {"to", dtype, elements, loop::Access::write}};
  kernel.loops = {{"i", elements}};
  kernel.values = {{"value", loop::value_type(dtype)}};
  const loop::LoopId i(0);
  const loop::ValueId value(0);
  const loop::Ranges ranges(kernel);
  loop::Index offset = row_major_number(type, i, ranges);
  for (std::size_t l = output.layouts.size(); l-- > 0;)
    offset = offset_in(output.layouts[l], offset, ranges);
  loop::Loop loop{i, true, 1, {}};
  loop.body.push_back({loop::Define{value, loop::Load{loop::BufferId(0), offset, {}}}});
  loop.body.push_back({loop::Store{loop::BufferId(1), i, value, std::nullopt}});
  kernel.body.push_back({std::move(loop)});
  return kernel;
}

loop::Kernel write_back_kernel(const TensorType& type, const std::string& name) {
  const TensorType flat = make_type(type.dtype, {element_count(type.shape)});
  ProgramOutput whole;
  whole.type = flat;
  whole.layouts.push_back({flat.shape, flat.strides, 0});
  loop::Kernel kernel = copy_kernel(whole, flat, name);
  kernel.name = "write back of " + name;
  return kernel;
}

}  // namespace recut::aot
