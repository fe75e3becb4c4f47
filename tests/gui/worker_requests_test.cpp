// Work done by a helper in place of threads: the same answers, and what happens where it fails.
#include "gui/jobs/worker_requests.h"

#include <catch2/catch_test_macros.hpp>

#include "gui/app/check_view.h"
#include "gui/app/memory_view.h"
#include "gui/jobs/worker_request_fields.h"
#include "tests/gui/near_helper.h"
#include "tests/gui/window.h"

namespace recut::gui {
namespace {

NullBackend helped_backend(NearHelper& helper) {
  NullBackend backend = Window::sample_backend();
  backend.helping = &helper;
  return backend;
}

TEST_CASE("worker requests: a helper's plan, curve, flip and check are what a job finds itself",
          "[gui]") {
  NearHelper helper;
  Window helped(bare_options(), helped_backend(helper)), alone(bare_options());
  for (Window* window : {&helped, &alone}) {
    window->app.open("samples/joint/tiny_mlp.json.gz");
    window->settle();
    REQUIRE(window->app.run("budget.set", "70%").ok());
    window->settle();
    REQUIRE(window->app.run("check.run").ok());
    window->settle();
  }
  CHECK(helper.begun >= 3);
  const DocumentView& with = *helped.app.document();
  const DocumentView& without = *alone.app.document();
  CHECK(with.shown->planned.plan.forward == without.shown->planned.plan.forward);
  CHECK(with.shown->planned.plan.saved == without.shown->planned.plan.saved);
  CHECK(with.shown->planned.plan.backward == without.shown->planned.plan.backward);
  REQUIRE(with.curve);
  CHECK(with.curve->report.complete);
  CHECK(with.curve->plans.size() == with.curve->report.points.size());
  CHECK(with.curve->report.points.size() >= without.curve->report.points.size());

  const auto checked = check_view(*helped.app.document()).report;
  REQUIRE(checked);
  CHECK(checked->agrees());
  CHECK(checked->inputs == "tiny_mlp.safetensors");
  CHECK(checked->measured_peak_bytes == checked->planned_peak_bytes());
  CHECK(checked->outputs.size() == check_view(*alone.app.document()).report->outputs.size());
}

TEST_CASE("worker requests: a plan's arena is known before a panel asks for its kernels", "[gui]") {
  NearHelper helper;
  Window helped(bare_options(), helped_backend(helper)), alone(bare_options());
  for (Window* window : {&helped, &alone}) {
    window->app.open("sample:tiny_conv");
    window->settle();
  }
  // Without threads and helper the frame would wait for it.
  CHECK(alone.state("arena") == "");
  alone.app.planner.schedule(*alone.app.document());
  alone.settle();
  REQUIRE(alone.state("arena") != "");
  CHECK(helped.state("arena") == alone.state("arena"));
  REQUIRE(helped.app.run("budget.set", "70%").ok());
  helped.settle();
  CHECK(shown_schedule(*helped.app.document()));
  CHECK(helped.app.run("memory.view", "arena").ok());
  const int begun = helper.begun;
  helped.settle();
  CHECK(helper.begun == begun);  // it is there already
}

TEST_CASE("worker requests: a check that the memory can't hold is refused before it runs",
          "[gui]") {
  Window window(bare_options());
  window.app.open("sample:tiny_conv");
  window.settle();
  const DocumentView& document = *window.app.document();
  const PlanCheck check{document.shown->planned.plan, nullptr, "", 1};
  int said = 0;
  const auto progress = [&](double, const std::string&) { return ++said > 0; };
  const auto refused = check_plan(*document.document, check, progress, 1000);
  REQUIRE_FALSE(refused.ok());
  CHECK(said == 1);
  CHECK(refused.diagnostics().front().message.find(
            "there is room for 1000 B: open a graph of a ") != std::string::npos);
  const auto done = check_plan(*document.document, check, progress, 1 << 20);
  REQUIRE(done.ok());
  CHECK(all_ok(done->outputs));
}

// A job's outside that does nothing.
class NoControl : public JobControl {
 public:
  const std::atomic<bool>& cancelled() const override { return stop_; }
  void progress(double, std::string) override {}
  void measuring(bool) override {}
  void post(std::function<void()>) override {}

