#include "engine/mesh/sharding.h"

#include <catch2/catch_test_macros.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "engine/mesh/sharding_text.h"
#include "tests/mesh/fails.h"
#include "tests/mesh/mesh_tensors.h"

using namespace recut;
using namespace recut::mesh;
using recut::test::mesh_of;

namespace {

struct Parts {
  std::vector<std::int64_t> sizes, offsets;
  bool operator==(const Parts&) const = default;
};

// The parts of one dimension in coordinate order, cut by `order`.
Parts parts(std::int64_t size, const DeviceMesh& mesh, const std::vector<int>& order) {
  Sharding sharding = Sharding::replicated(1, mesh.ndim());
  sharding.dims[0] = order;
  REQUIRE(check_sharding(sharding, mesh, 1).ok());
  Parts parts;
  for (std::int64_t p = 0; p < mesh.size(); ++p) {
    const Block block = local_block({size}, sharding, mesh, mesh.coordinate_at(p));
    parts.sizes.push_back(block.shape[0]);
    parts.offsets.push_back(block.offset[0]);
  }
  return parts;
}

// The order of axes on dimension 0 that a list of placements means.
std::vector<int> order_of(std::string_view list, std::string_view mesh) {
  const auto sharding = parse_sharding(list, mesh_of(mesh), 1);
  REQUIRE(sharding.ok());
  CHECK(format(*sharding, mesh_of(mesh)) == list);
  return sharding->dims[0];
}

}  // namespace

TEST_CASE("checks 4, 5: one axis cuts as torch.chunk does", "[mesh]") {
  const DeviceMesh four = mesh_of("x=4");
  CHECK(parts(12, four, {0}) == Parts{{3, 3, 3, 3}, {0, 3, 6, 9}});
  CHECK(parts(13, four, {0}) == Parts{{4, 4, 4, 1}, {0, 4, 8, 12}});
  CHECK(parts(14, four, {0}) == Parts{{4, 4, 4, 2}, {0, 4, 8, 12}});
  CHECK(parts(5, four, {0}) == Parts{{2, 2, 1, 0}, {0, 2, 4, 5}});
  CHECK(parts(18, mesh_of("x=8"), {0}) ==
        Parts{{3, 3, 3, 3, 3, 3, 0, 0}, {0, 3, 6, 9, 12, 15, 18, 18}});
  CHECK(parts(0, four, {0}) == Parts{{0, 0, 0, 0}, {0, 0, 0, 0}});
}

TEST_CASE("checks 6, 7: each axis cuts what the one before left over", "[mesh]") {
  const DeviceMesh square = mesh_of("a=2,b=2"), wide = mesh_of("a=4,b=2");
  CHECK(parts(5, square, {0, 1}) == Parts{{2, 1, 1, 1}, {0, 2, 3, 4}});
  CHECK(parts(5, square, {1, 0}) == Parts{{2, 1, 1, 1}, {0, 3, 2, 4}});
  CHECK(parts(18, wide, {0, 1}) == Parts{{3, 2, 3, 2, 3, 2, 2, 1}, {0, 3, 5, 8, 10, 13, 15, 17}});
  CHECK(parts(13, wide, {0, 1}) == Parts{{2, 2, 2, 2, 2, 2, 1, 0}, {0, 2, 4, 6, 8, 10, 12, 13}});
  CHECK(parts(18, wide, {1, 0}) == Parts{{3, 3, 3, 3, 3, 3, 0, 0}, {0, 9, 3, 12, 6, 15, 18, 18}});
}

TEST_CASE("check 8: the whole shape follows from local shapes that are its chunks", "[mesh]") {
  const DeviceMesh four = mesh_of("x=4");
  const Sharding rows = *parse_sharding("[S(0)]", four, 2);
  const std::vector<Shape> good = {{4, 3}, {4, 3}, {4, 3}, {1, 3}};
  CHECK(*global_shape(good, rows, four) == Shape{13, 3});
  const std::vector<Shape> narrow = {{4, 3}, {4, 2}, {4, 3}, {1, 3}};
  CHECK(fails_with(global_shape(narrow, rows, four), "rank 1 has [4, 2], expected [4, 3]"));
  const std::vector<Shape> uneven = {{2, 3}, {3, 3}, {4, 3}, {5, 3}};
  CHECK(fails_with(global_shape(uneven, rows, four),
                   "rank 0 has [2, 3], expected [4, 3] of the whole [14, 3]"));
  const std::vector<Shape> flat = {{4, 3}, {4}, {4, 3}, {1, 3}};
  CHECK(fails_with(global_shape(flat, rows, four), "rank 1 has [4], expected 2 dimensions"));
}

