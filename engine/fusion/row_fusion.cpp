#include "engine/fusion/row_fusion.h"

#include <algorithm>

#include "engine/ir/aliases.h"

namespace recut {
namespace {

// The threads of a large CPU, and the elements that one thread processes in the time of a launch.
constexpr std::int64_t kEnoughRows = 16;
constexpr std::int64_t kFewElements = 1 << 14;

// Tells whether an empty list of dimensions means all dimensions.
bool empty_reduces_all(Op op) {
  return op != Op::any_dim && op != Op::any_dims && op != Op::all_dim && op != Op::all_dims;
}

// Maps the dimensions of a shape to those of a space: all of them if the ranks agree, or the
// kept ones. Nullopt if neither rank fits.
std::optional<std::vector<std::size_t>> dimensions_of(const RowSpace& space, const Shape& shape) {
  std::vector<std::size_t> all, kept;
  for (std::size_t d = 0; d < space.shape.size(); ++d) {
    all.push_back(d);
    if (!space.reduced[d]) kept.push_back(d);
  }
  if (shape.size() == all.size()) return all;
  if (shape.size() == kept.size()) return kept;
  return std::nullopt;
}

enum class Extent : std::uint8_t { element, row, other };  // one value for each …

Extent extent_of(const RowSpace& space, const Shape& shape) {
  if (shape == space.shape) return Extent::element;
  const auto dims = dimensions_of(space, shape);
  if (!dims) return Extent::other;
  for (std::size_t n = 0; n < dims->size(); ++n)
    if (shape[n] != (space.reduced[(*dims)[n]] ? 1 : space.shape[(*dims)[n]])) return Extent::other;
  return Extent::row;
}

// The strides of a value along the space's dimensions, as it is broadcast to `reader`; 0 along
// broadcast dimensions. Nullopt if a dimension has neither length 1 nor the space's length.
std::optional<Strides> strides_in(const RowSpace& space, const Shape& reader,
                                  const TensorType& value) {
  const auto dims = dimensions_of(space, reader);
  if (!dims || value.shape.size() > dims->size()) return std::nullopt;
  Strides strides(space.shape.size(), 0);
  const std::size_t leading = dims->size() - value.shape.size();
  for (std::size_t n = 0; n < value.shape.size(); ++n) {
    const std::size_t d = (*dims)[leading + n];
    if (value.shape[n] == 1) continue;
    if (value.shape[n] != space.shape[d]) return std::nullopt;
    strides[d] = value.strides[n];
  }
  return strides;
}

class RowKernelFinder {
 public:
  RowKernelFinder(const Graph& graph, std::span<const NodeId> calls)
      : graph_(graph), calls_(calls) {}

  RowKernel run() {
    if (std::none_of(calls_.begin(), calls_.end(), [&](NodeId id) { return reduces(id); }))
      return {};
    for (const NodeId id : calls_) {
      bool behind = false;
      for (const NodeId operand : graph_[id].operands) {
        const NodeId maker = defining_node(graph_, operand);
        if (!is_member(maker) || (!reduces(maker) && !found_.is_behind(maker))) continue;
        behind = true;
        if (!goes_on_with(maker) || !reads_own_row(id, operand)) return impossible();
      }
      if (!behind) continue;
      if (!may_stand_behind(id)) return impossible();
      found_.behind.push_back(id);
    }
    return std::move(found_);
  }

 private:
  static RowKernel impossible() { return {RowKernel::Form::impossible, {}, {}, {}}; }

  bool is_member(NodeId id) const {
    return std::find(calls_.begin(), calls_.end(), id) != calls_.end();
  }
  bool reduces(NodeId id) const { return graph_.op(id).is(kReduction); }

  // Tells whether the operand keeps the invariant that all reductions read reduce the same rows.
  bool goes_on_with(NodeId maker) {
    if (!reduces(maker)) return true;
    const auto rows = rows_of(graph_, maker);
    if (!rows) return false;
    if (found_.form == RowKernel::Form::ends) {
      found_.form = RowKernel::Form::continues;
      found_.first = maker;
      found_.space = *rows;
    }
    return *rows == found_.space;
  }

