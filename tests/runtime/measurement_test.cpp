// What is measured of a step, on one that does what it is told.
#include "engine/runtime/measurement.h"

#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <chrono>
#include <thread>

namespace recut {
namespace {

// A step of two launches that writes bytes of one value into the middle of its arena.
class ToldRun : public StepRun {
 public:
  ToldRun() {
    program_.arena_bytes = 100;
    program_.launches.resize(2);
    program_.launches[0].scheduled = 1;
    program_.launches[1].scheduled = 3;
  }

  const Program& program() const override { return program_; }
  Result<Done> run(std::uint64_t, std::span<double> launch_seconds) override {
    ++runs;
    if (!fault.empty()) return error(fault);
    std::fill(arena_.begin() + 10, arena_.begin() + end, writes);
    std::this_thread::sleep_for(std::chrono::microseconds(50));
    if (!launch_seconds.empty()) launch_seconds[0] = 0.5, launch_seconds[1] = 0.25;
    return Done{};
  }
  void paint(std::byte with) override { std::fill(arena_.begin(), arena_.end(), with); }
  std::int64_t end_of_written(std::byte paint) const override {
    return recut::end_of_written(arena_, paint);
  }
  Tensor output(std::size_t) const override { return Tensor(); }

  int runs = 0, end = 77;
  std::byte writes{0x11};
  std::string fault;

 private:
  Program program_;
  std::vector<std::byte> arena_ = std::vector<std::byte>(100);
};

TEST_CASE("measurement: how far a step writes, whatever it writes", "[runtime]") {
  ToldRun run;
  for (const int value : {0x00, 0x11, 0x5a, 0xa5}) {
    run.writes = static_cast<std::byte>(value);
    const auto touched = touched_bytes(run, 1);
    REQUIRE(touched.ok());
    CHECK(*touched == 77);
  }
  run.end = 10;
  CHECK(touched_bytes(run, 1).value() == 0);
  run.fault = "index 7 is out of 0 … 4";
  CHECK_FALSE(touched_bytes(run, 1).ok());
}

TEST_CASE("measurement: times of steps, the quickest first", "[runtime]") {
  ToldRun run;
  int told = 0;
  const auto steps = time_steps(run, 1, {5, 0, [&](int done) { return done == ++told; }});
  REQUIRE(steps.ok());
  CHECK(run.runs == 5);
  CHECK(told == 5);
  CHECK(steps->size() == 5);
  CHECK(std::is_sorted(steps->begin(), steps->end(),
                       [](const StepTime& a, const StepTime& b) { return a.ms < b.ms; }));
  CHECK(steps->front().ms >= 0.05);
  CHECK(steps->front().launch_seconds == std::vector<double>{0.5, 0.25});
}

TEST_CASE("measurement: a step that is too quick for the clock runs again and again", "[runtime]") {
  ToldRun run;
  const auto steps = time_steps(run, 1, {2, 3, [](int) { return true; }});
  REQUIRE(steps.ok());
  CHECK(steps->size() == 2);
  CHECK(run.runs > 2);
  for (const StepTime& step : *steps) {
    CHECK(step.ms * run.runs >= 3);
    CHECK(step.launch_seconds == std::vector<double>{0.5, 0.25});
  }
}

TEST_CASE("measurement: a run that is ended, and one that fails", "[runtime]") {
  ToldRun run;
  const auto ended = time_steps(run, 1, {5, 0, [](int done) { return done < 2; }});
  REQUIRE_FALSE(ended.ok());
  CHECK(ended.diagnostics().front().message == "the run was ended");
  CHECK(run.runs == 2);
  run.fault = "divided by zero";
  const auto failed = time_steps(run, 1, {5, 0, [](int) { return true; }});
  REQUIRE_FALSE(failed.ok());
  CHECK(failed.diagnostics().front().message == "divided by zero");
}

TEST_CASE("measurement: a launch's time is its kernel's", "[runtime]") {
  const ToldRun run;
  CHECK(kernel_ms(run.program(), {0.5, 0.25}) == std::vector<double>{0, 500, 0, 250});
}

}  // namespace
}  // namespace recut
