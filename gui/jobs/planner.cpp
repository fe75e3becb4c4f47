#include "gui/jobs/planner.h"

#include <fmt/core.h>

#include <algorithm>
#include <cstdlib>

#include "engine/support/text.h"
#include "gui/backend/paths.h"
#include "gui/jobs/reasons_job.h"
#include "gui/jobs/worker_requests.h"
#include "gui/model/offer.h"
#include "gui/model/opening_notices.h"
#include "gui/model/other_graph.h"
#include "gui/model/pass_steps.h"
#include "gui/model/plan_change.h"
#include "gui/model/samples.h"

namespace recut::gui {
namespace {

constexpr double kRest = 0.06;  // seconds that a budget rests before it is planned for
constexpr std::int64_t kPlannerMaxSteps = 1'500'000;  // of the curve's plans that are kept in whole
constexpr std::size_t kMaxQuietGraphs = 2;            // an export has the joint graph twice
constexpr double kFirstBudget = 0.5;  // of the peak without recomputation, for a new document

// The known bytes, or else the file's.
Result<std::shared_ptr<const std::string>> bytes_of_file(
    Backend& backend, const std::string& path, std::shared_ptr<const std::string> in_hand) {
  if (in_hand) return in_hand;
  auto read = backend.read(path);
  if (!read) return read.diagnostics();
  return std::make_shared<const std::string>(std::move(*read));
}

}  // namespace

void Planner::post(JobControl& control, int serial, OnDocument message) const {
  control.post([this, serial, message = std::move(message)] {
    if (DocumentView* document = callbacks_.find(serial)) message(*document);
  });
}

// True if the document's bytes and the reader of its format are loaded; requests both if not.
bool Planner::can_open(const DocumentView& document) const {
  const bool reader = backend_.has_reader(document.path);
  return (document.bytes || backend_.can_read(document.path)) && reader;
}

void Planner::open(DocumentView& document) {
  document.state = DocumentState::opening;
  document.fault = {};
  const bool sample = is_sample(document.path);
  if (sample && !document.bytes) {
    const std::string name = sample_name(document.path);
    if (!has_sample(backend_, name))
      return take_fault(document,
                        OpeningFault{{no_sample(backend_, name)}, {std::nullopt}, {}, {}});
    document.bytes = embedded_sample(backend_, name);
  }
  if (!document.bytes && backend_.has_to_be_given(document.path)) {
    document.state = DocumentState::waiting;
    return;
  }
  document.awaited = !can_open(document);
  if (document.awaited) return;  // tick() looks again
  start_opening(document, fmt::format("Opening {}", file_name(document.path)));
}

void Planner::start_opening(DocumentView& document, std::string title) {
  struct Work {
    std::shared_ptr<const std::string> bytes;
    std::optional<Opening> opening;
  };
  auto work = std::make_shared<Work>();
  work->bytes = document.bytes;
  Job job{std::move(title), document.serial, true, false, {}};
  job.part = [this, work, serial = document.serial, path = document.path,
              plan_settings = document.plan_settings](JobControl& control) {
    const auto fail = [&](Diagnostics faults) {
      post_fault(control, serial,
                 explain_fault(backend_, path, work->bytes.get(), std::move(faults)));
      return false;
    };
    if (!work->opening) {
      const auto read = bytes_of_file(backend_, path, work->bytes);
      if (!read) return fail(read.diagnostics());
      work->bytes = *read;
      work->opening.emplace(backend_, path, *read, plan_settings);
      return true;
    }
    if (work->opening->step()) return true;
    auto opened = work->opening->take();
    if (!opened) return fail(opened.diagnostics());
    post_opened(control, serial, std::move(*opened));
    return false;
  };
  document.opening = jobs_.start(std::move(job));
}

void Planner::post_opened(JobControl& control, int serial, Opening::Opened opened) {
  post(control, serial, [this, opened = std::move(opened)](DocumentView& document) {
    take_opened(document, opened);
  });
}

void Planner::post_fault(JobControl& control, int serial, OpeningFault fault) const {
  post(control, serial,
       [this, fault = std::move(fault)](DocumentView& document) { take_fault(document, fault); });
}

// Handles new transform settings that fail: the former graph stays.
void Planner::take_fault(DocumentView& document, OpeningFault fault) const {
  if (document.is_ready()) {
    callbacks_.say(format(fault.diagnostics.front()), true);
    document.transform_faults = std::move(fault.diagnostics);
    document.plan_settings.transforms = document.applied_transforms;
    return;
  }
  document.state = DocumentState::failed;
  document.fault = std::move(fault);
}

void Planner::take_opened(DocumentView& document, Opening::Opened result) {
  if (document.is_ready()) return take_transformed(document, std::move(result));
  document.bytes = result.bytes;
  document.document = result.document;
  document.mesh = result.mesh;
  document.basis = result.basis;
  document.start = result.start;
  document.applied_transforms = result.plan_settings.transforms;
  opened(document);
}

// Reads the graph again from the file's bytes, since jobs may still read the old one.
void Planner::transform(DocumentView& document) {
  jobs_.cancel(document.opening);
  if (document.plan_settings.transforms == document.applied_transforms) return;
  start_opening(document, fmt::format("Transforming {}", document.title));
}

// Drops all facts about the former graph. Names stay: the selection, and the pass that came.
void Planner::take_transformed(DocumentView& document, Opening::Opened opened) {
  if (!opened.plan_settings.same_problem(document.plan_settings)) {  // they changed meanwhile
    if (!(document.plan_settings.transforms == document.applied_transforms))
      start_opening(document, fmt::format("Transforming {}", document.title));
    return;
  }
  const std::string lost = move_to_graph(document, *opened.document, [&] {
    jobs_.cancel_owned_by(document.serial);
    document.document = opened.document;
    document.mesh = opened.mesh;
    document.basis = opened.basis;
    document.start = opened.start;
    document.applied_transforms = opened.plan_settings.transforms;
  });
  if (!lost.empty()) callbacks_.say(lost, true);
  if (const std::string frozen = frozen_notice(document); !frozen.empty())
    callbacks_.say(frozen, false);
  begin_planning(document);
}

// Shows the graph and node that were requested before they were there.
void Planner::show_pending(DocumentView& document) const {
  if (document.pending_pass) show_pass(document, *document.pending_pass);
  if (document.pending_selection.empty()) return;
  const NodeId here = document.graph_at_pass().find(document.pending_selection);
  const NodeId planned = document.find(document.pending_selection);
  if (here.valid()) {
    select_in_pass(document, here, document.pass);
  } else if (planned.valid()) {
    select_in_pass(document, planned, document.document->passes.passes.size());
  } else {
    callbacks_.say("This graph has no node " + quote(document.pending_selection), true);
  }
}

void Planner::opened(DocumentView& document) {
  document.state = DocumentState::ready;
  document.title = document.start->report().model;
  document.pass = document.document->passes.passes.size();
  show_pending(document);
  PlanSettings usual;
  // These settings say nothing of the budget.
  usual.transforms = document.plan_settings.transforms;
  usual.effort = document.plan_settings.effort;
  usual.torch = document.plan_settings.torch;
  document.chose_budget |= !(document.plan_settings == usual);
  if (!document.chose_budget && usual.transforms.graph.empty() &&
      document.document->file.graph_keys.size() > kMaxQuietGraphs)
    callbacks_.choose_graph(document);
  for (const std::string& notice : opening_notices(document)) callbacks_.say(notice, false);
  begin_planning(document);
}

void Planner::begin_planning(DocumentView& document) {
  document.guessed_again = false;
  // Inference mostly fits: its budget is the user's to choose.
  const double share = document.has_backward() ? kFirstBudget : 0;
  if (!document.chose_budget)
    document.plan_settings.budget_bytes = static_cast<std::int64_t>(
        share * static_cast<double>(document.basis->baseline_cost.peak_bytes));
  new_problem(document);
}

// The built-in trade-off of exactly this graph and problem; null if there is none.
std::shared_ptr<const Curve> Planner::prepared(const DocumentView& document) const {
  if (!is_sample(document.path) || !document.plan_settings.same_problem(PlanSettings()))
    return nullptr;
  const auto curve = prepared_curve(backend_, sample_name(document.path));
  if (!curve) return nullptr;
  const bool same = curve->report.nodes == document.start->report().nodes &&
                    curve->report.baseline_peak_bytes == document.basis->baseline_cost.peak_bytes;
  return same ? curve : nullptr;
}

// Drops the plans of another problem; the shown one stays until there is a new one.
void Planner::new_problem(DocumentView& document) {
  for (const JobId job : {document.sweeping, document.planning, document.viewing,
                          document.reasoning, document.weighing})
    jobs_.cancel(job);
  document.known.clear();
  document.curve = prepared(document);
  const bool overridden = has_overrides(document.graph(), document.plan_settings.overrides);
  if (!overridden && document.start) document.known.add_made(document.start);
  if (!document.shown) show_best(document);
  sweep(document);
  if (document.plan_settings.budget_bytes != 0 || overridden) plan(document);
}

void Planner::plan_settings_changed(DocumentView& document, const PlanSettings& before) {
  const bool other_graph = !(document.plan_settings.transforms == before.transforms);
  if (!document.is_ready() && other_graph) {
    jobs_.cancel(document.opening);
    return open(document);
  }
  if (!document.is_ready()) return;
  if (other_graph) return transform(document);
  if (document.plan_settings.same_problem(before)) {
    show_best(document);
    document.plan_due = backend_.now() + kRest;
    return;
  }
  if (document.plan_settings.device == before.device &&
      document.plan_settings.cost_model == before.cost_model)
    return new_problem(document);
  // Another device or cost model: everything is planned again, from the known bytes.
  auto basis = plan_basis(document.document, document.plan_settings.device,
                          document.plan_settings.cost_model);
  if (!basis) {
    callbacks_.say(format(basis.diagnostics().front()), true);
    document.plan_settings = before;
    return;
  }
  // The baseline step is planned again as well, as the calls of a kernel have to run together.
  auto start = make_plan_view(*basis, plain_step(document.plan_settings));
  if (!start) {
    callbacks_.say(format(start.diagnostics().front()), true);
    document.plan_settings = before;
    return;
  }
  document.basis = std::make_shared<const PlanBasis>(std::move(*basis));
  document.start = std::move(*start);
  document.shown = nullptr;
  new_problem(document);
}

void Planner::show_best(DocumentView& document) const {
  SharedPlanView best = document.known.made_for(request_of(document.plan_settings).budget);
  if (!best) best = document.known.best_within(document.plan_settings.budget_bytes);
  if (!best) best = document.known.lowest();
  if (best && best != document.shown) {
    document.shown = best;
    document.reasons = nullptr;
  }
  document.note_answer();
}

void Planner::tick(DocumentView& document) {
  if (document.awaited && can_open(document)) return open(document);
  if (document.plan_due < 0) {
    give_reasons(document);
    weigh(document);
    return schedule_at_leisure(document);
  }
  if (backend_.now() < document.plan_due) return;
  document.plan_due = -1;
  plan(document);
}

Planner::OnDocument Planner::known_plan(SharedPlanView plan) const {
  return [this, plan = std::move(plan)](DocumentView& document) {
    document.known.add(plan);
    show_best(document);
  };
}

// Replaces a first budget that can't be held by one that can: halfway down to the least peak.
void Planner::guess_again(DocumentView& document, const PlanView& plan) {
  if (document.chose_budget || document.guessed_again || document.holds()) return;
  document.guessed_again = true;
  document.plan_settings.budget_bytes = (plan.peak() + document.start->peak()) / 2;
  show_best(document);
  this->plan(document);
}

// Plans for the budget itself, and ends the search for another budget.
void Planner::plan(DocumentView& document) {
  jobs_.cancel(document.planning);
  const PlanningRequest request = request_of(document.plan_settings);
  if (document.known.made_for(request.budget)) return;
  const auto take = [this, serial = document.serial](JobControl& control,
                                                     Result<SharedPlanView> plan) {
    post(control, serial, [this, plan = std::move(plan)](DocumentView& document) {
      if (!plan) return callbacks_.say(format(plan.diagnostics().front()), true);
      if (!(*plan)->report().holds()) document.refused = *plan;
      document.known.add_made(*plan);
      show_best(document);
      guess_again(document, **plan);
    });
  };
  Job job = planning_job(fmt::format("Planning {}", document.title), helper_file(document),
                         document.basis, request, take);
  document.planning = jobs_.start(std::move(job));
}

// The curve's plans come from one search for all budgets. If one of them beats the plan made for
// the budget, its own budget is planned for and offered; once for each shown plan.
void Planner::weigh(DocumentView& document) {
  if (document.shown == document.weighed || !document.curve || !document.curve->report.complete)
    return;
  for (const JobId job : {document.planning, document.viewing, document.weighing})
    if (jobs_.is_alive(job)) return;
  document.weighed = document.shown;
  const SharedPlanView promising = promising_plan(document);
  if (!promising) return;
  const auto take = [this, serial = document.serial](JobControl& control,
                                                     Result<SharedPlanView> plan) {
    if (plan)
      post(control, serial, [this, plan = *plan](DocumentView& document) {
        if (!document.known.made_for(plan->request.budget)) document.known.add_made(plan);
        show_best(document);
      });
  };
  Job job = planning_job(fmt::format("Weighing plans of {}", document.title), helper_file(document),
                         document.basis, promising->request, take);
  job.urgent = false;
  job.quiet = true;
  document.weighing = jobs_.start(std::move(job));
}

void Planner::sweep(DocumentView& document) {
  jobs_.cancel(document.sweeping);
  document.weighed = nullptr;
  CurveRequest request = curve_request_of(document.plan_settings);
  if (!backend_.has_threads() && !jobs_.helped()) {  // the frame waits for it: a coarse curve
    request.points = 16;
    request.effort *= 0.2;
  }
  const auto take = [this, serial = document.serial](JobControl& control, Result<Curve> curve) {
    if (!curve)
      return post(control, serial, [this, faults = curve.diagnostics()](DocumentView&) {
        callbacks_.say(format(faults.front()), true);
      });
    if (!curve->report.complete)
      control.progress(-1, fmt::format("{} points", curve->report.points.size()));
    post(control, serial,
         [this, curve = std::make_shared<const Curve>(std::move(*curve))](DocumentView& document) {
           // The file's curve has no plans, but is better than an incomplete one.
           const bool came_along = document.curve && document.curve->plans.empty();
           if (!came_along || curve->report.complete) document.curve = curve;
           view_points(document, curve);
         });
  };
  Job job = sweeping_job(fmt::format("Trade-off of {}", document.title), helper_file(document),
                         document.document, request, take);
  document.sweeping = jobs_.start(std::move(job));
}

// Makes views of the curve's plans, those nearest to the budget first, ready for a drag.
void Planner::view_points(DocumentView& document, std::shared_ptr<const Curve> curve) {
  jobs_.cancel(document.viewing);
  struct Work {
    std::shared_ptr<const Curve> curve;
    std::vector<std::size_t> points;  // to look at, the next one last
  };
  auto work = std::make_shared<Work>();
  work->curve = std::move(curve);
  const auto& points = work->curve->report.points;
  const auto steps = static_cast<std::int64_t>(document.graph().order().size() * points.size());
  const auto stride = static_cast<std::size_t>(1 + steps / kPlannerMaxSteps);
  for (std::size_t i = 0; i < points.size(); i += stride) {
    const SharedPlanView have = document.known.best_within(points[i].peak_bytes);
    if (!have || have->report().step_us > points[i].step_us) work->points.push_back(i);
  }
  const std::int64_t budget = document.plan_settings.budget_bytes;
  std::stable_sort(work->points.begin(), work->points.end(), [&](std::size_t a, std::size_t b) {
    return std::abs(points[a].peak_bytes - budget) > std::abs(points[b].peak_bytes - budget);
  });
  Job job{"Looking at plans", document.serial, true, true, {}};
  job.part = [this, work, serial = document.serial, basis = document.basis,
              request = request_of(document.plan_settings)](JobControl& control) {
    if (work->points.empty()) return false;
    const std::size_t point = work->points.back();
    work->points.pop_back();
    PlanningRequest mine = request;
    const CurvePoint& shown = work->curve->report.points[point];
    mine.budget = fmt::format("{}", shown.budget_bytes);
    PlanFindings findings;
    findings.fusion = shown.fusion;
    post(control, serial,
         known_plan(view_of_plan(*basis, mine, work->curve->plans[point], findings)));
    return !work->points.empty();
  };
  document.viewing = jobs_.start(std::move(job));
}

// An override with another result is reported at once, as the user doesn't expect it.
void Planner::take_change(DocumentView& document,
                          const std::shared_ptr<const PlanChange>& change) const {
  const bool known = document.change && document.change->after == change->after;
  document.change = change;
  const std::string remarks =
      known ? std::string() : override_remarks(*change, document.before, document.answered);
  if (!remarks.empty()) callbacks_.say(remarks, false);
}

void Planner::give_reasons(DocumentView& document) {
  if (document.reasons || !document.shown || jobs_.is_alive(document.reasoning)) return;
  const bool answers = document.answered.plan == document.shown && document.before.plan;
  const auto take = [this, serial = document.serial, shown = document.shown](JobControl& control,
                                                                             FoundReasons found) {
    post(control, serial, [this, shown, found = std::move(found)](DocumentView& document) {
      if (document.shown != shown) return;
      document.reasons = found.reasons;
      if (found.change) take_change(document, found.change);
    });
  };
  Job job = reasons_job(document.shown, answers ? document.before : AnsweredPlan(),
                        document.answered, take);
  job.owner = document.serial;
  document.reasoning = jobs_.start(std::move(job));
}

}  // namespace recut::gui
