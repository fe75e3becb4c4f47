// The whole layout as two bars, a line a row, with the part that is on the screen; a click or a
// drag goes there.
#include <algorithm>
#include <cmath>

#include "gui/panels/graph_parts.h"

namespace recut::gui {
namespace {

using layout::Box;
using layout::Side;

constexpr float kGraphMinimapWidth = 58, kColumn = 16;  // units
constexpr float kSlimWidth = 28, kSlimColumn = 5;       // in a pane beside another one
constexpr float kMaxHeight = 300;

// A row of the map shows the most telling role of the boxes in it.
int weight_of(const Box& box, const BoxMarks& marks) {
  if (marks.saved > 0 || (marks.known && marks.role == Role::saved)) return 4;
  if (marks.again > 0 || (marks.known && marks.role == Role::recomputed)) return 3;
  return box.node.valid() && box.importance == 0 ? 1 : 2;
}

Colour colour_of(const Theme& theme, int weight, bool backward) {
  if (weight == 4) return theme.saved;
  if (weight == 3) return theme.recomputed;
  const Colour plain = backward ? mix(theme.background, theme.result, 0.4)
                                : mix(theme.background, theme.freed, 0.75);
  return weight == 2 ? plain : mix(theme.background, plain, 0.55);
}

class Minimap {
 public:
  explicit Minimap(const GraphPaneContext& context) : context_(context), ui_(context.ui) {}

  void draw() {
    context_.memory.free_right = 1e9f;
    if (!find_area()) return;
    context_.memory.free_right = frame_.left;
    if (stale()) gather();
    ui_.fill(frame_, ui_.theme.panel, ui_.px(kRadius));
    ui_.frame(frame_, ui_.theme.line, ui_.px(kRadius));
    const float middle = frame_.centre().x, gap = ui_.px(is_slim() ? 1 : 3.5f);
    const float column = ui_.px(is_slim() ? kSlimColumn : kColumn);
    for (const GraphMemory::Bar& bar : context_.memory.bars) {
      const float left = bar.backward ? middle + gap : middle - gap - column;
      ui_.fill({left, inside_.top + bar.top, left + column, inside_.top + bar.bottom}, bar.colour);
    }
    found();
    differing();
    window();
  }

 private:
  bool is_slim() const { return context_.subject.comparison != nullptr; }

  // False if everything is visible, or if the minimap would hide the graph.
  bool find_area() {
    const Rect& area = context_.view.area();
    const layout::Rect& bounds = context_.layout().bounds;
    const layout::Rect seen = context_.view.visible();
    const bool whole = seen.top <= bounds.top && seen.bottom >= bounds.bottom;
    if (bounds.empty() || area.width() < ui_.px(is_slim() ? 300 : 420) ||
        area.height() < ui_.px(160))
      return false;
    if (whole && !context_.memory.panning) return false;
    const float high = std::round(std::min(area.height() - ui_.px(24), ui_.px(kMaxHeight)));
    const float wide = is_slim() ? kSlimWidth : kGraphMinimapWidth, away = is_slim() ? 4 : 12;
    frame_ =
        rect_at({area.right - ui_.px(wide + away), area.top + ui_.px(12)}, {ui_.px(wide), high});
    inside_ = frame_.inset(ui_.px(8), ui_.px(8));
    return true;
  }

  float y(float at) const {
    const layout::Rect& bounds = context_.layout().bounds;
    return (at - bounds.top) / std::max(1.0f, bounds.height()) * inside_.height();
  }

  bool stale() const {
    const GraphMemory& memory = context_.memory;
    return memory.bars_marks != context_.canvas.marks_made ||
           memory.bars_height != inside_.height() || memory.bars_theme != &ui_.theme;
  }

  void gather() {
    const float line = std::max(1.0f, std::round(ui_.px(1)));
    const auto rows = static_cast<std::size_t>(std::max(1.0f, inside_.height() / line));
    std::vector<int> weights[2] = {std::vector<int>(rows, 0), std::vector<int>(rows, 0)};
    for (std::size_t b = 0; b < context_.layout().boxes.size(); ++b) {
      const Box& box = context_.layout().boxes[b];
      if (box.side == Side::shelf) continue;
      const int weight = weight_of(box, context_.marks.boxes[b]);
      auto& side = weights[box.side == Side::backward ? 1 : 0];
      const auto row_of = [&](float at) {
        return std::min(rows - 1, static_cast<std::size_t>(std::max(0.0f, y(at) / line)));
      };
      for (std::size_t r = row_of(box.rect.top); r <= row_of(box.rect.bottom - 1); ++r)
        side[r] = std::max(side[r], weight);
    }
    collect(weights, line);
  }

