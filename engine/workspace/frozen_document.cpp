#include "engine/workspace/frozen_document.h"

#include <fmt/core.h>

#include <algorithm>
#include <deque>
#include <map>
#include <memory>
#include <string>
#include <utility>

#include "engine/eval/inputs.h"
#include "engine/ir/data_flow.h"
#include "engine/passes/stages.h"
#include "engine/support/text.h"

// Passes of stage freezing write a folded weight as calls on weights:
//   conv(x, w), batch norm(…)  ⇒  conv(x, w * s), s = gamma / sqrt(variance + eps)
// fold_frozen computes these calls with the interpreter. Values belong to inputs by name, and a
// computed constant keeps its call's name. So a fate follows from three graphs: that of the file,
// which names the weights; that after the passes, which has the operands of each call; the frozen
// one, which has the remaining inputs.

namespace recut {
namespace {

// The bytes of computed constants, and the owner of all other values.
struct FrozenStorage {
  std::deque<std::string> computed;
  std::shared_ptr<const void> file;
};

bool is_weight(const Graph& graph, NodeId id) {
  return graph.op(id).is(kInput) &&
         (!graph.is_input(id) || graph.input_kind(id) == InputKind::parameter);
}

std::vector<NamedTensor> joined(std::span<const NamedTensor> first,
                                const std::vector<NamedTensor>& then) {
  std::vector<NamedTensor> tensors(first.begin(), first.end());
  tensors.insert(tensors.end(), then.begin(), then.end());
  return tensors;
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
    for (const NodeId id : weights_of(frozen_.graph)) {
      report_.bytes_after += byte_size(frozen_.graph.type(id));
      if (!passed_.contains(id)) add_constant(id);
    }
    for (const NodeId id : weights_of(before_)) add_weight(id);
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
  report.name = kFoldFrozenPass;
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

std::vector<NodeId> weights_of(const Graph& graph) {
  std::vector<NodeId> weights;
  for (const NodeId id : graph.order())
    if (is_weight(graph, id)) weights.push_back(id);
  return weights;
}

DocumentFreezer::DocumentFreezer(Document& document, std::span<const NamedTensor> tensors)
    : document_(document),
      tensors_(joined(tensors, document.file.tensors)),
      passed_(document.graph()),
      unread_(weights_of(passed_)) {
  std::reverse(unread_.begin(), unread_.end());
  if (auto fits = check_stage(Stage::freezing, passed_); !fits) faults_ = fits.diagnostics();
}

bool DocumentFreezer::step() {
  if (!faults_.empty()) return false;
  if (folder_) return folder_->step();
  if (unread_.empty()) {
    folder_.emplace(passed_, values_);
    return true;
  }
  read_weight(unread_.back());
  unread_.pop_back();
  return faults_.empty();
}

void DocumentFreezer::read_weight(NodeId id) {
  const std::string name = "in." + passed_.node_name(id);
  const auto found = std::find_if(tensors_.begin(), tensors_.end(),
                                  [&](const NamedTensor& tensor) { return tensor.name == name; });
  if (found == tensors_.end()) return;
  const TensorType& type = passed_.type(id);
  if (found->dtype == type.dtype && found->shape == type.shape)
    values_.emplace(id, tensor_from_bytes(type, found->bytes));
  else
    faults_ = {error(fmt::format("tensor {} is of another dtype or shape than the graph's {}",
                                 quote(found->name), format(type)))};
}

Result<Done> DocumentFreezer::finish() {
  if (!faults_.empty()) return faults_;
  const auto frozen = folder_->take();
  if (!frozen) return frozen.diagnostics();
  document_.frozen = Fates(document_.passes.input, passed_, *frozen, values_).run();
  document_.tensors_as_read = document_.file.tensors;
  hold_values(*frozen, passed_, document_.file);
  document_.passes.passes.push_back(fold_report(passed_, *frozen, ms_since(began_)));
  return Done{};
}

}  // namespace recut
