// Lists of the mesh panel: tensors with their parts, collectives with the calls that need them, and
// devices with their bytes.
#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "engine/support/units.h"
#include "gui/panels/mesh_parts.h"

namespace recut::gui {
namespace {

constexpr float kMeshNames = 80;  // units that names have at least
constexpr float kMeshEdge = 8;

// The columns that have room beside the names, in their order.
std::vector<std::size_t> shown_columns(const Ui& ui, const MeshList& list, float room) {
  std::vector<std::size_t> order(list.columns.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return list.columns[a].weight > list.columns[b].weight;
  });
  float spare = room - ui.px(kMeshNames);
  std::vector<std::size_t> shown;
  for (const std::size_t column : order) {
    spare -= ui.px(list.columns[column].wide);
    if (spare < 0) break;
    shown.push_back(column);
  }
  std::sort(shown.begin(), shown.end());
  return shown;
}

class MeshListPainter {
 public:
  MeshListPainter(Ui& ui, const MeshList& list, Intents& intents, float room)
      : ui_(ui), list_(list), intents_(intents), shown_(shown_columns(ui, list, room)) {}

  void head(Rect strip) const {
    const float y = strip.bottom - 0.5f;
    ui_.line({strip.left, y}, {strip.right, y}, ui_.theme.line);
    cells(strip, [&](const Rect& cell, std::size_t column) {
      const MeshColumn& shown = list_.columns[column];
      ui_.text(cell, shown.title, Face::small, ui_.theme.faint,
               shown.number ? Align::right : Align::left);
    });
    ui_.text(strip, list_.title, Face::small, ui_.theme.faint);
  }

  void row(std::size_t index, const Rect& strip) const {
    const MeshRowText text = list_.row(index);
    const WidgetResponse t = gui::row(ui_, text.label, strip, text.chosen, text.value);
    if (t.pressed && !text.press.command.empty()) intents_.push_back(text.press);
    if (t.hovered && !text.tip.empty()) hint(ui_, text.tip);
    const Colour ink = text.faint ? ui_.theme.faint : ui_.theme.dim;
    Rect name = strip;
    cells(name, [&](const Rect& cell, std::size_t column) {
      const MeshColumn& shown = list_.columns[column];
      if (text.cells[column].empty() && list_.paint) return list_.paint(cell, index);
      ui_.text(cell, text.cells[column], shown.number ? Face::mono : Face::mono_small, ink,
               shown.number ? Align::right : Align::left);
    });
    ui_.path(name, text.name, Face::mono, text.faint ? ui_.theme.faint : ui_.theme.text);
  }

 private:
  // Calls `draw` for each cell, and leaves that of the name.
  template <class Draw>
  void cells(Rect& strip, const Draw& draw) const {
    strip = strip.inset(ui_.px(kMeshEdge), 0);
    float wide = 0;
    for (const std::size_t column : shown_) wide += ui_.px(list_.columns[column].wide);
    Rect rest = strip.cut_right(wide);
    for (const std::size_t column : shown_) {
      Rect cell = rest.cut_left(ui_.px(list_.columns[column].wide));
      cell.cut_left(ui_.px(10));
      draw(cell, column);
    }
  }

  Ui& ui_;
  const MeshList& list_;
  Intents& intents_;
  const std::vector<std::size_t> shown_;
};

float head_height(const Ui& ui) { return std::round(ui.px(20)); }
float row_height(const Ui& ui) { return ui.target(kRow - 2); }

}  // namespace

MeshList tensors_of_mesh(const DocumentView& document) {
  const MeshView& mesh = *document.mesh;
  MeshList list;
  list.title = "input";
  list.columns = {{"whole", 104, false, 1},
                  {"of a rank", 84, false, 2},
                  {"placements", 100, false, 3},
                  {"bytes", 76, true, 4}};
  list.rows = mesh.inputs.size();
  list.nothing = "The graph has no inputs";
  list.row = [&document, &mesh](std::size_t i) {
    const PlacedInput& input = mesh.inputs[i];
    MeshRowText row;
    row.name = input.name;
    row.label = "tensor " + row.name;
    row.cells = {input.whole, input.local, input.placements, format_bytes(input.bytes)};
    row.value = input.placements;
    row.tip = fmt::format("{}\nwhole {}\nrank 0 has {}, {}", input.placements, input.whole,
                          input.local, format_bytes(input.bytes));
    row.press = {"select.node", row.name};
    row.chosen = input.node.valid() && document.planned_selection() == input.node;
    return row;
  };
  return list;
}

