// Schedules: what they are made of, that they agree with replay, and that the verifier agrees.
#include "engine/schedule/schedule.h"
#include "engine/schedule/make_schedule.h"

#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <filesystem>
#include <fstream>

#include "engine/input/graph_file_reader.h"
#include "engine/ir/printer.h"
#include "engine/schedule/schedule_text.h"
#include "tests/golden/golden.h"
#include "tests/partition/graphs.h"
#include "tests/partition/joint_files.h"
#include "tests/random/random_graph.h"
#include "tests/schedule/planned.h"

namespace recut {
namespace {

const char* const kSmall = R"(graph "small" {
  %x = parameter f32[8, 16]
  %w = parameter f32[16, 16]
  %t = tangent f32[8, 16]
  %p = mm(%x, %w)
  %a = exp(%p)
  %b = sigmoid(%a)
  %c = mm(%b, %w)
  %d = relu(%c)
  %wt = permute(%w, [1, 0])
  %g = mul.Tensor(%t, %b)
  %h = mm(%g, %wt)
  %i = mul.Tensor(%h, %a)
  %xt = permute(%x, [1, 0])
  %j = mm(%xt, %i)
  results %d
  gradients %i, %j
})";

TEST_CASE("schedule: a small one in words", "[schedule]") {
  const std::string path = RECUT_SOURCE_DIR "/tests/golden/schedule/small.txt";
  std::string text;
  for (const bool fused : {false, true}) {
    const test::Scheduled planned(parse(kSmall), fused, NoBudget{});
    for (const bool in_place : {false, true}) {
      ScheduleOptions options;
      options.in_place = in_place;
      const Schedule schedule = planned.make(options);
      planned.require_sound(schedule);
      text += fused ? "fused" : "eager";
      text += in_place ? ", in place: " : ": ";
      text += schedule_text(planned.graph, planned.storages, schedule) + "\n";
    }
  }
  if (test::blessing()) std::ofstream(path, std::ios::binary) << text;
  std::ifstream file(path, std::ios::binary);
  INFO("accept it:  RECUT_BLESS=1, the same test");
  CHECK(text == std::string(std::istreambuf_iterator<char>(file), {}));
}

// Forward, the transpose stands between the calls of a kernel; backward, before a product.
TEST_CASE("schedule: a view that ran inside of a kernel does nothing again", "[schedule]") {
  test::Scheduled planned(parse(R"(graph "view" {
  %x = parameter f32[16, 16]
  %t = tangent f32[16, 16]
  %p = mm(%x, %x)
  %a = exp(%p)
  %v = permute(%a, [1, 0])
  %b = sigmoid(%a)
  %d = mm(%b, %x)
  %g = mm(%t, %v)
  %h = mul.Tensor(%g, %b)
  results %d
  gradients %h
})"),
                          true, NoBudget{});
  const auto node = [&](const char* name) { return planned.graph.find(name); };
  planned.plan.forward = {node("p"), node("a"), node("v"), node("b"), node("d")};
  planned.plan.backward = {node("v"), node("g"), node("h")};
  planned.plan.saved = {node("a"), node("b")};
  const Schedule schedule = planned.make();
  planned.require_sound(schedule);
  REQUIRE(schedule.kernels.size() == 6);
  CHECK(schedule.kernels[1].calls == std::vector{node("a"), node("v"), node("b")});
  CHECK(schedule.kernels[3].calls == std::vector{node("v")});
  CHECK_FALSE(schedule.kernels[3].launches);
  CHECK_FALSE(schedule.kernels[3].again);
}

// Against replay, instance by instance.
void check_against_replay(const test::Scheduled& planned, const Schedule& schedule) {
  const auto replayed = replay(planned.graph, planned.storages, planned.plan, {}, planned.groups);
  REQUIRE(replayed.ok());
  REQUIRE(schedule.peak_bytes == replayed->peak_bytes);
  REQUIRE(schedule.buffers.size() == replayed->instances.size());
  for (std::size_t b = 0; b < schedule.buffers.size(); ++b) {
    const Buffer& buffer = schedule.buffers[b];
    const StorageInstance& instance = replayed->instances[b];
    REQUIRE(buffer.storage == instance.storage);
    REQUIRE(buffer.bytes == instance.bytes);
    REQUIRE(buffer.kind == instance.kind);
    REQUIRE(schedule.kernels[buffer.first_kernel].first_step == instance.birth);
    const ScheduledKernel& last = schedule.kernels[buffer.last_kernel];
    REQUIRE(last.first_step + last.calls.size() - 1 ==
            std::min(instance.last_use, replayed->steps.size() - 1));
  }
}

void check_schedules(const test::Scheduled& planned, double effort) {
  ScheduleOptions options;
  options.effort = effort;
  options.alignment = 1;
  const Schedule exact = planned.make(options);
  planned.require_sound(exact);
  check_against_replay(planned, exact);
  REQUIRE(exact.lower_bound_bytes == exact.peak_bytes);

  options.alignment = 64;
  const Schedule usual = planned.make(options);
  planned.require_sound(usual);
  REQUIRE(usual.lower_bound_bytes >= usual.peak_bytes);
  REQUIRE(usual.arena_bytes >= usual.lower_bound_bytes);

  options.in_place = true;
  const Schedule in_place = planned.make(options);
  planned.require_sound(in_place);
  REQUIRE(in_place.arena_bytes <= usual.arena_bytes);
}

