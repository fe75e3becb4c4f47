#include "gui/model/schedule_view.h"

#include <fmt/core.h>

#include <algorithm>

#include "engine/codegen/lower/lower.h"
#include "engine/ir/aliases.h"
#include "engine/support/units.h"
#include "engine/workspace/scheduling.h"

namespace recut::gui {
namespace {

constexpr std::size_t kLongestName = 60;

std::vector<std::uint32_t> launches_of(const Schedule& schedule) {
  std::vector<std::uint32_t> launches;
  for (std::uint32_t k = 0; k < schedule.kernels.size(); ++k)
    if (schedule.kernels[k].launches) launches.push_back(k);
  return launches;
}

}  // namespace

ScheduleView::ScheduleView(SharedPlanView of, Schedule made)
    : plan(std::move(of)),
      schedule(std::move(made)),
      kernels(plan->planned.costs.kernels(plan->graph())),
      launches(launches_of(schedule)),
      bytes_(schedule.kernels.size()) {
  for (const Buffer& buffer : schedule.buffers)
    if (!buffer.workspace) bytes_[buffer.first_kernel] += buffer.bytes;
}

bool ScheduleView::computes(std::uint32_t k, NodeId id) const {
  const auto& calls = kernel(k).calls;
  return std::find(calls.begin(), calls.end(), id) != calls.end();
}

std::vector<std::uint32_t> ScheduleView::kernels_of(NodeId id) const {
  std::vector<std::uint32_t> found;
  if (!id.valid() || !graph().contains(id)) return found;
  for (const std::uint32_t k : launches)
    if (computes(k, id)) found.push_back(k);
  const NodeId maker = defining_node(graph(), id);
  return found.empty() && maker != id ? kernels_of(maker) : found;
}

std::string ScheduleView::name(std::uint32_t k) const {
  std::string text;
  for (const NodeId id : loop::computed_calls(graph(), kernel(k).calls)) {
    if (text.size() > kLongestName) return text + ", …";
    text += (text.empty() ? "" : ", ") + graph().node_name(id);
  }
  return text;
}

NodeId ScheduleView::node(std::uint32_t k) const {
  const std::vector<NodeId> calls = loop::computed_calls(graph(), kernel(k).calls);
  return calls.empty() ? kernel(k).calls.back() : calls.back();
}

double ScheduleView::micros(std::uint32_t k) const {
  double sum = 0;
  for (std::size_t step = first_step(k); step < end_step(k); ++step)
    sum += plan->replay().steps[step].micros;
  return sum;
}

Scheduling& scheduling_of(DocumentView& document) {
  return memory_of<Scheduling>(document.memories, kScheduleMemory);
}

SharedSchedule shown_schedule(const DocumentView& document) {
  const auto* scheduling = find_memory<Scheduling>(document.memories, kScheduleMemory);
  if (scheduling == nullptr || scheduling->plan != document.shown) return nullptr;
  return scheduling->schedule;
}

std::int64_t arena_bytes(const DocumentView& document) {
  if (const SharedSchedule schedule = shown_schedule(document))
    return schedule->schedule.arena_bytes;
  return document.shown ? document.shown->report().arena_bytes : 0;
}

bool arena_is_beyond(const DocumentView& document) {
  return document.shown && arena_over_budget(arena_bytes(document), document.shown->peak(),
                                             document.plan_settings.budget_bytes) > 0;
}

std::string arena_beside_peak(const DocumentView& document) {
  const std::int64_t arena = arena_bytes(document);
  if (arena == 0 || arena == document.shown->peak()) return {};
  if (!arena_is_beyond(document)) return format_bytes(arena);
  return fmt::format(
      "{}, {}", format_bytes(arena),
      arena_note(arena, document.shown->peak(), document.plan_settings.budget_bytes));
}

Result<SharedSchedule> schedule_of(const SharedPlanView& plan) {
  auto schedule =
      schedule_plan(plan->graph(), plan->planned.costs.kernels(plan->graph()), plan->planned.plan);
  if (!schedule) return schedule.diagnostics();
  return SharedSchedule(std::make_shared<const ScheduleView>(plan, std::move(*schedule)));
}

void take_schedule(DocumentView& document, const SharedPlanView& plan,
                   const Result<SharedSchedule>& found) {
  if (document.shown != plan) return;
  Scheduling& scheduling = scheduling_of(document);
  scheduling.plan = plan;
  scheduling.schedule = found ? *found : nullptr;
  scheduling.faults = found ? Diagnostics() : found.diagnostics();
}

}  // namespace recut::gui
