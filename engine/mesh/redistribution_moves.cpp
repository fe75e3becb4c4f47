#include "engine/mesh/redistribution_moves.h"

#include <algorithm>

#include "engine/mesh/padding.h"

namespace recut::mesh {
namespace {

// The positions of a group by the interval of a dimension that they hold, in order of its elements.
// Empty parts are left out.
std::vector<std::pair<Interval, std::int64_t>> holders(std::int64_t size,
                                                       const std::vector<int>& order,
                                                       const DeviceMesh& mesh, Coordinate at) {
  std::vector<std::pair<Interval, std::int64_t>> held;
  for (const int axis : order) at[static_cast<std::size_t>(axis)] = 0;
  for (bool more = true; more;) {
    const Interval part = local_interval(size, order, mesh, at);
    if (part.size > 0) held.push_back({part, mesh.position(at)});
    more = false;
    for (std::size_t i = order.size(); i-- > 0 && !more;) {
      std::int64_t& index = at[static_cast<std::size_t>(order[i])];
      more = ++index < mesh.axis_size(order[i]);
      if (!more) index = 0;
    }
  }
  return held;
}

class Moves {
 public:
  Moves(const Sharding& from, const Sharding& to, const TensorType& type, const DeviceMesh& mesh)
      : from_(from),
        to_(to),
        type_(type),
        mesh_(mesh),
        origin_(static_cast<std::size_t>(mesh.ndim())) {
    int axes = 0;
    for (const MeshAxis& axis : mesh.axes()) axes += axis.size > 1 ? 1 : 0;
    all_dims_ = axes <= kAxesForAllDims;
    largest_ = local_block(type.shape, from, mesh, origin_).shape;
  }

  std::vector<RedistributionStep> run() {
    for (int axis = 0; axis < mesh_.ndim(); ++axis) {
      if (mesh_.axis_size(axis) == 1) continue;
      if (const auto dim = from_.dim_of(axis)) {
        if (from_.dims[static_cast<std::size_t>(*dim)].back() == axis) from_shard(axis, *dim);
      } else if (const auto kind = from_.partial_of(axis)) {
        from_partial(axis, *kind);
      } else {
        from_replicate(axis);
      }
    }
    for (std::size_t dim = 0; dim < from_.dims.size(); ++dim) reorder(static_cast<int>(dim));
    return std::move(steps_);
  }

 private:
  // Bytes of the largest local tensor, with `size` elements in a dimension.
  std::int64_t bytes_with(int dim, std::int64_t size) const {
    Shape shape = largest_;
    shape[static_cast<std::size_t>(dim)] = size;
    return element_count(shape) * item_bytes(type_.dtype);
  }

  // The largest part of a dimension before its last axis cut it.
  std::int64_t parent_size(int dim) const {
    const auto& axes = from_.dims[static_cast<std::size_t>(dim)];
    const std::span<const int> outer(axes.data(), axes.size() - 1);
    return local_interval(type_.shape[static_cast<std::size_t>(dim)], outer, mesh_, origin_).size;
  }

  std::int64_t padded(int dim, std::int64_t n) const {
    return padded_chunk(largest_[static_cast<std::size_t>(dim)], n);
  }

  void add(StepKind kind, int axis, int from_dim, int to_dim, std::int64_t bytes,
           std::optional<Reduction> partial = std::nullopt) {
    RedistributionStep step{kind, axis, from_dim, to_dim, from_, bytes};
    if (from_dim >= 0) step.after.dims[static_cast<std::size_t>(from_dim)].pop_back();
    if (to_dim >= 0) step.after.dims[static_cast<std::size_t>(to_dim)].push_back(axis);
    step.after.partial[static_cast<std::size_t>(axis)] = partial;
    if (partial && !check_sharding(step.after, mesh_, type_.rank())) return;
    steps_.push_back(std::move(step));
  }

  int ndims() const { return static_cast<int>(from_.dims.size()); }

  // True if an axis may begin to cut a dimension. The number of shardings bounds the search.
  bool considers(int dim) const {
    const auto d = static_cast<std::size_t>(dim);
    return all_dims_ || !from_.dims[d].empty() || !to_.dims[d].empty();
  }

  void from_shard(int axis, int dim) {
    const std::int64_t n = mesh_.axis_size(axis), own = padded_chunk(parent_size(dim), n);
    add(StepKind::all_gather, axis, dim, -1, sent_by_all_gather(n, bytes_with(dim, own)).bytes);
    for (int other = 0; other < ndims(); ++other) {
      if (other == dim || !considers(other)) continue;
      Shape part = largest_;
      part[static_cast<std::size_t>(dim)] = own;
      part[static_cast<std::size_t>(other)] = padded(other, n);
      const std::int64_t bytes = element_count(part) * item_bytes(type_.dtype);
      add(StepKind::all_to_all, axis, dim, other, sent_by_all_to_all(n, bytes).bytes);
    }
    if (to_.partial_of(axis) == Reduction::sum)
      add(StepKind::zero_fill, axis, dim, -1, 0, Reduction::sum);
  }

