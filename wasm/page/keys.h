// Keys as the DOM names them (KeyboardEvent.code), as ImGui's.
#pragma once

#include <imgui.h>

#include <string_view>

namespace recut::page {

ImGuiKey key_of(std::string_view code);  // ImGuiKey_None for keys that nothing listens to

}  // namespace recut::page
