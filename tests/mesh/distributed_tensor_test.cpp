#include "engine/mesh/distributed_tensor.h"

#include <catch2/catch_test_macros.hpp>
#include <string>
#include <vector>

#include "tests/mesh/fails.h"
#include "tests/mesh/mesh_tensors.h"

using namespace recut;
using namespace recut::mesh;
using recut::test::count_up;
using recut::test::distributed;
using recut::test::mesh_of;
using recut::test::sharding_of;
using recut::test::values_in;

namespace {

struct Distribution {
  Result<DistributedTensor> tensor;
  Traffic traffic;
};

Distribution distribution(const std::vector<Tensor>& given, const DeviceMesh& mesh,
                          std::string_view list, DataSource source) {
  Traffic traffic(mesh.size());
  const auto rank = static_cast<std::int64_t>(given.front().shape.size());
  auto tensor = distribute(given, mesh, sharding_of(list, mesh, rank), source, traffic);
  return {std::move(tensor), traffic};
}

std::vector<std::int64_t> rows_of(const DistributedTensor& tensor) {
  std::vector<std::int64_t> rows;
  for (const Tensor& local : tensor.locals) rows.push_back(local.shape.front());
  return rows;
}

Result<DistributedTensor> put_together(std::vector<Tensor> locals, const DeviceMesh& mesh,
                                       std::string_view list,
                                       const FromLocalOptions& options = {}) {
  Traffic traffic(mesh.size());
  const auto rank = static_cast<std::int64_t>(locals.front().shape.size());
  return from_local(std::move(locals), mesh, sharding_of(list, mesh, rank), options, traffic);
}

}  // namespace

TEST_CASE("check 3: a rank outside the mesh holds an empty tensor of the dtype", "[mesh]") {
  const auto mesh = DeviceMesh::make({{"x", 2}}, {1, 2});
  REQUIRE(mesh.ok());
  const auto tensor =
      distributed(count_up({4, 3}, 0, DType::bf16), *mesh, sharding_of("[S(0)]", *mesh, 2));
  CHECK(local_of(tensor, 0).shape == Shape{0});
  CHECK(local_of(tensor, 0).dtype == DType::bf16);
  CHECK(values_in(local_of(tensor, 2)) == std::vector<double>{6, 7, 8, 9, 10, 11});
}

TEST_CASE("check 14: 12, 13 and 14 rows over 4 ranks, from rank 0, rank 1 or none", "[mesh]") {
  const DeviceMesh mesh = mesh_of("x=4");
  const std::vector<std::vector<std::int64_t>> rows = {{3, 3, 3, 3}, {4, 4, 4, 1}, {4, 4, 4, 2}};
  for (std::int64_t size = 12; size <= 14; ++size)
    for (const DataSource source : {DataSource(0), DataSource(1), DataSource()}) {
      std::vector<Tensor> own;  // each rank's; that of the source counts
      for (int rank = 0; rank < 4; ++rank) own.push_back(count_up({size, 3}, 1000 * rank));
      const auto [tensor, traffic] = distribution(own, mesh, "[S(0)]", source);
      REQUIRE(tensor.ok());
      CHECK(rows_of(*tensor) == rows[static_cast<std::size_t>(size - 12)]);
      for (std::int64_t rank = 0; rank < 4; ++rank) {
        const auto from = static_cast<std::size_t>(source.value_or(rank));
        const Interval part = chunk(size, 4, rank);
        CHECK(same_bits(local_of(*tensor, rank), narrow(own[from], 0, part)));
      }
      CHECK(traffic.calls() == (source ? 1 : 0));
      CHECK(traffic.messages() == (source ? 3 : 0));
      if (source) CHECK(traffic.bytes_sent(*source) == 3 * (size == 12 ? 3 : 4) * 3 * 4);
    }
}

TEST_CASE("check 14: every axis scatters or broadcasts once", "[mesh]") {
  const DeviceMesh mesh = mesh_of("a=2,b=3");
  const Tensor whole = count_up({5, 7});
  for (const char* list :
       {"[S(0), S(1)]", "[S(0), S(0)]", "[_S(0, 3), S(0)]", "[R, S(1)]", "[S(1), R]", "[R, R]"}) {
    INFO(list);
    const auto [tensor, traffic] = distribution({whole}, mesh, list, 0);
    REQUIRE(tensor.ok());
    CHECK(traffic.calls() == 2);
    for (std::int64_t p = 0; p < 6; ++p)
      CHECK(same_bits(
          tensor->locals[static_cast<std::size_t>(p)],
          extract(whole, local_block({5, 7}, tensor->sharding, mesh, mesh.coordinate_at(p)))));
  }
  const auto [row, traffic] = distribution({count_up({12, 8})}, mesh_of("x=4"), "[S(0)]", 0);
  CHECK(traffic.bytes_sent(0) == 288);
  CHECK(traffic.bytes_sent(1) == 0);
  const auto [same, sent] = distribution({count_up({12, 8})}, mesh_of("x=4"), "[R]", 0);
  CHECK(sent.bytes_sent(0) == 384);
}

