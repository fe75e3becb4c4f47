#include "engine/input/inflate.h"

#include <fmt/core.h>
#include <zlib.h>

#include <algorithm>

#include "engine/support/check.h"

namespace recut {
namespace {

constexpr std::size_t kInflatePiece = std::size_t{1} << 30;  // zlib counts in 32 bits

// Inflates as much as fits; Z_STREAM_END once the data is complete.
int inflate_into(z_stream& stream, std::string& out) {
  std::size_t done = 0;
  while (true) {
    // One byte beyond the expected size shows data that comes to more.
    char beyond = 0;
    const std::size_t left = out.size() - done;
    const std::size_t piece = std::min(left, kInflatePiece);
    stream.next_out = reinterpret_cast<Bytef*>(piece > 0 ? out.data() + done : &beyond);
    stream.avail_out = static_cast<uInt>(std::max<std::size_t>(piece, 1));
    const int status = inflate(&stream, Z_NO_FLUSH);
    const std::size_t got = std::max<std::size_t>(piece, 1) - stream.avail_out;
    if (left == 0 && got > 0) return Z_BUF_ERROR;
    done += got;
    if (status == Z_STREAM_END) return done == out.size() ? Z_STREAM_END : Z_BUF_ERROR;
    if (status != Z_OK) return status;
  }
}

}  // namespace

Result<std::string> inflate_raw(std::string_view data, std::int64_t size) {
  if (data.size() > kInflatePiece) return error("deflate: the packed data is too large");
  z_stream stream{};
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(data.data()));
  stream.avail_in = static_cast<uInt>(data.size());
  RECUT_CHECK(inflateInit2(&stream, -MAX_WBITS) == Z_OK, "zlib can't be set up");
  std::string out(static_cast<std::size_t>(size), '\0');
  const int status = inflate_into(stream, out);
  const std::string message = stream.msg != nullptr ? stream.msg : "damaged data";
  inflateEnd(&stream);
  if (status == Z_STREAM_END) return out;
  if (status == Z_BUF_ERROR)
    return error(fmt::format("deflate: the data doesn't come to {} bytes", size));
  return error("deflate: " + message);
}

std::uint32_t crc32_of(std::string_view bytes) {
  uLong crc = crc32(0, nullptr, 0);
  while (!bytes.empty()) {
    const std::size_t piece = std::min(bytes.size(), kInflatePiece);
    crc = crc32(crc, reinterpret_cast<const Bytef*>(bytes.data()), static_cast<uInt>(piece));
    bytes.remove_prefix(piece);
  }
  return static_cast<std::uint32_t>(crc);
}

}  // namespace recut
