// recut show: prints or draws the graph, after the chosen passes.
#include <fmt/core.h>

#include <memory>

#include "engine/input/graph_file_reader.h"
#include "engine/ir/printer.h"
#include "engine/workspace/graph_export.h"
#include "engine/workspace/graph_list_text.h"
#include "engine/workspace/torchscript.h"
#include "gui/pictures/graph_picture.h"
#include "native/commands/command.h"
#include "native/commands/examples.h"
#include "native/commands/picture_options.h"

namespace recut::native {
namespace {

struct ShowArguments {
  GraphArguments graph;
  std::string format = "text";
  bool json = false;
  bool graphs = false;  // the list of the file's graphs alone
  PictureArguments picture;
};

// Refuses a width at which the graph couldn't be read.
int draw(const Graph& graph, const ShowArguments& arguments, const Console& console) {
  const double asked = arguments.picture.width_mm;
  const double least = asked > 0 ? gui::least_print_mm(graph) : 0;
  if (least > asked)
    return console.report_error(
        {{fmt::format("{:g} mm are too narrow for this graph, even with its groups closed: "
                      "--width {:g}mm is the least that can be read",
                      asked, least),
          arguments.graph.path, 0, 0}});
  console.out << gui::graph_svg(graph, arguments.picture.look());
  return kDone;
}

int write_torchscript(const Graph& graph, const ShowArguments& arguments, const Console& console) {
  const auto text = torchscript(graph);
  if (!text) {
    Diagnostics faults = text.diagnostics();
    for (Diagnostic& fault : faults) fault.file = arguments.graph.path;
    return console.report_error(faults);
  }
  console.out << *text;
  return kDone;
}

int list(const ShowArguments& arguments, const Console& console) {
  const auto bytes = read_graph_file_bytes(arguments.graph.path);
  if (!bytes) return console.report_error(bytes.diagnostics());
  const auto graphs = list_graphs(*bytes, arguments.graph.path);
  if (!graphs) return console.report_error(graphs.diagnostics());
  console.out << (arguments.json ? graph_list_json(*graphs) : graph_list_text(*graphs));
  return kDone;
}

int show(const ShowArguments& arguments, const Console& console) {
  if (arguments.graphs) return list(arguments, console);
  const auto document = arguments.graph.open(console);
  if (!document) return console.report_error(document.diagnostics());
  const Graph& graph = document->graph();
  const std::string format = arguments.json ? "json" : arguments.format;
  if (format == "json")
    console.out << graph_json(graph);
  else if (format == "dot")
    console.out << graph_dot(graph);
  else if (format == "svg")
    return draw(graph, arguments, console);
  else if (format == "torchscript")
    return write_torchscript(graph, arguments, console);
  else
    console.out << print(graph);
  return kDone;
}

}  // namespace

void add_show(CLI::App& app, Action& chosen) {
  auto arguments = std::make_shared<ShowArguments>();
  CLI::App& command = *app.add_subcommand("show", "Print a graph after the chosen passes");
  arguments->graph.add_to(command);
  arguments->graph.add_mesh_to(command);
  arguments->graph.add_freeze_to(command);
  command
      .add_option("--format", arguments->format,
                  "Format of the output: text, json, dot (Graphviz), svg (a picture) or "
                  "torchscript (the IR that torch._C.parse_ir reads) (default: text)")
      ->check(CLI::IsMember({"text", "json", "dot", "svg", "torchscript"}))
      ->type_name("FORMAT");
  command.add_flag("--json", arguments->json, "Print JSON, like --format json");
  command.add_flag("--graphs", arguments->graphs,
                   "List the graphs of the file, with the keys that --graph takes; print no graph");
  arguments->picture.add_to(command);
  command.footer(footer_with_examples(
      "With --width, a picture's groups are closed until the text can be read.",
      {"show samples/joint/tiny_mlp.json.gz --passes noop_removal",
       "show samples/joint/gpt2.json.gz --format svg --width 174mm",
       "show tests/onnx/models/tiny_gpt.onnx --for-inference --format torchscript"}));
  command.callback([arguments, &chosen] {
    chosen = [arguments](const Console& console) { return show(*arguments, console); };
  });
}

}  // namespace recut::native
