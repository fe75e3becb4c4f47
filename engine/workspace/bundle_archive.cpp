// Tar, as POSIX has it in pax(1), "ustar interchange format": a member is a header of one block,
// then its bytes, up to whole blocks of 512 bytes. Two blocks of zeros end the archive.
#include "engine/workspace/bundle_archive.h"

#include <fmt/core.h>

#include "engine/support/text.h"

namespace recut {
namespace {

constexpr std::size_t kTarBlock = 512;
constexpr std::size_t kTarName = 100, kTarPrefix = 155;  // bytes of a path's two parts
constexpr std::uint64_t kTarMostBytes = (std::uint64_t{1} << 33) - 1;  // 11 octal digits

// Where the fields of a header begin.
constexpr std::size_t kModeAt = 100, kUserAt = 108, kGroupAt = 116, kSizeAt = 124, kTimeAt = 136;
constexpr std::size_t kSumAt = 148, kTypeAt = 156, kMagicAt = 257, kPrefixAt = 345;

void put_octal(std::string& header, std::size_t at, int digits, std::uint64_t number) {
  header.replace(at, static_cast<std::size_t>(digits), fmt::format("{:0{}o}", number, digits));
}

Result<std::string> tar_header(const std::string& folder, const BundleFile& file) {
  if (folder.size() > kTarPrefix)
    return error(
        fmt::format("the folder's name {} has {} bytes, expected at most {}: choose a "
                    "shorter one",
                    quote(folder), folder.size(), kTarPrefix));
  if (file.path.size() > kTarName)
    return error(fmt::format("the path {} in the archive has {} bytes, expected at most {}",
                             quote(file.path), file.path.size(), kTarName));
  if (std::uint64_t{file.bytes.size()} > kTarMostBytes)
    return error(
        fmt::format("{} has {} bytes, and a file of a tar archive at most {}: leave the "
                    "data out",
                    quote(file.path), file.bytes.size(), kTarMostBytes));
  std::string header(kTarBlock, '\0');
  header.replace(0, file.path.size(), file.path);
  header.replace(kPrefixAt, folder.size(), folder);
  put_octal(header, kModeAt, 7, file.executable ? 0755 : 0644);
  put_octal(header, kUserAt, 7, 0);
  put_octal(header, kGroupAt, 7, 0);
  put_octal(header, kSizeAt, 11, file.bytes.size());
  put_octal(header, kTimeAt, 11, 0);
  header[kTypeAt] = '0';  // a file
  header.replace(kMagicAt, 8, std::string("ustar\00000", 8));
  // The sum of all bytes, with blanks in its own field.
  header.replace(kSumAt, 8, 8, ' ');
  std::uint64_t sum = 0;
  for (const char c : header) sum += static_cast<unsigned char>(c);
  put_octal(header, kSumAt, 6, sum);
  header[kSumAt + 6] = '\0';
  return header;
}

}  // namespace

Result<std::string> bundle_archive(const std::string& folder, std::span<const BundleFile> files) {
  std::string archive;
  for (const BundleFile& file : files) {
    const auto header = tar_header(folder, file);
    if (!header) return header.diagnostics();
    archive += *header;
    archive += file.bytes;
    archive.append((kTarBlock - file.bytes.size() % kTarBlock) % kTarBlock, '\0');
  }
  return archive.append(2 * kTarBlock, '\0');
}

}  // namespace recut
