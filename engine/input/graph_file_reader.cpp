// The reader of graph files (graph_file_reader.h): a small state machine over gunzip, JSON parse,
// metadata and graph construction, so that a window can show frames in between. Errors are
// collected and reported together. Files are untrusted: sizes, depths and counts are bounded before
// memory is allocated for them.
#include "engine/input/graph_file_reader.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>

#include "engine/input/diagnostic_collector.h"
#include "engine/input/exported_archive.h"
#include "engine/input/joint_builder.h"
#include "engine/input/joint_measured.h"
#include "engine/input/joint_nodes.h"
#include "engine/input/json.h"
#include "engine/input/json_fields.h"
#include "engine/input/printed_graph.h"
#include "engine/input/text.h"
#include "engine/input/zip_archive.h"
#include "engine/support/text.h"
#include "engine/support/typo_correction.h"

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
    if (version && *version != 1)
      fields_.report_error(fmt::format("'version' is {}, expected 1", *version));
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

  // The nodes of the requested graph, and its number of forward outputs; none after an error.
  struct GraphNodes {
    JointNodes nodes;
    JointRoles roles;
    std::optional<std::int64_t> forward_outputs;
  };
  std::optional<GraphNodes> read_nodes(std::string_view key, GraphFile& file) {
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
    JointRoles roles{fields_.texts("parameters"), fields_.texts("buffers")};
    return GraphNodes{read_joint_nodes(list, diagnostics_), std::move(roles), forward_outputs};
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

// Reads fx-joint-graph JSON in steps: parse the document, read its metadata, build the graph.
class JointFileReader {
 public:
  JointFileReader(std::string_view text, std::string_view file_name, std::string_view key,
                  Dimensions sizes)
      : file_name_(file_name),
        key_(key),
        sizes_(std::move(sizes)),
        kept_keys_{"format",
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
                   key_},
        diagnostics_(text, file_name),
        json_(text, file_name, kept_keys_) {}

  bool step() {
    if (builder_) return builder_->step();
    if (json_.step()) return true;
    document_ = json_.take();
    if (!document_->ok()) return false;
    return read_nodes();
  }

  Result<GraphFile> take() {
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

 private:
  // True if there is a graph to build.
  bool read_nodes() {
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

  const std::string file_name_, key_;
  Dimensions sizes_;
  Symbols symbols_;
  const std::array<std::string_view, 18> kept_keys_;
  DiagnosticCollector diagnostics_;
  JsonReader json_;
  std::optional<Result<JsonDocument>> document_;
  std::optional<FileReader::GraphNodes> graph_nodes_;
  GraphFile file_;
  std::optional<JointGraphBuilder> builder_;
};

std::string_view without_space(std::string_view bytes) {
  if (bytes.starts_with("\xef\xbb\xbf")) bytes.remove_prefix(3);
  const std::size_t first = bytes.find_first_not_of(" \t\r\n");
  return first == std::string_view::npos ? std::string_view() : bytes.substr(first);
}

// Binary input has no lines to show: the diagnostic then has no location.
Diagnostic no_graph_file(std::string_view bytes, std::string_view file_name) {
  const Token first = first_token(bytes);
  TypoCorrection near(first.text);
  near.consider("graph");
  Diagnostic fault{
      "no graph file: it begins neither as gzip or JSON nor with the word 'graph', and holds "
      "neither "
      "a graph that PyTorch printed (class …(torch.nn.Module)) nor a TORCH_TRACE",
      std::string(file_name), 0, 0};
  if (first.kind == TokenKind::word) fault.message += near.suggestion();
  if (first.kind == TokenKind::bad) return fault;
  fault.line = first.line;
  fault.column = first.column;
  return fault;
}

Result<GraphFile> read_graph_text(std::string_view bytes, std::string_view file_name,
                                  const Dimensions& sizes) {
  if (const auto fits = Symbols({}, sizes).check_used(); !fits)
    return Diagnostic{fits.diagnostics().front().message, std::string(file_name), 0, 0};
  if (!looks_like_graph_text(bytes)) return no_graph_file(bytes, file_name);
  auto graph = parse_graph_text(bytes, file_name);
  if (!graph) return graph.diagnostics();
  GraphFile file;
  file.graph = std::move(*graph);
  file.model = file.graph.name;
  return file;
}

}  // namespace

Result<GraphFile> parse_joint_graph(std::string_view json_text, std::string_view file_name,
                                    std::string_view key, const Dimensions& sizes) {
  JointFileReader reader(json_text, file_name, key, sizes);
  while (reader.step()) {
  }
  return reader.take();
}

struct GraphFileReader::State {
  State(std::string_view given, std::string_view name, std::string_view graph_key, Dimensions bound)
      : bytes(given), file_name(name), key(graph_key), sizes(std::move(bound)) {}

  bool step() {
    if (joint) return joint->step();
    if (!is_gzip(bytes)) return begin(bytes);
    // Unpacked once only: there are gzip files that unpack to themselves.
    auto result = gunzip(bytes);
    if (!result) return end(result.diagnostics().front().message);
    unpacked = std::move(*result);
    return begin(unpacked);
  }

  bool begin(std::string_view text) {
    if (is_zip(text)) return begin_archive(text);
    const std::string_view seen = without_space(text);
    if (seen.empty()) return end("the file is empty");
    if (seen.front() == '{') {
      joint.emplace(text, file_name, key, sizes);
      return true;
    }
    if (!looks_like_graph_text(text))
      if (auto graph = read_printed_graph(text, file_name, key, sizes)) return begin(*graph);
    found = read_graph_text(text, file_name, sizes);
    return false;
  }

  // The key was resolved: the JSON has this one graph, as `joint` or `forward`.
  bool begin(Result<PrintedGraph>& graph) {
    if (!graph) {
      found = graph.diagnostics();
      return false;
    }
    printed = std::move(*graph);
    joint.emplace(printed->json, file_name, kDefaultGraphKey, sizes);
    return true;
  }

  bool begin_archive(std::string_view text) {
    auto file = read_exported_archive(text, file_name, key);
    if (!file) {
      found = file.diagnostics();
      return false;
    }
    exported = std::move(*file);
    joint.emplace(exported->program.json, exported->member, kDefaultGraphKey, sizes);
    return true;
  }

  Result<GraphFile> take() {
    if (!joint) return std::move(*found);
    auto file = joint->take();
    if (exported) return take_exported(std::move(file));
    if (!printed) return file;
    if (!file) {
      Diagnostics faults = file.diagnostics();
      printed->relocate(faults);
      return faults;
    }
    file->key = printed->key;
    file->graph_keys = printed->keys;
    file->printed_note = printed->note;
    file->after_joint_passes = printed->after_joint_passes;
    if (printed->partition_json.empty()) return file;
    auto beside = parse_joint_graph(printed->partition_json, file_name, kDefaultGraphKey, sizes);
    if (!beside) return file;
    beside->after_joint_passes = true;
    file->partitioned = std::make_shared<const GraphFile>(std::move(*beside));
    return file;
  }

  Result<GraphFile> take_exported(Result<GraphFile> file) {
    if (!file) {
      Diagnostics faults = file.diagnostics();
      exported->program.relocate(faults, exported->text);
      return faults;
    }
    file->key = exported->key;
    file->graph_keys = exported->keys;
    file->printed_note = exported->note;
    file->tensors = std::move(exported->tensors);
    file->storage = std::move(exported->storage);
    return file;
  }

  bool end(std::string fault) {
    found = Diagnostic{std::move(fault), file_name, 0, 0};
    return false;
  }

  const std::string_view bytes;
  const std::string file_name, key;
  const Dimensions sizes;
  std::string unpacked;
  std::optional<PrintedGraph> printed;   // `joint` reads its JSON
  std::optional<ExportedFile> exported;  // the same
  std::optional<JointFileReader> joint;
  std::optional<Result<GraphFile>> found;
};

GraphFileReader::GraphFileReader(std::string_view bytes, std::string_view file_name,
                                 std::string_view key, Dimensions sizes)
    : state_(std::make_unique<State>(bytes, file_name, key, std::move(sizes))) {}
GraphFileReader::GraphFileReader(GraphFileReader&&) noexcept = default;
GraphFileReader::~GraphFileReader() = default;
bool GraphFileReader::step() { return state_->step(); }
Result<GraphFile> GraphFileReader::take() { return state_->take(); }

Result<GraphFile> read_graph_bytes(std::string_view bytes, std::string_view file_name,
                                   std::string_view key, const Dimensions& sizes) {
  GraphFileReader reader(bytes, file_name, key, sizes);
  while (reader.step()) {
  }
  return reader.take();
}

Result<std::string> read_graph_file_bytes(const std::string& path) {
  // A pipe can't be read twice.
  std::error_code unknown;
  const bool large = std::filesystem::is_regular_file(path, unknown) &&
                     std::filesystem::file_size(path, unknown) > kMaxInputBytes;
  char head[4] = {};
  if (!large || !std::ifstream(path, std::ios::binary).read(head, sizeof head) ||
      !is_zip({head, sizeof head}))
    return read_file(path);
  return read_file(path, kMaxTensorBytes);
}

Result<GraphFile> read_graph_file(const std::string& path, std::string_view key) {
  const auto bytes = read_graph_file_bytes(path);
  if (!bytes) return bytes.diagnostics();
  return read_graph_bytes(*bytes, path, key);
}

}  // namespace recut
