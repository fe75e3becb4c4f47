#include "engine/mesh/sharding.h"

#include <fmt/format.h>

#include <algorithm>

#include "engine/support/text.h"

namespace recut::mesh {
namespace {

// "mesh axis 'dp'"
std::string axis_words(const DeviceMesh& mesh, int axis) {
  return fmt::format("mesh axis {}", quote(mesh.axes()[static_cast<std::size_t>(axis)].name));
}

Result<Done> check_axis_tasks(const Sharding& sharding, const DeviceMesh& mesh) {
  std::vector<bool> taken(static_cast<std::size_t>(mesh.ndim()), false);
  for (const auto& axes : sharding.dims)
    for (const int axis : axes) {
      if (axis < 0 || axis >= mesh.ndim())
        return error(fmt::format("the sharding names mesh axis {}, and the mesh {} has {} axes",
                                 axis, format(mesh), mesh.ndim()));
      if (taken[static_cast<std::size_t>(axis)])
        return error(
            fmt::format("{} cuts two dimensions, expected one at most", axis_words(mesh, axis)));
      if (sharding.partial_of(axis))
        return error(fmt::format("{} both cuts a dimension and is partial, expected one of the two",
                                 axis_words(mesh, axis)));
      taken[static_cast<std::size_t>(axis)] = true;
    }
  return Done{};
}

bool commute(Reduction a, Reduction b) {
  const auto adds = [](Reduction r) { return r == Reduction::sum || r == Reduction::avg; };
  return a == b || (adds(a) && adds(b));
}

Result<Done> check_partial(const Sharding& sharding, const DeviceMesh& mesh) {
  int first = -1;
  for (int axis = 0; axis < mesh.ndim(); ++axis) {
    const auto kind = sharding.partial_of(axis);
    if (!kind) continue;
    if (first < 0) first = axis;
    const Reduction other = *sharding.partial_of(first);
    if (commute(other, *kind)) continue;
    return error(fmt::format(
        "{} is P({}) and {} is P({}): these reductions don't commute; reduce one of them first",
        axis_words(mesh, first), title(other), axis_words(mesh, axis), title(*kind)));
  }
  return Done{};
}

std::int64_t sum_of_parts(std::span<const Shape> locals, std::size_t dim,
                          const std::vector<int>& axes, const DeviceMesh& mesh) {
  std::int64_t sum = 0;
  for (std::int64_t p = 0; p < mesh.size(); ++p) {
    const Coordinate at = mesh.coordinate_at(p);
    bool first = true;  // of the ranks with this part
    for (int axis = 0; axis < mesh.ndim(); ++axis)
      if (std::find(axes.begin(), axes.end(), axis) == axes.end())
        first = first && at[static_cast<std::size_t>(axis)] == 0;
    if (first) sum += locals[static_cast<std::size_t>(p)][dim];
  }
  return sum;
}

}  // namespace

Sharding Sharding::replicated(std::int64_t rank, int ndim) {
  Sharding sharding;
  sharding.dims.resize(static_cast<std::size_t>(rank));
  sharding.partial.resize(static_cast<std::size_t>(ndim));
  return sharding;
}

std::optional<int> Sharding::dim_of(int axis) const {
  for (std::size_t d = 0; d < dims.size(); ++d)
    if (std::find(dims[d].begin(), dims[d].end(), axis) != dims[d].end())
      return static_cast<int>(d);
  return std::nullopt;
}

bool Sharding::has_partial() const {
  return std::any_of(partial.begin(), partial.end(), [](const auto& p) { return p.has_value(); });
}

Result<Done> check_sharding(const Sharding& sharding, const DeviceMesh& mesh, std::int64_t rank) {
  if (static_cast<std::int64_t>(sharding.dims.size()) != rank)
    return error(fmt::format("the sharding is one of {} dimensions, and the tensor has {}",
                             sharding.dims.size(), rank));
  if (static_cast<int>(sharding.partial.size()) != mesh.ndim())
    return error(fmt::format("the sharding is one of {} mesh axes, and the mesh {} has {}",
                             sharding.partial.size(), format(mesh), mesh.ndim()));
  if (auto good = check_axis_tasks(sharding, mesh); !good) return good;
  return check_partial(sharding, mesh);
}

Sharding without_single_ranks(const Sharding& sharding, const DeviceMesh& mesh) {
  Sharding kept = sharding;
  const auto single = [&](int axis) { return mesh.axis_size(axis) == 1; };
  for (auto& axes : kept.dims) std::erase_if(axes, single);
  for (int axis = 0; axis < mesh.ndim(); ++axis)
    if (single(axis)) kept.partial[static_cast<std::size_t>(axis)] = std::nullopt;
  return kept;
}

Interval chunk(std::int64_t size, std::int64_t chunks, std::int64_t index) {
  const std::int64_t full = (size + chunks - 1) / chunks;
  const std::int64_t begin = std::min(full * index, size);
  return {begin, std::min(full, size - begin)};
}

Interval local_interval(std::int64_t size, std::span<const int> axes, const DeviceMesh& mesh,
                        const Coordinate& at) {
  Interval part{0, size};
  for (const int axis : axes) {
    const Interval inner =
        chunk(part.size, mesh.axis_size(axis), at[static_cast<std::size_t>(axis)]);
    part = {part.offset + inner.offset, inner.size};
  }
  return part.size == 0 ? Interval{size, 0} : part;
}

Block local_block(const Shape& global, const Sharding& sharding, const DeviceMesh& mesh,
                  const Coordinate& at) {
  Block block;
  for (std::size_t d = 0; d < global.size(); ++d) {
    const Interval part = local_interval(global[d], sharding.dims[d], mesh, at);
    block.offset.push_back(part.offset);
    block.shape.push_back(part.size);
  }
  return block;
}

std::int64_t largest_local_bytes(const TensorType& type, const Sharding& sharding,
                                 const DeviceMesh& mesh) {
  const Coordinate origin(static_cast<std::size_t>(mesh.ndim()), 0);
  return element_count(local_block(type.shape, sharding, mesh, origin).shape) *
         item_bytes(type.dtype);
}

Result<Shape> global_shape(std::span<const Shape> locals, const Sharding& sharding,
                           const DeviceMesh& mesh) {
  if (static_cast<std::int64_t>(locals.size()) != mesh.size())
    return error(
        fmt::format("{} local shapes were given for {} ranks", locals.size(), mesh.size()));
  for (std::size_t p = 0; p < locals.size(); ++p)
    if (locals[p].size() != locals.front().size())
      return error(fmt::format("rank {} has {}, expected {} dimensions as rank {} has",
                               mesh.ranks()[p], format_shape(locals[p]), locals.front().size(),
                               mesh.ranks().front()));
  const auto rank = static_cast<std::int64_t>(locals.front().size());
  if (auto good = check_sharding(sharding, mesh, rank); !good) return good.diagnostics();
  Shape global;
  for (std::size_t d = 0; d < sharding.dims.size(); ++d)
    global.push_back(sum_of_parts(locals, d, sharding.dims[d], mesh));
  for (std::size_t p = 0; p < locals.size(); ++p) {
    const Coordinate at = mesh.coordinate_at(static_cast<std::int64_t>(p));
    const Shape expected = local_block(global, sharding, mesh, at).shape;
    if (locals[p] != expected)
      return error(fmt::format("rank {} has {}, expected {} of the whole {}", mesh.ranks()[p],
                               format_shape(locals[p]), format_shape(expected),
                               format_shape(global)));
  }
  return global;
}

}  // namespace recut::mesh
