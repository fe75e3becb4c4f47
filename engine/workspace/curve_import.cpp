#include "engine/workspace/curve_import.h"

#include <nlohmann/json.hpp>
#include <string>

#include "engine/support/check.h"

namespace recut {
namespace {

using CurveJson = nlohmann::json;

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

}  // namespace

CurveReport parse_curve_json(std::string_view text) {
  const CurveJson json = CurveJson::parse(text, nullptr, false);
  RECUT_CHECK(json.is_object() && json.contains("points"), "no curve as curve_json writes it");
  CurveReport report;
  report.model = json.value("model", std::string());
  report.graph_key = json.value("graph", std::string());
  report.nodes = json.value("nodes", std::int64_t{0});
  report.peak_bound_bytes = json.value("peak_bound_bytes", std::int64_t{0});
  report.baseline_peak_bytes = json.value("peak_bytes_without_recomputation", std::int64_t{0});
  report.baseline_step_us = json.value("step_us_without_recomputation", 0.0);
  report.once_us = json.value("once_us", 0.0);
  report.solve_ms = json.value("solve_ms", 0.0);
  report.first_ms = json.value("first_ms", 0.0);
  report.complete = json.value("complete", false);
  report.torch_recorded = json.value("torch_recorded", false);
  report.points = parse_curve_points(json["points"]);
  if (json.contains("torch")) report.torch = parse_curve_points(json["torch"]);
  return report;
}

}  // namespace recut