TEST_CASE("schedule: those of random graphs are proved and agree with replay", "[schedule]") {
  std::size_t reused = 0;
  for (std::uint64_t seed = 1; seed <= 80; ++seed) {
    CAPTURE(seed);
    const Graph graph = test::random_graph(seed);
    INFO(print(graph));
    for (const bool fused : {false, true})
      for (const Budget budget : {Budget(NoBudget{}), Budget(PeakBytes{1})}) {
        const test::Scheduled planned(graph, fused, budget, 0.01);
        check_schedules(planned, 0.01);
        ScheduleOptions options;
        options.in_place = true;
        options.effort = 0;
        for (const Buffer& buffer : planned.make(options).buffers)
          reused += buffer.in_place_of ? 1 : 0;
      }
  }
  CHECK(reused > 50);
}

TEST_CASE("schedule: those of real graphs are proved", "[schedule]") {
  for (const std::string& path : joint_files()) {
    const std::string name = std::filesystem::path(path).filename().string();
    if (std::filesystem::file_size(path) > 40'000) continue;  // the benchmark's business
    CAPTURE(name);
    const auto file = read_graph_file(path);
    REQUIRE(file.ok());
    for (const bool fused : {false, true}) {
      const test::Scheduled all(file->graph, fused, NoBudget{});
      check_schedules(all, 0.01);
      const std::int64_t half = all.make().peak_bytes / 2;
      check_schedules(test::Scheduled(file->graph, fused, PeakBytes{half}), 0.01);
    }
  }
}

TEST_CASE("schedule: alignment is a power of two", "[schedule]") {
  const test::Scheduled planned(parse(kSmall), false, NoBudget{});
  for (const std::int64_t alignment : {0, -64, 3, 48}) {
    ScheduleOptions options;
    options.alignment = alignment;
    const auto schedule = make_schedule(planned.graph, planned.kernels(), planned.plan, options);
    REQUIRE_FALSE(schedule.ok());
    CHECK(schedule.diagnostics().front().message.find("expected a power of two") !=
          std::string::npos);
  }
  ScheduleOptions page;
  page.alignment = 4096;
  const Schedule schedule = planned.make(page);
  planned.require_sound(schedule);
  CHECK(schedule.arena_bytes % 4096 == 0);
}

TEST_CASE("schedule: a plan that can't run has none", "[schedule]") {
  test::Scheduled planned(parse(kSmall), false, NoBudget{});
  planned.plan.forward.erase(planned.plan.forward.begin());
  CHECK_FALSE(make_schedule(planned.graph, planned.kernels(), planned.plan).ok());
}

std::size_t reused_places(const std::string& body) {
  const test::Scheduled planned(parse("graph \"g\" {\n %x = parameter f32[8, 8]\n" + body + "\n}"),
                                false, NoBudget{});
  ScheduleOptions options;
  options.in_place = true;
  const Schedule schedule = planned.make(options);
  planned.require_sound(schedule);
  return static_cast<std::size_t>(
      std::count_if(schedule.buffers.begin(), schedule.buffers.end(),
                    [](const Buffer& buffer) { return buffer.in_place_of.has_value(); }));
}

TEST_CASE("schedule: what is written in place of what", "[schedule]") {
  CHECK(reused_places("%a = exp(%x)\n %b = relu(%a)\n %c = sin(%b)\n results %c") == 2);
  // a is a result; then it is read again later.
  CHECK(reused_places("%a = exp(%x)\n %b = relu(%a)\n results %a, %b") == 0);
  CHECK(reused_places("%a = exp(%x)\n %b = mm(%a, %x)\n %c = mm(%b, %a)\n results %c") == 0);
  // Other places: through a view, other sizes of elements, one row for all.
  CHECK(reused_places("%a = exp(%x)\n %v = permute(%a, [1, 0])\n %b = relu(%v)\n results %b") == 0);
  CHECK(reused_places("%a = exp(%x)\n %b = _to_copy(%a, dtype=f64)\n results %b") == 0);
  CHECK(reused_places("%r = slice.Tensor(%x, 0, 0, 1)\n %a = exp(%r)\n %b = add.Tensor(%x, %a)\n"
                      " results %b") == 0);
  // No loop over elements.
  CHECK(reused_places("%a = exp(%x)\n %b = mm(%a, %x)\n results %b") == 0);
  CHECK(reused_places("%a = exp(%x)\n %b = cumsum(%a, 0)\n results %b") == 0);
  // Two operands die, one output takes one place.
  CHECK(reused_places("%a = exp(%x)\n %b = sin(%x)\n %c = add.Tensor(%a, %b)\n results %c") == 1);
}

}  // namespace
}  // namespace recut
