#include "gui/app/compare_view.h"

#include <cstdlib>

#include "gui/app/app.h"
#include "gui/app/pass_steps.h"

namespace recut::gui {
namespace {

// What follows the word, where `with` begins with it.
std::optional<std::string> after_word(const std::string& with, std::string_view word) {
  if (with.rfind(word, 0) != 0 || with.size() <= word.size() || with[word.size()] != ' ')
    return std::nullopt;
  return with.substr(word.size() + 1);
}

}  // namespace

CompareView& compare_view(DocumentView& document) {
  std::any& slot = document.memories[std::string(kCompareMemory)];
  if (!slot.has_value()) slot = CompareView();
  return std::any_cast<CompareView&>(slot);
}

std::string compared_with(const CompareView& view) {
  if (!view.with.empty()) return view.with;
  return view.baseline ? "baseline" : "unplanned";
}

std::optional<std::size_t> compared_pass(const DocumentView& document, const CompareView& view) {
  const auto number = after_word(compared_with(view), "pass");
  if (!number) return std::nullopt;
  const auto pass = static_cast<std::size_t>(std::strtoul(number->c_str(), nullptr, 10));
  return std::min(pass, document.document->passes.passes.size());
}

SharedPlanView compared_plan(const App& app, const DocumentView& document,
                             const CompareView& view) {
  const std::string with = compared_with(view);
  if (with == "unplanned") return document.start;
  if (with == "baseline") return view.baseline;
  if (const auto fraction = after_word(with, "torch")) {
    const auto found = view.torch.find(torch_key(document, *fraction));
    return found == view.torch.end() ? nullptr : found->second;
  }
  if (const auto serial = after_word(with, "document")) {
    const DocumentView* other = app.documents.find(std::atoi(serial->c_str()));
    return other != nullptr && other->is_ready() ? other->shown : nullptr;
  }
  return nullptr;
}

std::string torch_key(const DocumentView& document, const std::string& fraction) {
  return fraction + " " + document.wishes.device + " " + document.wishes.cost_model;
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
  view.difference = there ? difference_of(*view.here, *there) : PlanDifference();
}

}  // namespace recut::gui
