// Panel Mesh: the graph spread over devices. At the left the axes, each with its kind of
// parallelism, and the bytes that a device holds and sends; beside it the lists.
#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "engine/support/units.h"
#include "gui/app/app.h"
#include "gui/app/meshes_view.h"
#include "gui/panels/mesh_parts.h"

namespace recut::gui {
namespace {

constexpr float kMeshSettings = 356;  // units: the width of the settings
constexpr float kMeshBothWide = 700;  // of a panel that has lists beside them
constexpr float kMeshMinList = 120;   // units: a list of less height scrolls with all the rest
constexpr std::int64_t kMaxAxisSize = 1024;

struct MeshMemory {
  std::string typed;      // the field
  std::string typed_for;  // the settings that it was made of
  float settings_height = 0, all_height = 0;
  SharedPlanView counted;  // whose bytes these are
  DeviceBytes bytes = {};
};

struct Suggestion {
  std::string_view label, text, mesh;
};
constexpr Suggestion kSuggestions[] = {
    {"suggest ddp", "8 × DDP", "dp=8 dp=ddp"},
    {"suggest fsdp", "8 × FSDP", "dp=8 dp=fsdp"},
    {"suggest fsdp tp", "4 × FSDP, 2 × TP", "dp=4,tp=2 dp=fsdp,tp=tp"}};

constexpr std::string_view kStyleTips[] = {
    "Data parallel: the batch is cut, every device has all parameters",
    "Fully sharded data parallel: the batch and the parameters are cut; parameters are gathered "
    "for "
    "use",
    "Tensor parallel: products are cut in pairs, columns then rows",
    "Tensor parallel, with the sequence cut between the pairs",
    "Context parallel: the sequence is cut",
    "Nothing is cut along this axis"};

class MeshPanel {
 public:
  MeshPanel(Ui& ui, const PanelInput& input, const DocumentView& document, Intents& intents)
      : ui_(ui),
        input_(input),
        document_(document),
        mesh_(document.plan_settings.transforms.mesh),
        memory_(input.memory<MeshMemory>("mesh")),
        list_(mesh_list(input.app)),
        intents_(intents) {
    if (memory_.counted != document.shown) memory_.bytes = device_bytes(*document.shown);
    memory_.counted = document.shown;
  }

  void draw() {
    tabs();
    Rect area = input_.area;
    if (area.width() >= ui_.px(kMeshBothWide)) return side_by_side(area);
    const float list_room = area.height() - memory_.settings_height;
    if (list_room >= ui_.px(kMeshMinList)) {
      settings(area);
      return list(area, true);
    }
    const Scrolled region = begin_scroll(ui_, "all", area, memory_.all_height);
    area = region.content;
    area.bottom = 1e9f;
    settings(area);
    const float top = area.top;
    area.bottom = area.top + list_height();
    list(area, false);
    memory_.all_height = top + list_height() - region.content.top;
    end_scroll();
  }

 private:
  void side_by_side(Rect area) {
    Rect left = area.cut_left(ui_.px(kMeshSettings));
    area.cut_left(ui_.px(18));
    const Scrolled region = begin_scroll(ui_, "settings", left, memory_.settings_height);
    Rect column = region.content;
    column.bottom = 1e9f;
    settings(column);
    end_scroll();
    list(area, true);
  }

  // The names of the lists, at the right of the heading: its tabs are at the left.
  void tabs() {
    float wide = 0;
    const auto width = [&](std::string_view name) { return ui_.width(name, Face::text) + 1; };
    for (const std::string_view name : kMeshLists) wide += width(name) + ui_.px(14);
    Rect rest = input_.heading;
    rest = rest.cut_right(wide);
    for (const std::string_view name : kMeshLists) {
      if (tab(ui_, "list " + std::string(name), rest.cut_left(width(name)), name, list_ == name))
        intents_.push_back({"mesh.list", std::string(name)});
      rest.cut_left(ui_.px(14));
    }
  }

