#include "engine/mesh/distributed_tensor.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "engine/mesh/blocks.h"
#include "engine/mesh/padding.h"
#include "engine/mesh/reduce_ranks.h"
#include "engine/mesh/sharding_text.h"
#include "engine/support/text.h"

namespace recut::mesh {
namespace {

std::string type_words(const Tensor& tensor) {
  return fmt::format("{}{}", short_name(tensor.dtype), format_shape(tensor.shape));
}

Result<Done> check_given(std::span<const Tensor> given, const DeviceMesh& mesh) {
  const auto count = static_cast<std::int64_t>(given.size());
  if (count != 1 && count != mesh.size())
    return error(fmt::format("{} tensors were given for {} ranks, expected one for each or one",
                             count, mesh.size()));
  for (std::size_t p = 0; p < given.size(); ++p)
    if (given[p].dtype != given.front().dtype || given[p].shape != given.front().shape)
      return error(fmt::format("rank {} has {}, expected {} as rank {} has", mesh.ranks()[p],
                               type_words(given[p]), type_words(given.front()),
                               mesh.ranks().front()));
  return Done{};
}

Result<Done> check_source(DataSource source, const DeviceMesh& mesh) {
  for (const MeshAxis& axis : mesh.axes())
    if (source && (*source < 0 || *source >= axis.size))
      return error(fmt::format("the data's source is coordinate {}, and mesh axis {} has {} ranks",
                               *source, quote(axis.name), axis.size));
  return Done{};
}

Result<Done> check_kinds(const Sharding& sharding, DType dtype) {
  for (const auto& kind : sharding.partial) {
    if (!kind) continue;
    if (*kind == Reduction::product)
      return error("a tensor can't be distributed as P(product); use R, P(sum) or P(avg)");
    if (const auto why = why_not_reduced(reduction_of(*kind), dtype)) return error(*why);
  }
  return Done{};
}

// Mesh axes left to right; but of a dimension's axes, the major one comes first.
std::vector<int> order_of_axes(const Sharding& sharding, int ndim) {
  std::vector<int> order;
  const auto done = [&](int axis) {
    return std::find(order.begin(), order.end(), axis) != order.end();
  };
  const auto ready = [&](int axis) {
    const auto dim = sharding.dim_of(axis);
    if (!dim) return true;
    const auto& axes = sharding.dims[static_cast<std::size_t>(*dim)];
    return std::all_of(axes.begin(), std::find(axes.begin(), axes.end(), axis), done);
  };
  while (static_cast<int>(order.size()) < ndim)
    for (int axis = 0; axis < ndim; ++axis)
      if (!done(axis) && ready(axis)) {
        order.push_back(axis);
        break;
      }
  return order;
}

class Distributor {
 public:
  Distributor(std::vector<Tensor>& locals, const DeviceMesh& mesh, const Sharding& sharding,
              DataSource source, Traffic& traffic)
      : locals_(locals), mesh_(mesh), sharding_(sharding), source_(source), traffic_(traffic) {}

  void run() {
    for (const int axis : order_of_axes(sharding_, mesh_.ndim())) {
      const auto dim = sharding_.dim_of(axis);
      if (source_ && mesh_.axis_size(axis) > 1)
        traffic_.begin(dim ? CollectiveKind::scatter : CollectiveKind::broadcast);
      for (const auto& line : mesh_.lines(axis)) {
        if (dim)
          scatter(line, *dim);
        else
          broadcast(line);
        if (const auto kind = sharding_.partial_of(axis))
          for (std::size_t i = 0; i < line.size(); ++i)
            at(line[i]) = hold_partial(at(line[i]), *kind, i == 0);
      }
    }
  }

 private:
  Tensor& at(std::int64_t position) { return locals_[static_cast<std::size_t>(position)]; }

  void scatter(const std::vector<std::int64_t>& line, int dim) {
    const auto n = static_cast<std::int64_t>(line.size());
    const std::int64_t size = at(line.front()).shape[static_cast<std::size_t>(dim)];
    std::vector<Tensor> parts;  // by rank of the line
    if (source_) {
      const std::int64_t root = line[static_cast<std::size_t>(*source_)];
      parts = padded_chunks(at(root), dim, n);
      traffic_.add(root, {(n - 1) * bytes_of_values(parts.front()), n - 1});
    }
    for (std::int64_t i = 0; i < n; ++i) {
      Tensor& local = at(line[static_cast<std::size_t>(i)]);
      const Interval part = chunk(size, n, i);
      local = source_ ? narrow(parts[static_cast<std::size_t>(i)], dim, {0, part.size})
                      : narrow(local, dim, part);
    }
  }

  // Along a ring: each rank but the last sends all of it.
  void broadcast(const std::vector<std::int64_t>& line) {
    if (!source_) return;
    const auto root = static_cast<std::size_t>(*source_);
    const Tensor value = at(line[root]);
    for (std::size_t step = 0; step + 1 < line.size(); ++step)
      traffic_.add(line[(root + step) % line.size()], {bytes_of_values(value), 1});
    for (const std::int64_t position : line) at(position) = value;
  }

