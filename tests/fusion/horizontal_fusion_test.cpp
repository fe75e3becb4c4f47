// Horizontal fusion: kernels that read the same value in the same loops become one.
#include <catch2/catch_test_macros.hpp>

#include "tests/fusion/fused_graphs.h"

namespace recut {
namespace {

// Two products, of which two sums are made; the products read the sums.
std::string with_sums(const std::string& sums, const std::string& before = "") {
  return with_product(R"(
    %y = parameter f32[40, 20]
    %i = parameter f32[20, 200]
    %j = parameter f32[20, 200]
    %o = parameter f32[4, 1]
    %g = mm(%y, %i))" +
                      before +
                      R"(
    %h = mm(%y, %j))" +
                      sums +
                      R"(
    %p = mm(%o, %a)
    %q = mm(%o, %b)
    results %p, %q, %huge)");
}

TEST_CASE("fusion: reductions that read the same value in the same loops are one kernel",
          "[fusion]") {
  const std::string sums = R"(
    %a = sum.dim_IntList(%g, [0], true)
    %m = mul.Tensor(%g, %h)
    %b = sum.dim_IntList(%m, [0], true))";
  CHECK(groups_of(parse(with_sums(sums))) == std::vector<Names>{{"a", "m", "b"}});
  const Graph graph = parse(with_sums(sums));
  const FusionGroups chains = fuse_pointwise(graph, StorageModel(graph), Fusion::chains);
  CHECK(chains.size() == 1);
  CHECK(chains.members(0).size() == 2);
}

TEST_CASE("fusion: horizontal fusion is refused where it saves nothing or costs", "[fusion]") {
  // Sums of rows and of columns.
  CHECK(groups_of(parse(with_sums(R"(
    %s = sum.dim_IntList(%g, [1], true)
    %a = permute(%s, [1, 0])
    %m = mul.Tensor(%g, %h)
    %b = sum.dim_IntList(%m, [0], true))"))) == std::vector<Names>{{"m", "b"}});
  // They read no value both.
  CHECK(groups_of(parse(with_sums(R"(
    %a = sum.dim_IntList(%g, [0], true)
    %m = mul.Tensor(%h, %h)
    %b = sum.dim_IntList(%m, [0], true))"))) == std::vector<Names>{{"m", "b"}});
  // The first would wait for %h.
  CHECK(groups_of(parse(with_sums(R"(
    %m = mul.Tensor(%g, %h)
    %b = sum.dim_IntList(%m, [0], true))",
                                  "\n %a = sum.dim_IntList(%g, [0], true)"))) ==
        std::vector<Names>{{"m", "b"}});
  // One is a result.
  CHECK(groups_of(parse(with_product(R"(
    %i = parameter f32[20, 200]
    %o = parameter f32[4, 1]
    %y = parameter f32[40, 20]
    %g = mm(%y, %i)
    %a = sum.dim_IntList(%g, [0], true)
    %m = mul.Tensor(%g, %g)
    %b = sum.dim_IntList(%m, [0], true)
    %q = mm(%o, %b)
    results %a, %q, %huge)"))) == std::vector<Names>{{"m", "b"}});
  // Together they have two more large tensors alive.
  CHECK(groups_of(parse(with_product(R"(
    %i = parameter f32[20, 200]
    %o = parameter f32[200, 4]
    %g = mm(%x, %i)
    %a = exp(%g)
    %b = relu(%g)
    %p = mm(%a, %o)
    %q = mm(%b, %o)
    results %p, %q, %huge)"))) == std::vector<Names>{});
}

TEST_CASE("fusion: a sum of rows joins what writes their elements", "[fusion]") {
  CHECK(groups_of(parse(with_product(R"(
    %i = parameter f32[20, 200]
    %o = parameter f32[200, 4]
    %r = parameter f32[1, 4]
    %g = mm(%x, %i)
    %a = exp(%g)
    %m = mul.Tensor(%g, %g)
    %b = sum.dim_IntList(%m, [1], true)
    %p = mm(%a, %o)
    %q = mm(%b, %r)
    results %p, %q, %huge)"))) == std::vector<Names>{{"a", "m", "b"}});
}

}  // namespace
}  // namespace recut
