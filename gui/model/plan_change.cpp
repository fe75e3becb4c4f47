// Describes how a new plan differs from the one before it: the settings that changed, the
// difference in peak and time, and the values whose role flipped, each with a reason. Reasons come
// from the plan (Reasons), except for a saved value that is freed now: a breadth-first search over
// its users finds the value that is saved in its place. The search stops after kMaxLookedAt nodes.
#include "gui/model/plan_change.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <set>
#include <utility>

#include "engine/cost/cost.h"
#include "engine/ir/aliases.h"
#include "engine/support/units.h"
#include "gui/model/name_list.h"

namespace recut::gui {
namespace {

constexpr std::size_t kMaxLookedAt = 256;  // nodes that the search visits

std::string budget_text(const PlanSettings& plan_settings) {
  return plan_settings.budget_bytes == 0 ? "none" : format_bytes(plan_settings.budget_bytes);
}

std::vector<std::string> added(const std::vector<std::string>& before,
                               const std::vector<std::string>& after) {
  std::vector<std::string> names;
  for (const std::string& name : after)
    if (std::find(before.begin(), before.end(), name) == before.end()) names.push_back(name);
  return names;
}

// Names the settings that changed.
std::string cause_of(const PlanSettings& before, const PlanSettings& after) {
  std::vector<std::string> causes;
  const auto add_cause = [&](const std::vector<std::string>& names, const char* verb) {
    if (!names.empty()) causes.push_back(fmt::format("{} {}", names_of(names), verb));
  };
  const auto saved = added(before.overrides.save, after.overrides.save);
  const auto again = added(before.overrides.recompute, after.overrides.recompute);
  add_cause(saved, "must be saved");
  add_cause(again, "must be recomputed");
  std::vector<std::string> left = added(after.overrides.save, before.overrides.save);
  const auto more = added(after.overrides.recompute, before.overrides.recompute);
  left.insert(left.end(), more.begin(), more.end());
  for (const auto* chosen : {&saved, &again})
    for (const std::string& name : *chosen) std::erase(left, name);
  add_cause(left, "left to the planner");
  if (before.overrides.ignore_checkpoints != after.overrides.ignore_checkpoints)
    causes.emplace_back(after.overrides.ignore_checkpoints ? "checkpoint policies ignored"
                                                           : "checkpoint policies followed");
  if (before.budget_bytes != after.budget_bytes)
    causes.push_back(fmt::format("budget {}, was {}", budget_text(after), budget_text(before)));
  if (before.cost_model != after.cost_model)
    causes.emplace_back(after.cost_model == "fused" ? "calls fused" : "calls one by one");
  if (before.device != after.device) causes.push_back("priced for " + after.device);
  if (before.effort != after.effort) causes.push_back(fmt::format("effort {}", after.effort));
  if (before.torch != after.torch)
    causes.push_back(after.torch.empty()
                         ? "PyTorch's options as usual"
                         : fmt::format("PyTorch's options {}", fmt::join(after.torch, " ")));
  std::string text;
  for (const std::string& cause : causes) text += (text.empty() ? "" : "; ") + cause;
  return text.empty() ? "planned again" : text;
}

std::string outcome_of(const PlanDifference& difference, const PlanView& before,
                       const PlanView& after) {
  std::array<std::int64_t, kRoles> count = {}, bytes = {};
  std::int64_t reruns = 0;
  for (const FateRow& row : difference.rows) {
    if (row.role_here == row.role_there) ++reruns;
    if (row.role_here == row.role_there) continue;
    count[static_cast<std::size_t>(row.role_here)] += 1;
    bytes[static_cast<std::size_t>(row.role_here)] += row.bytes;
  }
  std::string text;
  const auto add = [&](std::string one, const char* between = ", ") {
    text += (text.empty() ? "" : between) + std::move(one);
  };
  const std::int64_t peak = after.peak() - before.peak();
  const double step = after.report().step_us - before.report().step_us;
  if (peak != 0) add("peak " + signed_bytes(peak));
  if (step != 0) add(fmt::format("step {}{}", step > 0 ? "+" : "-", format_micros(std::abs(step))));
  const char* between = "; ";  // between the cost and the flipped values
  for (const Role role : {Role::recomputed, Role::saved, Role::freed, Role::inside}) {
    const auto r = static_cast<std::size_t>(role);
    if (count[r] == 0) continue;
    add(fmt::format("{} now {} ({})", format_count(count[r]), name_of(role),
                    format_bytes(bytes[r])),
        std::exchange(between, ", "));
  }
  if (reruns > 0)
    add(fmt::format("{} run another number of times", format_count(reruns)),
        std::exchange(between, ", "));
  if (difference.rows.empty()) add("no value has another fate", between);
  return text;
}

std::string saved_reason(const Reason& reason) {
  if (reason.overridden) return "saved by an override";
  if (!reason.why_not.empty()) return "it " + reason.why_not;
  const std::string time = format_micros(reason.recompute_us + reason.inputs_us);
  if (reason.inputs.empty()) return fmt::format("making it again would take {}", time);
  return fmt::format("making it again would take {}, with {}", time, names_of(reason.inputs));
}

std::string recomputed_reason(const Reason& reason) {
  if (reason.overridden) return "recomputed by an override";
  const std::string time = format_micros(reason.recompute_us + reason.inputs_us);
  if (reason.flip_bytes > 0)
    return fmt::format("makes {} of room at the peak for {}", format_bytes(reason.flip_bytes),
                       time);
  return fmt::format("is made again in {}, which frees memory elsewhere", time);
}

}  // namespace

SavedInstead saved_instead(const PlanView& plan, const Users& users, NodeId node) {
  const Graph& graph = plan.graph();
  std::vector<SavedInstead> waiting{{defining_node(graph, node), 0}};
  std::set<NodeId> seen{waiting.front().node};
  for (std::size_t at = 0; at < waiting.size() && at < kMaxLookedAt; ++at)
    for (const NodeId user : users.of(waiting[at].node)) {
      if (!seen.insert(user).second) continue;
      const double own = node_micros(graph, user, plan.planned.costs.device.rates);
      const SavedInstead found{user, waiting[at].micros + own};
      if (defining_node(graph, user) == user && plan.role(user) == Role::saved) return found;
      waiting.push_back(found);
    }
  return {};
}

std::string instead_text(const PlanView& plan, const Users& users, NodeId node) {
  const SavedInstead instead = saved_instead(plan, users, node);
  if (!instead.node.valid()) return {};
  return fmt::format("{}, made of it in {}, is saved instead", plan.graph().node_name(instead.node),
                     format_micros(instead.micros));
}

std::string unread_text(const PlanView& plan, const Users& users, NodeId node) {
  const std::string instead = instead_text(plan, users, node);
  return "backward reads nothing of it" + (instead.empty() ? "" : ": " + instead);
}

PlanDifference difference_between(const AnsweredPlan& was, const AnsweredPlan& is) {
  return difference_of(*is.plan, *was.plan, match_same(is.plan->graph()));
}

PlanChange::PlanChange(const AnsweredPlan& was, const AnsweredPlan& is, PlanDifference change,
                       Users users)
    : before(was.plan),
      after(is.plan),
      difference(std::move(change)),
      cause(cause_of(was.plan_settings, is.plan_settings)),
      outcome(outcome_of(difference, *before, *after)),
      users(std::move(users)) {}

PlanChange::PlanChange(const AnsweredPlan& was, const AnsweredPlan& is)
    : PlanChange(was, is, difference_between(was, is), Users(is.plan->graph())) {}

std::string flip_reason(const PlanChange& change, const FateRow& row, const Reasons& reasons) {
  if (row.role_here == row.role_there)
    return fmt::format("runs {} times more than once, was {}", row.runs_here, row.runs_there);
  switch (row.role_here) {
    case Role::saved:
      return saved_reason(reasons.of(row.here));
    case Role::recomputed:
      return recomputed_reason(reasons.of(row.here));
    case Role::freed: {
      const std::string instead = instead_text(*change.after, change.users, row.here);
      return instead.empty() ? "backward reads nothing of it" : instead;
    }
    case Role::inside:
      return "only its own kernel reads it now";
    case Role::result:
    case Role::input:
      break;
  }
  return {};
}

std::string override_remarks(const PlanChange& change, const AnsweredPlan& was,
                             const AnsweredPlan& is) {
  const PlanView& plan = *change.after;
  std::string text;
  for (const std::string& name :
       added(was.plan_settings.overrides.save, is.plan_settings.overrides.save)) {
    const NodeId node = plan.graph().find(name);
    if (!node.valid() || plan.role(node) != Role::freed) continue;
    text += fmt::format("{}{} was to be saved, and is freed: {}.", text.empty() ? "" : " ", name,
                        unread_text(plan, change.users, node));
  }
  return text;
}

}  // namespace recut::gui
