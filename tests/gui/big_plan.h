// Plans for tests of what panels show: of a text, and of as many equal blocks as wanted.
#pragma once

#include <catch2/catch_test_macros.hpp>
#include <memory>
#include <string>

#include "engine/ir/printer.h"
#include "engine/workspace/open_document.h"
#include "gui/model/document_view.h"
#include "tests/gui/repeated_blocks.h"

namespace recut::gui {

struct TestPlan {
  std::shared_ptr<const PlanBasis> basis;
  SharedPlanView plan;
};

// `strategy` "default" runs every node once; fails the test where the text is no graph.
inline TestPlan plan_of(const std::string& text, const std::string& strategy = "default",
                        const std::string& budget = "none") {
  OpenOptions options;
  options.passes.emplace();
  auto document = open_document_bytes(text, "test.recut", options);
  INFO((document ? std::string() : format(document.diagnostics())));
  REQUIRE(document.ok());
  auto shared = std::make_shared<const Document>(std::move(*document));
  auto basis = plan_basis(shared, std::string(kReferenceDevice), "eager");
  REQUIRE(basis.ok());
  TestPlan made{std::make_shared<const PlanBasis>(std::move(*basis)), nullptr};
  PlanningRequest request;
  request.strategy = strategy;
  request.budget = budget;
  auto plan = make_plan_view(*made.basis, request);
  REQUIRE(plan.ok());
  made.plan = *plan;
  return made;
}

inline std::string blocks_text(std::int64_t blocks) {
  return print(test::RepeatedBlocks::make(blocks));
}

}  // namespace recut::gui
