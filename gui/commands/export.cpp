// Commands that copy or write the graph: as text, SVG, dot and PNG.
#include <fmt/core.h>

#include <optional>

#include "engine/ir/printer.h"
#include "engine/support/units.h"
#include "engine/workspace/graph_export.h"
#include "gui/app/app.h"
#include "gui/app/conditions.h"
#include "gui/canvas/canvas.h"
#include "gui/model/role_totals.h"
#include "gui/model/schedule_view.h"
#include "gui/pictures/graph_picture.h"

namespace recut::gui {
namespace {

bool export_has_selection(const App& app) {
  return is_ready(app) && app.document()->selection.node.valid();
}

// A file name with the ending of its format.
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

// Copies the node's line as the text form has it, to paste into a file or a report.
Result<Done> copy_export(App& app, std::string_view) {
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

layout::Role layout_role(Role role) {
  constexpr layout::Role roles[kRoles] = {layout::Role::saved, layout::Role::recomputed,
                                          layout::Role::freed, layout::Role::result,
                                          layout::Role::none,  layout::Role::none};
  return roles[static_cast<std::size_t>(role)];
}

// The shown plan, as the picture says it.
PictureRoles roles_of(const Picture& picture, const DocumentView& document) {
  const PlanView& plan = *document.shown;
  const PlanMarks marks = marks_of(picture, &plan);
  const PlanReport& report = plan.report();
  PictureRoles roles;
  const std::string arena = arena_beside_peak(document);
  roles.plan = fmt::format("peak {}{}, step {}", format_bytes(report.peak_bytes),
                           arena.empty() ? "" : ", arena " + arena, format_micros(report.step_us));
  if (report.inference)
    roles.legend = {{layout::Role::recomputed,
                     "recomputed, " + counted_text(Role::recomputed, report.recomputed_runs)},
                    {layout::Role::freed, "freed after its last use"},
                    {layout::Role::result, "result"}};
  else
    roles.legend = {
        {layout::Role::saved, fmt::format("saved, {} in {}", format_bytes(report.saved_bytes),
                                          counted_text(Role::saved, report.saved_storages()))},
        {layout::Role::recomputed,
         "recomputed, " + counted_text(Role::recomputed, report.recomputed_runs)},
        {layout::Role::freed, "freed in forward"},
        {layout::Role::result, "result or gradient"}};
  for (const BoxMarks& box : marks.boxes)
    roles.boxes.push_back({box.known ? layout_role(box.role) : layout::Role::none, box.result,
                           box.saved, box.again, box.others, box.bytes});
  for (const RungMarks& rung : marks.rungs) roles.rungs.push_back({rung.saved > 0, rung.again > 0});
  return roles;
}

// Writes the graph as it is laid out, with its open groups, under the shown plan.
Result<Done> svg(App& app, std::string_view name) {
  const SharedPicture picture = canvas_of(app.document()->memories).picture;
  if (picture == nullptr) return error("the graph isn't laid out yet");
  std::optional<PictureRoles> roles;
  if (app.document()->shown) roles = roles_of(*picture, *app.document());
  PictureLook look(app.theme());
  look.fonts = true;
  return write(app, with_ending(app, name, ".svg"),
               layout_svg(picture->graph(), *picture->scene, picture->layout, look,
                          roles ? &*roles : nullptr));
}

Result<Done> dot(App& app, std::string_view name) {
  return write(app, with_ending(app, name, ".dot"), graph_dot(app.document()->graph_at_pass()));
}

Result<Done> text(App& app, std::string_view name) {
  return write(app, with_ending(app, name, ".recut"), print(app.document()->graph_at_pass()));
}

// Writes the last frame of the window.
Result<Done> png(App& app, std::string_view name) {
  const std::string path = with_ending(app, name, ".png");
  const auto saved = app.backend.save_picture(path);
  if (saved.ok()) app.say("Wrote " + path);
  return saved;
}

// Writes the plan in the form of `recut plan --out`.
Result<Done> save_plan(App& app, std::string_view name) {
  const PlanView& plan = *app.document()->shown;
  return write(app, with_ending(app, name, ".plan.json"),
               plan_file_json(plan.graph(), plan.planned));
}

constexpr Command kExportRows[] = {
    {"export.plan", "Save the plan", "Ctrl+S", "", has_plan, save_plan},
    {"graph.copy", "Copy the selected node as text", "Ctrl+C", "", export_has_selection,
     copy_export},
    {"export.svg", "Save the graph as SVG, as it is laid out and planned", "", "a file's name",
     is_ready, svg},
    {"export.dot", "Save the graph for Graphviz", "", "a file's name", is_ready, dot},
    {"export.text", "Save the graph as text", "", "a file's name", is_ready, text},
    {"export.png", "Save the whole window as PNG", "", "a file's name", is_ready, png},
};

}  // namespace

std::span<const Command> export_commands() { return kExportRows; }

}  // namespace recut::gui