TEST_CASE("check 15: what can't be distributed is refused", "[mesh]") {
  const DeviceMesh mesh = mesh_of("x=4");
  const Tensor whole = count_up({12, 3});
  CHECK(fails_with(distribution({whole}, mesh, "[P(product)]", 0).tensor,
                   "can't be distributed as P(product)"));
  CHECK(distribution({whole}, mesh, "[P(sum)]", 0).tensor.ok());
  CHECK(distribution({whole}, mesh, "[P(avg)]", 0).tensor.ok());
  CHECK(fails_with(distribution({whole}, mesh, "[S(0)]", 4).tensor,
                   "the data's source is coordinate 4, and mesh axis 'x' has 4 ranks"));
  CHECK(fails_with(distribution({whole, whole}, mesh, "[S(0)]", 0).tensor, "2 tensors were given"));
  CHECK(fails_with(distribution({whole, whole, count_up({3}), whole}, mesh, "[S(0)]", 0).tensor,
                   "rank 2 has f32[3], expected f32[12, 3] as rank 0 has"));
  const auto rows = distributed(whole, mesh, sharding_of("[S(0)]", mesh, 2));
  CHECK(distribute(rows, mesh, rows.sharding).ok());
  const DeviceMesh other = mesh_of("y=4");
  CHECK(fails_with(distribute(rows, other, rows.sharding), "over the mesh x=4 already, not over"));
  CHECK(fails_with(distribute(rows, mesh, sharding_of("[R]", mesh, 2)),
                   "is distributed as [S(0)] already; redistribute it to [R]"));
}

TEST_CASE("checks 16, 43: local tensors that aren't the chunks are refused", "[mesh]") {
  const DeviceMesh mesh = mesh_of("x=4");
  std::vector<Tensor> widths, good;
  for (std::int64_t width = 2; width <= 5; ++width) widths.push_back(count_up({2, width}));
  for (const std::int64_t width : {4, 4, 4, 2}) good.push_back(count_up({2, width}));
  FromLocalOptions whole;
  whole.shape = Shape{2, 14};
  CHECK(fails_with(put_together(good, mesh, "[S(1)]", whole), "come together; give both or none"));
  whole.strides = Strides{14, 1};
  CHECK(put_together(good, mesh, "[S(1)]", whole).ok());
  CHECK(put_together(good, mesh, "[S(1)]")->type.shape == Shape{2, 14});
  CHECK(fails_with(put_together(widths, mesh, "[S(1)]", whole),
                   "rank 0 has f32[2, 2], expected f32[2, 4] of the whole [2, 14] as [S(1)]"));
  CHECK(fails_with(put_together(widths, mesh, "[S(1)]"), "rank 0 has [2, 2], expected [2, 4]"));
  good[3] = count_up({2, 2}, 0, DType::f64);
  CHECK(fails_with(put_together(good, mesh, "[S(1)]"), "rank 3 has f64[2, 2], expected f32[2, 2]"));
  good.pop_back();
  CHECK(fails_with(put_together(good, mesh, "[S(1)]"), "3 local"));
}

TEST_CASE("check 16: run_check sends the first replica to the others", "[mesh]") {
  const DeviceMesh mesh = mesh_of("a=2,b=2");
  std::vector<Tensor> locals;
  for (int rank = 0; rank < 4; ++rank) locals.push_back(count_up({2}, 10 * rank));
  FromLocalOptions options;
  options.run_check = true;
  Traffic traffic(4);
  const auto tensor = from_local(locals, mesh, sharding_of("[R, S(0)]", mesh, 1), options, traffic);
  REQUIRE(tensor.ok());
  CHECK(values_in(tensor->locals[2]) == std::vector<double>{0, 1});
  CHECK(values_in(tensor->locals[3]) == std::vector<double>{10, 11});
  CHECK(traffic.calls(CollectiveKind::broadcast) == 1);
}
