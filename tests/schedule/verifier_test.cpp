// Every kind of damage to a schedule is found.
#include "engine/schedule/verifier.h"

#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <functional>

#include "engine/schedule/make_schedule.h"
#include "tests/partition/graphs.h"
#include "tests/random/random_graph.h"
#include "tests/schedule/planned.h"

namespace recut {
namespace {

// Several outputs, views, a chain that is one kernel when fused, forward values that backward
// reads.
const char* const kGraph = R"(graph "g" {
  %x = parameter f32[16, 16]
  %w = parameter f32[16, 16]
  %t = tangent f32[16, 16]
  %p = mm(%x, %w)
  %a = exp(%p)
  %b = relu(%a)
  %s = sort(%b)
  %v = getitem(%s, 0)
  %u = permute(%v, [1, 0])
  %c = mm(%u, %w)
  %d = sin(%c)
  %g = mul.Tensor(%t, %u)
  %h = mm(%g, %a)
  %k = neg(%h)
  %l = relu(%k)
  %m = add.Tensor(%l, %c)
  results %d
  gradients %m, %h
})";

bool says(const Diagnostics& faults, const std::string& words) {
  return std::any_of(faults.begin(), faults.end(), [&](const Diagnostic& fault) {
    return fault.message.find(words) != std::string::npos;
  });
}

struct Damage {
  std::string words;  // that the verifier has to say
  std::function<void(Schedule&)> harm;
};

Buffer& buffer_of(const test::Scheduled& planned, Schedule& schedule, const char* owner) {
  const NodeId id = planned.graph.find(owner);
  for (Buffer& buffer : schedule.buffers)
    if (buffer.owner == id) return buffer;
  FAIL("no buffer of " << owner);
  return schedule.buffers.front();
}

ScheduledKernel& kernel_of(const test::Scheduled& planned, Schedule& schedule, const char* call) {
  return schedule.kernels[buffer_of(planned, schedule, call).first_kernel];
}

void check(const test::Scheduled& planned, const ScheduleOptions& options, const Damage& damage) {
  Schedule schedule = planned.make(options);
  planned.require_sound(schedule);
  damage.harm(schedule);
  const Diagnostics faults = planned.faults(schedule);
  INFO("expected: " << damage.words << "\n" << format(faults));
  CHECK(says(faults, damage.words));
}

TEST_CASE("verifier: damaged steps are found", "[schedule]") {
  const test::Scheduled planned(parse(kGraph), true, NoBudget{});
  const std::vector<Damage> all = {
      {"runs another call than step", [](Schedule& s) { s.kernels.erase(s.kernels.begin() + 1); }},
      {"end before step", [](Schedule& s) { s.kernels.pop_back(); }},
      {"runs another call than step",
       [](Schedule& s) { std::swap(s.kernels[0].calls, s.kernels[1].calls); }},
      {"runs another call than step",
       [&](Schedule& s) { kernel_of(planned, s, "b").calls.pop_back(); }},
      {"runs another call than step",
       [](Schedule& s) { s.kernels.back().calls.push_back(s.kernels.front().calls.front()); }},
      {"has no calls",
       [](Schedule& s) {
         s.kernels.insert(s.kernels.begin(), ScheduledKernel{{}, 0, Phase::forward});
       }},
      {"starts at step", [](Schedule& s) { ++s.kernels[2].first_step; }},
      {"in the wrong phase", [](Schedule& s) { s.kernels.back().phase = Phase::forward; }},
      {"whether 'p' ran before", [](Schedule& s) { s.kernels.front().again = true; }},
      {"whether it does anything", [](Schedule& s) { s.kernels.front().launches = false; }},
      {"an alignment of 0", [](Schedule& s) { s.alignment = 0; }}};
  for (const Damage& damage : all) check(planned, {}, damage);
}

