#include "native/commands/command.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <filesystem>

#include "engine/input/bytes.h"
#include "engine/input/dimensions.h"
#include "engine/input/graph_file_reader.h"
#include "engine/onnx/read_onnx.h"
#include "engine/workspace/dual_document.h"
#include "engine/workspace/op_library.h"
#include "engine/workspace/open_document.h"
#include "engine/workspace/sharded_document.h"

namespace recut::native {

void GraphArguments::add_to(CLI::App& command) {
  command
      .add_option(
          "FILE", path,
          "Graph to read: fx-joint-graph JSON (.json, .json.gz), a graph printed by PyTorch "
          "(TORCH_LOGS, TORCH_TRACE), a program of torch.export (.pt2), Recut's text form (.recut) "
          "or an ONNX model (.onnx)")
      ->required();
  command
      .add_option(
          "--graph", key,
          "Graph of the file: joint, joint_after_passes, forward, or a key of a trace such as "
          "0/0/aot_joint_graph, or a model of an archive (default: the first joint graph, or "
          "forward "
          "in a file without one)")
      ->type_name("KEY");
  command
      .add_option(
          "--dim", dimensions,
          "Size of a symbol (s17=64), or of an ONNX model's open dimension (batch=1), or value of "
          "its input of one integer (sr=16000). May be given again")
      ->delimiter(',')
      ->type_name("NAME=N");
  command
      .add_option(
          "--op-library", op_library,
          "Expand operators that Recut lacks (custom operators, Triton kernels) as the graph "
          "is read: FILE of rules (engine/rewrite/README.md), OPERATOR=FILE of the "
          "operator's forward graph, or a FOLDER of both. May be given again")
      ->allow_extra_args(false)
      ->type_name("FILE");
  add_passes_to(command);
  command.add_option("--dump", dump, "Write the graph before and after each pass into this folder")
      ->type_name("FOLDER");
}

namespace {

constexpr const char* kForInference = "conv_bn_eval,constant_folding";  // passes by name

// Parses "batch=1,tokens=128", in any number of options.
Result<onnx::Options> onnx_options(const std::vector<std::string>& dimensions) {
  auto sizes = read_dimensions(fmt::format("{}", fmt::join(dimensions, ",")));
  if (!sizes) return error("--dim " + sizes.diagnostics().front().message);
  onnx::Options options;
  options.dimensions = std::move(*sizes);
  return options;
}

}  // namespace

Result<GraphFile> GraphArguments::read(const Console& console) const {
  const auto options = onnx_options(dimensions);
  if (!options) return options.diagnostics();
  const bool model = onnx::is_onnx_name(path);
  console.say("reading " + path);
  const auto bytes = read_graph_file_bytes(path);
  if (!bytes) return bytes.diagnostics();
  auto file = model ? onnx::read_onnx(*bytes, path, *options)
                    : read_graph_bytes(*bytes, path, key, options->dimensions);
  console.say("");
  if (file && !op_library.empty()) file = expanded(std::move(*file));
  if (file)
    if (const auto done = expand_dual_numbers(*file, path); !done) return done.diagnostics();
  const std::string hints = file ? hints_text(file->symbols) : "";
  if (file)
    for (const std::string& note : file->notes()) console.err << "note: " << note << "\n";
  if (!hints.empty())
    console.err << "note: sizes by the file's hints: " << hints << "; --dim NAME=N gives others\n";
  return file;
}

Result<GraphFile> GraphArguments::expanded(GraphFile file) const {
  const auto library = read_op_library(op_library);
  if (!library) return library.diagnostics();
  if (const auto done = expand_operators(file, **library, path); !done) return done.diagnostics();
  return file;
}

void GraphArguments::add_freeze_to(CLI::App& command) {
  command.add_flag("--freeze", freeze,
                   "Freeze a forward graph: fold weights into each other, and compute values that "
                   "depend on weights alone. A note counts the fates of the weights");
  add_for_inference_to(command);
}

// The passes are those of PyTorch's ts_compile: conversions folded, weights frozen, and all that
// optimises an inference graph. Overloads stay in the graph; its text for TorchScript has none.
void GraphArguments::add_for_inference_to(CLI::App& command) {
  command
      .add_flag_callback(
          "--for-inference",
          [this] {
            freeze = inexact = true;
            stages = "pre-grad,joint";
            with += with.empty() ? kForInference : "," + std::string(kForInference);
          },
          "Optimize for inference: --freeze, the stages pre-grad, joint and freezing with their "
          "inexact passes, conv_bn_eval and constant_folding")
      ->excludes(command.get_option("--passes"))
      ->excludes(command.get_option("--no-passes"))
      ->excludes(command.get_option("--stage"));
}

void GraphArguments::add_mesh_to(CLI::App& command) {
  mesh.add_to(command, false);
  mesh.add_rank_to(command);
}

Result<Document> GraphArguments::shard_opened(const Document& document,
                                              const Console& console) const {
  const auto request = mesh.request();
  if (!request) return request.diagnostics();
  auto sharded = shard_document(document, *request, path);
  if (sharded) console.err << "note: " << mesh_note(*request) << "\n";
  return sharded;
}

Result<Document> GraphArguments::open(const Console& console) const {
  auto file = read(console);
  if (!file) return file.diagnostics();
  auto chosen = chosen_passes(*file);
  if (!chosen) return chosen.diagnostics();
  OpenOptions options;
  options.passes = std::move(chosen->names);
  options.runner = std::move(chosen->options);
  Diagnostics unwritten;
  if (!dump.empty())
    options.runner.dump = [&](const std::string& file_name, const std::string& text) {
      const auto written = write_file((std::filesystem::path(dump) / file_name).string(), text);
      if (!written && unwritten.empty()) unwritten = written.diagnostics();
    };
  const auto values = read_tensors(freeze ? weights : std::vector<std::string>(), GraphFile());
  if (!values) return values.diagnostics();
  options.freeze = freeze;
  options.weights = (*values)->tensors;
  if (freeze) console.say("freezing");
  auto document = open_document_graph(std::move(*file), path, options);
  console.say("");
  if (document && !unwritten.empty()) return unwritten;
  if (document)
    for (const std::string& note : document->notes()) console.err << "note: " << note << "\n";
  if (!document) return document;
  if (document->frozen && !reports_freezing)
    console.err << "note: " << freeze_text(*document->frozen) << "\n";
  return mesh.axes.empty() ? std::move(document) : shard_opened(*document, console);
}

Result<Document> GraphArguments::open_joint(const Console& console) const {
  auto document = open(console);
  if (!document) return document;
  const auto joint = check_joint(*document, path);
  if (!joint) return joint.diagnostics();
  return document;
}

Result<std::unique_ptr<TensorFiles>> read_tensors(const std::vector<std::string>& paths,
                                                  const GraphFile& file) {
  auto found = std::make_unique<TensorFiles>();
  const auto add = [&](const std::vector<NamedTensor>& tensors) {
    found->tensors.insert(found->tensors.end(), tensors.begin(), tensors.end());
  };
  for (const std::string& path : paths) {
    if (path.empty()) continue;
    auto bytes = read_file(path, kMaxTensorBytes);
    if (!bytes) return bytes.diagnostics();
    const std::string& kept = found->bytes.emplace_back(std::move(*bytes));
    auto parsed = parse_safetensors(kept, path);
    if (!parsed) return parsed.diagnostics();
    add(*parsed);
  }
  add(file.tensors);
  return found;
}

}  // namespace recut::native
