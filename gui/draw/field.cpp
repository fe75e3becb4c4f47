// Text fields and scrolled regions: the two widgets that come from ImGui.
#include <imgui_internal.h>

#include <cmath>

#include "gui/draw/widgets.h"

namespace recut::gui {
namespace {

struct Edited {
  std::string* text;
  const std::string* put;  // in its place
};

// ImGui writes into a buffer; this grows the string behind it, and puts another one there: while
// it has the keyboard ImGui looks at its own copy alone.
int edit_field(ImGuiInputTextCallbackData* data) {
  const auto& edited = *static_cast<Edited*>(data->UserData);
  if (data->EventFlag == ImGuiInputTextFlags_CallbackAlways) {
    data->DeleteChars(0, data->BufTextLen);
    data->InsertChars(0, edited.put->data(), edited.put->data() + edited.put->size());
    return 0;
  }
  if (data->EventFlag != ImGuiInputTextFlags_CallbackResize) return 0;
  edited.text->resize(static_cast<std::size_t>(data->BufTextLen));
  data->Buf = edited.text->data();
  return 0;
}

void push_look(Ui& ui, const Rect& rect, const FieldLook& look) {
  const Theme& theme = ui.theme;
  const ImFont* font = ui.fonts[look.face];
  const float spare = (rect.height() - font->FontSize) / 2;
  ImGui::PushFont(ui.fonts[look.face]);
  ImGui::PushStyleVar(ImGuiStyleVar_FramePadding, {ui.px(8), spare});
  ImGui::PushStyleVar(ImGuiStyleVar_FrameRounding, ui.px(kRadius));
  ImGui::PushStyleVar(ImGuiStyleVar_FrameBorderSize, look.framed ? ui.whole(1) : 0.0f);
  ImGui::PushStyleColor(ImGuiCol_FrameBg, Ui::paint(theme.raised, look.framed ? 1 : 0));
  ImGui::PushStyleColor(ImGuiCol_Border, Ui::paint(theme.line));
  ImGui::PushStyleColor(ImGuiCol_Text, Ui::paint(theme.text));
  ImGui::PushStyleColor(ImGuiCol_TextDisabled, Ui::paint(theme.faint));
  ImGui::PushStyleColor(ImGuiCol_TextSelectedBg, Ui::paint(theme.selection, 0.35));
}

void pop_look() {
  ImGui::PopStyleColor(5);
  ImGui::PopStyleVar(3);
  ImGui::PopFont();
}

}  // namespace

FieldAnswer field(Ui& ui, std::string_view label, const Rect& rect, std::string& text,
                  const FieldLook& look) {
  const ImDrawList& list = *ImGui::GetWindowDrawList();
  const ImVec2 low = list.GetClipRectMin(), high = list.GetClipRectMax();
  const std::string id =
      ui.items.add(label, ItemKind::field, rect.within({low.x, low.y, high.x, high.y}), true, text);
  ui.items.set_reach(rect.size());
  FieldAnswer answer;
  if (rect.empty()) return answer;
  push_look(ui, rect, look);
  ImGui::SetCursorScreenPos(rect.corner());
  ImGui::SetNextItemWidth(rect.width());
  const bool requested = ui.items.keyboard_for == id;
  if (requested) {
    ui.items.keyboard_for.clear();
    ui.items.focused = id;
  }
  const bool by_tab = ui.items.focused == id && ui.items.focus_visible;
  if ((look.take_keyboard || requested || by_tab) && ui.items.active_field != id) {
    // Without it a child window's scope isn't the one in which ImGui looks for the field.
    ImGui::FocusWindow(ImGui::GetCurrentWindow());
    ImGui::SetKeyboardFocusHere();
  }
  const std::string hint(look.hint);
  if (look.put != nullptr && ui.items.active_field != id) text = *look.put;
  Edited edited{&text, look.put};
  answer.committed = ImGui::InputTextWithHint(
      ("##" + id).c_str(), hint.c_str(), text.data(), text.capacity() + 1,
      ImGuiInputTextFlags_CallbackResize | ImGuiInputTextFlags_EnterReturnsTrue |
          ImGuiInputTextFlags_AutoSelectAll |
          (look.put != nullptr ? ImGuiInputTextFlags_CallbackAlways : 0),
      edit_field, &edited);
  // ImGui gives it the keyboard a frame after it was asked to; that may be elsewhere by then.
  const bool elsewhere = ui.items.focus_visible && !by_tab && !look.take_keyboard;
  if (elsewhere && ImGui::IsItemActive()) ImGui::ClearActiveID();
  answer.changed = ImGui::IsItemEdited();
  answer.active = ImGui::IsItemActive();
  if (answer.active) {
    ui.items.active_field = id;
    if (look.completes) ui.items.completing = id;
  } else if (ui.items.active_field == id) {
    ui.items.active_field.clear();
  }
  if (answer.active && look.framed) ui.frame(rect, ui.theme.selection, ui.px(kRadius), ui.whole(1));
  pop_look();
  ui.items.set_value(text);
  return answer;
}

Scrolled begin_scroll(Ui& ui, std::string_view label, const Rect& rect, float height) {
  ImGui::PushStyleVar(ImGuiStyleVar_WindowPadding, {0, 0});
  ImGui::PushStyleVar(ImGuiStyleVar_ScrollbarSize, ui.px(kScrollbar));
  ImGui::PushStyleVar(ImGuiStyleVar_ScrollbarRounding, ui.px(4));
  ImGui::PushStyleColor(ImGuiCol_ScrollbarBg, 0);
  ImGui::PushStyleColor(ImGuiCol_ScrollbarGrab, Ui::paint(ui.theme.line));
  ImGui::PushStyleColor(ImGuiCol_ScrollbarGrabHovered, Ui::paint(ui.theme.faint));
  ImGui::PushStyleColor(ImGuiCol_ScrollbarGrabActive, Ui::paint(ui.theme.dim));
  ImGui::SetCursorScreenPos(rect.corner());
  const std::string id(label);
  ImGui::BeginChild(id.c_str(), {std::max(1.0f, rect.width()), std::max(1.0f, rect.height())},
                    false, ImGuiWindowFlags_NoBackground);
  ImGui::PopStyleColor(4);
  ImGui::PopStyleVar(3);
  const ImVec2 corner = ImGui::GetCursorScreenPos();
  const float wide = ImGui::GetContentRegionAvail().x;
  ImGui::Dummy({wide, height});
  return {rect_at(corner, {wide, height}), rect};
}

void end_scroll() { ImGui::EndChild(); }

void scroll_to(float top, float bottom, const Scrolled& region) {
  const float above = top - region.visible.top, below = bottom - region.visible.bottom;
  if (above < 0) ImGui::SetScrollY(ImGui::GetScrollY() + above);
  if (below > 0 && above >= 0) ImGui::SetScrollY(ImGui::GetScrollY() + below);
}

}  // namespace recut::gui
