// The lines of the panel on the selected value, collected in order: its operator and type, its
// storage and role, its runs, the reason for the plan's choice, its module and source. A view
// reports the storage of the call behind it. Reasons and effects of the opposite choice are made by
// jobs; lines that need them are left out until then.
#include "gui/model/value_details.h"

#include <fmt/format.h>

#include <algorithm>

#include "engine/ir/aliases.h"
#include "engine/ir/graph_signature.h"
#include "engine/ir/printer.h"
#include "engine/support/units.h"
#include "gui/model/memory_stack.h"
#include "gui/model/name_list.h"
#include "gui/model/plan_change.h"

namespace recut::gui {
namespace {

constexpr std::size_t kMaxLives = 3;

// The life of the storages of one run, which are born together.
struct Life {
  std::size_t run = 0, last_use = 0;
  std::int64_t bytes = 0;
};

// The step of a call's run: a kernel's storages live from its first step on, before the call itself
// runs.
std::size_t run_from(const PlanView& plan, NodeId call, std::size_t birth) {
  const auto& steps = plan.replay().steps;
  for (std::size_t step = birth; step < steps.size(); ++step)
    if (steps[step].node == call && !steps[step].inlined) return step;
  return birth;
}

std::vector<Life> lives_of(const PlanView& plan, NodeId id) {
  std::vector<Life> lives;
  for (const StorageInstance* one : instances_behind(plan, id)) {
    const std::size_t run = run_from(plan, one->owner, one->birth);
    if (lives.empty() || lives.back().run != run) lives.push_back({run, one->last_use, 0});
    lives.back().last_use = std::max(lives.back().last_use, one->last_use);
    lives.back().bytes += one->bytes;
  }
  return lives;
}

std::string role_text(Role role, bool inference) {
  switch (role) {
    case Role::saved:
      return "saved for backward";
    case Role::recomputed:
      return inference ? "computed again" : "computed again in backward";
    case Role::freed:
      return "freed after its last use";
    case Role::result:
      return inference ? "a result: it stays" : "a result or gradient: it stays";
    case Role::input:
      return "there before the step: it costs nothing";
    case Role::inside:
      return "none: it stays inside its kernel";
  }
  return {};
}

// The effect of a change in bytes: "frees 12 MiB", "takes nothing".
std::string change_text(std::int64_t bytes, bool frees) {
  if (bytes != 0) frees = bytes < 0;
  return (frees ? "frees " : "takes ") +
         (bytes == 0 ? std::string("nothing") : format_bytes(std::abs(bytes)));
}

// The reason as text: "recomputing it takes 31 µs, with conv2 again, and frees 12 MiB at the peak
// (backward 1,893)".
std::string why_text(const Reason& reason, const ValueRow* row, const std::string& peak) {
  const std::string hand = reason.overridden ? "override; " : "";
  if (!reason.why_not.empty()) return hand + "no other choice: it " + reason.why_not;
  const std::int64_t bytes = row != nullptr ? row->flip_bytes : 0;
  const std::string time = format_micros(reason.recompute_us + reason.inputs_us);
  const std::string inputs = names_of(reason.inputs);
  if (reason.decision == RematDecision::saved)
    return fmt::format("{}recomputing it takes {}{}, and {} at the peak ({})", hand, time,
                       inputs.empty() ? "" : ", with " + inputs + " again",
                       change_text(bytes, true), peak);
  return fmt::format("{}saving it {} at the peak ({}) and spares up to {}{}", hand,
                     change_text(bytes, false), peak, time,
                     inputs.empty() ? "" : ", with the runs of " + inputs);
}

class Collector {
 public:
  Collector(const DocumentView& document, NodeId id)
      : document_(document), plan_(*document.shown), graph_(document.graph()), id_(id) {}

  ValueDetails collect() {
    details_.title = graph_.node_name(id_);
    details_.in_plan = true;
    details_.role = plan_.role(id_);
    ValueOverrides overrides;
    overrides.read(document_);
    const NodeId maker = defining_node(graph_, id_);
    details_.override_kind = overrides.of(maker);
    add("operator", fmt::format("{} {}", graph_.op(id_).name, types()));
    add("storage", storage(maker));
    if (graph_.op(id_).is(kInput)) {
      add("given as", graph_.is_input(id_) ? std::string(name_of(graph_.input_kind(id_)))
                                           : std::string("constant"));
    } else {
      times();
      reasons(maker);
    }
    signature();
    const Origin& origin = graph_.origin(id_);
    add("module", std::string(short_module(origin.module)));
    add("source", origin.source);
    if (origin.seq_nr >= 0) add("autograd", fmt::format("call {}", origin.seq_nr));
    attributes();
    details_.operands = graph_[id_].operands;
    for (const NodeId user : graph_.order()) {
      const auto& operands = graph_[user].operands;
      if (std::find(operands.begin(), operands.end(), id_) != operands.end())
        details_.users.push_back(user);
    }
    return std::move(details_);
  }

 private:
  void add_tangent(const std::string& primal, int level) {
    add("tangent", fmt::format("the tangent of {} at level {}", primal, level));
  }
  void add_dual(const std::string& tangent, int level) {
    add("dual", fmt::format("its tangent at level {} is {}", level, tangent));
  }

