// Elements are generated on demand (pull model): a nest asks for an element of an operand at an
// index, and either loads it or expands the formula of a call of the same kernel, recursively.
// `known_` memoizes by (value, index) while the block of the result is open, so a value with two
// readers is computed once.
//
// merge_best decides which loops to collapse by trial: it generates the body, counts the divisions
// in its indices, and restores the state for the next trial. A cost estimate without generating
// would have to repeat what simplification does.
#include "engine/codegen/lower/lowering.h"

#include <algorithm>
#include <numeric>

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
  while (of_all < kMostLanes && 2 * of_all * side_by_side <= threads &&
         kTermsOfLane * of_all < terms)
    of_all *= 2;
  return of_all > kMostLanesAbreast ? of_all : lanes;
}

bool reaches_memory(const StorageModel& storages, const FusionGroups& groups, NodeId last,
                    const Made& made) {
  if (groups.inlines(last, made.node)) return false;
  for (const StorageId s : storages.owned(made.node))
    if (storages[s].output == made.output) return !groups.inner(s);
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
  for (const NodeId id : calls) notes_.emplace(id, static_cast<std::uint32_t>(notes_.size()));
}

DType Lowering::compute_type(DType dtype) const {
  if (!is_floating(dtype)) return DType::i64;
  return dtype == DType::f64 || options.precision == Precision::f64 ? DType::f64 : DType::f32;
}

// Elements
// --------------------------------------------------------------------------------------

const Address& Lowering::address(NodeId id) {
  const auto known = addresses_.find(id);
  if (known != addresses_.end()) return known->second;
  auto found = address_of(graph_, id);
  RECUT_CHECK(found.ok(), "lower() has looked at every operand's address");
  return addresses_.emplace(id, std::move(*found)).first->second;
}

Quantity Lowering::element(NodeId id, const Indices& at) { return element(address(id), at); }

Quantity Lowering::element(const Address& address, const Indices& at) {
  const Made& made = address.made;
  if (!is_member(made.node)) return load(address, at, {});
  // The value is in no memory, or not yet: compute it here. Its own layout is read directly,
  // without a detour through storage offsets.
  const Layout own = made_layout(type(made));
  if (address.layouts.size() == 1 && address.layouts[0].strides == own.strides &&
      address.layouts[0].shape == own.shape && address.layouts[0].offset == 0)
    return made_element(made, at);
  return made_element(made, element_at(own, place_of(address, at, builder_), builder_));
}

Quantity Lowering::element_where(NodeId id, const Indices& at, Quantity condition) {
  const Address& where = address(id);
  RECUT_CHECK(!is_member(where.made.node), "what is read under a condition stands in memory");
  if (element_count(graph_.type(id).shape) == 0) return constant(graph_.type(id).dtype, 0);
  return load(where, at, condition.id());
}

Quantity Lowering::load(const Address& address, const Indices& at, ValueId where) {
  const BufferId from = buffer(address.made, Access::read);
  return {&builder_, builder_.load(from, place_of(address, at, builder_), where)};
}

void Lowering::settle(const Made& made, const Quantity& element) { settled_[made] = element.id(); }

BufferId Lowering::buffer(const Made& made, Access access) {
  const auto known = buffers_.find(made);
  if (known != buffers_.end()) return known->second;
  const TensorType& own = type(made);
  std::string name = graph_.node_name(made.node);
  if (graph_.op(made.node).multiple_outputs()) name += "." + std::to_string(made.output);
  const BufferId id =
      builder_.add_buffer({std::move(name), own.dtype, element_count(own.shape), access});
  StorageId storage;
  for (const StorageId s : storages_.owned(made.node))
    if (storages_[s].output == made.output) storage = s;
  sources_.push_back({made.node, made.output, storage});
  buffers_.emplace(made, id);
  return id;
}

void Lowering::write(const Made& made, const Indices& at, const Quantity& value) {
  write_through({made, {made_layout(type(made))}}, at, value);
}

void Lowering::write_through(const Address& view, const Indices& at, const Quantity& value) {
  const About about(*this, view.made.node);
  const ValueId stored = rounded(value, type(view.made).dtype).id();
  builder_.store(buffer(view.made, Access::written), place_of(view, at, builder_), stored);
}

void Lowering::combine_into(const Made& made, const Indices& at, Combine how,
                            const Quantity& value) {
  const About about(*this, made.node);
  const Address whole{made, {made_layout(type(made))}};
  const ValueId combined = rounded(value, type(made).dtype).id();
  const BufferId id = buffer(made, Access::updated);
  builder_.set_access(id, Access::updated);
  builder_.combine_into(id, place_of(whole, at, builder_), how, combined);
}

Quantity Lowering::stored(const Made& made, const Indices& at) {
  const Address whole{made, {made_layout(type(made))}};
  const BufferId id = buffer(made, Access::updated);
  builder_.set_access(id, Access::updated);
  return {&builder_, builder_.load(id, place_of(whole, at, builder_))};
}

Quantity Lowering::rounded(Quantity computed, DType dtype) {
  const DType wanted = value_type(dtype);
  if (is_floating(dtype)) {
    if (!computed.real()) computed = computed.to(compute_type(dtype));
    if (item_bytes(dtype) == 2) computed = computed.narrowed(dtype);
    return computed.to(wanted);
  }
  if (dtype == DType::boolean) return computed.to(DType::boolean);
  computed = computed.to(DType::i64).to(wanted);
  if (item_bytes(dtype) < item_bytes(wanted)) computed = computed.narrowed(dtype);
  return computed;
}

Quantity Lowering::cast(Quantity element, DType from, DType common) {
  const DType computing = compute_type(common);
  if (from == common) return element.to(computing);
  if (common == DType::boolean) return element.to(DType::boolean).to(computing);
  if (!is_floating(common)) {
    const Quantity whole = element.to(DType::i64);
    return common == DType::i64 ? whole : rounded(whole, common).to(DType::i64);
  }
  const bool exact = is_floating(from) && promote(from, common) == common;
  const Quantity value = element.to(computing);
  if (exact || common == DType::f64 || (common == DType::f32 && computing == DType::f32))
    return value;
  return value.narrowed(common);
}

Quantity Lowering::constant(DType type, double number) {
  return Quantity::constant(&builder_, type, number);
}

// Loops
// -----------------------------------------------------------------------------------------

void Lowering::merge_best(std::size_t borders,
                          const std::function<void(const std::vector<bool>&)>& attempt) {
  const State before{builder_, buffers_, sources_, known_, settled_};
  const auto divisions_of = [&](const std::vector<bool>& merged) {
    builder_ = before.builder;
    buffers_ = before.buffers;
    sources_ = before.sources;
    known_ = before.known;
    settled_ = before.settled;
    attempt(merged);
    return builder_.divisions() - before.builder.divisions();
  };
  std::vector<bool> merged(borders, true);
  if (divisions_of(merged) == 0 || borders == 0) return;
  std::fill(merged.begin(), merged.end(), false);
  const int least = divisions_of(merged);
  for (std::size_t b = borders; b-- > 0;) {
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
  merge_best(order.empty() ? 0 : order.size() - 1, [&](const std::vector<bool>& merged) {
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
      const Indices parts = delinearised(variable, together, builder_);
      for (std::size_t n = first; n <= last; ++n) at[order[n]] = parts[n - first];
      first = last + 1;
    }
    body(at);
    builder_.close_to(depth);
  });
}

LoweredKernel Lowering::finish() { return {builder_.take(), std::move(sources_)}; }

}  // namespace recut::loop
