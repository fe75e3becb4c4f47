// The fused model: the calls that join, and the cost of their kernel.
#include <catch2/catch_test_macros.hpp>

#include "engine/fusion/kernel_cost.h"
#include "engine/fusion/kernel_traffic.h"
#include "engine/partition/problem/joint_problem.h"
#include "tests/fusion/fused_graphs.h"

namespace recut {
namespace {

TEST_CASE("fusion: a chain is one kernel, and views are no obstacle", "[fusion]") {
  CHECK(groups_of(parse(with_product(R"(
    %a = exp(%x)
    %v = permute(%a, [1, 0])
    %b = _to_copy(%v, dtype=f64)
    %c = relu(%b)
    results %c, %huge)"))) == std::vector<Names>{{"a", "b", "c"}});
}

TEST_CASE("fusion: a kernel goes on after a reduction of rows", "[fusion]") {
  CHECK(groups_of(parse(with_product(R"(
    %y = relu(%x)
    %m = amax(%y, [1], true)
    %d = sub.Tensor(%y, %m)
    %e = exp(%d)
    %s = sum.dim_IntList(%e, [1], true)
    %q = div.Tensor(%e, %s)
    results %q, %huge)"))) == std::vector<Names>{{"y", "m", "d", "e", "s", "q"}});
  // Through views that leave the rows as they are. The product reads the mean, too, so that the
  // result stays apart.
  CHECK(groups_of(parse(with_product(R"(
    %o = parameter f32[1, 4]
    %i = parameter f32[20, 200]
    %h = mm(%x, %i)
    %p = var_mean.correction(%h, [1], correction=0)
    %v = getitem(%p, 0)
    %m = getitem(%p, 1)
    %r = rsqrt(%v)
    %a = unsqueeze(%m, 1)
    %b = view(%r, [10, 1])
    %c = sub.Tensor(%h, %a)
    %y = mul.Tensor(%c, %b)
    %z = mul.Tensor(%y, %a)
    %k = mm(%a, %o)
    results %z, %huge, %k)"))) == std::vector<Names>{{"p", "r", "c", "y"}});
}

TEST_CASE("fusion: other reductions end a kernel", "[fusion]") {
  const auto groups = [](const std::string& body) { return groups_of(parse(with_product(body))); };
  // Of a square: each element reads the sum of another row.
  CHECK(groups(R"(
    %q = parameter f32[20, 20]
    %e = exp(%q)
    %s = sum.dim_IntList(%e, [1])
    %d = sub.Tensor(%q, %s)
    results %d, %huge)") == std::vector<Names>{{"e", "s"}});
  // Of rows of two kinds.
  CHECK(groups(R"(
    %s = sum.dim_IntList(%x, [1], true)
    %d = sub.Tensor(%x, %s)
    %c = sum.dim_IntList(%d, [0], true)
    %e = mul.Tensor(%d, %c)
    results %e, %huge)") == std::vector<Names>{{"s", "d"}});
  // Of too few rows for all threads, and of rows that don't lie together.
  CHECK(groups(R"(
    %l = parameter f32[4, 8192]
    %s = sum.dim_IntList(%l, [1], true)
    %d = sub.Tensor(%l, %s)
    %c = parameter f32[512, 64]
    %r = sum.dim_IntList(%c, [0], true)
    %e = sub.Tensor(%c, %r)
    results %d, %e, %huge)") == std::vector<Names>{});
  // What is reduced is read by the product as well: y can be made again of x alone.
  CHECK(groups(R"(
    %h = relu(%x)
    %s = sum.dim_IntList(%h, [1], true)
    %y = mul.Tensor(%h, %s)
    %k = mm(%h, %w)
    results %y, %huge, %k)") == std::vector<Names>{{"h", "s"}});
}

TEST_CASE("fusion: what others read joins where it runs over as many elements", "[fusion]") {
  CHECK(groups_of(parse(with_product(R"(
    %a = exp(%x)
    %b = relu(%a)
    %g = mul.Tensor(%t, %a)
    %c = mm(%b, %w)
    results %c, %huge
    gradients %g, none)"))) == std::vector<Names>{{"a", "b"}});
  // One row is spread over all: it stays by itself, since the product reads it as well.
  CHECK(groups_of(parse(with_product(R"(
    %r = slice.Tensor(%x, 0, 0, 1)
    %a = exp(%r)
    %b = add.Tensor(%x, %a)
    %c = mm(%a, %w)
    %d = mm(%b, %w)
    results %c, %d, %huge)"))) == std::vector<Names>{});
}

TEST_CASE("fusion: results, passes and draws stay apart", "[fusion]") {
  // a is read by the result's kernel and by backward: it must be able to run again.
  CHECK(groups_of(parse(with_product(R"(
    %a = exp(%x)
    %b = relu(%a)
    %g = mul.Tensor(%t, %a)
    results %b, %huge
    gradients %g, none)"))) == std::vector<Names>{});
  // h needs no tangent, g does, and h is none of what moves (inlining_test.cpp).
  CHECK(groups_of(parse(with_product(R"(
    %h = cosh(%x)
    %g = mul.Tensor(%t, %h)
    results %huge
    gradients %g, none)"))) == std::vector<Names>{});
  CHECK(groups_of(parse(with_product(R"(
    %r = rand([10, 20])
    %m = gt.Scalar(%r, 0.5)
    %a = mul.Tensor(%x, %m)
    %b = relu(%a)
    results %b, %huge)"))) == std::vector<Names>{{"a", "b"}});
}

TEST_CASE("fusion: no kernel waits for itself", "[fusion]") {
  // b would run before the product that it feeds, and after it.
  CHECK(groups_of(parse(with_product(R"(
    %v = parameter f32[20, 20]
    %a = exp(%x)
    %p = mm(%a, %v)
    %b = add.Tensor(%a, %p)
    %c = relu(%b)
    results %c, %huge)"))) == std::vector<Names>{{"b", "c"}});
}

TEST_CASE("fusion: no kernel has more alive than the largest call", "[fusion]") {
  const char* text = R"(graph "g" {
    %x = parameter f32[100]
    %t = tangent f32[100]
    %a = exp(%x)
    %b = relu(%a)
    %c = sin(%b)
    %p = mul.Tensor(%t, %a)
    %q = mul.Tensor(%p, %b)
    %r = mul.Tensor(%q, %c)
    results %c
    gradients %r
  })";
  // a and b together leave two storages, which is the most that any call has here.
  const Graph graph = parse(text);
  const StorageModel storages(graph);
  const FusionGroups groups = fuse_pointwise(graph, storages);
  const JointProblem eager(graph, storages), fused(graph, storages, {}, {}, groups);
  const auto widest = [](const RematProblem& problem) {
    std::int64_t most = 0;
    for (std::int32_t c = 0; c < problem.size(); ++c) {
      if (c == problem.boundary() || c == problem.end()) continue;
      std::int64_t bytes = 0;
      for (const RematProblem::Read& read : problem.reads(c)) bytes += problem.bytes(read.storage);
      for (std::int32_t s = problem.first_storage(c); s < problem.first_storage(c + 1); ++s)
        bytes += problem.bytes(s);
      most = std::max(most, bytes);
    }
    return most;
  };
  CHECK(widest(fused.problem()) <= widest(eager.problem()));
}

TEST_CASE("fusion: a kernel takes one launch and the traffic with the outside", "[fusion]") {
  const Graph graph = parse(with_product(R"(
    %v = permute(%x, [1, 0])
    %a = exp(%x)
    %s = sin(%v)
    %u = permute(%s, [1, 0])
    %b = add.Tensor(%a, %u)
    %k = sum(%b)
    results %k, %huge)"));
  const StorageModel storages(graph);
  const FusionGroups groups = fuse_pointwise(graph, storages);
  REQUIRE(groups.size() == 1);
  REQUIRE(groups.members(0).size() == 4);
  DeviceRates rates;
  rates.bytes_per_second = 1e6;
  rates.launch_micros = 7;
  // x once, though it is read through a view as well; one number is written.
  CHECK(kernel_traffic(graph, storages, groups, groups.members(0)) == 800 + 4);
  CHECK(kernel_micros(graph, storages, groups, groups.members(0), rates) == 7 + 800 + 4);
  const NodeId a = graph.find("a");
  CHECK(kernel_micros(graph, storages, FusionGroups(), {&a, 1}, rates) ==
        node_micros(graph, a, rates));
  CHECK(kernel_traffic(graph, storages, FusionGroups(), {&a, 1}) == node_traffic(graph, a));
}

}  // namespace
}  // namespace recut
