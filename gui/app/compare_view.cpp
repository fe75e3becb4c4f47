// The baseline of the compare panel, as one text: `unplanned`, `baseline`, `before`, `torch 0.5`,
// `document 3` or `pass 2`. Commands carry that text as their argument, and each function here
// resolves it to a plan, a document or a pass. Differences are kept until one of the two plans
// changes; the match of nodes is kept as long as both documents stay.
#include "gui/app/compare_view.h"

#include <fmt/core.h>

#include <cstdlib>

#include "engine/support/units.h"
#include "gui/app/app.h"
#include "gui/app/torch_plans.h"
#include "gui/model/node_trace.h"
#include "gui/model/plan_change.h"

namespace recut::gui {
namespace {

// The part of `with` behind the keyword; nullopt if it doesn't begin with it.
std::optional<std::string> after_word(const std::string& with, std::string_view word) {
  if (with.rfind(word, 0) != 0 || with.size() <= word.size() || with[word.size()] != ' ')
    return std::nullopt;
  return with.substr(word.size() + 1);
}

// Matches the two plans' graphs; the match is kept as long as the documents.
void find_match(CompareView& view) {
  const auto &here = view.here->document, &there = view.there->document;
  if (view.match && view.match_here == here && view.match_there == there) return;
  view.match = std::make_shared<const GraphMatch>(
      here == there ? match_same(here->graph()) : match_documents(here->graph(), there->graph()));
  view.match_here = here;
  view.match_there = there;
}

}  // namespace

CompareView& compare_view(DocumentView& document) {
  return memory_of<CompareView>(document.memories, kCompareMemory);
}

std::string compared_with(const DocumentView& document, const CompareView& view) {
  if (!view.with.empty()) return view.with;
  // A plan isn't compared with itself.
  const SharedPlanView& baseline = document.baseline.plan;
  return baseline && baseline != document.shown ? "baseline" : "unplanned";
}

std::optional<std::size_t> compared_pass(const DocumentView& document, const CompareView& view) {
  const auto number = after_word(compared_with(document, view), "pass");
  if (!number) return std::nullopt;
  const auto pass = static_cast<std::size_t>(std::strtoul(number->c_str(), nullptr, 10));
  return std::min(pass, document.document->passes.passes.size());
}

bool compared_other(const DocumentView& document, const CompareView& view) {
  const std::string with = compared_with(document, view);
  return after_word(with, "pass") || after_word(with, "document");
}

const DocumentView* compared_document(const App& app, const DocumentView& document,
                                      const CompareView& view) {
  const auto serial = after_word(compared_with(document, view), "document");
  const DocumentView* other = serial ? app.documents.find(std::atoi(serial->c_str())) : nullptr;
  return other != nullptr && other->is_ready() ? other : nullptr;
}

SharedPlanView compared_plan(const App& app, const DocumentView& document,
                             const CompareView& view) {
  const std::string with = compared_with(document, view);
  if (with == "unplanned") return document.start;
  if (with == "baseline") return document.baseline.plan;
  if (with == "before") return document.before.plan;
  if (const auto fraction = compared_torch(document, view)) return torch_plan(document, *fraction);
  const DocumentView* other = compared_document(app, document, view);
  return other != nullptr ? other->shown : nullptr;
}

std::vector<CompareChoice> compare_choices(const App& app, const DocumentView& document) {
  std::vector<CompareChoice> choices{{"unplanned", "nothing recomputed"}};
  if (const SharedPlanView& baseline = document.baseline.plan)
    choices.push_back({"baseline", "baseline " + format_bytes(baseline->peak())});
  if (const SharedPlanView& before = document.before.plan)
    choices.push_back({"before", "before " + format_bytes(before->peak())});
  if (has_recorded_torch(document))
    choices.push_back({fmt::format("torch {}", kRecordedTorch), "PyTorch's own"});
  for (const char* fraction : {"1", "0.5", "0"})
    choices.push_back({std::string("torch ") + fraction, std::string("PyTorch at ") + fraction});
  for (const auto& other : app.documents.all())
    if (other.get() != &document && other->is_ready())
      choices.push_back({fmt::format("document {}", other->serial), other->title});
  if (!document.document->passes.passes.empty()) choices.push_back({"pass 0", "the graph as read"});
  return choices;
}

std::string compared_name(const App& app, const DocumentView& document, const CompareView& view) {
  const std::string with = compared_with(document, view);
  for (const CompareChoice& choice : compare_choices(app, document))
    if (choice.with == with) return choice.text;
  return with;
}

std::optional<std::string> compared_torch(const DocumentView& document, const CompareView& view) {
  return after_word(compared_with(document, view), "torch");
}

std::string equal_peak_text(const DocumentView& document, const PlanView& torch) {
  if (document.plan_settings.budget_bytes != torch.peak()) return {};
  const std::string peak = format_bytes(torch.peak());
  if (document.budget_answer() == BudgetAnswer::refused)
    return fmt::format("PyTorch's peak of {} can't be held{}", peak,
                       has_overrides(document.graph(), document.plan_settings.overrides)
                           ? " with these overrides"
                           : "");
  const bool planned =
      document.shown == document.known.made_for(request_of(document.plan_settings).budget);
  if (!planned) return fmt::format("Planning for PyTorch's peak of {} …", peak);
  const auto extra = [](const PlanView& plan) {
    const double micros = plan.report().recompute_us;
    return micros > 0 ? "+" + format_micros(micros) : std::string("no extra time");
  };
  return fmt::format("At PyTorch's peak of {}: {} instead of {}{}", peak, extra(*document.shown),
                     extra(torch), torch.planned.costs.fused() ? ", both fused" : "");
}

const std::string& why_flipped(CompareView& view, const DocumentView& document,
                               const FateRow& row) {
  static const std::string kNothing;
  const auto& change = document.change;
  if (!document.reasons || !change || change->before != view.there || change->after != view.here)
    return kNothing;
  if (view.why_by != document.reasons) view.why.clear();
  view.why_by = document.reasons;
  const auto [found, fresh] = view.why.try_emplace(row.here);
  if (fresh) found->second = flip_reason(*change, row, *document.reasons);
  return found->second;
}

void update(CompareView& view, const App& app, const DocumentView& document) {
  if (const auto pass = compared_pass(document, view)) {
    if (view.pass == document.pass && view.other_pass == *pass) return;
    view.pass = document.pass;
    view.other_pass = *pass;
    view.counts = operator_counts(graph_after(document.document->passes, document.pass),
                                  graph_after(document.document->passes, *pass));
    return;
  }
  const SharedPlanView there = compared_plan(app, document, view);
  if (view.here == document.shown && view.there == there) return;
  view.here = document.shown;
  view.there = there;
  if (!there) {
    view.difference = {};
    return;
  }
  find_match(view);
  view.difference = difference_of(*view.here, *there, *view.match);
}

}  // namespace recut::gui