  // Draws into the top of `area`, and leaves the rest of it.
  void settings(Rect& area) {
    const float top = area.top;
    mesh_field(area);
    faults(area);
    if (mesh_) {
      const std::vector<MeshAxisChoice> axes = axis_choices(*mesh_);
      for (std::size_t i = 0; i < axes.size(); ++i) axis(area, axes, i);
    } else {
      suggestions(area);
    }
    if (document_.mesh) held(area);
    area.cut_top(ui_.px(6));
    memory_.settings_height = area.top - top;
  }

  // The mesh as text. A press of Enter takes it; a text that is none says why.
  void mesh_field(Rect& area) {
    const std::string now = mesh_ ? write_mesh(*mesh_) : "";
    if (memory_.typed_for != now) memory_.typed = now;
    memory_.typed_for = now;
    Rect row = area.cut_top(ui_.target(25));
    if (mesh_) {
      if (button(ui_, "none", row.cut_right(ui_.px(70)).inset(0, ui_.px(1)), "No mesh",
                 ButtonLook::quiet))
        intents_.push_back({"mesh.none", ""});
      hint(ui_, "Plan the whole graph on one device again");
      row.cut_right(ui_.px(4));
      if (button(ui_, "add axis", row.cut_right(ui_.px(50)).inset(0, ui_.px(1)), "+ axis",
                 ButtonLook::quiet))
        add_axis();
      row.cut_right(ui_.px(4));
    }
    FieldLook look;
    look.face = Face::mono;
    look.hint = "dp=2,tp=4 dp=fsdp,tp=tp";
    const FieldAnswer answer = field(ui_, "mesh", row, memory_.typed, look);
    hint(ui_, "Axes with their sizes, then the presets of axes");
    if (answer.committed && memory_.typed.empty() && mesh_)
      intents_.push_back({"mesh.none", ""});
    else if (answer.committed && !memory_.typed.empty())
      intents_.push_back({"mesh.set", memory_.typed});
    area.cut_top(ui_.px(4));
  }

  void add_axis() {
    std::vector<MeshAxisChoice> axes = axis_choices(*mesh_);
    const auto has = [&](std::string_view name) {
      return std::any_of(axes.begin(), axes.end(),
                         [&](const MeshAxisChoice& axis) { return axis.name == name; });
    };
    for (const std::string_view name : {"dp", "tp", "cp", "sp"})
      if (!has(name)) {
        axes.push_back({std::string(name), 2, name == "dp" ? "ddp" : std::string(name)});
        return set(axes);
      }
    axes.push_back({fmt::format("axis{}", axes.size()), 2, "none"});
    set(axes);
  }

  void set(const std::vector<MeshAxisChoice>& axes) {
    intents_.push_back({"mesh.set", write_mesh(mesh_of_axes(axes))});
  }

  // The reason for which the typed text is no mesh, or the last one couldn't be had.
  void faults(Rect& area) {
    std::string text;
    if (memory_.typed != memory_.typed_for && !memory_.typed.empty())
      if (const auto read = read_mesh(memory_.typed); !read)
        text = read.diagnostics().front().message;
    if (text.empty() && !document_.transform_faults.empty())
      text = format(document_.transform_faults.front());
    if (text.empty()) return;
    const Rect rect = area.cut_top(wrapped_height(ui_, text, area.width()) + ui_.px(6));
    ui_.items.add("fault", ItemKind::figure, rect, true, text);
    wrapped(ui_, rect, text, ui_.theme.conflict);
  }

  void suggestions(Rect& area) {
    const std::string text =
        "Spread the graph over devices: each axis of the mesh has its kind of parallelism, and the "
        "plan is that of one device.";
    const Rect prose =
        area.cut_top(wrapped_height(ui_, text, area.width(), Face::text) + ui_.px(8));
    wrapped(ui_, prose, text, ui_.theme.dim, Face::text);
    Rect row = area.cut_top(ui_.target(26));
    for (const Suggestion& suggestion : kSuggestions) {
      const float wide = ui_.width(suggestion.text, Face::text) + ui_.px(22);
      if (wide > row.width()) row = area.cut_top(ui_.target(26));
      if (button(ui_, suggestion.label, row.cut_left(wide).inset(0, ui_.px(1)), suggestion.text))
        intents_.push_back({"mesh.set", std::string(suggestion.mesh)});
      row.cut_left(ui_.px(6));
    }
  }

