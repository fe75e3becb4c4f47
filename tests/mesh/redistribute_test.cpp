#include "engine/mesh/redistribute.h"

#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <string>
#include <vector>

#include "tests/mesh/fails.h"
#include "tests/mesh/mesh_tensors.h"

using namespace recut;
using namespace recut::mesh;
using recut::test::count_up;
using recut::test::distributed;
using recut::test::mesh_of;
using recut::test::random_values;
using recut::test::sharding_of;
using recut::test::tensor_of;
using recut::test::values_in;

namespace {

RedistributionPlan plan_of(const Shape& shape, std::string_view mesh_text, std::string_view from,
                           std::string_view to) {
  const DeviceMesh mesh = mesh_of(mesh_text);
  const auto rank = static_cast<std::int64_t>(shape.size());
  const auto plan = plan_redistribution(make_type(DType::f32, shape), mesh,
                                        sharding_of(from, mesh, rank), sharding_of(to, mesh, rank));
  INFO(from << " to " << to);
  REQUIRE(plan.ok());
  return *plan;
}

std::string kinds_of(const RedistributionPlan& plan) {
  std::string kinds;
  for (const RedistributionStep& step : plan.steps)
    kinds += (kinds.empty() ? "" : " ") + std::string(title(step.kind));
  return kinds;
}

// The collectives that a plan runs, and the bytes that a rank sends at most.
struct Cost {
  std::int64_t calls = 0, bytes = 0;
  bool operator==(const Cost&) const = default;
};

Cost cost_of(const Shape& shape, std::string_view mesh_text, std::string_view from,
             std::string_view to) {
  const auto plan = plan_of(shape, mesh_text, from, to);
  const auto start = distributed(count_up(shape), plan.mesh, plan.from);
  Traffic traffic(plan.mesh.size());
  run_plan(plan, start, traffic);
  CHECK(traffic.max_bytes_sent() <= plan.bytes());
  return {traffic.calls(), plan.bytes()};
}

}  // namespace

TEST_CASE("check 22: one axis, [12, 8] over 4 ranks", "[mesh]") {
  struct Row {
    const char *from, *to, *kinds;
    std::int64_t bytes;
  };
  for (const Row& row :
       {Row{"[R]", "[S(0)]", "slice", 0}, Row{"[S(0)]", "[R]", "all_gather", 288},
        Row{"[S(0)]", "[S(1)]", "all_to_all", 72}, Row{"[P(sum)]", "[R]", "all_reduce", 576},
        Row{"[P(sum)]", "[S(0)]", "reduce_scatter", 288}, Row{"[R]", "[P(sum)]", "hold_partial", 0},
        Row{"[S(0)]", "[P(sum)]", "zero_fill", 0},
        Row{"[P(max)]", "[P(sum)]", "reduce_scatter zero_fill", 288},
        Row{"[P(sum)]", "[P(avg)]", "rescale", 0}, Row{"[R]", "[R]", "", 0}}) {
    INFO(row.from << " to " << row.to);
    const auto plan = plan_of({12, 8}, "x=4", row.from, row.to);
    CHECK(kinds_of(plan) == row.kinds);
    CHECK(plan.bytes() == row.bytes);
    const DeviceMesh mesh = mesh_of("x=4");
    const auto start = distributed(count_up({12, 8}), mesh, Sharding::replicated(2, 1));
    Traffic free(4), traffic(4);
    const auto from =
        run_plan(*plan_redistribution(start.type, mesh, start.sharding, plan.from), start, free);
    CHECK(free.messages() == 0);
    const auto result = run_plan(plan, from, traffic);
    CHECK(traffic.max_bytes_sent() == row.bytes);
    CHECK(same_bits(*full_tensor(result, free), count_up({12, 8})));
  }
}

TEST_CASE("check 23: uneven [5, 7] from rows to columns", "[mesh]") {
  const DeviceMesh mesh = mesh_of("x=4");
  const auto start = distributed(count_up({5, 7}), mesh, sharding_of("[S(0)]", mesh, 2));
  Traffic traffic(4);
  const auto columns =
      redistribute(start, {sharding_of("[S(-1)]", mesh, 2), std::nullopt, std::nullopt}, traffic);
  REQUIRE(columns.ok());
  for (std::int64_t rank = 0; rank < 4; ++rank) {
    CHECK(traffic.bytes_sent(rank) == 48);
    CHECK(same_bits(local_of(*columns, rank), narrow(count_up({5, 7}), 1, chunk(7, 4, rank))));
  }
}

