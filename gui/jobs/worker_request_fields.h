// The contents of worker requests and their replies, field by field.
#pragma once

#include "engine/workspace/curve.h"
#include "engine/workspace/executor.h"
#include "engine/workspace/mesh_comparison.h"
#include "engine/workspace/planning.h"
#include "engine/workspace/scheduling.h"
#include "gui/jobs/pack.h"
#include "gui/jobs/plan_check.h"
#include "gui/jobs/training_session.h"
#include "gui/model/transform_settings.h"

namespace recut::gui {

// The reply to a planning request; the rest follows from the plan.
struct FoundPlan {
  Plan plan;
  PlanFindings findings;
};

template <class Pack>
void fields(Pack& pack, Plan& p) {
  pack(p.forward, p.saved, p.backward);
}
template <class Pack>
void fields(Pack& pack, RuleFile& r) {
  pack(r.path, r.text);
}
template <class Pack>
void fields(Pack& pack, OptimizerSettings& o) {
  pack(o.name, o.learning_rate);
}
template <class Pack>
void fields(Pack& pack, MeshSettings& m) {
  pack(m.axes, m.preset);
}
template <class Pack>
void fields(Pack& pack, TransformSettings& r) {
  pack(r.differentiate, r.optimizer, r.freeze, r.stages, r.on, r.off, r.rules, r.dimensions,
       r.graph, r.mesh);
}
template <class Pack>
void fields(Pack& pack, OverrideRequest& c) {
  pack(c.save, c.recompute, c.ignore_checkpoints);
}
template <class Pack>
void fields(Pack& pack, PlanningRequest& r) {
  pack(r.strategy, r.budget, r.limits.effort, r.limits.seconds, r.limits.seed, r.device,
       r.cost_model, r.overrides, r.torch);
}
template <class Pack>
void fields(Pack& pack, PeakProof& p) {
  pack(p.holds, p.min_peak_bytes, p.peak_bound_bytes, p.recompute_bound_us, p.optimal,
       p.short_search);
}
template <class Pack>
void fields(Pack& pack, OverrideBlame& b) {
  pack(b.feasible_without, b.sufficient);
}
template <class Pack>
void fields(Pack& pack, PlanFindings& f) {
  pack(f.fusion, f.budget_bytes, f.solve_ms, f.proof, f.remarks, f.overrides, f.blame,
       f.arena_bytes);
}
template <class Pack>
void fields(Pack& pack, FoundPlan& f) {
  pack(f.plan, f.findings);
}

template <class Pack>
void fields(Pack& pack, MeshComparisonRequest& r) {
  pack(r.devices, r.memory_bytes, r.planning);
}
template <class Pack>
void fields(Pack& pack, MeshRow& r) {
  pack(r.mesh, r.preset, r.input_bytes, r.peak_bytes, r.sent_bytes, r.step_micros,
       r.recompute_micros, r.holds);
}
template <class Pack>
void fields(Pack& pack, MeshComparison& c) {
  pack(c.devices, c.memory_bytes, c.device, c.rows);
}

template <class Pack>
void fields(Pack& pack, CurveRequest& r) {
  pack(r.points, r.effort, r.seed, r.device, r.cost_model, r.overrides, r.torch);
}
template <class Pack>
void fields(Pack& pack, CurvePoint& p) {
  pack(p.fusion, p.budget_bytes, p.peak_bytes, p.saved_bytes, p.step_us, p.recompute_us,
       p.recomputed_runs, p.recompute_bound_us, p.optimal, p.solve_ms, p.fraction);
}
template <class Pack>
void fields(Pack& pack, CurveReport& r) {
  pack(r.model, r.graph_key, r.nodes, r.points, r.torch, r.torch_recorded, r.torch_settings,
       r.peak_bound_bytes, r.baseline_peak_bytes, r.baseline_step_us, r.once_us, r.solve_ms,
       r.first_ms, r.complete);
}
template <class Pack>
void fields(Pack& pack, Curve& c) {
  pack(c.report, c.plans);
}

// A scheduling request, and its reply.
struct ScheduleRequest {
  Plan plan;
  Fusion fusion = Fusion::none;
  std::vector<NodeId> apart;
  std::int64_t budget_bytes = 0;
};
template <class Pack>
void fields(Pack& pack, ScheduleRequest& o) {
  pack(o.plan, o.fusion, o.apart, o.budget_bytes);
}
template <class Pack>
void fields(Pack& pack, ScheduledKernel& k) {
  pack(k.calls, k.first_step, k.phase, k.again, k.launches);
}
template <class Pack>
void fields(Pack& pack, Buffer& b) {
  pack(b.storage, b.owner, b.bytes, b.first_kernel, b.last_kernel, b.kind, b.workspace, b.offset,
       b.in_place_of);
}
template <class Pack>
void fields(Pack& pack, Schedule& s) {
  pack(s.kernels, s.buffers, s.alignment, s.peak_bytes, s.arena_bytes, s.lower_bound_bytes);
}

// A request to run steps, and its reply: with the schedule, if it had to be made.
struct RunTask {
  ScheduleRequest plan;
  std::optional<Schedule> schedule;
  StepRunOptions order;
};
struct StepResult {
  std::optional<Schedule> schedule;
  StepMeasurement figures;
};
template <class Pack>
void fields(Pack& pack, StepRunOptions& o) {
  pack(o.seed, o.steps, o.check);
}
template <class Pack>
void fields(Pack& pack, RunTask& t) {
  pack(t.plan, t.schedule, t.order);
}
template <class Pack>
void fields(Pack& pack, OutputAgreement& a) {
  pack(a.outputs, a.by_rounding, a.max_relative_error, a.problem, a.ill_conditioned, a.no_f64);
}
template <class Pack>
void fields(Pack& pack, StepMeasurement& f) {
  pack(f.program, f.where, f.steps, f.compile_ms, f.step_ms_median, f.step_ms_min,
       f.planned_peak_bytes, f.measured_peak_bytes, f.scratch_bytes, f.packed_bytes, f.library,
       f.taken_bytes, f.kernel_ms, f.agreement);
}
template <class Pack>
void fields(Pack& pack, StepResult& r) {
  pack(r.schedule, r.figures);
}

// A request to train a stretch of steps, and its reply: with the schedule, if it had to be made.
struct TrainTask {
  int number = 0;          // of the training; never used twice for a file
  std::int64_t first = 0;  // the step that it has come to
  ScheduleRequest plan;
  std::optional<Schedule> schedule;
  TrainingOrder order;
};
struct StepsResult {
  std::optional<Schedule> schedule;
  TrainingFigures figures;
};
template <class Pack>
void fields(Pack& pack, TrainingOrder& o) {
  pack(o.seed, o.steps, o.seconds);
}
template <class Pack>
void fields(Pack& pack, TrainTask& t) {
  pack(t.number, t.first, t.plan, t.schedule, t.order);
}
template <class Pack>
void fields(Pack& pack, TrainingFigures& f) {
  pack(f.where, f.first, f.losses, f.step_ms, f.compile_ms, f.planned_peak_bytes,
       f.measured_peak_bytes);
}
template <class Pack>
void fields(Pack& pack, StepsResult& s) {
  pack(s.schedule, s.figures);
}

// A file of tensors travels with its bytes.
inline void fields(Packer& pack, PlanCheck& c) {
  pack(c.plan, c.tensors ? std::optional(*c.tensors) : std::nullopt, c.tensors_name, c.seed);
}
inline void fields(Unpacker& unpack, PlanCheck& c) {
  std::optional<std::string> tensors;
  unpack(c.plan, tensors, c.tensors_name, c.seed);
  if (tensors) c.tensors = std::make_shared<const std::string>(std::move(*tensors));
}
template <class Pack>
void fields(Pack& pack, recut::Comparison::Element& e) {
  pack(e.index, e.found, e.expected);
}
template <class Pack>
void fields(Pack& pack, recut::Comparison& c) {
  pack(c.elements, c.error, c.bound, c.relative_error, c.ok, c.problem, c.worst);
}
template <class Pack>
void fields(Pack& pack, OutputComparison& o) {
  pack(o.position, o.name, o.gradient, o.comparison, o.unchecked);
}
template <class Pack>
void fields(Pack& pack, CheckFigures& f) {
  pack(f.inputs, f.expected, f.given, f.outputs, f.measured_peak_bytes, f.seconds);
}

}  // namespace recut::gui
