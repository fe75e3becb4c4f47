// Tensors, meshes and shardings in a few words, for tests of distribution.
#pragma once

#include <catch2/catch_test_macros.hpp>
#include <string_view>
#include <vector>

#include "engine/mesh/blocks.h"
#include "engine/mesh/distributed_tensor.h"
#include "engine/mesh/sharding_text.h"
#include "engine/support/philox.h"

namespace recut::test {

inline mesh::DeviceMesh mesh_of(std::string_view text) { return *mesh::DeviceMesh::parse(text); }

inline mesh::Sharding sharding_of(std::string_view text, const mesh::DeviceMesh& mesh,
                                  std::int64_t rank) {
  auto sharding = mesh::parse_sharding(text, mesh, rank);
  INFO(text);
  REQUIRE(sharding.ok());
  return *sharding;
}

inline Tensor tensor_of(Shape shape, const std::vector<double>& values, DType dtype = DType::f32) {
  Tensor tensor = mesh::zeros(dtype, shape);
  Reals reals(std::move(shape));
  REQUIRE(reals.data.size() == values.size());
  reals.data = values;
  pack(reals, tensor);
  return tensor;
}

// The values first, first + 1, … in row-major order.
inline Tensor count_up(Shape shape, double first = 0, DType dtype = DType::f32) {
  std::vector<double> values(static_cast<std::size_t>(element_count(shape)));
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = first + static_cast<double>(i);
  return tensor_of(std::move(shape), values, dtype);
}

// Uniform in [-1, 1), the same everywhere.
inline Tensor random_values(Shape shape, std::uint64_t seed) {
  std::vector<double> values(static_cast<std::size_t>(element_count(shape)));
  for (std::size_t i = 0; i < values.size(); ++i)
    values[i] = 2 * random_uniform(random_words(seed, 0, i), 24) - 1;
  return tensor_of(std::move(shape), values);
}

inline std::vector<double> values_in(const Tensor& tensor) { return unpack<double>(tensor).data; }

// Distributed without traffic.
inline mesh::DistributedTensor distributed(const Tensor& tensor, const mesh::DeviceMesh& mesh,
                                           const mesh::Sharding& sharding) {
  mesh::Traffic traffic(mesh.size());
  auto result = mesh::distribute({&tensor, 1}, mesh, sharding, std::nullopt, traffic);
  REQUIRE(result.ok());
  return *result;
}

}  // namespace recut::test
