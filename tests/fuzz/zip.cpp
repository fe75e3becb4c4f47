// Zip archives under hostile input: any bytes give members that lie within the archive, or
// diagnostics; unpacking one gives exactly its bytes, or a reason.

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "engine/input/zip_archive.h"
#include "engine/support/check.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  constexpr std::int64_t kMaxMemberBytes = 1 << 20;
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const auto archive = recut::ZipArchive::open(bytes);
  if (!archive.ok()) {
    RECUT_CHECK(!archive.diagnostics().empty(), "a refusal without a reason");
    return 0;
  }
  for (const recut::ZipMember& member : archive->members()) {
    RECUT_CHECK(archive->find(member.name) == &member, "a member isn't found by its name");
    const auto unpacked = archive->unpack(member, kMaxMemberBytes);
    RECUT_CHECK(!unpacked || static_cast<std::int64_t>(unpacked->size()) == member.size,
                "a member came to another size");
  }
  return 0;
}
