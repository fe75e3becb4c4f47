#include "gui/backend/backend.h"

#include "engine/workspace/bundle_archive.h"

namespace recut::gui {

Result<std::string> Backend::write_folder(const std::string& folder,
                                          std::span<const BundleFile> files) {
  const auto archive = bundle_archive(file_name(folder), files);
  if (!archive) return archive.diagnostics();
  const std::string path = folder + ".tar";
  if (const auto written = write(path, *archive); !written) return written.diagnostics();
  return path;
}

}  // namespace recut::gui
