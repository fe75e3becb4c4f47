// The meshes of a number of devices in the mesh panel: a row each, the quickest that hold the
// memory of a device on top. A click takes the mesh.
#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "engine/support/units.h"
#include "gui/app/app.h"
#include "gui/app/meshes_view.h"
#include "gui/panels/mesh_parts.h"

namespace recut::gui {
namespace {

struct ShapesMemory {
  std::string typed;
  std::int64_t shown = 0;  // the number that `typed` was made of
};

std::string device_count(std::int64_t devices) {
  return fmt::format("{} device{}", devices, devices == 1 ? "" : "s");
}

std::string text_of_comparison(const DocumentView& document, const MeshesView& view) {
  if (!view.found) {
    const MeshesKey key = meshes_key(document, view.devices);
    return key.memory_bytes
               ? fmt::format("within {} a device, inputs and peak", format_bytes(*key.memory_bytes))
               : "without a budget";
  }
  const MeshComparison& found = view.found->comparison;
  const auto holding = std::count_if(found.rows.begin(), found.rows.end(),
                                     [](const MeshRow& row) { return row.holds; });
  std::string text = device_count(found.devices);
  if (found.memory_bytes)
    text += fmt::format(": {} of {} hold {} each", holding, found.rows.size(),
                        format_bytes(*found.memory_bytes));
  if (!(view.found->key == meshes_key(document, view.found->key.devices)))
    text += " · of other settings";
  return text;
}

}  // namespace

void draw_shapes_head(Ui& ui, const PanelInput& input, const DocumentView& document, Rect& area,
                      Intents& intents) {
  auto& view = input.memory<MeshesView>(kMeshesMemory);
  auto& memory = input.memory<ShapesMemory>("mesh shapes");
  if (memory.shown != view.devices) memory.typed = fmt::format("{}", view.devices);
  memory.shown = view.devices;
  Rect row = area.cut_top(ui.target(24));
  area.cut_top(ui.px(2));
  row.cut_left(ui.px(8));
  FieldLook look;
  look.face = Face::mono;
  look.hint = "8";
  const bool compares = input.app.jobs.is_alive(view.job);
  bool asked = field(ui, "devices", row.cut_left(ui.px(52)), memory.typed, look).committed;
  hint(ui, "The number of devices: every mesh of one or two axes is planned");
  row.cut_left(ui.px(6));
  ui.text(row.cut_left(ui.width("devices", Face::text) + ui.px(10)), "devices", Face::text,
          ui.theme.dim);
  const Rect press = row.cut_left(ui.px(84)).inset(0, ui.px(1));
  row.cut_left(ui.px(10));
  if (compares) {
    if (button(ui, "stop", press, "Stop")) intents.push_back({"mesh.stop", ""});
  } else {
    asked |= button(ui, "compare", press, "Compare", ButtonLook::primary);
  }
  if (asked) intents.push_back({"mesh.compare", memory.typed});
  std::string text =
      view.faults.empty() ? text_of_comparison(document, view) : format(view.faults.front());
  for (const JobStatus& job : input.app.jobs.status())
    if (job.id == view.job && compares)
      text = job.text.empty() ? "waiting" : "planning " + job.text;
  ui.items.add("shapes", ItemKind::figure, row, true, text);
  ui.text(row, text, Face::small, view.faults.empty() ? ui.theme.dim : ui.theme.conflict);
}

MeshList shapes_of_mesh(const PanelInput& input, const DocumentView& document) {
  const auto& view = input.memory<MeshesView>(kMeshesMemory);
  MeshList list;
  list.title = "mesh";
  list.columns = {{"presets", 106, false, 6}, {"inputs", 76, true, 0}, {"peak", 76, true, 0},
                  {"a device", 78, true, 5},  {"sent", 78, true, 3},   {"recomputed", 86, true, 1},
                  {"step", 74, true, 4}};
  list.nothing = "The meshes of a number of devices, by step time, memory and bytes on the wire.";
  if (!view.found) return list;
  const std::shared_ptr<const ComparedMeshes> found = view.found;
  list.rows = found->comparison.rows.size();
  const auto& now = document.plan_settings.transforms.mesh;
  list.row = [found, now](std::size_t i) {
    const MeshRow& mesh = found->comparison.rows[i];
    const MeshSettings settings{mesh.mesh, mesh.preset};
    MeshRowText row;
    row.name = mesh.holds ? mesh.mesh : mesh.mesh + " ×";  // too large for a device
    row.label = "shape " + write_mesh(settings);
    row.cells = {mesh.preset,
                 format_bytes(mesh.input_bytes),
                 format_bytes(mesh.peak_bytes),
                 format_bytes(mesh.bytes()),
                 format_bytes(mesh.sent_bytes),
                 format_micros(mesh.recompute_micros),
                 format_micros(mesh.step_micros)};
    row.value = mesh.holds ? "holds" : "too large";
    row.tip = fmt::format(
        "{}{}\ninputs {}, peak {}: {} a device\nsent by a rank {}\nstep {}, of it {} recomputed",
        write_mesh(settings), mesh.holds ? "" : "\ntoo large for the memory of a device",
        format_bytes(mesh.input_bytes), format_bytes(mesh.peak_bytes), format_bytes(mesh.bytes()),
        format_bytes(mesh.sent_bytes), format_micros(mesh.step_micros),
        format_micros(mesh.recompute_micros));
    row.press = {"mesh.take", write_mesh(settings)};
    row.chosen = now == settings;
    row.faint = !mesh.holds;
    return row;
  };
  return list;
}

}  // namespace recut::gui
