// Options of PyTorch's partitioner: a plan setting, in links and in the workspace, too.
#include <catch2/catch_test_macros.hpp>

#include "gui/app/link.h"
#include "gui/app/torch_plans.h"
#include "tests/gui/window.h"

namespace recut::gui {

TEST_CASE("torch options: PyTorch's plan and its points follow them, and undo brings back",
          "[gui]") {
  Window window(bare_options());
  window.app.open("sample:tiny_conv");
  window.settle();
  REQUIRE(window.app.run("torch.set", "activation_memory_budget_solver=greedy").ok());
  REQUIRE(window.app.run("torch.turn", "ban_recompute_reductions").ok());
  window.settle();
  CHECK(window.state("torch") == "ban_recompute_reductions=off solver=greedy");
  DocumentView& document = *window.app.document();
  CHECK(document.shown->request.torch.empty());  // the document's own plans know nothing of them
  REQUIRE(window.app.run("curve.draw").ok());
  window.settle();
  CHECK(document.curve->report.torch_settings == document.plan_settings.torch);

  prepare_torch_plan(window.app, document, "0.3");
  window.settle();
  const SharedPlanView plan = torch_plan(document, "0.3");
  REQUIRE(plan);
  CHECK(plan->request.torch == document.plan_settings.torch);

  REQUIRE(window.app.run("torch.turn", "ban_recompute_reductions").ok());
  CHECK(window.state("torch") == "solver=greedy");
  REQUIRE(window.app.run("torch.set", "solver=").ok());
  CHECK(window.state("torch").empty());
  REQUIRE(window.app.run("edit.undo").ok());
  CHECK(window.state("torch") == "solver=greedy");
  REQUIRE(window.app.run("torch.usual").ok());
  CHECK(window.state("torch").empty());
}

TEST_CASE("torch options: a bad one is refused with the values that there are", "[gui]") {
  Window window(bare_options());
  window.app.open("sample:tiny_conv");
  window.settle();
  const auto done = window.app.run("torch.set", "solver=best");
  REQUIRE_FALSE(done.ok());
  CHECK(done.diagnostics().front().message.find("dp, greedy, ilp") != std::string::npos);
  CHECK_FALSE(window.app.run("torch.turn", "everything").ok());
  CHECK(window.state("torch").empty());
}

TEST_CASE("torch options: links and the workspace keep them", "[gui][link]") {
  LinkState state;
  state.sample = "tiny_conv";
  state.plan_settings.torch = {"ban_recompute_reductions=off", "recomputable=mm,bmm"};
  CHECK(write_link(state) ==
        "v=1&sample=tiny_conv&budget=none&torch=ban_recompute_reductions%3Doff&"
        "torch=recomputable%3Dmm,bmm");
  CHECK(*read_link(write_link(state)) == state);
  const auto bad = read_link("v=1&torch=solver%3Dbest");
  REQUIRE_FALSE(bad.ok());
  CHECK(bad.diagnostics().front().message.find("'best'") != std::string::npos);

  SavedDocument saved;
  saved.path = "a.recut";
  saved.plan_settings.torch = state.plan_settings.torch;
  CHECK(read_document(write_document(saved)).plan_settings.torch == state.plan_settings.torch);
  CHECK(read_document(R"({"path": "a.recut", "torch": ["solver=best"]})")
            .plan_settings.torch.empty());
}

}  // namespace recut::gui
