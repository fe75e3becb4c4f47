// A memory comparison as text and as JSON.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "engine/support/table.h"
#include "engine/support/text.h"
#include "engine/support/units.h"
#include "engine/support/utf8.h"
#include "engine/workspace/json_text.h"
#include "engine/workspace/memory_comparison.h"

namespace recut {
namespace {

using ComparisonJson = nlohmann::ordered_json;

constexpr std::size_t kComparisonRows = 10;
constexpr std::size_t kComparisonWidth = 48;

double share_of(std::int64_t part, std::int64_t whole) {
  return whole == 0 ? 0.0 : 100.0 * static_cast<double>(part) / static_cast<double>(whole);
}

std::string step_text(const MemoryComparison& c, std::size_t step) {
  const bool backward = step >= c.forward_steps;
  return fmt::format(
      "{} {}", backward ? "backward" : "forward",
      format_count(static_cast<std::int64_t>(step - (backward ? c.forward_steps : 0) + 1)));
}

std::string near(const std::string& node) { return node.empty() ? "" : ", near " + node; }

std::string figures_text(const MemoryComparison& c) {
  Table table;
  table.column("");
  table.column("measured", Table::Align::right);
  table.column("planned", Table::Align::right);
  table.column("");
  table.row({"before the step", format_bytes(c.start_bytes), "",
             "parameters and all else that is there"});
  table.row({"peak", format_bytes(c.measured_peak), format_bytes(c.start_bytes + c.planned_peak),
             "with these"});
  table.row({"rise of the peak", format_bytes(c.measured_rise()), format_bytes(c.planned_peak),
             fmt::format("{} measured beyond planned, {:+.3f} %", signed_bytes(c.difference()),
                         share_of(c.difference(), c.planned_peak))});
  if (c.program_peak != c.planned_peak)
    table.row({"in program order", "", format_bytes(c.program_peak),
               "as eager runs it, nothing recomputed"});
  table.row(
      {"peak at",
       fmt::format("event {}", format_count(static_cast<std::int64_t>(c.measured_peak_event))),
       c.planned_peak_at.empty() ? "nothing" : step_text(c, c.planned_peak_step),
       fmt::format("measured{}; planned at {}", near(c.measured_peak_at), c.planned_peak_at)});
  table.row({"allocations", format_count(c.measured_blocks), format_count(c.planned_blocks),
             fmt::format("{} aligned by order and size: {:.1f} % of the measured bytes",
                         format_count(c.aligned_blocks),
                         share_of(c.aligned_bytes, c.measured_block_bytes))});
  if (c.reserved_bytes >= c.measured_peak)  // else the snapshot lacks segments
    table.row(
        {"reserved at the peak", format_bytes(c.reserved_bytes), "",
         fmt::format("{} of it not allocated", format_bytes(c.reserved_bytes - c.measured_peak))});
  for (const MeasuredDevice& d : c.devices)
    if (d.device == c.device && d.peak_bytes > c.measured_peak)
      table.row({"peak of the whole trace", format_bytes(d.peak_bytes), "",
                 "beyond this step: in another one, or in the optimizer"});
  if (c.awaiting_bytes > 0)
    table.row({"awaited at the peak", format_bytes(c.awaiting_bytes), "",
               "freed by the program, and still used by another stream"});
  return table.format();
}

std::string causes_text(const MemoryComparison& c) {
  Table table;
  table.column("the difference at the peaks");
  table.column("bytes", Table::Align::right);
  table.column("");
  for (std::size_t i = 0; i < kMemoryCauses; ++i)
    if (c.causes[i] != 0)
      table.row({std::string(name_of(static_cast<MemoryCause>(i))), signed_bytes(c.causes[i]),
                 std::string(describe(static_cast<MemoryCause>(i)))});
  if (table.empty()) return "";
  table.row({"together", signed_bytes(c.difference()), ""});
  return "\n" + table.format();
}

std::string modules_text(const MemoryComparison& c) {
  Table table;
  table.column("module");
  table.column("measured", Table::Align::right);
  table.column("planned", Table::Align::right);
  table.column("difference", Table::Align::right);
  std::size_t more = 0;
  for (const ComparedModule& row : c.modules) {
    if (row.measured == row.planned && !table.empty()) break;
    if (++more > kComparisonRows) break;
    table.row({shorten_front(printable(row.module, 200), kComparisonWidth),
               format_bytes(row.measured), format_bytes(row.planned),
               signed_bytes(row.measured - row.planned)});
  }
  return table.empty() ? "" : "\n" + table.format();
}

std::string bytes_text(const std::vector<BytesOf>& rows, const std::string& title) {
  Table table;
  table.column(title);
  table.column("blocks", Table::Align::right);
  table.column("bytes", Table::Align::right);
  for (std::size_t i = 0; i < std::min(rows.size(), kComparisonRows); ++i)
    table.row({shorten_front(printable(rows[i].name, 200), kComparisonWidth),
               format_count(rows[i].blocks), format_bytes(rows[i].bytes)});
  return table.empty() ? "" : "\n" + table.format();
}

std::string lone_text(const MemoryComparison& c, const std::vector<LoneBlock>& blocks,
                      bool measured) {
  Table table;
  table.column(measured ? "only measured" : "only planned");
  table.column("bytes", Table::Align::right);
  table.column(measured ? "event" : "step", Table::Align::right);
  table.column("");
  table.column(measured ? "after module" : "module");
  for (std::size_t i = 0; i < std::min(blocks.size(), kComparisonRows); ++i) {
    const LoneBlock& one = blocks[i];
    table.row({one.name.empty() ? "(no frames)"
                                : shorten_front(printable(one.name, 200), kComparisonWidth),
               format_bytes(one.bytes),
               measured ? format_count(static_cast<std::int64_t>(one.at)) : step_text(c, one.at),
               one.at_peak ? "at the peak" : "",
               shorten_front(printable(one.module, 200), kComparisonWidth)});
  }
  return table.empty() ? "" : "\n" + table.format();
}

std::string devices_text(const MemoryComparison& c) {
  if (c.devices.size() < 2) return "";
  Table table;
  for (const char* title : {"device", "events", "before", "peak", "reserved"})
    table.column(title, Table::Align::right);
  for (const MeasuredDevice& d : c.devices)
    table.row({std::to_string(d.device), format_count(d.events), format_bytes(d.start_bytes),
               format_bytes(d.peak_bytes), format_bytes(d.peak_reserved)});
  return "\n" + table.format();
}

ComparisonJson bytes_json(const std::vector<BytesOf>& rows) {
  ComparisonJson json = ComparisonJson::array();
  for (const BytesOf& row : rows)
    json.push_back({{"name", row.name}, {"bytes", row.bytes}, {"blocks", row.blocks}});
  return json;
}

ComparisonJson lone_json(const std::vector<LoneBlock>& blocks, const char* at) {
  ComparisonJson json = ComparisonJson::array();
  for (const LoneBlock& one : blocks)
    json.push_back({{"name", one.name},
                    {"module", one.module},
                    {"bytes", one.bytes},
                    {at, one.at},
                    {"at_peak", one.at_peak}});
  return json;
}

ComparisonJson devices_json(const MemoryComparison& c) {
  ComparisonJson json = ComparisonJson::array();
  for (const MeasuredDevice& d : c.devices)
    json.push_back({{"device", d.device},
                    {"events", d.events},
                    {"start_bytes", d.start_bytes},
                    {"peak_bytes", d.peak_bytes},
                    {"peak_reserved_bytes", d.peak_reserved}});
  return json;
}

}  // namespace

std::string_view name_of(MemoryCause cause) {
  constexpr std::string_view names[] = {"only_measured", "measured_longer", "other_sizes",
                                        "earlier_freed", "planned_longer",  "only_planned"};
  return names[static_cast<std::size_t>(cause)];
}

std::string_view describe(MemoryCause cause) {
  constexpr std::string_view texts[] = {
      "blocks that no planned one is like: workspaces, copies, other code",
      "aligned blocks that are alive at the measured peak alone",
      "aligned blocks that are larger or smaller than planned",
      "blocks from before the step that it frees before its peak",
      "aligned blocks that are alive at the planned peak alone",
      "planned blocks that no measured one is like: fused or in place there"};
  return texts[static_cast<std::size_t>(cause)];
}

std::string memory_comparison_text(const MemoryComparison& c) {
  std::string text = c.model.empty() ? "graph" : c.model;
  if (!c.graph_key.empty()) text += " · " + c.graph_key;
  text += fmt::format(" · {}\n", c.order);
  text += fmt::format(
      "{} · device {} · {} events · {}\n\n", printable(c.snapshot, 200), c.device,
      format_count(c.events),
      c.steps > 1 ? fmt::format("step {} of {}: {}", c.step, c.steps, printable(c.step_name, 200))
                  : printable(c.step_name, 200));
  text += figures_text(c) + causes_text(c) + modules_text(c);
  text += lone_text(c, c.only_measured, true) + lone_text(c, c.only_planned, false);
  text += bytes_text(c.lines, "alive at the measured peak, by line");
  if (c.streams.size() > 1) text += bytes_text(c.streams, "by stream");
  text += devices_text(c);
  if (!c.notes.empty()) text += "\n";
  for (const std::string& note : c.notes) text += "note: " + note + "\n";
  return text;
}

std::string memory_comparison_json(const MemoryComparison& c) {
  ComparisonJson json = {{"model", c.model},
                         {"graph", c.graph_key},
                         {"order", c.order},
                         {"snapshot", c.snapshot},
                         {"device", c.device},
                         {"step", c.step},
                         {"steps", c.steps},
                         {"step_name", c.step_name},
                         {"events", c.events},
                         {"start_bytes", c.start_bytes},
                         {"measured_peak_bytes", c.measured_peak},
                         {"measured_rise_bytes", c.measured_rise()},
                         {"planned_peak_bytes", c.planned_peak},
                         {"program_order_peak_bytes", c.program_peak},
                         {"difference_bytes", c.difference()},
                         {"measured_peak_event", c.measured_peak_event},
                         {"measured_peak_near", c.measured_peak_at},
                         {"planned_peak_at", c.planned_peak_at},
                         {"measured_blocks", c.measured_blocks},
                         {"planned_blocks", c.planned_blocks},
                         {"aligned_blocks", c.aligned_blocks},
                         {"measured_block_bytes", c.measured_block_bytes},
                         {"aligned_bytes", c.aligned_bytes},
                         {"rounding_bytes", c.rounding_bytes},
                         {"awaiting_bytes", c.awaiting_bytes},
                         {"reserved_bytes", c.reserved_bytes}};
  for (std::size_t i = 0; i < kMemoryCauses; ++i)
    json["causes"][std::string(name_of(static_cast<MemoryCause>(i)))] = c.causes[i];
  json["modules"] = ComparisonJson::array();
  for (const ComparedModule& row : c.modules)
    json["modules"].push_back(
        {{"module", row.module}, {"measured_bytes", row.measured}, {"planned_bytes", row.planned}});
  json["only_measured"] = lone_json(c.only_measured, "event");
  json["only_planned"] = lone_json(c.only_planned, "step");
  json["at_measured_peak"] = bytes_json(c.lines);
  json["streams"] = bytes_json(c.streams);
  json["devices"] = devices_json(c);
  json["notes"] = c.notes;
  return json_text(json);
}

}  // namespace recut
