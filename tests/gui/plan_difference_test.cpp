// What differs between two plans and two graphs.
#include "gui/model/plan_difference.h"

#include <catch2/catch_test_macros.hpp>

#include "gui/app/check_view.h"
#include "tests/gui/window.h"

namespace recut::gui {
namespace {

SharedPlanView view_of_plan(const PlanBasis& basis, const std::string& strategy,
                            const std::string& budget) {
  PlanningRequest request;
  request.strategy = strategy;
  request.budget = budget;
  auto plan = make_plan_view(basis, request);
  REQUIRE(plan.ok());
  return *plan;
}

TEST_CASE("plan difference: a plan and itself, and there and back", "[gui]") {
  Window window(bare_options());
  window.app.open("sample:tiny_conv");
  window.settle();
  const DocumentView& document = *window.app.document();
  const auto once = view_of_plan(*document.basis, "default", "none");
  const auto less = view_of_plan(*document.basis, "peak", "60%");
  const GraphMatch same = match_same(document.graph());
  const PlanDifference none = difference_of(*once, *once, same);
  CHECK(none.rows.empty());
  CHECK(none.same > 0);

  const PlanDifference there = difference_of(*once, *less, same),
                       back = difference_of(*less, *once, same);
  REQUIRE_FALSE(there.rows.empty());
  REQUIRE(there.rows.size() == back.rows.size());
  CHECK(there.only_here + there.only_there == 0);
  CHECK(there.saved_here.storages == back.saved_there.storages);
  CHECK(there.saved_there.bytes == back.saved_here.bytes);
  for (std::size_t i = 0; i < there.rows.size(); ++i) {
    CHECK(there.rows[i].here == back.rows[i].there);
    CHECK(there.rows[i].role_here == back.rows[i].role_there);
    CHECK(there.rows[i].bytes > 0);
    if (i > 0) CHECK(there.rows[i - 1].bytes >= there.rows[i].bytes);
  }
}

TEST_CASE("plan difference: two documents", "[gui]") {
  Window window(bare_options());
  window.app.open("sample:tiny_conv");
  window.settle();
  const SharedPlanView conv = window.app.document()->start;
  window.app.open("sample:mlp");
  window.settle();
  const SharedPlanView mlp = window.app.document()->start;
  const PlanDifference difference =
      difference_of(*conv, *mlp, match_documents(conv->graph(), mlp->graph()));
  CHECK(difference.only_here > 0);
  CHECK(difference.only_there > 0);
  // The same, met from the other side.
  const PlanDifference back =
      difference_of(*mlp, *conv, match_documents(mlp->graph(), conv->graph()));
  CHECK(difference.only_here == back.only_there);
  CHECK(difference.rows.size() == back.rows.size());
}

TEST_CASE("plan difference: operators of two graphs", "[gui]") {
  Window window(bare_options());
  window.app.open("sample:tiny_conv");
  window.settle();
  const Document& document = *window.app.document()->document;
  CHECK(operator_counts(document.graph(), document.graph()).empty());
  const auto counts = operator_counts(document.graph(), document.passes.input);
  REQUIRE_FALSE(counts.empty());
  std::int64_t by = 0;
  for (const OperatorCount& count : counts) by += count.here - count.there;
  CHECK(by == static_cast<std::int64_t>(document.graph().order().size()) -
                  static_cast<std::int64_t>(document.passes.input.order().size()));
}

TEST_CASE("check: the file beside a graph", "[gui]") {
  CHECK(tensors_beside("a/tiny_mlp.json.gz") == "a/tiny_mlp.safetensors");
  CHECK(tensors_beside("a/b.recut") == "a/b.safetensors");
  CHECK(tensors_beside("sample:x") == "sample:x.safetensors");
  CHECK(tensors_beside("") == ".safetensors");
}

}  // namespace
}  // namespace recut::gui
