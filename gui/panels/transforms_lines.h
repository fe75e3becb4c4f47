// The list of transforms as lines of one height: passes and plan, the user's rules, the rules that
// fired in the shown pass, with the result of one of their hits, and the history of the selected
// node.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "gui/model/document_view.h"
#include "gui/model/node_trace.h"
#include "gui/model/role_totals.h"

namespace recut::gui {

struct RuleHits {
  std::string rule;
  std::vector<std::size_t> changes;            // into PassReport::changes
  const RuleStatistics* statistics = nullptr;  // of the pass's report; null: the pass keeps none
};

// Kept from frame to frame, so that slow lookups run once.
struct Transforms {
  std::string open_rule;                // "" for none
  bool all_hits = false;                // of the open rule
  std::optional<WeightFate> open_fate;  // whose weights are listed
  std::size_t open_hit = kNoPass;  // into PassReport::changes, of which before and after are listed

  std::shared_ptr<const Document> rules_of;
  std::size_t rules_pass = kNoPass;
  std::vector<RuleHits> rules;  // of the shown pass

  std::shared_ptr<const Document> history_in;
  SelectionAnchor history_of;
  std::vector<NodeEvent> history;

  NodeId planned;  // the selected node in the plan's graph; invalid: none

  SharedPlanView runs_of_plan;
  std::vector<std::size_t> runs;  // the steps of the plan that run the selected node

  SharedPlanView totals_of, baseline;
  RoleTotals totals = {}, baseline_totals = {};

  static constexpr std::size_t kNoPass = static_cast<std::size_t>(-1);
};

enum class TransformKind : unsigned char {
  pass,           // at: the pass
  offered,        // at: into all_passes(), one that doesn't run here
  differentiate,  // the offer to, of a forward graph
  jvp,            // the same in forward mode
  freeze,         // the offer to, or why it can't be done
  stage,          // at: into Document::stages
  offered_stage,  // at: into all_stages(), one that doesn't run here
  plan,           //
  load,           // the offer to load rules
  own,            // the user's file of rules
  troubles,       // "What was requested can't be done"
  fault,          // at: into DocumentView::transform_faults
  blank,          //
  heading,        // "Rules that fired here"
  rule,           // at: into Transforms::rules
  restless,       // the pass's rules were stopped
  hit,            // at: into RuleHits::changes of the open rule
  before,         // the open hit's node as it was
  after,          // at: into Change::after of the open hit
  handed_on,      // remark of the open hit if it made no node
  more,           // at: how many hits aren't shown
  weights,        // "Weights", of the pass that folded them
  weight_fate,    // at: a WeightFate
  weight,         // at: into FreezeReport::weights
  title,          // "History of …"
  event,          // at: into Transforms::history
  fate,           // the selected node's fate in the plan
  run,            // at: into Transforms::runs
};

struct TransformLine {
  TransformKind kind = TransformKind::blank;
  std::size_t at = 0;
};

// Updates the memory for the current document. `baseline`: null for none.
void update(Transforms& memory, const DocumentView& document, const SharedPlanView& baseline);

// `idle`: passes that changed nothing are listed, too.
std::vector<TransformLine> transform_lines(const Transforms& memory, const DocumentView& document,
                                           bool idle);
// Passes that are listed, in order; 0 is the graph as read. Passes that the user switched on or off
// are listed even if they changed nothing.
std::vector<std::size_t> listed_passes(const DocumentView& document, bool idle);
std::size_t idle_passes(const DocumentView& document);

// The change of the open hit; null where none is open.
const Change* open_change(const Transforms& memory, const DocumentView& document);

// The title of a pass: "noop removal" for "noop_removal".
std::string title_of(std::string_view pass);
std::string pass_title(const DocumentView& document, std::size_t pass);

}  // namespace recut::gui
