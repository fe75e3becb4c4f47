#include "native/window/desktop_files.h"

#include <fmt/core.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "engine/input/bytes.h"
#include "engine/input/graph_file_reader.h"
#include "engine/onnx/read_onnx.h"
#include "gui/backend/paths.h"
#include "gui/embedded.h"
#include "native/written_files.h"

namespace recut::gui {
std::span<const EmbeddedFile> embedded_samples();  // written by the build
}

namespace recut::native {
namespace {

namespace fs = std::filesystem;

// The folder of user settings ($XDG_CONFIG_HOME, else ~/.config); empty where there is none.
fs::path settings_folder() {
  const char* config = std::getenv("XDG_CONFIG_HOME");
  if (config != nullptr && *config != 0) return fs::path(config) / "recut";
  const char* home = std::getenv("HOME");
  return home != nullptr && *home != 0 ? fs::path(home) / ".config" / "recut" : fs::path();
}

}  // namespace

Result<std::string> DesktopFiles::read(const std::string& path) const {
  if (!gui::is_sample(path)) return read_graph_file_bytes(path);
  for (const gui::EmbeddedFile& file : gui::embedded_samples())
    if (file.name == gui::sample_name(path))
      return std::string(file.bytes.begin(), file.bytes.end());
  return error(fmt::format("no sample '{}'", gui::sample_name(path)));
}

std::optional<Result<GraphFile>> DesktopFiles::read_model(const std::string& path,
                                                          const std::string& bytes,
                                                          const Dimensions& sizes) const {
  if (!onnx::is_onnx_name(path)) return std::nullopt;
  onnx::Options options;
  options.dimensions = sizes;
  return onnx::read_onnx(bytes, path, options);
}

std::vector<std::string> DesktopFiles::open_dimensions(const std::string& path,
                                                       const std::string& bytes) const {
  return onnx::is_onnx_name(path) ? onnx::open_dimensions(bytes) : std::vector<std::string>();
}

Result<Done> DesktopFiles::write(const std::string& path, std::string_view bytes) const {
  std::ofstream file(path, std::ios::binary | std::ios::trunc);
  file.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  file.close();
  if (!file) return Diagnostic{"can't be written", path, 0, 0};
  return Done{};
}

Result<std::string> DesktopFiles::write_folder(const std::string& folder,
                                               std::span<const BundleFile> files) const {
  if (const auto written = native::write_folder(folder, files); !written)
    return written.diagnostics();
  return folder;
}

Result<std::vector<gui::FolderEntry>> DesktopFiles::list(const std::string& folder) const {
  std::error_code failure;
  std::vector<gui::FolderEntry> entries;
  fs::directory_iterator it(folder, fs::directory_options::skip_permission_denied, failure);
  if (failure) return Diagnostic{failure.message(), folder, 0, 0};
  for (; it != fs::directory_iterator(); it.increment(failure)) {
    if (failure) break;
    std::error_code unknown;
    const bool is_folder = it->is_directory(unknown);
    const auto bytes = is_folder ? 0 : it->file_size(unknown);
    entries.push_back({it->path().filename().string(), is_folder,
                       unknown ? 0 : static_cast<std::int64_t>(bytes)});
  }
  std::sort(entries.begin(), entries.end(), [](const auto& a, const auto& b) {
    return a.folder != b.folder ? a.folder : a.name < b.name;
  });
  return entries;
}

std::string DesktopFiles::home() const {
  std::error_code failure;
  return fs::current_path(failure).string();
}

std::vector<std::string> DesktopFiles::samples() const {
  std::vector<std::string> names;
  for (const gui::EmbeddedFile& file : gui::embedded_samples()) names.emplace_back(file.name);
  return names;
}

std::optional<std::string> DesktopFiles::load(const std::string& name) const {
  const fs::path folder = settings_folder();
  if (folder.empty()) return std::nullopt;
  const auto text = read_file((folder / (name + ".json")).string());
  return text ? std::optional<std::string>(*text) : std::nullopt;
}

// Writes a temporary file and renames it, so that a full disk or a crash leaves the old one.
void DesktopFiles::store(const std::string& name, const std::string& text) const {
  const fs::path folder = settings_folder();
  if (folder.empty()) return;
  std::error_code failure;
  fs::create_directories(folder, failure);
  const fs::path target = folder / (name + ".json"), beside = folder / (name + ".json.new");
  if (write(beside.string(), text)) fs::rename(beside, target, failure);
}

}  // namespace recut::native
