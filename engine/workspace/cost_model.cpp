#include "engine/workspace/cost_model.h"

#include <fmt/core.h>

#include <algorithm>

#include "engine/partition/replay.h"
#include "engine/partition/strategy.h"
#include "engine/support/text.h"

namespace recut {

std::optional<CostModel> CostModel::with_smaller_kernels() const {
  if (fusion != Fusion::rows) return std::nullopt;
  return CostModel{device, Fusion::chains, apart};
}

CostModel CostModel::with_overrides(const Overrides& overrides) const {
  CostModel model{device, fusion, overrides.save};
  model.apart.insert(model.apart.end(), overrides.recompute.begin(), overrides.recompute.end());
  return model;
}

Result<BaselineCost> CostModel::baseline_cost(const Graph& reference_graph,
                                              const Graph& graph) const {
  if (const auto total = check_total_bytes(reference_graph); !total) return total.diagnostics();
  const KernelModel model = kernels(graph);
  if (fused()) return baseline_step(graph, model.storages, model.groups, device.rates);
  const BaselineCost program = baseline_step(reference_graph, device.rates);
  const auto once = make_plan(graph, {"default", NoBudget{}});
  if (!once) return once.diagnostics();
  const auto replayed = replay(graph, model.storages, once->plan, device.rates);
  if (!replayed) return replayed.diagnostics();
  if (program.peak_bytes <= replayed->peak_bytes) return program;
  return BaselineCost{replayed->peak_bytes, replayed->step_us};
}

namespace {

bool is_builtin(std::string_view name) {
  const auto profiles = builtin_profiles();
  return std::any_of(profiles.begin(), profiles.end(),
                     [&](const BuiltinProfile& profile) { return profile.name == name; });
}

Result<DeviceProfile> measured_device(const Graph& graph) {
  if (graph.measured == nullptr || !graph.measured->has_times())
    return error(
        "device 'measured' takes the times that the graph's file has, and it has none: expected "
        "\"measured\": {\"us\": …} of its nodes");
  const std::string& where = graph.measured->device;
  auto profile = find_device(is_builtin(where) ? where : std::string(kReferenceDevice));
  if (!profile) return profile.diagnostics();
  profile->title = fmt::format("measured{}; what wasn't is priced by {}",
                               where.empty() ? "" : " on " + where, profile->name);
  profile->name = kMeasuredDevice;
  profile->rates.measured = true;
  return profile;
}

Result<CostModel> model_of(Result<DeviceProfile> profile, std::string_view name) {
  if (name != "eager" && name != "fused")
    return error(fmt::format("there is no model {}, expected eager or fused", quote(name)));
  if (!profile) return profile.diagnostics();
  return CostModel{std::move(*profile), name == "fused" ? Fusion::rows : Fusion::none, {}};
}

}  // namespace

Result<CostModel> find_cost_model(const std::string& device, std::string_view name) {
  return model_of(find_device(device), name);
}

Result<CostModel> find_cost_model(const Graph& graph, const std::optional<DeviceProfile>& profile,
                                  const std::string& device, std::string_view name) {
  auto model = profile                     ? model_of(*profile, name)
               : device == kMeasuredDevice ? model_of(measured_device(graph), name)
                                           : model_of(find_device(device), name);
  if (!model) return model;
  auto rates = model->device.rates_of(graph);
  if (!rates) return rates.diagnostics();
  model->device.rates = std::move(*rates);
  if (model->device.measured != nullptr && model->device.rates.kernel_times == nullptr)
    model->device.title += "; the kernels that were measured are another graph's";
  return model;
}

}  // namespace recut
