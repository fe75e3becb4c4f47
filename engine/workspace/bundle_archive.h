// One archive of a bundle, for platforms without folders.
#pragma once

#include <span>
#include <string>

#include "engine/workspace/debug_bundle.h"

namespace recut {

// The files below `folder` as a tar archive (ustar, uncompressed), scripts executable. Equal files
// make equal bytes: they have no owner, and the time 0. Fails on a path that the format can't hold.
Result<std::string> bundle_archive(const std::string& folder, std::span<const BundleFile> files);

}  // namespace recut
