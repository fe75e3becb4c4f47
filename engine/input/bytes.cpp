#include "engine/input/bytes.h"

#include <fmt/core.h>
#include <sys/stat.h>
#include <zlib.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>

#include "engine/support/text.h"
#include "engine/support/units.h"

namespace recut {
namespace {

Diagnostic file_error(const std::string& path, std::string message) {
  return Diagnostic{std::move(message), printable(path, 1000), 0, 0};
}

Diagnostic too_large(const std::string& path, std::int64_t limit) {
  return file_error(
      path, fmt::format("the file is larger than the {} that Recut reads", format_bytes(limit)));
}

}  // namespace

Result<std::string> read_file(const std::string& path, std::int64_t limit) {
  struct stat status {};
  if (stat(path.c_str(), &status) != 0)
    return file_error(path, fmt::format("can't be read: {}", std::strerror(errno)));
  if (S_ISDIR(status.st_mode)) return file_error(path, "is a folder, expected a file");
  if (status.st_size > limit) return too_large(path, limit);
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen(path.c_str(), "rb"),
                                                             &std::fclose);
  if (!file) return file_error(path, fmt::format("can't be read: {}", std::strerror(errno)));
  // Pipes have no size that could be trusted: read in pieces until the end or the limit.
  std::string bytes;
  bytes.reserve(static_cast<std::size_t>(status.st_size));
  char piece[1 << 16];
  while (const std::size_t got = std::fread(piece, 1, sizeof piece, file.get())) {
    bytes.append(piece, got);
    if (static_cast<std::int64_t>(bytes.size()) > limit) return too_large(path, limit);
  }
  if (std::ferror(file.get()) != 0)
    return file_error(path, fmt::format("can't be read: {}", std::strerror(errno)));
  return bytes;
}

bool is_gzip(std::string_view bytes) { return bytes.substr(0, 2) == "\x1f\x8b"; }

namespace {

// One inflate stream; set up and torn down with its object.
class Inflater {
 public:
  explicit Inflater(std::string_view bytes) {
    stream_.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
    stream_.avail_in = static_cast<uInt>(bytes.size());
    constexpr int kGzipOnly = 16;
    RECUT_CHECK(inflateInit2(&stream_, kGzipOnly + MAX_WBITS) == Z_OK, "zlib can't be set up");
  }
  ~Inflater() { inflateEnd(&stream_); }
  Inflater(const Inflater&) = delete;
  Inflater& operator=(const Inflater&) = delete;

  // Unpacks the next piece onto `out`; Z_OK while there is more, Z_STREAM_END after a member.
  int step(std::string& out) {
    char piece[1 << 16];
    stream_.next_out = reinterpret_cast<Bytef*>(piece);
    stream_.avail_out = sizeof piece;
    const int status = inflate(&stream_, Z_NO_FLUSH);
    out.append(piece, sizeof piece - stream_.avail_out);
    return status;
  }
  bool next_member() { return inflateReset(&stream_) == Z_OK; }
  bool at_end() const { return stream_.avail_in == 0; }
  std::string message() const { return stream_.msg != nullptr ? stream_.msg : "damaged data"; }

 private:
  z_stream stream_{};
};

}  // namespace

Result<std::string> gunzip(std::string_view bytes, std::int64_t limit) {
  if (bytes.size() > static_cast<std::size_t>(kMaxInputBytes))
    return error("gzip: the packed data is too large");
  Inflater inflater(bytes);
  std::string out;
  while (true) {
    const int status = inflater.step(out);
    if (static_cast<std::int64_t>(out.size()) > limit)
      return error(
          fmt::format("gzip: unpacks to more than the {} that Recut reads", format_bytes(limit)));
    if (status == Z_STREAM_END) {
      if (inflater.at_end()) return out;
      if (!inflater.next_member()) return error("gzip: " + inflater.message());
    } else if (status == Z_BUF_ERROR) {  // no progress: the input has run out
      return error(fmt::format("gzip: cut off after {} bytes", bytes.size()));
    } else if (status != Z_OK) {
      return error("gzip: " + inflater.message());
    }
  }
}

std::string gunzip_front(std::string_view bytes, std::size_t count) {
  if (bytes.size() > static_cast<std::size_t>(kMaxInputBytes)) return {};
  Inflater inflater(bytes);
  std::string out;
  while (out.size() < count && inflater.step(out) == Z_OK) {
  }
  out.resize(std::min(out.size(), count));
  return out;
}

}  // namespace recut
