#include "native/c_api/recut.h"

#include <fmt/core.h>

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <string>

#include "engine/input/excerpt.h"
#include "engine/input/graph_list.h"
#include "engine/ir/copy.h"
#include "engine/ir/graph_signature.h"
#include "engine/ir/printer.h"
#include "engine/ir/storage_model.h"
#include "engine/mesh/spmd/sharded_graph.h"
#include "engine/support/text.h"
#include "engine/support/units.h"
#include "engine/support/version.h"
#include "engine/workspace/curve.h"
#include "engine/workspace/curve_export.h"
#include "engine/workspace/open_document.h"
#include "engine/workspace/plan_text.h"
#include "engine/workspace/planning.h"
#include "engine/workspace/sharded_document.h"
#include "engine/workspace/sweep_document.h"
#include "native/c_api/attempt.h"
#include "native/c_api/handles.h"
#include "native/c_api/options.h"
#include "native/c_api/watcher.h"

using recut::CurveRequest;
using recut::Diagnostics;
using recut::Document;
using recut::Plan;
using recut::Planned;
using recut::PlanningRequest;
using recut::Result;
using recut::c_api::attempt;
using recut::c_api::check_plannable;
using recut::c_api::fail;
using recut::c_api::give_text;
using recut::c_api::Watcher;

// Every call that can fail first clears its out parameters, then works inside attempt():
//   exception or failed check  ⇒  a status and a message; nothing crosses into C
// It reads its JSON options and calls the workspace as the command does, so both give the same
// bytes. Graphs and plans are handles. A plan shares its document, because it names nodes of it,
// and so may outlive its graph. Texts are copies that the caller frees. No call changes a graph, so
// threads may share one. The solver asks the Watcher whether to stop, and a cancelled call returns
// no result.