  bool may_stand_behind(NodeId id) const {
    if (reduces(id)) return rows_of(graph_, id) == found_.space;
    const auto& outputs = graph_[id].outputs;
    return graph_.op(id).is(kPointwise) &&
           std::all_of(outputs.begin(), outputs.end(), [&](const TensorType& type) {
             return !type.exists() || extent_of(found_.space, type.shape) != Extent::other;
           });
  }

  // Tells whether each element of `reader` reads the same element of the operand's storage, or its
  // own row's element.
  bool reads_own_row(NodeId reader, NodeId operand) const {
    const Shape& shape =
        reduces(reader) ? found_.space.shape : graph_[reader].outputs.front().shape;
    const TensorType& read = graph_.type(operand);
    NodeId at = operand;
    std::size_t output = 0;
    for (; defining_node(graph_, at) != at; at = graph_[at].operands.front()) {
      if (!graph_.op(at).is(kKeepsOrder)) return false;
      if (graph_[at].op == Op::getitem)
        output = static_cast<std::size_t>(*graph_[at].arguments[1].get<std::int64_t>());
    }
    const TensorType& made = graph_[at].outputs[output];
    const Extent extent = extent_of(found_.space, made.shape);
    if (!is_dense(made) || extent == Extent::other) return false;
    if (extent == Extent::element && shape != found_.space.shape) return false;
    const auto own = strides_in(found_.space, made.shape, made);
    return own && strides_in(found_.space, shape, read) == own;
  }

  const Graph& graph_;
  const std::span<const NodeId> calls_;
  RowKernel found_;
};

}  // namespace

std::int64_t RowSpace::rows() const {
  std::int64_t count = 1;
  for (std::size_t d = 0; d < shape.size(); ++d) count *= reduced[d] ? 1 : shape[d];
  return count;
}

bool has_enough_rows(const RowSpace& space) {
  return space.rows() >= kEnoughRows || element_count(space.shape) <= kFewElements;
}

bool rows_lie_together(const RowSpace& space, const Strides& strides) {
  std::int64_t shortest = INT64_MAX;
  bool reduced = true;
  for (std::size_t d = 0; d < space.shape.size(); ++d) {
    if (space.shape[d] <= 1 || strides[d] >= shortest) continue;
    shortest = strides[d];
    reduced = space.reduced[d];
  }
  return reduced;
}

std::vector<bool> reduced_dimensions(const Call& call, std::size_t rank, bool empty_reduces_all) {
  std::vector<std::int64_t> dims;
  const bool named = call.op().parameter("dim").has_value() && call.given("dim");
  if (named) dims = call.integers("dim");
  if (!named || (dims.empty() && empty_reduces_all)) return std::vector<bool>(rank, true);
  std::vector<bool> reduced(rank, false);
  for (const std::int64_t d : dims)
    if (rank > 0)
      reduced[static_cast<std::size_t>(
          wrap_dimension(d, static_cast<std::int64_t>(rank)).value())] = true;
  return reduced;
}

std::optional<RowSpace> rows_of(const Graph& graph, NodeId id) {
  if (!graph.op(id).is(kRowReduction)) return std::nullopt;
  const Call::TypesOf types_of = [&](NodeId n) { return graph.pool().types_of(n); };
  const Call call(graph.op(id), graph[id].arguments, types_of);
  const Shape& shape = call.tensor("self").shape;
  return RowSpace{shape, reduced_dimensions(call, shape.size(), empty_reduces_all(graph[id].op))};
}

bool RowKernel::is_behind(NodeId call) const {
  return std::find(behind.begin(), behind.end(), call) != behind.end();
}

RowKernel row_kernel(const Graph& graph, std::span<const NodeId> calls) {
  return RowKernelFinder(graph, calls).run();
}

}  // namespace recut
