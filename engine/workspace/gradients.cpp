#include "engine/workspace/gradients.h"

#include <algorithm>
#include <chrono>

#include <fmt/core.h>

#include "engine/ir/data_flow.h"
#include "engine/ir/printer.h"
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

// The result of a pass that changes nothing, for these reasons.
PassResult failed(const Graph& graph, StepPassState& state, const Diagnostics& why) {
  state.faults.insert(state.faults.end(), why.begin(), why.end());
  return {graph, false, {}};
}

// Links each result to its tangent. Nodes of the forward graph keep their ids.
std::vector<Change> dual_results(const Jvp& made) {
  std::vector<Change> changes;
  for (std::size_t i = 0; i < made.primal.size(); ++i) {
    const NodeId primal = made.graph.results[made.primal[i]];
    const NodeId tangent = made.graph.results[made.tangents[i]];
    changes.push_back({"tangent of a result",
                       primal,
                       {primal, tangent},
                       fmt::format("{}  =>  tangent {}", print_node(made.graph, primal),
                                   print_node(made.graph, tangent))});
  }
  return changes;
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
    if (!joint) return failed(forward, *state, joint.diagnostics());
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

Pass jvp_pass(std::shared_ptr<StepPassState> state, GradOptions options) {
  const auto run = [state, options = std::move(options)](const Graph& forward) {
    auto made = jvp(without_region_calls(forward), options);
    if (!made) return failed(forward, *state, made.diagnostics());
    std::vector<Change> changes = dual_results(*made);
    return PassResult{std::move(made->graph), true, std::move(changes)};
  };
  return {kJvpPass, kJvpPassProse, run, false};
}

std::optional<GradMode> grad_mode_of(std::string_view pass) {
  if (pass == kGradPass) return GradMode::reverse;
  if (pass == kJvpPass) return GradMode::forward;
  return std::nullopt;
}

Result<Done> check_forward_mode(const Graph& graph, bool trained) {
  if (trained)
    return error(
        "forward mode makes tangents, and an optimiser reads gradients, expected reverse mode: "
        "differentiate in reverse mode, or train nothing");
  if (is_joint(graph))
    return error(
        "a joint graph, expected a forward graph for forward mode: open the forward graph, which "
        "`recut_torch.export(…, forward=True)` writes, or this one without forward mode; "
        "`recut grad --mode jvp` makes its tangents, which are Hessian-vector products");
  return Done{};
}

}  // namespace recut
