#include "engine/workspace/mesh_comparison.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <tuple>
#include <utility>

#include "engine/support/table.h"
#include "engine/support/units.h"
#include "engine/workspace/json_text.h"
#include "engine/workspace/sharded_document.h"
#include "engine/workspace/sharding_report.h"

namespace recut {
namespace {

constexpr std::int64_t kMaxDevices = 1 << 20;

// An axis of one device is left out.
MeshRequest mesh_of(std::int64_t data, std::string_view data_style, std::int64_t model,
                    std::string_view model_style) {
  MeshRequest request;
  const auto add = [&](std::string_view axis, std::int64_t size, std::string_view style) {
    const char* const comma = request.mesh.empty() ? "" : ",";
    request.mesh += fmt::format("{}{}={}", comma, axis, size);
    request.preset += fmt::format("{}{}={}", comma, axis, style);
  };
  if (data > 1 || model == 1) add("dp", data, data_style);
  if (model > 1) add(model_style == "cp" ? "cp" : "tp", model, model_style);
  return request;
}

std::vector<MeshRequest> meshes_of(std::int64_t devices) {
  std::vector<MeshRequest> requests;
  for (std::int64_t model = 1; model <= devices; ++model) {
    if (devices % model != 0) continue;
    const std::int64_t data = devices / model;
    for (const char* data_style : {"ddp", "fsdp"})
      for (const char* model_style : {"tp", "sp", "cp"}) {
        const bool repeats = (data == 1 && std::string_view(data_style) != "ddp") ||
                             (model == 1 && std::string_view(model_style) != "tp");
        if (!repeats) requests.push_back(mesh_of(data, data_style, model, model_style));
      }
  }
  return requests;
}

Result<MeshRow> plan_mesh(const Document& document, const MeshRequest& mesh,
                          const MeshComparisonRequest& request, std::string_view file_name) {
  const auto module = place_on_mesh(document.graph(), mesh);
  if (!module) return module.diagnostics();
  const auto sharded = mesh::shard(*module);
  if (!sharded) return sharded.diagnostics();
  const ShardingReport sharding = report_of(*module, *sharded);
  const auto rank = shard_document(document, *module, *sharded, 0, file_name);
  if (!rank) return rank.diagnostics();
  MeshRow row{mesh.mesh, mesh.preset, sharding.input_bytes(), 0, sharding.bytes_sent()};
  PlanningRequest planning = request.planning;
  // Inputs alone may be too large: the row then has the least peak.
  const std::int64_t left = request.memory_bytes ? *request.memory_bytes - row.input_bytes : 0;
  planning.budget =
      request.memory_bytes ? fmt::format("{}B", std::max<std::int64_t>(left, 1)) : "none";
  const auto planned = plan_document(*rank, planning);
  if (!planned) return planned.diagnostics();
  row.peak_bytes = planned->report.peak_bytes;
  row.step_micros = planned->report.step_us;
  row.recompute_micros = planned->report.recompute_us;
  row.holds = !request.memory_bytes || row.bytes() <= *request.memory_bytes;
  return row;
}

}  // namespace

Result<MeshComparison> compare_meshes(const Document& document,
                                      const MeshComparisonRequest& request,
                                      std::string_view file_name) {
  if (request.devices < 1 || request.devices > kMaxDevices)
    return error(
        fmt::format("{} devices are asked for, expected 1 … {}", request.devices, kMaxDevices));
  const std::vector<MeshRequest> meshes = meshes_of(request.devices);
  MeshComparison comparison{request.devices, request.memory_bytes, request.planning.device, {}};
  for (const MeshRequest& mesh : meshes) {
    if (request.cancel != nullptr && *request.cancel)
      return error("the comparison of meshes was cancelled");
    if (request.progress) request.progress(comparison.rows.size(), meshes.size());
    auto row = plan_mesh(document, mesh, request, file_name);
    if (!row) return row.diagnostics();
    comparison.rows.push_back(std::move(*row));
  }
  std::stable_sort(comparison.rows.begin(), comparison.rows.end(),
                   [](const MeshRow& a, const MeshRow& b) {
                     if (a.holds != b.holds) return a.holds;
                     return a.holds ? a.step_micros < b.step_micros : a.bytes() < b.bytes();
                   });
  return comparison;
}

std::string mesh_comparison_text(const MeshComparison& comparison) {
  Table table;
  for (const char* title : {"mesh", "preset"}) table.column(title);
  for (const char* title : {"inputs", "peak", "together", "sent", "recomputed", "step"})
    table.column(title, Table::Align::right);
  table.column("");
  std::int64_t holding = 0;
  for (const MeshRow& row : comparison.rows) {
    holding += row.holds ? 1 : 0;
    table.row({row.mesh, row.preset, format_bytes(row.input_bytes), format_bytes(row.peak_bytes),
               format_bytes(row.bytes()), format_bytes(row.sent_bytes),
               format_micros(row.recompute_micros), format_micros(row.step_micros),
               row.holds ? "" : "too large"});
  }
  std::string text = table.format() + "\n";
  if (comparison.memory_bytes)
    text += fmt::format("{} of {} hold {} a device; ", holding, comparison.rows.size(),
                        format_bytes(*comparison.memory_bytes));
  return text + fmt::format("times by the profile {}, for one of {} devices\n", comparison.device,
                            comparison.devices);
}

std::string mesh_comparison_json(const MeshComparison& comparison) {
  nlohmann::ordered_json json{{"devices", comparison.devices},
                              {"memory_bytes", nullptr},
                              {"device", comparison.device},
                              {"meshes", nlohmann::ordered_json::array()}};
  if (comparison.memory_bytes) json["memory_bytes"] = *comparison.memory_bytes;
  for (const MeshRow& row : comparison.rows)
    json["meshes"].push_back({{"mesh", row.mesh},
                              {"preset", row.preset},
                              {"input_bytes", row.input_bytes},
                              {"peak_bytes", row.peak_bytes},
                              {"sent_bytes", row.sent_bytes},
                              {"recompute_micros", row.recompute_micros},
                              {"step_micros", row.step_micros},
                              {"holds", row.holds}});
  return json_text(json);
}

}  // namespace recut
