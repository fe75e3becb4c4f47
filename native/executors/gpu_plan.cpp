#include "native/executors/gpu_plan.h"

#include <algorithm>

#include "engine/workspace/library_workspaces.h"
#include "native/cuda/attention_call.h"
#include "native/executors/find_gpu_profile.h"

namespace recut::native {
namespace {

constexpr std::string_view kLayoutPass = "channels_last";

// The least speedup of a step of convolutions by channels last: resnet50 1.09, unet 1.23 on one
// H100.
constexpr double kWonByLayout = 1.09;

class GpuPlanner {
 public:
  explicit GpuPlanner(const GpuPlanRequest& request) : request_(request) {}

  // Convolutions stay as they are if the budget doesn't hold copies in another layout, or where
  // recomputation costs more than channels last save.
  Result<GpuPlan> run() {
    auto planned = plan("");
    if (!planned || !lays_out(planned->document)) return planned;
    const bool held = planned->scheduled.holds();
    if (held && lengthened(planned->scheduled) <= kWonByLayout) return planned;
    auto plain = plan(kLayoutPass);
    if (!plain || !is_better(plain->scheduled, planned->scheduled)) return planned;
    if (plain->scheduled.holds())
      plain->note = held
                        ? "within the budget convolutions are no quicker with their channels last: "
                          "they stay as the graph has them"
                        : "with their channels last, convolutions don't fit the budget: they stay "
                          "as the graph has them";
    return plain;
  }

 private:
  static bool lays_out(const Document& document) {
    const auto& passes = document.passes.passes;
    return std::any_of(passes.begin(), passes.end(), [](const PassReport& pass) {
      return pass.name == kLayoutPass && pass.changed;
    });
  }

  static bool is_better(const ScheduledPlan& plain, const ScheduledPlan& laid_out) {
    if (plain.holds() != laid_out.holds()) return plain.holds();
    if (!plain.holds()) return plain.planned.report.peak_bytes < laid_out.planned.report.peak_bytes;
    return kWonByLayout * lengthened(plain) < lengthened(laid_out);
  }

  // The factor by which recomputation lengthens the step.
  static double lengthened(const ScheduledPlan& scheduled) {
    const PlanReport& report = scheduled.planned.report;
    return report.step_us / report.baseline_step_us;
  }

  Result<GpuPlan> plan(std::string_view skip) const {
    auto document = open(skip);
    if (!document) return document.diagnostics();
    std::optional<DeviceProfile> known;
    const auto request = scheduling(*document, known);
    if (!request) return request.diagnostics();
    if (request_.library) cuda::add_attention_workspaces(planned_graph(*document));
    request_.progress("planning");
    auto scheduled = schedule_document(*document, *request);
    if (!scheduled) return scheduled.diagnostics();
    return GpuPlan{std::move(*document), std::move(*scheduled), std::move(known), {}};
  }

  // Products of libraries are padded by the GPU profile's figures.
  Result<Document> open(std::string_view skip) const {
    if (!request_.library) return request_.open(std::nullopt, skip);
    const auto found = profile(nullptr);
    if (!found) return found.diagnostics();
    return request_.open(device_of_step(found->profile, request_.precision), skip);
  }

  // With a graph, the profile of its kernels where there is one: they are measured with library
  // products in f32 and tf32. Times in the graph's file are no profile of the GPU.
  Result<FoundProfile> profile(const Graph* graph) const {
    return profile_on_gpu(is_measured() ? "" : request_.profile, request_.gpu,
                          request_.library ? graph : nullptr, request_.precision);
  }

  bool is_measured() const { return request_.profile == kMeasuredDevice; }

  // The request that plans by this profile; the profile's workspaces become the graph's.
  Result<SchedulingRequest> scheduling(Document& document,
                                       std::optional<DeviceProfile>& known) const {
    SchedulingRequest request{request_.planning, {}};
    if (is_measured()) return request;
    auto found = profile(&document.graph());
    if (!found) return found.diagnostics();
    request.planning.profile = std::move(found->profile);
    if (found->known) known = request.planning.profile;
    if (!request_.library) return request;
    const auto added =
        add_library_workspaces(document, *request.planning.profile, request_.max_workspace_bytes);
    if (!added) return added.diagnostics();
    return request;
  }

  const GpuPlanRequest& request_;
};

}  // namespace

Result<GpuPlan> plan_for_gpu(const GpuPlanRequest& request) { return GpuPlanner(request).run(); }

}  // namespace recut::native
