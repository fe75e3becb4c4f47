#include "native/commands/command.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "engine/input/bytes.h"
#include "engine/passes/freezing.h"
#include "engine/passes/rule_pass.h"
#include "engine/rewrite/rule_text.h"
#include "engine/support/text.h"
#include "native/onnx/read_onnx.h"

namespace recut::native {
namespace {

// The user's rules run after the built-in passes, where the list doesn't say where; what they leave
// unused goes with the rest.
void add_rules_pass(std::vector<std::string>& passes) {
  const std::string name(kRulesPass);
  if (std::find(passes.begin(), passes.end(), name) != passes.end()) return;
  const bool last = !passes.empty() && passes.back() == "dead_code";
  passes.insert(last ? passes.end() - 1 : passes.end(), name);
}

}  // namespace

void GraphArguments::add_to(CLI::App& command) {
  command
      .add_option(
          "FILE", path,
          "A graph: fx-joint-graph JSON (.json, .json.gz), Recut's text form (.recut) or an "
          "ONNX model (.onnx)")
      ->required();
  command
      .add_option(
          "--graph", key,
          "Which graph of the file: joint (default), joint_after_passes or forward (default where "
          "there is no joint)")
      ->type_name("KEY");
  command
      .add_option("--dim", dimensions,
                  "Fix a dimension that an ONNX model leaves open, by its name; may be given again")
      ->delimiter(',')
      ->type_name("NAME=N");
  auto* list =
      command
          .add_option(
              "--passes", passes,
              "Run these passes, in this order: a,b,c (default: all; for joint_after_passes none)")
          ->type_name("LIST");
  command.add_flag("--no-passes", no_passes, "Run no passes: the graph as it is in the file")
      ->excludes(list);
  command
      .add_option("--rules", rules,
                  "Run the rules of this file too: as the pass 'rules' of --passes, or after the "
                  "others (engine/rewrite/README.md)")
      ->type_name("FILE")
      ->excludes("--no-passes");
  command.add_option("--skip", skip, "Leave these passes out: a,b")->type_name("LIST");
  command.add_option("--stop-at", stop_at, "Run only the first N passes")
      ->type_name("N")
      ->check(CLI::NonNegativeNumber);
  command.add_option("--dump", dump, "Write the graph before and after each pass into this folder")
      ->type_name("FOLDER");
}

std::vector<std::string> GraphArguments::pass_names(const GraphFile& file) const {
  std::vector<std::string> names;
  if (!passes.empty())
    names = split_pass_names(passes);
  else if (!no_passes)
    names = passes_wanted ? default_passes() : usual_passes(file);
  if (!freeze) return names;
  for (const Pass& pass : freezing_passes()) names.emplace_back(pass.name);
  names.emplace_back("dead_code");
  return names;
}

RunnerOptions GraphArguments::runner_options() const {
  RunnerOptions options;
  if (!skip.empty()) options.skip = split_pass_names(skip);
  if (stop_at >= 0) options.stop_at = static_cast<std::size_t>(stop_at);
  return options;
}

namespace {

// "batch=1,tokens=128", in as many options as one likes.
Result<OnnxOptions> onnx_options(const std::vector<std::string>& dimensions) {
  OnnxOptions options;
  for (const std::string& given : dimensions) {
    const std::size_t equals = given.rfind('=');
    std::int64_t size = -1;
    if (equals != std::string::npos) {
      const char* end = given.data() + given.size();
      const auto [stop, wrong] = std::from_chars(given.data() + equals + 1, end, size);
      if (wrong != std::errc() || stop != end) size = -1;
    }
    if (size < 0 || equals == 0)
      return error(fmt::format("--dim {}: expected a dimension's name and its size, as batch=1",
                               quote(given)));
    options.dimensions[given.substr(0, equals)] = size;
  }
  return options;
}

}  // namespace

Result<GraphFile> GraphArguments::read(const Console& console) const {
  const auto options = onnx_options(dimensions);
  if (!options) return options.diagnostics();
  const bool onnx = is_onnx_name(path);
  if (!onnx && !dimensions.empty())
    return Diagnostic{"--dim is for ONNX models: this graph's dimensions are all fixed", path, 0,
                      0};
  console.say("reading " + path);
  const auto bytes = read_file(path);
  if (!bytes) return bytes.diagnostics();
  auto file = onnx ? read_onnx(*bytes, path, *options) : read_graph_bytes(*bytes, path, key);
  console.say("");
  return file;
}

Result<Document> GraphArguments::open(const Console& console) const {
  auto file = read(console);
  if (!file) return file.diagnostics();
  OpenOptions options;
  options.passes = pass_names(*file);
  options.runner = runner_options();
  if (!rules.empty()) {
    auto own = read_rules(rules);
    if (!own) return own.diagnostics();
    options.runner.more.push_back(rules_pass(std::move(*own)));
    add_rules_pass(*options.passes);
  }
  Diagnostics unwritten;
  if (!dump.empty())
    options.runner.dump = [&](const std::string& file_name, const std::string& text) {
      const auto written = write_file((std::filesystem::path(dump) / file_name).string(), text);
      if (!written && unwritten.empty()) unwritten = written.diagnostics();
    };
  auto document = open_document_graph(std::move(*file), path, options);
  if (document && !unwritten.empty()) return unwritten;
  return document;
}

Result<Document> GraphArguments::open_joint(const Console& console) const {
  auto document = open(console);
  if (!document) return document;
  const auto joint = check_joint(*document, path);
  if (!joint) return joint.diagnostics();
  return document;
}

Result<std::shared_ptr<const RuleSet>> read_rules(const std::string& path) {
  const auto bytes = read_file(path);
  if (!bytes) return bytes.diagnostics();
  auto rules = parse_rules(*bytes, path);
  if (!rules) return rules.diagnostics();
  return std::make_shared<const RuleSet>(std::move(*rules));
}

Result<std::unique_ptr<TensorFile>> read_tensors(const std::string& path, const GraphFile& file) {
  auto found = std::make_unique<TensorFile>();
  if (!path.empty()) {
    auto bytes = read_file(path);
    if (!bytes) return bytes.diagnostics();
    found->bytes = std::move(*bytes);
    auto parsed = parse_safetensors(found->bytes, path);
    if (!parsed) return parsed.diagnostics();
    found->tensors = std::move(*parsed);
  }
  found->tensors.insert(found->tensors.end(), file.tensors.begin(), file.tensors.end());
  return found;
}

Result<Done> write_file(const std::string& path, std::string_view bytes) {
  const std::filesystem::path parent = std::filesystem::path(path).parent_path();
  std::error_code ignored;  // what matters is whether the file can be opened
  if (!parent.empty()) std::filesystem::create_directories(parent, ignored);
  std::ofstream file(path, std::ios::binary);
  file.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  file.close();
  if (!file) return Diagnostic{fmt::format("can't write: {}", std::strerror(errno)), path, 0, 0};
  return Done{};
}

}  // namespace recut::native
