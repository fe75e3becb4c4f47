#include "gui/report/html_report.h"

#include <fmt/format.h>

#include <algorithm>

#include "engine/support/check.h"
#include "engine/support/units.h"
#include "engine/support/version.h"
#include "gui/pictures/memory_timeline.h"
#include "gui/pictures/trade_off_curve.h"
#include "gui/report/finding.h"
#include "gui/report/html.h"

// The page is a row of sections, each made from the HtmlReport. section() writes nothing where the
// body is empty, so that no heading stands without content. Style, script and pictures are in the
// file: it needs no network. A cell has a text for readers and a number for sorting:
//   bytes_cell(1610612736)  ⇒  "1.50 GiB", sorted by 1610612736
// Names come from files, so headings, figures and cells escape their text. A table ends at 500 rows
// and says how many more there are, since a large graph may save thousands of values.

namespace recut::gui {
namespace {

using Kind = HtmlTable::Kind;

constexpr std::size_t kMaxRows = 500;

HtmlTable::Cell text_cell(std::string text) { return {std::move(text)}; }
HtmlTable::Cell bytes_cell(std::int64_t count_cell) {
  return {format_bytes(count_cell), static_cast<double>(count_cell)};
}
HtmlTable::Cell micros_cell(double time) { return {format_micros(time), time}; }
HtmlTable::Cell count_cell(std::int64_t number) {
  return {format_count(number), static_cast<double>(number)};
}

std::string section(std::string_view id, std::string_view title, std::string_view lead,
                    std::string body) {
  if (body.empty()) return {};
  return fmt::format("<section id=\"{}\"><h2>{}</h2>\n{}{}</section>\n", id, escape_html(title),
                     lead.empty() ? "" : fmt::format("<p>{}</p>\n", escape_html(lead)), body);
}

std::string figure(std::string_view name, const std::string& value, const std::string& note,
                   bool refused = false) {
  return fmt::format("<div><dt>{}</dt><b{}>{}</b><span>{}</span></div>\n", escape_html(name),
                     refused ? " class=\"refused\"" : "", escape_html(value), escape_html(note));
}

std::string proof_note(const PlanReport& r) {
  if (!r.proof) return "strategy " + r.strategy + " proves nothing";
  if (!r.holds()) return "no order goes below " + format_bytes(r.proof->peak_bound_bytes);
  if (r.recompute_us <= 0) return "nothing is recomputed";
  return fmt::format("proved: not below {}", format_micros(r.proof->recompute_bound_us));
}

// The values that the step keeps for backward; of inference, those of its caller.
std::string kept_figures(const PlanReport& r) {
  if (!r.inference)
    return figure("saved for backward", format_bytes(r.saved_bytes),
                  fmt::format("{} storages, {} values", format_count(r.saved_storages()),
                              format_count(r.saved_values)));
  return figure("weights", format_bytes(r.weights.bytes),
                format_count(r.weights.count) + " values, not in the peak") +
         figure("inputs", format_bytes(r.inputs.bytes),
                format_count(r.inputs.count) + " values, not in the peak");
}

std::string figures(const PlanReport& r) {
  const double share = r.baseline_peak_bytes > 0 ? 100.0 * static_cast<double>(r.peak_bytes) /
                                                       static_cast<double>(r.baseline_peak_bytes)
                                                 : 0;
  return "<dl class=\"figures\">\n" +
         figure("peak", format_bytes(r.peak_bytes),
                fmt::format("{:.1f} % of {} without recomputation, in program order", share,
                            format_bytes(r.baseline_peak_bytes)),
                !r.holds()) +
         (r.arena_differs() ? figure("arena", format_bytes(r.arena_bytes),
                                     arena_note(r.arena_bytes, r.peak_bytes, r.budget_bytes))
                            : "") +
         kept_figures(r) +
         figure("recomputed", format_micros(r.recompute_us),
                format_count(r.recomputed_runs) + " runs; " + proof_note(r)) +
         figure(r.inference ? "time per call" : "step", format_micros(r.step_us),
                format_micros(r.baseline_step_us) + " without recomputation") +
         figure("planned in", format_micros(r.solve_ms * 1000), format_count(r.nodes) + " nodes") +
         "</dl>\n";
}

// A table of the plans, with PyTorch's best plan that peaks no higher than the first.
std::string comparison(const HtmlReport& report) {
  const CurvePoint* torch = torch_at_peak(*report.plans.front(), report.curve);
  if (report.plans.size() < 2 && torch == nullptr) return {};
  const bool inference = report.plans.front()->inference;
  HtmlTable table;
  table.column("plan").column("budget").column("peak", Kind::number);
  if (!inference) table.column("saved", Kind::number).column("storages saved", Kind::number);
  for (const char* title : {"recomputed", "runs", inference ? "call" : "step"})
    table.column(title, Kind::number);
  for (const PlanReport* r : report.plans) {
    std::vector<HtmlTable::Cell> cells{text_cell(r->strategy), text_cell(r->budget),
                                       bytes_cell(r->peak_bytes)};
    if (!inference)
      cells.insert(cells.end(), {bytes_cell(r->saved_bytes), count_cell(r->saved_storages())});
    cells.insert(cells.end(), {micros_cell(r->recompute_us), count_cell(r->recomputed_runs),
                               micros_cell(r->step_us)});
    table.row(std::move(cells));
  }
  if (torch != nullptr)
    table.row({text_cell(torch_name(*report.curve)),
               text_cell(fmt::format("{} of the saved bytes", torch->fraction)),
               bytes_cell(torch->peak_bytes),
               bytes_cell(torch->saved_bytes),
               {"–", 0},
               micros_cell(torch->recompute_us),
               count_cell(torch->recomputed_runs),
               micros_cell(torch->step_us)});
  return table.format(kMaxRows);
}

std::string storages(const std::vector<StorageRow>& rows, bool inference) {
  HtmlTable table;
  table.column("value", Kind::code).column("operator", Kind::code).column("type", Kind::code);
  table.column("bytes", Kind::number).column("why").column("module", Kind::code);
  for (const StorageRow& row : rows)
    table.row({text_cell(row.node), text_cell(row.op), text_cell(row.type), bytes_cell(row.bytes),
               text_cell(name_of(row.kind, inference)),
               text_cell(std::string(short_module(row.module)))});
  return table.empty() ? std::string() : table.format(kMaxRows);
}

std::string recomputations(const std::vector<RecomputedRow>& rows) {
  HtmlTable table;
  table.column("value", Kind::code).column("operator", Kind::code);
  table.column("runs", Kind::number).column("time", Kind::number).column("module", Kind::code);
  for (const RecomputedRow& row : rows)
    table.row({text_cell(row.node), text_cell(row.op), count_cell(row.extra_runs),
               micros_cell(row.micros), text_cell(std::string(short_module(row.module)))});
  return table.empty() ? std::string() : table.format(kMaxRows);
}

std::string passes_table(const PipelineReport* report) {
  if (report == nullptr || report->passes.empty()) return {};
  HtmlTable table;
  table.column("pass", Kind::code).column("time", Kind::number).column("nodes", Kind::number);
  table.column("change", Kind::number).column("what it did");
  for (const PassReport& pass : report->passes) {
    const auto change =
        static_cast<std::int64_t>(pass.nodes_after) - static_cast<std::int64_t>(pass.nodes_before);
    std::string hits;
    for (const auto& [rule, number] : rule_hits(pass.changes))
      hits += fmt::format("{}{} {}", hits.empty() ? "" : ", ", number, rule);
    table.row(
        {text_cell(pass.name),
         micros_cell(pass.milliseconds * 1000),
         count_cell(static_cast<std::int64_t>(pass.nodes_after)),
         {change == 0 ? std::string() : fmt::format("{:+}", change), static_cast<double>(change)},
         text_cell(pass.skipped    ? "skipped"
                   : !pass.changed ? "nothing"
                                   : hits)});
  }
  return table.format(kMaxRows);
}

std::string trade_off(const CurveReport* curve) {
  if (curve == nullptr || curve->points.empty()) return {};
  HtmlTable table;
  table.column("planned by").column("budget").column("peak", Kind::number);
  if (!curve->inference) table.column("saved", Kind::number);
  for (const char* title :
       {"recomputed", "runs", "proved at least", curve->inference ? "call" : "step"})
    table.column(title, Kind::number);
  for (const CurvePoint& p : curve->points) {
    std::vector<HtmlTable::Cell> cells{text_cell("Recut"), text_cell(format_bytes(p.budget_bytes)),
                                       bytes_cell(p.peak_bytes)};
    if (!curve->inference) cells.push_back(bytes_cell(p.saved_bytes));
    cells.insert(cells.end(), {micros_cell(p.recompute_us), count_cell(p.recomputed_runs),
                               micros_cell(p.recompute_bound_us), micros_cell(p.step_us)});
    table.row(std::move(cells));
  }
  for (const CurvePoint& p : curve->torch)
    table.row({text_cell(torch_name(*curve)),
               text_cell(fmt::format("{} of the saved bytes", p.fraction)),
               bytes_cell(p.peak_bytes),
               bytes_cell(p.saved_bytes),
               micros_cell(p.recompute_us),
               count_cell(p.recomputed_runs),
               {"–", 0},
               micros_cell(p.step_us)});
  return html_figure([&](const PictureLook& look) { return trade_off_svg(*curve, look); },
                     curve->inference
                         ? "Peak memory against time per call. Shaded: proved impossible."
                         : "Peak memory against step time. Shaded: proved impossible.") +
         table.format(kMaxRows);
}

// The device's name and key: "NVIDIA H100 SXM5 80 GB (h100)".
std::string device_text(const PlanReport& r) {
  return r.device_title.empty() ? r.device : fmt::format("{} ({})", r.device_title, r.device);
}

// The inputs from which the same report can be written again.
std::string reproduction(const HtmlReport& report) {
  const PlanReport& r = *report.plans.front();
  std::string facts;
  const auto fact = [&](std::string_view name, std::string_view value) {
    if (value.empty()) return;
    facts += fmt::format("<dt>{}</dt><dd>{}</dd>\n", escape_html(name), escape_html(value));
  };
  fact("Recut", version());
  fact("graph", report.file + (r.graph_key.empty() ? "" : ", " + r.graph_key));
  fact("digest of the graph", report.digest);
  fact("device", device_text(r));
  fact("cost model", r.fusion == Fusion::none
                         ? r.cost_model
                         : fmt::format("{}, kernels by {}", r.cost_model, name_of(r.fusion)));
  const std::string command =
      report.command.empty()
          ? "<p>No single command writes this report: the graph was changed in the window.</p>\n"
          : fmt::format("<div class=\"scroll\"><pre>{}</pre></div>\n", escape_html(report.command));
  return command + "<dl class=\"facts\">\n" + facts + "</dl>\n";
}

std::string lead_of(const HtmlReport& report) {
  const PlanReport& r = *report.plans.front();
  std::string lead =
      fmt::format("{} · {}strategy {}, budget {}", report.file,
                  r.graph_key.empty() ? "" : r.graph_key + " · ", r.strategy, r.budget);
  lead += fmt::format(" · times of {} · {} model", device_text(r), r.cost_model);
  if (!r.overrides.empty()) lead += fmt::format(" · overrides: {}", fmt::join(r.overrides, " "));
  if (!r.torch_settings.empty()) lead += fmt::format(" · chosen by {}", fmt::join(r.remarks, "; "));
  return lead;
}

}  // namespace

std::string html_report(const HtmlReport& report) {
  RECUT_CHECK(!report.plans.empty(), "a report tells of a plan");
  const PlanReport& r = *report.plans.front();
  const std::string title = r.model.empty() ? std::string("graph") : r.model;
  std::string body =
      fmt::format("<h1>{}</h1>\n<p>{}</p>\n", escape_html(title), escape_html(lead_of(report)));
  body += fmt::format("<p id=\"finding\">{}</p>\n", escape_html(finding_of(r, report.curve)));
  body += figures(r);
  body += section("plans", "Plans side by side",
                  r.inference ? ""
                              : "PyTorch's row is the cheapest of its plans that peaks no higher, "
                                "with the same kernels.",
                  comparison(report));
  body += section(
      "memory", "Memory", "",
      r.timeline.empty()
          ? std::string()
          : html_figure([&](const PictureLook& look) { return memory_timeline_svg(r, look); },
                        r.inference
                            ? "Bytes alive at each step, in the plan's order, by why they are "
                              "alive."
                            : "Bytes alive at each step, in program order, by why they are "
                              "alive."));
  body += section("trade-off", "Trade-off",
                  r.inference ? "The cheapest plan found for each budget."
                              : "The cheapest plan found for each budget, and where PyTorch's "
                                "partitioner lands.",
                  trade_off(report.curve));
  body += section("peak", "Alive at the peak", "Largest first.", storages(r.at_peak, r.inference));
  body += section("saved", "Saved for backward", "Largest first.", storages(r.saved, r.inference));
  body +=
      section("recomputed", "Recomputed", "Most expensive first.", recomputations(r.recomputed));
  body += section("passes", "Passes", "", passes_table(report.passes));
  body += section("reproduce", "Reproduce", "", reproduction(report));
  return fmt::format(
      "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n"
      "<meta name=\"viewport\" content=\"width=device-width\">\n<title>{}: Recut</title>\n{}"
      "</head><body><main>\n{}<footer>Recut {}. The peak counts every storage that is alive, "
      "inputs and parameters not.</footer></main>\n{}</body></html>\n",
      escape_html(title), html_style(), body, version(), html_script());
}

}  // namespace recut::gui