  void from_partial(int axis, Reduction kind) {
    const std::int64_t n = mesh_.axis_size(axis);
    const std::int64_t whole = element_count(largest_) * item_bytes(type_.dtype);
    add(StepKind::all_reduce, axis, -1, -1, sent_by_all_reduce(n, whole).bytes);
    for (int dim = 0; dim < ndims(); ++dim) {
      if (!considers(dim)) continue;
      add(StepKind::reduce_scatter, axis, -1, dim,
          sent_by_reduce_scatter(n, bytes_with(dim, padded(dim, n))).bytes);
    }
    const auto wanted = to_.partial_of(axis);
    const auto adds = [](Reduction r) { return r == Reduction::sum || r == Reduction::avg; };
    if (wanted && *wanted != kind && adds(*wanted) && adds(kind))
      add(StepKind::rescale, axis, -1, -1, 0, wanted);
  }

  void from_replicate(int axis) {
    for (int dim = 0; dim < ndims(); ++dim)
      if (considers(dim)) add(StepKind::slice, axis, -1, dim, 0);
    if (const auto wanted = to_.partial_of(axis))
      add(StepKind::hold_partial, axis, -1, -1, 0, wanted);
  }

  // Each other order of a dimension's axes.
  void reorder(int dim) {
    const auto& before = from_.dims[static_cast<std::size_t>(dim)];
    if (before.size() < 2) return;
    std::vector<int> order = before;
    std::sort(order.begin(), order.end());
    do {
      if (order == before) continue;
      RedistributionStep step{StepKind::reorder, -1, dim, dim, from_, reorder_bytes(dim, order)};
      step.after.dims[static_cast<std::size_t>(dim)] = order;
      steps_.push_back(std::move(step));
    } while (std::next_permutation(order.begin(), order.end()));
  }

  std::int64_t reorder_bytes(int dim, const std::vector<int>& order) const {
    const std::int64_t size = type_.shape[static_cast<std::size_t>(dim)];
    Traffic traffic(mesh_.size());
    for (const ReorderMessage& message :
         reorder_messages(size, from_.dims[static_cast<std::size_t>(dim)], order, mesh_, origin_))
      if (message.sender != message.receiver)
        traffic.add(message.sender, {bytes_with(dim, message.part.size), 1});
    return traffic.max_bytes_sent();
  }

  const Sharding& from_;
  const Sharding& to_;
  const TensorType& type_;
  const DeviceMesh& mesh_;
  static constexpr int kAxesForAllDims = 3;

  Coordinate origin_;
  bool all_dims_ = true;
  Shape largest_;  // of the local tensors
  std::vector<RedistributionStep> steps_;
};

}  // namespace

std::vector<RedistributionStep> steps_from(const Sharding& from, const Sharding& to,
                                           const TensorType& type, const DeviceMesh& mesh) {
  return Moves(from, to, type, mesh).run();
}

std::vector<ReorderMessage> reorder_messages(std::int64_t size, const std::vector<int>& before,
                                             const std::vector<int>& after, const DeviceMesh& mesh,
                                             const Coordinate& first) {
  const auto senders = holders(size, before, mesh, first);
  const auto receivers = holders(size, after, mesh, first);
  std::vector<ReorderMessage> messages;
  for (std::size_t s = 0, r = 0; s < senders.size() && r < receivers.size();) {
    const auto& [held, sender] = senders[s];
    const auto& [wanted, receiver] = receivers[r];
    const std::int64_t held_end = held.offset + held.size, end = wanted.offset + wanted.size;
    const std::int64_t begin = std::max(held.offset, wanted.offset);
    messages.push_back({sender, receiver, {begin, std::min(held_end, end) - begin}});
    if (held_end <= end) ++s;
    if (end <= held_end) ++r;
  }
  return messages;
}

std::vector<Coordinate> first_coordinates(const std::vector<int>& axes, const DeviceMesh& mesh) {
  std::vector<Coordinate> firsts;
  for (std::int64_t p = 0; p < mesh.size(); ++p) {
    Coordinate at = mesh.coordinate_at(p);
    const auto is_first = [&](int axis) { return at[static_cast<std::size_t>(axis)] == 0; };
    if (std::all_of(axes.begin(), axes.end(), is_first)) firsts.push_back(std::move(at));
  }
  return firsts;
}

}  // namespace recut::mesh
