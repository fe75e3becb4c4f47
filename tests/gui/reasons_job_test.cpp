// The job that finds the reasons of a plan: short parts, whose sum is the whole.
#include "gui/jobs/reasons_job.h"

#include <catch2/catch_test_macros.hpp>
#include <optional>

#include "tests/gui/big_plan.h"
#include "tests/gui/window.h"

namespace recut::gui {
namespace {

struct Plans {
  AnsweredPlan before, after;
};

// Of one graph, with and without recomputation.
Plans two_plans() {
  const auto [basis, start] = plan_of(blocks_text(12));
  PlanningRequest request;
  request.budget = std::to_string(start->peak() * 6 / 10);
  const auto plan = make_plan_view(*basis, request);
  REQUIRE(plan.ok());
  Plans plans{{start, {}}, {*plan, {}}};
  plans.after.plan_settings.budget_bytes = start->peak() * 6 / 10;
  return plans;
}

// One part a call: without threads, and no time beyond the first.
struct Slices {
  void next() {
    jobs.deliver(0);
    ++count;
  }
  Jobs jobs{false, [] {}};
  int count = 0;
};

TEST_CASE("reasons job: without threads it takes several slices, each tells how far it is",
          "[gui][reasons]") {
  const Plans plans = two_plans();
  Slices slices;
  std::optional<FoundReasons> found;
  const JobId id = slices.jobs.start(
      reasons_job(plans.after.plan, plans.before, plans.after,
                  [&](JobControl&, FoundReasons all) { found = std::move(all); }));
  slices.next();
  CHECK_FALSE(found);
  REQUIRE(slices.jobs.is_alive(id));
  CHECK(slices.jobs.status().front().fraction > 0);
  while (!slices.jobs.idle()) slices.next();
  CHECK(slices.count > 6);  // models, index and peak; difference, users and change
  REQUIRE(found);

  const Reasons whole(*plans.after.plan->document, plans.after.plan->request,
                      plans.after.plan->planned);
  const Graph& graph = plans.after.plan->graph();
  for (const NodeId node : graph.order()) CHECK(found->reasons->of(node) == whole.of(node));
  const PlanChange at_once(plans.before, plans.after);
  REQUIRE(found->change);
  CHECK(found->change->before == plans.before.plan);
  CHECK(found->change->after == plans.after.plan);
  CHECK(found->change->cause == at_once.cause);
  CHECK(found->change->outcome == at_once.outcome);
  REQUIRE(found->change->difference.rows.size() == at_once.difference.rows.size());
  for (std::size_t i = 0; i < at_once.difference.rows.size(); ++i)
    CHECK(found->change->difference.rows[i].here == at_once.difference.rows[i].here);
}

TEST_CASE("reasons job: without a plan before it there is no change", "[gui][reasons]") {
  const Plans plans = two_plans();
  Slices slices;
  std::optional<FoundReasons> found;
  slices.jobs.start(reasons_job(plans.after.plan, {}, plans.after,
                                [&](JobControl&, FoundReasons all) { found = std::move(all); }));
  while (!slices.jobs.idle()) slices.next();
  REQUIRE(found);
  CHECK(found->reasons != nullptr);
  CHECK(found->change == nullptr);
}

TEST_CASE("reasons job: a cancelled one stops between two slices", "[gui][reasons]") {
  const Plans plans = two_plans();
  Slices slices;
  bool found = false;
  const JobId id =
      slices.jobs.start(reasons_job(plans.after.plan, plans.before, plans.after,
                                    [&](JobControl&, const FoundReasons&) { found = true; }));
  slices.next();
  slices.next();
  slices.jobs.cancel(id);
  for (int i = 0; i < 100; ++i) slices.next();
  CHECK(slices.jobs.idle());
  CHECK(slices.jobs.status().empty());
  CHECK_FALSE(found);
}

TEST_CASE("reasons job: the window's reasons are those of the plan that it shows",
          "[gui][reasons]") {
  Window window(bare_options());
  window.app.open("sample:tiny_conv");
  window.settle();
  REQUIRE(window.app.run("budget.set", "80%").ok());
  window.settle();
  const DocumentView& document = *window.app.document();
  REQUIRE(document.reasons);
  const Reasons whole(*document.shown->document, document.shown->request, document.shown->planned);
  for (const NodeId id : document.graph().order()) CHECK(document.reasons->of(id) == whole.of(id));
}

}  // namespace
}  // namespace recut::gui