  // An axis: its name, its size between − and +, its presets, and × to remove it.
  void axis(Rect& area, const std::vector<MeshAxisChoice>& axes, std::size_t index) {
    const MeshAxisChoice& axis = axes[index];
    Rect row = area.cut_top(ui_.target(25));
    const auto edited = [&](std::int64_t size, std::string_view style) {
      std::vector<MeshAxisChoice> other = axes;
      other[index].size = size;
      other[index].style = style;
      set(other);
    };
    const auto press = [&](const char* what, const char* sign, bool enabled, const char* tip) {
      const bool pressed =
          button(ui_, fmt::format("{} {}", what, axis.name),
                 row.cut_left(ui_.px(20)).inset(0, ui_.px(2)), sign, ButtonLook::quiet, enabled);
      ui_.items.set_name(fmt::format("{} {}", tip, axis.name));
      hint(ui_, tip);
      return pressed;
    };
    ui_.text(row.cut_left(ui_.px(32)), axis.name, Face::mono, ui_.theme.text);
    if (press("halve", "−", axis.size > 1, "Half as many along axis"))
      edited(std::max<std::int64_t>(1, axis.size / 2), axis.style);
    const Rect size = row.cut_left(ui_.px(32));
    ui_.text(size, fmt::format("{}", axis.size), Face::mono_strong, ui_.theme.text, Align::centre);
    ui_.items.add("size " + axis.name, ItemKind::figure, size, true, fmt::format("{}", axis.size));
    if (press("double", "+", axis.size * 2 <= kMaxAxisSize, "Twice as many along axis"))
      edited(axis.size * 2, axis.style);
    row.cut_left(ui_.px(8));
    styles(row, axis, edited);
    if (axes.size() > 1) remove(row, axes, index);
  }

  template <class Edit>
  void styles(Rect& row, const MeshAxisChoice& axis, const Edit& edited) {
    for (std::size_t i = 0; i < std::size(kAxisStyles); ++i) {
      const std::string_view style = kAxisStyles[i];
      const bool chosen = axis.style == style;
      const Rect rect =
          row.cut_left(ui_.width(style, Face::text) + ui_.px(15)).inset(ui_.px(0.5f), ui_.px(2));
      if (tinted_button(ui_, fmt::format("{} {}", axis.name, style), rect, style,
                        chosen ? ui_.theme.selection : ui_.theme.dim, chosen) &&
          !chosen)
        edited(axis.size, style);
      hint(ui_, kStyleTips[i]);
    }
  }

  void remove(Rect& row, std::vector<MeshAxisChoice> axes, std::size_t index) {
    row.cut_left(ui_.px(3));
    const std::string& name = axes[index].name;
    const bool pressed = button(ui_, "remove " + name, row.cut_left(ui_.px(20)).inset(0, ui_.px(2)),
                                "×", ButtonLook::quiet);
    ui_.items.set_name("Remove axis " + name);
    hint(ui_, "Remove axis " + name);
    if (!pressed) return;
    axes.erase(axes.begin() + static_cast<std::ptrdiff_t>(index));
    set(axes);
  }

  // The bytes that rank 0 holds and sends.
  void held(Rect& area) {
    const MeshView& mesh = *document_.mesh;
    area.cut_top(ui_.px(6));
    Rect row = area.cut_top(std::round(ui_.px(20)));
    row.cut_left(
        figure(ui_, "sent", row, "each sends", format_bytes(mesh.sent_bytes()), ui_.theme.text) +
        ui_.px(14));
    ui_.fitting(row, by_axis(mesh), Face::small, ui_.theme.dim);
    row = area.cut_top(std::round(ui_.px(20)));
    const std::size_t count = mesh.devices.size();
    row.cut_left(figure(ui_, "count", row, count == 1 ? "device" : "devices",
                        fmt::format("{}", count), ui_.theme.text) +
                 ui_.px(14));
    figure(ui_, "held", row, "rank 0 holds at the peak", format_bytes(total_of(memory_.bytes)),
           ui_.theme.text);
    area.cut_top(ui_.px(4));
    const Rect bar = area.cut_top(std::round(ui_.px(12)));
    ui_.items.add("bar", ItemKind::figure, bar, true, format_bytes(total_of(memory_.bytes)));
    draw_device_bar(ui_, bar, memory_.bytes, total_of(memory_.bytes));
    area.cut_top(ui_.px(4));
    legend(area);
  }

