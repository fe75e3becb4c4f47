// Marks of differences from the other pane: at the corner of a box, in one colour, with a shape for
// each kind of difference.
#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "gui/panels/graph_parts.h"

namespace recut::gui {
namespace {

// The most important kind of difference in a box, which may stand for several nodes.
Difference kind_of(const BoxDifferences& marks) {
  if (marks.only > 0) return Difference::only;
  if (marks.rewritten > 0) return Difference::rewritten;
  return marks.fate > 0 ? Difference::fate : Difference::none;
}

// A mark beside a box that is too small for a sign.
void tick(const GraphPaneContext& context, const Rect& rect) {
  const float wide = context.ui.px(3);
  context.ui.fill(
      {rect.left - wide - 1, rect.top, rect.left - 1, std::max(rect.bottom, rect.top + 2)},
      context.ui.theme.differs);
}

// Above the corner: the sign, and the count, or the value's fate in the other plan.
void badge(const GraphPaneContext& context, const Rect& rect, const BoxDifferences& marks,
           bool node) {
  const Ui& ui = context.ui;
  // Beside names, the sign has the size of a letter and leaves them free; else it shrinks with its
  // box.
  const float size =
      std::round(context.names() ? std::clamp(context.length(20), ui.px(13), ui.px(15))
                                 : std::max(context.length(20), ui.px(5)));
  const float above = context.names() ? size * 0.3f : 0;
  const Rect sign =
      rect_around({std::round(rect.left + size * 0.2f), std::round(rect.top - above)}, size, size);
  const bool wide = context.names() && (!node || marks.other_role);
  Rect ground = sign;
  std::string text;
  if (wide && !node) {
    text = fmt::format("{}", marks.all());
    ground.right += ui.width(text, Face::small) + ui.px(6);
  } else if (wide) {
    ground.right += ui.px(14);
  }
  ui.fill(ground, ui.theme.background, size / 2);
  ui.frame(ground, ui.theme.differs, size / 2, std::max(1.0f, ui.px(1.1f)));
  draw_difference_sign(ui, sign.centre(), size * 0.55f, kind_of(marks));
  if (wide && node) ui.sign({sign.right + ui.px(5), sign.centre().y}, *marks.other_role);
  if (wide && !node)
    ui.text({sign.right, sign.top, ground.right, sign.bottom}, text, Face::small, ui.theme.differs);
}

}  // namespace

void draw_difference_sign(const Ui& ui, ImVec2 centre, float size, Difference kind) {
  const Colour colour = ui.theme.differs;
  const float arm = size / 2, thin = std::max(1.0f, ui.px(1.4f));
  switch (kind) {
    case Difference::none:
      return;
    case Difference::only:  // a plus: more than the other has
      ui.line({centre.x - arm, centre.y}, {centre.x + arm, centre.y}, colour, thin);
      ui.line({centre.x, centre.y - arm}, {centre.x, centre.y + arm}, colour, thin);
      return;
    case Difference::rewritten:  // a triangle: a change
      ImGui::GetWindowDrawList()->AddTriangle(
          {centre.x, centre.y - arm}, {centre.x + arm, centre.y + arm * 0.8f},
          {centre.x - arm, centre.y + arm * 0.8f}, Ui::paint(colour), thin);
      return;
    case Difference::fate:  // unequal
      for (const float y : {-0.4f, 0.4f})
        ui.line({centre.x - arm, centre.y + y * arm}, {centre.x + arm, centre.y + y * arm}, colour,
                thin);
      ui.line({centre.x - arm * 0.6f, centre.y + arm}, {centre.x + arm * 0.6f, centre.y - arm},
              colour, thin);
      return;
  }
}

void draw_differences(const GraphPaneContext& context) {
  const DifferenceMarks* marks = context.canvas.differences.get();
  if (marks == nullptr) return;
  constexpr float kSmallest = 7;  // pixels of a box that gets a sign
  for (const std::uint32_t index : context.memory.visible.boxes) {
    const BoxDifferences& box = marks->boxes[index];
    if (box.all() == 0) continue;
    const Rect rect = context.rect_of(index);
    if (rect.height() < kSmallest)
      tick(context, rect);
    else
      badge(context, rect, box, context.layout().boxes[index].node.valid());
  }
  for (const std::uint32_t b : context.memory.visible.blocks) {
    const layout::Band& band = context.layout().bands[b];
    if (marks->bands[b].all() == 0) continue;
    tick(context, context.view.at(band.forward.empty() ? band.backward : band.forward));
  }
}

}  // namespace recut::gui
