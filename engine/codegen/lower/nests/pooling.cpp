// Max pooling: the maxima of windows and their indices, and gradients by these indices.
#include "engine/codegen/lower/nests/pooling.h"

#include <algorithm>
#include <map>

namespace recut::loop {
namespace {

// The maximum of a window and its index, in the plane or in the window. NaN counts as the maximum.
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
    const Quantity place = place_of_largest(folder, largest, [&](const Indices& at) {
      Fallen fallen;
      const Quantity x = element(at, fallen);
      const Index number = where == Where::plane ? linearised(fallen.place, p.plane)
                                                 : linearised(p.offset(at), p.slide.kernel);
      return Candidate{x, number, fallen.inside};
    });
    nest.lowering.write(nest.output(1), out, place);
  });
}

// Converts window offsets to plane indices.
void offsets_to_indices(const Nest& nest) {
  const Shape plane = nest.call.integers("input_size");
  Shape in = nest.type().shape;
  std::copy(plane.begin(), plane.end(), in.end() - static_cast<std::ptrdiff_t>(plane.size()));
  const Pooling p(nest, in, nest.type().shape);
  Builder& builder = nest.lowering.builder();
  const Layout out = made_layout(nest.type());
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

// Scatters each gradient to the element of its index. Windows may overlap, so those of one plane
// run serially.
void scatter_gradients(const Nest& nest) {
  const Pooling p(nest, nest.type().shape, nest.shape_of("grad_output"));
  const Layout whole = made_layout(nest.type());
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

Shape last(const Shape& shape, std::size_t dims) {
  return Shape(shape.end() - static_cast<std::ptrdiff_t>(std::min(dims, shape.size())),
               shape.end());
}

// The plane of the indices that a max pooling call gives; nothing for other calls.
std::optional<Shape> indexed_plane(const Call& call, std::size_t dims) {
  if (call.op().op == Op::prims_low_memory_max_pool_offsets_to_indices)
    return call.integers("input_size");
  if (call.op().op == (dims == 2 ? Op::max_pool2d_with_indices : Op::max_pool3d_with_indices))
    return last(call.tensor("self").shape, dims);
  return std::nullopt;
}

// Calls body for every index of a shape, in order: loops that lowering unrolls.
void for_each_place(const Shape& shape, const std::function<void(const Shape&)>& body) {
  const std::int64_t count = element_count(shape);
  for (std::int64_t n = 0; n < count; ++n) {
    Shape place(shape.size());
    std::int64_t rest = n;
    for (std::size_t d = shape.size(); d-- > 0; rest /= shape[d]) place[d] = rest % shape[d];
    body(place);
  }
}

// The gather form of a max pooling's gradient, for indices that lie in their windows. Each position
// sums the gradients of the overlapping windows that chose it, in the order of windows, as a serial
// scatter would.
class GatheredGradient {
 public:
  explicit GatheredGradient(const Nest& nest)
      : nest_(nest),
        p_(nest, nest.type().shape, nest.shape_of("grad_output")),
        type_(nest.computing(nest.dtype_of("grad_output"))),
        zero_(nest.lowering.constant(type_, 0)) {}

  void build() const { has_small_blocks() ? by_blocks() : place_by_place(); }

 private:
  struct Window {
    Quantity index, gradient;
    std::optional<Quantity> inside;  // none: there always is such a window
  };

  Window window(const Indices& at, const Fallen& fallen) const {
    const Indices from = p_.of_plane(at, fallen.place);
    return {fallen.element(nest_, "indices", from),
            fallen.element(nest_, "grad_output", from).to(type_), fallen.inside};
  }
  Quantity given_to(const Indices& place, const Window& window) const {
    Quantity here = window.index == nest_.lowering.number(linearised(place, p_.plane));
    if (window.inside) here = here & *window.inside;
    return select(here, window.gradient, zero_);
  }

  // kept: outer, position; reduced: overlapping windows, some of which may not contain the
  // position.
  void place_by_place() const {
    const FoldSpace space = p_.space(p_.plane, windows_around(p_.slide));
    for_each_fold(nest_.lowering, space, [&](Folder& folder) {
      const Indices place = p_.window(folder.at());
      const auto given = [&](const Indices& at) {
        const Fallen fallen =
            window_around(nest_.lowering, p_.slide, place, p_.offset(at), p_.windows);
        return given_to(place, window(at, fallen));
      };
      const Quantity sum = folder.fold({"sum", Combine::add, zero_, given});
      nest_.lowering.write(nest_.output(), p_.of_plane(folder.at(), place), sum);
    });
  }

  // Blocks of positions, one stride long, that all windows overlap alike: the windows around a
  // block are read once for all of its positions.
  bool has_small_blocks() const {
    for (std::size_t d = 0; d < p_.dims; ++d)
      if (p_.plane[d] % p_.slide.stride[d] != 0) return false;
    return element_count(p_.slide.kernel) <= kMostOfBlock &&
           element_count(p_.slide.stride) <= kMostOfBlock;
  }

  void by_blocks() const {
    Shape shape = p_.outer;
    for (std::size_t d = 0; d < p_.dims; ++d) shape.push_back(p_.plane[d] / p_.slide.stride[d]);
    nest_.lowering.for_each(shape, p_.steps, [&](const Indices& at) {
      std::map<Shape, Window> known;
      for_each_place(p_.slide.stride, [&](const Shape& offset) { write_place(at, offset, known); });
    });
  }

  // Writes a position of a block; `known` caches windows by their distance from the block's first
  // one.
  void write_place(const Indices& block, const Shape& offset,
                   std::map<Shape, Window>& known) const {
    Indices place;
    std::vector<std::vector<std::int64_t>> steps;
    Shape counts;
    for (std::size_t d = 0; d < p_.dims; ++d) {
      place.push_back(p_.slide.stride[d] * p_.window(block)[d] + Index(offset[d]));
      steps.push_back(steps_to_windows(d, offset[d]));
      counts.push_back(static_cast<std::int64_t>(steps.back().size()));
    }
    Quantity sum = zero_;
    for_each_place(counts, [&](const Shape& number) {
      Shape step;
      for (std::size_t d = 0; d < p_.dims; ++d)
        step.push_back(steps[d][static_cast<std::size_t>(number[d])]);
      auto found = known.find(step);
      if (found == known.end())
        found = known.emplace(step, window(block, away(p_.window(block), step))).first;
      sum = sum + given_to(place, found->second);
    });
    nest_.lowering.write(nest_.output(), p_.of_plane(block, place), sum);
  }

  // The distances from the block's window to those that contain its position `offset`, in order.
  std::vector<std::int64_t> steps_to_windows(std::size_t d, std::int64_t offset) const {
    const Sliding& s = p_.slide;
    std::vector<std::int64_t> steps;
    for (std::int64_t k = s.kernel[d]; k-- > 0;) {
      const std::int64_t reach = offset + s.padding[d] - k * s.dilation[d];
      if (reach % s.stride[d] == 0) steps.push_back(reach / s.stride[d]);
    }
    return steps;
  }

  Fallen away(const Indices& block, const Shape& step) const {
    Fallen out;
    for (std::size_t d = 0; d < p_.dims; ++d) out.place.push_back(block[d] + Index(step[d]));
    out.inside = within(nest_.lowering, out.place, p_.windows);
    return out;
  }

  // The maximal number of positions, and of windows around one: all are unrolled.
  static constexpr std::int64_t kMostOfBlock = 32;

  const Nest& nest_;
  const Pooling p_;
  const DType type_;
  const Quantity zero_;
};

// A GPU has a thread for each position, so it gathers. A CPU scatters, one thread a plane, which is
// faster there.
void max_pool_backward(const Nest& nest) {
  const bool many_threads = nest.lowering.options.group_lanes > 0;
  if (many_threads && names_own_windows(nest.lowering.graph(), nest.node))
    return GatheredGradient(nest).build();
  scatter_gradients(nest);
}

}  // namespace

// Counted downwards, the last position is the smallest number.
Quantity place_of_largest(Folder& folder, const Quantity& largest,
                          const std::function<Candidate(const Indices&)>& element) {
  Builder* builder = largest.builder();
  const Quantity none = Quantity::constant(builder, DType::i64, std::int64_t{INT64_MAX});
  const auto turned = [&](const Quantity& number) {
    return largest.real() ? select(is_nan(largest), -number, number) : number;
  };
  const auto place = [&](const Indices& at) {
    const Candidate c = element(at);
    Quantity here = c.element == largest;
    if (largest.real()) here = here | (is_nan(c.element) & is_nan(largest));
    if (c.inside) here = here & *c.inside;
    return select(here, turned(Quantity(builder, builder->number(c.number))), none);
  };
  return turned(folder.fold({"place", Combine::min, none, place}));
}

std::size_t pooled_dimensions(const Call& call, std::size_t rank) {
  const auto named = [&](const char* text) {
    return call.op().packet.find(text) != std::string_view::npos;
  };
  return std::min(named("1d")   ? std::size_t{1}
                  : named("3d") ? std::size_t{3}
                                : std::size_t{2},
                  rank);
}

Sliding sliding_of(const Call& call, std::size_t dims) {
  Sliding slide;
  slide.kernel = per_dimension(call, "kernel_size", dims, 1);
  const bool strides = call.op().parameter("stride") && !call.integers("stride").empty();
  slide.stride = strides ? per_dimension(call, "stride", dims, 1) : slide.kernel;
  slide.padding = per_dimension(call, "padding", dims, 0);
  slide.dilation = per_dimension(call, "dilation", dims, 1);
  return slide;
}

bool names_own_windows(const Graph& graph, NodeId backward) {
  const Op op = graph[backward].op;
  const std::size_t dims = op == Op::max_pool2d_with_indices_backward   ? 2
                           : op == Op::max_pool3d_with_indices_backward ? 3
                                                                        : 0;
  if (dims == 0) return false;
  const Call::TypesOf types_of = [&](NodeId id) { return graph.pool().types_of(id); };
  const auto call_of = [&](NodeId id) { return Call(graph.op(id), graph[id].arguments, types_of); };
  const Call call = call_of(backward);
  NodeId maker = call.node("indices");
  if (graph[maker].op == Op::getitem) maker = graph[maker].operands.front();
  const Call made = call_of(maker);
  const auto plane = indexed_plane(made, dims);
  return plane && *plane == last(graph[backward].outputs.front().shape, dims) &&
         sliding_of(made, dims) == sliding_of(call, dims);
}

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