TEST_CASE("verifier: damaged lives are found", "[schedule]") {
  const test::Scheduled planned(parse(kGraph), true, NoBudget{});
  const auto of = [&](Schedule& s, const char* owner) -> Buffer& {
    return buffer_of(planned, s, owner);
  };
  const std::vector<Damage> all = {
      {"whose buffer isn't alive", [&](Schedule& s) { --of(s, "p").last_kernel; }},
      {"whose buffer isn't alive", [&](Schedule& s) { --of(s, "s").last_kernel; }},
      {"starts in a kernel that doesn't make it", [&](Schedule& s) { ++of(s, "s").first_kernel; }},
      {"doesn't live to the end", [&](Schedule& s) { --of(s, "d").last_kernel; }},
      {"doesn't live to the end", [&](Schedule& s) { --of(s, "h").last_kernel; }},
      {"which never left its kernel",
       [&](Schedule& s) { s.buffers.erase(s.buffers.begin() + (&of(s, "p") - s.buffers.data())); }},
      {"don't exist", [&](Schedule& s) { of(s, "p").last_kernel = 1000; }},
      {"don't exist", [&](Schedule& s) { of(s, "p").storage = StorageId(1000); }},
      {"is the second of 'p'", [&](Schedule& s) { s.buffers.push_back(of(s, "p")); }},
      {"is called gradient, but it is result",
       [&](Schedule& s) { of(s, "d").kind = InstanceClass::gradient; }},
      {"but it is saved",
       [&](Schedule& s) { of(s, "a").kind = InstanceClass::forward_temporary; }}};
  for (const Damage& damage : all) check(planned, {}, damage);
}

TEST_CASE("verifier: damaged places are found", "[schedule]") {
  const test::Scheduled planned(parse(kGraph), true, NoBudget{});
  const auto of = [&](Schedule& s, const char* owner) -> Buffer& {
    return buffer_of(planned, s, owner);
  };
  const std::vector<Damage> all = {
      {"alive at once and overlap", [&](Schedule& s) { of(s, "p").offset = of(s, "a").offset; }},
      {"alive at once and overlap",
       [&](Schedule& s) { of(s, "d").offset = of(s, "a").offset + 64; }},
      {"is no multiple of 64", [&](Schedule& s) { of(s, "a").offset += 32; }},
      {"is no multiple of 64", [&](Schedule& s) { of(s, "a").offset = -32; }},
      {"beyond the arena's", [&](Schedule& s) { of(s, "a").offset = s.arena_bytes; }},
      {"beyond the arena's", [](Schedule& s) { s.arena_bytes -= 64; }},
      {"has nothing above", [](Schedule& s) { s.arena_bytes += 64; }},
      {"are alive at once, not", [](Schedule& s) { s.lower_bound_bytes -= 64; }},
      {"has another size than its storage", [&](Schedule& s) { of(s, "a").bytes -= 4; }},
      {"has another owner than its storage",
       [&](Schedule& s) { of(s, "a").owner = planned.graph.find("p"); }},
      {"whether it is a workspace", [&](Schedule& s) { of(s, "a").workspace = true; }}};
  for (const Damage& damage : all) check(planned, {}, damage);
}

