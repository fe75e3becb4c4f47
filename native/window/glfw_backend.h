// The window on the desktop: GLFW for window and input, OpenGL 3 for drawing, the file system for
// files.
#pragma once

#include <memory>

#include "gui/backend/backend.h"
#include "native/calibrated_profile.h"
#include "native/executors/cpu_executor.h"
#include "native/executors/cuda_executor.h"
#include "native/window/desktop_files.h"

struct GLFWwindow;

namespace recut::native {

struct WindowOptions {
  gui::Extent extent = {1680, 1050};  // of the content, in screen units
  float scale = 0;                    // 0: the screen's
  bool real_input = true;  // false: a script moves the pointer, and real input is ignored
};

class GlfwBackend : public gui::Backend {
 public:
  // Fails where there is no screen or no OpenGL 3.2.
  static Result<std::unique_ptr<GlfwBackend>> open(const WindowOptions& options);
  ~GlfwBackend() override;

  // Sleeps until there is input, another thread wakes it, or `seconds` have passed (none: without
  // a limit).
  void wait(std::optional<double> seconds);
  bool closing() const;

  gui::Extent extent() const override;
  float scale() const override;
  std::vector<gui::InputEvent> take_input() override;
  void upload_fonts(ImFontAtlas& atlas) override;
  void draw(const ImDrawData& data) override;
  void end_drawing() override;
  Result<Done> save_picture(const std::string& path) override;
  void set_title(const std::string& title) override;
  void set_cursor(ImGuiMouseCursor cursor) override;
  double now() const override;
  void wake() override;
  bool has_threads() const override { return true; }
  std::string calibrated_profile() const override { return find_calibrated_profile(); }
  std::vector<Executor*> executors() override {
    return {&processor_, &gpu_, &gpu_tf32_, &gpu_bf16_};
  }

  Result<std::string> read(const std::string& path) override { return files_.read(path); }
  std::optional<Result<GraphFile>> read_model(const std::string& path, const std::string& bytes,
                                              const Dimensions& sizes) override {
    return files_.read_model(path, bytes, sizes);
  }
  std::vector<std::string> open_dimensions(const std::string& path,
                                           const std::string& bytes) override {
    return files_.open_dimensions(path, bytes);
  }
  Result<Done> write(const std::string& path, std::string_view bytes) override {
    return files_.write(path, bytes);
  }
  Result<std::string> write_folder(const std::string& folder,
                                   std::span<const BundleFile> files) override {
    return files_.write_folder(folder, files);
  }
  std::vector<std::string> samples() const override { return files_.samples(); }
  Result<std::vector<gui::FolderEntry>> list(const std::string& folder) override {
    return files_.list(folder);
  }
  std::string home() const override { return files_.home(); }
  std::optional<std::string> load(const std::string& name) override { return files_.load(name); }
  void store(const std::string& name, const std::string& text) override {
    files_.store(name, text);
  }
  std::string clipboard() override;
  void set_clipboard(const std::string& text) override;

 private:
  GlfwBackend(GLFWwindow* window, const WindowOptions& options);
  void listen();

  GLFWwindow* window_;
  const WindowOptions options_;
  DesktopFiles files_;
  CpuExecutor processor_;
  std::shared_ptr<GpuAccess> access_ = std::make_shared<GpuAccess>();
  CudaExecutor gpu_{access_, cuda::Precision::f32}, gpu_tf32_{access_, cuda::Precision::tf32},
      gpu_bf16_{access_, cuda::Precision::bf16};
  std::vector<gui::InputEvent> input_;
  std::vector<unsigned char> pixels_;  // of the last frame, where a script may read them
  bool renderer_ready_ = false;
  int cursor_ = -1;
};

}  // namespace recut::native
