// recut show: the graph, after the chosen passes.
#include <memory>

#include "engine/ir/printer.h"
#include "engine/workspace/graph_export.h"
#include "gui/pictures/graph_picture.h"
#include "native/commands/command.h"

namespace recut::native {
namespace {

struct ShowArguments {
  GraphArguments graph;
  std::string format = "text";
  bool json = false;
  bool light = false;
};

int show(const ShowArguments& arguments, const Console& console) {
  const auto document = arguments.graph.open(console);
  if (!document) return console.complain(document.diagnostics());
  const Graph& graph = document->graph();
  const std::string format = arguments.json ? "json" : arguments.format;
  if (format == "json")
    console.out << graph_json(graph);
  else if (format == "dot")
    console.out << graph_dot(graph);
  else if (format == "svg")
    console.out << gui::graph_svg(graph, arguments.light ? gui::kLight : gui::kDark);
  else
    console.out << print(graph);
  return kDone;
}

}  // namespace

void add_show(CLI::App& app, Action& chosen) {
  auto arguments = std::make_shared<ShowArguments>();
  CLI::App& command = *app.add_subcommand("show", "Print a graph, after the chosen passes");
  arguments->graph.add_to(command);
  command
      .add_option("--format", arguments->format,
                  "text (default), json, dot (Graphviz) or svg (a picture)")
      ->check(CLI::IsMember({"text", "json", "dot", "svg"}))
      ->type_name("FORMAT");
  command.add_flag("--json", arguments->json, "The same as --format json");
  command.add_flag("--light", arguments->light, "The picture on a light ground");
  command.footer("Example: recut show samples/joint/tiny_mlp.json.gz --passes noop_removal");
  command.callback([arguments, &chosen] {
    chosen = [arguments](const Console& console) { return show(*arguments, console); };
  });
}

}  // namespace recut::native
