// GLFW's keys as ImGui names them.
#pragma once

#include <imgui.h>

namespace recut::native {

ImGuiKey key_of(int glfw_key);  // ImGuiKey_None for keys that nothing listens to

}  // namespace recut::native
