#include "native/aot/interface.h"

#include <map>
#include <set>

#include "engine/eval/inputs.h"
#include "engine/ir/data_flow.h"
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
        {name, named("_IN_", name), std::string(kind), laid_out(graph.type(id)), id});
  };
  for (const NodeId id : graph.inputs()) add_input(id, name_of(graph.input_kind(id)));
  for (const NodeId id : graph.order())
    if (graph.op(id).is(kInput) && !graph.is_input(id)) add_input(id, "constant");
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
    interface.outputs.push_back({name, named(result ? "_OUT_" : "_GRADIENT_", name),
                                 result ? "result" : "gradient", laid_out(output.type),
                                 output.node});
  }
  return interface;
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
