#include "engine/runtime/kernel_profile.h"

#include <algorithm>
#include <array>
#include <map>
#include <numeric>

#include "engine/cost/cost.h"
#include "engine/cost/device.h"
#include "engine/fusion/kernel_cost.h"
#include "engine/fusion/kernel_model.h"
#include "engine/ir/aliases.h"

namespace recut {
namespace {

constexpr int kBisections = 100;

// The launch's calls without views, as cost models know a kernel.
std::vector<NodeId> calls_of(const Graph& graph, const Launch& launch) {
  std::vector<NodeId> calls;
  for (const NodeId id : launch.calls)
    if (defining_node(graph, id) == id) calls.push_back(id);
  return calls;
}

double sum_of(std::span<const double> seconds) {
  return std::accumulate(seconds.begin(), seconds.end(), 0.0);
}

}  // namespace

std::vector<double> subtract_timer_overhead(std::span<const double> seconds, double step_seconds,
                                            double floor) {
  std::vector<double> times(seconds.begin(), seconds.end());
  if (times.empty()) return times;
  const double sum = sum_of(seconds);
  if (sum <= step_seconds) {
    for (double& time : times) time += (step_seconds - sum) / static_cast<double>(times.size());
    return times;
  }
  const auto subtract = [&](double cost) {
    for (std::size_t i = 0; i < times.size(); ++i)
      times[i] = std::max(seconds[i] - cost, std::min(seconds[i], floor));
    return sum_of(times);
  };
  double low = 0, high = *std::max_element(seconds.begin(), seconds.end());
  if (const double total_at_floor = subtract(high); total_at_floor >= step_seconds) {
    for (double& time : times) time *= step_seconds / total_at_floor;
    return times;
  }
  for (int i = 0; i < kBisections; ++i) {
    const double cost = (low + high) / 2;
    (subtract(cost) > step_seconds ? low : high) = cost;
  }
  subtract(high);
  return times;
}

MeasuredGraph measured_kernels(const Graph& graph, const Program& program,
                               std::span<const double> seconds,
                               std::span<const std::int64_t> workspaces) {
  MeasuredGraph measured;
  measured.name = graph.name;
  measured.digest = graph_digest(graph);
  std::map<std::vector<NodeId>, std::size_t> numbers;
  std::vector<int> launches;
  for (std::size_t i = 0; i < program.launches.size(); ++i) {
    const std::vector<NodeId> calls = calls_of(graph, program.launches[i]);
    const auto [at, added] = numbers.emplace(calls, measured.kernels.size());
    if (added) {
      measured.kernels.emplace_back();
      launches.push_back(0);
      for (const NodeId id : calls) measured.kernels.back().calls.push_back(graph.node_name(id));
    }
    MeasuredKernel& kernel = measured.kernels[at->second];
    kernel.micros += 1e6 * seconds[i];
    kernel.workspace_bytes = std::max(kernel.workspace_bytes, workspaces[i]);
    ++launches[at->second];
  }
  for (std::size_t k = 0; k < launches.size(); ++k) measured.kernels[k].micros /= launches[k];
  return measured;
}

Corrections corrections(const Graph& graph, const KernelModel& kernels, const Program& program,
                        std::span<const double> seconds, const DeviceRates& rates) {
  const auto& [storages, groups] = kernels;
  DeviceRates plain = rates;
  plain.corrections = {};
  plain.kernel_times = nullptr;
  plain.measured = false;
  std::array<double, 3> measured{}, modelled{};
  for (std::size_t i = 0; i < program.launches.size(); ++i) {
    const std::vector<NodeId> calls = calls_of(graph, program.launches[i]);
    const auto kind = static_cast<std::size_t>(
        modelled_kernel(graph, storages, groups, calls, plain).kind(plain));
    measured[kind] += 1e6 * seconds[i];
    modelled[kind] += kernel_micros(graph, storages, groups, calls, plain);
  }
  const auto factor = [&](KernelKind kind) {
    const auto k = static_cast<std::size_t>(kind);
    if (modelled[k] <= 0) return 1.0;
    return std::clamp(measured[k] / modelled[k], kMinCorrection, kMaxCorrection);
  };
  return {factor(KernelKind::products), factor(KernelKind::memory), factor(KernelKind::launches)};
}

}  // namespace recut
