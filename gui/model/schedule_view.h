// A plan as kernels with addresses, for panels that show these. A job makes it at a panel's first
// request, and it is never changed.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "engine/fusion/kernel_model.h"
#include "engine/schedule/schedule.h"
#include "gui/model/document_view.h"

namespace recut::gui {

struct ScheduleView {
  ScheduleView(SharedPlanView plan, Schedule schedule);

  const SharedPlanView plan;
  const Schedule schedule;
  const KernelModel kernels;
  const std::vector<std::uint32_t> launches;  // kernels of the schedule that run, in order

  const Graph& graph() const { return plan->graph(); }
  const ScheduledKernel& kernel(std::uint32_t k) const { return schedule.kernels[k]; }

  // Kernels that compute a node, or the call behind a view, in order.
  std::vector<std::uint32_t> kernels_of(NodeId id) const;
  bool computes(std::uint32_t k, NodeId id) const;

  std::int64_t beyond(std::int64_t budget_bytes) const {
    return arena_over_budget(schedule.arena_bytes, plan->peak(), budget_bytes);
  }

  // A kernel's name, made of its calls: "exp, relu".
  std::string name(std::uint32_t k) const;
  // The call that a kernel is selected by: its last.
  NodeId node(std::uint32_t k) const;
  // The bytes of its outputs, and its time by the plan's cost model.
  std::int64_t bytes(std::uint32_t k) const { return bytes_[k]; }
  double micros(std::uint32_t k) const;
  // Steps of the plan: a kernel's first, and the one after its last.
  std::size_t first_step(std::uint32_t k) const { return kernel(k).first_step; }
  std::size_t end_step(std::uint32_t k) const {
    return kernel(k).first_step + kernel(k).calls.size();
  }

 private:
  std::vector<std::int64_t> bytes_;  // by kernel
};
using SharedSchedule = std::shared_ptr<const ScheduleView>;

// State of the panel, kept for each document.
struct Scheduling {
  SharedPlanView plan;      // that was scheduled, or couldn't be
  SharedSchedule schedule;  // null while it is made, and where it can't be
  Diagnostics faults;       // why it can't
  JobId job = 0;
  SharedPlanView at_work;
  bool awaited = false;  // by a visible panel
};

inline constexpr std::string_view kScheduleMemory = "schedule";
Scheduling& scheduling_of(DocumentView& document);

// The schedule of the shown plan; null if it isn't there yet.
SharedSchedule shown_schedule(const DocumentView& document);

// The arena of the shown plan; 0 while no schedule of it is known.
std::int64_t arena_bytes(const DocumentView& document);
bool arena_is_beyond(const DocumentView& document);
// The arena's text beside the peak, "1.29 GiB, 6.55 MiB above the budget"; "" if the arena has as
// many bytes, or isn't known.
std::string arena_beside_peak(const DocumentView& document);

// Makes a plan's schedule, in the time of packing an arena.
Result<SharedSchedule> schedule_of(const SharedPlanView& plan);
// Takes the result of scheduling a plan; if that plan is shown, the schedule is kept.
void take_schedule(DocumentView& document, const SharedPlanView& plan,
                   const Result<SharedSchedule>& found);
}  // namespace recut::gui