namespace {

// True if the option names a graph that the file lacks.
bool names_no_graph(std::string_view bytes, const std::string& key) {
  if (key == recut::kDefaultGraphKey) return false;
  const auto graphs = recut::list_graphs(bytes, "graph");
  return graphs && std::none_of(graphs->begin(), graphs->end(),
                                [&](const recut::GraphEntry& graph) { return graph.key == key; });
}

recut_status read_graph(std::string_view bytes, const char* name, const char* options_json,
                        recut_graph** graph, char** error) {
  const auto options = recut::c_api::read_open_options(options_json);
  if (!options) return fail(RECUT_BAD_OPTION, options.diagnostics(), error);
  auto document = recut::open_document_bytes(bytes, name != nullptr ? name : "graph", *options);
  if (!document) {
    const Diagnostics& faults = document.diagnostics();
    std::string message = recut::format(faults, recut::excerpts_of(bytes, faults));
    message.pop_back();  // the end of the last line
    return fail(names_no_graph(bytes, options->graph_key) ? RECUT_BAD_OPTION : RECUT_BAD_INPUT,
                message, error);
  }
  *graph = new recut_graph{std::make_shared<const Document>(std::move(*document))};
  return RECUT_OK;
}

// Checks that the options name inputs with gradients, and results of the graph, and no level that
// it has.
Result<recut::Done> check_names(const recut::Graph& graph, const recut::GradOptions& options) {
  Diagnostics wrong;
  for (const std::string& name : options.requires_grad.value_or(std::vector<std::string>{})) {
    const recut::NodeId id = graph.find(name);
    if (!id.valid() || !graph.is_input(id) || !recut::is_floating(graph.type(id).dtype))
      wrong.push_back(recut::error(fmt::format(
          "'wrt': {} found, expected names of real inputs of the graph", recut::quote(name))));
  }
  for (const std::size_t position : options.differentiable.value_or(std::vector<std::size_t>{}))
    if (position >= graph.results.size() || !graph.results[position].valid() ||
        !recut::is_floating(graph.type(graph.results[position]).dtype))
      wrong.push_back(
          recut::error(fmt::format("'results': {} found, expected positions of real results, of {}",
                                   position, graph.results.size())));
  const int next = recut::next_dual_level(graph);
  if (options.level.value_or(next) < next)
    wrong.push_back(recut::error(
        fmt::format("'level': {} found, expected {} or above: the graph has tangents below",
                    *options.level, next)));
  if (!wrong.empty()) return wrong;
  return recut::Done{};
}

recut_status differentiate_graph(const recut_graph& graph, const char* options_json,
                                 recut_graph** joint, char** error) {
  const auto options = recut::c_api::read_differentiate_options(options_json);
  if (!options) return fail(RECUT_BAD_OPTION, options.diagnostics(), error);
  const recut::Graph forward = recut::deep_copy(graph.document->graph());
  if (const auto sound = check_names(forward, options->request.options); !sound)
    return fail(RECUT_BAD_OPTION, sound.diagnostics(), error);
  auto report = recut::make_gradients(forward, options->request);
  if (!report) return fail(RECUT_BAD_INPUT, report.diagnostics(), error);
  recut::GraphFile file;
  file.graph = std::move(report->graph);
  file.model = graph.document->file.model;
  recut::OpenOptions open;
  open.passes = options->passes;
  auto document = recut::open_document_graph(std::move(file), "graph", open);
  if (!document) return fail(RECUT_BAD_INPUT, document.diagnostics(), error);
  *joint = new recut_graph{std::make_shared<const Document>(std::move(*document))};
  return RECUT_OK;
}

recut_status shard_graph(const recut_graph& graph, const char* options_json, recut_graph** rank,
                         char** error) {
  const auto request = recut::c_api::read_mesh_options(options_json);
  if (!request) return fail(RECUT_BAD_OPTION, request.diagnostics(), error);
  if (const auto whole = recut::mesh::check_whole(graph.document->graph()); !whole)
    return fail(RECUT_BAD_INPUT, whole.diagnostics(), error);
  auto document = recut::shard_document(*graph.document, *request, "graph");
  if (!document) return fail(RECUT_BAD_OPTION, document.diagnostics(), error);
  *rank = new recut_graph{std::make_shared<const Document>(std::move(*document))};
  return RECUT_OK;
}

recut_status make_plan(const recut_graph& graph, const char* options_json, Watcher& watcher,
                       recut_plan** plan, char** error) {
  auto request = recut::c_api::read_plan_options(options_json);
  if (!request) return fail(RECUT_BAD_OPTION, request.diagnostics(), error);
  if (const recut_status status = check_plannable(*graph.document, error); status != RECUT_OK)
    return status;
  if (watcher.has_progress())
    request->limits.on_better = [&watcher](double recompute_us) {
      watcher.report_progress(Watcher::kUnknown, fmt::format("planning: {} recomputed",
                                                             recut::format_micros(recompute_us)));
    };
  if (watcher.has_cancelled()) request->limits.stop = [&watcher] { return watcher.should_stop(); };
  if (watcher.stop_now()) return fail(RECUT_CANCELLED, "cancelled", error);
  watcher.report_progress(0, "planning");
  auto planned = recut::plan_document(*graph.document, *request);
  if (watcher.stop_now()) return fail(RECUT_CANCELLED, "cancelled", error);
  if (!planned) return fail(RECUT_BAD_OPTION, planned.diagnostics(), error);
  const bool holds = planned->report.holds();
  const std::string why = holds ? "" : recut::infeasible_budget_text(planned->report);
  watcher.report_progress(1, "planned");
  *plan = new recut_plan{graph.document, std::move(*planned)};
  return holds ? RECUT_OK : fail(RECUT_NOT_HELD, why, error);
}

// A point of the curve as the plan file that its peak as a budget would give.
Result<std::string> plan_of_point(const Document& document, const CurveRequest& curve,
                                  const recut::CurveReport& report, const recut::CurvePoint& point,
                                  const Plan& plan, const recut::CostModel& costs) {
  PlanningRequest request;
  request.budget = std::to_string(point.budget_bytes);
  request.cost_model = curve.cost_model;
  recut::PlanFindings findings;
  findings.fusion = point.fusion;
  findings.budget_bytes = point.budget_bytes;
  findings.solve_ms = point.solve_ms;
  findings.proof =
      recut::PeakProof{true, 0, report.peak_bound_bytes, point.recompute_bound_us, point.optimal};
  const recut::BaselineCost baseline_cost{report.baseline_peak_bytes, report.baseline_step_us};
  const auto planned = measure_plan(document, request, costs, baseline_cost, plan, findings);
  if (!planned) return planned.diagnostics();
  return plan_file_json(document.graph(), *planned);
}

Result<std::vector<std::string>> plans_of(const Document& document, const CurveRequest& request,
                                          const recut::Curve& curve) {
  const auto costs =
      find_cost_model(document.graph(), request.profile, request.device, request.cost_model);
  if (!costs) return costs.diagnostics();
  std::vector<std::string> plans;
  for (std::size_t i = 0; i < curve.plans.size(); ++i) {
    auto plan = plan_of_point(document, request, curve.report, curve.report.points[i],
                              curve.plans[i], *costs);
    if (!plan) return plan.diagnostics();
    plans.push_back(std::move(*plan));
  }
  return plans;
}

recut_status sweep(const recut_graph& graph, const char* options_json, Watcher& watcher,
                   char** json, char** error) {
  auto options = recut::c_api::read_sweep_options(options_json);
  if (!options) return fail(RECUT_BAD_OPTION, options.diagnostics(), error);
  const Document& document = *graph.document;
  if (const recut_status status = check_plannable(document, error); status != RECUT_OK)
    return status;
  CurveRequest& request = options->request;
  if (watcher.has_progress())
    request.on_curve = [&watcher](const recut::Curve& curve) {
      watcher.report_progress(Watcher::kUnknown,
                              fmt::format("planning: {} points", curve.report.points.size()));
    };
  if (watcher.has_cancelled()) request.stop = [&watcher] { return watcher.should_stop(); };
  if (watcher.stop_now()) return fail(RECUT_CANCELLED, "cancelled", error);
  watcher.report_progress(0, "planning");
  const auto curve = recut::sweep_document(document, request);
  if (watcher.stop_now()) return fail(RECUT_CANCELLED, "cancelled", error);
  if (!curve) return fail(RECUT_BAD_OPTION, curve.diagnostics(), error);
  watcher.report_progress(1, "planned");
  if (!options->plans) return give_text(curve_json(curve->report), json);
  const auto plans = plans_of(document, request, *curve);
  if (!plans) return fail(RECUT_INTERNAL, plans.diagnostics(), error);
  return give_text(curve_json(curve->report, *plans), json);
}

}  // namespace

