#include "engine/input/graph_file.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>

#include "engine/input/complaints.h"
#include "engine/input/joint_builder.h"
#include "engine/input/joint_measured.h"
#include "engine/input/joint_nodes.h"
#include "engine/input/json.h"
#include "engine/input/json_fields.h"
#include "engine/input/text.h"
#include "engine/support/text.h"

namespace recut {
namespace {

constexpr std::string_view kGraphKeys[] = {"joint", "joint_after_passes"};

// One file on its way from a document to a GraphFile.
class FileReader {
 public:
  FileReader(const JsonDocument& document, Complaints& complaints)
      : document_(document),
        complaints_(complaints),
        fields_(document.root(), "the file", complaints) {}

  // False where this is no fx-joint-graph that Recut could read: nothing further is worth saying.
  bool read_header() {
    const auto format = fields_.text("format", true);
    if (format && *format != "fx-joint-graph")
      fields_.complain(fmt::format("'format' is {}, expected 'fx-joint-graph'", quote(*format)));
    const auto version = fields_.integer("version", true);
    if (version && *version != 1)
      fields_.complain(fmt::format("'version' is {}, expected 1", *version));
    return complaints_.none();
  }

  void read_facts(GraphFile& file) {
    file.model = fields_.text("model").value_or("");
    file.torch_version = fields_.text("torch").value_or("");
    file.device_name = fields_.text("device").value_or("");
    file.amp = fields_.boolean("amp");
    file.joint_passes_seconds = fields_.number("joint_passes_seconds").value_or(0);
    file.joint_passes_seconds_warm = fields_.number("joint_passes_seconds_warm").value_or(0);
    for (const std::string_view key : kGraphKeys)
      if (std::count(document_.keys().begin(), document_.keys().end(), key) != 0)
        file.graph_keys.emplace_back(key);
  }

  void read_partitions(GraphFile& file) {
    const JsonValue chosen = fields_.find("default_partition", JsonKind::object, false);
    if (chosen.present()) read_partition(chosen, "the default partition", false, file);
    const JsonValue list = fields_.find("partitions", JsonKind::array, false);
    if (!list.present()) return;
    for (const JsonMember item : list.items()) {
      if (!item.value.is(JsonKind::object))
        return fields_.complain("'partitions' holds something else than objects");
      read_partition(item.value, "a partition", true, file);
    }
  }

  void read_graph(std::string_view key, GraphFile& file) {
    const auto forward_outputs = fields_.integer("num_fwd_outputs", true);
    if (std::find(file.graph_keys.begin(), file.graph_keys.end(), key) == file.graph_keys.end())
      return complain_missing(key, file);
    const JsonValue list = fields_.find(key, JsonKind::array, true);
    if (!complaints_.none()) return;
    file.key = std::string(key);
    file.graph.name = file.model;
    Measurements facts;
    read_measured_facts(fields_, facts);
    if (facts.any()) file.graph.measured = std::make_shared<const Measurements>(std::move(facts));
    const JointNodes nodes = read_joint_nodes(list, complaints_);
    build_joint_graph(nodes, *forward_outputs, file.graph, complaints_);
  }

 private:
  // PyTorch gives no sets of names where a budget made its solver fail: those are left out.
  void read_partition(JsonValue object, std::string_view what, bool with_budget, GraphFile& file) {
    JsonFields fields(object, std::string(what), complaints_);
    if (!fields.find("saved").present()) return;
    TorchPartition partition;
    if (with_budget) partition.budget = fields.number("budget").value_or(0);
    partition.seconds = fields.number("seconds").value_or(0);
    partition.saved = fields.texts("saved");
    partition.recomputed = fields.texts("recomputed");
    file.partitions.push_back(std::move(partition));
  }

  void complain_missing(std::string_view key, const GraphFile& file) {
    fields_.complain(fmt::format(
        "there is no graph {}, expected {}", quote(key),
        file.graph_keys.empty() ? "'joint' or 'joint_after_passes'"
                                : fmt::format("one of: {}", fmt::join(file.graph_keys, ", "))));
  }

  const JsonDocument& document_;
  Complaints& complaints_;
  JsonFields fields_;
};

std::string_view without_space(std::string_view bytes) {
  if (bytes.starts_with("\xef\xbb\xbf")) bytes.remove_prefix(3);
  const std::size_t first = bytes.find_first_not_of(" \t\r\n");
  return first == std::string_view::npos ? std::string_view() : bytes.substr(first);
}

Result<GraphFile> read_graph_text(std::string_view bytes, std::string_view file_name,
                                  std::string_view key) {
  const std::string_view text = without_space(bytes);
  if (text.empty()) return Diagnostic{"the file is empty", std::string(file_name), 0, 0};
  if (text.front() == '{') return parse_joint_graph(bytes, file_name, key);
  if (!looks_like_graph_text(bytes))
    return Diagnostic{"no graph file: it begins neither as gzip or JSON nor with the word 'graph'",
                      std::string(file_name), 0, 0};
  auto graph = parse_graph_text(bytes, file_name);
  if (!graph) return graph.diagnostics();
  GraphFile file;
  file.graph = std::move(*graph);
  file.model = file.graph.name;
  return file;
}

}  // namespace

Result<GraphFile> parse_joint_graph(std::string_view json_text, std::string_view file_name,
                                    std::string_view key) {
  const std::array<std::string_view, 14> wanted = {"format",
                                                   "version",
                                                   "model",
                                                   "torch",
                                                   "device",
                                                   "amp",
                                                   "joint_passes_seconds",
                                                   "joint_passes_seconds_warm",
                                                   "default_partition",
                                                   "partitions",
                                                   "num_fwd_outputs",
                                                   kGranularityKey,
                                                   kMeasuredOnKey,
                                                   key};
  const auto document = parse_json(json_text, file_name, wanted);
  if (!document) return document.diagnostics();
  Complaints complaints(json_text, file_name);
  if (!document->root().is(JsonKind::object)) {
    complaints.add(
        fmt::format("the file is {}, expected an object", describe(document->root().kind())));
    return complaints.take();
  }
  GraphFile file;
  FileReader reader(*document, complaints);
  if (reader.read_header()) {
    reader.read_facts(file);
    reader.read_partitions(file);
    reader.read_graph(key, file);
  }
  if (!complaints.none()) return complaints.take();
  return file;
}

Result<GraphFile> read_graph_bytes(std::string_view bytes, std::string_view file_name,
                                   std::string_view key) {
  if (!is_gzip(bytes)) return read_graph_text(bytes, file_name, key);
  // Unpacked once only: there are gzip files that unpack to themselves.
  const auto unpacked = gunzip(bytes);
  if (unpacked) return read_graph_text(*unpacked, file_name, key);
  return Diagnostic{unpacked.diagnostics().front().message, std::string(file_name), 0, 0};
}

Result<GraphFile> read_graph_file(const std::string& path, std::string_view key) {
  const auto bytes = read_file(path);
  if (!bytes) return bytes.diagnostics();
  return read_graph_bytes(*bytes, path, key);
}

}  // namespace recut
