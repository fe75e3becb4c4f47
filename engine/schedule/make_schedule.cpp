#include "engine/schedule/make_schedule.h"

#include <fmt/core.h>

#include <algorithm>

#include "engine/fusion/kernel_runs.h"
#include "engine/schedule/arena.h"
#include "engine/schedule/in_place.h"
#include "engine/support/units.h"

namespace recut {
namespace {

constexpr std::int64_t kMaxAlignment = std::int64_t{1} << 30;
constexpr std::int64_t kMaxBytes = std::int64_t{1} << 61;

// Adds the kernels. Returns the kernel of each step.
std::vector<std::uint32_t> add_kernels(const Graph& graph, const Replay& replay,
                                       const std::vector<KernelRun>& runs, Schedule& schedule) {
  std::vector<std::uint32_t> kernel_of;
  for (std::size_t s = 0; s < replay.steps.size(); ++s) {
    const PlanStep& step = replay.steps[s];
    if (runs[s].first == s) schedule.kernels.push_back({{}, s, step.phase, false, false});
    ScheduledKernel& kernel = schedule.kernels.back();
    kernel.calls.push_back(step.node);
    if (!graph.op(step.node).is(kView)) {
      kernel.launches = true;
      kernel.again = step.again;  // of the last call: earlier ones may be inlined
    }
    kernel_of.push_back(static_cast<std::uint32_t>(schedule.kernels.size() - 1));
  }
  return kernel_of;
}

void add_buffers(const Replay& replay, const std::vector<std::uint32_t>& kernel_of,
                 Schedule& schedule) {
  for (const StorageInstance& instance : replay.instances)
    schedule.buffers.push_back({instance.storage, instance.owner, instance.bytes,
                                kernel_of[instance.birth],
                                kernel_of[std::min(instance.last_use, kernel_of.size() - 1)],
                                instance.kind, instance.workspace, 0, std::nullopt});
}

// Buffers that reuse each other's memory in place are one interval.
void pack(Schedule& schedule, double effort) {
  std::vector<ArenaInterval> intervals;
  std::vector<std::uint32_t> interval_of;
  for (const Buffer& buffer : schedule.buffers) {
    if (buffer.in_place_of) {
      interval_of.push_back(interval_of[*buffer.in_place_of]);
      intervals[interval_of.back()].last = buffer.last_kernel;
      continue;
    }
    interval_of.push_back(static_cast<std::uint32_t>(intervals.size()));
    intervals.push_back(
        {aligned(buffer.bytes, schedule.alignment), buffer.first_kernel, buffer.last_kernel});
  }
  const ArenaPacking packing = pack_arena(intervals, effort);
  schedule.arena_bytes = packing.height;
  schedule.lower_bound_bytes = packing.lower_bound;
  for (std::size_t b = 0; b < schedule.buffers.size(); ++b)
    schedule.buffers[b].offset = packing.offsets[interval_of[b]];
}

Result<Done> check_bytes(const Replay& replay, std::int64_t alignment) {
  if (alignment < 1 || alignment > kMaxAlignment || (alignment & (alignment - 1)) != 0)
    return error(fmt::format("alignment {}: expected a power of two from 1 to {}", alignment,
                             kMaxAlignment));
  std::int64_t total = 0;
  for (const StorageInstance& instance : replay.instances) {
    if (instance.bytes > kMaxBytes - total - alignment)
      return error(fmt::format("the plan allocates more than {}", format_bytes(kMaxBytes)));
    total += aligned(instance.bytes, alignment);
  }
  return Done{};
}

}  // namespace

Result<Schedule> make_schedule(const Graph& graph, const KernelModel& kernels, const Plan& plan,
                               const ScheduleOptions& options) {
  const auto& [storages, groups] = kernels;
  const auto replayed = replay(graph, storages, plan, {}, groups);
  if (!replayed) return replayed.diagnostics();
  if (const auto sound = check_bytes(*replayed, options.alignment); !sound)
    return sound.diagnostics();
  const auto runs = kernel_runs(graph, storages, groups, plan);
  if (!runs) return runs.diagnostics();

  Schedule schedule;
  schedule.alignment = options.alignment;
  schedule.peak_bytes = replayed->peak_bytes;
  add_buffers(*replayed, add_kernels(graph, *replayed, *runs, schedule), schedule);
  pack(schedule, options.effort);
  if (!options.in_place) return schedule;

  Schedule reusing = schedule;
  reuse_in_place(graph, storages, reusing);
  pack(reusing, options.effort);
  return reusing.arena_bytes <= schedule.arena_bytes ? std::move(reusing) : std::move(schedule);
}

}  // namespace recut
