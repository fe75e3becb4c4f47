// Dear ImGui's settings; every file that sees ImGui sees them (IMGUI_USER_CONFIG).
#pragma once

// A drawing of 50,000 nodes has more than 65,536 corners, and WebGL 2 has no offsets of vertices.
#define ImDrawIdx unsigned int

// ImVec2 can be added and scaled.
#define IMGUI_DEFINE_MATH_OPERATORS

#define IMGUI_DISABLE_OBSOLETE_FUNCTIONS
#define IMGUI_DISABLE_DEMO_WINDOWS

// Files, the clipboard and the screen are the Backend's.
#define IMGUI_DISABLE_FILE_FUNCTIONS
#define IMGUI_DISABLE_WIN32_FUNCTIONS
