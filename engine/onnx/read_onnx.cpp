#include "engine/onnx/read_onnx.h"

#include <fmt/core.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>

#include "engine/onnx/importer.h"
#include "engine/onnx/node_importer.h"
#include "engine/support/text.h"
#include "engine/support/units.h"

namespace recut::onnx {
namespace {

// False if the bytes are no message with a graph.
bool parse(std::string_view bytes, ::onnx::ModelProto& model) {
  return bytes.size() <= static_cast<std::size_t>(kMaxInputBytes) &&
         model.ParseFromArray(bytes.data(), static_cast<int>(bytes.size())) && model.has_graph();
}

// Checks the operator domains and returns the opset of the default domain.
Result<std::int64_t> opset_of(const ::onnx::ModelProto& model) {
  for (const auto& opset : model.opset_import())
    if (opset.domain().empty() || opset.domain() == "ai.onnx") {
      if (opset.version() >= kMinOpset) return opset.version();
      return error(fmt::format("opset {}, expected {} or later", opset.version(), kMinOpset));
    }
  return error("the model names no opset of ONNX's own operators");
}

// All unsupported operators, each with its first use.
Diagnostics unsupported(const ::onnx::GraphProto& graph, std::int64_t opset) {
  Diagnostics found;
  std::set<std::string> told;
  for (int i = 0; i < graph.node_size(); ++i) {
    const auto& node = graph.node(i);
    const auto name = unsupported_operator(node, opset);
    if (!name || told.size() >= 50 || !told.insert(*name).second) continue;
    found.push_back(
        error(fmt::format("unsupported operator {} (opset {}): {} ({}) uses it", quote(*name),
                          opset, describe_node(node), position_text(graph, i))));
  }
  return found;
}

Diagnostics with_file_name(Diagnostics diagnostics, std::string_view file_name) {
  for (Diagnostic& d : diagnostics) d.file = std::string(file_name);
  return diagnostics;
}

}  // namespace

bool is_onnx_name(std::string_view file_name) { return file_name.ends_with(".onnx"); }

std::vector<std::string> open_dimensions(std::string_view bytes) {
  std::vector<std::string> names;
  ::onnx::ModelProto model;
  if (!parse(bytes, model)) return names;
  std::set<std::string> known;
  for (const auto& value : model.graph().initializer()) known.insert(value.name());
  for (const auto& input : model.graph().input())
    for (int i = 0; i < input.type().tensor_type().shape().dim_size(); ++i) {
      if (known.count(input.name()) != 0) continue;
      std::string name = open_name(input, i);
      if (!name.empty() && std::find(names.begin(), names.end(), name) == names.end())
        names.push_back(std::move(name));
    }
  return names;
}

Result<GraphFile> read_onnx(std::string_view bytes, std::string_view file_name,
                            const Options& options) {
  ::onnx::ModelProto model;
  if (!parse(bytes, model))
    return with_file_name({error("no ONNX model: the bytes are no protobuf message with a graph")},
                          file_name);
  if (model.graph().node_size() > options.max_nodes)
    return with_file_name({error(fmt::format("the model has {} nodes, at most {} are read",
                                             format_count(model.graph().node_size()),
                                             format_count(options.max_nodes)))},
                          file_name);
  const auto opset = opset_of(model);
  if (!opset) return with_file_name(opset.diagnostics(), file_name);
  if (Diagnostics missing = unsupported(model.graph(), *opset); !missing.empty())
    return with_file_name(std::move(missing), file_name);
  auto file = import_graph(model.graph(), *opset, options);
  if (!file) return with_file_name(file.diagnostics(), file_name);
  return file;
}

}  // namespace recut::onnx
