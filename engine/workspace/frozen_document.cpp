#include "engine/workspace/frozen_document.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <chrono>
#include <deque>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "engine/eval/inputs.h"
#include "engine/ir/data_flow.h"
#include "engine/passes/freezing.h"
#include "engine/passes/stages.h"
#include "engine/support/clock.h"
#include "engine/support/table.h"
#include "engine/support/text.h"
#include "engine/support/units.h"
#include "engine/workspace/json_text.h"

// Passes of stage freezing write a folded weight as calls on weights:
//   conv(x, w), batch norm(…)  ⇒  conv(x, w * s), s = gamma / sqrt(variance + eps)
// fold_frozen computes these calls with the interpreter. Values belong to inputs by name, and a
// computed constant keeps its call's name. So a fate follows from three graphs: that of the file,
// which names the weights; that after the passes, which has the operands of each call; the frozen
// one, which has the remaining inputs.

namespace recut {
namespace {

constexpr std::string_view kFoldPass = "fold_frozen";

// The bytes of computed constants, and the owner of all other values.
struct FrozenStorage {
  std::deque<std::string> computed;
  std::shared_ptr<const void> file;
};

bool is_weight(const Graph& graph, NodeId id) {
  return graph.op(id).is(kInput) &&
         (!graph.is_input(id) || graph.input_kind(id) == InputKind::parameter);
}

// The first tensor of a name counts.
std::map<std::string_view, const NamedTensor*> by_name(std::span<const NamedTensor> given,
                                                       std::span<const NamedTensor> file) {
  std::map<std::string_view, const NamedTensor*> tensors;
  for (const auto list : {given, file})
    for (const NamedTensor& tensor : list) tensors.emplace(tensor.name, &tensor);
  return tensors;
}

Result<Inputs> weight_values(const Graph& graph,
                             const std::map<std::string_view, const NamedTensor*>& tensors) {
  Inputs values;
  for (const NodeId id : graph.order()) {
    if (!is_weight(graph, id)) continue;
    const auto found = tensors.find("in." + graph.node_name(id));
    if (found == tensors.end()) continue;
    const TensorType& type = graph.type(id);
    const NamedTensor& tensor = *found->second;
    if (tensor.dtype != type.dtype || tensor.shape != type.shape)
      return error(fmt::format("tensor {} is of another dtype or shape than the graph's {}",
                               quote(tensor.name), format(type)));
    values.emplace(id, tensor_from_bytes(type, tensor.bytes));
  }
  return values;
}

// The values of the frozen graph: computed ones, and the file's of its remaining inputs.
void hold_values(const Frozen& frozen, const Graph& passed, GraphFile& file) {
  auto storage = std::make_shared<FrozenStorage>();
  storage->file = file.storage;
  std::vector<NamedTensor> kept;
  for (const NamedTensor& tensor : file.tensors) {
    const NodeId id =
        tensor.name.starts_with("in.") ? frozen.graph.find(tensor.name.substr(3)) : NodeId();
    if (!tensor.name.starts_with("in.") || (id.valid() && passed.contains(id)))
      kept.push_back(tensor);
  }
  for (const auto& [id, value] : frozen.values) {
    if (passed.contains(id)) continue;
    kept.push_back({"in." + frozen.graph.node_name(id), value.dtype, value.shape,
                    storage->computed.emplace_back(bytes_of(value))});
  }
  file.tensors = std::move(kept);
  file.storage = std::move(storage);
}

// Finds the fate of each weight of the graph before the passes.
class Fates {
 public:
  Fates(const Graph& before, const Graph& passed, const Frozen& frozen, const Inputs& values)
      : before_(before), passed_(passed), frozen_(frozen), values_(values) {}

  FreezeReport run() && {
    for (const NodeId id : frozen_.graph.order()) {
      if (!is_weight(frozen_.graph, id)) continue;
      report_.bytes_after += byte_size(frozen_.graph.type(id));
      if (!passed_.contains(id)) add_constant(id);
    }
    for (const NodeId id : before_.order())
      if (is_weight(before_, id)) add_weight(id);
    return std::move(report_);
  }

 private:
  void add_constant(NodeId id) {
    const std::string& name = frozen_.graph.node_name(id);
    report_.constants.push_back(name);
    const NodeId call = passed_.find(name);
    if (!call.valid()) return;
    const std::vector<bool> needed = needed_nodes(passed_, std::span(&call, 1));
    for (const NodeId weight : passed_.order())
      if (needed[passed_.position(weight)] && is_weight(passed_, weight))
        into_[weight].push_back(name);
  }

