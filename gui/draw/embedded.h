// Files that are part of the program; the build writes the tables (.setup/cmake/embed_bytes.cmake).
#pragma once

#include <span>
#include <string_view>

namespace recut::gui {

struct EmbeddedFile {
  std::string_view name;  // without folder and ending
  std::span<const unsigned char> bytes;
};

std::span<const EmbeddedFile> embedded_fonts();

}  // namespace recut::gui
