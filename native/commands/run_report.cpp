#include "native/commands/run_report.h"

#include <fmt/core.h>

#include <algorithm>

#include "engine/support/table.h"
#include "engine/support/units.h"

// Every executor fills the same StepExecution, so one file writes all reports. A RunReport adds the
// device, the library's name and the ceilings, as far as they are known. Text and JSON read the
// same fields; text lists the ten slowest kernels, JSON all of them. Rates follow from bytes, flops
// and ms:
//   3,000,000 bytes in 0.5 ms  ⇒  1e-6 * bytes / ms = 6 GB/s
// The check (engine/eval/accuracy.h) says for each output which bound its error keeps. The text
// counts them, and has a line for each output that differs or is ill-conditioned.

namespace recut::native {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t kShownKernels = 10;

Json rates_json(const KernelTime& time, const std::optional<Ceilings>& ceilings) {
  Json json = {{"name", time.name},
               {"library", time.library},
               {"launches", time.launches},
               {"ms", time.ms},
               {"predicted_ms", time.predicted_ms},
               {"bytes", time.bytes},
               {"flops", time.flops},
               {"gb_per_second", 1e-6 * time.bytes / time.ms},
               {"gflops_per_second", 1e-6 * time.flops / time.ms}};
  if (ceilings) json["share_of_ceiling"] = time.share_of(ceilings->peaks);
  return json;
}

Json ceilings_json(const Ceilings& ceilings) {
  return {{"profile", ceilings.name},
          {"title", ceilings.title},
          {"source", ceilings.source},
          {"gb_per_second", 1e-9 * ceilings.peaks.bytes_per_second},
          {"f32_gflops_per_second", 1e-9 * ceilings.peaks.flops_of(DType::f32)},
          {"f64_gflops_per_second", 1e-9 * ceilings.peaks.flops_of(DType::f64)}};
}

std::string slowest_text(const RunReport& report) {
  const StepExecution& e = report.execution;
  const std::optional<Ceilings>& ceilings = report.ceilings;
  Table table;
  table.column("kernel");
  for (const char* title : {"launches", "ms", "predicted", "share", "GB/s", "GFLOP/s"})
    table.column(title, Table::Align::right);
  if (ceilings) table.column("of ceiling", Table::Align::right);
  double all = 0;
  for (const KernelTime& time : e.times) all += time.ms;
  const auto add = [&](const KernelTime& time, const std::string& share) {
    std::vector<std::string> cells = {
        time.library ? time.name + " (" + report.library + ")" : time.name,
        fmt::format("{}", time.launches),
        fmt::format("{:.3f}", time.ms),
        fmt::format("{:.3f}", time.predicted_ms),
        share,
        fmt::format("{:.1f}", 1e-6 * time.bytes / time.ms),
        fmt::format("{:.1f}", 1e-6 * time.flops / time.ms)};
    if (ceilings) cells.push_back(fmt::format("{:.0f} %", 100 * time.share_of(ceilings->peaks)));
    table.row(std::move(cells));
  };
  for (std::size_t i = 0; i < std::min(e.times.size(), kShownKernels); ++i)
    add(e.times[i], fmt::format("{:.0f} %", 100 * e.times[i].ms / all));
  add(e.whole(), "");
  return table.format(0);
}

std::string ceilings_text(const RunReport& report) {
  if (!report.ceilings) return report.without_ceilings;
  const Ceilings& ceilings = *report.ceilings;
  return fmt::format(
      "ceilings {:.1f} GB/s and {:.1f} GFLOP/s (f32), of {} ({}), by which it is planned, too\n"
      "their source: {}\n",
      1e-9 * ceilings.peaks.bytes_per_second, 1e-9 * ceilings.peaks.flops_of(DType::f32),
      ceilings.name, ceilings.title, ceilings.source);
}

std::size_t count_of(const StepExecution& e, ErrorBound bound) {
  return static_cast<std::size_t>(
      std::count_if(e.accuracy.outputs.begin(), e.accuracy.outputs.end(),
                    [&](const OutputComparison& output) { return output.bound == bound; }));
}

std::string bounds_text(const StepExecution& e) {
  std::string text;
  for (const auto& [bound, words] :
       {std::pair(ErrorBound::interpreter,
                  "within 16 times the error of the interpreter's own "
                  "rounding"),
        std::pair(ErrorBound::perturbed, "within 4 times the change by random rounding")})
    if (const std::size_t count = count_of(e, bound); count > 0)
      text += fmt::format("{} of them above their dtype's rounding, {}\n", count, words);
  if (!e.accuracy.no_f64.empty())
    text += fmt::format("the reference is the interpreter's, not f64: {}\n", e.accuracy.no_f64);
  return text;
}

std::string check_text(const StepExecution& e) {
  std::string text;
  for (const OutputComparison& output : e.accuracy.outputs)
    if (!output.ok()) text += "DIFFERS: " + accuracy_text(output) + "\n";
  for (const OutputComparison& output : e.accuracy.outputs)
    if (output.ill_conditioned) text += "ILL-CONDITIONED: " + accuracy_text(output) + "\n";
  text += fmt::format(
      "{} outputs {}, largest relative error {:.1e}{}\n", e.accuracy.outputs.size(),
      e.agrees() ? "agree with the interpreter's" : "were compared", e.max_relative_error(),
      e.allowed_error > 0 ? fmt::format(" of {:.0e} that fewer bits allow", e.allowed_error) : "");
  return text + bounds_text(e);
}

Json check_json(const StepExecution& e) {
  Json json = {{"ok", e.agrees() && e.holds()}, {"max_relative_error", e.max_relative_error()}};
  if (e.allowed_error > 0) json["allowed_error"] = e.allowed_error;
  json["reference"] = e.accuracy.no_f64.empty() ? "f64" : "own dtypes";
  if (!e.accuracy.no_f64.empty()) json["no_f64"] = e.accuracy.no_f64;
  json["outputs"] = e.accuracy.outputs.size();
  json["outputs_by_rounding"] =
      count_of(e, ErrorBound::interpreter) + count_of(e, ErrorBound::perturbed);
  Json bounds = Json::object(), checked = Json::array();
  for (const ErrorBound bound :
       {ErrorBound::dtype, ErrorBound::interpreter, ErrorBound::perturbed, ErrorBound::none})
    bounds[std::string(name_of(bound))] = count_of(e, bound);
  for (const OutputComparison& output : e.accuracy.outputs) checked.push_back(checked_json(output));
  json["outputs_by_bound"] = bounds;
  json["checked"] = checked;
  return json;
}

std::string_view origin_text(cache::StepOrigin origin) {
  switch (origin) {
    case cache::StepOrigin::compiled:
      return "compiled in";
    case cache::StepOrigin::kernels_found:
      return "these from the cache, made ready in";
    case cache::StepOrigin::found:
      return "from the cache in";
  }
  return "";
}

}  // namespace

