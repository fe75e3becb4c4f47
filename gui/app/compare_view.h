// The plan that the shown plan is compared with, and the result of the comparison.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "gui/model/document_view.h"
#include "gui/model/plan_difference.h"

namespace recut::gui {

class App;

// State of the panel, kept for each document.
struct CompareView {
  // The other plan by name: "unplanned", "baseline", "before", "torch 0.5", "document 3" (its
  // serial number), "pass 2"; "": the document's baseline if another plan is shown, else the step
  // without recomputation.
  std::string with;

  // The two plans of `difference`.
  SharedPlanView here, there;
  PlanDifference difference;
  // The match of the two plans' documents, which may be one.
  std::shared_ptr<const GraphMatch> match;
  std::shared_ptr<const Document> match_here, match_there;
  // The reasons why values flipped, for rows that were shown; from `why_by`.
  std::map<NodeId, std::string> why;
  std::shared_ptr<const Reasons> why_by;
  // The two passes of `counts`.
  std::size_t pass = static_cast<std::size_t>(-1), other_pass = 0;
  std::vector<OperatorCount> counts;
};

inline constexpr std::string_view kCompareMemory = "compare";
CompareView& compare_view(DocumentView& document);

// The current meaning of `with`.
std::string compared_with(const DocumentView& document, const CompareView& view);
// The compared pass; none if plans are compared.
std::optional<std::size_t> compared_pass(const DocumentView& document, const CompareView& view);
// True if passes or documents are compared, by any plans.
bool compared_other(const DocumentView& document, const CompareView& view);
// The other document, if documents are compared and it is open; else null.
const DocumentView* compared_document(const App& app, const DocumentView& document,
                                      const CompareView& view);
// The other plan; null while a job makes it, and if it no longer exists.
SharedPlanView compared_plan(const App& app, const DocumentView& document, const CompareView& view);

// The possible choices: `with`, and the text for users.
struct CompareChoice {
  std::string with, text;
};
std::vector<CompareChoice> compare_choices(const App& app, const DocumentView& document);
// The title of the chosen baseline.
std::string compared_name(const App& app, const DocumentView& document, const CompareView& view);

// PyTorch's budget, if its plan is the baseline.
std::optional<std::string> compared_torch(const DocumentView& document, const CompareView& view);

// The shown plan's result at PyTorch's own peak: "At PyTorch's peak of 4.08 GiB: +3.10 ms instead
// of +18.0 ms"; a remark while that is being planned; "" for any other budget.
std::string equal_peak_text(const DocumentView& document, const PlanView& torch);

// The reason why a row's value flipped; "" unless the plan before is compared with, and while
// reasons are being made.
const std::string& why_flipped(CompareView& view, const DocumentView& document, const FateRow& row);

// Finds the difference again where one of the two changed.
void update(CompareView& view, const App& app, const DocumentView& document);

}  // namespace recut::gui