TEST_CASE("check 9: 4096 rows on 30 by 8 ranks, the second axis first", "[mesh]") {
  const DeviceMesh mesh = mesh_of("dp=30,tp=8");
  const Parts cut = parts(4096, mesh, {1, 0});
  for (std::int64_t dp = 0; dp < 30; ++dp)
    for (std::int64_t tp = 0; tp < 8; ++tp) {
      const auto p = static_cast<std::size_t>(mesh.position({dp, tp}));
      CHECK(cut.sizes[p] == (dp < 28 ? 18 : dp == 28 ? 8 : 0));
      CHECK(cut.offsets[p] == (dp < 29 ? 512 * tp + 18 * dp : 4096));
    }
}

TEST_CASE("check 10: strided and plain shards of 8 rows", "[mesh]") {
  const DeviceMesh mesh = mesh_of("a=2,b=2");
  const auto offsets = [&](std::string_view list) {
    return parts(8, mesh, parse_sharding(list, mesh, 1)->dims[0]).offsets;
  };
  CHECK(offsets("[S(0), S(0)]") == std::vector<std::int64_t>{0, 2, 4, 6});
  CHECK(offsets("[_S(0, 2), S(0)]") == std::vector<std::int64_t>{0, 4, 2, 6});
}

TEST_CASE("check 11: an order of axes is a list with split factors", "[mesh]") {
  CHECK(order_of("[_S(0, 2), _S(0, 2), S(0)]", "a=4,b=3,c=2") == std::vector<int>{2, 0, 1});
  CHECK(order_of("[_S(0, 4), _S(0, 2), S(0)]", "a=2,b=2,c=2") == std::vector<int>{2, 1, 0});
  CHECK(order_of("[S(0), _S(0, 2), S(0)]", "a=2,b=2,c=2") == std::vector<int>{0, 2, 1});
  CHECK(order_of("[R, P(max), S(0)]", "a=2,b=2,c=2") == std::vector<int>{2});
  const DeviceMesh mesh = mesh_of("a=2,b=2,c=2");
  for (const char* list : {"[_S(0, 2)]", "[_S(0, 3), S(0), R]", "[S(0), R, _S(0, 2)]",
                           "[_S(0, 8), S(0), S(0)]", "[_S(0, 0), S(0), S(0)]"}) {
    INFO(list);
    const DeviceMesh on = std::string_view(list).size() < 12 ? mesh_of("a=2") : mesh;
    CHECK(fails_with(parse_sharding(list, on, 1), "no order of the axes"));
  }
}

TEST_CASE("check 12: mixed partial kinds are refused, but for sum and avg", "[mesh]") {
  const DeviceMesh mesh = mesh_of("a=2,b=2");
  CHECK(fails_with(parse_sharding("[P(max), P(sum)]", mesh, 1),
                   "mesh axis 'a' is P(max) and mesh axis 'b' is P(sum): these reductions don't"));
  CHECK(parse_sharding("[P(avg), P(sum)]", mesh, 1).ok());
  CHECK(parse_sharding("[P(min), P(min)]", mesh, 1).ok());
}

TEST_CASE("checks 15, 17: a list that doesn't fit mesh and tensor is refused", "[mesh]") {
  const DeviceMesh mesh = mesh_of("a=2,b=2");
  CHECK(fails_with(parse_sharding("[S(0)]", mesh, 1), "has 1 placements, expected 2"));
  CHECK(fails_with(parse_sharding("[S(1), R]", mesh, 1), "shards dimension 1, and the tensor has"));
  CHECK(fails_with(parse_sharding("[S(-2), R]", mesh, 1), "shards dimension -2"));
  CHECK(parse_sharding("S(-1), R", mesh, 2)->dims[1] == std::vector<int>{0});
  for (const char* word :
       {"", "[]", "S", "S()", "S(x)", "P(mean)", "_S(0)", "R, ", "Q", "S(0", "[R"})
    CHECK(fails_with(parse_placements(word), "is no placement; write R, S(dim)"));
  Sharding twice = Sharding::replicated(2, 2);
  twice.dims = {{0}, {0}};
  CHECK(fails_with(check_sharding(twice, mesh, 2), "mesh axis 'a' cuts two dimensions"));
  twice.dims = {{0}, {}};
  twice.partial[0] = Reduction::sum;
  CHECK(fails_with(check_sharding(twice, mesh, 2), "both cuts a dimension and is partial"));
  twice.dims = {{2}, {}};
  CHECK(fails_with(check_sharding(twice, mesh, 2), "names mesh axis 2"));
}
