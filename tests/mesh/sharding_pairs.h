// Every pair of shardings of a tensor, by brute force.
#pragma once

#include <catch2/catch_test_macros.hpp>
#include <string>
#include <vector>

#include "engine/mesh/redistribute.h"
#include "tests/mesh/mesh_tensors.h"

namespace recut::test {

// All shardings of a tensor: each axis is R, `kind`, or at any place of any dimension's order.
inline std::vector<mesh::Sharding> all_shardings(std::int64_t rank, int ndim,
                                                 mesh::Reduction kind) {
  std::vector<mesh::Sharding> all = {mesh::Sharding::replicated(rank, ndim)};
  for (int axis = 0; axis < ndim; ++axis) {
    std::vector<mesh::Sharding> next = all;
    for (const mesh::Sharding& sharding : all) {
      next.push_back(sharding);
      next.back().partial[static_cast<std::size_t>(axis)] = kind;
      for (std::size_t d = 0; d < sharding.dims.size(); ++d)
        for (std::size_t place = 0; place <= sharding.dims[d].size(); ++place) {
          next.push_back(sharding);
          auto& order = next.back().dims[d];
          order.insert(order.begin() + static_cast<std::ptrdiff_t>(place), axis);
        }
    }
    all = std::move(next);
  }
  return all;
}

// Makes the equal tensors of a line different ones with the same reduction. Of a sum the
// first rank holds the rest; of a maximum each element is the largest on some rank.
inline void split_line(std::vector<Tensor>& locals, const std::vector<std::int64_t>& line,
                       mesh::Reduction kind) {
  const Tensor whole = locals[static_cast<std::size_t>(line[0])];
  const Reals value = unpack<double>(whole);
  Reals rest = value;
  const auto put = [&](std::int64_t position, const Reals& values) {
    Tensor tensor = mesh::zeros(whole.dtype, whole.shape);
    pack(values, tensor);
    locals[static_cast<std::size_t>(position)] = std::move(tensor);
  };
  for (std::size_t i = 1; i < line.size(); ++i) {
    Reals own = value;
    for (std::int64_t k = 0; k < own.count(); ++k) {
      const double some = static_cast<double>((k * 7 + static_cast<std::int64_t>(i) * 5) % 9 - 4);
      own[k] = kind == mesh::Reduction::sum ? some : value[k] - static_cast<double>(k % 3);
      if (kind == mesh::Reduction::sum) rest[k] -= some;
    }
    put(line[i], own);
  }
  for (std::int64_t k = 0; k < rest.count(); ++k)
    if (kind != mesh::Reduction::sum && k % 3 == 0) rest[k] -= 2;
  put(line[0], rest);
}

// Local tensors of a sharding, without any redistribution.
inline mesh::DistributedTensor spread(const Tensor& whole, const mesh::DeviceMesh& mesh,
                                      const mesh::Sharding& sharding) {
  mesh::DistributedTensor tensor{mesh, make_type(whole.dtype, whole.shape), sharding, {}};
  for (std::int64_t p = 0; p < mesh.size(); ++p)
    tensor.locals.push_back(
        mesh::extract(whole, local_block(whole.shape, sharding, mesh, mesh.coordinate_at(p))));
  for (int axis = 0; axis < mesh.ndim(); ++axis)
    if (const auto kind = sharding.partial_of(axis))
      for (const auto& line : mesh.lines(axis)) split_line(tensor.locals, line, *kind);
  return tensor;
}

// The local tensors are slices of the whole; partial ones are reduced first.
inline bool holds(const mesh::DistributedTensor& tensor, const Tensor& whole) {
  mesh::DistributedTensor reduced = tensor;
  if (tensor.sharding.has_partial()) {
    const auto plan = plan_redistribution(tensor.type, tensor.mesh, tensor.sharding,
                                          gradient_sharding(tensor.sharding));
    mesh::Traffic traffic(tensor.mesh.size());
    reduced = run_plan(*plan, tensor, traffic);
  }
  for (std::int64_t p = 0; p < tensor.mesh.size(); ++p)
    if (!mesh::same_bits(
            reduced.locals[static_cast<std::size_t>(p)],
            mesh::extract(whole, local_block(whole.shape, reduced.sharding, tensor.mesh,
                                             tensor.mesh.coordinate_at(p)))))
      return false;
  return true;
}

// Every pair of these shardings gives plain slices, and sends no more bytes than its plan says.
inline void check_pairs(const mesh::DeviceMesh& mesh, const Shape& shape, mesh::Reduction kind) {
  const Tensor whole = count_up(shape);
  const auto all = all_shardings(static_cast<std::int64_t>(shape.size()), mesh.ndim(), kind);
  for (const mesh::Sharding& from : all) {
    const mesh::DistributedTensor start = spread(whole, mesh, from);
    for (const mesh::Sharding& to : all) {
      const auto plan = plan_redistribution(start.type, mesh, from, to);
      mesh::Traffic traffic(mesh.size());
      if (plan.ok() && holds(run_plan(*plan, start, traffic), whole) &&
          traffic.max_bytes_sent() <= plan->bytes())
        continue;
      FAIL("from " << format(from, mesh) << " to " << format(to, mesh) << " on " << format(mesh)
                   << " with " << format_shape(shape) << ":\n"
                   << (plan.ok() ? format(*plan) : format(plan.diagnostics())));
    }
  }
}

}  // namespace recut::test