TEST_CASE("check 24: [S0, S0] to [R, S0] swaps shards and gathers once", "[mesh]") {
  const auto plan = plan_of({8, 8}, "a=2,b=2", "[S(0), S(0)]", "[R, S(0)]");
  CHECK(kinds_of(plan) == "reorder all_gather");
  CHECK(plan.bytes() == 128);
  CHECK(format(plan) ==
        "reorder on dimension 0: 64 B, then [_S(0, 2), S(0)]\n"
        "all_gather of axis 'a' on dimension 0: 64 B, then [R, S(0)]\n");
}

TEST_CASE("check 25: [S0, S0] to [S0, R] gathers once", "[mesh]") {
  CHECK(cost_of({8, 8}, "a=2,b=2", "[S(0), S(0)]", "[S(0), R]") == Cost{1, 64});
}

TEST_CASE("check 27: an axis of one rank takes no messages", "[mesh]") {
  for (const char* from : {"[R]", "[S(0)]", "[S(1)]"})
    for (const char* to : {"[R]", "[S(0)]", "[S(1)]", "[P(sum)]"})
      CHECK(cost_of({5, 7}, "x=1", from, to) == Cost{0, 0});
  CHECK(cost_of({8, 8}, "a=1,b=2", "[S(0), S(0)]", "[R, S(0)]") == Cost{0, 0});
}

TEST_CASE("check 28: DTensor's model prices a gather of 1 GiB over 8 ranks", "[mesh]") {
  const auto micros = [](StepKind kind, bool one_host) {
    return std::lround(dtensor_micros(kind, std::int64_t{1} << 30, 8, one_host));
  };
  CHECK(micros(StepKind::all_gather, true) == 9988);
  CHECK(micros(StepKind::all_reduce, true) == 19969);
  CHECK(micros(StepKind::all_gather, false) == 45376);
  CHECK(micros(StepKind::slice, true) == 0);
}

TEST_CASE("check 17: what redistribute refuses", "[mesh]") {
  const DeviceMesh mesh = mesh_of("x=4");
  const auto rows = distributed(count_up({12, 3}), mesh, sharding_of("[S(0)]", mesh, 2));
  Traffic traffic(4);
  CHECK(fails_with(redistribute(rows, {}, traffic), "redistribute was given no placements"));
  RedistributeRequest request;
  request.to = sharding_of("[P(sum)]", mesh, 2);
  CHECK(fails_with(redistribute(rows, request, traffic), "can't give a partial tensor"));
  request.to = sharding_of("[R]", mesh, 2);
  request.mesh = mesh_of("y=4");
  CHECK(
      fails_with(redistribute(rows, request, traffic), "redistributing it to y=4 isn't supported"));
  const auto whole = make_type(DType::i64, {4});
  const Sharding average = sharding_of("[P(avg)]", mesh, 1);
  CHECK(fails_with(plan_redistribution(whole, mesh, average, Sharding::replicated(1, 1)),
                   "i64 values can't be reduced by avg"));
}

TEST_CASE("check 18: collectives forward and backward", "[mesh]") {
  struct Row {
    const char *from, *to;
    std::int64_t forward, backward;
  };
  for (const Row& row :
       {Row{"[S(0)]", "[R]", 1, 0}, Row{"[R]", "[S(0)]", 0, 1}, Row{"[P(sum)]", "[R]", 1, 0},
        Row{"[R]", "[R]", 0, 0}, Row{"[P(sum)]", "[S(0)]", 1, 1}})
    for (const std::int64_t size : {12, 13, 14}) {
      INFO(row.from << " to " << row.to);
      const DeviceMesh mesh = mesh_of("x=4");
      const Sharding back = gradient_sharding(sharding_of(row.from, mesh, 2));
      CHECK(cost_of({size, 3}, "x=4", row.from, row.to).calls == row.forward);
      CHECK(cost_of({size, 3}, "x=4", row.to, format(back, mesh)).calls == row.backward);
    }
  // to_local of R with gradient placements P: the gradient is reduced on its way back.
  CHECK(cost_of({12, 3}, "x=4", "[P(sum)]", "[R]").calls == 1);
  // R to P, which backward makes: the gradient of P is R.
  CHECK(cost_of({12, 3}, "x=4", "[R]", "[P(sum)]").calls == 0);
}

