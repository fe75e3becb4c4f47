// The desktop's files: the file system, built-in samples, and small texts in the user's
// configuration folder.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "gui/backend/backend.h"

namespace recut::native {

class DesktopFiles {
 public:
  Result<std::string> read(const std::string& path) const;
  // ONNX models; none for formats that the engine reads by itself.
  std::optional<Result<GraphFile>> read_model(const std::string& path, const std::string& bytes,
                                              const Dimensions& sizes) const;
  std::vector<std::string> open_dimensions(const std::string& path, const std::string& bytes) const;
  Result<Done> write(const std::string& path, std::string_view bytes) const;
  Result<std::string> write_folder(const std::string& folder,
                                   std::span<const BundleFile> files) const;
  Result<std::vector<gui::FolderEntry>> list(const std::string& folder) const;
  std::string home() const;  // the folder to look in first
  std::vector<std::string> samples() const;

  std::optional<std::string> load(const std::string& name) const;
  void store(const std::string& name, const std::string& text) const;
};

}  // namespace recut::native