Json checked_json(const OutputComparison& output) {
  const Comparison& c = output.comparison;
  Json row = {{"position", output.position},
              {"name", output.name},
              {"gradient", output.gradient},
              {"elements", c.elements},
              {"ok", output.ok()},
              {"bound", name_of(output.bound)},
              {"relative_error", c.relative_error},
              {"interpreter_error", output.interpreter_error}};
  if (output.perturbed_error > 0) row["perturbed_error"] = output.perturbed_error;
  if (output.ill_conditioned) row["ill_conditioned"] = true;
  if (!c.problem.empty()) row["problem"] = c.problem;
  if (c.worst)
    row["worst"] = {
        {"index", c.worst->index}, {"found", c.worst->found}, {"expected", c.worst->expected}};
  return row;
}

std::string as_json(const RunReport& report) {
  const StepExecution& e = report.execution;
  Json slowest = Json::array();
  for (const KernelTime& time : e.times) slowest.push_back(rates_json(time, report.ceilings));
  Json json = {{"planned_peak_bytes", e.planned_peak_bytes},
               {"measured_peak_bytes", e.measured_peak_bytes},
               {"scratch_bytes", e.scratch_bytes},
               {"packed_bytes", e.packed_bytes},
               {"step_ms_median", e.step_ms_median},
               {"step_ms_min", e.step_ms_min},
               {"predicted_step_ms", e.whole().predicted_ms},
               {"compile_ms", e.compile_ms},
               {"from_cache", cache::name_of(report.origin)}};
  json.update(report.more);
  json.update({{"program", e.program},
               {"kernels", e.kernels},
               {"launches", e.launches},
               {"step", rates_json(e.whole(), report.ceilings)},
               {"slowest", slowest}});
  if (report.ceilings) json["ceilings"] = ceilings_json(*report.ceilings);
  if (report.check) json.update(check_json(e));
  return json.dump(2) + "\n";
}

std::string finding_text(const StepExecution& e) {
  return fmt::format("peak {} bytes planned, {} bytes measured{}\n{}",
                     format_count(e.planned_peak_bytes), format_count(e.measured_peak_bytes),
                     e.holds() ? "" : ": NOT AS PLANNED",
                     e.accuracy.outputs.empty() ? "" : check_text(e));
}

std::string as_text(const RunReport& report) {
  const StepExecution& e = report.execution;
  const std::string scratch = e.scratch_bytes == 0
                                  ? ""
                                  : fmt::format("; {} bytes of scratch for {}",
                                                format_count(e.scratch_bytes), report.library);
  const std::string packed = e.packed_bytes == 0
                                 ? ""
                                 : fmt::format("; {} bytes of weights in the layout of {}",
                                               format_count(e.packed_bytes), report.library);
  std::string text = fmt::format(
      "step {:.3f} ms (median of {}), {:.3f} ms at best, {:.3f} ms predicted, {}\n"
      "peak {} bytes planned, {} bytes measured{}{}{}\n{}"
      "{} launches of {} kernels, {} {:.0f} ms\n\n",
      e.step_ms_median, report.steps, e.step_ms_min, e.whole().predicted_ms, report.where,
      format_count(e.planned_peak_bytes), format_count(e.measured_peak_bytes),
      e.holds() ? "" : ": NOT AS PLANNED", scratch, packed, report.facts, e.launches, e.kernels,
      origin_text(report.origin), e.compile_ms);
  text += slowest_text(report) + "\n" + ceilings_text(report);
  if (report.check) text += "\n" + check_text(e);
  return text;
}

}  // namespace recut::native
