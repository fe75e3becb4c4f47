// Widgets over ImGui's InvisibleButton: ImGui handles the pointer, and drawing, labels and keyboard
// focus are our own. interact() is the one entry: it registers the widget as an item (items.h), so
// that scripts, tests and screen readers see every widget that can be pressed, and it handles the
// focused one's keys. A disabled widget is registered too, for its hint.
#include "gui/draw/widgets.h"

#include <cmath>

namespace recut::gui {
namespace {

constexpr int kPageSteps = 10;  // of a key that moves something

Rect visible_part(const Rect& rect) {
  const ImDrawList& list = *ImGui::GetWindowDrawList();
  const ImVec2 low = list.GetClipRectMin(), high = list.GetClipRectMax();
  return rect.within({low.x, low.y, high.x, high.y});
}

// Draws the ring if the keyboard is on the widget; true if Enter or Space presses it.
bool keyboard(Ui& ui, const std::string& label, const Rect& rect) {
  if (ui.items.focused != label) return false;
  if (ui.items.focus_visible)
    ui.frame(rect.inset(-ui.px(1), -ui.px(1)), ui.theme.selection, ui.px(kRadius), ui.whole(1));
  const bool pressed = ui.items.activate;
  ui.items.activate = false;
  return pressed;
}

// Buttons in rows that are no higher than a mouse needs are pressed a little beside them, too.
Rect pressed_part(const Ui& ui, ItemKind kind, const Rect& rect) {
  const bool small = kind == ItemKind::button || kind == ItemKind::toggle ||
                     kind == ItemKind::tab || kind == ItemKind::slider;
  if (!ui.fingers || !small || rect.empty()) return rect;
  return rect.inset(0, std::min(0.0f, (rect.height() - ui.px(kFinger)) / 2));
}

}  // namespace

WidgetResponse interact(Ui& ui, std::string_view label, ItemKind kind, const Rect& drawn,
                        bool enabled, std::string value) {
  const Rect rect = pressed_part(ui, kind, drawn);
  const std::string& whole =
      ui.items.add(label, kind, visible_part(rect), enabled, std::move(value));
  ui.items.set_reach(rect.size());
  WidgetResponse interact;
  if (rect.empty()) return interact;
  ImGui::SetCursorScreenPos(rect.corner());
  ImGui::SetNextItemAllowOverlap();
  interact.pressed =
      ImGui::InvisibleButton(whole.c_str(), rect.size(),
                             ImGuiButtonFlags_MouseButtonLeft | ImGuiButtonFlags_MouseButtonRight);
  if (!enabled) return {};  // it is there for its hint alone, which says why
  interact.hovered = ImGui::IsItemHovered();
  interact.held = ImGui::IsItemActive();
  interact.menu = interact.pressed && ImGui::IsMouseReleased(ImGuiMouseButton_Right);
  if (interact.menu) interact.pressed = false;
  interact.doubled = interact.hovered && ImGui::IsMouseDoubleClicked(ImGuiMouseButton_Left);
  interact.pressed |= keyboard(ui, whole, drawn);
  return interact;
}

bool button(Ui& ui, std::string_view label, const Rect& rect, std::string_view text,
            ButtonLook look, bool enabled) {
  const WidgetResponse t = interact(ui, label, ItemKind::button, rect, enabled, std::string(text));
  const Theme& theme = ui.theme;
  const bool primary = look == ButtonLook::primary && enabled;
  Colour ground = primary ? theme.selection : theme.raised;
  if (t.hovered) ground = mix(ground, theme.text, t.held ? 0.16 : 0.08);
  if (look != ButtonLook::quiet || t.hovered) ui.fill(rect, ground, ui.px(kRadius));
  if (look == ButtonLook::plain) ui.frame(rect, theme.line, ui.px(kRadius));
  const Colour ink = !enabled                                  ? theme.faint
                     : primary                                 ? theme.background
                     : look == ButtonLook::quiet && !t.hovered ? theme.dim
                                                               : theme.text;
  ui.text(rect.inset(ui.px(6), 0), text, primary ? Face::strong : Face::text, ink, Align::centre);
  return t.pressed;
}

bool tinted_button(Ui& ui, std::string_view label, const Rect& rect, std::string_view text,
                   Colour colour, bool chosen, bool enabled) {
  const WidgetResponse t =
      interact(ui, label, ItemKind::toggle, rect, enabled, chosen ? "on" : "off");
  const double share = (chosen ? 0.22 : 0) + (t.hovered ? 0.08 : 0);
  ui.fill(rect, mix(ui.theme.raised, colour, share), ui.px(kRadius));
  ui.frame(rect, chosen ? colour : ui.theme.line, ui.px(kRadius));
  ui.text(rect.inset(ui.px(6), 0), text, Face::text, enabled ? colour : ui.theme.faint,
          Align::centre);
  return t.pressed;
}

bool tab(Ui& ui, std::string_view label, const Rect& rect, std::string_view text, bool chosen) {
  const WidgetResponse t = interact(ui, label, ItemKind::tab, rect, true, chosen ? "chosen" : "");
  const Colour ink = chosen || t.hovered ? ui.theme.text : ui.theme.faint;
  const float wide = ui.text(rect, text, Face::text, ink);
  if (chosen) {
    const float y = rect.bottom - ui.whole(2);
    ui.fill({rect.left, y, rect.left + wide, rect.bottom}, ui.theme.selection);
  }
  return t.pressed;
}

bool toggle(Ui& ui, std::string_view label, const Rect& rect, std::string_view text, bool on) {
  const WidgetResponse t = interact(ui, label, ItemKind::toggle, rect, true, on ? "on" : "off");
  Rect rest = rect;
  const Rect box = rect_around(rest.cut_left(ui.px(14)).centre(), ui.px(12), ui.px(12));
  ui.fill(box, on ? ui.theme.selection : ui.theme.raised, ui.px(3));
  if (!on) ui.frame(box, t.hovered ? ui.theme.dim : ui.theme.line, ui.px(3));
  if (on) {
    const ImVec2 c = box.centre();
    const Colour ink = ui.theme.background;
    const ImVec2 low{c.x - ui.px(0.6f), c.y + ui.px(2.6f)};
    ui.line({c.x - ui.px(3), c.y}, low, ink, ui.px(1.6f));
    ui.line(low, {c.x + ui.px(3.4f), c.y - ui.px(2.6f)}, ink, ui.px(1.6f));
  }
  rest.cut_left(ui.px(8));
  ui.text(rest, text, Face::text, t.hovered ? ui.theme.text : ui.theme.dim);
  return t.pressed;
}

bool slider(Ui& ui, std::string_view label, const Rect& rect, int& at, int most) {
  const WidgetResponse t =
      interact(ui, label, ItemKind::slider, rect, most > 0, std::to_string(at));
  ui.items.set_span({0, static_cast<double>(most), static_cast<double>(at), {}});
  const int before = at;
  const float knob = ui.px(5), reach = std::max(1.0f, rect.width() - 2 * knob);
  if (t.held && most > 0) {
    const float share = (ImGui::GetIO().MousePos.x - rect.left - knob) / reach;
    at = std::clamp(static_cast<int>(std::lround(share * static_cast<float>(most))), 0, most);
  }
  const float y = std::round(rect.centre().y);
  const float x =
      rect.left + knob + reach * (most > 0 ? static_cast<float>(at) / static_cast<float>(most) : 0);
  const float half = ui.whole(2) / 2;
  ui.fill({rect.left, y - half, rect.right, y + half}, ui.theme.line, half);
  ui.fill({rect.left, y - half, x, y + half}, ui.theme.selection, half);
  ui.circle({x, y}, knob + (t.hovered ? ui.px(1) : 0), ui.theme.selection);
  return at != before;
}

std::optional<double> moved_by_keys(Ui& ui, const Span& span, double step) {
  if (!ui.items.take_keys()) return std::nullopt;
  const auto pressed = [](ImGuiKey key) { return ImGui::IsKeyPressed(key) ? 1 : 0; };
  if (pressed(ImGuiKey_Home) != 0) return span.least;
  if (pressed(ImGuiKey_End) != 0) return span.most;
  const int steps = pressed(ImGuiKey_RightArrow) + pressed(ImGuiKey_UpArrow) -
                    pressed(ImGuiKey_LeftArrow) - pressed(ImGuiKey_DownArrow) +
                    kPageSteps * (pressed(ImGuiKey_PageUp) - pressed(ImGuiKey_PageDown));
  if (steps == 0) return std::nullopt;
  return std::clamp(span.now + steps * step, span.least, span.most);
}

WidgetResponse row(Ui& ui, std::string_view label, const Rect& rect, bool chosen,
                   std::string value) {
  const WidgetResponse t = interact(ui, label, ItemKind::row, rect, true, std::move(value));
  if (chosen || t.hovered)
    ui.fill(rect, chosen ? ui.theme.raised : mix(ui.theme.panel, ui.theme.raised, 0.6));
  if (chosen)
    ui.fill({rect.left, rect.top, rect.left + ui.whole(2), rect.bottom}, ui.theme.selection);
  return t;
}

float figure(Ui& ui, std::string_view label, const Rect& rect, std::string_view what,
             std::string_view value, Colour colour) {
  ui.items.add(label, ItemKind::figure, visible_part(rect), true, std::string(value));
  Rect rest = rect;
  const float first = ui.text(rest, what, Face::text, ui.theme.dim);
  rest.cut_left(first + ui.px(6));
  return first + ui.px(6) + ui.text(rest, value, Face::mono_strong, colour);
}

void heading(Ui& ui, const Rect& rect, std::string_view text, std::string_view remark) {
  Rect rest = rect;
  const float wide = ui.text(rest, text, Face::strong, ui.theme.text);
  rest.cut_left(wide + ui.px(10));
  if (!remark.empty()) ui.text(rest, remark, Face::small, ui.theme.dim);
}

void fold_mark(const Ui& ui, const Rect& rect, bool open, bool strong) {
  const ImVec2 c{rect.left + ui.px(3.5f), rect.centre().y};
  const float r = ui.px(3);
  const ImU32 ink = Ui::paint(strong ? ui.theme.text : ui.theme.faint);
  ImDrawList& list = *ImGui::GetWindowDrawList();
  if (open) {
    list.AddTriangleFilled({c.x - r, c.y - r / 2}, {c.x + r, c.y - r / 2}, {c.x, c.y + r}, ink);
  } else {
    list.AddTriangleFilled({c.x - r / 2, c.y - r}, {c.x + r, c.y}, {c.x - r / 2, c.y + r}, ink);
  }
}

void hint(Ui& ui, std::string_view text) {
  ui.items.describe(text);
  if (text.empty() || ui.items.keys_lead || !ImGui::IsItemHovered(ImGuiHoveredFlags_ForTooltip))
    return;
  ImGui::PushStyleVar(ImGuiStyleVar_WindowPadding, {ui.px(9), ui.px(6)});
  ImGui::PushStyleVar(ImGuiStyleVar_WindowRounding, ui.px(kRadius));
  ImGui::PushStyleColor(ImGuiCol_PopupBg, Ui::paint(ui.theme.raised));
  ImGui::PushStyleColor(ImGuiCol_Border, Ui::paint(ui.theme.line));
  ImGui::PushStyleColor(ImGuiCol_Text, Ui::paint(ui.theme.text));
  ImGui::PushFont(ui.fonts[Face::small]);
  if (ImGui::BeginTooltip()) {
    ImGui::PushTextWrapPos(ui.px(420));
    ImGui::TextUnformatted(text.data(), text.data() + text.size());
    ImGui::PopTextWrapPos();
    ImGui::EndTooltip();
  }
  ImGui::PopFont();
  ImGui::PopStyleColor(3);
  ImGui::PopStyleVar(2);
}

}  // namespace recut::gui
