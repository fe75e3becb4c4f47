#include "wasm/page/screen.h"

#include <GLES3/gl3.h>
#include <emscripten/html5.h>
#include <imgui_impl_opengl3.h>

namespace recut::page {

Screen::Screen() {
  EmscriptenWebGLContextAttributes wanted;
  emscripten_webgl_init_context_attributes(&wanted);
  wanted.majorVersion = 2;
  wanted.alpha = wanted.depth = wanted.stencil = wanted.antialias = false;
  context_ = static_cast<int>(emscripten_webgl_create_context("#screen", &wanted));
  if (works()) emscripten_webgl_make_context_current(context_);
}

void Screen::upload_fonts() {
  if (!works()) return;
  if (!ready_) {
    ready_ = ImGui_ImplOpenGL3_Init("#version 300 es");
    ImGui_ImplOpenGL3_NewFrame();  // makes the shader program and the texture
    return;
  }
  ImGui_ImplOpenGL3_DestroyFontsTexture();
  if (!lost_) ImGui_ImplOpenGL3_CreateFontsTexture();
}

void Screen::draw(const ImDrawData& data) {
  if (!ready_ || lost_) return;
  glViewport(0, 0, extent_.width, extent_.height);
  glClearColor(0, 0, 0, 1);
  glClear(GL_COLOR_BUFFER_BIT);
  ImGui_ImplOpenGL3_RenderDrawData(const_cast<ImDrawData*>(&data));
}

void Screen::restore() {
  lost_ = false;
  if (!ready_) return;
  ImGui_ImplOpenGL3_DestroyDeviceObjects();
  ImGui_ImplOpenGL3_CreateDeviceObjects();
}

void Screen::end() {
  if (ready_) ImGui_ImplOpenGL3_Shutdown();
  ready_ = false;
}

}  // namespace recut::page
