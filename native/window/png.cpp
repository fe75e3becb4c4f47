#include "native/window/png.h"

#define STB_IMAGE_WRITE_IMPLEMENTATION
#include <stb/stb_image_write.h>

namespace recut::native {

Result<Done> write_png(const std::string& path, int width, int height,
                       const std::vector<unsigned char>& pixels) {
  bool plain = true;
  for (std::size_t i = 3; i < pixels.size() && plain; ++i) plain = pixels[i] == pixels[i % 3];
  if (plain) return Diagnostic{"the picture is all of one colour", path, 0, 0};
  stbi_flip_vertically_on_write(1);
  if (stbi_write_png(path.c_str(), width, height, 3, pixels.data(), width * 3) == 0)
    return Diagnostic{"can't be written", path, 0, 0};
  return Done{};
}

}  // namespace recut::native
