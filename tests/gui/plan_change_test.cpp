// The outcome of a change of plan settings: the values that flipped, with reasons, and the effect
// of an override.
#include "gui/model/plan_change.h"

#include <catch2/catch_test_macros.hpp>

#include "gui/app/torch_plans.h"
#include "gui/model/value_details.h"
#include "tests/gui/window.h"

namespace recut::gui {
namespace {

void give(Window& window, const char* command, const std::string& argument) {
  REQUIRE(window.app.run(command, argument).ok());
  window.settle();
}

TEST_CASE("plan change: from answer to answer, with a reason for each value", "[gui]") {
  Window window(bare_options());
  window.app.open("sample:tiny_conv");
  window.settle();
  const DocumentView& document = *window.app.document();
  CHECK(window.state("change").empty());  // the window's own guess is nobody's change
  give(window, "budget.set", "none");
  const SharedPlanView wide = document.shown;
  give(window, "budget.set", "80%");
  REQUIRE(document.change);
  CHECK(document.change->before == wide);
  CHECK(document.change->after == document.shown);
  CHECK(document.change->cause.find("was none") != std::string::npos);
  REQUIRE_FALSE(document.change->difference.rows.empty());
  for (const FateRow& row : document.change->difference.rows) {
    CAPTURE(document.graph().node_name(row.here));
    CHECK_FALSE(flip_reason(*document.change, row, *document.reasons).empty());
  }

  // There and back flips as much.
  const std::size_t flipped = document.change->difference.rows.size();
  give(window, "budget.set", "none");
  REQUIRE(document.change);
  CHECK(document.shown == wide);
  CHECK(document.change->difference.rows.size() == flipped);

  // Another graph has no plan before it.
  give(window, "pass.toggle", "merge_clones");
  CHECK(document.before.plan == nullptr);
  CHECK(document.change == nullptr);
  CHECK(window.state("change").empty());
}

// The scores of an attention: backward reads them scaled, so that saving them themselves is no use.
constexpr const char* kScaled = R"(graph "scaled" {
  %x = parameter f32[64, 64]
  %w = parameter f32[64, 64]
  %t = tangent f32[64, 64]
  %product = mm(%x, %w)
  %scaled = mul.Tensor(%product, 0.5)
  %y = tanh(%scaled)
  %square = mul.Tensor(%scaled, %scaled)
  %g = mul.Tensor(%t, %square)
  results %y
  gradients %g, none
})";

TEST_CASE("plan change: a value overridden to be saved that backward reads nothing of says so",
          "[gui]") {
  NullBackend backend;
  backend.files["scaled.recut"] = kScaled;
  Window window(bare_options(), backend);
  window.app.open("scaled.recut");
  window.settle();
  const DocumentView& document = *window.app.document();
  REQUIRE(document.is_ready());
  give(window, "budget.set", "none");
  const NodeId product = document.find("product");
  REQUIRE(document.shown->role(product) == Role::freed);
  const SavedInstead instead = saved_instead(*document.shown, Users(document.graph()), product);
  REQUIRE(instead.node.valid());
  CHECK(document.shown->role(instead.node) == Role::saved);
  CHECK(instead.micros > 0);

  give(window, "pin.save", "product");
  REQUIRE(document.shown->role(product) == Role::freed);
  REQUIRE(document.change);
  CHECK(document.change->cause == "product must be saved");
  CHECK(window.state("notice").find("product was to be saved, and is freed") == 0);
  const std::string kept = document.graph().node_name(
      saved_instead(*document.shown, Users(document.graph()), product).node);
  CHECK(window.state("notice").find(kept + ", made of it in") != std::string::npos);
  const std::string details = text_of(details_of(document, product));
  CHECK(details.find("overridden to be saved, but backward reads nothing of it: " + kept) !=
        std::string::npos);
}

TEST_CASE("torch plans: one for each fraction, and for the prices and kernels of now", "[gui]") {
  Window window(bare_options());
  window.app.open("sample:mlp");
  window.settle();
  DocumentView& document = *window.app.document();
  CHECK(torch_fraction("0.50").value() == "0.5");
  CHECK(torch_fraction("1.0").value() == "1");
  CHECK_FALSE(torch_fraction("2").ok());
  CHECK(wants_torch_plan(window.app, document, "0.5"));
  int taken = 0;
  prepare_torch_plan(window.app, document, "0.5",
                     [&](DocumentView&, const SharedPlanView&) { ++taken; });
  CHECK_FALSE(wants_torch_plan(window.app, document, "0.5"));
  window.settle();
  CHECK(taken == 1);
  const SharedPlanView eager = torch_plan(document, "0.5");
  REQUIRE(eager);
  CHECK_FALSE(eager->planned.costs.fused());
  give(window, "baseline.pin", "torch 0.50");
  CHECK(document.baseline.plan == eager);

  give(window, "model.set", "fused");
  REQUIRE(document.baseline.plan != eager);
  CHECK(document.baseline.plan->planned.costs.fused());
  CHECK(document.baseline.plan->report().strategy == "torch");
  REQUIRE(document.curve);
  CHECK_FALSE(document.curve->report.torch.empty());

  // PyTorch's peak as the budget: its own plan holds that, so one is found. Undone in one step.
  const std::string budget = window.state("budget");
  give(window, "budget.pytorch", "1");
  CHECK(document.plan_settings.budget_bytes == torch_plan(document, "1")->peak());
  CHECK(document.holds());
  CHECK(window.state("equal_peak").find("both fused") != std::string::npos);
  give(window, "budget.set", "70%");
  CHECK(window.state("equal_peak").empty());
}

}  // namespace
}  // namespace recut::gui
