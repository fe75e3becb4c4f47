#include "native/aot/interface.h"

#include <algorithm>
#include <map>
#include <set>

#include "engine/eval/inputs.h"
#include "engine/ir/aliases.h"
#include "engine/ir/data_flow.h"
#include "engine/ir/graph_signature.h"
#include "engine/schedule/schedule.h"

namespace recut::aot {
namespace {

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
bool is_digit(char c) { return c >= '0' && c <= '9'; }

std::string in_capitals(std::string text) {
  for (char& c : text)
    if (c >= 'a' && c <= 'z') c = static_cast<char>(c - 'a' + 'A');
  return text;
}

// Adds numbers to names that would become the same identifier.
class Enumerators {
 public:
  std::string add(const std::string& base_name) {
    std::string name = base_name;
    for (int n = 2; !taken_.insert(name).second; ++n) name = base_name + "_" + std::to_string(n);
    return name;
  }

 private:
  std::set<std::string> taken_;
};

// The inputs in whose storages PyTorch has results.
class ResultStorages {
 public:
  explicit ResultStorages(const Graph& graph) : graph_(graph) {
    for (std::size_t i = 0; i < graph.results.size(); ++i)
      if (const NodeId input = mutated_input(graph, i); input.valid())
        owners_[storage_root(graph, graph.results[i])] = input;
  }

  void describe(std::size_t result, const Interface& interface, InterfaceTensor& output) const {
    const NodeId root = storage_root(graph_, output.node);
    const auto owner = owners_.find(root);
    output.storage = number_of(owner == owners_.end() ? root : owner->second, interface);
    const NodeId input = mutated_input(graph_, result);
    if (!input.valid()) return;
    output.kind = "mutation";
    output.type = laid_out(graph_.type(input));
    output.mutates = number_of(input, interface);
  }

 private:
  static std::optional<std::size_t> number_of(NodeId input, const Interface& interface) {
    for (std::size_t i = 0; i < interface.inputs.size(); ++i)
      if (interface.inputs[i].node == input) return i;
    return std::nullopt;
  }

  const Graph& graph_;
  std::map<NodeId, NodeId> owners_;  // by the storage of an input's new value
};

}  // namespace

std::string Interface::upper() const { return in_capitals(prefix); }

std::string identifier_of(std::string_view name) {
  std::string identifier;
  for (const char c : name) {
    const bool capital = c >= 'A' && c <= 'Z';
    identifier +=
        is_letter(c) || is_digit(c) ? static_cast<char>(capital ? c - 'A' + 'a' : c) : '_';
  }
  if (identifier.empty() || is_digit(identifier.front())) identifier.insert(0, "step_");
  return identifier;
}

Interface interface_of(const Graph& graph, const Program& program, const std::string& prefix) {
  Interface interface;
  interface.prefix = prefix;
  interface.inference = !is_joint(graph);
  Enumerators enumerators;
  const auto named = [&](const char* part, const std::string& name) {
    return enumerators.add(interface.upper() + part + in_capitals(identifier_of(name)));
  };
  const auto add_input = [&](NodeId id, std::string_view kind) {
    const std::string& name = graph.node_name(id);
    interface.inputs.push_back(
        {name, named("_IN_", name), std::string(kind), laid_out(graph.type(id)), id, {}, {}});
  };
  for (const NodeId id : graph.inputs()) add_input(id, name_of(graph.input_kind(id)));
  for (const NodeId id : graph.order())
    if (graph.op(id).is(kInput) && !graph.is_input(id)) add_input(id, "constant");
  const ResultStorages storages(graph);
  std::vector<NodeId> differentiated;  // one per gradient
  for (const NodeId id : graph.inputs())
    if (graph.input_kind(id) != InputKind::tangent) differentiated.push_back(id);
  for (std::size_t i = 0; i < program.outputs.size(); ++i) {
    const ProgramOutput& output = program.outputs[i];
    if (!output.node.valid()) continue;
    const bool result = i < graph.results.size();
    const std::string& name =
        graph.node_name(result ? output.node : differentiated[i - graph.results.size()]);
    interface.results += result ? 1 : 0;
    interface.positions.push_back(i);
    InterfaceTensor& added =
        interface.outputs.emplace_back(InterfaceTensor{name,
                                                       named(result ? "_OUT_" : "_GRADIENT_", name),
                                                       result ? "result" : "gradient",
                                                       laid_out(output.type),
                                                       output.node,
                                                       {},
                                                       {}});
    if (result) storages.describe(i, interface, added);
  }
  return interface;
}

bool Interface::mutates_inputs() const {
  return std::any_of(outputs.begin(), outputs.end(),
                     [](const InterfaceTensor& output) { return output.mutates.has_value(); });
}

bool Interface::mutates_weights() const {
  return std::any_of(outputs.begin(), outputs.end(), [&](const InterfaceTensor& output) {
    return std::any_of(weights.begin(), weights.end(),
                       [&](const WeightPlace& place) { return output.mutates == place.input; });
  });
}

std::string place_weights(const Graph& graph, std::span<const NamedTensor> values,
                          Interface& interface) {
  constexpr std::int64_t kWeightAlignment = 64;  // a cache line, and the widest vector
  std::map<std::string_view, const NamedTensor*> by_name;
  for (const NamedTensor& tensor : values) by_name.emplace(tensor.name, &tensor);
  std::string bytes;
  for (std::size_t i = 0; i < interface.inputs.size(); ++i) {
    const InterfaceTensor& input = interface.inputs[i];
    const auto found = by_name.find("in." + input.name);
    if (found == by_name.end()) continue;
    const TensorType& type = graph.type(input.node);
    const Tensor value = as_kernels_read(type, tensor_from_bytes(type, found->second->bytes));
    bytes.resize(static_cast<std::size_t>(
        aligned(static_cast<std::int64_t>(bytes.size()), kWeightAlignment)));
    interface.weights.push_back({i, static_cast<std::int64_t>(bytes.size())});
    bytes.append(reinterpret_cast<const char*>(value.storage->data()),
                 static_cast<std::size_t>(byte_size(input.type)));
  }
  interface.weights_bytes = static_cast<std::int64_t>(bytes.size());
  return bytes;
}

}  // namespace recut::aot
