#include "wasm/page/keys.h"

#include <cstdlib>
#include <string>
#include <utility>

namespace recut::page {
namespace {

constexpr std::pair<std::string_view, ImGuiKey> kKeys[] = {
    {"Tab", ImGuiKey_Tab},
    {"ArrowLeft", ImGuiKey_LeftArrow},
    {"ArrowRight", ImGuiKey_RightArrow},
    {"ArrowUp", ImGuiKey_UpArrow},
    {"ArrowDown", ImGuiKey_DownArrow},
    {"PageUp", ImGuiKey_PageUp},
    {"PageDown", ImGuiKey_PageDown},
    {"Home", ImGuiKey_Home},
    {"End", ImGuiKey_End},
    {"Insert", ImGuiKey_Insert},
    {"Delete", ImGuiKey_Delete},
    {"Backspace", ImGuiKey_Backspace},
    {"Space", ImGuiKey_Space},
    {"Enter", ImGuiKey_Enter},
    {"NumpadEnter", ImGuiKey_Enter},
    {"Escape", ImGuiKey_Escape},
    {"Comma", ImGuiKey_Comma},
    {"Minus", ImGuiKey_Minus},
    {"NumpadSubtract", ImGuiKey_Minus},
    {"Period", ImGuiKey_Period},
    {"Slash", ImGuiKey_Slash},
    {"Equal", ImGuiKey_Equal},
    {"NumpadAdd", ImGuiKey_Equal},
    {"BracketLeft", ImGuiKey_LeftBracket},
    {"BracketRight", ImGuiKey_RightBracket},
    {"ControlLeft", ImGuiKey_LeftCtrl},
    {"ShiftLeft", ImGuiKey_LeftShift},
    {"AltLeft", ImGuiKey_LeftAlt},
    {"ControlRight", ImGuiKey_RightCtrl},
    {"ShiftRight", ImGuiKey_RightShift},
    {"AltRight", ImGuiKey_RightAlt},
};

// The key of a code in a row without gaps: "KeyQ" is 16 keys after "KeyA".
ImGuiKey in_row(std::string_view code, std::string_view before, char first, char last,
                ImGuiKey named) {
  if (code.size() != before.size() + 1 || code.substr(0, before.size()) != before)
    return ImGuiKey_None;
  const char c = code.back();
  return c < first || c > last ? ImGuiKey_None : static_cast<ImGuiKey>(named + (c - first));
}

ImGuiKey function_key(std::string_view code) {
  if (code.size() < 2 || code.front() != 'F') return ImGuiKey_None;
  const int number = std::atoi(std::string(code.substr(1)).c_str());
  return number < 1 || number > 12 ? ImGuiKey_None
                                   : static_cast<ImGuiKey>(ImGuiKey_F1 + (number - 1));
}

}  // namespace

ImGuiKey key_of(std::string_view code) {
  for (const auto& [name, key] : kKeys)
    if (name == code) return key;
  for (const ImGuiKey found : {in_row(code, "Key", 'A', 'Z', ImGuiKey_A),
                               in_row(code, "Digit", '0', '9', ImGuiKey_0), function_key(code)})
    if (found != ImGuiKey_None) return found;
  return ImGuiKey_None;
}

}  // namespace recut::page
