// Elements are generated on demand (pull model): a nest asks for an element of an operand at an
// index, and either loads it or expands the formula of a call of the same kernel, recursively.
// `known_` memoizes by (value, index) while the block of the result is open, so a value with two
// readers is computed once.
//
// merge_loops decides which loops to collapse by trial: it generates the body, counts the divisions
// in its indices, and restores the state for the next trial. A cost estimate without generating
// would have to repeat simplification.
#include "engine/codegen/lower/lowering.h"

#include <algorithm>
#include <numeric>

#include "engine/codegen/lower/float8.h"
#include "engine/support/check.h"

namespace recut::loop {

std::int64_t lanes_for(std::int64_t iterations) { return iterations >= kLanes ? kLanes : 1; }

std::int64_t lanes_for_sum(std::int64_t terms) {
  if (terms >= 8192) return 256;
  if (terms >= 256) return 32;
  return lanes_for(terms);
}

namespace {

constexpr std::int64_t kShortSum = 64;
constexpr std::int64_t kTermsOfLane = 8;

}  // namespace

std::int64_t lanes_for_group(std::int64_t terms, std::int64_t sums, std::int64_t most) {
  constexpr std::int64_t kWarp = 32, kPack = 4;
  constexpr std::int64_t kTermsOfThread = 32;                 // that fit into its registers
  constexpr std::int64_t kManyLanes = std::int64_t{1} << 19;  // of all sums: a few for each thread
  if (terms < kShortSum) return lanes_for(terms);
  const std::int64_t pack = terms % kPack == 0 ? kPack : 1;
  std::int64_t lanes = kWarp;
  while (lanes < most && kTermsOfLane * lanes < terms &&
         (lanes < terms / kTermsOfThread * pack || sums < kManyLanes / lanes))
    lanes *= 2;
  return lanes;
}

std::int64_t lanes_for_columns(std::int64_t terms, std::int64_t sums, std::int64_t most,
                               std::int64_t threads) {
  constexpr std::int64_t kNeighbours = 32;
  constexpr std::int64_t kManyThreads = std::int64_t{1} << 18;
  if (terms < kShortSum) return 1;
  std::int64_t lanes = 1;
  while (lanes * kNeighbours < most && kTermsOfLane * lanes < terms && sums < kManyThreads / lanes)
    lanes *= 2;
  std::int64_t side_by_side = 1, of_all = 1;
  while (side_by_side < sums) side_by_side *= 2;
  while (of_all < kMaxLanes && 2 * of_all * side_by_side <= threads &&
         kTermsOfLane * of_all < terms)
    of_all *= 2;
  return of_all > kMaxLanesAbreast ? of_all : lanes;
}

bool is_materialized(const StorageModel& storages, const FusionGroups& groups, NodeId last,
                     const ValueRef& ref) {
  if (groups.inlines(last, ref.node)) return false;
  for (const StorageId s : storages.owned(ref.node))
    if (storages[s].output == ref.output) return !groups.inner(s);
  return false;  // of no bytes, or absent
}

Lowering::Lowering(const Graph& graph, const StorageModel& storages, const FusionGroups& groups,
                   std::span<const NodeId> calls, const LowerOptions& lower_options)
    : options(lower_options),
      graph_(graph),
      storages_(storages),
      groups_(groups),
      last_(calls.empty() ? NodeId() : calls.back()),
      types_of_([&graph](NodeId id) { return graph.pool().types_of(id); }) {
  for (const NodeId id : calls)
    locations_.emplace(id, static_cast<std::uint32_t>(locations_.size()));
}

DType Lowering::compute_type(DType dtype) const {
  if (!is_floating(dtype)) return DType::i64;
  return dtype == DType::f64 || options.precision == Precision::f64 ? DType::f64 : DType::f32;
}

// Elements
// --------------------------------------------------------------------------------------

const ViewMap& Lowering::view_map(NodeId id) {
  const auto known = view_maps_.find(id);
  if (known != view_maps_.end()) return known->second;
  auto found = view_map_of(graph_, id);
  RECUT_CHECK(found.ok(), "lower() has looked at every operand's view map");
  return view_maps_.emplace(id, std::move(*found)).first->second;
}

ScalarExpr Lowering::element(NodeId id, const Indices& at) { return element(view_map(id), at); }

ScalarExpr Lowering::element(const ViewMap& view_map, const Indices& at) {
  const ValueRef& ref = view_map.base;
  if (!is_member(ref.node)) return load(view_map, at, {});
  // The value is in no memory, or not yet: compute it here. Its own layout is read directly,
  // without a detour through storage offsets.
  const Layout own = buffer_layout(type(ref));
  if (view_map.layouts.size() == 1 && view_map.layouts[0].strides == own.strides &&
      view_map.layouts[0].shape == own.shape && view_map.layouts[0].offset == 0)
    return computed_element(ref, at);
  return computed_element(ref,
                          index_at_offset(own, element_offset(view_map, at, builder_), builder_));
}

ScalarExpr Lowering::element_where(NodeId id, const Indices& at, ScalarExpr condition) {
  const ViewMap& where = view_map(id);
  RECUT_CHECK(!is_member(where.base.node), "what is read under a condition is in memory");
  if (element_count(graph_.type(id).shape) == 0)
    return constant(value_type(graph_.type(id).dtype), 0);
  return load(where, at, condition.id());
}

ScalarExpr Lowering::load(const ViewMap& view_map, const Indices& at, ValueId where) {
  const BufferId from = buffer(view_map.base, Access::read);
  return loaded({&builder_, builder_.load(from, element_offset(view_map, at, builder_), where)},
                type(view_map.base).dtype);
}

// The element of a loaded value.
ScalarExpr Lowering::loaded(const ScalarExpr& value, DType dtype) const {
  return is_float8(dtype) ? decoded_float8(value, dtype) : value;
}

void Lowering::bind_element(const ValueRef& ref, const ScalarExpr& element) {
  bound_[ref] = element.id();
}

BufferId Lowering::buffer(const ValueRef& ref, Access access) {
  const auto known = buffers_.find(ref);
  if (known != buffers_.end()) return known->second;
  const TensorType& own = type(ref);
  std::string name = graph_.node_name(ref.node);
  if (graph_.op(ref.node).multiple_outputs()) name += "." + std::to_string(ref.output);
  const BufferId id = builder_.add_buffer(
      {std::move(name), buffer_dtype(own.dtype), element_count(buffer_layout(own).shape), access});
  StorageId storage;
  for (const StorageId s : storages_.owned(ref.node))
    if (storages_[s].output == ref.output) storage = s;
  sources_.push_back({ref.node, ref.output, storage});
  buffers_.emplace(ref, id);
  return id;
}

void Lowering::write(const ValueRef& ref, const Indices& at, const ScalarExpr& value) {
  write_through({ref, {buffer_layout(type(ref))}}, at, value);
}

void Lowering::write_computed(const ValueRef& ref, const Indices& at) {
  if (!is_complex(type(ref).dtype)) return write(ref, at, computed_element(ref, at));
  Indices part = at;
  part.emplace_back(0);
  for (std::int64_t p = 0; p < 2; ++p) {
    part.back() = p;
    write(ref, part, computed_element(ref, part));
  }
}

void Lowering::write_through(const ViewMap& view, const Indices& at, const ScalarExpr& value) {
  const LocationScope scope(*this, view.base.node);
  const DType dtype = real_of(type(view.base).dtype);
  const ValueId stored =
      (is_float8(dtype) ? encoded_float8(value, dtype) : rounded(value, dtype)).id();
  builder_.store(buffer(view.base, Access::write), element_offset(view, at, builder_), stored);
}

void Lowering::combine_into(const ValueRef& ref, const Indices& at, Combine how,
                            const ScalarExpr& value) {
  const LocationScope scope(*this, ref.node);
  const ViewMap whole{ref, {output_layout(type(ref))}};
  const ValueId combined = rounded(value, type(ref).dtype).id();
  const BufferId id = buffer(ref, Access::read_write);
  builder_.set_access(id, Access::read_write);
  builder_.combine_into(id, element_offset(whole, at, builder_), how, combined);
}

ScalarExpr Lowering::stored(const ValueRef& ref, const Indices& at) {
  const ViewMap whole{ref, {output_layout(type(ref))}};
  const BufferId id = buffer(ref, Access::read_write);
  builder_.set_access(id, Access::read_write);
  return loaded({&builder_, builder_.load(id, element_offset(whole, at, builder_))},
                type(ref).dtype);
}

ScalarExpr Lowering::rounded(ScalarExpr computed, DType dtype) {
  const DType requested = value_type(dtype);
  if (is_floating(dtype)) {
    if (!computed.real()) computed = computed.to(compute_type(dtype));
    if (is_float8(dtype)) return decoded_float8(encoded_float8(computed, dtype), dtype);
    if (item_bytes(dtype) == 2) computed = computed.narrowed(dtype);
    return computed.to(requested);
  }
  if (dtype == DType::boolean) return computed.to(DType::boolean);
  computed = computed.to(DType::i64).to(requested);
  if (item_bytes(dtype) < item_bytes(requested)) computed = computed.narrowed(dtype);
  return computed;
}

ScalarExpr Lowering::cast(ScalarExpr element, DType from, DType common) {
  const DType computing = compute_type(common);
  if (from == common) return element.to(computing);
  if (common == DType::boolean) return element.to(DType::boolean).to(computing);
  if (!is_floating(common)) {
    const ScalarExpr whole = element.to(DType::i64);
    return common == DType::i64 ? whole : rounded(whole, common).to(DType::i64);
  }
  const bool exact = is_floating(from) && promote(from, common) == common;
  const ScalarExpr value = element.to(computing);
  if (exact || common == DType::f64 || (common == DType::f32 && computing == DType::f32))
    return value;
  return value.narrowed(common);
}

ScalarExpr Lowering::constant(DType type, double number) {
  return ScalarExpr::constant(&builder_, type, number);
}

// Loops
// -----------------------------------------------------------------------------------------

void Lowering::merge_loops(std::size_t boundaries,
                           const std::function<void(const std::vector<bool>&)>& attempt) {
  const State before{builder_, buffers_, sources_, known_, bound_};
  const auto divisions_of = [&](const std::vector<bool>& merged) {
    builder_ = before.builder;
    buffers_ = before.buffers;
    sources_ = before.sources;
    known_ = before.known;
    bound_ = before.bound;
    attempt(merged);
    return builder_.divisions() - before.builder.divisions();
  };
  std::vector<bool> merged(boundaries, true);
  if (divisions_of(merged) == 0 || boundaries == 0) return;
  std::fill(merged.begin(), merged.end(), false);
  const int least = divisions_of(merged);
  for (std::size_t b = boundaries; b-- > 0;) {
    merged[b] = true;
    if (divisions_of(merged) > least) merged[b] = false;
  }
  divisions_of(merged);
}

void Lowering::for_each(const Shape& shape, const Strides& strides,
                        const std::function<void(const Indices&)>& body) {
  std::vector<std::size_t> order(shape.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  if (!strides.empty())
    std::stable_sort(order.begin(), order.end(),
                     [&](std::size_t a, std::size_t b) { return strides[a] > strides[b]; });
  merge_loops(order.empty() ? 0 : order.size() - 1, [&](const std::vector<bool>& merged) {
    const std::size_t depth = builder_.depth();
    Indices at(shape.size(), 0);
    Builder::Order how = Builder::Order::parallel;
    for (std::size_t first = 0; first < order.size();) {
      std::size_t last = first;
      Shape together{shape[order[first]]};
      for (; last < merged.size() && merged[last]; ++last)
        together.push_back(shape[order[last + 1]]);
      const std::int64_t extent = element_count(together);
      static const char* const kNames[] = {"i", "j", "k", "l", "m", "n"};
      const Index variable =
          builder_.open_loop(kNames[std::min<std::size_t>(first, 5)], extent, how,
                             last + 1 == order.size() ? lanes_for(extent) : 1);
      if (extent > 1) how = Builder::Order::serial;
      const Indices parts = delinearize(variable, together, builder_);
      for (std::size_t n = first; n <= last; ++n) at[order[n]] = parts[n - first];
      first = last + 1;
    }
    body(at);
    builder_.close_to(depth);
  });
}

LoweredKernel Lowering::finish() { return {builder_.take(), std::move(sources_)}; }

}  // namespace recut::loop
