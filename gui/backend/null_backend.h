// A backend without a window: a size, a clock that a test moves, a clipboard in memory, files in
// memory, input as a test gives it. Drawings are counted and thrown away.
#pragma once

#include <map>

#include "gui/backend/backend.h"

namespace recut::gui {

class NullBackend : public Backend {
 public:
  explicit NullBackend(Extent extent = {1680, 1050}, float scale = 1)
      : extent_(extent), scale_(scale) {}

  Extent extent() const override { return extent_; }
  float scale() const override { return scale_; }
  std::vector<InputEvent> take_input() override;
  void upload_fonts(ImFontAtlas& atlas) override;
  void draw(const ImDrawData& data) override;
  double now() const override { return seconds_; }
  bool has_fingers() const override { return fingers; }
  Helper* helper() override { return helping; }
  std::string calibrated_profile() const override { return calibrated; }
  std::vector<Executor*> executors() override { return running; }
  void wake() override { ++wakes; }

  // Reads a file of files(), else one of the file system.
  Result<std::string> read(const std::string& path) override;
  bool has_to_be_given(const std::string& path) const override;
  bool has_reader(const std::string&) override { return reader_there; }
  std::optional<Result<GraphFile>> read_model(const std::string& path, const std::string& bytes,
                                              const Dimensions& sizes) override;
  std::vector<std::string> open_dimensions(const std::string& path,
                                           const std::string& bytes) override;
  Result<Done> write(const std::string& path, std::string_view bytes) override;
  Result<std::string> write_folder(const std::string& folder,
                                   std::span<const BundleFile> written) override;
  std::vector<std::string> samples() const override;  // files whose path begins with "sample:"
  Result<std::vector<FolderEntry>> list(const std::string& folder) override;
  std::optional<std::string> load(const std::string& name) override;
  void store(const std::string& name, const std::string& text) override { stored[name] = text; }
  std::string clipboard() override { return clipboard_; }
  void set_clipboard(const std::string& text) override { clipboard_ = text; }

  void give(InputEvent event) { input_.push_back(std::move(event)); }
  void pass(double seconds) { seconds_ += seconds; }
  void resize(Extent extent, float scale);

  std::map<std::string, std::string> files;   // by path
  std::map<std::string, std::string> stored;  // by name
  bool has_folders = true;                    // a page has none
  bool by_name = true;                        // files are read by their names; a page's aren't
  Backend* models = nullptr;                  // the reader of models; null: none
  bool reader_there = true;                   // a page fetches it when the first model is opened
  Helper* helping = nullptr;                  // none, unless a reader is set
  std::vector<Executor*> running;
  std::string calibrated;  // empty: no profile was measured
  bool fingers = false;    // as on a phone
  int frames_drawn = 0;
  int vertices = 0;  // of the last frame
  int wakes = 0;

 private:
  Extent extent_;
  float scale_;
  double seconds_ = 0;
  std::string clipboard_;
  std::vector<InputEvent> input_;
};

}  // namespace recut::gui