TEST_CASE("verifier: places that are taken wrongly are found", "[schedule]") {
  const test::Scheduled planned(parse(kGraph), false, NoBudget{});
  ScheduleOptions options;
  options.in_place = true;
  const auto of = [&](Schedule& s, const char* owner) -> Buffer& {
    return buffer_of(planned, s, owner);
  };
  const auto number = [&](Schedule& s, const char* owner) {
    return static_cast<std::uint32_t>(&of(s, owner) - s.buffers.data());
  };
  REQUIRE([&] {
    Schedule schedule = planned.make(options);
    return of(schedule, "l").in_place_of == number(schedule, "k");
  }());
  const std::vector<Damage> all = {
      {"alive at once and overlap", [&](Schedule& s) { of(s, "l").in_place_of = {}; }},
      {"which lies elsewhere", [&](Schedule& s) { of(s, "l").offset += 64; }},
      {"which doesn't end in that kernel", [&](Schedule& s) { ++of(s, "k").last_kernel; }},
      {"which has given it to another",
       [&](Schedule& s) { of(s, "m").in_place_of = number(s, "k"); }},
      {"which is to be kept",
       [&](Schedule& s) {
         of(s, "m").in_place_of = number(s, "c");
         of(s, "m").offset = of(s, "c").offset;
       }},
      {"whose elements lie otherwise",
       [&](Schedule& s) {
         of(s, "c").in_place_of = number(s, "s");
         of(s, "s").kind = InstanceClass::forward_temporary;
         of(s, "s").last_kernel = of(s, "c").first_kernel;
         of(s, "c").offset = of(s, "s").offset;
       }},
      {"in a kernel that is no loop", [&](Schedule& s) {
         of(s, "h").in_place_of = number(s, "g");
         of(s, "h").offset = of(s, "g").offset;
       }}};
  for (const Damage& damage : all) check(planned, options, damage);
}

TEST_CASE("verifier: a schedule is of one plan", "[schedule]") {
  test::Scheduled planned(parse(kGraph), false, NoBudget{});
  const Schedule schedule = planned.make();
  Plan other = planned.plan;
  other.saved.clear();
  CHECK(says(verify_schedule(planned.graph, planned.storages, other, schedule),
             "which isn't computed"));
  other = planned.plan;
  std::swap(other.forward[0], other.forward[1]);
  CHECK(says(verify_schedule(planned.graph, planned.storages, other, schedule),
             "runs another call than step"));
}

// One field of one buffer or kernel, drawn. What such damage does is not known beforehand, but
// where the schedule still is sound it has to lie otherwise, not less.
void damage_at_random(test::Random& random, Schedule& schedule) {
  Buffer& buffer = random.of(schedule.buffers);
  switch (random.below(4)) {
    case 0:
      buffer.offset += 64 * random.between(1, 4) * (random.one_in(2) ? 1 : -1);
      return;
    case 1:
      if (buffer.last_kernel > buffer.first_kernel) --buffer.last_kernel;
      return;
    case 2:
      buffer.bytes -= buffer.bytes / 2;
      return;
    default: {
      ScheduledKernel& one = random.of(schedule.kernels);
      ScheduledKernel& other = random.of(schedule.kernels);
      std::swap(one.calls, other.calls);
    }
  }
}

bool overlap(const Schedule& schedule) {
  for (std::size_t i = 0; i < schedule.buffers.size(); ++i)
    for (std::size_t j = 0; j < i; ++j) {
      const Buffer& a = schedule.buffers[i];
      const Buffer& b = schedule.buffers[j];
      if (a.first_kernel <= b.last_kernel && b.first_kernel <= a.last_kernel &&
          a.offset < b.offset + b.bytes && b.offset < a.offset + a.bytes)
        return true;
    }
  return false;
}

TEST_CASE("verifier: random damage to random schedules never passes as sound", "[schedule]") {
  int found = 0;
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    CAPTURE(seed);
    test::Random random(seed);
    const test::Scheduled planned(test::random_graph(seed), random.one_in(2), NoBudget{}, 0.01);
    ScheduleOptions options;
    options.effort = 0;
    const Schedule whole = planned.make(options);
    if (whole.buffers.empty()) continue;
    for (int i = 0; i < 10; ++i) {
      Schedule damaged = whole;
      damage_at_random(random, damaged);
      if (!planned.faults(damaged).empty()) {
        ++found;
        continue;
      }
      REQUIRE_FALSE(overlap(damaged));
      for (std::size_t b = 0; b < whole.buffers.size(); ++b)
        REQUIRE(damaged.buffers[b].bytes == whole.buffers[b].bytes);
      for (std::size_t k = 0; k < whole.kernels.size(); ++k)
        REQUIRE(damaged.kernels[k].calls == whole.kernels[k].calls);
    }
  }
  CHECK(found > 1000);
}

}  // namespace
}  // namespace recut