 private:
  std::atomic<bool> stop_{false};
};

TEST_CASE("worker requests: a plan comes back with all that its search found", "[gui]") {
  Window window(bare_options());
  window.app.open("sample:tiny_conv");
  window.settle();
  const DocumentView& document = *window.app.document();
  PlanningRequest request;
  request.budget = "60%";
  std::vector<SharedPlanView> found;
  const auto take = [&](JobControl&, Result<SharedPlanView> plan) { found.push_back(*plan); };
  const Job job = planning_job("", helper_file(document), document.basis, request, take);
  NoControl control;
  CHECK_FALSE(job.part(control));
  WorkerServer server;
  server.open(document.serial, document.path, *document.bytes);
  server.serve(document.serial, job.worker_request->task(),
               [&](const std::string& reply) { job.worker_request->take(control, reply); });
  REQUIRE(found.size() == 2);
  const PlanReport &here = found[0]->report(), &there = found[1]->report();
  CHECK(found[0]->planned.plan.forward == found[1]->planned.plan.forward);
  CHECK(found[0]->planned.plan.saved == found[1]->planned.plan.saved);
  CHECK(found[0]->planned.plan.backward == found[1]->planned.plan.backward);
  CHECK(here.budget_bytes == there.budget_bytes);
  REQUIRE((here.proof && there.proof));
  CHECK(here.proof->holds == there.proof->holds);
  CHECK(here.proof->peak_bound_bytes == there.proof->peak_bound_bytes);
  CHECK(here.proof->recompute_bound_us == there.proof->recompute_bound_us);
  CHECK(here.remarks == there.remarks);
  CHECK(there.solve_ms > 0);
  CHECK(here.step_us == there.step_us);
}

TEST_CASE("worker requests: an opposite choice comes back from the helper", "[gui]") {
  NearHelper helper;
  Window window(bare_options(), helped_backend(helper));
  window.app.open("sample:tiny_conv");
  window.settle();
  DocumentView& document = *window.app.document();
  for (const NodeId id : document.reasons->values()) {
    if (!document.reasons->flip_request(id)) continue;
    document.selection.node = id;
    REQUIRE(window.app.run("value.flip").ok());
    window.settle();
    REQUIRE(flip_answer(document).flip);
    CHECK(flip_answer(document).flip->peak_bytes == document.reasons->flip(id)->peak_bytes);
    return;
  }
  FAIL("nothing to flip");
}

TEST_CASE(
    "worker requests: nothing is drawn while the helper works, and what it no longer needs to do "
    "is "
    "taken from it",
    "[gui]") {
  NearHelper helper;
  Window window(bare_options(), helped_backend(helper));
  window.app.open("sample:tiny_conv");
  for (int i = 0; i < 100; ++i) window.tick();
  helper.asleep = true;
  window.app.planner.sweep(*window.app.document());
  for (int i = 0; i < 100; ++i) window.tick();
  CHECK_FALSE(window.app.jobs.idle());
  CHECK(window.app.jobs.resting());
  CHECK_FALSE(window.app.rest().has_value());
  const int ended = helper.ended;
  window.app.jobs.cancel(window.app.document()->sweeping);
  window.tick();
  CHECK(helper.ended == ended + 1);
  CHECK(window.app.jobs.idle());
}

TEST_CASE("worker requests: a document that is closed is closed at the helper's, too", "[gui]") {
  NearHelper helper;
  Window window(bare_options(), helped_backend(helper));
  window.app.open("sample:tiny_conv");
  window.settle();
  const int serial = window.app.document()->serial;
  CHECK(helper.knows(serial));
  window.app.close_document(serial);
  window.settle();
  CHECK_FALSE(helper.knows(serial));
}

TEST_CASE("worker requests: without a helper after all the work is done in slices", "[gui]") {
  NearHelper helper;
  helper.answer = HelperReply::kNone;
  Window window(bare_options(), helped_backend(helper));
  window.app.open("sample:tiny_conv");
  window.settle();
  CHECK_FALSE(window.app.jobs.helped());
  CHECK(window.app.document()->curve->report.complete);
}

TEST_CASE("worker requests: a helper that falls is a diagnostic, and the window goes on", "[gui]") {
  NearHelper helper;
  Window window(bare_options(), helped_backend(helper));
  window.app.open("sample:tiny_conv");
  window.settle();
  helper.answer = HelperReply::kFell;
  REQUIRE(window.app.run("check.run", "seed 1").ok());
  window.settle();
  REQUIRE_FALSE(check_view(*window.app.document()).faults.empty());
  CHECK(check_view(*window.app.document()).faults.front().message == "the helper is gone");
}

TEST_CASE("worker requests: requests and findings come back from their bytes as they were",
          "[gui]") {
  PlanningRequest request;
  request.budget = "40%";
  request.limits.seed = 7;
  request.overrides = {{"relu"}, {"mm", "h.*.mlp"}};
  PlanFindings findings;
  findings.fusion = Fusion::chains;
  findings.proof = PeakProof{false, 5, 3, 1.5, true};
  findings.blame = OverrideBlame{true, {"--save relu"}};
  findings.remarks = {"", "a remark"};
  Packer pack;
  pack(request, findings, Result<FoundPlan>(error("no")));
  const std::string bytes = pack.take();

  Unpacker unpack(bytes);
  const auto same = unpack.get<PlanningRequest>();
  CHECK(same.budget == "40%");
  CHECK(same.limits.seed == 7);
  CHECK(same.overrides.recompute == request.overrides.recompute);
  const auto found = unpack.get<PlanFindings>();
  CHECK(found.proof->peak_bound_bytes == 3);
  CHECK(found.blame->sufficient == findings.blame->sufficient);
  CHECK(found.fusion == findings.fusion);
  CHECK(found.remarks == findings.remarks);
  CHECK(unpack.result<FoundPlan>().diagnostics().front().message == "no");
}

}  // namespace
}  // namespace recut::gui
