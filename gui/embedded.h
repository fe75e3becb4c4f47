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
std::span<const EmbeddedFile> embedded_lessons();  // "en/kept": the folder is a part of the name
std::span<const EmbeddedFile> embedded_graphs();   // the small graphs of samples/
std::span<const EmbeddedFile> embedded_sample_facts();  // samples/samples.txt
std::span<const EmbeddedFile> embedded_curves();        // samples/curves, by their samples' names

}  // namespace recut::gui
