# Writes files as a table in C++; run by embed_bytes.cmake with OUT, NAME, FILES (separated by '|') and ROOT, the
# folder that names begin below; "": names have no folder.
string(REPLACE "|" ";" FILES "${FILES}")
set(arrays "")
set(rows "")
set(number 0)
foreach(path IN LISTS FILES)
  if(ROOT)
    file(RELATIVE_PATH name "${ROOT}" "${path}")
    string(REGEX REPLACE "\\.[^./]*$" "" name "${name}")
  else()
    get_filename_component(name "${path}" NAME_WE)
  endif()
  file(READ "${path}" bytes HEX)
  string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," bytes "${bytes}")
  string(APPEND arrays "constexpr unsigned char kBytes${number}[] = {${bytes}};\n")
  string(APPEND rows "    {\"${name}\", kBytes${number}},\n")
  math(EXPR number "${number} + 1")
endforeach()
file(WRITE "${OUT}"
"// Written by recut_embed_bytes.
#include \"gui/embedded.h\"

namespace recut::gui {
namespace {
${arrays}
constexpr EmbeddedFile kFiles[] = {
${rows}};
}  // namespace

std::span<const EmbeddedFile> ${NAME}() { return kFiles; }

}  // namespace recut::gui
")
