// A budget at rest shows the plan that `recut plan` makes for it, whatever else is known; what is
// better is offered.
#include <catch2/catch_test_macros.hpp>

#include "engine/workspace/planning.h"
#include "gui/model/offer.h"
#include "tests/effort.h"
#include "tests/gui/window.h"

namespace recut::gui {
namespace {

struct Rested : Window {
  explicit Rested(const std::string& path) : Window(bare_options()) {
    app.open(path);
    settle();
  }
  DocumentView& view() { return *app.document(); }
  void set(const std::string& budget) {
    REQUIRE(app.run("budget.set", budget).ok());
    settle();
  }

  // The file of the plan that is shown, and of one that is planned for anew; without their times.
  std::string shown() { return file_of(view().shown->planned); }
  std::string anew() {
    const auto planned = plan_document(*view().document, request_of(view().plan_settings));
    REQUIRE(planned.ok());
    return file_of(*planned);
  }

  // The plan that is shown, as if it were so much quicker and made for that budget.
  SharedPlanView flattered(std::int64_t budget, double share) {
    auto plan = std::make_shared<PlanView>(*view().shown);
    plan->request.budget = std::to_string(budget);
    plan->planned.report.budget_bytes = budget;
    plan->planned.report.step_us *= share;
    return plan;
  }

 private:
  std::string file_of(Planned planned) {
    planned.report.solve_ms = 0;
    return plan_file_json(view().graph(), planned);
  }
};

TEST_CASE("rested budget: the plan is the one that is made for it, there and on the way back",
          "[gui]") {
  for (const char* sample : {"sample:tiny_conv", "samples/joint/tiny_mlp.json.gz"}) {
    Rested window(sample);
    CHECK(window.shown() == window.anew());
    std::map<std::string, SharedPlanView> seen;
    for (int percent = 95; percent > 35; percent -= test::kSanitized ? 20 : 5) {
      const std::string budget = std::to_string(percent) + "%";
      window.set(budget);
      INFO(sample << " " << budget);
      CHECK(window.view().shown == window.view().known.made_for(window.state("budget")));
      CHECK(window.shown() == window.anew());
      seen[budget] = window.view().shown;
    }
    for (const auto& [budget, plan] : seen) {
      REQUIRE(window.app.run("budget.set", budget).ok());
      CHECK(window.view().shown == plan);  // in the same frame, and not planned again
      window.settle();
      CHECK(window.view().shown == plan);
    }
  }
}

TEST_CASE("rested budget: a quicker plan of another budget is offered, taken and given back",
          "[gui]") {
  Rested window("sample:tiny_conv");
  window.set("80000");
  const SharedPlanView own = window.view().shown;
  CHECK(window.state("offer") == "none");
  CHECK_FALSE(window.app.run("plan.take").ok());
  window.view().known.add_made(window.flattered(90'000, 1 - 1e-12));  // a rounding is no gain
  CHECK(window.state("offer") == "none");
  const SharedPlanView quicker = window.flattered(70'000, 0.98);
  window.view().known.add_made(quicker);
  CHECK(window.state("offer") == "made for 68.4 KiB: 2.0 % quicker");
  window.app.want_frames();
  window.settle();
  CHECK(window.view().shown == own);
  CHECK(window.play("click trade-off/take\nwait idle\n") == "");
  CHECK(window.state("budget") == "70000");
  CHECK(window.view().shown == quicker);
  REQUIRE(window.app.run("edit.undo").ok());
  CHECK(window.state("budget") == "80000");
  CHECK(window.view().shown == own);
  window.settle();
}

TEST_CASE("rested budget: a plan of the curve is offered only as its budget's own plan", "[gui]") {
  Rested window("sample:tiny_conv");
  window.set("80000");
  const SharedPlanView own = window.view().shown;
  window.view().known.add(window.flattered(79'000, 0.98));
  window.view().weighed = nullptr;
  CHECK(window.state("offer") == "none");
  window.settle();
  const SharedPlanView made = window.view().known.made_for("79000");
  REQUIRE(made);  // was planned for, and is no better
  CHECK(made->report().step_us >= own->report().step_us);
  CHECK(window.state("offer") == "none");
  CHECK(window.view().shown == own);
}

}  // namespace
}  // namespace recut::gui
