// Maps the DOM's key names (KeyboardEvent.code) to ImGui's keys.
#pragma once

#include <imgui.h>

#include <string_view>

namespace recut::page {

ImGuiKey key_of(std::string_view code);  // ImGuiKey_None for other keys

}  // namespace recut::page
