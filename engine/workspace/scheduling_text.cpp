// A scheduled plan as text and as JSON.
#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "engine/schedule/schedule_text.h"
#include "engine/support/table.h"
#include "engine/support/units.h"
#include "engine/workspace/json_text.h"
#include "engine/workspace/scheduling.h"

// Text and JSON read one ScheduledPlan; neither plans nor packs. The text sets the arena beside the
// most bytes alive at once, which no packing of this plan can go below:
//   arena 6.50 GiB, alive at once 6.40 GiB  ⇒  a gap of 0.10 GiB, by fragmentation
// A gap of 0 proves the packing minimal. The planned peak has a row of its own, since alignment
// rounds up every buffer. The text lists the ten largest buffers. JSON lists kernels and buffers
// only where `whole` is set, and then on one line.

namespace recut {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t kSchedulingTextRows = 10;

std::int64_t launches(const Schedule& schedule) {
  return std::count_if(schedule.kernels.begin(), schedule.kernels.end(),
                       [](const ScheduledKernel& kernel) { return kernel.launches; });
}

std::int64_t in_place(const Schedule& schedule) {
  return std::count_if(schedule.buffers.begin(), schedule.buffers.end(),
                       [](const Buffer& buffer) { return buffer.in_place_of.has_value(); });
}

Json figures(const ScheduledPlan& scheduled) {
  const PlanReport& report = scheduled.planned.report;
  const Schedule& schedule = scheduled.schedule;
  Json json = {{"model", report.model},
               {"graph", report.graph_key},
               {"strategy", report.strategy},
               {"budget", report.budget},
               {"device", report.device},
               {"cost_model", report.cost_model},
               {"fusion", name_of(report.fusion)},
               {"kernel_count", launches(schedule)},
               {"buffer_count", schedule.buffers.size()},
               {"in_place_count", in_place(schedule)},
               {"alignment", schedule.alignment},
               {"arena_bytes", schedule.arena_bytes},
               {"lower_bound_bytes", schedule.lower_bound_bytes},
               {"gap_bytes", schedule.gap_bytes()},
               {"peak_bytes", report.peak_bytes},
               {"step_us", report.step_us},
               {"recompute_us", report.recompute_us},
               {"solve_ms", report.solve_ms},
               {"schedule_ms", scheduled.schedule_ms}};
  if (report.budget_bytes > 0) {
    json["budget_bytes"] = report.budget_bytes;
    json["holds"] = scheduled.holds();
    json["beyond_budget_bytes"] = scheduled.beyond_budget();
  }
  json["rounds"] = Json::array();
  for (const SchedulingRound& round : scheduled.rounds)
    json["rounds"].push_back({{"fusion", name_of(round.fusion)},
                              {"target_bytes", round.target_bytes},
                              {"peak_bytes", round.peak_bytes},
                              {"arena_bytes", round.arena_bytes}});
  return json;
}

Json kernels_json(const Graph& graph, const Schedule& schedule) {
  Json kernels = Json::array();
  for (const ScheduledKernel& kernel : schedule.kernels) {
    Json calls = Json::array();
    for (const NodeId call : kernel.calls) calls.push_back(graph.node_name(call));
    kernels.push_back({{"calls", calls},
                       {"backward", kernel.phase == Phase::backward},
                       {"again", kernel.again},
                       {"launches", kernel.launches}});
  }
  return kernels;
}

Json buffers_json(const Graph& graph, const StorageModel& storages, const Schedule& schedule) {
  Json buffers = Json::array();
  for (const Buffer& buffer : schedule.buffers) {
    Json json = {{"name", buffer_name(graph, storages, buffer)},
                 {"offset", buffer.offset},
                 {"bytes", buffer.bytes},
                 {"first_kernel", buffer.first_kernel},
                 {"last_kernel", buffer.last_kernel},
                 {"class", name_of(buffer.kind)}};
    if (buffer.in_place_of) json["in_place_of"] = *buffer.in_place_of;
    buffers.push_back(std::move(json));
  }
  return buffers;
}

std::string gap_text(const Schedule& schedule) {
  if (schedule.gap_bytes() == 0) return "no packing of this plan is smaller";
  return fmt::format("{} above the most that is alive at once, {:.2f} %",
                     format_bytes(schedule.gap_bytes()),
                     100 * static_cast<double>(schedule.gap_bytes()) /
                         static_cast<double>(schedule.lower_bound_bytes));
}

std::string rounds_text(const ScheduledPlan& scheduled) {
  const auto again = static_cast<std::int64_t>(scheduled.rounds.size()) - 1;
  return again == 0 ? std::string()
                    : fmt::format("planned {} more for less, since the arena was {}",
                                  again == 1 ? "once" : fmt::format("{} times", again),
                                  format_bytes(scheduled.rounds.front().arena_bytes));
}

std::string summary(const ScheduledPlan& scheduled) {
  const PlanReport& report = scheduled.planned.report;
  const Schedule& schedule = scheduled.schedule;
  Table table;
  table.column("");
  table.column("", Table::Align::right);
  table.column("");
  table.row({"arena", format_bytes(schedule.arena_bytes), gap_text(schedule)});
  table.row({"alive at once", format_bytes(schedule.lower_bound_bytes),
             fmt::format("each buffer rounded up to {} bytes", schedule.alignment)});
  table.row({"planned peak", format_bytes(report.peak_bytes), rounds_text(scheduled)});
  if (report.budget_bytes > 0)
    table.row(
        {"budget", format_bytes(report.budget_bytes),
         scheduled.beyond_budget() > 0 ? arena_over_budget_text(scheduled) : "bounds the arena"});
  table.row({"kernels", format_count(launches(schedule)),
             fmt::format("for {} calls and views",
                         format_count(report.forward_runs + report.backward_runs))});
  const std::int64_t reused = in_place(schedule);
  table.row(
      {"buffers", format_count(static_cast<std::int64_t>(schedule.buffers.size())),
       reused == 0 ? "" : fmt::format("{} of them in another's place", format_count(reused))});
  table.row({"recomputed", format_micros(report.recompute_us),
             fmt::format("of the {}'s {}", report.inference ? "call" : "step",
                         format_micros(report.step_us))});
  table.row({"planned in", format_micros(report.solve_ms * 1000),
             fmt::format("scheduled in {}", format_micros(scheduled.schedule_ms * 1000))});
  return table.format();
}

}  // namespace

