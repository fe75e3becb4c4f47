#include "engine/input/joint_file_reader.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <memory>
#include <set>
#include <utility>

#include "engine/input/joint_measured.h"
#include "engine/input/json_fields.h"
#include "engine/support/text.h"

namespace recut {
namespace {

constexpr std::string_view kForwardKey = "forward";
constexpr std::string_view kSymbolsKey = "symbols";
constexpr std::string_view kGraphKeys[] = {"joint", "joint_after_passes", kForwardKey};

// Reads the parts of a JSON document into a GraphFile, except the nodes.
class FileReader {
 public:
  FileReader(const JsonDocument& document, DiagnosticCollector& diagnostics)
      : document_(document),
        diagnostics_(diagnostics),
        fields_(document.root(), "the file", diagnostics) {}

  // False if this is no fx-joint-graph of a known version: further diagnostics would be noise.
  bool read_header() {
    const auto format = fields_.text("format", true);
    if (format && *format != "fx-joint-graph")
      fields_.report_error(
          fmt::format("'format' is {}, expected 'fx-joint-graph'", quote(*format)));
    const auto version = fields_.integer("version", true);
    if (version && *version != 1 && *version != 2)
      fields_.report_error(fmt::format("'version' is {}, expected 1 or 2", *version));
    return diagnostics_.none();
  }

  void read_metadata(GraphFile& file) {
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
        return fields_.report_error("'partitions' holds something else than objects");
      read_partition(item.value, "a partition", true, file);
    }
  }

  // The file's symbols, bound to the given sizes or to their hints.
  Symbols read_symbols(Dimensions sizes) {
    std::map<std::string, Symbol, std::less<>> symbols;
    const JsonValue listed = fields_.find(kSymbolsKey, JsonKind::object, false);
    if (listed.present())
      for (const JsonMember member : listed.items())
        if (auto symbol = read_symbol(member);
            symbol && !symbols.emplace(member.key, *symbol).second)
          diagnostics_.add(fmt::format("the symbol {} stands there twice", quote(member.key)),
                           member.value);
    Symbols bound(std::move(symbols), std::move(sizes));
    if (const auto fits = bound.check(); !fits)
      diagnostics_.add(fits.diagnostics().front().message, listed);
    return bound;
  }

  std::optional<JointFileNodes> read_nodes(std::string_view key, GraphFile& file) {
    const auto has = [&](std::string_view name) {
      return std::count(file.graph_keys.begin(), file.graph_keys.end(), name) != 0;
    };
    if (key == kDefaultGraphKey && !has(key) && has(kForwardKey)) key = kForwardKey;
    const auto forward_outputs = fields_.integer("num_fwd_outputs", key != kForwardKey);
    if (!has(key)) {
      report_missing(key, file);
      return std::nullopt;
    }
    const JsonValue list = fields_.find(key, JsonKind::array, true);
    if (!diagnostics_.none()) return std::nullopt;
    file.key = std::string(key);
    file.after_joint_passes = key == kGraphKeys[1];
    file.graph.name = file.model;
    Measurements measurements;
    read_measurement_metadata(fields_, measurements);
    if (measurements.any())
      file.graph.measured = std::make_shared<const Measurements>(std::move(measurements));
    JointFileNodes found{read_joint_nodes(list, diagnostics_),
                         {fields_.texts("parameters"), fields_.texts("buffers")},
                         forward_outputs,
                         JointSignature(fields_)};
    // A buffer that is written is an input, no constant.
    const auto written = found.signature.written();
    std::vector<std::string>& buffers = found.roles.buffers;
    buffers.erase(std::remove_if(buffers.begin(), buffers.end(),
                                 [&](const std::string& name) { return written.count(name) != 0; }),
                  buffers.end());
    return found;
  }

 private:
  // A bound that is no int, as "int_oo", is unbounded.
  std::optional<Symbol> read_symbol(const JsonMember& member) {
    if (!member.value.is(JsonKind::object)) {
      diagnostics_.add(fmt::format("the symbol {} is {}, expected an object", quote(member.key),
                                   describe(member.value.kind())),
                       member.value);
      return std::nullopt;
    }
    const auto integer = [&](std::string_view key) {
      std::optional<std::int64_t> found;
      for (const JsonMember field : member.value.items()) {
        if (field.key != key || field.value.is(JsonKind::null)) continue;
        if (field.value.is(JsonKind::integer))
          found = field.value.integer();
        else if (key == "hint" || !field.value.is(JsonKind::text))
          diagnostics_.add(fmt::format("'{}' of the symbol {} is {}, expected an int", key,
                                       quote(member.key), describe(field.value.kind())),
                           field.value);
      }
      return found;
    };
    // PyTorch names a SymFloat's symbols zf0, zf1, ….
    for (const JsonMember hint : member.value.items())
      if (member.key.starts_with("zf") && hint.key == "hint" && hint.value.is(JsonKind::real))
        return Symbol{{}, {}, {}, hint.value.real()};
    Symbol symbol{integer("hint"), integer("min"), integer("max"), {}};
    // PyTorch specialises sizes 0 and 1, except data-dependent ("unbacked") sizes. A symbol that is
    // a number and no size, as a buffer's count of batches, may have any value.
    const std::int64_t least = member.key.starts_with("s") ? 2 : 0;
    if (!symbol.min) symbol.min = std::min(least, symbol.hint.value_or(least));
    return symbol;
  }

