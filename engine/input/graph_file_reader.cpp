// The reader of graph files (graph_file_reader.h): a small state machine that finds the form of a
// file, unpacks it and hands it to that form's reader, so that a window can show frames in between.
// Files are untrusted: sizes, depths and counts are bounded before memory is allocated for them.
#include "engine/input/graph_file_reader.h"

#include <filesystem>
#include <fstream>
#include <memory>
#include <optional>
#include <utility>

#include "engine/input/exported_archive.h"
#include "engine/input/joint_file_reader.h"
#include "engine/input/printed_graph.h"
#include "engine/input/text.h"
#include "engine/input/zip_archive.h"
#include "engine/support/text.h"
#include "engine/support/typo_correction.h"

namespace recut {
namespace {

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
