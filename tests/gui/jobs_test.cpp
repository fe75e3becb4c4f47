// In which order jobs are done, and by how many workers.
#include "gui/backend/jobs.h"

#include <algorithm>
#include <array>
#include <catch2/catch_test_macros.hpp>
#include <thread>

#include "gui/jobs/worker_requests.h"
#include "gui/model/value_table.h"
#include "tests/gui/big_plan.h"

namespace recut::gui {
namespace {

Job job_that(std::string title, std::function<bool(JobControl&)> part, bool urgent = false) {
  Job job;
  job.title = std::move(title);
  job.urgent = urgent;
  job.part = std::move(part);
  return job;
}

void deliver_all(Jobs& jobs) {
  while (!jobs.idle()) {
    jobs.deliver();
    std::this_thread::yield();
  }
}

TEST_CASE("jobs: without threads what comes first is done first, then what is urgent", "[gui]") {
  Jobs jobs(false, [] {});
  std::vector<std::string> order;
  const auto note = [&order](const char* name) {
    return [&order, name](JobControl&) {
      order.emplace_back(name);
      return false;
    };
  };
  jobs.start(job_that("sweep", note("sweep")));
  jobs.start(job_that("plan", note("plan"), true));
  Job layout = job_that("layout", note("layout"), true);
  layout.first = true;
  jobs.start(std::move(layout));
  deliver_all(jobs);
  CHECK(order == std::vector<std::string>{"layout", "plan", "sweep"});
}

TEST_CASE("jobs: what comes first waits for no other, whatever the cores", "[gui]") {
  for (const int cores : {1, 2, 8}) {
    CAPTURE(cores);
    Jobs jobs(
        true, [] {}, nullptr, cores);
    std::atomic<bool> release{false}, done{false};
    const auto hold = [&](JobControl& control) { return !release && !control.cancelled(); };
    for (int i = 0; i < 20; ++i) jobs.start(job_that("long", hold, i % 2 == 0));
    Job layout = job_that("layout", [&](JobControl&) {
      done = true;
      return false;
    });
    layout.first = true;
    jobs.start(std::move(layout));
    while (!done) std::this_thread::yield();
    release = true;
    deliver_all(jobs);
  }
}

TEST_CASE("jobs: while one takes times, no other runs that nobody waits for", "[gui]") {
  Jobs jobs(
      true, [] {}, nullptr, 8);
  std::atomic<int> others{0};
  std::atomic<bool> disturbed{false};
  const auto work = [&](JobControl&) {
    ++others;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    --others;
    return false;
  };
  for (int i = 0; i < 12; ++i) {
    Job job = job_that("other", work);
    if (i % 4 == 1) {
      job.measures = true;
      job.part = [&](JobControl&) {
        if (others > 0) disturbed = true;
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
        if (others > 0) disturbed = true;
        return false;
      };
    }
    jobs.start(std::move(job));
    jobs.let_measure(true);
  }
  deliver_all(jobs);
  CHECK_FALSE(disturbed);
}

TEST_CASE("jobs: plans are the same on any number of workers", "[gui]") {
  const auto [basis, start] = plan_of(blocks_text(8));
  constexpr std::array<std::int64_t, 3> kShares{80, 60, 40};
  std::vector<std::int64_t> first;
  for (const int cores : {1, 3, 16}) {
    Jobs jobs(
        true, [] {}, nullptr, cores);
    std::vector<std::int64_t> peaks(kShares.size(), -1);
    for (std::size_t i = 0; i < kShares.size(); ++i) {
      PlanningRequest request;
      request.budget = std::to_string(start->peak() * kShares[i] / 100);
      const auto take = [&peaks, i](JobControl& control, Result<SharedPlanView> plan) {
        const std::int64_t peak = plan.ok() ? (*plan)->peak() : 0;
        control.post([&peaks, i, peak] { peaks[i] = peak; });
      };
      jobs.start(planning_job("plan", WorkerFile{}, basis, request, take));
    }
    deliver_all(jobs);
    CHECK(std::count(peaks.begin(), peaks.end(), -1) == 0);
    if (first.empty()) first = peaks;
    CHECK(peaks == first);
  }
}

TEST_CASE("values: rows that have no prices yet are the same rows", "[gui]") {
  const auto [basis, start] = plan_of(blocks_text(12));
  PlanningRequest request;
  request.budget = std::to_string(start->peak() / 2);
  const auto plan = make_plan_view(*basis, request);
  REQUIRE(plan.ok());
  const auto reasons =
      std::make_shared<const Reasons>(*start->document, (*plan)->request, (*plan)->planned);
  const auto priced = make_value_rows(*plan, reasons);
  const auto bare = rows_without_prices(*plan);
  CHECK(bare->reasons == nullptr);
  CHECK(bare->plan == *plan);
  REQUIRE(bare->rows.size() == priced->rows.size());
  for (std::size_t i = 0; i < bare->rows.size(); ++i) {
    CHECK(bare->rows[i].node == priced->rows[i].node);
    CHECK(bare->rows[i].bytes == priced->rows[i].bytes);
    CHECK_FALSE(bare->rows[i].has_choice);
  }
}

}  // namespace
}  // namespace recut::gui
