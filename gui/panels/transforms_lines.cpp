#include "gui/panels/transforms_lines.h"

#include <algorithm>

namespace recut::gui {
namespace {

constexpr std::size_t kFirstHits = 8;  // of an open rule, before one asks for all
constexpr std::size_t kMostRuns = 12;  // of the selected node that are listed

const std::vector<PassReport>& passes_of(const DocumentView& document) {
  return document.document->passes.passes;
}

void find_rules(Transforms& memory, const DocumentView& document) {
  if (memory.rules_pass == document.pass) return;
  memory.rules_pass = document.pass;
  memory.rules.clear();
  if (document.pass == 0 || document.pass > passes_of(document).size()) return;
  const auto& changes = passes_of(document)[document.pass - 1].changes;
  for (const auto& [rule, hits] : rule_hits(changes)) {
    memory.rules.push_back({std::string(rule), {}});
    for (std::size_t i = 0; i < changes.size(); ++i)
      if (changes[i].rule == rule) memory.rules.back().changes.push_back(i);
  }
  std::stable_sort(memory.rules.begin(), memory.rules.end(), [](const auto& a, const auto& b) {
    return a.changes.size() > b.changes.size();
  });
}

// The history of a node is the same wherever it is looked at from: it begins anew with another
// selection only.
void find_history(Transforms& memory, const DocumentView& document) {
  const SelectionAnchor anchor = anchor_of(document);
  if (anchor.node == memory.history_of.node && anchor.pass == memory.history_of.pass) return;
  memory.history_of = anchor;
  memory.history.clear();
  memory.planned = {};
  memory.runs_of_plan = nullptr;
  if (!anchor.node.valid()) return;
  const PipelineReport& passes = document.document->passes;
  memory.history = node_history(passes, anchor.node, anchor.pass);
  memory.planned = trace_node(passes, anchor.node, anchor.pass, passes.passes.size());
}

Role role_of(InstanceClass kind) {
  if (kind == InstanceClass::saved) return Role::saved;
  if (kind == InstanceClass::recomputed) return Role::recomputed;
  return kind == InstanceClass::result || kind == InstanceClass::gradient ? Role::result
                                                                          : Role::freed;
}

void find_runs(Transforms& memory, const DocumentView& document) {
  if (memory.runs_of_plan == document.shown) return;
  memory.runs_of_plan = document.shown;
  memory.runs.clear();
  if (!memory.planned.valid()) return;
  const auto& steps = document.shown->replay().steps;
  for (std::size_t i = 0; i < steps.size() && memory.runs.size() < kMostRuns; ++i)
    if (steps[i].node == memory.planned) memory.runs.push_back(i);
}

void add_rules(std::vector<TransformLine>& lines, const Transforms& memory) {
  if (memory.rules.empty()) return;
  lines.push_back({TransformKind::blank});
  lines.push_back({TransformKind::heading});
  for (std::size_t i = 0; i < memory.rules.size(); ++i) {
    lines.push_back({TransformKind::rule, i});
    if (memory.rules[i].rule != memory.open_rule) continue;
    const auto& hits = memory.rules[i].changes;
    const std::size_t shown = memory.all_hits ? hits.size() : std::min(hits.size(), kFirstHits);
    for (std::size_t k = 0; k < shown; ++k) lines.push_back({TransformKind::hit, k});
    if (shown < hits.size()) lines.push_back({TransformKind::more, hits.size() - shown});
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

RoleTotals totals_of(const PlanView& plan) {
  RoleTotals totals;
  for (const StorageInstance& instance : plan.replay().instances) {
    // What backward makes for itself is no choice of the plan's.
    if (instance.kind == InstanceClass::backward_temporary) continue;
    RoleTotal& total = totals[static_cast<std::size_t>(role_of(instance.kind))];
    ++total.count;
    total.bytes += instance.bytes;
  }
  const PlanReport& report = plan.report();
  totals[static_cast<std::size_t>(Role::saved)] = {report.saved_values, report.saved_bytes};
  totals[static_cast<std::size_t>(Role::recomputed)].count = report.recomputed_runs;
  return totals;
}

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
  for (const std::size_t pass : listed_passes(document, idle))
    lines.push_back({TransformKind::pass, pass});
  lines.push_back({TransformKind::plan});
  add_rules(lines, memory);
  add_history(lines, memory);
  return lines;
}

std::vector<std::size_t> listed_passes(const DocumentView& document, bool idle) {
  std::vector<std::size_t> listed{0};
  const auto& passes = passes_of(document);
  for (std::size_t i = 0; i < passes.size(); ++i) {
    // The one that is shown is there in any case, but for the last: there the plan's row says so.
    const bool here = document.pass == i + 1 && i + 1 < passes.size();
    if (idle || passes[i].changed || here) listed.push_back(i + 1);
  }
  return listed;
}

std::size_t idle_passes(const DocumentView& document) {
  const auto& passes = passes_of(document);
  return static_cast<std::size_t>(std::count_if(
      passes.begin(), passes.end(), [](const PassReport& pass) { return !pass.changed; }));
}

std::string pass_title(const DocumentView& document, std::size_t pass) {
  if (pass == 0) return "as read";
  std::string name = passes_of(document)[pass - 1].name;
  std::replace(name.begin(), name.end(), '_', ' ');
  return name;
}

}  // namespace recut::gui