std::string schedule_json(const Document& document, const ScheduledPlan& scheduled, bool whole) {
  Json json = figures(scheduled);
  if (whole) {
    const Graph& graph = document.graph();
    json["kernels"] = kernels_json(graph, scheduled.schedule);
    json["buffers"] = buffers_json(graph, scheduled.kernels->storages, scheduled.schedule);
  }
  return json_text(json, whole ? -1 : 2);
}

std::string scheduling_text(const Document& document, const ScheduledPlan& scheduled) {
  const PlanReport& report = scheduled.planned.report;
  const Graph& graph = document.graph();
  const StorageModel& storages = scheduled.kernels->storages;
  std::vector<const Buffer*> largest;
  for (const Buffer& buffer : scheduled.schedule.buffers) largest.push_back(&buffer);
  std::stable_sort(largest.begin(), largest.end(),
                   [](const Buffer* a, const Buffer* b) { return a->bytes > b->bytes; });
  Table table;
  table.column("largest buffers");
  table.column("class");
  table.column("bytes", Table::Align::right);
  table.column("offset", Table::Align::right);
  table.column("kernels");
  for (std::size_t i = 0; i < std::min(largest.size(), kSchedulingTextRows); ++i)
    table.row({buffer_name(graph, storages, *largest[i]), std::string(name_of(largest[i]->kind)),
               format_bytes(largest[i]->bytes), format_count(largest[i]->offset),
               fmt::format("{} to {}", largest[i]->first_kernel, largest[i]->last_kernel)});
  return fmt::format("{}{} · strategy {}, budget {}, model {}\n\n{}{}",
                     report.model.empty() ? "graph" : report.model,
                     report.graph_key.empty() ? "" : " · " + report.graph_key, report.strategy,
                     report.budget, report.cost_model, summary(scheduled),
                     table.empty() ? "" : "\n" + table.format());
}

std::string arena_over_budget_text(const ScheduledPlan& scheduled) {
  const PlanReport& report = scheduled.planned.report;
  return fmt::format(
      "an arena of {} ({} bytes) can't be held: the lowest that Recut laid out is {} ({} bytes), "
      "{} bytes more, for a planned peak of {} bytes",
      format_bytes(report.budget_bytes), report.budget_bytes,
      format_bytes(scheduled.schedule.arena_bytes), scheduled.schedule.arena_bytes,
      scheduled.beyond_budget(), report.peak_bytes);
}

}  // namespace recut