TEST_CASE("check 18: ones on 4 ranks that are partial sums are fours", "[mesh]") {
  const DeviceMesh mesh = mesh_of("x=4");
  std::vector<Tensor> ones(4, tensor_of({2}, {1, 1}, DType::bf16));
  Traffic traffic(4);
  const auto partial = from_local(ones, mesh, sharding_of("[P(sum)]", mesh, 1), {}, traffic);
  REQUIRE(partial.ok());
  RedistributeRequest request;
  request.to = sharding_of("[R]", mesh, 1);
  request.dtype = DType::f32;
  const auto whole = redistribute(*partial, request, traffic);
  REQUIRE(whole.ok());
  CHECK(whole->type.dtype == DType::f32);
  CHECK(values_in(whole->locals[3]) == std::vector<double>{4, 4});
}

TEST_CASE("checks 30, 36: padding never meets a value", "[mesh]") {
  const DeviceMesh mesh = mesh_of("a=2,b=2");
  const auto rows = distributed(count_up({5, 3}), mesh, sharding_of("[S(0), S(0)]", mesh, 2));
  Traffic traffic(4);
  CHECK(same_bits(*full_tensor(rows, traffic), count_up({5, 3})));

  const DeviceMesh two = mesh_of("x=2");
  std::vector<Tensor> maxima = {tensor_of({3}, {-3, -1, -5}), tensor_of({3}, {-4, -2, -2})};
  Traffic sent(2);
  const auto partial = from_local(maxima, two, sharding_of("[P(max)]", two, 1), {}, sent);
  REQUIRE(partial.ok());
  const auto parts =
      redistribute(*partial, {sharding_of("[S(0)]", two, 1), std::nullopt, std::nullopt}, sent);
  REQUIRE(parts.ok());
  CHECK(values_in(parts->locals[0]) == std::vector<double>{-3, -1});
  CHECK(values_in(parts->locals[1]) == std::vector<double>{-2});
}

TEST_CASE("check 13: R to P and back keeps every bit", "[mesh]") {
  const Tensor values = random_values({2000}, 7);
  for (const std::int64_t n : {3, 5, 6, 7}) {
    const DeviceMesh mesh = *DeviceMesh::make({{"x", n}});
    for (const char* list : {"[P(sum)]", "[P(product)]", "[P(min)]", "[P(max)]"}) {
      INFO(list << " of " << n);
      const auto start = distributed(values, mesh, Sharding::replicated(1, 1));
      const auto plan =
          plan_redistribution(start.type, mesh, start.sharding, sharding_of(list, mesh, 1));
      REQUIRE(plan.ok());
      Traffic traffic(n);
      const auto partial = run_plan(*plan, start, traffic);
      CHECK(traffic.messages() == 0);
      const auto back = full_tensor(partial, traffic);
      REQUIRE(back.ok());
      CHECK(same_bits(*back, values));
    }
  }
}

TEST_CASE("checks 12, 41: partial numbers are reduced before they are read", "[mesh]") {
  const auto reduced = [](std::string_view mesh_text, std::string_view list,
                          const std::vector<double>& values) {
    const DeviceMesh mesh = mesh_of(mesh_text);
    std::vector<Tensor> locals;
    for (const double value : values) locals.push_back(tensor_of({}, {value}));
    Traffic traffic(mesh.size());
    const auto partial = from_local(locals, mesh, sharding_of(list, mesh, 0), {}, traffic);
    REQUIRE(partial.ok());
    return values_in(*full_tensor(*partial, traffic))[0];
  };
  CHECK(reduced("x=2", "[P(sum)]", {2, 3}) == 5);
  CHECK(reduced("a=2,b=2", "[P(avg), P(sum)]", {1, 2, 3, 4}) == 5);
  CHECK(reduced("a=2,b=2", "[P(max), P(max)]", {1, 4, 3, 2}) == 4);
  CHECK(reduced("a=2,b=2", "[P(product), R]", {2, 2, 3, 3}) == 6);
}

TEST_CASE("check 26: five axes move from rows to columns", "[mesh]") {
  const auto plan = plan_of({8, 9, 3}, "a=2,b=2,c=2,d=2,e=2", "[S(0), S(0), S(0), R, P(sum)]",
                            "[S(1), R, S(0), S(1), S(1)]");
  const auto start = distributed(count_up({8, 9, 3}), plan.mesh, plan.from);
  Traffic traffic(32);
  const auto columns = run_plan(plan, start, traffic);
  for (std::int64_t p = 0; p < 32; ++p)
    CHECK(same_bits(columns.locals[static_cast<std::size_t>(p)],
                    extract(count_up({8, 9, 3}), local_block({8, 9, 3}, plan.to, plan.mesh,
                                                             plan.mesh.coordinate_at(p)))));
}
