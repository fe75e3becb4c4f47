// Poolings over windows.
#include <algorithm>

#include "engine/codegen/lower/window_space.h"

namespace recut::loop {
namespace {

// self [planes..., plane], of which the last dimensions are slid over.
struct Pooling {
  std::size_t dims;
  Shape outer, plane, windows;  // outer: samples and channels
  Sliding slide;

  Pooling(const Nest& nest, const Shape& in, const Shape& out)
      : dims(std::min(nest.call.op().packet.find("1d") != std::string_view::npos   ? std::size_t{1}
                      : nest.call.op().packet.find("3d") != std::string_view::npos ? std::size_t{3}
                                                                                   : std::size_t{2},
                      in.size())),
        outer(in.begin(), in.end() - static_cast<std::ptrdiff_t>(dims)),
        plane(in.end() - static_cast<std::ptrdiff_t>(dims), in.end()),
        windows(out.end() - static_cast<std::ptrdiff_t>(dims), out.end()) {
    slide.kernel = per_dimension(nest.call, "kernel_size", dims, 1);
    slide.stride = nest.call.integers("stride").empty()
                       ? slide.kernel
                       : per_dimension(nest.call, "stride", dims, 1);
    slide.padding = per_dimension(nest.call, "padding", dims, 0);
    slide.dilation = per_dimension(nest.call, "dilation", dims, 1);
  }

  // kept: outer, window; folded: offset. Lanes along the windows.
  FoldSpace space() const {
    FoldSpace s;
    for (const Shape* shape : {&outer, &windows, &slide.kernel})
      s.shape.insert(s.shape.end(), shape->begin(), shape->end());
    s.folded.assign(s.shape.size(), false);
    s.strides.assign(s.shape.size(), 0);
    for (std::size_t d = 0; d < s.shape.size(); ++d) {
      s.folded[d] = d >= outer.size() + dims;
      s.strides[d] = static_cast<std::int64_t>(s.shape.size() - d);
      if (s.folded[d]) s.strides[d] += static_cast<std::int64_t>(s.shape.size());
    }
    return s;
  }
  Indices window(const Indices& at) const { return part(at, outer.size()); }
  Indices offset(const Indices& at) const { return part(at, outer.size() + dims); }
  Indices of_plane(const Indices& at, const Indices& place) const {
    Indices out(at.begin(), at.begin() + static_cast<std::ptrdiff_t>(outer.size()));
    out.insert(out.end(), place.begin(), place.end());
    return out;
  }

 private:
  Indices part(const Indices& at, std::size_t first) const {
    return Indices(at.begin() + static_cast<std::ptrdiff_t>(first),
                   at.begin() + static_cast<std::ptrdiff_t>(first + dims));
  }
};

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

// The mean of a window: of what lies on the plane, or of the padding too.
void avg_pool(const Nest& nest) {
  const Pooling p(nest, nest.shape_of("self"), nest.type().shape);
  const DType type = nest.computing(nest.dtype_of("self"));
  const bool given =
      nest.call.op().parameter("divisor_override") && nest.call.given("divisor_override");
  std::int64_t size = 1;
  for (const std::int64_t k : p.slide.kernel) size *= k;
  if (given) size = nest.call.integer("divisor_override");
  const Quantity zero = nest.lowering.constant(type, 0);
  const FoldSpace space = p.space();
  for_each_fold(nest.lowering, space, [&](Folder& folder) {
    const auto sums = folder.fold(
        {{"sum", Combine::add, zero,
          [&](const Indices& at) {
            const Fallen f = on_plane(nest.lowering, p.slide, p.window(at), p.offset(at), p.plane);
            return f.element(nest, "self", p.of_plane(at, f.place)).to(type);
          }},
         {"inside", Combine::add, zero, [&](const Indices& at) {
            const Fallen f = on_plane(nest.lowering, p.slide, p.window(at), p.offset(at), p.plane);
            return f.inside ? f.inside->to(DType::i64).to(type) : nest.lowering.constant(type, 1);
          }}});
    const bool counts_all = given || nest.call.boolean("count_include_pad");
    const Quantity mean = counts_all ? sums[0] / static_cast<double>(size) : sums[0] / sums[1];
    nest.lowering.write(nest.output(), p.of_plane(folder.at(), p.window(folder.at())), mean);
  });
}

// Windows that a rounded-up size lets hang over the padding have a divisor of their own.
std::optional<std::string> rounded_up(const Call& call) {
  const bool own = call.op().parameter("divisor_override") && call.given("divisor_override");
  if (call.boolean("ceil_mode") && call.boolean("count_include_pad") && !own)
    return "windows beyond the padding";
  return std::nullopt;
}

}  // namespace

void add_pooling_nests(NestTable& table) {
  for (const Op op : {Op::max_pool1d, Op::max_pool2d, Op::max_pool3d, Op::max_pool1d_with_indices,
                      Op::max_pool2d_with_indices, Op::max_pool3d_with_indices})
    table.push_back({op, max_pool<Where::plane>});
  table.push_back({Op::prims_low_memory_max_pool_with_offsets, max_pool<Where::window>});
  table.push_back({Op::prims_low_memory_max_pool_offsets_to_indices, offsets_to_indices});
  for (const Op op : {Op::max_pool2d_with_indices_backward, Op::max_pool3d_with_indices_backward})
    table.push_back({op, max_pool_backward});
  for (const Op op : {Op::avg_pool1d, Op::avg_pool2d, Op::avg_pool3d})
    table.push_back({op, avg_pool, rounded_up});
}

}  // namespace recut::loop
