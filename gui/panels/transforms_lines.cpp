// The rows of the transforms panel as a flat list: passes, the plan, the user's rules, the shown
// pass's rules with their hits, the history of the selected node. A flat list lets the panel draw
// only the visible rows. Each part is made again only when its key changes: document, pass,
// selection or plan.
#include "gui/panels/transforms_lines.h"

#include <algorithm>
#include <map>

#include "engine/passes/freezing.h"
#include "engine/passes/pass_table.h"
#include "engine/passes/rule_pass.h"
#include "engine/passes/stages.h"
#include "engine/workspace/gradients.h"
#include "engine/workspace/training.h"
#include "gui/model/node_trace.h"
#include "gui/model/pass_steps.h"

namespace recut::gui {
namespace {

constexpr std::size_t kFirstHits = 8;  // of an open rule, before one asks for all
constexpr std::size_t kMaxAfter = 16;  // nodes of an open hit that are listed
constexpr std::size_t kMaxRuns = 12;   // of the selected node that are listed

const std::vector<PassReport>& passes_of(const DocumentView& document) {
  return document.document->passes.passes;
}

// True if the transform settings ask for the pass.
bool is_requested(const DocumentView& document, const PassReport& pass) {
  const auto& on = document.applied_transforms.on;
  return pass.skipped || pass.name == kRulesPass || grad_mode_of(pass.name) ||
         pass.name == kOptimizerPass || pass.name == kFoldFrozenPass ||
         std::find(on.begin(), on.end(), pass.name) != on.end();
}

// Adds rows without hits: all of the user's own rules are listed.
void add_rows_without_hits(Transforms& memory, const PassReport& pass) {
  for (const RuleStatistics& row : pass.rules.statistics) {
    const auto found = std::find_if(memory.rules.begin(), memory.rules.end(),
                                    [&](const RuleHits& rule) { return rule.rule == row.rule; });
    if (found != memory.rules.end())
      found->statistics = &row;
    else if (pass.name == kRulesPass || row.untyped > 0)
      memory.rules.push_back({std::string(row.rule), {}, &row});
  }
}

void find_rules(Transforms& memory, const DocumentView& document) {
  if (memory.rules_of == document.document && memory.rules_pass == document.pass) return;
  memory.rules_of = document.document;
  memory.rules_pass = document.pass;
  memory.rules.clear();
  memory.open_hit = Transforms::kNoPass;
  if (document.pass == 0 || document.pass > passes_of(document).size()) return;
  const PassReport& pass = passes_of(document)[document.pass - 1];
  const auto& changes = pass.changes;
  std::map<std::string_view, std::size_t> index_of_rule;
  for (std::size_t i = 0; i < changes.size(); ++i) {
    const auto [index, is_new] = index_of_rule.try_emplace(changes[i].rule, memory.rules.size());
    if (is_new) memory.rules.push_back({std::string(changes[i].rule), {}});
    memory.rules[index->second].changes.push_back(i);
  }
  add_rows_without_hits(memory, pass);
  std::stable_sort(memory.rules.begin(), memory.rules.end(), [](const auto& a, const auto& b) {
    return a.changes.size() > b.changes.size();
  });
}

// The history of a node is the same in every pass: only another selection changes it.
void find_history(Transforms& memory, const DocumentView& document) {
  const SelectionAnchor anchor = anchor_of(document);
  if (memory.history_in == document.document && anchor.node == memory.history_of.node &&
      anchor.pass == memory.history_of.pass)
    return;
  memory.history_in = document.document;
  memory.history_of = anchor;
  memory.history.clear();
  memory.planned = {};
  memory.runs_of_plan = nullptr;
  if (!anchor.node.valid()) return;
  const PipelineReport& passes = document.document->passes;
  memory.history = node_history(passes, anchor.node, anchor.pass);
  memory.planned = trace_node(passes, anchor.node, anchor.pass, passes.passes.size());
}

void find_runs(Transforms& memory, const DocumentView& document) {
  if (memory.runs_of_plan == document.shown) return;
  memory.runs_of_plan = document.shown;
  memory.runs.clear();
  if (!memory.planned.valid()) return;
  const auto& steps = document.shown->replay().steps;
  for (std::size_t i = 0; i < steps.size() && memory.runs.size() < kMaxRuns; ++i)
    if (steps[i].node == memory.planned) memory.runs.push_back(i);
}

// Adds the lines of an open hit: the nodes before, and the nodes after.
void add_open_hit(std::vector<TransformLine>& lines, const Change& change) {
  lines.push_back({TransformKind::before});
  std::size_t shown = 0;
  for (std::size_t i = 0; i < change.after.size() && shown < kMaxAfter; ++i)
    if (change.after[i] != change.before) {
      lines.push_back({TransformKind::after, i});
      ++shown;
    }
  if (shown == 0) lines.push_back({TransformKind::handed_on});
}

void add_rules(std::vector<TransformLine>& lines, const Transforms& memory,
               const DocumentView& document) {
  if (memory.rules.empty()) return;
  lines.push_back({TransformKind::blank});
  lines.push_back({TransformKind::heading});
  if (!passes_of(document)[document.pass - 1].rules.converged)
    lines.push_back({TransformKind::restless});
  for (std::size_t i = 0; i < memory.rules.size(); ++i) {
    lines.push_back({TransformKind::rule, i});
    if (memory.rules[i].rule != memory.open_rule) continue;
    const auto& hits = memory.rules[i].changes;
    const std::size_t shown = memory.all_hits ? hits.size() : std::min(hits.size(), kFirstHits);
    for (std::size_t k = 0; k < shown; ++k) {
      lines.push_back({TransformKind::hit, k});
      if (hits[k] == memory.open_hit) add_open_hit(lines, *open_change(memory, document));
    }
    if (shown < hits.size()) lines.push_back({TransformKind::more, hits.size() - shown});
  }
}

void add_own_rules(std::vector<TransformLine>& lines, const DocumentView& document, bool idle) {
  const bool loaded = document.plan_settings.transforms.rules.has_value();
  if (loaded) lines.push_back({TransformKind::own});
  if (!loaded && idle) lines.push_back({TransformKind::load});
  if (document.transform_faults.empty()) return;
  lines.push_back({TransformKind::troubles});
  for (std::size_t i = 0; i < document.transform_faults.size(); ++i)
    lines.push_back({TransformKind::fault, i});
}

std::size_t index_in_table(const std::string& name) {
  const auto table = all_passes();
  const auto found =
      std::find_if(table.begin(), table.end(), [&](const Pass& pass) { return pass.name == name; });
  return static_cast<std::size_t>(found - table.begin());
}

// The offers to make another graph of the one as read.
void add_offers(std::vector<TransformLine>& lines, const DocumentView& document, bool idle) {
  const bool backward = document.has_backward(), frozen = document.applied_transforms.freeze;
  const bool offered = document.offers_backward() && !document.applied_transforms.differentiate;
  if (offered || (frozen && idle))
    for (const TransformKind mode : {TransformKind::differentiate, TransformKind::jvp})
      lines.push_back({mode});
  if (!frozen && (!backward || idle)) lines.push_back({TransformKind::freeze});
}

// The stages that don't run here.
void offer_stages(std::vector<TransformLine>& lines, const DocumentView& document) {
  const auto& running = document.document->stages;
  for (std::size_t i = 0; i < all_stages().size(); ++i)
    if (std::none_of(running.begin(), running.end(),
                     [&](const StageBegin& begin) { return begin.stage == all_stages()[i].stage; }))
      lines.push_back({TransformKind::offered_stage, i});
}

// The passes of the list; if `idle`, also passes that don't run, in the table's order.
void add_passes(std::vector<TransformLine>& lines, const DocumentView& document, bool idle) {
  const auto& passes = passes_of(document);
  const auto has = [&](std::string_view name) {
    return std::any_of(passes.begin(), passes.end(),
                       [&](const PassReport& pass) { return pass.name == name; });
  };
  const std::size_t count = all_passes().size();
  std::size_t next = 0;  // in the table
  const auto offer_until = [&](std::size_t end) {
    for (; next < end; ++next)
      if (idle && !has(all_passes()[next].name)) lines.push_back({TransformKind::offered, next});
  };
  const auto& stages = document.document->stages;
  const bool named = stages.size() > 1 || idle;  // one stage that runs by itself needs no name
  std::size_t stage = named ? 0 : stages.size();
  const auto begin_stages = [&](std::size_t pass) {
    for (; stage < stages.size() && stages[stage].pass < pass; ++stage) {
      if (stage > 0) offer_until(count);
      lines.push_back({TransformKind::stage, stage});
    }
  };
  for (const std::size_t pass : listed_passes(document, idle)) {
    begin_stages(pass);
    const std::size_t index = pass == 0 ? count : index_in_table(passes[pass - 1].name);
    if (index < count) offer_until(index);
    lines.push_back({TransformKind::pass, pass});
    if (pass == 0) add_offers(lines, document, idle);
  }
  begin_stages(passes.size() + 1);
  offer_until(count);
  if (idle) offer_stages(lines, document);
}

// The fates of the weights, where the graph after their fold is shown.
void add_weights(std::vector<TransformLine>& lines, const Transforms& memory,
                 const DocumentView& document) {
  const auto& frozen = document.document->frozen;
  if (!frozen || document.pass != passes_of(document).size()) return;
  lines.push_back({TransformKind::blank});
  lines.push_back({TransformKind::weights});
  for (const WeightFate fate :
       {WeightFate::folded, WeightFate::kept, WeightFate::unread, WeightFate::no_value}) {
    if (frozen->count(fate) == 0) continue;
    lines.push_back({TransformKind::weight_fate, static_cast<std::size_t>(fate)});
    if (memory.open_fate != fate) continue;
    for (std::size_t i = 0; i < frozen->weights.size(); ++i)
      if (frozen->weights[i].fate == fate) lines.push_back({TransformKind::weight, i});
  }
}

void add_history(std::vector<TransformLine>& lines, const Transforms& memory) {
  if (memory.history.empty()) return;
  lines.push_back({TransformKind::blank});
  lines.push_back({TransformKind::title});
  for (std::size_t i = 0; i < memory.history.size(); ++i)
    lines.push_back({TransformKind::event, i});
  if (!memory.planned.valid()) return;
  lines.push_back({TransformKind::fate});
  for (std::size_t i = 0; i < memory.runs.size(); ++i) lines.push_back({TransformKind::run, i});
}

}  // namespace

void update(Transforms& memory, const DocumentView& document, const SharedPlanView& baseline) {
  find_rules(memory, document);
  find_history(memory, document);
  find_runs(memory, document);
  if (memory.totals_of != document.shown) memory.totals = totals_of(*document.shown);
  memory.totals_of = document.shown;
  if (baseline && memory.baseline != baseline) memory.baseline_totals = totals_of(*baseline);
  memory.baseline = baseline;
}

std::vector<TransformLine> transform_lines(const Transforms& memory, const DocumentView& document,
                                           bool idle) {
  std::vector<TransformLine> lines;
  add_passes(lines, document, idle);
  lines.push_back({TransformKind::plan});
  add_own_rules(lines, document, idle);
  add_rules(lines, memory, document);
  add_weights(lines, memory, document);
  add_history(lines, memory);
  return lines;
}

const Change* open_change(const Transforms& memory, const DocumentView& document) {
  if (document.pass == 0 || document.pass > passes_of(document).size()) return nullptr;
  const auto& changes = passes_of(document)[document.pass - 1].changes;
  return memory.open_hit < changes.size() ? &changes[memory.open_hit] : nullptr;
}

std::vector<std::size_t> listed_passes(const DocumentView& document, bool idle) {
  std::vector<std::size_t> listed{0};
  const auto& passes = passes_of(document);
  for (std::size_t i = 0; i < passes.size(); ++i) {
    // The shown pass is always listed, except the last one: there the plan's row says so.
    const bool here = document.pass == i + 1 && i + 1 < passes.size();
    if (idle || passes[i].changed || here || is_requested(document, passes[i]))
      listed.push_back(i + 1);
  }
  return listed;
}

std::size_t idle_passes(const DocumentView& document) {
  const auto& passes = passes_of(document);
  return static_cast<std::size_t>(std::count_if(
      passes.begin(), passes.end(),
      [&](const PassReport& pass) { return !pass.changed && !is_requested(document, pass); }));
}

std::string title_of(std::string_view pass) {
  std::string name(pass);
  std::replace(name.begin(), name.end(), '_', ' ');
  return name;
}

std::string pass_title(const DocumentView& document, std::size_t pass) {
  if (pass == 0 && document.mesh) return "rank 0";
  return pass == 0 ? "as read" : title_of(passes_of(document)[pass - 1].name);
}

}  // namespace recut::gui
