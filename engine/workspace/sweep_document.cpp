#include "engine/workspace/sweep_document.h"

#include <algorithm>
#include <chrono>

#include "engine/ir/data_flow.h"
#include "engine/partition/plan_from_saved.h"
#include "engine/partition/strategy.h"
#include "engine/support/clock.h"
#include "engine/workspace/budget_curve.h"

// Builds a curve in stages, and publishes each: a coarse curve, PyTorch's points, the minimum peak,
// the final points. The largest kernels serve all budgets that they can hold; below, a second curve
// with smaller kernels continues. PyTorch's points come from the file if it recorded any, else from
// strategy torch.

namespace recut {
namespace {

constexpr double kMaxUpdatesPerSecond = 8;  // each update replays new plans
constexpr double kTorchFractions[] = {1, 0.9, 0.75, 0.5, 0.35, 0.2, 0.1, 0};

PlanRequest torch_request(double fraction, const DeviceRates& rates, const TorchOptions& options) {
  PlanRequest request{"torch", SavedFraction{fraction}, rates};
  request.torch = options;
  return request;
}

class CurveBuilder {
 public:
  CurveBuilder(const Document& document, const CurveRequest& request, const CostModel& costs,
               const Overrides& overrides, const TorchOptions& torch)
      : document_(document),
        graph_(document.graph()),
        request_(request),
        costs_(costs),
        pins_(overrides),
        torch_(torch),
        began_(Clock::now()),
        larger_(graph_, request, costs, overrides) {}

  Curve make(const BaselineCost& baseline_cost) {
    describe(baseline_cost);
    larger_.coarse([&] { publish(); });
    curve_.report.first_ms = ms_since(began_);
    const Clock::time_point solved = Clock::now();
    add_torch();
    const double torch_ms = ms_since(solved);
    find_min_peak();
    refine();
    curve_.report.solve_ms = ms_since(began_) - torch_ms;
    const auto points = static_cast<double>(curve_.report.points.size());
    for (CurvePoint& point : curve_.report.points)
      point.solve_ms = curve_.report.solve_ms / std::max(1.0, points);
    curve_.report.complete = !cancelled();
    return std::move(curve_);
  }

 private:
  bool cancelled() const {
    return (request_.cancel != nullptr && request_.cancel->load()) ||
           (request_.stop && request_.stop());
  }

  void describe(const BaselineCost& baseline_cost) {
    CurveReport& report = curve_.report;
    report.model = document_.file.model.empty() ? graph_.name : document_.file.model;
    report.graph_key = document_.file.key;
    report.inference = !is_joint(graph_);
    report.nodes = static_cast<std::int64_t>(graph_.order().size());
    report.baseline_peak_bytes = baseline_cost.peak_bytes;
    report.baseline_step_us = baseline_cost.step_us;
    report.once_us = larger_.once_us();
    report.peak_bound_bytes = larger_.bound();
  }

  // Recorded partitions belong to the file's unchanged graph joint_after_passes, and to PyTorch's
  // usual options.
  void add_torch() {
    if (curve_.report.inference) return;
    const GraphFile& file = document_.file;
    if (file.key == "joint_after_passes" && document_.passes.passes.empty() &&
        torch_ == TorchOptions())
      for (const TorchPartition& partition : file.partitions)
        if (partition.budget && !partition.saved.empty())
          add_torch(plan_of(graph_, partition), *partition.budget, partition.seconds * 1e3);
    curve_.report.torch_recorded = !curve_.report.torch.empty();
    if (curve_.report.torch_recorded) return;
    curve_.report.torch_settings = write_torch_options(torch_);
    for (const double fraction : kTorchFractions) {
      if (cancelled()) return;
      const Clock::time_point began = Clock::now();
      const auto outcome = make_plan(graph_, torch_request(fraction, costs_.device.rates, torch_));
      if (outcome) add_torch(outcome->plan, fraction, ms_since(began));
    }
  }

  void add_torch(const Plan& plan, double fraction, double solve_ms) {
    auto point = larger_.measure_eager(plan);
    if (!point) return;  // a recorded partition may be invalid
    point->fraction = fraction;
    point->solve_ms = solve_ms;
    curve_.report.torch.push_back(*point);
  }

  // Smaller kernels are kept only if their minimum peak is lower.
  void find_min_peak() {
    larger_.find_min_peak();
    publish();
    const auto smaller = costs_.with_smaller_kernels();
    if (!smaller || cancelled()) return;
    smaller_.emplace(graph_, request_, *smaller, pins_);
    smaller_->find_min_peak();
    curve_.report.peak_bound_bytes = std::min(larger_.bound(), smaller_->bound());
    if (smaller_->min_peak() >= larger_.min_peak()) smaller_.reset();
  }

  void refine() {
    const std::int64_t min_peak = smaller_ ? smaller_->min_peak() : larger_.min_peak();
    const auto budgets = evenly_spaced_budgets(min_peak, larger_.max_peak(), request_.points);
    const auto first = std::lower_bound(budgets.begin(), budgets.end(), larger_.min_peak());
    const auto publish_if_due = [&] {
      if (ms_since(published_) * kMaxUpdatesPerSecond >= 1000) publish();
    };
    larger_.refine({first, budgets.end()}, publish_if_due);
    if (smaller_) smaller_->refine({budgets.begin(), first}, publish_if_due);
    take_points();
  }

  void publish() {
    if (!request_.on_curve) return;
    take_points();
    curve_.report.solve_ms = ms_since(began_);
    request_.on_curve(curve_);
    published_ = Clock::now();
  }

  void take_points() {
    curve_.report.points.clear();
    curve_.plans.clear();
    if (smaller_) smaller_->add_points(curve_);
    larger_.add_points(curve_);
  }

  const Document& document_;
  const Graph& graph_;
  const CurveRequest& request_;
  const CostModel& costs_;
  const Overrides& pins_;
  const TorchOptions torch_;
  const Clock::time_point began_;
  Clock::time_point published_;
  Curve curve_;
  BudgetCurve larger_;
  std::optional<BudgetCurve> smaller_;  // for budgets that the larger kernels can't hold
};

}  // namespace

Result<Curve> sweep_document(const Document& document, const CurveRequest& request) {
  const auto torch = read_torch_options(request.torch);
  if (!torch) return torch.diagnostics();
  const auto costs =
      find_cost_model(document.graph(), request.profile, request.device, request.cost_model);
  if (!costs) return costs.diagnostics();
  const auto baseline_cost = costs->baseline_cost(document.reference_graph(), document.graph());
  if (!baseline_cost) return baseline_cost.diagnostics();
  const auto named_overrides = resolve_overrides(document.graph(), request.overrides);
  if (!named_overrides) return named_overrides.diagnostics();
  const Overrides overrides = named_overrides->overrides();
  const CostModel overridden = costs->with_overrides(overrides);
  if (is_joint(document.graph()) && *torch != TorchOptions())  // names of inputs may be wrong
    if (auto tried = make_plan(document.graph(), torch_request(0, costs->device.rates, *torch));
        !tried)
      return tried.diagnostics();
  return CurveBuilder(document, request, overridden, overrides, *torch).make(*baseline_cost);
}

}  // namespace recut
