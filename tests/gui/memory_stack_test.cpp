// The timeline's figures: bands, columns, alignment.
#include "gui/model/memory_stack.h"

#include <catch2/catch_test_macros.hpp>

#include "gui/app/memory_view.h"
#include "tests/gui/big_plan.h"

namespace recut::gui {
namespace {

// No step has other bytes in its bands than are alive in it.
void check_sums(const PlanView& plan, const MemoryStack& stack) {
  const auto& timeline = plan.report().timeline;
  REQUIRE(stack.steps() == timeline.size());
  bool equal = true;
  for (std::size_t step = 0; step < stack.steps(); ++step) {
    std::int64_t sum = 0;
    for (std::size_t band = 0; band < stack.bands.size(); ++band) {
      const std::int64_t bytes = stack.at(step)[band];
      equal = equal && bytes >= 0;
      sum += bytes;
    }
    equal = equal && sum == timeline[step].total() && sum == stack.totals[step];
  }
  CHECK(equal);
}

TEST_CASE("memory stack: bands add up to what is alive", "[gui]") {
  for (const std::string budget : {"none", "40%"}) {
    const auto [basis, plan] =
        plan_of(blocks_text(30), budget == "none" ? "default" : "peak", budget);
    const LayerBands layers = layer_bands(*plan);
    check_sums(*plan, stack_by_kind(*plan));
    check_sums(*plan, stack_by_module(*plan, layers));
    for (std::size_t step = 0; step < plan->replay().steps.size(); step += 7) {
      std::int64_t sum = 0;
      for (const StorageInstance* one : alive_at(*plan, step)) sum += one->bytes;
      CHECK(sum == plan->report().timeline[step].total());
    }
  }
}

TEST_CASE("memory stack: modules are those below the first with several of weight", "[gui]") {
  const auto [basis, plan] = plan_of(blocks_text(5));
  const LayerBands few = layer_bands(*plan);
  REQUIRE(few.names.size() == 5);
  CHECK(few.names.front() == "layers.0");
  const NodeId first = plan->graph().find("mm");
  REQUIRE(first.valid());
  CHECK(few.band[plan->graph().position(first)] == 0);

  const auto [more_basis, more_plan] = plan_of(blocks_text(40));
  const LayerBands many = layer_bands(*more_plan);
  CHECK(many.names.size() == LayerBands::kMax);
  CHECK(many.names.front().rfind("layers.0 – ", 0) == 0);
}

TEST_CASE("memory stack: columns hold every step once, with its least and most", "[gui]") {
  std::vector<std::int64_t> totals;
  for (std::int64_t i = 0; i < 1000; ++i) totals.push_back(i * 7919 % 1013);
  for (const std::size_t count : {1u, 7u, 640u, 1000u, 5000u})
    for (const auto& [from, to] : {std::pair{0.0, 1000.0}, {12.5, 13.5}, {100.0, 900.5}}) {
      const auto columns = columns_of(totals, from, to, count);
      REQUIRE_FALSE(columns.empty());
      CHECK(columns.size() <= count);
      CHECK(columns.front().first == static_cast<std::size_t>(from));
      CHECK(columns.back().end >= static_cast<std::size_t>(to));
      for (std::size_t c = 0; c < columns.size(); ++c) {
        const StepColumn& column = columns[c];
        if (c > 0) CHECK(columns[c - 1].end == column.first);
        REQUIRE(column.first < column.end);
        const auto begin = totals.begin() + static_cast<std::ptrdiff_t>(column.first);
        const auto end = totals.begin() + static_cast<std::ptrdiff_t>(column.end);
        CHECK(column.most == *std::max_element(begin, end));
        CHECK(column.least == *std::min_element(begin, end));
        CHECK(totals[column.greatest] == column.most);
      }
    }
  CHECK(columns_of({}, 0, 1, 100).empty());
  CHECK(columns_of(totals, 0, 1000, 0).empty());
}

TEST_CASE("aligned steps: a plan stands on itself, another one rises within its phases", "[gui]") {
  const std::string text = blocks_text(30);
  const auto [basis, plan] = plan_of(text);
  const auto same = aligned_steps(*plan, *plan);
  for (std::size_t step = 0; step < same.size(); ++step)
    REQUIRE(same[step] == static_cast<double>(step));

  const auto less = make_plan_view(*basis, [] {
    PlanningRequest request;
    request.budget = "35%";
    return request;
  }());
  REQUIRE(less.ok());
  for (const auto& [on, of] : {std::pair{plan, *less}, {*less, plan}}) {
    const auto places = aligned_steps(*on, *of);
    REQUIRE(places.size() == of->replay().steps.size());
    const auto border = static_cast<double>(on->report().forward_runs);
    for (std::size_t step = 0; step < places.size(); ++step) {
      if (step > 0) REQUIRE(places[step] >= places[step - 1]);
      const bool forward = of->replay().steps[step].phase == Phase::forward;
      REQUIRE((places[step] < border) == forward);
    }
    CHECK(places.back() <= static_cast<double>(on->replay().steps.size()));
  }
}

TEST_CASE("memory view: steps stay within the step, and some are always shown", "[gui]") {
  MemoryView view;
  view.show(-1, 0.5, 1000);
  CHECK(view.from == 0);
  view.show(0.9, 5, 1000);
  CHECK(view.to == 1);
  view.show(0.5, 0.5, 1000);
  CHECK((view.to - view.from) * 1000 > 7.9);
  view.show(0.2, 0.3, 0);
  CHECK(view.whole());
}

}  // namespace
}  // namespace recut::gui
