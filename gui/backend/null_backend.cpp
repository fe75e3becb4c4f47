#include "gui/backend/null_backend.h"

#include <fmt/core.h>

#include <algorithm>
#include <utility>

#include "engine/input/bytes.h"

namespace recut::gui {

std::vector<InputEvent> NullBackend::take_input() { return std::exchange(input_, {}); }

// ImGui requires the texture to be made, even if no one draws it.
void NullBackend::upload_fonts(ImFontAtlas& atlas) {
  unsigned char* pixels = nullptr;
  int width = 0, height = 0;
  atlas.GetTexDataAsRGBA32(&pixels, &width, &height);
}

void NullBackend::draw(const ImDrawData& data) {
  ++frames_drawn;
  vertices = data.TotalVtxCount;
}

Result<std::string> NullBackend::read(const std::string& path) {
  const auto found = files.find(path);
  return found != files.end() ? Result<std::string>(found->second) : read_file(path);
}

bool NullBackend::has_to_be_given(const std::string& path) const {
  return !by_name && !is_sample(path);
}

std::optional<Result<GraphFile>> NullBackend::read_model(const std::string& path,
                                                         const std::string& bytes,
                                                         const Dimensions& sizes) {
  if (models != nullptr) return models->read_model(path, bytes, sizes);
  return Backend::read_model(path, bytes, sizes);
}

std::vector<std::string> NullBackend::open_dimensions(const std::string& path,
                                                      const std::string& bytes) {
  return models != nullptr ? models->open_dimensions(path, bytes)
                           : Backend::open_dimensions(path, bytes);
}

Result<Done> NullBackend::write(const std::string& path, std::string_view bytes) {
  files[path] = std::string(bytes);
  return Done{};
}

Result<std::string> NullBackend::write_folder(const std::string& folder,
                                              std::span<const BundleFile> written) {
  if (!has_folders) return Backend::write_folder(folder, written);
  for (const BundleFile& file : written) files[folder + "/" + file.path] = file.bytes;
  return folder;
}

std::vector<std::string> NullBackend::samples() const {
  std::vector<std::string> names;
  for (const auto& [path, bytes] : files)
    if (is_sample(path)) names.push_back(sample_name(path));
  return names;
}

Result<std::vector<FolderEntry>> NullBackend::list(const std::string& folder) {
  std::vector<FolderEntry> entries;
  const std::string prefix = folder.empty() || folder.back() == '/' ? folder : folder + "/";
  for (const auto& [path, bytes] : files) {
    if (path.rfind(prefix, 0) != 0 || is_sample(path)) continue;
    const std::size_t slash = path.find('/', prefix.size());
    const std::string name = path.substr(prefix.size(), slash - prefix.size());
    const bool is_folder = slash != std::string::npos;
    if (entries.empty() || entries.back().name != name)
      entries.push_back({name, is_folder, is_folder ? 0 : static_cast<std::int64_t>(bytes.size())});
  }
  std::stable_partition(entries.begin(), entries.end(), [](const auto& one) { return one.folder; });
  if (entries.empty()) return error(fmt::format("no folder {}", folder));
  return entries;
}

std::optional<std::string> NullBackend::load(const std::string& name) {
  const auto found = stored.find(name);
  return found == stored.end() ? std::nullopt : std::optional<std::string>(found->second);
}

void NullBackend::resize(Extent extent, float scale) {
  extent_ = extent;
  scale_ = scale;
  give(SizeChanged{});
}

}  // namespace recut::gui
