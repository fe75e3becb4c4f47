// A plan with everything that panels ask of it, as plain values; made on a worker, never changed.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "engine/ir/storage_model.h"
#include "engine/workspace/document.h"
#include "engine/workspace/planning.h"
#include "gui/model/role.h"

namespace recut::gui {

Role role_of(InstanceClass kind);

// The storages that are kept for backward: each counts once, however many views of it are read.
struct SavedStorages {
  std::int64_t storages = 0;
  std::int64_t bytes = 0;
};

struct PlanView {
  std::shared_ptr<const Document> document;
  std::shared_ptr<const StorageModel> storages;
  PlanningRequest request;  // the request that the plan was made for
  Planned planned;

  // By the graph's positions. A view has the role of the call behind it; a value that is both saved
  // and run again is saved.
  std::vector<Role> roles;
  std::vector<std::int32_t> extra_runs;  // beyond the first
  std::vector<bool> kept;                // by storage: for backward

  const Graph& graph() const { return document->graph(); }
  const PlanReport& report() const { return planned.report; }
  const Replay& replay() const { return planned.replay; }
  std::int64_t peak() const { return planned.report.peak_bytes; }
  Role role(NodeId id) const { return roles[graph().position(id)]; }
  // Saved storages of one call; those of all calls add up to the report's.
  SavedStorages kept_of(NodeId id) const;
  bool within(std::int64_t budget_bytes) const {
    return budget_bytes == 0 || peak() <= budget_bytes;
  }
};
using SharedPlanView = std::shared_ptr<const PlanView>;

// The node that stands for a node of a pass's graph in the plan's graph: itself, or the node of its
// name; invalid if there is none.
NodeId planned_node(const Graph& graph, const PlanView& plan, NodeId node);

// The common basis of all plans of one document under one cost model.
struct PlanBasis {
  std::shared_ptr<const Document> document;
  CostModel costs;
  BaselineCost baseline_cost;
  std::shared_ptr<const StorageModel> storages;
};
Result<PlanBasis> plan_basis(std::shared_ptr<const Document> document, const std::string& device,
                             const std::string& cost_model);

// plan_document's plan; in the fused model, whose kernels run in an arena, schedule_document's, so
// that a budget bounds the arena, too.
Result<Planned> plan_to_run(const Document& document, const PlanningRequest& request);

// Plans: as slow as plan_to_run.
Result<SharedPlanView> make_plan_view(const PlanBasis& basis, const PlanningRequest& request);

// Looks at a known plan already: as slow as a replay. The plan runs.
SharedPlanView view_of_plan(const PlanBasis& basis, const PlanningRequest& request,
                            const Plan& plan, const PlanFindings& findings = {});

}  // namespace recut::gui
