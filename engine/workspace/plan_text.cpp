#include "engine/workspace/plan_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "engine/cost/device_profile.h"
#include "engine/support/table.h"
#include "engine/support/units.h"
#include "engine/support/utf8.h"

namespace recut {
namespace {

constexpr std::size_t kPlanTextRows = 10;
constexpr std::size_t kModuleWidth = 48;

double percent(double part, double whole) { return whole > 0 ? 100.0 * part / whole : 0.0; }

std::string peak_location(const PlanReport& report) {
  if (report.timeline.empty()) return "nothing runs";
  const TimelineStep& step = report.timeline[report.peak_step];
  const std::string module = shorten_front(step.module, kModuleWidth);
  if (report.inference)
    return fmt::format("at {}{}", step.node, module.empty() ? "" : " (" + module + ")");
  return fmt::format("at {} ({}{}{})", step.node, step.backward ? "backward" : "forward",
                     module.empty() ? "" : ", ", module);
}

std::string against_baseline(const PlanReport& report) {
  const std::int64_t less = report.baseline_peak_bytes - report.peak_bytes;
  if (less == 0) return "in program order; the same";
  const double change =
      percent(static_cast<double>(less), static_cast<double>(report.baseline_peak_bytes));
  return fmt::format("in program order; the plan takes {:.1f} % {}", std::abs(change),
                     less > 0 ? "less" : "more");
}

std::string proved(const PlanReport& r) {
  return r.recompute_us > 0 ? format_micros(r.proof->recompute_bound_us)
                            : format_bytes(r.proof->peak_bound_bytes);
}

std::string proof_text(const PlanReport& r) {
  if (r.recompute_us <= 0)
    return fmt::format("no order of {} peaks below that",
                       r.fusion == Fusion::none ? "this graph" : "these kernels");
  if (r.proof->optimal) return "no plan within the budget recomputes for less";
  return fmt::format("no plan within the budget recomputes for less: the plan is within {:.1f} %",
                     percent(r.recompute_us - r.proof->recompute_bound_us,
                             std::max(1e-9, r.proof->recompute_bound_us)));
}

std::string given_text(const GivenValues& given) {
  return fmt::format("{} value{} of the caller, not in the peak", format_count(given.count),
                     given.count == 1 ? "" : "s");
}

// The values that the step reads or keeps beside its temporaries.
void add_kept(const PlanReport& r, Table& table) {
  if (!r.inference)
    return table.row({"saved for backward", format_bytes(r.saved_bytes),
                      fmt::format("{} storages, {} values", format_count(r.saved_storages()),
                                  format_count(r.saved_values))});
  table.row({"weights", format_bytes(r.weights.bytes), given_text(r.weights)});
  table.row({"inputs", format_bytes(r.inputs.bytes), given_text(r.inputs)});
}

std::string summary(const PlanReport& r) {
  Table table;
  table.column("");
  table.column("", Table::Align::right);
  table.column("");
  table.row({"peak", format_bytes(r.peak_bytes), peak_location(r)});
  if (r.arena_differs())
    table.row({"arena", format_bytes(r.arena_bytes),
               arena_note(r.arena_bytes, r.peak_bytes, r.budget_bytes)});
  table.row(
      {"peak without recomputation", format_bytes(r.baseline_peak_bytes), against_baseline(r)});
  add_kept(r, table);
  if (r.torch)
    table.row(
        {"saved by PyTorch", format_bytes(r.torch->bytes),
         fmt::format("{} storages, {} values; that peaks at {}", format_count(r.torch->storages),
                     format_count(r.torch->values), format_bytes(r.torch->peak_bytes))});
  table.row({"recomputed", format_micros(r.recompute_us),
             fmt::format("{} runs, {:.1f} % of the {}'s {}", format_count(r.recomputed_runs),
                         percent(r.recompute_us, r.step_us), r.inference ? "call" : "step",
                         format_micros(r.step_us))});
  if (r.inlined_calls > 0)
    table.row({"inlined", format_count(r.inlined_calls),
               "calls that their readers' kernels make for themselves"});
  table.row({r.inference ? "time per call" : "step", format_micros(r.step_us),
             fmt::format("{} without recomputation", format_micros(r.baseline_step_us))});
  if (!r.overrides.empty())
    table.row({"overrides", format_count(static_cast<std::int64_t>(r.overrides.size())),
               shorten_back(fmt::format("{}", fmt::join(r.overrides, " ")), 2 * kModuleWidth)});
  if (r.proof) table.row({"proved", proved(r), proof_text(r)});
  table.row({"planned in", format_micros(r.solve_ms * 1000),
             fmt::format("{} nodes", format_count(r.nodes))});
  return table.format();
}

std::string storages(const std::vector<StorageRow>& rows, const std::string& title) {
  Table table;
  table.column(title);
  table.column("operator");
  table.column("type");
  table.column("bytes", Table::Align::right);
  table.column("module");
  for (std::size_t i = 0; i < std::min(rows.size(), kPlanTextRows); ++i)
    table.row({rows[i].node, rows[i].op, rows[i].type, format_bytes(rows[i].bytes),
               shorten_front(rows[i].module, kModuleWidth)});
  return table.empty() ? std::string() : "\n" + table.format();
}

std::string recomputations(const std::vector<RecomputedRow>& rows) {
  Table table;
  table.column("most expensive recomputations");
  table.column("operator");
  table.column("runs", Table::Align::right);
  table.column("time", Table::Align::right);
  table.column("module");
  for (std::size_t i = 0; i < std::min(rows.size(), kPlanTextRows); ++i)
    table.row({rows[i].node, rows[i].op, format_count(rows[i].extra_runs),
               format_micros(rows[i].micros), shorten_front(rows[i].module, kModuleWidth)});
  return table.empty() ? std::string() : "\n" + table.format();
}

std::string blame_text(const PlanReport& report) {
  if (report.overrides.empty()) return {};
  if (!report.blame || !report.blame->feasible_without)
    return "; that is under the overrides, but without them it can't be held either";
  const auto& sufficient = report.blame->sufficient;
  return fmt::format(
      "; the overrides are why: {}",
      sufficient.empty()
          ? fmt::format("without {} it can be held", fmt::join(report.overrides, ", "))
          : fmt::format("it can be held without {}", fmt::join(sufficient, ", or without ")));
}

}  // namespace

std::string infeasible_budget_text(const PlanReport& report) {
  const PeakProof& proof = *report.proof;
  const std::string why = fmt::format(
      "a peak of {} ({} bytes) can't be held: the least that Recut can plan is {} ({} bytes){}",
      format_bytes(report.budget_bytes), report.budget_bytes, format_bytes(proof.min_peak_bytes),
      proof.min_peak_bytes,
      proof.optimal ? ", and no order of this graph goes below that"
                    : fmt::format("{}; proved: no order of this graph goes below {} ({} bytes)",
                                  proof.short_search ? ", by a short search" : "",
                                  format_bytes(proof.peak_bound_bytes), proof.peak_bound_bytes));
  return why + blame_text(report);
}

std::string plan_text(const PlanReport& report) {
  std::string head = report.model.empty() ? std::string("graph") : report.model;
  if (!report.graph_key.empty()) head += " · " + report.graph_key;
  head += fmt::format(" · strategy {}, budget {}\n", report.strategy, report.budget);
  if (report.cost_model != "eager")
    head += fmt::format("model {} by {}: {} where its calls run one by one\n", report.cost_model,
                        name_of(report.fusion), format_bytes(report.eager_peak_bytes));
  if (report.device != kReferenceDevice)
    head += fmt::format("times of {}: {}\n", report.device, report.device_title);
  if (!report.torch_settings.empty())
    head += fmt::format("chosen by {}\n", fmt::join(report.remarks, "; "));
  head += "\n";
  return head + summary(report) +
         (report.inference ? storages(report.at_peak, "largest storages at the peak")
                           : storages(report.saved, "largest saved storages")) +
         recomputations(report.recomputed);
}

}  // namespace recut
