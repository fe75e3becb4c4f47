// The state of the window by name, as text for the expectations of scripts and tests. A new one is
// a row here.
#include <fmt/format.h>

#include "engine/passes/stages.h"
#include "engine/support/units.h"
#include "gui/app/app.h"
#include "gui/app/code_view.h"
#include "gui/app/compare_view.h"
#include "gui/app/debug_view.h"
#include "gui/app/flow_view.h"
#include "gui/app/measured_view.h"
#include "gui/app/meshes_view.h"
#include "gui/app/panes_view.h"
#include "gui/app/run_target.h"
#include "gui/app/run_view.h"
#include "gui/app/torch_plans.h"
#include "gui/app/train_view.h"
#include "gui/backend/paths.h"
#include "gui/model/offer.h"
#include "gui/model/plan_change.h"

namespace recut::gui {
namespace {

struct StateRow {
  std::string_view name;
  std::string (*value)(const App& app);
};

// The value of the document in front; "" if none is ready.
template <std::string (*value)(const DocumentView& document)>
std::string of_front(const App& app) {
  return app.has_ready() ? value(*app.document()) : std::string();
}

std::string yes_no(bool yes) { return yes ? "yes" : "no"; }

std::string budget(const DocumentView& d) {
  return d.plan_settings.budget_bytes == 0 ? "none"
                                           : fmt::format("{}", d.plan_settings.budget_bytes);
}
std::string peak(const DocumentView& d) {
  return d.shown ? fmt::format("{}", d.shown->peak()) : "";
}
std::string step(const DocumentView& d) {
  return d.shown ? format_micros(d.shown->report().step_us) : "";
}
std::string holds(const DocumentView& d) { return yes_no(d.holds()); }
std::string answer(const DocumentView& d) { return std::string(name_of(d.budget_answer())); }
std::string offer(const DocumentView& d) {
  const SharedPlanView plan = offered_plan(d);
  return plan ? offer_text(d, *plan) : "none";
}
std::string selection(const DocumentView& d) { return d.selected_name(); }
// The role that the plan gives to the selected value.
std::string role(const DocumentView& d) {
  const NodeId node = d.planned_selection();
  return d.shown && node.valid() ? std::string(name_of(d.shown->role(node))) : "";
}
std::string nodes(const DocumentView& d) { return fmt::format("{}", d.graph().order().size()); }
std::string pass(const DocumentView& d) { return fmt::format("{}", d.pass); }
std::string device(const DocumentView& d) { return d.plan_settings.device; }
std::string model(const DocumentView& d) { return d.plan_settings.cost_model; }
std::string effort(const DocumentView& d) { return fmt::format("{}", d.plan_settings.effort); }
std::string torch_settings(const DocumentView& d) {
  return fmt::format("{}", fmt::join(d.plan_settings.torch, " "));
}
std::string known(const DocumentView& d) { return fmt::format("{}", d.known.all().size()); }
std::string curve(const DocumentView& d) {
  if (!d.curve) return "none";
  return d.curve->report.complete ? "complete" : "partial";
}
std::string saved(const DocumentView& d) {
  return d.shown ? fmt::format("{}", d.shown->report().saved_bytes) : "";
}
std::string runs(const DocumentView& d) {
  return d.shown ? fmt::format("{}", d.shown->report().recomputed_runs) : "";
}
std::string flow(const DocumentView& d) {
  const FlowView* view = shown_flow(d);
  return view != nullptr ? view->description() : "";
}
// The text of the field that has the keyboard.
std::string typed_text(const App& app) {
  const Item* field = app.items.find(app.items.active_field);
  return field != nullptr ? field->value : "";
}
// True if the graph is drawn.
std::string graph_is_drawn(const App& app) {
  const Item* canvas = app.items.find("graph/canvas");
  return canvas != nullptr && canvas->visible() ? "yes" : "no";
}
// The snapshot's name and the peaks above the bytes before its step, measured and planned.
std::string snapshot(const DocumentView& d) {
  const auto* view = find_memory<MeasuredView>(d.memories, kMeasuredView);
  if (view == nullptr || view->path.empty()) return "none";
  const MemoryComparison* shown = shown_memory_comparison(d);
  if (shown == nullptr) return "comparing";
  return fmt::format("{} {} {}", file_name(view->path), shown->measured_rise(),
                     shown->planned_peak);
}
std::string lesson(const App& app) {
  const Lesson* now = app.lessons.lesson();
  return now != nullptr ? fmt::format("{} {}", now->name, app.lessons.at() + 1) : "";
}
std::string task(const App& app) {
  if (app.lessons.lesson() == nullptr) return "";
  if (!app.lessons.is_set()) return "coming";
  if (!app.lessons.is_ready()) return "open";
  return app.lessons.is_done() ? "done" : "none";
}
std::string overrides(const DocumentView& d) {
  std::string value;
  for (const auto& name : d.plan_settings.overrides.save) value += "save " + name + " ";
  for (const auto& name : d.plan_settings.overrides.recompute) value += "recompute " + name + " ";
  if (d.plan_settings.overrides.ignore_checkpoints) value += "ignore checkpoints ";
  if (!value.empty()) value.pop_back();
  return value;
}

// The transform settings that aren't the usual ones, such as "grad adam 0.001 +attention
// -merge_clones my.rules".
std::string transforms(const DocumentView& d) {
  const TransformSettings& r = d.plan_settings.transforms;
  std::string value;
  if (r.differentiate) value = r.differentiate == GradMode::forward ? "jvp " : "grad ";
  if (r.freeze) value += "freeze ";
  if (!r.stages.empty()) value += stages_text(r.stages) + " ";
  if (r.optimizer) value += fmt::format("{} {} ", r.optimizer->name, r.optimizer->learning_rate);
  for (const auto& name : r.on) value += "+" + name + " ";
  for (const auto& name : r.off) value += "-" + name + " ";
  if (r.rules) value += file_name(r.rules->path) + " ";
  if (!r.graph.empty()) value += "graph=" + r.graph + " ";
  if (!r.dimensions.empty()) value += write_dimensions(r.dimensions) + " ";
  if (r.mesh) value += "mesh " + write_mesh(*r.mesh) + " ";
  if (!value.empty()) value.pop_back();
  return value;
}
// The mesh of the shown graph, and the bytes that a rank of it sends.
std::string mesh(const DocumentView& d) { return d.mesh ? write_mesh(d.mesh->settings) : "none"; }
std::string mesh_sent(const DocumentView& d) {
  return d.mesh ? fmt::format("{}", d.mesh->sent_bytes()) : "";
}
std::string meshes(const DocumentView& d) {
  const auto* view = find_memory<MeshesView>(d.memories, kMeshesMemory);
  if (view == nullptr || !view->found) return "none";
  return fmt::format("{}", view->found->comparison.rows.size());
}
std::string pass_name(const DocumentView& d) {
  return d.pass == 0 ? "as read" : d.document->passes.passes[d.pass - 1].name;
}
// The reason why the document in front couldn't be opened.
std::string fault(const App& app) {
  const DocumentView* front = app.document();
  return front != nullptr ? format(front->fault.diagnostics) : "";
}
std::string faults(const DocumentView& d) { return format(d.transform_faults); }

std::string baseline(const DocumentView& d) { return d.baseline.plan ? d.baseline.title : "none"; }
std::string equal_peak(const DocumentView& d) {
  const auto* view = find_memory<CompareView>(d.memories, kCompareMemory);
  const auto fraction = view != nullptr ? compared_torch(d, *view) : std::nullopt;
  const SharedPlanView torch = fraction ? torch_plan(d, *fraction) : nullptr;
  return torch ? equal_peak_text(d, *torch) : "";
}
// The outcome of the last change of plan settings.
std::string change(const DocumentView& d) {
  const bool of_shown = d.change && d.change->after == d.shown;
  return of_shown ? d.change->cause + ": " + d.change->outcome : "";
}
std::string panes(const DocumentView& d) { return yes_no(has_panes(d)); }
std::string selection_there(const DocumentView& d) {
  const PanesView* view = find_panes_view(d);
  const NodeId node = view != nullptr ? selected_there(*view, d) : NodeId();
  return node.valid() ? view->comparison->there.shown.graph().node_name(node) : "";
}
// The position among the differences: "3 of 41", "41", "" while nothing is compared.
std::string difference(const DocumentView& d) {
  const PanesView* view = find_panes_view(d);
  if (view == nullptr || !view->comparison) return "";
  const auto step = selected_step(*view, d);
  const std::size_t all = view->comparison->steps.size();
  return step ? fmt::format("{} of {}", *step + 1, all) : fmt::format("{}", all);
}

std::string kernels(const DocumentView& d) {
  const SharedSchedule schedule = shown_schedule(d);
  return schedule ? fmt::format("{}", schedule->launches.size()) : "";
}
std::string arena(const DocumentView& d) {
  const SharedSchedule schedule = shown_schedule(d);
  return schedule ? fmt::format("{}", schedule->schedule.arena_bytes) : "";
}
const CodeView* code_of(const DocumentView& d) {
  const auto* view = find_memory<CodeView>(d.memories, kCodeMemory);
  return view != nullptr && view->of != nullptr ? view : nullptr;
}
std::string kernel(const DocumentView& d) {
  const CodeView* view = code_of(d);
  return view != nullptr ? fmt::format("{} {}", view->kernel, view->of->name(view->kernel)) : "";
}
// The line that one is at.
std::string code_line(const DocumentView& d) {
  const CodeView* view = code_of(d);
  const bool there = view != nullptr && view->text && view->line < view->text->lines.size();
  return there ? view->text->lines[view->line].text : "";
}

std::string run_state(const App& app) {
  if (!app.has_ready()) return "";
  const auto* view = find_memory<RunView>(app.document()->memories, kRunMemory);
  if (view == nullptr) return "none";
  if (app.jobs.is_alive(view->job)) return "running";
  if (!view->faults.empty()) return "failed";
  return shown_run(*app.document()) ? "done" : "none";
}
std::string run_agrees(const DocumentView& d) {
  const SharedRun run = shown_run(d);
  if (!run || !run->agreement) return "";
  return run->agreement->agrees() ? "yes" : "no";
}
std::string bundle(const DocumentView& d) {
  const auto* view = find_memory<DebugView>(d.memories, kDebugMemory);
  return view == nullptr ? "" : view->written;
}
std::string run_fault(const DocumentView& d) {
  const auto* view = find_memory<RunView>(d.memories, kRunMemory);
  return view == nullptr ? "" : format(view->faults);
}
std::string run_where(const DocumentView& d) {
  const SharedRun run = shown_run(d);
  return run ? run->where : "";
}
std::string run_program(const DocumentView& d) {
  const SharedRun run = shown_run(d);
  return run ? run->program : "";
}
template <double StepMeasurement::*kMember>
std::string run_ms(const DocumentView& d) {
  const SharedRun run = shown_run(d);
  return run ? fmt::format("{:.3f}", (*run).*kMember) : "";
}
std::string measured_peak(const DocumentView& d) {
  const SharedRun run = shown_run(d);
  return run ? fmt::format("{}", run->measured_peak_bytes) : "";
}
std::string run_peak(const DocumentView& d) {
  const SharedRun run = shown_run(d);
  return run ? fmt::format("{}", run->planned_peak_bytes) : "";
}

// The state of the training: "none", "running", "failed", "done".
std::string training(const App& app) {
  if (!app.has_ready()) return "";
  const DocumentView& d = *app.document();
  const TrainView* view = shown_training(d);
  if (view == nullptr) return "none";
  if (is_training(app, d)) return "running";
  return view->faults.empty() ? "done" : "failed";
}
std::string training_steps(const DocumentView& d) {
  const TrainView* view = shown_training(d);
  return view != nullptr ? fmt::format("{}", view->steps()) : "";
}
template <bool kFirst>
std::string training_loss(const DocumentView& d) {
  const TrainView* view = shown_training(d);
  if (view == nullptr || view->losses.empty()) return "";
  return fmt::format("{}", kFirst ? view->losses.front() : view->losses.back());
}
// The losses of all steps, exact to the bit.
std::string training_losses(const DocumentView& d) {
  const TrainView* view = shown_training(d);
  return view != nullptr ? fmt::format("{}", fmt::join(view->losses, " ")) : "";
}
std::string training_where(const DocumentView& d) {
  const TrainView* view = shown_training(d);
  return view != nullptr ? view->latest.where : "";
}
template <std::int64_t PlanStretch::*kPeak>
std::string training_peak(const DocumentView& d) {
  const TrainView* view = shown_training(d);
  const bool any = view != nullptr && !view->stretches.empty();
  return any ? fmt::format("{}", view->stretches.back().*kPeak) : "";
}
std::string training_plans(const DocumentView& d) {
  const TrainView* view = shown_training(d);
  return view != nullptr ? fmt::format("{}", view->stretches.size()) : "";
}
std::string training_fault(const DocumentView& d) {
  const TrainView* view = shown_training(d);
  return view != nullptr ? format(view->faults) : "";
}

constexpr StateRow kStatesRows[] = {
    {"documents", [](const App& app) { return fmt::format("{}", app.documents.all().size()); }},
    {"document", [](const App& app) { return app.document() ? app.document()->title : ""; }},
    {"moment", [](const App& app) { return std::string(name_of(app.window_state())); }},
    {"fault", fault},
    {"theme", [](const App& app) { return std::string(app.is_dark() ? "dark" : "light"); }},
    {"scale", [](const App& app) { return fmt::format("{:g}", app.scale()); }},
    {"overlay", [](const App& app) { return app.overlay; }},
    {"focus", [](const App& app) { return app.focus; }},
    {"menu", [](const App& app) { return app.menu.id; }},
    {"typed", typed_text},
    {"drawn", graph_is_drawn},
    {"frames", [](const App& app) { return fmt::format("{}", app.frames()); }},
    {"clipboard", [](const App& app) { return app.backend.clipboard(); }},
    {"notice", [](const App& app) { return app.notices.empty() ? "" : app.notices.back().text; }},
    {"budget", of_front<budget>},
    {"peak", of_front<peak>},
    {"step", of_front<step>},
    {"holds", of_front<holds>},
    {"budget_answer", of_front<answer>},
    {"offer", of_front<offer>},
    {"selection", of_front<selection>},
    {"role", of_front<role>},
    {"nodes", of_front<nodes>},
    {"pass", of_front<pass>},
    {"pass_name", of_front<pass_name>},
    {"mesh", of_front<mesh>},
    {"mesh_sent", of_front<mesh_sent>},
    {"meshes", of_front<meshes>},
    {"recipe", of_front<transforms>},
    {"recipe_faults", of_front<faults>},
    {"device", of_front<device>},
    {"model", of_front<model>},
    {"effort", of_front<effort>},
    {"torch", of_front<torch_settings>},
    {"known_plans", of_front<known>},
    {"curve", of_front<curve>},
    {"pins", of_front<overrides>},
    {"baseline", of_front<baseline>},
    {"equal_peak", of_front<equal_peak>},
    {"change", of_front<change>},
    {"panes", of_front<panes>},
    {"selection_there", of_front<selection_there>},
    {"difference", of_front<difference>},
    {"saved", of_front<saved>},
    {"runs", of_front<runs>},
    {"flow", of_front<flow>},
    {"kernels", of_front<kernels>},
    {"kernel", of_front<kernel>},
    {"code", [](const App& app) { return std::string(shown_target(app).id); }},
    {"code_line", of_front<code_line>},
    {"follow", [](const App& app) { return std::string(name_of_stop(follow_stop(app))); }},
    {"arena", of_front<arena>},
    {"run", run_state},
    {"run_on",
     [](const App& app) {
       const Executor* executor = chosen_executor(app);
       return executor != nullptr ? executor->id() : "";
     }},
    {"run_agrees", of_front<run_agrees>},
    {"bundle", of_front<bundle>},
    {"run_fault", of_front<run_fault>},
    {"run_where", of_front<run_where>},
    {"run_program", of_front<run_program>},
    {"run_ms", of_front<run_ms<&StepMeasurement::step_ms_median>>},
    {"compile_ms", of_front<run_ms<&StepMeasurement::compile_ms>>},
    {"run_peak", of_front<run_peak>},
    {"measured_peak", of_front<measured_peak>},
    {"training", training},
    {"training_steps", of_front<training_steps>},
    {"training_first_loss", of_front<training_loss<true>>},
    {"training_loss", of_front<training_loss<false>>},
    {"training_losses", of_front<training_losses>},
    {"training_where", of_front<training_where>},
    {"training_plans", of_front<training_plans>},
    {"training_planned_peak", of_front<training_peak<&PlanStretch::planned_peak_bytes>>},
    {"training_peak", of_front<training_peak<&PlanStretch::measured_peak_bytes>>},
    {"training_fault", of_front<training_fault>},
    {"snapshot", of_front<snapshot>},
    {"lesson", lesson},
    {"task", task},
};

}  // namespace

std::optional<std::string> App::state(std::string_view name) const {
  for (const StateRow& row : kStatesRows)
    if (row.name == name) return row.value(*this);
  // Settings are found by their own names.
  if (name.rfind("setting.", 0) == 0) return settings.text(name.substr(8));
  return std::nullopt;
}

}  // namespace recut::gui
