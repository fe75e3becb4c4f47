// A document as the window sees it: the graph, its known plans, the shown plan, and the user's
// settings and selection. Plain data; panels read it, commands change it, and planner.h fills it in
// from jobs.
#pragma once

#include <any>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "engine/workspace/curve.h"
#include "engine/workspace/document.h"
#include "engine/workspace/reasons.h"
#include "gui/backend/jobs.h"
#include "gui/model/mesh_view.h"
#include "gui/model/opening_fault.h"
#include "gui/model/panel_memory.h"
#include "gui/model/plan_view.h"
#include "gui/model/transform_settings.h"

namespace recut::gui {

// The user's decisions about plans; undo takes them back, the workspace keeps them.
struct PlanSettings {
  std::int64_t budget_bytes = 0;  // of the peak; 0: none
  std::string device = std::string(kReferenceDevice);
  std::string cost_model = "eager";
  double effort = 1;  // of the searches, as a multiple of the usual one
  OverrideRequest overrides;
  std::vector<std::string> torch;  // options of PyTorch's partitioner that aren't usual, as written
  TransformSettings transforms;

  // True if plans made for one are plans for the other, but for the budget.
  bool same_problem(const PlanSettings& other) const;
  bool operator==(const PlanSettings& other) const;
};

// One selection, shared by all panels. Ids mean the same in every pass's graph.
struct Selection {
  NodeId node;     // invalid: nothing is selected
  NodeId hovered;  // under the pointer, wherever it is
};

// The node that was selected and the graph that it was selected in; see pass_steps.h.
struct SelectionAnchor {
  NodeId node;
  std::size_t pass = 0;
  NodeId shown;  // its counterpart in the shown graph: the selection, as it was left
};

// The text of a search, and every node that fits.
struct Search {
  std::string text;
  std::shared_ptr<const std::vector<NodeId>> found;  // in program order; null: nothing was asked
  std::vector<NodeId> best;                          // a dozen; names that begin so come first
  std::string fault;                                 // the fault of the text
  // The graph and plan that it searched; others may have other answers.
  std::size_t pass = 0;
  SharedPlanView plan;

  // The matches as text: "3 of 41" if the selected node is a match, else "41 found" or "nothing
  // fits".
  std::string summary(NodeId selected) const;
  // The match `by` after the selected one in program order, around the end; invalid: no match.
  NodeId neighbour(NodeId selected, const Graph& graph, int by) const;
};

// Plans by rising peak and falling time (a Pareto front): dominated plans are left out. Beside
// them, even if dominated, the plan for each of the last requested budgets.
class KnownPlans {
 public:
  void add(SharedPlanView plan);
  // Adds the answer to a plan's request, as `recut plan` gives it.
  void add_made(SharedPlanView plan);
  void clear();
  const std::vector<SharedPlanView>& all() const { return plans_; }
  const std::vector<SharedPlanView>& made() const { return made_; }

  // The quickest known plan that peaks within the budget (0: any); null if none does.
  SharedPlanView best_within(std::int64_t budget_bytes) const;
  SharedPlanView lowest() const { return plans_.empty() ? nullptr : plans_.front(); }
  // The plan made for this budget, as a request names it; null if there is none.
  SharedPlanView made_for(const std::string& budget) const;

 private:
  std::vector<SharedPlanView> plans_;
  std::vector<SharedPlanView> made_;  // the oldest first
};

// A second plan, pinned so that others are compared with it: the timeline's outline, a choice of
// the compare panel, the sums of the legend, a row of the report.
struct PinnedBaseline {
  SharedPlanView plan;  // null: none is pinned
  std::string title;
  std::string pending_title;  // its title while it is made
};

// A plan that was made for these settings, not an intermediate one.
struct AnsweredPlan {
  SharedPlanView plan;  // null: none yet
  PlanSettings plan_settings;
};
struct PlanChange;  // plan_change.h

// `waiting`: for the user, who has to give its file.
enum class DocumentState : std::uint8_t { opening, ready, failed, waiting };

struct DocumentView {
  int serial = 0;     // never used twice
  std::string path;   // "" where it stands for a link that can't be followed
  std::string title;  // the model's name, or the file's
  DocumentState state = DocumentState::opening;
  OpeningFault fault;    // why it failed
  std::string link;      // that it came by: the address, until its graph is there
  bool awaited = false;  // opening: its bytes or their reader are on their way (Backend)