  std::vector<Tensor>& locals_;
  const DeviceMesh& mesh_;
  const Sharding& sharding_;
  const DataSource source_;
  Traffic& traffic_;
};

Result<Done> check_locals(std::span<const Tensor> locals, const Shape& global,
                          const DeviceMesh& mesh, const Sharding& sharding) {
  for (std::size_t p = 0; p < locals.size(); ++p) {
    const Coordinate at = mesh.coordinate_at(static_cast<std::int64_t>(p));
    const Shape expected = local_block(global, sharding, mesh, at).shape;
    if (locals[p].shape == expected && locals[p].dtype == locals.front().dtype) continue;
    return error(fmt::format("rank {} has {}, expected {}{} of the whole {} as {}", mesh.ranks()[p],
                             type_words(locals[p]), short_name(locals.front().dtype),
                             format_shape(expected), format_shape(global), format(sharding, mesh)));
  }
  return Done{};
}

// The shape of the whole; it has been checked against the sharding.
Result<Shape> whole_shape(std::span<const Tensor> locals, const DeviceMesh& mesh,
                          const Sharding& sharding, const FromLocalOptions& options) {
  if (options.shape.has_value() != options.strides.has_value())
    return error("shape and strides of the whole tensor come together; give both or none");
  if (static_cast<std::int64_t>(locals.size()) != mesh.size())
    return error(fmt::format("{} local tensors were given for {} ranks, expected one for each",
                             locals.size(), mesh.size()));
  if (!options.shape) {
    std::vector<Shape> shapes;
    for (const Tensor& local : locals) shapes.push_back(local.shape);
    return global_shape(shapes, sharding, mesh);
  }
  if (options.strides->size() != options.shape->size())
    return error(fmt::format("the whole tensor was given {} strides for {} dimensions",
                             options.strides->size(), options.shape->size()));
  const auto rank = static_cast<std::int64_t>(options.shape->size());
  if (auto good = check_sharding(sharding, mesh, rank); !good) return good.diagnostics();
  return *options.shape;
}

void broadcast_replicas(DistributedTensor& tensor, Traffic& traffic) {
  for (int axis = 0; axis < tensor.mesh.ndim(); ++axis) {
    if (!tensor.sharding.replicates(axis) || tensor.mesh.axis_size(axis) == 1) continue;
    traffic.begin(CollectiveKind::broadcast);
    for (const auto& line : tensor.mesh.lines(axis)) {
      const Tensor value = tensor.locals[static_cast<std::size_t>(line.front())];
      for (std::size_t i = 0; i < line.size(); ++i) {
        tensor.locals[static_cast<std::size_t>(line[i])] = value;
        if (i + 1 < line.size()) traffic.add(line[i], {bytes_of_values(value), 1});
      }
    }
  }
}

}  // namespace

Tensor local_of(const DistributedTensor& tensor, std::int64_t rank) {
  const auto position = tensor.mesh.position_of(rank);
  if (!position) return zeros(tensor.type.dtype, {0});
  return tensor.locals[static_cast<std::size_t>(*position)];
}

Result<DistributedTensor> distribute(std::span<const Tensor> given, const DeviceMesh& mesh,
                                     const Sharding& sharding, DataSource source,
                                     Traffic& traffic) {
  if (auto good = check_given(given, mesh); !good) return good.diagnostics();
  const Tensor& first = given.front();
  const auto rank = static_cast<std::int64_t>(first.shape.size());
  if (auto good = check_sharding(sharding, mesh, rank); !good) return good.diagnostics();
  if (auto good = check_source(source, mesh); !good) return good.diagnostics();
  if (auto good = check_kinds(sharding, first.dtype); !good) return good.diagnostics();
  DistributedTensor tensor{mesh, make_type(first.dtype, first.shape), sharding, {}};
  for (std::int64_t p = 0; p < mesh.size(); ++p)
    tensor.locals.push_back(given[given.size() == 1 ? 0 : static_cast<std::size_t>(p)]);
  Distributor(tensor.locals, mesh, sharding, source, traffic).run();
  return tensor;
}

Result<DistributedTensor> distribute(const DistributedTensor& tensor, const DeviceMesh& mesh,
                                     const Sharding& sharding) {
  if (tensor.mesh != mesh)
    return error(fmt::format("the tensor is distributed over the mesh {} already, not over {}",
                             format(tensor.mesh), format(mesh)));
  if (auto good = check_sharding(sharding, mesh, tensor.type.rank()); !good)
    return good.diagnostics();
  if (tensor.sharding != sharding)
    return error(fmt::format("the tensor is distributed as {} already; redistribute it to {}",
                             format(tensor.sharding, mesh), format(sharding, mesh)));
  return tensor;
}

Result<DistributedTensor> from_local(std::vector<Tensor> locals, const DeviceMesh& mesh,
                                     const Sharding& sharding, const FromLocalOptions& options,
                                     Traffic& traffic) {
  auto shape = whole_shape(locals, mesh, sharding, options);
  if (!shape) return shape.diagnostics();
  if (auto good = check_locals(locals, *shape, mesh, sharding); !good) return good.diagnostics();
  TensorType type = make_type(locals.front().dtype, std::move(*shape));
  if (options.strides) type.strides = *options.strides;
  DistributedTensor tensor{mesh, std::move(type), sharding, std::move(locals)};
  if (options.run_check) broadcast_replicas(tensor, traffic);
  return tensor;
}

Tensor hold_partial(const Tensor& tensor, Reduction reduction, bool first) {
  if (first || (reduction != Reduction::sum && reduction != Reduction::product)) return tensor;
  Tensor neutral = zeros(tensor.dtype, tensor.shape);
  if (reduction == Reduction::product) pack(Reals(tensor.shape, 1), neutral);
  return neutral;
}

}  // namespace recut::mesh
