// The window's Backend in a browser. Events come from the page's scripts through exports.cpp;
// requests of the window go out through bridge.h.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "gui/backend/backend.h"
#include "wasm/page/models.h"
#include "wasm/page/page_helper.h"
#include "wasm/page/screen.h"
#include "wasm/step/page_executor.h"

namespace recut::page {

class PageBackend : public gui::Backend {
 public:
  gui::Extent extent() const override { return screen.extent(); }
  float scale() const override { return scale_; }
  std::vector<gui::InputEvent> take_input() override;
  void upload_fonts(ImFontAtlas&) override { screen.upload_fonts(); }
  void draw(const ImDrawData& data) override;
  void end_drawing() override { screen.end(); }
  // Saves the picture with the next frame.
  Result<Done> save_picture(const std::string& path) override;
  void set_title(const std::string& title) override;
  void set_cursor(ImGuiMouseCursor cursor) override;
  bool prefers_dark() const override { return dark_; }
  bool has_fingers() const override { return fingers_; }
  double now() const override;
  gui::Helper* helper() override { return &helping; }
  std::vector<Executor*> executors() override { return {&executor_}; }
  void wake() override;

  // A page can read its samples, and files of the user while they are held.
  bool can_read(const std::string& path) override;
  bool has_to_be_given(const std::string& path) const override;
  Result<std::string> read(const std::string& path) override;
  bool has_reader(const std::string& path) override { return !awaits_reader(path); }
  std::optional<Result<GraphFile>> read_model(const std::string& path, const std::string& bytes,
                                              const Dimensions& sizes) override {
    return page::read_model(path, bytes, sizes);
  }
  std::vector<std::string> open_dimensions(const std::string& path,
                                           const std::string& bytes) override {
    return page::open_dimensions(path, bytes);
  }
  Result<Done> write(const std::string& path, std::string_view bytes) override;
  std::vector<std::string> samples() const override;
  bool ask_for_file() override;
  Result<std::vector<gui::FolderEntry>> list(const std::string& folder) override;
  std::optional<std::string> load(const std::string& name) override;
  void store(const std::string& name, const std::string& text) override;
  std::string clipboard() override { return clipboard_; }
  void set_clipboard(const std::string& text) override;

  void give(gui::InputEvent event);
  void resize(gui::Extent extent, float scale);
  void prefer_dark(bool dark);
  void use_fingers(bool fingers);
  void give_sample(const std::string& name, Result<std::string> bytes);
  // Keeps a file by its name, to be read again or found beside the next one. Above the limit the
  // oldest are dropped.
  void hold(const std::string& name, std::string bytes);
  void give_clipboard(std::string text) { clipboard_ = std::move(text); }

  Screen screen;
  PageHelper helping;

 private:
  step::PageExecutor executor_;
  float scale_ = 1;
  bool dark_ = true, fingers_ = false;
  std::vector<gui::InputEvent> input_;
  std::map<std::string, std::optional<Result<std::string>>> samples_;  // none: being fetched
  std::vector<std::pair<std::string, std::string>> held_;  // names and bytes, oldest first
  std::string clipboard_, picture_, title_;
  ImGuiMouseCursor cursor_ = ImGuiMouseCursor_Arrow;
};

}  // namespace recut::page
