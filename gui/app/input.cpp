// What the backend tells, on its way to ImGui and to the table of commands.
#include <algorithm>
#include <string>

#include "gui/app/app.h"
#include "gui/app/hotkey.h"

namespace recut::gui {
namespace {

constexpr std::string_view kInputGraph = "graph", kCard = "lesson", kSplitters = "splitter/";
constexpr double kHintDelay = 0.3;  // seconds that the pointer rests before words come up

void take_modifiers(ImGuiIO& io, const KeyChanged& key) {
  if (key.key == ImGuiMod_Ctrl) io.KeyCtrl = key.down;
  if (key.key == ImGuiMod_Shift) io.KeyShift = key.down;
  if (key.key == ImGuiMod_Alt) io.KeyAlt = key.down;
}

// A splitter that has the keyboard has the keys that move it; frame.cpp asks ImGui for them.
bool moves_splitter(const Items& items, ImGuiKey key) {
  const bool on_one = items.focus_visible && items.focused.rfind(kSplitters, 0) == 0;
  return on_one && ((key >= ImGuiKey_LeftArrow && key <= ImGuiKey_DownArrow) ||
                    key == ImGuiKey_Home || key == ImGuiKey_End);
}

}  // namespace

bool App::press(std::string_view hotkey) {
  if (hotkey.empty() || (ImGui::GetIO().WantTextInput && is_for_text(hotkey))) return false;
  const bool bare = overlay.empty();
  return press_of(kCard, hotkey) || (bare && !focus.empty() && press_of(focus, hotkey)) ||
         press_of("", hotkey) || (bare && press_of(kInputGraph, hotkey));
}

bool App::press_of(std::string_view panel, std::string_view hotkey) {
  for (const Command* command : all_commands()) {
    if (command->panel != panel || !has_hotkey(command->hotkey, hotkey)) continue;
    if (command->enabled != nullptr && !command->enabled(*this)) continue;
    const Result<Done> done = run(command->id);
    if (!done) say(done.diagnostics().front().message, true);
    return true;
  }
  return false;
}

// An open menu has the keys, all but those that are commands wherever one is; these close it.
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
  const ImGuiIO& io = ImGui::GetIO();
  if (down && !io.KeyAlt) alt_alone_ = !io.KeyCtrl && !io.KeyShift;
  if (down || !io.KeyAlt || !alt_alone_) return;
  alt_alone_ = false;
  press("Alt");
}

void App::give_focus(std::string_view panel) {
  for (const Panel& one : panels)
    if (one.id == panel && one.place != Place::top && one.place != Place::overlay)
      focus = std::string(panel);
}

// Tab goes from widget to widget; Enter and Space press the one that has the keyboard.
bool App::take_focus_key(const KeyChanged& key) {
  const ImGuiIO& io = ImGui::GetIO();
  if (!key.down || io.KeyCtrl || io.KeyAlt) return false;
  if (key.key == ImGuiKey_Tab && !io.KeyShift && !items.completing.empty()) {
    items.complete = true;
    return true;
  }
  if (key.key == ImGuiKey_Tab) {
    items.move_focus(io.KeyShift ? -1 : 1);
    give_focus(items.focused.substr(0, items.focused.find('/')));
    return true;
  }
  const bool presses = key.key == ImGuiKey_Enter || key.key == ImGuiKey_Space;
  if (!presses || io.WantTextInput || !items.focus_visible || items.focused.empty()) return false;
  items.activate = true;
  return true;
}

void App::take_key(const KeyChanged& key) {
  ImGuiIO& io = ImGui::GetIO();
  if (key.key == ImGuiMod_Alt) take_alt(key.down);
  const bool modifier = key.key >= ImGuiKey_LeftCtrl && key.key <= ImGuiKey_RightSuper;
  if (key.down && !modifier && key.key < ImGuiKey_NamedKey_END) {
    alt_alone_ = false;
    items.keys_lead = true;
  }
  take_modifiers(io, key);
  const std::string hotkey = hotkey_of(key.key, io.KeyCtrl, io.KeyShift, io.KeyAlt);
  if (key.down && take_menu_key(hotkey)) return;
  if (take_focus_key(key)) return;
  io.AddKeyEvent(key.key, key.down);
  if (!key.down || moves_splitter(items, key.key)) return;
  // Bare letters come as text, whatever the keyboard's layout.
  if (hotkey.size() > 1) press(hotkey);
}

void App::take(const std::vector<InputEvent>& events) {
  ImGuiIO& io = ImGui::GetIO();
  for (const InputEvent& event : events) {
    if (const auto* moved = std::get_if<PointerMoved>(&event)) {
      io.AddMousePosEvent(moved->x, moved->y);
      items.keys_lead = false;
      if (moved->x >= 0) touched = moved->finger;  // what has left the window says nothing
      hint_due_ = backend.now() + kHintDelay;
    } else if (const auto* button = std::get_if<PointerButton>(&event)) {
      // ImGui lets a press of this kind wait a frame for the pointer that came with it, which has
      // to hover a widget before it can press it; a fast hand needs that as much as a finger.
      io.AddMouseSourceEvent(ImGuiMouseSource_TouchScreen);
      io.AddMouseButtonEvent(button->button, button->down);
      io.AddMouseSourceEvent(ImGuiMouseSource_Mouse);
      items.focus_visible = false;
      alt_alone_ = false;
    } else if (const auto* wheel = std::get_if<WheelTurned>(&event)) {
      io.AddMouseWheelEvent(wheel->x, wheel->y);
    } else if (const auto* key = std::get_if<KeyChanged>(&event)) {
      take_key(*key);
    } else if (const auto* typed = std::get_if<TextTyped>(&event)) {
      if (!menu.id.empty())
        (void)run("menu.find", typed->text);
      else if (!press(typed->text))
        io.AddInputCharactersUTF8(typed->text.c_str());
    } else if (const auto* file = std::get_if<FileGiven>(&event)) {
      open(file->path, file->bytes ? std::make_shared<const std::string>(*file->bytes) : nullptr);
    } else if (const auto* focus = std::get_if<FocusChanged>(&event)) {
      io.AddFocusEvent(focus->focused);
      alt_alone_ = false;
    } else if (std::holds_alternative<CloseWanted>(event)) {
      close();
    }
  }
}

}  // namespace recut::gui
