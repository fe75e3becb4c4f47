#include "native/window/keys.h"

#include <GLFW/glfw3.h>

#include <utility>

namespace recut::native {
namespace {

constexpr std::pair<int, ImGuiKey> kKeys[] = {
    {GLFW_KEY_TAB, ImGuiKey_Tab},
    {GLFW_KEY_LEFT, ImGuiKey_LeftArrow},
    {GLFW_KEY_RIGHT, ImGuiKey_RightArrow},
    {GLFW_KEY_UP, ImGuiKey_UpArrow},
    {GLFW_KEY_DOWN, ImGuiKey_DownArrow},
    {GLFW_KEY_PAGE_UP, ImGuiKey_PageUp},
    {GLFW_KEY_PAGE_DOWN, ImGuiKey_PageDown},
    {GLFW_KEY_HOME, ImGuiKey_Home},
    {GLFW_KEY_END, ImGuiKey_End},
    {GLFW_KEY_INSERT, ImGuiKey_Insert},
    {GLFW_KEY_DELETE, ImGuiKey_Delete},
    {GLFW_KEY_BACKSPACE, ImGuiKey_Backspace},
    {GLFW_KEY_SPACE, ImGuiKey_Space},
    {GLFW_KEY_ENTER, ImGuiKey_Enter},
    {GLFW_KEY_KP_ENTER, ImGuiKey_Enter},
    {GLFW_KEY_ESCAPE, ImGuiKey_Escape},
    {GLFW_KEY_COMMA, ImGuiKey_Comma},
    {GLFW_KEY_MINUS, ImGuiKey_Minus},
    {GLFW_KEY_KP_SUBTRACT, ImGuiKey_Minus},
    {GLFW_KEY_PERIOD, ImGuiKey_Period},
    {GLFW_KEY_SLASH, ImGuiKey_Slash},
    {GLFW_KEY_EQUAL, ImGuiKey_Equal},
    {GLFW_KEY_KP_ADD, ImGuiKey_Equal},
    {GLFW_KEY_LEFT_BRACKET, ImGuiKey_LeftBracket},
    {GLFW_KEY_RIGHT_BRACKET, ImGuiKey_RightBracket},
    {GLFW_KEY_LEFT_CONTROL, ImGuiKey_LeftCtrl},
    {GLFW_KEY_LEFT_SHIFT, ImGuiKey_LeftShift},
    {GLFW_KEY_LEFT_ALT, ImGuiKey_LeftAlt},
    {GLFW_KEY_RIGHT_CONTROL, ImGuiKey_RightCtrl},
    {GLFW_KEY_RIGHT_SHIFT, ImGuiKey_RightShift},
    {GLFW_KEY_RIGHT_ALT, ImGuiKey_RightAlt},
};

// Both enumerations count letters, digits and F-keys without gaps.
ImGuiKey in_row(int key, int first, int last, ImGuiKey named) {
  return key < first || key > last ? ImGuiKey_None : static_cast<ImGuiKey>(named + (key - first));
}

}  // namespace

ImGuiKey key_of(int key) {
  for (const auto& [glfw, named] : kKeys)
    if (glfw == key) return named;
  for (const ImGuiKey found : {in_row(key, GLFW_KEY_A, GLFW_KEY_Z, ImGuiKey_A),
                               in_row(key, GLFW_KEY_0, GLFW_KEY_9, ImGuiKey_0),
                               in_row(key, GLFW_KEY_F1, GLFW_KEY_F12, ImGuiKey_F1)})
    if (found != ImGuiKey_None) return found;
  return ImGuiKey_None;
}

}  // namespace recut::native