  // "dp 8.00 KiB · tp 12.0 KiB"
  static std::vector<std::string> by_axis(const MeshView& mesh) {
    std::map<std::string, std::int64_t> sums;
    for (const PlacedCollective& step : mesh.collectives) sums[step.axis] += step.bytes;
    std::string text;
    for (const auto& [axis, bytes] : sums)
      text += fmt::format("{}{} {}", text.empty() ? "" : " · ", axis.empty() ? "order" : axis,
                          format_bytes(bytes));
    return {text};
  }

  // Two columns of kinds.
  void legend(Rect& area) {
    constexpr std::size_t kRows = (kDeviceShares + 1) / 2;
    const float high = std::round(ui_.px(18));
    Rect both = area.cut_top(high * static_cast<float>(kRows));
    const float gap = ui_.px(16);
    Rect left = both.cut_left((both.width() - gap) / 2);
    both.cut_left(gap);
    for (std::size_t share = 0; share < kDeviceShares; ++share) {
      Rect row = (share < kRows ? left : both).cut_top(high);
      const auto kind = static_cast<DeviceShare>(share);
      const std::string bytes = format_bytes(memory_.bytes[share]);
      ui_.items.add(fmt::format("holds {}", name_of(kind)), ItemKind::figure, row, true, bytes);
      const Rect sign = row.cut_left(ui_.px(15));
      ui_.fill(rect_around({sign.left + ui_.px(5), sign.centre().y}, ui_.px(9), ui_.px(9)),
               colour_of(ui_.theme, kind), ui_.px(1));
      ui_.text(row.cut_right(ui_.width(bytes, Face::mono_small)), bytes, Face::mono_small,
               ui_.theme.dim, Align::right);
      row.cut_right(ui_.px(4));
      ui_.text(row, name_of(kind), Face::small, ui_.theme.dim);
    }
  }

  bool lists_shapes() const { return list_ == "shapes"; }

  MeshList listed() const {
    if (lists_shapes()) return shapes_of_mesh(input_, document_);
    if (!document_.mesh) {
      MeshList none;
      none.nothing =
          fmt::format("No mesh: one device has the whole of every value, and peaks at {}.",
                      format_bytes(document_.shown->peak()));
      return none;
    }
    if (list_ == "collectives") return collectives_of_mesh(document_);
    if (list_ == "devices") return devices_of_mesh(ui_, document_, memory_.bytes);
    return tensors_of_mesh(document_);
  }

  float list_height() const {
    return height_of(ui_, listed()) + (lists_shapes() ? ui_.target(24) + ui_.px(2) : 0);
  }

  void list(Rect area, bool scrolls) {
    if (lists_shapes()) draw_shapes_head(ui_, input_, document_, area, intents_);
    draw_mesh_list(ui_, listed(), area, scrolls, intents_);
  }

  Ui& ui_;
  const PanelInput& input_;
  const DocumentView& document_;
  const std::optional<MeshSettings>& mesh_;  // that is asked for
  MeshMemory& memory_;
  const std::string list_;
  Intents& intents_;
};

void draw_mesh(Ui& ui, const PanelInput& input, Intents& intents) {
  if (const DocumentView* document = input.ready()) MeshPanel(ui, input, *document, intents).draw();
}

}  // namespace

Panel mesh_panel() { return {"mesh", "Mesh", Dock::bottom_left, 1, 1, draw_mesh}; }

}  // namespace recut::gui