  // If PyTorch's solver failed for a budget, the file has no sets of names: the entry is skipped.
  void read_partition(JsonValue object, std::string_view what, bool with_budget, GraphFile& file) {
    JsonFields fields(object, std::string(what), diagnostics_);
    if (!fields.find("saved").present()) return;
    TorchPartition partition;
    if (with_budget) partition.budget = fields.number("budget").value_or(0);
    partition.seconds = fields.number("seconds").value_or(0);
    partition.saved = fields.texts("saved");
    partition.recomputed = fields.texts("recomputed");
    file.partitions.push_back(std::move(partition));
  }

  void report_missing(std::string_view key, const GraphFile& file) {
    fields_.report_error(fmt::format(
        "there is no graph {}, expected {}", quote(key),
        file.graph_keys.empty() ? "'joint', 'joint_after_passes' or 'forward'"
                                : fmt::format("one of: {}", fmt::join(file.graph_keys, ", "))));
  }

  const JsonDocument& document_;
  DiagnosticCollector& diagnostics_;
  JsonFields fields_;
};

// The members that are read; others are skipped as the document is parsed.
std::vector<std::string_view> kept_keys(std::string_view graph_key) {
  std::vector<std::string_view> keys{"format",
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
                                     "parameters",
                                     "buffers",
                                     kForwardKey,
                                     kGranularityKey,
                                     kMeasuredOnKey,
                                     kSymbolsKey,
                                     graph_key};
  keys.insert(keys.end(), std::begin(kSignatureKeys), std::end(kSignatureKeys));
  return keys;
}

}  // namespace

JointFileReader::JointFileReader(std::string_view text, std::string_view file_name,
                                 std::string_view key, Dimensions sizes)
    : file_name_(file_name),
      key_(key),
      sizes_(std::move(sizes)),
      kept_keys_(kept_keys(key_)),
      diagnostics_(text, file_name),
      json_(text, file_name, kept_keys_) {}

bool JointFileReader::step() {
  if (builder_) {
    if (builder_->step()) return true;
    if (diagnostics_.none())
      read_joint_signature(graph_nodes_->signature, graph_nodes_->nodes, builder_->result_places(),
                           file_.graph, diagnostics_);
    return false;
  }
  if (json_.step()) return true;
  document_ = json_.take();
  if (!document_->ok()) return false;
  return read_nodes();
}

Result<GraphFile> JointFileReader::take() {
  if (!document_->ok()) return document_->diagnostics();
  if (!diagnostics_.none()) {
    Diagnostics faults = diagnostics_.take();
    if (std::string note = symbols_.equal_hints_text(); builder_ && !note.empty())
      faults.push_back({std::move(note), faults.front().file, 0, 0});
    return faults;
  }
  if (const auto used = symbols_.check_used(); !used)
    return Diagnostic{used.diagnostics().front().message, file_name_, 0, 0};
  file_.symbols = symbols_.used();
  file_.symbols_note = symbols_.equal_hints_text();
  if (builder_) builder_->add_notes(file_);
  if (graph_nodes_) file_.policies_note = unknown_policies_note(graph_nodes_->nodes);
  return std::move(file_);
}

// True if there is a graph to build.
bool JointFileReader::read_nodes() {
  const JsonDocument& document = **document_;
  if (!document.root().is(JsonKind::object)) {
    diagnostics_.add(
        fmt::format("the file is {}, expected an object", describe(document.root().kind())));
    return false;
  }
  FileReader reader(document, diagnostics_);
  if (!reader.read_header()) return false;
  reader.read_metadata(file_);
  reader.read_partitions(file_);
  symbols_ = reader.read_symbols(std::move(sizes_));
  graph_nodes_ = reader.read_nodes(key_, file_);
  if (graph_nodes_)
    builder_.emplace(graph_nodes_->nodes, graph_nodes_->forward_outputs, graph_nodes_->roles,
                     symbols_, file_.graph, diagnostics_);
  return builder_.has_value();
}

}  // namespace recut
