// The state of an open document. KnownPlans is a Pareto front over peak and time, sorted by peak: a
// plan that another one beats in both is dropped, which keeps it small over a long drag of the
// budget. Plans that were made for a certain budget are kept beside it, the last kMaxMade, so that
// going back to a budget needs no planning.
#include "gui/model/document_view.h"

#include <fmt/core.h>

#include <algorithm>
#include <cstdlib>

#include "engine/ir/data_flow.h"
#include "engine/passes/stages.h"
#include "engine/support/text.h"
#include "engine/workspace/budget.h"
#include "engine/workspace/frozen_document.h"
#include "gui/model/node_trace.h"

namespace recut::gui {
namespace {

constexpr std::size_t kMaxMade = 64;  // plans; of a graph of 10,000 nodes each takes some megabytes

}  // namespace

bool PlanSettings::same_problem(const PlanSettings& other) const {
  return device == other.device && cost_model == other.cost_model && effort == other.effort &&
         overrides == other.overrides && torch == other.torch && transforms == other.transforms;
}

bool PlanSettings::operator==(const PlanSettings& other) const {
  return budget_bytes == other.budget_bytes && same_problem(other);
}

void KnownPlans::add(SharedPlanView plan) {
  const std::int64_t peak = plan->peak();
  const double time = plan->report().step_us;
  const auto beaten_by = [](const PlanView& a, std::int64_t its_peak, double its_time) {
    return its_peak <= a.peak() && its_time <= a.report().step_us;
  };
  for (const SharedPlanView& known : plans_)
    if (known->peak() <= peak && known->report().step_us <= time) return;
  plans_.erase(std::remove_if(plans_.begin(), plans_.end(),
                              [&](const auto& known) { return beaten_by(*known, peak, time); }),
               plans_.end());
  const auto insertion = std::find_if(plans_.begin(), plans_.end(),
                                      [&](const auto& known) { return known->peak() > peak; });
  plans_.insert(insertion, std::move(plan));
}

void KnownPlans::add_made(SharedPlanView plan) {
  if (made_.size() == kMaxMade) made_.erase(made_.begin());
  made_.push_back(plan);
  add(std::move(plan));
}

void KnownPlans::clear() {
  plans_.clear();
  made_.clear();
}

SharedPlanView KnownPlans::made_for(const std::string& budget) const {
  const auto found = std::find_if(made_.begin(), made_.end(), [&](const SharedPlanView& plan) {
    return plan->request.budget == budget;
  });
  return found == made_.end() ? nullptr : *found;
}

SharedPlanView KnownPlans::best_within(std::int64_t budget_bytes) const {
  SharedPlanView best;
  for (const SharedPlanView& plan : plans_)
    if (plan->within(budget_bytes)) best = plan;
  return best;
}

const Graph& DocumentView::graph_at_pass() const { return graph_after(document->passes, pass); }

bool DocumentView::is_forward() const { return !is_joint(document->passes.input); }

Result<Done> DocumentView::request_transforms(TransformSettings wanted) {
  if (wanted.differentiate == GradMode::forward)
    if (auto possible = check_forward_mode(document->passes.input, wanted.optimizer.has_value());
        !possible)
      return possible;
  plan_settings.transforms = std::move(wanted);
  return Done{};
}

std::string DocumentView::why_not_frozen() const {
  const Graph& read = whole().passes.input;
  if (auto fits = check_stage(Stage::freezing, read); !fits) return fits.diagnostics()[0].message;
  return weights_of(read).empty() ? "the graph has no weights: parameters or constants" : "";
}

const Graph& ShownGraph::graph() const { return graph_after(document->passes, pass); }

ShownGraph shown_graph(const DocumentView& document) {
  return {document.document, document.pass, document.shown};
}

std::int64_t DocumentView::peak_bound() const {
  if (curve && curve->report.peak_bound_bytes > 0) return curve->report.peak_bound_bytes;
  if (shown && shown->report().proof) return shown->report().proof->peak_bound_bytes;
  return 0;
}

BudgetAnswer DocumentView::budget_answer() const {
  if (holds()) return BudgetAnswer::held;
  const bool answered = shown && shown->request.budget == request_of(plan_settings).budget;
  return answered || plan_settings.budget_bytes < peak_bound() ? BudgetAnswer::refused
                                                               : BudgetAnswer::open;
}

// The window's own guesses at a budget are no change by the user.
void DocumentView::note_answer() {
  if (!shown || shown == answered.plan || shown != known.made_for(request_of(plan_settings).budget))
    return;
  before = chose_budget || !answered.plan_settings.same_problem(plan_settings) ? answered
                                                                               : AnsweredPlan();
  answered = {shown, plan_settings};
}

std::int64_t DocumentView::least_peak() const {
  const SharedPlanView lowest = known.lowest();
  std::int64_t least = lowest ? lowest->peak() : 0;
  if (curve && !curve->report.points.empty()) {
    const std::int64_t of_curve = curve->report.points.front().peak_bytes;
    least = least == 0 ? of_curve : std::min(least, of_curve);
  }
  return least;
}

NodeId DocumentView::find(const std::string& node_name) const {
  return document ? graph().find(node_name) : NodeId();
}

std::string DocumentView::selected_name() const {
  if (!document || !selection.node.valid()) return {};
  for (const Graph* shown_first : {&graph_at_pass(), &graph()})
    if (shown_first->contains(selection.node)) return shown_first->node_name(selection.node);
  return {};
}

NodeId DocumentView::planned_selection() const {
  if (!document || graph().contains(selection.node)) return selection.node;
  return trace_node(document->passes, selection.node, pass, document->passes.passes.size());
}

Result<std::int64_t> read_budget(const std::string& text, const DocumentView& document) {
  if (!document.basis) return error("the graph isn't there yet");
  const auto budget = parse_budget(text, "peak", document.basis->baseline_cost.peak_bytes);
  if (!budget) return budget.diagnostics();
  const auto* bytes = std::get_if<PeakBytes>(&*budget);
  return bytes != nullptr ? bytes->value : std::int64_t{0};
}

Result<double> read_effort(std::string_view text) {
  const std::string whole(text);
  char* end = nullptr;
  const double effort = std::strtod(whole.c_str(), &end);
  if (whole.empty() || *end != '\0' || !(effort >= kMinEffort && effort <= kMaxEffort))
    return error(
        fmt::format("the effort is {}, expected {} to {}", quote(whole), kMinEffort, kMaxEffort));
  return effort;
}

Result<std::vector<std::string>> with_torch_setting(const std::vector<std::string>& settings,
                                                    std::string_view setting) {
  const std::string_view name = setting.substr(0, setting.find('='));
  std::vector<std::string> changed;
  for (const std::string& known : settings)
    if (known.substr(0, known.find('=')) != name) changed.push_back(known);
  if (name.size() + 1 != setting.size()) changed.emplace_back(setting);
  const auto options = read_torch_options(changed);
  if (!options) return options.diagnostics();
  return write_torch_options(*options);
}

PlanningRequest request_of(const PlanSettings& plan_settings) {
  PlanningRequest request;
  request.budget =
      plan_settings.budget_bytes == 0 ? "none" : fmt::format("{}", plan_settings.budget_bytes);
  request.device = plan_settings.device;
  request.cost_model = plan_settings.cost_model;
  request.limits.effort = plan_settings.effort;
  request.overrides = plan_settings.overrides;
  return request;
}

CurveRequest curve_request_of(const PlanSettings& plan_settings) {
  CurveRequest request;
  request.device = plan_settings.device;
  request.cost_model = plan_settings.cost_model;
  request.effort = plan_settings.effort;
  request.overrides = plan_settings.overrides;
  request.torch = plan_settings.torch;
  return request;
}

}  // namespace recut::gui
