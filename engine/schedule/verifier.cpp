#include "engine/schedule/verifier.h"

#include <fmt/core.h>

#include "engine/schedule/verify/faults.h"
#include "engine/schedule/verify/liveness.h"
#include "engine/schedule/verify/placement.h"

namespace recut {
namespace {

void check_alignment(const Schedule& schedule, verify::Faults& faults) {
  if (schedule.alignment < 1)
    faults.add(fmt::format("an alignment of {}, expected 1 or more", schedule.alignment));
}

// The last call that isn't a view, which is unique to its kernel. Invalid if all are views.
NodeId own_call(const Graph& graph, const ScheduledKernel& kernel) {
  NodeId last;
  for (const NodeId call : kernel.calls)
    if (!graph.op(call).is(kView)) last = call;
  return last;
}

// The kernels' calls, one after another, against the plan.
void check_steps(const Graph& graph, const Plan& plan, const Schedule& schedule,
                 verify::Faults& faults) {
  const std::size_t steps = plan.forward.size() + plan.backward.size();
  std::vector<bool> ran(graph.order().size(), false);
  std::size_t step = 0;
  for (std::size_t k = 0; k < schedule.kernels.size(); ++k) {
    const ScheduledKernel& kernel = schedule.kernels[k];
    if (kernel.calls.empty()) {
      faults.add(fmt::format("kernel {} has no calls", k));
      continue;
    }
    if (kernel.first_step != step)
      faults.add(fmt::format("kernel {} starts at step {} of the plan, not {}", k,
                             kernel.first_step, step));
    for (const NodeId call : kernel.calls) {
      const bool forward = step < plan.forward.size();
      const NodeId planned = step >= steps ? NodeId()
                             : forward     ? plan.forward[step]
                                           : plan.backward[step - plan.forward.size()];
      if (call != planned)
        return faults.add(fmt::format("kernel {} runs another call than step {} of the plan, '{}'",
                                      k, step, faults.name(planned)));
      if (kernel.phase != (forward ? Phase::forward : Phase::backward))
        faults.add(fmt::format("kernel {} runs '{}' in the wrong phase", k, faults.name(call)));
      ++step;
    }
    // Its other calls may be inlined copies, which other kernels run as well.
    const NodeId own = own_call(graph, kernel);
    if (kernel.again != (own.valid() && ran[graph.position(own)]))
      faults.add(fmt::format("kernel {} is wrong about whether '{}' ran before", k,
                             faults.name(own.valid() ? own : kernel.calls.back())));
    if (own.valid()) ran[graph.position(own)] = true;
    if (kernel.launches != own.valid())
      faults.add(fmt::format("kernel {} is wrong about whether it does anything", k));
  }
  if (step < steps)
    faults.add(fmt::format("the kernels end before step {} of the plan, of {}", step, steps));
}

}  // namespace

Diagnostics verify_schedule(const Graph& graph, const StorageModel& storages, const Plan& plan,
                            const Schedule& schedule) {
  verify::Faults faults(graph);
  check_alignment(schedule, faults);
  check_steps(graph, plan, schedule, faults);
  // The other checks rely on the steps and the alignment.
  if (!faults.empty()) return faults.take();
  if (verify::check_buffers(graph, storages, schedule, faults)) {
    verify::check_liveness(graph, storages, plan, schedule, faults);
    verify::check_placement(graph, storages, schedule, faults);
  }
  return faults.take();
}

}  // namespace recut