recut_status recut::c_api::check_plannable(const Document& document, char** error) {
  for (const Graph* graph : {&document.file.graph, &document.graph()})
    if (const auto fits = check_total_bytes(*graph); !fits)
      return fail(RECUT_BAD_INPUT, fits.diagnostics(), error);
  return RECUT_OK;
}

const char* recut_version(void) {
  return recut::version().data();  // a zero-terminated literal
}

recut_status recut_graph_read(const void* bytes, size_t size, const char* name,
                              const char* options_json, recut_graph** graph, char** error) {
  *graph = nullptr;
  if (error != nullptr) *error = nullptr;
  return attempt(error, [&] {
    return read_graph({static_cast<const char*>(bytes), bytes != nullptr ? size : 0}, name,
                      options_json, graph, error);
  });
}

void recut_graph_free(recut_graph* graph) { delete graph; }

recut_status recut_graph_differentiate(const recut_graph* graph, const char* options_json,
                                       recut_graph** joint, char** error) {
  *joint = nullptr;
  if (error != nullptr) *error = nullptr;
  return attempt(error, [&] { return differentiate_graph(*graph, options_json, joint, error); });
}

recut_status recut_graph_shard(const recut_graph* graph, const char* options_json,
                               recut_graph** rank, char** error) {
  *rank = nullptr;
  if (error != nullptr) *error = nullptr;
  return attempt(error, [&] { return shard_graph(*graph, options_json, rank, error); });
}

recut_status recut_graph_text(const recut_graph* graph, char** text, char** error) {
  *text = nullptr;
  if (error != nullptr) *error = nullptr;
  return attempt(error, [&] { return give_text(print(graph->document->graph()), text); });
}

recut_status recut_plan_make(const recut_graph* graph, const char* options_json,
                             const recut_callbacks* callbacks, recut_plan** plan, char** error) {
  *plan = nullptr;
  if (error != nullptr) *error = nullptr;
  return attempt(error, [&] {
    Watcher watcher(callbacks);
    return make_plan(*graph, options_json, watcher, plan, error);
  });
}

void recut_plan_free(recut_plan* plan) { delete plan; }

recut_status recut_plan_json(const recut_plan* plan, char** json, char** error) {
  *json = nullptr;
  if (error != nullptr) *error = nullptr;
  return attempt(error, [&] {
    return give_text(plan_file_json(plan->document->graph(), plan->planned), json);
  });
}

recut_status recut_report_json(const recut_plan* plan, char** json, char** error) {
  *json = nullptr;
  if (error != nullptr) *error = nullptr;
  return attempt(error, [&] { return give_text(plan_report_json(plan->planned.report), json); });
}

recut_status recut_sweep(const recut_graph* graph, const char* options_json,
                         const recut_callbacks* callbacks, char** json, char** error) {
  *json = nullptr;
  if (error != nullptr) *error = nullptr;
  return attempt(error, [&] {
    Watcher watcher(callbacks);
    return sweep(*graph, options_json, watcher, json, error);
  });
}

void recut_text_free(char* text) { std::free(text); }
