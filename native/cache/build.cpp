#include "native/cache/build.h"

#include <elf.h>
#include <fmt/format.h>
#include <link.h>

#include <cstring>
#include <span>

#include "engine/support/check.h"
#include "engine/support/version.h"

namespace recut::cache {
namespace {

// The build id among an object's ELF notes, in hexadecimal, or "".
std::string id_among(std::span<const std::byte> notes) {
  while (notes.size() >= sizeof(ElfW(Nhdr))) {
    ElfW(Nhdr) note;
    std::memcpy(&note, notes.data(), sizeof note);
    const std::size_t name = sizeof note, id = name + (note.n_namesz + 3) / 4 * 4;
    const std::size_t end = id + (note.n_descsz + 3) / 4 * 4;
    if (end > notes.size()) break;
    const bool gnu = note.n_namesz == 4 && std::memcmp(notes.data() + name, "GNU", 4) == 0;
    if (gnu && note.n_type == NT_GNU_BUILD_ID) {
      const auto* bytes = reinterpret_cast<const unsigned char*>(notes.data() + id);
      return fmt::format("{:02x}", fmt::join(bytes, bytes + note.n_descsz, ""));
    }
    notes = notes.subspan(end);
  }
  return "";
}

// The build id of the loaded object that contains this code.
std::string build_id() {
  std::string id;
  dl_iterate_phdr(
      [](dl_phdr_info* object, std::size_t, void* found) {
        bool ours = false;
        std::string own;
        for (int i = 0; i < object->dlpi_phnum; ++i) {
          const ElfW(Phdr)& part = object->dlpi_phdr[i];
          const ElfW(Addr) begin = object->dlpi_addr + part.p_vaddr;
          const auto here = reinterpret_cast<ElfW(Addr)>(&this_build);
          ours |= part.p_type == PT_LOAD && here >= begin && here - begin < part.p_memsz;
          if (part.p_type == PT_NOTE && own.empty())
            // NOLINTNEXTLINE: addresses are numbers to ELF.
            own = id_among({reinterpret_cast<const std::byte*>(begin), part.p_memsz});
        }
        if (ours) *static_cast<std::string*>(found) = own;
        return ours ? 1 : 0;
      },
      &id);
  return id;
}

}  // namespace

const std::string& this_build() {
  static const std::string build = [] {
    const std::string id = build_id();
    RECUT_CHECK(!id.empty(), "the program is linked with a build id");
    return fmt::format("{} ({})", version(), id);
  }();
  return build;
}

}  // namespace recut::cache
