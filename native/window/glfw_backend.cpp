// The desktop backend: GLFW's callbacks become input events, ImGui's draw data goes to OpenGL 3.
// Without real input (scripts) it doesn't wait for the display and keeps each frame's pixels, which
// OpenGL leaves undefined after a swap. Positions are converted from GLFW's screen units to pixels.
#include "native/window/glfw_backend.h"

#include <GLFW/glfw3.h>
#include <fmt/core.h>
#include <imgui_impl_opengl3.h>
#define STB_IMAGE_WRITE_IMPLEMENTATION
#include <stb/stb_image_write.h>

#include <algorithm>
#include <string>

#include "native/window/keys.h"

namespace recut::native {
namespace {

std::string last_error;  // GLFW's latest error

// One code point as UTF-8.
std::string utf8_of(unsigned code) {
  const auto tail = [&](int shift) { return static_cast<char>(0x80 | ((code >> shift) & 0x3f)); };
  if (code < 0x80) return {static_cast<char>(code)};
  if (code < 0x800) return {static_cast<char>(0xc0 | (code >> 6)), tail(0)};
  if (code < 0x10000) return {static_cast<char>(0xe0 | (code >> 12)), tail(6), tail(0)};
  return {static_cast<char>(0xf0 | (code >> 18)), tail(12), tail(6), tail(0)};
}

// Writes a PNG of three bytes a pixel, rows from the bottom, as OpenGL gives them. Fails where the
// file can't be written, and where all pixels are the same: such a picture shows that nothing was
// drawn.
Result<Done> write_png(const std::string& path, int width, int height,
                       const std::vector<unsigned char>& pixels) {
  bool plain = true;
  for (std::size_t i = 3; i < pixels.size() && plain; ++i) plain = pixels[i] == pixels[i % 3];
  if (plain) return Diagnostic{"the picture is all of one colour", path, 0, 0};
  stbi_flip_vertically_on_write(1);
  if (stbi_write_png(path.c_str(), width, height, 3, pixels.data(), width * 3) == 0)
    return Diagnostic{"can't be written", path, 0, 0};
  return Done{};
}

std::vector<gui::InputEvent>& events_of(GLFWwindow* window) {
  return *static_cast<std::vector<gui::InputEvent>*>(glfwGetWindowUserPointer(window));
}

// GLFW's positions are in screen units, which aren't pixels on every system.
void on_pointer(GLFWwindow* window, double x, double y) {
  int width = 1, height = 1, pixels_wide = 1, pixels_high = 1;
  glfwGetWindowSize(window, &width, &height);
  glfwGetFramebufferSize(window, &pixels_wide, &pixels_high);
  const auto scaled = [](double at, int pixels, int units) {
    return static_cast<float>(at * pixels / std::max(1, units));
  };
  events_of(window).push_back(
      gui::PointerMoved{scaled(x, pixels_wide, width), scaled(y, pixels_high, height)});
}

void on_key(GLFWwindow* window, int key, int, int action, int mods) {
  auto& events = events_of(window);
  const bool down = action != GLFW_RELEASE;
  const auto held = [&](int bit, int left, int right) {
    // For the key itself, GLFW reports the modifiers from before the event.
    return key == left || key == right ? down : (mods & bit) != 0;
  };
  events.push_back(gui::KeyChanged{
      ImGuiMod_Ctrl, held(GLFW_MOD_CONTROL, GLFW_KEY_LEFT_CONTROL, GLFW_KEY_RIGHT_CONTROL)});
  events.push_back(gui::KeyChanged{
      ImGuiMod_Shift, held(GLFW_MOD_SHIFT, GLFW_KEY_LEFT_SHIFT, GLFW_KEY_RIGHT_SHIFT)});
  events.push_back(
      gui::KeyChanged{ImGuiMod_Alt, held(GLFW_MOD_ALT, GLFW_KEY_LEFT_ALT, GLFW_KEY_RIGHT_ALT)});
  const ImGuiKey named = key_of(key);
  if (named != ImGuiKey_None) events.push_back(gui::KeyChanged{named, down});
}

void on_drop(GLFWwindow* window, int count, const char** paths) {
  for (int i = 0; i < count; ++i)
    events_of(window).push_back(gui::FileGiven{paths[i], std::nullopt});
}

GLFWwindow* make_window(const WindowOptions& options) {
  glfwWindowHint(GLFW_CONTEXT_VERSION_MAJOR, 3);
  glfwWindowHint(GLFW_CONTEXT_VERSION_MINOR, 2);
  glfwWindowHint(GLFW_OPENGL_PROFILE, GLFW_OPENGL_CORE_PROFILE);
  glfwWindowHint(GLFW_OPENGL_FORWARD_COMPAT, GLFW_TRUE);
  glfwWindowHintString(GLFW_X11_CLASS_NAME, "recut");
  return glfwCreateWindow(options.extent.width, options.extent.height, "Recut", nullptr, nullptr);
}

}  // namespace

Result<std::unique_ptr<GlfwBackend>> GlfwBackend::open(const WindowOptions& options) {
  glfwSetErrorCallback([](int, const char* message) { last_error = message; });
  GLFWwindow* window = glfwInit() == GLFW_TRUE ? make_window(options) : nullptr;
  if (window == nullptr) {
    glfwTerminate();
    return error(fmt::format("no window can be opened: {}", last_error));
  }
  glfwMakeContextCurrent(window);
  glfwSwapInterval(options.real_input ? 1 : 0);
  return std::unique_ptr<GlfwBackend>(new GlfwBackend(window, options));
}

GlfwBackend::GlfwBackend(GLFWwindow* window, const WindowOptions& options)
    : window_(window), options_(options) {
  glfwSetWindowUserPointer(window_, &input_);
  listen();
}

GlfwBackend::~GlfwBackend() {
  glfwDestroyWindow(window_);
  glfwTerminate();
}

void GlfwBackend::listen() {
  const auto changed = [](GLFWwindow* window) { events_of(window).push_back(gui::SizeChanged{}); };
  glfwSetFramebufferSizeCallback(window_, [](GLFWwindow* window, int, int) {
    events_of(window).push_back(gui::SizeChanged{});
  });
  glfwSetWindowRefreshCallback(window_, changed);
  glfwSetWindowContentScaleCallback(window_, [](GLFWwindow* window, float, float) {
    events_of(window).push_back(gui::SizeChanged{});
  });
  if (!options_.real_input) return;
  glfwSetCursorPosCallback(window_, on_pointer);
  glfwSetMouseButtonCallback(window_, [](GLFWwindow* window, int button, int action, int) {
    if (button <= GLFW_MOUSE_BUTTON_MIDDLE)
      events_of(window).push_back(gui::PointerButton{button, action == GLFW_PRESS});
  });
  glfwSetScrollCallback(window_, [](GLFWwindow* window, double x, double y) {
    events_of(window).push_back(gui::WheelTurned{static_cast<float>(x), static_cast<float>(y)});
  });
  glfwSetKeyCallback(window_, on_key);
  glfwSetCharCallback(window_, [](GLFWwindow* window, unsigned code) {
    events_of(window).push_back(gui::TextTyped{utf8_of(code)});
  });
  glfwSetDropCallback(window_, on_drop);
  glfwSetWindowFocusCallback(window_, [](GLFWwindow* window, int focused) {
    events_of(window).push_back(gui::FocusChanged{focused == GLFW_TRUE});
  });
  glfwSetCursorEnterCallback(window_, [](GLFWwindow* window, int entered) {
    if (entered == GLFW_FALSE) events_of(window).push_back(gui::PointerMoved{-1e6f, -1e6f});
  });
}

void GlfwBackend::wait(std::optional<double> seconds) {
  if (!input_.empty()) return;
  if (!seconds) {
    glfwWaitEvents();
  } else if (*seconds > 0) {
    glfwWaitEventsTimeout(*seconds);
  } else {
    glfwPollEvents();
  }
}

bool GlfwBackend::closing() const { return glfwWindowShouldClose(window_) != 0; }

gui::Extent GlfwBackend::extent() const {
  gui::Extent extent;
  glfwGetFramebufferSize(window_, &extent.width, &extent.height);
  return {std::max(1, extent.width), std::max(1, extent.height)};
}

float GlfwBackend::scale() const {
  if (options_.scale > 0) return options_.scale;
  float x = 1, y = 1;
  glfwGetWindowContentScale(window_, &x, &y);
  return std::clamp(x, 1.0f, 3.0f);
}

std::vector<gui::InputEvent> GlfwBackend::take_input() { return std::exchange(input_, {}); }

void GlfwBackend::upload_fonts(ImFontAtlas&) {
  if (!renderer_ready_) {
    renderer_ready_ = ImGui_ImplOpenGL3_Init("#version 150");
    ImGui_ImplOpenGL3_NewFrame();  // makes the shader program and the texture
    return;
  }
  ImGui_ImplOpenGL3_DestroyFontsTexture();
  ImGui_ImplOpenGL3_CreateFontsTexture();
}

void GlfwBackend::end_drawing() {
  if (renderer_ready_) ImGui_ImplOpenGL3_Shutdown();
  renderer_ready_ = false;
}

void GlfwBackend::draw(const ImDrawData& data) {
  const gui::Extent size = extent();
  glViewport(0, 0, size.width, size.height);
  glClearColor(0, 0, 0, 1);
  glClear(GL_COLOR_BUFFER_BIT);
  ImGui_ImplOpenGL3_RenderDrawData(const_cast<ImDrawData*>(&data));
  // The back buffer is undefined after the swap, so pixels are read before it.
  if (!options_.real_input) {
    pixels_.resize(static_cast<std::size_t>(size.width) * static_cast<std::size_t>(size.height) *
                   3);
    glPixelStorei(GL_PACK_ALIGNMENT, 1);
    glReadPixels(0, 0, size.width, size.height, GL_RGB, GL_UNSIGNED_BYTE, pixels_.data());
  }
  glfwSwapBuffers(window_);
}

Result<Done> GlfwBackend::save_picture(const std::string& path) {
  const gui::Extent size = extent();
  if (pixels_.size() !=
      static_cast<std::size_t>(size.width) * static_cast<std::size_t>(size.height) * 3)
    return error("nothing was drawn at this size yet");
  return write_png(path, size.width, size.height, pixels_);
}

void GlfwBackend::set_title(const std::string& title) {
  glfwSetWindowTitle(window_, title.c_str());
}

void GlfwBackend::set_cursor(ImGuiMouseCursor cursor) {
  if (cursor == cursor_) return;
  cursor_ = cursor;
  static GLFWcursor* const shapes[] = {
      glfwCreateStandardCursor(GLFW_ARROW_CURSOR), glfwCreateStandardCursor(GLFW_IBEAM_CURSOR),
      glfwCreateStandardCursor(GLFW_HRESIZE_CURSOR), glfwCreateStandardCursor(GLFW_VRESIZE_CURSOR),
      glfwCreateStandardCursor(GLFW_HAND_CURSOR)};
  const int shape = cursor == ImGuiMouseCursor_TextInput  ? 1
                    : cursor == ImGuiMouseCursor_ResizeEW ? 2
                    : cursor == ImGuiMouseCursor_ResizeNS ? 3
                    : cursor == ImGuiMouseCursor_Hand     ? 4
                                                          : 0;
  glfwSetCursor(window_, shapes[shape]);
}

double GlfwBackend::now() const { return glfwGetTime(); }
void GlfwBackend::wake() { glfwPostEmptyEvent(); }

std::string GlfwBackend::clipboard() {
  const char* text = glfwGetClipboardString(window_);
  return text != nullptr ? text : "";
}

void GlfwBackend::set_clipboard(const std::string& text) {
  glfwSetClipboardString(window_, text.c_str());
}

}  // namespace recut::native
