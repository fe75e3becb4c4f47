#include "gui/model/plan_kernels.h"

#include <algorithm>

#include "engine/fusion/kernel_traffic.h"

namespace recut::gui {

std::int64_t PlanKernels::moved() const {
  std::int64_t bytes = 0;
  for (const PlanKernel& kernel : all) bytes += kernel.moved;
  return bytes;
}

const PlanKernel* PlanKernels::of(NodeId call) const {
  for (const PlanKernel& kernel : all) {
    const auto own = kernel.calls.begin() + static_cast<std::ptrdiff_t>(kernel.inlined);
    if (std::find(own, kernel.calls.end(), call) != kernel.calls.end()) return &kernel;
  }
  return nullptr;
}

PlanKernels kernels_of(const SharedPlanView& plan) {
  PlanKernels kernels{plan, {}};
  const Graph& graph = plan->graph();
  const auto [storages, groups] = plan->planned.costs.kernels(graph);
  const std::vector<PlanStep>& steps = plan->replay().steps;
  PlanKernel next;
  for (std::size_t s = 0; s < steps.size(); ++s) {
    if (!graph.op(steps[s].node).is(kView)) {
      next.calls.push_back(steps[s].node);
      next.inlined += steps[s].inlined ? 1 : 0;
    }
    if (steps[s].kernel != s || next.calls.empty()) continue;
    next.moved = kernel_traffic(graph, storages, groups, next.calls);
    kernels.all.push_back(std::move(next));
    next = {};
  }
  return kernels;
}

void count_kernels(DocumentView& document) {
  auto& counted = memory_of<CountedKernels>(document.memories, kCountedMemory);
  const auto bring_up = [](PlanKernels& kernels, const SharedPlanView& plan) {
    if (kernels.plan != plan) kernels = plan ? kernels_of(plan) : PlanKernels();
  };
  bring_up(counted.shown, document.shown);
  bring_up(counted.baseline, document.baseline.plan);
}

const PlanKernels* counted_kernels(const DocumentView& document, const SharedPlanView& plan) {
  const auto* counted = find_memory<CountedKernels>(document.memories, kCountedMemory);
  if (counted == nullptr || !plan) return nullptr;
  for (const PlanKernels* kernels : {&counted->shown, &counted->baseline})
    if (kernels->plan == plan) return kernels;
  return nullptr;
}

}  // namespace recut::gui
