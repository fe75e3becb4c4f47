// recut import: a model of another format as Recut's own text, and its values as safetensors.
#include <fmt/core.h>

#include <memory>
#include <nlohmann/json.hpp>

#include "engine/ir/printer.h"
#include "engine/support/units.h"
#include "native/commands/command.h"
#include "native/commands/examples.h"

namespace recut::native {
namespace {

struct ImportArguments {
  GraphArguments graph;
  std::string out;
  std::string tensors;
  bool json = false;
};

std::int64_t bytes_in(const GraphFile& file) {
  std::int64_t bytes = 0;
  for (const NamedTensor& tensor : file.tensors)
    bytes += static_cast<std::int64_t>(tensor.bytes.size());
  return bytes;
}

int import_file(const ImportArguments& arguments, const Console& console) {
  const auto document = arguments.graph.open(console);
  if (!document) return console.report_error(document.diagnostics());
  const Graph& graph = document->graph();
  const GraphFile& file = document->file;
  const auto written = write_file(arguments.out, print(graph));
  if (!written) return console.report_error(written.diagnostics());
  if (!arguments.tensors.empty()) {
    const auto values = write_file(arguments.tensors, write_safetensors(file.tensors));
    if (!values) return console.report_error(values.diagnostics());
  }
  const auto nodes = static_cast<std::int64_t>(graph.order().size());
  const auto tensors = static_cast<std::int64_t>(file.tensors.size());
  if (arguments.json)
    console.out << nlohmann::ordered_json{{"nodes", nodes},
                                          {"tensors", tensors},
                                          {"bytes", bytes_in(file)}}
                       .dump(2)
                << "\n";
  else
    console.out << fmt::format("{}: {} nodes, {} tensors of {}\n", arguments.graph.path,
                               format_count(nodes), format_count(tensors),
                               format_bytes(bytes_in(file)));
  return kDone;
}

}  // namespace

void add_import(CLI::App& app, Action& chosen) {
  auto arguments = std::make_shared<ImportArguments>();
  CLI::App& command = *app.add_subcommand(
      "import", "Convert a model to a graph in text form and a file of its values");
  arguments->graph.add_to(command);
  command.add_option("--out", arguments->out, "Write the graph in text form")
      ->required()
      ->type_name("FILE");
  command
      .add_option("--tensors", arguments->tensors,
                  "Write the values of parameters and constants (safetensors, in.<name>)")
      ->type_name("FILE");
  command.add_flag("--json", arguments->json, "Print one JSON value instead of a sentence");
  command.footer(footer_with_examples(
      "Other commands take the graph as FILE, and the values by --tensors.",
      {"import tests/onnx/models/tiny_bert.onnx --dim batch=1,tokens=16 --out build/bert.recut "
       "--tensors build/bert.safetensors",
       "import samples/joint/tiny_mlp.json.gz --no-passes --out build/mlp.recut"}));
  command.callback([arguments, &chosen] {
    chosen = [arguments](const Console& console) { return import_file(*arguments, console); };
  });
}

}  // namespace recut::native
