#include "gui/app/hotkey.h"

#include <algorithm>
#include <utility>

#include "gui/app/app.h"

namespace recut::gui {

std::string hotkey_of(ImGuiKey key, bool ctrl, bool shift, bool alt) {
  if (key >= ImGuiKey_LeftCtrl && key <= ImGuiKey_RightSuper) return {};
  std::string name = ImGui::GetKeyName(key);
  if (key == ImGuiKey_Equal) name = "=";
  if (key == ImGuiKey_Minus) name = "-";
  if (key == ImGuiKey_Comma) name = ",";
  return std::string(ctrl ? "Ctrl+" : "") + (alt ? "Alt+" : "") + (shift ? "Shift+" : "") + name;
}

std::string readable_hotkey(std::string_view hotkeys) {
  constexpr std::pair<std::string_view, std::string_view> kNames[] = {
      {"LeftArrow", "Left"}, {"RightArrow", "Right"}, {"UpArrow", "Up"},
      {"DownArrow", "Down"}, {"PageUp", "Page Up"},   {"PageDown", "Page Down"},
      {"Period", "."},       {"Escape", "Esc"},       {"KeypadEnter", "Enter"},
      {"LeftBracket", "["},  {"RightBracket", "]"}};
  std::string_view rest = hotkeys.substr(0, hotkeys.find(' '));
  std::string text;
  while (!rest.empty()) {
    const std::size_t plus = rest.size() > 1 ? rest.find('+', 1) : std::string_view::npos;
    std::string_view key = rest.substr(0, plus);
    rest = plus == std::string_view::npos ? std::string_view() : rest.substr(plus + 1);
    for (const auto& [name, shown] : kNames)
      if (key == name) key = shown;
    text += (text.empty() ? "" : " ") + std::string(key);
  }
  return text;
}

bool has_hotkey(std::string_view hotkeys, std::string_view requested) {
  for (std::size_t at = 0; at < hotkeys.size();) {
    const std::size_t end = std::min(hotkeys.find(' ', at), hotkeys.size());
    if (hotkeys.substr(at, end - at) == requested) return true;
    at = end + 1;
  }
  return false;
}

bool is_modified(std::string_view hotkey) {
  const bool function = hotkey.size() > 1 && hotkey.front() == 'F';
  return function || hotkey.find("Ctrl+") != std::string_view::npos ||
         hotkey.find("Alt+") != std::string_view::npos;
}

bool is_for_text(std::string_view hotkey) {
  for (const std::string_view edit : {"Ctrl+Z", "Ctrl+Y", "Ctrl+Shift+Z", "Ctrl+A", "Ctrl+C",
                                      "Ctrl+V", "Ctrl+X", "Ctrl+Delete", "Ctrl+Backspace"})
    if (hotkey == edit) return true;
  return !is_modified(hotkey) && hotkey != "Escape" && hotkey != "Alt";
}

bool is_taken(const App& app, std::string_view hotkey) {
  if (hotkey.empty()) return false;
  for (const std::string_view move :
       {"LeftArrow", "RightArrow", "UpArrow", "DownArrow", "PageUp", "PageDown", "Home", "End"})
    if (hotkey == move) return true;
  if (!app.items.active_field.empty() && is_for_text(hotkey)) return true;
  const std::vector<const Command*> commands = all_commands();
  return std::any_of(commands.begin(), commands.end(), [&](const Command* command) {
    return has_hotkey(command->hotkey, hotkey) &&
           (command->enabled == nullptr || command->enabled(app));
  });
}

}  // namespace recut::gui
