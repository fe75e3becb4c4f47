// A curve in three forms: CSV, a row per point, for other programs; JSON with every field, which
// parse_curve_json() reads back; and a text for terminals, with at most kTextPoints points.
//
// The keys of CSV and JSON are part of the command's interface: scripts read them, so they keep the
// former names of fields that were renamed in the report. Reading trusts its input, the output of
// curve_json(); each missing key has a default, so that older curves still open.
#include "engine/workspace/curve_export.h"

#include <fmt/core.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "engine/support/check.h"
#include "engine/support/table.h"
#include "engine/support/units.h"
#include "engine/workspace/json_text.h"

namespace recut {
namespace {

using Json = nlohmann::ordered_json;
using CurveJson = nlohmann::json;

constexpr std::size_t kTextPoints = 11;

Json point_json(const CurvePoint& point, bool torch, bool inference) {
  Json json;
  if (torch)
    json["fraction"] = point.fraction;
  else
    json["budget_bytes"] = point.budget_bytes;
  json["fusion"] = name_of(point.fusion);
  json["peak_bytes"] = point.peak_bytes;
  if (!inference) json["saved_bytes"] = point.saved_bytes;
  json["step_us"] = point.step_us;
  json["recompute_us"] = point.recompute_us;
  json["recomputed_runs"] = point.recomputed_runs;
  json["solve_ms"] = point.solve_ms;
  if (torch) return json;
  json["recompute_bound_us"] = point.recompute_bound_us;
  json["optimal"] = point.optimal;
  return json;
}

Fusion parse_fusion(const std::string& name) {
  for (const Fusion fusion : {Fusion::none, Fusion::chains, Fusion::rows})
    if (name == name_of(fusion)) return fusion;
  RECUT_CHECK(false, "a curve names a fusion that isn't known");
  return Fusion::none;
}

CurvePoint parse_curve_point(const CurveJson& json) {
  CurvePoint point;
  point.fusion = parse_fusion(json.value("fusion", std::string()));
  point.fraction = json.value("fraction", 0.0);
  point.budget_bytes = json.value("budget_bytes", std::int64_t{0});
  point.peak_bytes = json.value("peak_bytes", std::int64_t{0});
  point.saved_bytes = json.value("saved_bytes", std::int64_t{0});
  point.step_us = json.value("step_us", 0.0);
  point.recompute_us = json.value("recompute_us", 0.0);
  point.recomputed_runs = json.value("recomputed_runs", std::int64_t{0});
  point.solve_ms = json.value("solve_ms", 0.0);
  point.recompute_bound_us = json.value("recompute_bound_us", 0.0);
  point.optimal = json.value("optimal", false);
  return point;
}

std::vector<CurvePoint> parse_curve_points(const CurveJson& list) {
  std::vector<CurvePoint> points;
  for (const CurveJson& json : list) points.push_back(parse_curve_point(json));
  return points;
}

std::string csv_row(const CurvePoint& p, bool torch) {
  const std::string figures =
      fmt::format("{},{},{:.6f},{:.6f},{:.6f},{},", p.budget_bytes, p.peak_bytes, p.step_us,
                  p.recompute_us, p.solve_ms, p.saved_bytes);
  return figures + (torch ? fmt::format(",,torch,{}\n", p.fraction)
                          : fmt::format("{:.6f},{},peak,\n", p.recompute_bound_us,
                                        p.optimal ? "true" : "false"));
}

std::string head(const CurveReport& report) {
  std::string text = report.model.empty() ? std::string("graph") : report.model;
  if (!report.graph_key.empty()) text += " · " + report.graph_key;
  return text + (report.inference ? " · peak against time per call" : " · peak against step time") +
         (report.complete ? "" : ", ended early: not as good as it gets") + "\n\n";
}

std::string ends(const CurveReport& report) {
  const CurvePoint &lowest = report.points.front(), &highest = report.points.back();
  const char* step = report.inference ? "a call" : "a step";
  Table table;
  table.column("");
  table.column("", Table::Align::right);
  table.column("");
  table.row({"least peak", format_bytes(lowest.peak_bytes),
             fmt::format("{} recomputed; proved: {}", format_micros(lowest.recompute_us),
                         lowest.peak_bytes <= report.peak_bound_bytes
                             ? "no order peaks below it"
                             : fmt::format("no order peaks below {}",
                                           format_bytes(report.peak_bound_bytes)))});
  table.row({"nothing recomputed", format_bytes(highest.peak_bytes),
             fmt::format("in the best order; {} of {}", step, format_micros(report.once_us))});
  table.row(
      {"nothing recomputed", format_bytes(report.baseline_peak_bytes),
       fmt::format("in program order; {} of {}", step, format_micros(report.baseline_step_us))});
  table.row({"planned in", format_micros(report.solve_ms * 1000),
             fmt::format("{} points, {} nodes; a coarse curve after {}", report.points.size(),
                         format_count(report.nodes), format_micros(report.first_ms * 1000))});
  return table.format();
}

std::string some_points(const CurveReport& report) {
  Table table;
  table.column("budget", Table::Align::right);
  table.column("peak", Table::Align::right);
  table.column(report.inference ? "call" : "step", Table::Align::right);
  table.column("recomputed", Table::Align::right);
  table.column("at least", Table::Align::right);
  const std::size_t last = report.points.size() - 1, shown = std::min(last, kTextPoints - 1);
  for (std::size_t k = 0; k <= shown; ++k) {
    const CurvePoint& p = report.points[shown == 0 ? 0 : k * last / shown];
    table.row({format_bytes(p.budget_bytes), format_bytes(p.peak_bytes), format_micros(p.step_us),
               format_micros(p.recompute_us),
               p.optimal ? "optimal" : format_micros(p.recompute_bound_us)});
  }
  return "\n" + table.format();
}

std::string compared_to_torch(const CurveReport& report) {
  if (report.torch.empty()) return {};
  Table table;
  table.column(report.torch_recorded ? "PyTorch's budget" : "strategy torch");
  table.column("peak", Table::Align::right);
  table.column("recomputed", Table::Align::right);
  table.column("Recut within that peak", Table::Align::right);
  for (const CurvePoint& p : report.torch) {
    const CurvePoint* ours = report.cheapest_within(p.peak_bytes);
    table.row({fmt::format("{}", p.fraction), format_bytes(p.peak_bytes),
               format_micros(p.recompute_us),
               ours == nullptr ? "can't be held" : format_micros(ours->recompute_us)});
  }
  return "\n" + table.format();
}

}  // namespace

std::string curve_csv(const CurveReport& report) {
  std::string csv =
      "budget_bytes,peak_bytes,step_us,recompute_us,solve_ms,saved_bytes,recompute_bound_us,"
      "optimal,strategy,fraction\n";
  for (const CurvePoint& point : report.points) csv += csv_row(point, false);
  for (const CurvePoint& point : report.torch) csv += csv_row(point, true);
  return csv;
}

std::string curve_json(const CurveReport& report, std::span<const std::string> plans) {
  Json json = {{"model", report.model},
               {"graph", report.graph_key},
               {"nodes", report.nodes},
               {"least_peak_bytes", report.points.empty() ? 0 : report.points.front().peak_bytes},
               {"peak_bound_bytes", report.peak_bound_bytes},
               {"peak_bytes_without_recomputation", report.baseline_peak_bytes},
               {"step_us_without_recomputation", report.baseline_step_us},
               {"once_us", report.once_us},
               {"solve_ms", report.solve_ms},
               {"first_ms", report.first_ms},
               {"complete", report.complete},
               {"torch_recorded", report.torch_recorded}};
  if (report.inference) json["inference"] = true;
  if (!report.torch_settings.empty()) json["torch_settings"] = report.torch_settings;
  json["points"] = Json::array();
  for (const CurvePoint& point : report.points)
    json["points"].push_back(point_json(point, false, report.inference));
  for (std::size_t i = 0; i < plans.size(); ++i) json["points"][i]["plan"] = Json::parse(plans[i]);
  json["torch"] = Json::array();
  for (const CurvePoint& point : report.torch)
    json["torch"].push_back(point_json(point, true, report.inference));
  return json_text(json);
}

CurveReport parse_curve_json(std::string_view text) {
  const CurveJson json = CurveJson::parse(text, nullptr, false);
  RECUT_CHECK(json.is_object() && json.contains("points"), "no curve as curve_json writes it");
  CurveReport report;
  report.model = json.value("model", std::string());
  report.graph_key = json.value("graph", std::string());
  report.nodes = json.value("nodes", std::int64_t{0});
  report.inference = json.value("inference", false);
  report.peak_bound_bytes = json.value("peak_bound_bytes", std::int64_t{0});
  report.baseline_peak_bytes = json.value("peak_bytes_without_recomputation", std::int64_t{0});
  report.baseline_step_us = json.value("step_us_without_recomputation", 0.0);
  report.once_us = json.value("once_us", 0.0);
  report.solve_ms = json.value("solve_ms", 0.0);
  report.first_ms = json.value("first_ms", 0.0);
  report.complete = json.value("complete", false);
  report.torch_recorded = json.value("torch_recorded", false);
  report.torch_settings = json.value("torch_settings", std::vector<std::string>());
  report.points = parse_curve_points(json["points"]);
  if (json.contains("torch")) report.torch = parse_curve_points(json["torch"]);
  return report;
}

std::string curve_text(const CurveReport& report) {
  if (report.points.empty()) return head(report) + "  no point was found\n";
  return head(report) + ends(report) + some_points(report) + compared_to_torch(report);
}

}  // namespace recut
