#include "gui/model/plan_view.h"

#include "engine/ir/aliases.h"
#include "engine/partition/overrides.h"
#include "engine/workspace/scheduling.h"

namespace recut::gui {
Role role_of(InstanceClass kind) {
  switch (kind) {
    case InstanceClass::result:
    case InstanceClass::gradient:
      return Role::result;
    case InstanceClass::saved:
      return Role::saved;
    case InstanceClass::recomputed:
      return Role::recomputed;
    case InstanceClass::forward_temporary:
    case InstanceClass::backward_temporary:
      return Role::freed;
  }
  return Role::freed;
}

namespace {

// The role of a value with instances of several kinds: to run again says more than to be freed, and
// to be returned or kept says most.
int weight(Role role) {
  switch (role) {
    case Role::result:
      return 4;
    case Role::saved:
      return 3;
    case Role::recomputed:
      return 2;
    case Role::freed:
      return 1;
    case Role::input:
    case Role::inside:
      return 0;
  }
  return 0;
}

void find_roles(PlanView& view) {
  const Graph& graph = view.graph();
  view.roles.assign(graph.order().size(), Role::input);
  view.extra_runs.assign(graph.order().size(), 0);
  const auto raise = [&](NodeId id, Role role) {
    Role& now = view.roles[graph.position(id)];
    if (weight(role) > weight(now)) now = role;
  };
  for (const StorageInstance& instance : view.replay().instances)
    raise(instance.owner, role_of(instance.kind));
  for (const NodeId id : view.planned.plan.saved) raise(id, Role::saved);
  for (const NodeId id : view.replay().recomputed) {
    view.extra_runs[graph.position(id)] += 1;
    raise(id, Role::recomputed);
  }
  const OverrideRules rules(graph);
  for (const NodeId id : graph.order()) {
    const NodeId maker = defining_node(graph, id);
    const Role behind = view.roles[graph.position(maker)];
    // A value that was made and has no storage never left its kernel.
    const bool has_none = behind == Role::input && !graph.op(maker).is(kInput);
    if (behind == Role::inside || (has_none && view.planned.costs.fused())) {
      view.roles[graph.position(id)] = Role::inside;
    } else if (behind != Role::input) {
      raise(id, behind);
    }
  }
}

SharedPlanView finish(const PlanBasis& basis, const PlanningRequest& request, Planned planned) {
  auto view = std::make_shared<PlanView>(
      PlanView{basis.document, basis.storages, request, std::move(planned), {}, {}, {}});
  // The view keeps no callbacks and flags: they belong to the job, which is over.
  view->request.limits.on_better = nullptr;
  view->request.limits.cancel = nullptr;
  find_roles(*view);
  view->kept.assign(view->storages->size(), false);
  for (const StorageInstance& instance : view->replay().instances)
    if (instance.kept) view->kept[instance.storage.index] = true;
  return view;
}

}  // namespace

SavedStorages PlanView::kept_of(NodeId id) const {
  SavedStorages sum;
  for (const StorageId storage : storages->owned(id)) {
    if (!kept[storage.index]) continue;
    ++sum.storages;
    sum.bytes += (*storages)[storage].bytes;
  }
  return sum;
}

NodeId planned_node(const Graph& graph, const PlanView& plan, NodeId node) {
  if (plan.graph().contains(node)) return node;
  return plan.graph().find(graph.node_name(node));
}

Result<PlanBasis> plan_basis(std::shared_ptr<const Document> document, const std::string& device,
                             const std::string& cost_model) {
  auto costs = find_cost_model(device, cost_model);
  if (!costs) return costs.diagnostics();
  const auto baseline_cost = costs->baseline_cost(document->reference_graph(), document->graph());
  if (!baseline_cost) return baseline_cost.diagnostics();
  auto storages = std::make_shared<const StorageModel>(document->graph());
  return PlanBasis{std::move(document), std::move(*costs), *baseline_cost, std::move(storages)};
}

Result<Planned> plan_to_run(const Document& document, const PlanningRequest& request) {
  if (request.cost_model != "fused" || request.budget == "none")
    return plan_document(document, request);
  auto scheduled = schedule_document(document, {request, {}});
  if (!scheduled) return scheduled.diagnostics();
  return std::move(scheduled->planned);
}

Result<SharedPlanView> make_plan_view(const PlanBasis& basis, const PlanningRequest& request) {
  auto planned = plan_to_run(*basis.document, request);
  if (!planned) return planned.diagnostics();
  return finish(basis, request, std::move(*planned));
}

SharedPlanView view_of_plan(const PlanBasis& basis, const PlanningRequest& request,
                            const Plan& plan, const PlanFindings& findings) {
  auto planned =
      measure_plan(*basis.document, request, basis.costs, basis.baseline_cost, plan, findings);
  RECUT_CHECK(planned.ok(), "a plan that was made doesn't replay");
  return finish(basis, request, std::move(*planned));
}

}  // namespace recut::gui
