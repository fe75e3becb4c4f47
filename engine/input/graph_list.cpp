#include "engine/input/graph_list.h"

#include <algorithm>
#include <string>

#include "engine/input/bytes.h"
#include "engine/input/exported_archive.h"
#include "engine/input/graph_file_reader.h"
#include "engine/input/json.h"
#include "engine/input/printed_graph.h"
#include "engine/input/printed_sources.h"
#include "engine/input/text.h"
#include "engine/input/torch_trace.h"
#include "engine/input/zip_archive.h"

namespace recut {
namespace {

constexpr std::string_view kListedKeys[] = {"joint", "joint_after_passes", "forward"};

std::string kind_of_key(std::string_view key) {
  if (key == kListedKeys[1]) return "joint, after PyTorch's passes";
  return std::string(key);
}

bool has_op(JsonValue node, std::string_view op) {
  if (!node.is(JsonKind::object)) return false;
  for (const JsonMember member : node.items())
    if (member.key == "op") return member.value.is(JsonKind::text) && member.value.text() == op;
  return false;
}

void count_nodes(JsonValue list, GraphEntry& entry) {
  if (!list.is(JsonKind::array)) return;
  for (const JsonMember item : list.items()) {
    entry.nodes += has_op(item.value, "call_function") ? 1 : 0;
    entry.inputs += has_op(item.value, "placeholder") ? 1 : 0;
  }
}

// The graphs of an fx-joint-graph.
Result<std::vector<GraphEntry>> list_members(std::string_view json, std::string_view file_name) {
  const auto document = parse_json(json, file_name, kListedKeys);
  if (!document) return document.diagnostics();
  std::vector<GraphEntry> entries;
  if (document->root().is(JsonKind::object))
    for (const JsonMember member : document->root().items()) {
      if (std::count(std::begin(kListedKeys), std::end(kListedKeys), member.key) == 0) continue;
      GraphEntry& entry = entries.emplace_back();
      entry.key = std::string(member.key);
      entry.kind = kind_of_key(member.key);
      count_nodes(member.value, entry);
    }
  const auto joint = std::find_if(entries.begin(), entries.end(), [](const GraphEntry& entry) {
    return entry.key == kDefaultGraphKey;
  });
  for (auto it = entries.begin(); it != entries.end(); ++it)
    it->opens_first = joint == entries.end() ? it->key == kListedKeys[2] : it == joint;
  if (!entries.empty()) return entries;
  const auto file = read_graph_bytes(json, file_name);
  return file ? Result<std::vector<GraphEntry>>(std::move(entries)) : file.diagnostics();
}

// The models of an archive; each is one program.
Result<std::vector<GraphEntry>> list_models(std::string_view zip, std::string_view file_name) {
  const auto first = read_exported_archive(zip, file_name, kDefaultGraphKey);
  if (!first) return first.diagnostics();
  std::vector<GraphEntry> entries;
  for (const std::string& key : first->keys) {
    GraphEntry& entry = entries.emplace_back();
    entry.key = key;
    entry.opens_first = key == first->key;
    const auto model = read_exported_archive(zip, file_name, key);
    auto graphs = model ? list_members(model->program.json, model->member) : model.diagnostics();
    if (!graphs) {
      entry.fault = graphs.diagnostics().front().message;
      continue;
    }
    entry.kind = graphs->front().kind;
    entry.nodes = graphs->front().nodes;
    entry.inputs = graphs->front().inputs;
  }
  return entries;
}

// Recut's text form has one graph.
Result<std::vector<GraphEntry>> list_text(std::string_view text, std::string_view file_name) {
  const auto file = read_graph_bytes(text, file_name);
  if (!file) return file.diagnostics();
  GraphEntry entry;
  entry.opens_first = true;
  const auto inputs = file->graph.inputs();
  const bool joint =
      !file->graph.gradients.empty() || std::any_of(inputs.begin(), inputs.end(), [&](NodeId id) {
        return file->graph.input_kind(id) == InputKind::tangent;
      });
  entry.kind = joint ? "joint" : "forward";
  entry.inputs = static_cast<std::int64_t>(inputs.size());
  entry.nodes = static_cast<std::int64_t>(file->graph.order().size()) - entry.inputs;
  return std::vector<GraphEntry>{std::move(entry)};
}

}  // namespace

bool looks_like_graphs(std::string_view text) {
  const std::size_t first = text.find_first_not_of("\xef\xbb\xbf \t\r\n");
  if (first == std::string_view::npos) return false;
  return text[first] == '{' || looks_like_graph_text(text) || looks_like_torch_trace(text) ||
         !find_printed_graphs(text).empty();
}

Result<std::vector<GraphEntry>> list_graphs(std::string_view bytes, std::string_view file_name) {
  std::string unpacked;
  if (is_gzip(bytes)) {
    auto result = gunzip(bytes);
    if (!result)
      return Diagnostic{result.diagnostics().front().message, std::string(file_name), 0, 0};
    unpacked = std::move(*result);
    bytes = unpacked;
  }
  if (is_zip(bytes)) return list_models(bytes, file_name);
  const std::size_t first = bytes.find_first_not_of("\xef\xbb\xbf \t\r\n");
  if (first != std::string_view::npos && bytes[first] == '{') return list_members(bytes, file_name);
  if (!looks_like_graph_text(bytes))
    if (auto listed = list_printed_graphs(bytes, file_name)) return std::move(*listed);
  return list_text(bytes, file_name);
}

}  // namespace recut
