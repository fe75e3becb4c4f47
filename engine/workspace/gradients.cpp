#include "engine/workspace/gradients.h"

#include <algorithm>
#include <chrono>

#include "engine/ir/data_flow.h"
#include "engine/passes/region_inlining.h"

namespace recut {

namespace {

std::size_t calls(const Graph& graph) {
  return static_cast<std::size_t>(
      std::count_if(graph.order().begin(), graph.order().end(),
                    [&](NodeId id) { return !graph.op(id).is(kInput); }));
}

std::size_t inputs_of_kind(const Graph& graph, InputKind kind) {
  return static_cast<std::size_t>(
      std::count_if(graph.inputs().begin(), graph.inputs().end(),
                    [&](NodeId id) { return graph.input_kind(id) == kind; }));
}

// Lists the inputs with a gradient, and the parameters without one.
void list_gradients(GradReport& report) {
  std::size_t index = 0;
  for (const NodeId id : report.graph.inputs()) {
    const InputKind kind = report.graph.input_kind(id);
    if (kind == InputKind::tangent) continue;
    const NodeId gradient = report.graph.gradients[index++];
    if (gradient.valid())
      report.with_gradient.push_back(report.graph.node_name(id));
    else if (kind == InputKind::parameter)
      report.without_gradient.push_back(report.graph.node_name(id));
  }
}

Result<GradReport> reverse(const Graph& graph, const GradRequest& request) {
  GradOptions options = request.options;
  GradReport report;
  report.extracted_forward = is_joint(graph);
  std::optional<Graph> extracted;
  if (report.extracted_forward) {
    auto found = extract_forward_graph(graph);
    if (!found) return found.diagnostics();
    extracted = std::move(found->graph);
    if (!options.differentiable) options.differentiable = found->differentiable;
  }
  const Graph& forward = extracted ? *extracted : graph;
  auto joint = differentiate(forward, options, request.steps ? &report.steps : nullptr);
  if (!joint) return joint.diagnostics();
  report.nodes_before = calls(forward);
  report.graph = std::move(*joint);
  report.differentiated = inputs_of_kind(report.graph, InputKind::tangent);
  list_gradients(report);
  return report;
}

Result<GradReport> forward_mode(const Graph& graph, const GradOptions& options) {
  auto made = jvp(graph, options);
  if (!made) return made.diagnostics();
  GradReport report;
  report.nodes_before = calls(graph);
  for (const NodeId id : made->inputs) report.with_gradient.push_back(made->graph.node_name(id));
  report.differentiated = made->tangents.size();
  report.graph = std::move(made->graph);
  return report;
}

}  // namespace

Result<GradReport> make_gradients(const Graph& graph, const GradRequest& request) {
  const auto start = std::chrono::steady_clock::now();
  const Graph whole = without_region_calls(graph);
  auto report = request.mode == GradMode::reverse ? reverse(whole, request)
                                                  : forward_mode(whole, request.options);
  if (!report) return report;
  report->nodes_after = calls(report->graph);
  report->milliseconds =
      std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
  return report;
}

Pass gradient_pass(std::shared_ptr<StepPassState> state, GradOptions options) {
  const auto run = [state, options = std::move(options)](const Graph& forward) {
    std::vector<DerivativeStep> steps;
    auto joint = differentiate(without_region_calls(forward), options, &steps);
    if (!joint) {
      const Diagnostics& why = joint.diagnostics();
      state->faults.insert(state->faults.end(), why.begin(), why.end());
      return PassResult{forward, false, {}};
    }
    PassResult result{std::move(*joint), true, {}};
    for (DerivativeStep& step : steps) {
      std::vector<NodeId> after;
      if (result.graph.contains(step.call)) after.push_back(step.call);
      after.insert(after.end(), step.new_nodes.begin(), step.new_nodes.end());
      result.changes.push_back({step.rule, step.call, std::move(after), std::move(step.text)});
    }
    return result;
  };
  return {kGradPass, kGradPassProse, run, false};
}

}  // namespace recut