  // The graph's signature, as far as it is about this value.
  void signature() {
    if (graph_.signature == nullptr) return;
    for (const Mutation& mutation : graph_.signature->mutations) {
      const NodeId value = graph_.results[mutation.result];
      const std::string_view layout = !mutation.metadata ? "value"
                                      : mutation.value   ? "value and sizes"
                                                         : "sizes and strides";
      if (value == id_) add("mutation", fmt::format("the new {} of {}", layout, mutation.input));
      if (graph_.find(mutation.input) == id_)
        add("mutated",
            fmt::format("{} is its new {} after the step", graph_.node_name(value), layout));
    }
    for (const DualInput& dual : graph_.signature->dual_inputs) {
      if (graph_.find(dual.tangent) == id_) add_tangent(dual.primal, dual.level);
      if (graph_.find(dual.primal) == id_) add_dual(dual.tangent, dual.level);
    }
    for (const DualResult& dual : graph_.signature->dual_results) {
      const NodeId primal = graph_.results[dual.primal], tangent = graph_.results[dual.tangent];
      if (tangent == id_) add_tangent(graph_.node_name(primal), dual.level);
      if (primal == id_) add_dual(graph_.node_name(tangent), dual.level);
    }
    for (const auto& group : graph_.signature->shared_storages)
      if (std::find(group.begin(), group.end(), graph_.node_name(id_)) != group.end())
        add("shared", fmt::format("one storage: {}", fmt::join(group, ", ")));
  }

  void add(std::string what, std::string text) {
    if (!text.empty()) details_.lines.push_back({std::move(what), std::move(text)});
  }

  std::string types() const {
    std::string text;
    for (const TensorType& type : graph_[id_].outputs)
      text += (text.empty() ? "" : ", ") + format(type);
    return text;
  }

  std::string storage(NodeId maker) const {
    std::int64_t bytes = 0;
    for (const TensorType& type : graph_[maker].outputs) bytes += byte_size(type);
    const SavedStorages kept = plan_.kept_of(maker);
    const std::size_t owned = plan_.storages->owned(maker).size();
    if (maker != id_)
      return fmt::format("none of its own: a view of {}, {}", graph_.node_name(maker),
                         format_bytes(bytes));
    const bool inference = plan_.report().inference;
    if (details_.role == Role::inside) return role_text(details_.role, inference);
    if (kept.storages > 0 && static_cast<std::size_t>(kept.storages) < owned)
      return fmt::format("{} in {} storages; {} of them, {}, saved for backward",
                         format_bytes(bytes), owned, kept.storages, format_bytes(kept.bytes));
    return fmt::format("{}, {}", format_bytes(bytes), role_text(details_.role, inference));
  }

  void times() {
    const auto lives = lives_of(plan_, id_);
    const std::size_t steps = plan_.replay().steps.size();
    for (std::size_t i = 0; i < std::min(lives.size(), kMaxLives); ++i) {
      const std::string end = lives[i].last_use >= steps
                                  ? std::string("stays to the end")
                                  : "last read " + step_label(plan_.report(), lives[i].last_use);
      add(i == 0 ? "written" : "again",
          fmt::format("{} · {}", step_label(plan_.report(), lives[i].run), end));
    }
    if (lives.size() > kMaxLives)
      add("again", fmt::format("{} times more", lives.size() - kMaxLives));
  }

  const ValueRow* row_of(NodeId maker) const {
    const auto* table = find_memory<ValueTable>(document_.memories, kValuesMemory);
    if (table == nullptr || !table->rows || table->rows->plan != document_.shown) return nullptr;
    for (const ValueRow& row : table->rows->rows)
      if (row.node == maker) return &row;
    return nullptr;
  }

  void reasons(NodeId maker) {
    const OverrideRules rules(graph_);
    details_.why_not_saved = rules.why_not_saved(maker);
    details_.why_not_recomputed = rules.why_not_recomputed(maker);
    if (!document_.reasons || plan_.replay().steps.empty()) return;
    const Reason reason = document_.reasons->of(maker);
    details_.can_flip = reason.why_not.empty() && reason.decision != RematDecision::neither;
    const bool forward = details_.can_flip || details_.role != Role::result;
    if (reason.decision == RematDecision::neither)
      return add("why", forward ? unread(maker, reason.overridden) : std::string());
    const std::string peak = step_label(plan_.report(), plan_.replay().peak_step.value_or(0));
    if (forward) add("why", why_text(reason, row_of(maker), peak));
  }

  // A user who asked for "saved" gets the reason why it isn't.
  std::string unread(NodeId maker, bool by_hand) const {
    std::string text = unread_text(plan_, Users(graph_), maker);
    if (!by_hand) return text;
    return fmt::format("overridden to be {}, but {}",
                       details_.override_kind == OverrideKind::save ? "saved" : "recomputed", text);
  }

  void attributes() {
    const auto& parameters = graph_.op(id_).parameters;
    const auto& arguments = graph_[id_].arguments;
    std::string text;
    for (std::size_t i = 0; i < std::min(parameters.size(), arguments.size()); ++i) {
      bool reads = false;
      for_each_node(arguments[i], [&](NodeId) { reads = true; });
      if (reads || arguments[i].absent() || arguments[i].none()) continue;
      text += fmt::format("{}{} {}", text.empty() ? "" : " · ", parameters[i].name,
                          print_argument(graph_, arguments[i]));
    }
    add("attributes", text);
  }

  const DocumentView& document_;
  const PlanView& plan_;
  const Graph& graph_;
  const NodeId id_;
  ValueDetails details_;
};

}  // namespace

ValueDetails details_of(const DocumentView& document, NodeId id) {
  ValueDetails details;
  if (!id.valid() || !document.shown) return details;
  if (document.graph().contains(id)) return Collector(document, id).collect();
  const Graph& graph = document.graph_at_pass();
  if (!graph.contains(id)) return details;
  details.title = graph.node_name(id);
  details.lines = {{"operator", fmt::format("{} {}", graph.op(id).name, format(graph.type(id)))},
                   {"module", graph.origin(id).module},
                   {"plan", "a later pass took it away: it is no part of the plan"}};
  return details;
}

}  // namespace recut::gui
