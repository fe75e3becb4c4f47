// The parts of the mesh panel: its lists, and the bars of devices.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "gui/app/panel.h"
#include "gui/draw/widgets.h"
#include "gui/model/device_memory.h"

namespace recut::gui {

// A column behind the names. Columns that come later leave first where room is short, unless their
// `weight` is higher.
struct MeshColumn {
  std::string_view title;
  float wide = 60;  // units
  bool number = false;
  int weight = 0;
};

struct MeshRowText {
  std::string label;  // of the item
  std::string name;
  std::vector<std::string> cells;  // by column
  std::string value;               // of the item
  std::string tip;
  Intent press;  // "" command: none
  bool chosen = false, faint = false;
};

struct MeshList {
  std::string_view title;  // of the names
  std::vector<MeshColumn> columns;
  std::size_t rows = 0;
  std::string nothing;  // where there are none
  std::function<MeshRowText(std::size_t)> row;
  // Draws something into the cell of a column without text; may be empty.
  std::function<void(const Rect& cell, std::size_t row)> paint;
};

MeshList tensors_of_mesh(const DocumentView& document);
MeshList collectives_of_mesh(const DocumentView& document);
MeshList devices_of_mesh(const Ui& ui, const DocumentView& document, const DeviceBytes& bytes);

// Height of the list with its head and all rows.
float height_of(const Ui& ui, const MeshList& list);
// In a scrolled region of its own, or whole where `scrolls` is false.
void draw_mesh_list(Ui& ui, const MeshList& list, Rect area, bool scrolls, Intents& intents);

// mesh_shapes.cpp: the comparison's settings above its list, and the list.
void draw_shapes_head(Ui& ui, const PanelInput& input, const DocumentView& document, Rect& area,
                      Intents& intents);
MeshList shapes_of_mesh(const PanelInput& input, const DocumentView& document);

Colour colour_of(const Theme& theme, DeviceShare share);
// A bar of the bytes, `whole` bytes wide.
void draw_device_bar(const Ui& ui, const Rect& rect, const DeviceBytes& bytes, std::int64_t whole);

}  // namespace recut::gui
