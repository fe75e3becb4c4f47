// GLFW's keys as ImGui names them.
#pragma once

#include <imgui.h>

namespace recut::native {

ImGuiKey key_of(int glfw_key);  // ImGuiKey_None for other keys

}  // namespace recut::native
