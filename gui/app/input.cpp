// Input from the backend, on its way to ImGui and to the table of commands.
#include <algorithm>
#include <string>

#include "gui/app/app.h"
#include "gui/app/hotkey.h"

namespace recut::gui {
namespace {

constexpr std::string_view kInputGraph = "graph", kLessonPanel = "lesson";
constexpr double kHintDelay = 0.3;  // seconds that the pointer rests before a tooltip

constexpr int kFramesToField = 4;  // after which a field that was asked for has the keyboard

void take_modifiers(Modifiers& held, const KeyChanged& key) {
  if (key.key == ImGuiMod_Ctrl) held.ctrl = key.down;
  if (key.key == ImGuiMod_Shift) held.shift = key.down;
  if (key.key == ImGuiMod_Alt) held.alt = key.down;
}

// True for a key that only enters text in a text field.
bool only_types(ImGuiKey key) {
  const bool shift = key == ImGuiKey_LeftShift || key == ImGuiKey_RightShift;
  const bool letter = key >= ImGuiKey_0 && key <= ImGuiKey_Z;
  const bool sign = key >= ImGuiKey_Apostrophe && key <= ImGuiKey_GraveAccent;
  const bool pad = key >= ImGuiKey_Keypad0 && key <= ImGuiKey_KeypadEqual;
  return shift || letter || sign || key == ImGuiKey_Space || (pad && key != ImGuiKey_KeypadEnter);
}

// True if the key moves the focused item, which has taken such keys for itself.
bool moves_item(const Items& items, ImGuiKey key) {
  const bool moves = key >= ImGuiKey_LeftArrow && key <= ImGuiKey_End;
  return moves && items.keys_are_taken();
}

}  // namespace

bool App::press(std::string_view hotkey) {
  if (hotkey.empty() || (ImGui::GetIO().WantTextInput && is_for_text(hotkey))) return false;
  const bool bare = overlay.empty();
  return press_of(kLessonPanel, hotkey) || (bare && !focus.empty() && press_of(focus, hotkey)) ||
         press_of("", hotkey) || (bare && press_of(kInputGraph, hotkey));
}

bool App::press_of(std::string_view panel, std::string_view hotkey) {
  for (const Command* command : all_commands()) {
    if (command->panel != panel || !has_hotkey(command->hotkey, hotkey)) continue;
    if (command->enabled != nullptr && !command->enabled(*this)) continue;
    note_outcome(std::string(command->id), run(command->id));
    return true;
  }
  return false;
}

// An open menu takes all keys but global commands; these close it.
bool App::take_menu_key(std::string_view hotkey) {
  if (menu.id.empty() || hotkey.empty()) return false;
  if (press_of("menu", hotkey)) return true;
  if (!is_modified(hotkey)) return true;
  const std::string open = menu.id;
  const bool pressed = press(hotkey);
  if (pressed && menu.id == open) menu = {};
  return pressed;
}

// Alt alone, let go of before anything else happened, opens the menu.
void App::take_alt(bool down) {
  if (down && !held_.alt) alt_alone_ = !held_.ctrl && !held_.shift;
  if (down || !held_.alt || !alt_alone_) return;
  alt_alone_ = false;
  press("Alt");
}

void App::give_focus(std::string_view panel) {
  for (const Panel& one : panels)
    if (one.id == panel && one.dock != Dock::top && one.dock != Dock::overlay)
      focus = std::string(panel);
}

// Tab moves the focus from widget to widget; Enter and Space press the focused one.
bool App::take_focus_key(const KeyChanged& key) {
  const ImGuiIO& io = ImGui::GetIO();
  if (!key.down || held_.ctrl || held_.alt) return false;
  if (key.key == ImGuiKey_Tab && !held_.shift && !items.completing.empty()) {
    items.complete = true;
    return true;
  }
  if (key.key == ImGuiKey_Tab) {
    items.move_focus(held_.shift ? -1 : 1);
    give_focus(items.focused.substr(0, items.focused.find('/')));
    return true;
  }
  const bool presses = key.key == ImGuiKey_Enter || key.key == ImGuiKey_Space;
  if (!presses || io.WantTextInput || !items.focus_visible || items.focused.empty()) return false;
  items.activate = true;
  return true;
}

void App::tell_modifiers() const {
  ImGuiIO& io = ImGui::GetIO();
  io.AddKeyEvent(ImGuiMod_Ctrl, held_.ctrl);
  io.AddKeyEvent(ImGuiMod_Shift, held_.shift);
  io.AddKeyEvent(ImGuiMod_Alt, held_.alt);
}

// ImGui takes keys and text in turns, a frame each. While a field takes text, ImGui receives only
// keys that act in it, so that all text since the last frame arrives in one frame; Shift is told
// with the next key that acts, before which the text was queued.
void App::tell_key(const KeyChanged& key) const {
  ImGuiIO& io = ImGui::GetIO();
  const bool typing = io.WantTextInput && !held_.ctrl && !held_.alt;
  if (typing && key.key == ImGuiMod_Shift) return;
  if (typing && only_types(key.key)) {
    if (!key.down)
      io.AddKeyEvent(key.key, false);  // it went down before the field had the keyboard
    return;
  }
  tell_modifiers();
  io.AddKeyEvent(key.key, key.down);
}

void App::take_key(const KeyChanged& key) {
  if (key.key == ImGuiMod_Alt) take_alt(key.down);
  const bool modifier = key.key >= ImGuiKey_LeftCtrl && key.key <= ImGuiKey_RightSuper;
  if (key.down && !modifier && key.key < ImGuiKey_NamedKey_END) {
    alt_alone_ = false;
    items.keys_lead = true;
  }
  if (!modifier && key.key < ImGuiKey_NamedKey_END) holds_.key(key.key, key.down);
  take_modifiers(held_, key);
  const std::string hotkey = hotkey_of(key.key, held_.ctrl, held_.shift, held_.alt);
  if (key.down && take_menu_key(hotkey)) return;
  if (take_focus_key(key)) return;
  tell_key(key);
  if (!key.down || moves_item(items, key.key)) return;
  // Bare letters come as text, in the keyboard's layout.
  if (hotkey.size() > 1) press(hotkey);
}

void App::take_pointer(const PointerMoved& moved) {
  ImGui::GetIO().AddMousePosEvent(moved.x, moved.y);
  items.keys_lead = false;
  if (moved.x >= 0) touched = moved.finger;  // a pointer outside of the window has no type
  hint_due_ = backend.now() + kHintDelay;
}

void App::take_button(const PointerButton& button) {
  ImGuiIO& io = ImGui::GetIO();
  tell_modifiers();
  holds_.button(button.button, button.down);
  // ImGui lets a press of this kind wait a frame for the pointer that came with it, which has
  // to hover a widget before it can press it; a fast hand needs that as much as a finger.
  io.AddMouseSourceEvent(ImGuiMouseSource_TouchScreen);
  io.AddMouseButtonEvent(button.button, button.down);
  io.AddMouseSourceEvent(ImGuiMouseSource_Mouse);
  items.focus_visible = false;
  alt_alone_ = false;
}

void App::take_text(const TextTyped& typed) {
  if (!menu.id.empty())
    (void)run("menu.find", typed.text);
  else if (!press(typed.text))
    ImGui::GetIO().AddInputCharactersUTF8(typed.text.c_str());
}

void App::take_focus_change(const FocusChanged& change) {
  ImGui::GetIO().AddFocusEvent(change.focused);
  held_ = {};  // it is elsewhere that keys are let go of
  if (!change.focused) holds_.let_go();
  alt_alone_ = false;
}

// A key that opens a field is often followed by text in the same frame: it is for the field, and no
// hotkeys.
void App::take(std::vector<InputEvent> events) {
  for (std::size_t i = 0; i < events.size(); ++i) {
    const InputEvent& event = events[i];
    if (std::holds_alternative<TextTyped>(event) && waits_for_field()) {
      waiting_.assign(events.begin() + static_cast<std::ptrdiff_t>(i), events.end());
      return;
    }
    const std::string overlay_before = overlay, field_before = items.keyboard_for;
    take(event);
    const bool opened = !overlay.empty() && overlay != overlay_before;
    const bool requested = !items.keyboard_for.empty() && items.keyboard_for != field_before;
    if (opened || requested) field_due_ = frames_ + kFramesToField;
  }
}

bool App::waits_for_field() const { return frames_ < field_due_ && !ImGui::GetIO().WantTextInput; }

void App::take(const InputEvent& event) {
  if (const auto* moved = std::get_if<PointerMoved>(&event)) take_pointer(*moved);
  if (const auto* button = std::get_if<PointerButton>(&event)) take_button(*button);
  if (const auto* key = std::get_if<KeyChanged>(&event)) take_key(*key);
  if (const auto* typed = std::get_if<TextTyped>(&event)) take_text(*typed);
  if (const auto* change = std::get_if<FocusChanged>(&event)) take_focus_change(*change);
  if (const auto* wheel = std::get_if<WheelTurned>(&event)) {
    tell_modifiers();
    ImGui::GetIO().AddMouseWheelEvent(wheel->x, wheel->y);
  }
  if (const auto* file = std::get_if<FileGiven>(&event))
    open(file->path, file->bytes ? std::make_shared<const std::string>(*file->bytes) : nullptr);
  if (std::holds_alternative<CloseRequested>(event)) close();
}

}  // namespace recut::gui
