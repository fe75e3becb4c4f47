// Times of launches as prices of plans.
#include "engine/runtime/kernel_profile.h"
#include "engine/cost/device.h"

#include <catch2/catch_approx.hpp>
#include <catch2/catch_test_macros.hpp>
#include <numeric>

#include "engine/fusion/fuse_pointwise.h"
#include "engine/fusion/kernel_model.h"
#include "tests/input/parse.h"

namespace recut {
namespace {

double sum(const std::vector<double>& of) { return std::accumulate(of.begin(), of.end(), 0.0); }

TEST_CASE("profile: launches add up to the step that nobody looked into", "[runtime]") {
  const std::vector<double> seconds = {10, 3, 2, 1};
  // The clocks cost 1.25 a launch, but nothing gets shorter than a launch by that.
  const auto times = subtract_timer_overhead(seconds, 13, 1.5);
  CHECK(sum(times) == Catch::Approx(13));
  CHECK(times[0] == Catch::Approx(8.75));
  CHECK(times[1] == Catch::Approx(1.75));
  CHECK(times[2] == 1.5);
  CHECK(times[3] == 1);  // less than a launch as it is
  // What is missing is shared out, where the step takes longer than its launches.
  const auto longer = subtract_timer_overhead(seconds, 20, 1.5);
  CHECK(sum(longer) == Catch::Approx(20));
  CHECK(longer[3] == Catch::Approx(2));
  // A step that is quicker than so many launches can be.
  const auto quick = subtract_timer_overhead(seconds, 2, 1.5);
  CHECK(sum(quick) == Catch::Approx(2));
  CHECK(quick[0] > quick[3]);
  CHECK(subtract_timer_overhead({}, 2, 1.5).empty());
}

// A product, a chain that is one kernel, and a chain of as many bytes as a launch takes.
TEST_CASE("profile: kernels by their calls without views, and factors by their kinds",
          "[runtime]") {
  const Graph graph = parse(R"(graph "g" {
  %x = parameter f32[100, 100]
  %w = parameter f32[100, 100]
  %y = mm(%x, %w)
  %v = permute(%y, [1, 0])
  %a = exp(%v)
  %b = relu(%a)
  results %b
})");
  const KernelModel kernels(graph, Fusion::rows);
  Program program;
  const auto launch = [&](std::initializer_list<const char*> names) {
    program.launches.emplace_back();
    for (const char* name : names) program.launches.back().calls.push_back(graph.find(name));
  };
  launch({"y"});
  launch({"v", "a", "b"});
  launch({"y"});
  const std::vector<double> seconds = {3e-6, 8e-6, 5e-6};
  const std::vector<std::int64_t> workspaces = {64, 0, 128};
  const MeasuredGraph measured = measured_kernels(graph, program, seconds, workspaces);
  CHECK(measured.digest == graph_digest(graph));
  REQUIRE(measured.kernels.size() == 2);
  CHECK(measured.kernels[0].calls == std::vector<std::string>{"y"});
  CHECK(measured.kernels[0].micros == Catch::Approx(4));
  CHECK(measured.kernels[0].workspace_bytes == 128);
  CHECK(measured.kernels[1].calls == std::vector<std::string>{"a", "b"});

  DeviceRates rates;
  rates.flops_of(DType::f32) = 2e12;  // 1 us
  rates.bytes_per_second = 1.2e11;    // 1 us, and two thirds of it
  rates.corrections.memory = 77;      // which don't count
  const Corrections found = corrections(graph, kernels, program, seconds, rates);
  CHECK(found.products == Catch::Approx(4));
  CHECK(found.memory == Catch::Approx(12));
  CHECK(found.launches == 1);
}

}  // namespace
}  // namespace recut
