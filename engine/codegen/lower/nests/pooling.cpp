// The largest elements of windows, and where they stand.
#include "engine/codegen/lower/nests/pooling.h"

#include <algorithm>

namespace recut::loop {
namespace {

// The largest element of a window, and where the first such stands: its place in the plane or in
// the window. NaN counts as largest.
enum class Where { plane, window };

template <Where where>
void max_pool(const Nest& nest) {
  const Pooling p(nest, nest.shape_of("self"), nest.type().shape);
  const DType type = nest.computing(nest.dtype_of("self"));
  const Constant least = neutral(Combine::max, type);
  Builder* builder = &nest.lowering.builder();
  const Quantity start = is_floating(type) ? Quantity::constant(builder, type, least.real)
                                           : Quantity::constant(builder, type, least.integer);
  const FoldSpace space = p.space();
  for_each_fold(nest.lowering, space, [&](Folder& folder) {
    const auto element = [&](const Indices& at, Fallen& fallen) {
      fallen = on_plane(nest.lowering, p.slide, p.window(at), p.offset(at), p.plane);
      return fallen.element(nest, "self", p.of_plane(at, fallen.place)).to(type);
    };
    const Quantity largest =
        folder.fold({"largest", Combine::max, start, [&](const Indices& at) {
                       Fallen fallen;
                       const Quantity x = element(at, fallen);
                       return fallen.inside ? select(*fallen.inside, x, start) : x;
                     }});
    const Indices out = p.of_plane(folder.at(), p.window(folder.at()));
    if (nest.wanted(0)) nest.lowering.write(nest.output(0), out, largest);
    if (!nest.wanted(1)) return;
    const Quantity none = Quantity::constant(builder, DType::i64, std::int64_t{INT64_MAX});
    const Quantity place = folder.fold({"place", Combine::min, none, [&](const Indices& at) {
                                          Fallen fallen;
                                          const Quantity x = element(at, fallen);
                                          Quantity here = x == largest;
                                          if (x.real()) here = here | (is_nan(x) & is_nan(largest));
                                          if (fallen.inside) here = here & *fallen.inside;
                                          const Index number =
                                              where == Where::plane
                                                  ? linearised(fallen.place, p.plane)
                                                  : linearised(p.offset(at), p.slide.kernel);
                                          return select(here, nest.lowering.number(number), none);
                                        }});
    nest.lowering.write(nest.output(1), out, place);
  });
}

// Offsets in windows as places in the plane.
void offsets_to_indices(const Nest& nest) {
  const Shape plane = nest.call.integers("input_size");
  Shape in = nest.type().shape;
  std::copy(plane.begin(), plane.end(), in.end() - static_cast<std::ptrdiff_t>(plane.size()));
  const Pooling p(nest, in, nest.type().shape);
  Builder& builder = nest.lowering.builder();
  const Layout out = storage_layout(nest.type());
  nest.lowering.for_each(out.shape, out.strides, [&](const Indices& at) {
    const Index offset = nest.checked(nest.raw("self", at), element_count(p.slide.kernel), false);
    const Indices reach = delinearised(offset, p.slide.kernel, builder);
    Index place;
    for (std::size_t d = 0; d < p.dims; ++d) {
      const Index own = p.slide.stride[d] * at[p.outer.size() + d] - Index(p.slide.padding[d]) +
                        p.slide.dilation[d] * reach[d];
      place = p.plane[d] * place + nest.checked(nest.lowering.number(own), p.plane[d], false);
    }
    nest.lowering.write(nest.output(), at, nest.lowering.number(place));
  });
}

// Each gradient goes to the place that its index names. Windows may share a place, so those of one
// plane go one after another.
void max_pool_backward(const Nest& nest) {
  const Pooling p(nest, nest.type().shape, nest.shape_of("grad_output"));
  const Layout whole = storage_layout(nest.type());
  nest.lowering.for_each(whole.shape, whole.strides, [&](const Indices& at) {
    nest.lowering.write(nest.output(), at,
                        nest.lowering.constant(value_type(nest.type().dtype), 0));
  });
  Builder& builder = nest.lowering.builder();
  const std::size_t depth = builder.depth();
  const Index plane = builder.open_loop("i", element_count(p.outer), Builder::Order::parallel);
  const Indices outer = delinearised(plane, p.outer, builder);
  const Index window = builder.open_loop("j", element_count(p.windows));
  Indices from = outer, to = outer;
  for (const Index& index : delinearised(window, p.windows, builder)) from.push_back(index);
  const Index place = nest.checked(nest.raw("indices", from), element_count(p.plane), false);
  for (const Index& index : delinearised(place, p.plane, builder)) to.push_back(index);
  nest.lowering.combine_into(nest.output(), to, Combine::add, nest.raw("grad_output", from));
  builder.close_to(depth);
}

}  // namespace

void add_pooling_nests(NestTable& table) {
  for (const Op op : {Op::max_pool1d, Op::max_pool2d, Op::max_pool3d, Op::max_pool1d_with_indices,
                      Op::max_pool2d_with_indices, Op::max_pool3d_with_indices})
    table.push_back({op, max_pool<Where::plane>});
  table.push_back({Op::prims_low_memory_max_pool_with_offsets, max_pool<Where::window>});
  table.push_back({Op::prims_low_memory_max_pool_offsets_to_indices, offsets_to_indices});
  for (const Op op : {Op::max_pool2d_with_indices_backward, Op::max_pool3d_with_indices_backward,
                      Op::adaptive_max_pool2d_backward, Op::adaptive_max_pool3d_backward,
                      Op::fractional_max_pool2d_backward, Op::fractional_max_pool3d_backward})
    table.push_back({op, max_pool_backward});
}

}  // namespace recut::loop