  void add_weight(NodeId id) {
    FrozenWeight weight{before_.node_name(id), WeightFate::unread, byte_size(before_.type(id)), {}};
    report_.bytes_before += weight.bytes;
    if (const auto found = into_.find(id); found != into_.end()) weight.into = found->second;
    if (frozen_.graph.contains(id) && live(id))
      weight.fate = values_.count(id) != 0 ? WeightFate::kept : WeightFate::no_value;
    else if (!weight.into.empty())
      weight.fate = WeightFate::folded;
    report_.weights.push_back(std::move(weight));
  }

  bool live(NodeId id) {
    if (live_.empty()) live_ = live_nodes(frozen_.graph);
    return live_[frozen_.graph.position(id)];
  }

  const Graph& before_;
  const Graph& passed_;
  const Frozen& frozen_;
  const Inputs& values_;
  std::map<NodeId, std::vector<std::string>> into_;
  std::vector<bool> live_;
  FreezeReport report_;
};

// The fold as a pass that ran last.
PassReport fold_report(const Graph& passed, const Frozen& frozen, double milliseconds) {
  PassReport report;
  report.name = kFoldPass;
  report.milliseconds = milliseconds;
  report.nodes_before = passed.order().size();
  report.nodes_after = frozen.graph.order().size();
  for (const auto& [id, value] : frozen.values) {
    if (passed.contains(id)) continue;
    const std::string& name = frozen.graph.node_name(id);
    const NodeId call = passed.find(name);
    report.changes.push_back({"computed",
                              call.valid() ? call : id,
                              {id},
                              ChangeDescription(fmt::format("%{} is computed", name))});
  }
  report.changed = !report.changes.empty() || report.nodes_before != report.nodes_after;
  report.graph = frozen.graph;
  return report;
}

}  // namespace

std::string_view name_of(WeightFate fate) {
  switch (fate) {
    case WeightFate::kept:
      return "kept";
    case WeightFate::folded:
      return "folded";
    case WeightFate::unread:
      return "unread";
    case WeightFate::no_value:
      return "no value";
  }
  return "";
}

std::int64_t FreezeReport::count(WeightFate fate) const {
  return std::count_if(weights.begin(), weights.end(),
                       [&](const FrozenWeight& weight) { return weight.fate == fate; });
}

Result<FreezeReport> freeze(Document& document, std::span<const NamedTensor> tensors) {
  const Graph passed = document.graph();
  if (auto fits = check_stage(Stage::freezing, passed); !fits) return fits.diagnostics();
  const auto values = weight_values(passed, by_name(tensors, document.file.tensors));
  if (!values) return values.diagnostics();
  const Clock::time_point began = Clock::now();
  const auto frozen = fold_frozen(passed, *values);
  if (!frozen) return frozen.diagnostics();
  FreezeReport report = Fates(document.passes.input, passed, *frozen, *values).run();
  hold_values(*frozen, passed, document.file);
  document.passes.passes.push_back(fold_report(passed, *frozen, ms_since(began)));
  return report;
}

std::string freeze_text(const FreezeReport& report) {
  std::string text = fmt::format(
      "frozen: {} constants computed; of {} weights {} folded, {} kept, {} unread",
      format_count(static_cast<std::int64_t>(report.constants.size())),
      format_count(static_cast<std::int64_t>(report.weights.size())),
      format_count(report.count(WeightFate::folded)), format_count(report.count(WeightFate::kept)),
      format_count(report.count(WeightFate::unread)));
  if (const std::int64_t missing = report.count(WeightFate::no_value); missing > 0)
    text += fmt::format(", {} without a value", format_count(missing));
  return text + fmt::format("; {} of weights become {}", format_bytes(report.bytes_before),
                            format_bytes(report.bytes_after));
}

std::string freeze_table(const FreezeReport& report) {
  Table table;
  table.column("weight");
  table.column("bytes", Table::Align::right);
  table.column("is");
  table.column("into");
  for (const FrozenWeight& weight : report.weights)
    table.row({weight.name, format_bytes(weight.bytes), std::string(name_of(weight.fate)),
               fmt::format("{}", fmt::join(weight.into, ", "))});
  return table.format(0);
}

std::string freeze_json(const FreezeReport& report) {
  nlohmann::ordered_json weights = nlohmann::ordered_json::array();
  for (const FrozenWeight& weight : report.weights)
    weights.push_back({{"name", weight.name},
                       {"fate", name_of(weight.fate)},
                       {"bytes", weight.bytes},
                       {"into", weight.into}});
  const nlohmann::ordered_json json = {{"constants", report.constants},
                                       {"bytes_before", report.bytes_before},
                                       {"bytes_after", report.bytes_after},
                                       {"weights", weights}};
  return json_text(json);
}

}  // namespace recut
