#include "gui/draw/popup.h"

#include <cmath>
#include <string>

namespace recut::gui {
namespace {

constexpr float kPopupMargin = 4;  // units between a popup and the window's edge
constexpr ImGuiWindowFlags kFlags =
    ImGuiWindowFlags_NoDecoration | ImGuiWindowFlags_NoMove | ImGuiWindowFlags_NoSavedSettings |
    ImGuiWindowFlags_NoBackground | ImGuiWindowFlags_NoFocusOnAppearing | ImGuiWindowFlags_Tooltip;

Rect moved_into_window(const Ui& ui, const Rect& box) {
  const ImVec2 size = ImGui::GetIO().DisplaySize;
  const float margin = ui.px(kPopupMargin);
  const float wide = std::min(box.width(), size.x - 2 * margin);
  const float high = std::min(box.height(), size.y - 2 * margin);
  const float left = std::max(margin, std::min(box.left, size.x - margin - wide));
  const float top = std::max(margin, std::min(box.top, size.y - margin - high));
  return rect_at({std::round(left), std::round(top)}, {std::round(wide), std::round(high)});
}

}  // namespace

void raised_ground(const Ui& ui, const Rect& box) {
  ui.fill(box.moved(0, ui.px(2)).inset(-ui.px(1), 0), 0x000000, ui.px(6), 0.28);
  ui.fill(box, ui.theme.raised, ui.px(kRadius));
  ui.frame(box, ui.theme.line, ui.px(kRadius));
}

Rect begin_popup(const Ui& ui, std::string_view id, Rect& box, PopupBackground background) {
  box = moved_into_window(ui, box);
  const float shadow = ui.px(4);
  const ImVec2 all = ImGui::GetIO().DisplaySize;
  const Rect window =
      background == PopupBackground::blocked ? rect_at({0, 0}, all) : box.inset(-shadow, -shadow);
  ImGui::SetNextWindowPos(window.corner());
  ImGui::SetNextWindowSize(window.size());
  ImGui::Begin(std::string(id).c_str(), nullptr, kFlags);
  raised_ground(ui, box);
  return box.inset(ui.whole(1), ui.px(kPopupEdge));
}

void end_popup() { ImGui::End(); }

bool pressed_outside(const Rect& box) {
  const bool pressed =
      ImGui::IsMouseClicked(ImGuiMouseButton_Left) || ImGui::IsMouseClicked(ImGuiMouseButton_Right);
  return pressed && !box.contains(ImGui::GetIO().MousePos);
}

WidgetResponse popup_row(Ui& ui, std::string_view label, const Rect& rect, bool chosen,
                         bool enabled, std::string value) {
  const WidgetResponse t = interact(ui, label, ItemKind::row, rect, enabled, std::move(value));
  if (chosen || t.hovered) ui.fill(rect, mix(ui.theme.raised, ui.theme.text, chosen ? 0.11 : 0.07));
  return t;
}

}  // namespace recut::gui
