// Max pooling: the maxima of windows and their indices, and gradients by these indices.
#include "engine/codegen/lower/nests/pooling.h"

#include <algorithm>
#include <map>

namespace recut::loop {
namespace {

// The maximum of a window and its index, in the plane or in the window. NaN counts as the maximum.
enum class IndexSpace { plane, window };

template <IndexSpace index_space>
void max_pool(const Nest& nest) {
  const Pooling p(nest, nest.shape_of("self"), nest.type().shape);
  const DType type = nest.computing(nest.dtype_of("self"));
  const Constant least = neutral(Combine::max, type);
  Builder* builder = &nest.lowering.builder();
  const ScalarExpr start = is_floating(type) ? ScalarExpr::constant(builder, type, least.real)
                                             : ScalarExpr::constant(builder, type, least.integer);
  const ReductionSpace space = p.space();
  for_each_ordered_reduction(nest.lowering, space, [&](Reducer& reducer) {
    const auto element = [&](const Indices& at, GuardedPosition& guarded) {
      guarded = plane_position(nest.lowering, p.window_config, p.window(at), p.offset(at), p.plane);
      return guarded.element(nest, "self", p.of_plane(at, guarded.position)).to(type);
    };
    const ScalarExpr largest =
        reducer.reduce({"largest", Combine::max, start, [&](const Indices& at) {
                          GuardedPosition guarded;
                          const ScalarExpr x = element(at, guarded);
                          return guarded.inside ? select(*guarded.inside, x, start) : x;
                        }});
    const Indices out = p.of_plane(reducer.at(), p.window(reducer.at()));
    if (nest.is_requested(0)) nest.lowering.write(nest.output(0), out, largest);
    if (!nest.is_requested(1)) return;
    const ScalarExpr position = position_of_largest(reducer, largest, [&](const Indices& at) {
      GuardedPosition guarded;
      const ScalarExpr x = element(at, guarded);
      const Index number = index_space == IndexSpace::plane
                               ? linearize(guarded.position, p.plane)
                               : linearize(p.offset(at), p.window_config.kernel);
      return Candidate{x, number, guarded.inside};
    });
    nest.lowering.write(nest.output(1), out, position);
  });
}

// Converts window offsets to plane indices.
void offsets_to_indices(const Nest& nest) {
  const Shape plane = nest.call.integers("input_size");
  Shape in = nest.type().shape;
  std::copy(plane.begin(), plane.end(), in.end() - static_cast<std::ptrdiff_t>(plane.size()));
  const Pooling p(nest, in, nest.type().shape);
  Builder& builder = nest.lowering.builder();
  const Layout out = output_layout(nest.type());
  nest.lowering.for_each(out.shape, out.strides, [&](const Indices& at) {
    const Index offset =
        nest.checked(nest.raw("self", at), element_count(p.window_config.kernel), false);
    const Indices reach = delinearize(offset, p.window_config.kernel, builder);
    Index position;
    for (std::size_t d = 0; d < p.dims; ++d) {
      const Index own = p.window_config.stride[d] * at[p.outer.size() + d] -
                        Index(p.window_config.padding[d]) + p.window_config.dilation[d] * reach[d];
      position = p.plane[d] * position + nest.checked(nest.lowering.number(own), p.plane[d], false);
    }
    nest.lowering.write(nest.output(), at, nest.lowering.number(position));
  });
}

// Scatters each gradient to the element of its index. Windows may overlap, so those of one plane
// run serially.
void scatter_gradients(const Nest& nest) {
  const Pooling p(nest, nest.type().shape, nest.shape_of("grad_output"));
  const Layout whole = output_layout(nest.type());
  nest.lowering.for_each(whole.shape, whole.strides, [&](const Indices& at) {
    nest.lowering.write(nest.output(), at,
                        nest.lowering.constant(value_type(nest.type().dtype), 0));
  });
  Builder& builder = nest.lowering.builder();
  const std::size_t depth = builder.depth();
  const Index plane = builder.open_loop("i", element_count(p.outer), Builder::Order::parallel);
  const Indices outer = delinearize(plane, p.outer, builder);
  const Index window = builder.open_loop("j", element_count(p.windows));
  Indices from = outer, to = outer;
  for (const Index& index : delinearize(window, p.windows, builder)) from.push_back(index);
  const Index position = nest.checked(nest.raw("indices", from), element_count(p.plane), false);
  for (const Index& index : delinearize(position, p.plane, builder)) to.push_back(index);
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
void for_each_position(const Shape& shape, const std::function<void(const Shape&)>& body) {
  const std::int64_t count = element_count(shape);
  for (std::int64_t n = 0; n < count; ++n) {
    Shape position(shape.size());
    std::int64_t rest = n;
    for (std::size_t d = shape.size(); d-- > 0; rest /= shape[d]) position[d] = rest % shape[d];
    body(position);
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

  void build() const { has_small_blocks() ? by_blocks() : position_by_position(); }

 private:
  struct Window {
    ScalarExpr index, gradient;
    std::optional<ScalarExpr> inside;  // none: there always is such a window
  };

  Window window(const Indices& at, const GuardedPosition& guarded) const {
    const Indices from = p_.of_plane(at, guarded.position);
    return {guarded.element(nest_, "indices", from),
            guarded.element(nest_, "grad_output", from).to(type_), guarded.inside};
  }
  ScalarExpr given_to(const Indices& position, const Window& window) const {
    ScalarExpr here = window.index == nest_.lowering.number(linearize(position, p_.plane));
    if (window.inside) here = here & *window.inside;
    return select(here, window.gradient, zero_);
  }

  // kept: outer, position; reduced: overlapping windows, some of which may not contain the
  // position.
  void position_by_position() const {
    const ReductionSpace space = p_.space(p_.plane, overlapping_window_counts(p_.window_config));
    for_each_ordered_reduction(nest_.lowering, space, [&](Reducer& reducer) {
      const Indices position = p_.window(reducer.at());
      const auto given = [&](const Indices& at) {
        const GuardedPosition guarded = overlapping_window(nest_.lowering, p_.window_config,
                                                           position, p_.offset(at), p_.windows);
        return given_to(position, window(at, guarded));
      };
      const ScalarExpr sum = reducer.reduce({"sum", Combine::add, zero_, given});
      nest_.lowering.write(nest_.output(), p_.of_plane(reducer.at(), position), sum);
    });
  }

  // Blocks of positions, one stride long, that all windows overlap alike: the windows around a
  // block are read once for all of its positions.
  bool has_small_blocks() const {
    for (std::size_t d = 0; d < p_.dims; ++d)
      if (p_.plane[d] % p_.window_config.stride[d] != 0) return false;
    return element_count(p_.window_config.kernel) <= kMaxBlockElements &&
           element_count(p_.window_config.stride) <= kMaxBlockElements;
  }

  void by_blocks() const {
    Shape shape = p_.outer;
    for (std::size_t d = 0; d < p_.dims; ++d)
      shape.push_back(p_.plane[d] / p_.window_config.stride[d]);
    nest_.lowering.for_each(shape, p_.steps, [&](const Indices& at) {
      std::map<Shape, Window> known;
      for_each_position(p_.window_config.stride,
                        [&](const Shape& offset) { write_position(at, offset, known); });
    });
  }

  // Writes a position of a block; `known` caches windows by their distance from the block's first
  // one.
  void write_position(const Indices& block, const Shape& offset,
                      std::map<Shape, Window>& known) const {
    Indices position;
    std::vector<std::vector<std::int64_t>> steps;
    Shape counts;
    for (std::size_t d = 0; d < p_.dims; ++d) {
      position.push_back(p_.window_config.stride[d] * p_.window(block)[d] + Index(offset[d]));
      steps.push_back(steps_to_windows(d, offset[d]));
      counts.push_back(static_cast<std::int64_t>(steps.back().size()));
    }
    ScalarExpr sum = zero_;
    for_each_position(counts, [&](const Shape& number) {
      Shape step;
      for (std::size_t d = 0; d < p_.dims; ++d)
        step.push_back(steps[d][static_cast<std::size_t>(number[d])]);
      auto found = known.find(step);
      if (found == known.end())
        found = known.emplace(step, window(block, away(p_.window(block), step))).first;
      sum = sum + given_to(position, found->second);
    });
    nest_.lowering.write(nest_.output(), p_.of_plane(block, position), sum);
  }

  // The distances from the block's window to the windows that contain its position `offset`, in
  // order.
  std::vector<std::int64_t> steps_to_windows(std::size_t d, std::int64_t offset) const {
    const WindowConfig& s = p_.window_config;
    std::vector<std::int64_t> steps;
    for (std::int64_t k = s.kernel[d]; k-- > 0;) {
      const std::int64_t reach = offset + s.padding[d] - k * s.dilation[d];
      if (reach % s.stride[d] == 0) steps.push_back(reach / s.stride[d]);
    }
    return steps;
  }

  GuardedPosition away(const Indices& block, const Shape& step) const {
    GuardedPosition out;
    for (std::size_t d = 0; d < p_.dims; ++d) out.position.push_back(block[d] + Index(step[d]));
    out.inside = in_bounds(nest_.lowering, out.position, p_.windows);
    return out;
  }

  // The maximal number of positions, and of windows around one: all are unrolled.
  static constexpr std::int64_t kMaxBlockElements = 32;

  const Nest& nest_;
  const Pooling p_;
  const DType type_;
  const ScalarExpr zero_;
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
ScalarExpr position_of_largest(Reducer& reducer, const ScalarExpr& largest,
                               const std::function<Candidate(const Indices&)>& element) {
  Builder* builder = largest.builder();
  const ScalarExpr none = ScalarExpr::constant(builder, DType::i64, std::int64_t{INT64_MAX});
  const auto transposed = [&](const ScalarExpr& number) {
    return largest.real() ? select(is_nan(largest), -number, number) : number;
  };
  const auto position = [&](const Indices& at) {
    const Candidate c = element(at);
    ScalarExpr here = c.element == largest;
    if (largest.real()) here = here | (is_nan(c.element) & is_nan(largest));
    if (c.inside) here = here & *c.inside;
    return select(here, transposed(ScalarExpr(builder, builder->number(c.number))), none);
  };
  return transposed(reducer.reduce({"place", Combine::min, none, position}));
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

WindowConfig window_config_of(const Call& call, std::size_t dims) {
  WindowConfig window_config;
  window_config.kernel = per_dimension(call, "kernel_size", dims, 1);
  const bool strides = call.op().parameter("stride") && !call.integers("stride").empty();
  window_config.stride = strides ? per_dimension(call, "stride", dims, 1) : window_config.kernel;
  window_config.padding = per_dimension(call, "padding", dims, 0);
  window_config.dilation = per_dimension(call, "dilation", dims, 1);
  return window_config;
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
  NodeId producer = call.node("indices");
  if (graph[producer].op == Op::getitem) producer = graph[producer].operands.front();
  const Call forward = call_of(producer);
  const auto plane = indexed_plane(forward, dims);
  return plane && *plane == last(graph[backward].outputs.front().shape, dims) &&
         window_config_of(forward, dims) == window_config_of(call, dims);
}

void add_pooling_nests(NestTable& table) {
  for (const Op op : {Op::max_pool1d, Op::max_pool2d, Op::max_pool3d, Op::max_pool1d_with_indices,
                      Op::max_pool2d_with_indices, Op::max_pool3d_with_indices})
    table.push_back({op, max_pool<IndexSpace::plane>});
  table.push_back({Op::prims_low_memory_max_pool_with_offsets, max_pool<IndexSpace::window>});
  table.push_back({Op::prims_low_memory_max_pool_offsets_to_indices, offsets_to_indices});
  for (const Op op : {Op::max_pool2d_with_indices_backward, Op::max_pool3d_with_indices_backward,
                      Op::adaptive_max_pool2d_backward, Op::adaptive_max_pool3d_backward,
                      Op::fractional_max_pool2d_backward, Op::fractional_max_pool3d_backward})
    table.push_back({op, max_pool_backward});
}

}  // namespace recut::loop
