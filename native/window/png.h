// Pictures of the window as PNG files.
#pragma once

#include <string>
#include <vector>

#include "engine/support/result.h"

namespace recut::native {

// Writes three bytes a pixel, rows from the bottom, as OpenGL gives them. Fails where the file
// can't be written, and where all pixels are the same: such a picture shows that nothing was drawn.
Result<Done> write_png(const std::string& path, int width, int height,
                       const std::vector<unsigned char>& pixels);

}  // namespace recut::native