  // Neighbours of one colour are one bar.
  void collect(const std::vector<int> (&weights)[2], float line) {
    GraphMemory& memory = context_.memory;
    memory.bars.clear();
    for (const bool backward : {false, true}) {
      const auto& side = weights[backward ? 1 : 0];
      for (std::size_t r = 0; r < side.size();) {
        std::size_t end = r + 1;
        while (end < side.size() && side[end] == side[r]) ++end;
        if (side[r] > 0)
          memory.bars.push_back({static_cast<float>(r) * line, static_cast<float>(end) * line,
                                 backward, colour_of(ui_.theme, side[r], backward)});
        r = end;
      }
    }
    memory.bars_marks = context_.canvas.marks_made;
    memory.bars_height = inside_.height();
    memory.bars_theme = &ui_.theme;
  }

  void tick(std::uint32_t box, Colour colour) const {
    const float at = inside_.top + y(context_.layout().boxes[box].rect.centre().y);
    ui_.fill({frame_.left + ui_.px(2), at - ui_.px(1), frame_.left + ui_.px(7), at + ui_.px(1)},
             colour);
  }

  void found() const {
    for (const std::uint32_t box : context_.memory.matched) tick(box, ui_.theme.text);
    const NodeId node = context_.subject.selection.node;
    const layout::BoxId box = node.valid() ? context_.picture.box(node) : layout::BoxId();
    if (box.valid()) tick(box.index, ui_.theme.selection);
  }

  // Draws the differences on the outer edge, as an editor's overview of changes.
  void differing() const {
    if (context_.canvas.differences == nullptr) return;
    float drawn = -1;  // pixels that have one already
    for (const float at : differing_rows()) {
      if (at - drawn < 1) continue;
      drawn = at;
      ui_.fill({frame_.right - ui_.px(5), inside_.top + at - ui_.whole(1), frame_.right - ui_.px(2),
                inside_.top + at + ui_.whole(1)},
               ui_.theme.differs);
    }
  }

  std::vector<float> differing_rows() const {
    std::vector<float> rows;
    const auto& boxes = context_.layout().boxes;
    for (std::uint32_t b = 0; b < boxes.size(); ++b)
      if (context_.differences(b)->all() > 0) rows.push_back(y(boxes[b].rect.centre().y));
    std::sort(rows.begin(), rows.end());
    return rows;
  }

  void window() const {
    const layout::Rect seen = context_.view.visible();
    const float top = std::clamp(y(seen.top), -ui_.px(4), inside_.height());
    const float bottom = std::clamp(y(seen.bottom), top + ui_.px(3), inside_.height() + ui_.px(4));
    const Rect rect{frame_.left + ui_.px(3), inside_.top + top, frame_.right - ui_.px(3),
                    inside_.top + std::max(bottom, top + ui_.px(6))};
    const WidgetResponse t = interact(context_.ui, "minimap", ItemKind::handle, frame_);
    ui_.fill(rect, ui_.theme.selection, ui_.px(2), 0.08);
    ui_.frame(rect, ui_.theme.selection, ui_.px(2),
              std::max(1.0f, ui_.px(t.hovered ? 1.6f : 1.1f)));
    if (!t.held) return;
    const layout::Rect& bounds = context_.layout().bounds;
    const float share =
        (ImGui::GetIO().MousePos.y - inside_.top) / std::max(1.0f, inside_.height());
    Camera camera = context_.canvas.camera;
    camera.y = static_cast<double>(bounds.top + std::clamp(share, 0.0f, 1.0f) * bounds.height());
    jump(context_.canvas, camera);
  }

  const GraphPaneContext& context_;
  Ui& ui_;
  Rect frame_, inside_;
};

}  // namespace

void draw_minimap(const GraphPaneContext& context) { Minimap(context).draw(); }

}  // namespace recut::gui
