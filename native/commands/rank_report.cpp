#include "native/commands/rank_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "engine/support/table.h"
#include "engine/support/text.h"
#include "engine/support/units.h"
#include "native/commands/run_report.h"

namespace recut::native {
namespace {

constexpr std::size_t kListedOutputs = 64;
constexpr ErrorBound kBounds[] = {ErrorBound::dtype, ErrorBound::interpreter, ErrorBound::perturbed,
                                  ErrorBound::none};

std::size_t kept_by(const RankExecution& e, ErrorBound bound) {
  return static_cast<std::size_t>(
      std::count_if(e.accuracy.outputs.begin(), e.accuracy.outputs.end(),
                    [&](const OutputComparison& output) { return output.bound == bound; }));
}

std::string outputs_text(const RankExecution& e) {
  Table table;
  for (const char* title : {"output", ""}) table.column(title);
  table.column("relative error", Table::Align::right);
  for (const char* title : {"bound", ""}) table.column(title);
  for (const OutputComparison& output : e.accuracy.outputs)
    table.row({printable(output.name), output.gradient ? "gradient" : "result",
               fmt::format("{:.1e}", output.comparison.relative_error),
               std::string(name_of(output.bound)), output.ok() ? "agrees" : "DIFFERS"});
  return table.format(0) + "\n";
}

std::string rank_check_text(const RankExecution& e) {
  std::string text;
  if (e.accuracy.outputs.size() <= kListedOutputs) text += "\n" + outputs_text(e);
  for (const OutputComparison& output : e.accuracy.outputs)
    if (!output.ok()) text += "DIFFERS: " + accuracy_text(output) + "\n";
  if (!e.unlike.empty()) text += "DIFFERS: " + e.unlike + "\n";
  text += fmt::format("{} outputs {} {}, largest relative error {:.1e}; bounds:",
                      e.accuracy.outputs.size(), e.agrees() ? "agree with" : "were compared with",
                      e.reference, max_relative_error(e.accuracy.outputs));
  for (const ErrorBound bound : kBounds)
    if (const std::size_t count = kept_by(e, bound); count > 0)
      text += fmt::format(" {} {}", count, name_of(bound));
  text += "\n";
  if (!e.accuracy.no_f64.empty())
    text += fmt::format("the reference is the interpreter's, not f64: {}\n", e.accuracy.no_f64);
  return text;
}

std::string peaks_text(const RankExecution& e) {
  Table table;
  for (const char* title : {"rank", "planned peak", "measured peak", "scratch"})
    table.column(title, Table::Align::right);
  table.column("");
  for (std::size_t rank = 0; rank < e.peaks.size(); ++rank) {
    const RankPeak& peak = e.peaks[rank];
    table.row({fmt::format("{}", rank), format_count(peak.planned_bytes),
               format_count(peak.measured_bytes), format_count(peak.scratch_bytes),
               peak.holds() ? "" : "NOT AS PLANNED"});
  }
  return table.format(0);
}

}  // namespace

std::string ranks_as_text(const RankExecution& e, int steps, bool checked) {
  const RankPeak& worst = e.peaks[e.worst()];
  std::string text = fmt::format(
      "step {:.3f} ms (median of {}), {:.3f} ms at best, of {} ranks of {} one after another; "
      "{:.3f} ms of it in {} collectives\n{:.3f} ms predicted on a device for each rank\n"
      "peak {} bytes planned, {} bytes measured, on rank {}, the worst of {}{}\n"
      "{} launches of {} kernels a rank\n\n",
      e.step_ms_median, steps, e.step_ms_min, e.peaks.size(), e.mesh, e.collectives_ms,
      e.collectives, e.predicted_ms, format_count(worst.planned_bytes),
      format_count(worst.measured_bytes), e.worst(), e.peaks.size(),
      e.holds() ? "" : ": NOT AS PLANNED", e.launches, e.kernels);
  text += peaks_text(e);
  return checked ? text + rank_check_text(e) : text;
}

std::string ranks_as_json(const RankExecution& e, bool checked) {
  using Json = nlohmann::ordered_json;
  Json ranks = Json::array();
  for (std::size_t rank = 0; rank < e.peaks.size(); ++rank)
    ranks.push_back({{"rank", rank},
                     {"planned_peak_bytes", e.peaks[rank].planned_bytes},
                     {"measured_peak_bytes", e.peaks[rank].measured_bytes},
                     {"scratch_bytes", e.peaks[rank].scratch_bytes}});
  const RankPeak& worst = e.peaks[e.worst()];
  Json json = {{"mesh", e.mesh},
               {"executor", "local"},
               {"planned_peak_bytes", worst.planned_bytes},
               {"measured_peak_bytes", worst.measured_bytes},
               {"worst_rank", e.worst()},
               {"as_planned", e.holds()},
               {"budget_bytes", e.budget_bytes},
               {"step_ms_median", e.step_ms_median},
               {"step_ms_min", e.step_ms_min},
               {"collectives_ms", e.collectives_ms},
               {"predicted_step_ms", e.predicted_ms},
               {"kernels", e.kernels},
               {"launches", e.launches},
               {"collectives", e.collectives},
               {"ranks", ranks}};
  if (!checked) return json.dump(2) + "\n";
  Json bounds = Json::object(), outputs = Json::array();
  for (const ErrorBound bound : kBounds) bounds[std::string(name_of(bound))] = kept_by(e, bound);
  for (const OutputComparison& output : e.accuracy.outputs) outputs.push_back(checked_json(output));
  json["ok"] = e.agrees() && e.holds();
  json["compared_with"] = e.reference;
  json["reference"] = e.accuracy.no_f64.empty() ? "f64" : "own dtypes";
  if (!e.accuracy.no_f64.empty()) json["no_f64"] = e.accuracy.no_f64;
  json["max_relative_error"] = max_relative_error(e.accuracy.outputs);
  json["outputs_by_bound"] = bounds;
  if (!e.unlike.empty()) json["problem"] = e.unlike;
  json["checked"] = outputs;
  return json.dump(2) + "\n";
}

}  // namespace recut::native
