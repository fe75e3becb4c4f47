// The graph as text and as files: what is on the clipboard, SVG, dot, PNG.
#include "engine/ir/printer.h"
#include "engine/workspace/graph_export.h"
#include "gui/app/app.h"
#include "gui/canvas/canvas.h"
#include "gui/pictures/graph_picture.h"

namespace recut::gui {
namespace {

bool is_there(const App& app) { return app.has_ready(); }
bool has_selection(const App& app) {
  return is_there(app) && app.document()->selection.node.valid();
}

// A name with the ending that says what is in it.
std::string with_ending(const App& app, std::string_view name, std::string_view ending) {
  std::string path(name.empty() ? std::string_view(app.document()->title) : name);
  const bool has = path.size() > ending.size() &&
                   path.compare(path.size() - ending.size(), ending.size(), ending) == 0;
  return has ? path : path + std::string(ending);
}

Result<Done> write(App& app, const std::string& path, std::string_view bytes) {
  const auto written = app.backend.write(path, bytes);
  if (written.ok()) app.say("Wrote " + path);
  return written;
}

// The node's line as the text form has it: what pastes into a file or a report.
Result<Done> copy(App& app, std::string_view) {
  const DocumentView& document = *app.document();
  const NodeId node = document.selection.node;
  for (const Graph* graph : {&document.graph_at_pass(), &document.graph()}) {
    if (!graph->contains(node)) continue;
    app.backend.set_clipboard(print_node(*graph, node));
    app.say("Copied the line of " + graph->node_name(node));
    return Done{};
  }
  return error("what is selected isn't in this graph");
}

// What is laid out, open groups and all.
Result<Done> svg(App& app, std::string_view name) {
  const SharedPicture picture = canvas_of(app.document()->memories).picture;
  if (picture == nullptr) return error("the graph isn't laid out yet");
  return write(app, with_ending(app, name, ".svg"),
               layout_svg(picture->graph(), *picture->scene, picture->layout, app.theme()));
}

Result<Done> dot(App& app, std::string_view name) {
  return write(app, with_ending(app, name, ".dot"), graph_dot(app.document()->graph_at_pass()));
}

Result<Done> text(App& app, std::string_view name) {
  return write(app, with_ending(app, name, ".recut"), print(app.document()->graph_at_pass()));
}

// The window as it was drawn last.
Result<Done> png(App& app, std::string_view name) {
  const std::string path = with_ending(app, name, ".png");
  const auto saved = app.backend.save_picture(path);
  if (saved.ok()) app.say("Wrote " + path);
  return saved;
}

constexpr Command kRows[] = {
    {"graph.copy", "Copy the selected node as text", "Ctrl+C", "", has_selection, copy},
    {"export.svg", "Save the graph as laid out, as SVG", "", "a file's name", is_there, svg},
    {"export.dot", "Save the graph for Graphviz", "", "a file's name", is_there, dot},
    {"export.text", "Save the graph as text", "", "a file's name", is_there, text},
    {"export.png", "Save the window as PNG", "", "a file's name", is_there, png},
};

}  // namespace

std::span<const Command> export_commands() { return kRows; }

}  // namespace recut::gui
