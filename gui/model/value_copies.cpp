// Tables as text, for the clipboard.
#include <fmt/core.h>

#include "engine/support/table.h"
#include "engine/support/units.h"
#include "gui/model/memory_stack.h"
#include "gui/model/value_table.h"

namespace recut::gui {

std::string csv_field(std::string_view text) {
  if (text.find_first_of(",\"\n\r") == std::string_view::npos) return std::string(text);
  std::string quoted = "\"";
  for (const char c : text) quoted += c == '"' ? std::string("\"\"") : std::string(1, c);
  return quoted + "\"";
}

std::string values_csv(const ValueTable& table) {
  std::string csv = "role,name,bytes,flip_peak_bytes,flip_us,module\n";
  if (!table.rows) return csv;
  const Graph& graph = table.rows->plan->graph();
  for (const std::uint32_t i : table.order) {
    const ValueRow& row = table.rows->rows[i];
    const std::string flip =
        row.has_choice ? fmt::format("{},{:.3f}", row.flip_bytes, row.flip_us) : ",";
    csv += fmt::format("{},{},{},{},{}\n", name_of(table.rows->role(row)),
                       csv_field(graph.node_name(row.node)), row.bytes, flip,
                       csv_field(graph.origin(row.node).module));
  }
  return csv;
}

std::string values_text(const ValueTable& table) {
  Table text;
  text.column("role");
  text.column("value");
  for (const char* title : {"bytes", "flip: peak", "flip: time"})
    text.column(title, Table::Align::right);
  text.column("module");
  if (table.rows)
    for (const std::uint32_t i : table.order) {
      const ValueRow& row = table.rows->rows[i];
      const Graph& graph = table.rows->plan->graph();
      text.row({std::string(name_of(table.rows->role(row))), graph.node_name(row.node),
                format_bytes(row.bytes), row.has_choice ? signed_bytes(row.flip_bytes) : "",
                row.has_choice ? signed_micros(row.flip_us) : "", graph.origin(row.node).module});
    }
  return text.format(0);
}

std::string timeline_csv(const PlanView& plan) {
  std::string csv = "step,phase,again,node,module,total_bytes";
  for (std::size_t kind = 0; kind < kMemoryKinds; ++kind)
    csv +=
        fmt::format(",{}_bytes", name_of(static_cast<MemoryKind>(kind), plan.report().inference));
  csv += '\n';
  const auto& timeline = plan.report().timeline;
  for (std::size_t step = 0; step < timeline.size(); ++step) {
    const TimelineStep& row = timeline[step];
    csv += fmt::format("{},{},{},{},{},{}", step, row.backward ? "backward" : "forward",
                       plan.replay().steps[step].again ? 1 : 0, csv_field(row.node),
                       csv_field(row.module), row.total());
    for (const std::int64_t bytes : row.bytes) csv += fmt::format(",{}", bytes);
    csv += '\n';
  }
  return csv;
}

std::string peak_text(const PlanView& plan) {
  const PlanReport& report = plan.report();
  std::string text = fmt::format("{}: peak {}", report.model, format_bytes(report.peak_bytes));
  if (!report.timeline.empty())
    text += fmt::format(" at {}, {}", step_label(report, report.peak_step),
                        report.timeline[report.peak_step].node);
  Table table;
  table.column("value");
  table.column("bytes", Table::Align::right);
  for (const char* title : {"kind", "operator", "type", "module"}) table.column(title);
  for (const StorageRow& row : report.at_peak)
    table.row({row.node, format_bytes(row.bytes), name_of(row.kind, plan.report().inference),
               row.op, row.type, row.module});
  return text + "\n" + table.format(0);
}

}  // namespace recut::gui