MeshList collectives_of_mesh(const DocumentView& document) {
  const MeshView& mesh = *document.mesh;
  MeshList list;
  list.title = "value";
  list.columns = {{"collective", 104, false, 4},
                  {"axis", 40, false, 3},
                  {"needed by", 136, false, 1},
                  {"to", 112, false, 0},
                  {"sent", 76, true, 5}};
  list.rows = mesh.collectives.size();
  list.nothing = "No value changes its placement: nothing is sent";
  list.row = [&document, &mesh](std::size_t i) {
    const PlacedCollective& step = mesh.collectives[i];
    MeshRowText row;
    row.name = step.value;
    row.label = fmt::format("collective {}", i + 1);
    row.cells = {step.kind, step.axis, step.needed_by, step.to, format_bytes(step.bytes)};
    row.value = fmt::format("{} {} {}", step.kind, step.axis, step.value);
    row.tip = fmt::format("{} from {} to {}\nneeded by {}\n{} sent by a rank", step.value,
                          step.from, step.to, step.needed_by, format_bytes(step.bytes));
    if (step.node.valid()) row.press = {"select.node", document.graph().node_name(step.node)};
    row.chosen = step.node.valid() && document.planned_selection() == step.node;
    return row;
  };
  return list;
}

MeshList devices_of_mesh(const Ui& ui, const DocumentView& document, const DeviceBytes& bytes) {
  const MeshView& mesh = *document.mesh;
  // The plan is rank 0's; ranks differ in their inputs alone, where a dimension isn't cut evenly.
  const auto of_device = [&mesh, bytes](std::size_t i) {
    DeviceBytes mine = bytes;
    mine[static_cast<std::size_t>(DeviceShare::parameters)] = mesh.devices[i].parameter_bytes;
    mine[static_cast<std::size_t>(DeviceShare::inputs)] = mesh.devices[i].other_bytes;
    return mine;
  };
  MeshList list;
  list.title = "rank";
  list.columns = {{"place in the mesh", 110, false, 1},
                  {"held at the peak, at most", 172, false, 2},
                  {"bytes", 76, true, 3}};
  list.rows = mesh.devices.size();
  list.row = [&mesh, of_device](std::size_t i) {
    MeshRowText row;
    row.name = fmt::format("{}", i);
    row.label = "device " + row.name;
    const DeviceBytes mine = of_device(i);
    row.cells = {mesh.devices[i].coordinate, "", format_bytes(total_of(mine))};
    row.value = row.cells.back();
    for (std::size_t share = 0; share < kDeviceShares; ++share)
      row.tip += fmt::format("{}{} {}", share > 0 ? "\n" : "",
                             name_of(static_cast<DeviceShare>(share)), format_bytes(mine[share]));
    return row;
  };
  list.paint = [&ui, of_device, whole = total_of(bytes)](const Rect& cell, std::size_t i) {
    draw_device_bar(ui, cell.inset(0, ui.px(5)), of_device(i), whole);
  };
  return list;
}

float height_of(const Ui& ui, const MeshList& list) {
  return head_height(ui) + row_height(ui) * static_cast<float>(std::max<std::size_t>(list.rows, 1));
}

void draw_mesh_list(Ui& ui, const MeshList& list, Rect area, bool scrolls, Intents& intents) {
  const Rect strip = area.cut_top(head_height(ui));
  if (list.rows == 0) {
    ui.items.add("nothing", ItemKind::figure, area, true, list.nothing);
    return wrapped(ui, area.inset(ui.px(kMeshEdge), ui.px(5)), list.nothing, ui.theme.dim,
                   Face::text);
  }
  const float high = row_height(ui);
  const float bar = scrolls ? ui.px(kScrollbar + 2) : 0;
  const MeshListPainter painter(ui, list, intents, area.width() - bar - 2 * ui.px(kMeshEdge));
  painter.head({strip.left, strip.top, strip.right - bar, strip.bottom});
  Scrolled region{area, area};
  if (scrolls) region = begin_scroll(ui, "list", area, high * static_cast<float>(list.rows));
  const float right = scrolls ? area.right - bar : area.right;
  const ImVec2 low = ImGui::GetWindowDrawList()->GetClipRectMin(),
               top = ImGui::GetWindowDrawList()->GetClipRectMax();
  for (std::size_t i = 0; i < list.rows; ++i) {
    const float y = region.content.top + high * static_cast<float>(i);
    if (y + high < low.y || y > top.y) continue;
    painter.row(i, {area.left, y, right, y + high});
  }
  if (scrolls) end_scroll();
}

Colour colour_of(const Theme& theme, DeviceShare share) {
  switch (share) {
    case DeviceShare::parameters:
      return theme.layers[0];
    case DeviceShare::inputs:
      return theme.layers[2];
    case DeviceShare::saved:
      return theme.saved;
    case DeviceShare::gathered:
      return theme.layers[4];
    case DeviceShare::outputs:
      return theme.result;
    case DeviceShare::temporary:
      return theme.freed;
  }
  return theme.freed;
}

void draw_device_bar(const Ui& ui, const Rect& rect, const DeviceBytes& bytes, std::int64_t whole) {
  ui.fill(rect, ui.theme.raised, ui.px(2));
  if (whole <= 0) return;
  double before = 0;
  const auto x = [&](double at) {
    return rect.left + rect.width() * static_cast<float>(at / static_cast<double>(whole));
  };
  for (std::size_t share = 0; share < kDeviceShares; ++share) {
    const double after = before + static_cast<double>(bytes[share]);
    ui.fill({x(before), rect.top, x(after), rect.bottom},
            colour_of(ui.theme, static_cast<DeviceShare>(share)));
    before = after;
  }
}

}  // namespace recut::gui
