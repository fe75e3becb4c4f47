// Files that commands and the window write.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "engine/support/result.h"
#include "engine/workspace/debug_bundle.h"

namespace recut::native {

// Writes a file, and makes its folder where there is none.
Result<Done> write_file(const std::string& path, std::string_view bytes);

// Writes files into a folder, scripts executable.
Result<Done> write_folder(const std::string& folder, std::span<const BundleFile> files);

}  // namespace recut::native