  std::shared_ptr<const std::string> bytes;  // of the file
  std::shared_ptr<const Document> document;  // from here on: null or empty until it is ready
  SharedMeshView mesh;                       // that `document` is a rank of; null: of none
  TransformSettings applied_transforms;      // of `document`; the settings may be ahead
  Diagnostics transform_faults;              // why the last requested transforms or rules
                                             // couldn't be had; empty once others could
  std::shared_ptr<const PlanBasis> basis;    // of `plan_settings`' device and model of cost
  SharedPlanView start;                      // the step with nothing recomputed
  KnownPlans known;                          // for `plan_settings`, of any budget
  std::shared_ptr<const Curve> curve;        // as far as it is known
  SharedPlanView shown;  // the plan that all panels speak of: the one made for the budget, and
                         // until that is there the best one known
  PinnedBaseline baseline;
  SharedPlanView refused;  // the last plan that couldn't hold its budget: its report says why
  std::shared_ptr<const Reasons> reasons;  // of `shown`; null while they are made
  AnsweredPlan answered, before;  // the last that answered its settings, and the one before
  std::shared_ptr<const PlanChange>
      change;  // from that to this, made with the reasons; may be null

  PlanSettings plan_settings;
  bool chose_budget = false;   // false: the budget is the window's own first guess …
  bool guessed_again = false;  // … or its second, as the first couldn't be held
  Selection selection;
  SelectionAnchor anchor;
  Search search;
  std::string pending_selection;            // by name, until the graph is there
  std::optional<std::size_t> pending_pass;  // the graph to show, until then
  std::size_t pass = 0;                     // the shown graph: 0 as read, i after pass i

  const Graph& graph() const { return document->graph(); }
  const Graph& graph_at_pass() const;
  bool is_forward() const;  // as it was read there is no backward in it
  bool has_backward() const {
    return !is_forward() || document->differentiated == GradMode::reverse;
  }
  // Takes other transform settings, unless they ask for forward mode where it can't be had.
  Result<Done> request_transforms(TransformSettings wanted);
  // True for a forward graph that isn't frozen: its derivatives are offered.
  bool offers_backward() const { return !has_backward() && !applied_transforms.freeze; }
  // The reason that the graph can't be frozen, for users; "" if it can.
  std::string why_not_frozen() const;
  // The document of all devices, which `document` may be a rank of.
  const Document& whole() const { return mesh ? *mesh->whole : *document; }
  bool is_ready() const { return state == DocumentState::ready; }
  // True if the shown plan peaks within the budget.
  bool holds() const { return shown && shown->within(plan_settings.budget_bytes); }
  // The answer to the budget, by the plan that was made for it, or by a proved bound.
  BudgetAnswer budget_answer() const;
  // The proved bound below which no order peaks, for the budget or the graph; 0 if none is proved
  // yet.
  std::int64_t peak_bound() const;
  // Called after another plan is shown: it may be the answer to the settings.
  void note_answer();
  // The least peak of a known plan; 0 where none is.
  std::int64_t least_peak() const;

  // The graph's node of that name, if it has one.
  NodeId find(const std::string& node_name) const;
  std::string selected_name() const;  // "" for none
  // The selection in the plan's graph, which is the last one; invalid if the plan doesn't know it.
  NodeId planned_selection() const;

  // Panels' own memory of this document: zoom, scroll, folded parts.
  PanelMemory memories;

  // The document's jobs at work; 0 for none.
  JobId opening = 0, sweeping = 0, planning = 0, viewing = 0, reasoning = 0, weighing = 0;
  SharedPlanView weighed;  // the plan that was shown when another one was last weighed against it
  double plan_due = -1;    // the time at which the budget has rested long enough; below 0: none
};

// A graph as panels draw it: a document's, after some of its passes, under a plan.
struct ShownGraph {
  std::shared_ptr<const Document> document;
  std::size_t pass = 0;
  SharedPlanView plan;  // may be null

  const Graph& graph() const;
  bool operator==(const ShownGraph& o) const {
    return document == o.document && pass == o.pass && plan == o.plan;
  }
};
ShownGraph shown_graph(const DocumentView& document);

// A budget as users write it ("6.5GiB", "40%", "none"), of a document's own peak.
Result<std::int64_t> read_budget(const std::string& text, const DocumentView& document);
// The effort of a search, kMinEffort to kMaxEffort.
inline constexpr double kMinEffort = 0.001, kMaxEffort = 1000;
Result<double> read_effort(std::string_view text);
// The settings of strategy torch with one of them changed, "solver=greedy"; "solver=" makes it
// usual. Usual settings are left out. Fails where it is no setting.
Result<std::vector<std::string>> with_torch_setting(const std::vector<std::string>& settings,
                                                    std::string_view setting);
// The planning request for the document's settings; `torch` is for strategy torch, so not there.
PlanningRequest request_of(const PlanSettings& plan_settings);
CurveRequest curve_request_of(const PlanSettings& plan_settings);

}  // namespace recut::gui
