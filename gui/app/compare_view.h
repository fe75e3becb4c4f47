// What the plan that is shown is compared with, and what comes of it.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "gui/app/document_view.h"
#include "gui/app/plan_difference.h"

namespace recut::gui {

class App;

// Kept for each document.
struct CompareView {
  // "unplanned", "baseline", "torch 0.5", "document 3" (its serial number), "pass 2"; "": the
  // document's baseline if there is one, else the step without recomputation.
  std::string with;
  std::map<std::string, SharedPlanView> torch;  // by torch_key()
  JobId job = 0;

  // Of which two plans `difference` is.
  SharedPlanView here, there;
  PlanDifference difference;
  // Of the two plans' documents, which may be one.
  std::shared_ptr<const GraphMatch> match;
  std::shared_ptr<const Document> match_here, match_there;
  // Of which passes `counts` are.
  std::size_t pass = static_cast<std::size_t>(-1), other_pass = 0;
  std::vector<OperatorCount> counts;
};

inline constexpr std::string_view kCompareMemory = "compare";
CompareView& compare_view(DocumentView& document);

// What `with` stands for now.
std::string compared_with(const DocumentView& document, const CompareView& view);
// The pass where passes are compared; none where plans are.
std::optional<std::size_t> compared_pass(const DocumentView& document, const CompareView& view);
// Whether passes or documents are compared, whatever their plans are.
bool compared_other(const DocumentView& document, const CompareView& view);
// The other document where documents are compared and it is open; null elsewhere.
const DocumentView* compared_document(const App& app, const DocumentView& document,
                                      const CompareView& view);
// The other plan; null while it is made, or gone.
SharedPlanView compared_plan(const App& app, const DocumentView& document, const CompareView& view);

// What can be chosen: what `with` is, and words for people.
struct CompareChoice {
  std::string with, words;
};
std::vector<CompareChoice> compare_choices(const App& app, const DocumentView& document);
// The words of what is chosen.
std::string compared_name(const App& app, const DocumentView& document, const CompareView& view);

// Under which a plan of PyTorch's way is kept: prices are a part of it.
std::string torch_key(const DocumentView& document, const std::string& fraction);

// Finds the difference anew where one of the two changed.
void update(CompareView& view, const App& app, const DocumentView& document);

}  // namespace recut::gui
