#include "engine/schedule/schedule_text.h"

#include <fmt/format.h>

#include "engine/support/table.h"

namespace recut {
namespace {

std::string kernels_text(const Graph& graph, const Schedule& schedule) {
  Table table;
  table.column("kernel", Table::Align::right);
  table.column("phase");
  table.column("calls");
  table.column("");
  for (std::size_t k = 0; k < schedule.kernels.size(); ++k) {
    const ScheduledKernel& kernel = schedule.kernels[k];
    std::vector<std::string> calls;
    for (const NodeId call : kernel.calls)
      calls.push_back(fmt::format("{} = {}", graph.node_name(call), graph.op(call).name));
    table.row({std::to_string(k), kernel.phase == Phase::forward ? "forward" : "backward",
               fmt::format("{}", fmt::join(calls, ", ")),
               !kernel.launches ? "a view"
               : kernel.again   ? "again"
                                : ""});
  }
  return table.format();
}

std::string buffers_text(const Graph& graph, const StorageModel& storages,
                         const Schedule& schedule) {
  Table table;
  table.column("buffer", Table::Align::right);
  table.column("of");
  table.column("offset", Table::Align::right);
  table.column("bytes", Table::Align::right);
  table.column("kernels");
  table.column("class");
  table.column("");
  for (std::size_t b = 0; b < schedule.buffers.size(); ++b) {
    const Buffer& buffer = schedule.buffers[b];
    table.row({std::to_string(b), buffer_name(graph, storages, buffer),
               std::to_string(buffer.offset), std::to_string(buffer.bytes),
               fmt::format("{} to {}", buffer.first_kernel, buffer.last_kernel),
               std::string(name_of(buffer.kind)),
               buffer.in_place_of ? fmt::format("in place of {}", *buffer.in_place_of) : ""});
  }
  return table.format();
}

}  // namespace

std::string buffer_name(const Graph& graph, const StorageModel& storages, const Buffer& buffer) {
  const std::string& owner = graph.node_name(buffer.owner);
  if (buffer.workspace) return "workspace of " + owner;
  if (graph[buffer.owner].outputs.size() < 2) return owner;
  return fmt::format("{}[{}]", owner, storages[buffer.storage].output);
}

std::string schedule_text(const Graph& graph, const StorageModel& storages,
                          const Schedule& schedule) {
  return fmt::format("arena {}, alive at once {}, gap {}, planned peak {}, alignment {}\n\n{}\n{}",
                     schedule.arena_bytes, schedule.lower_bound_bytes, schedule.gap_bytes(),
                     schedule.peak_bytes, schedule.alignment, kernels_text(graph, schedule),
                     buffers_text(graph, storages, schedule));
}

}  // namespace recut
