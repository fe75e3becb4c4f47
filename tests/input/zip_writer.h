// Writes zip archives as different writers do, and wrong ones.
#pragma once

#include <zlib.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace recut {

struct ZipStyle {
  bool deflated = false;
  bool descriptors = false;  // sizes stand behind the data, and are 0 in the local header
  bool zip64 = false;        // sizes stand in fields of 64 bits
  std::uint16_t flags = 0;
};

class ZipWriter {
 public:
  explicit ZipWriter(ZipStyle style = {}) : style_(style) {}

  void add(std::string_view name, std::string_view data) { add(name, name, data, data.size()); }

  // With another name in the local header, or a wrong size in the directory.
  void add(std::string_view name, std::string_view local_name, std::string_view data,
           std::uint64_t size) {
    const std::string packed = style_.deflated ? deflated(data) : std::string(data);
    const auto crc = static_cast<std::uint32_t>(
        crc32(0, reinterpret_cast<const Bytef*>(data.data()), static_cast<uInt>(data.size())));
    const std::uint64_t at = bytes_.size();
    const auto flags = static_cast<std::uint16_t>(style_.flags | (style_.descriptors ? 8 : 0));
    const std::uint16_t method = style_.deflated ? 8 : 0;
    const bool streamed = style_.descriptors;
    put(bytes_, 0x04034b50, 4), put(bytes_, 20, 2), put(bytes_, flags, 2), put(bytes_, method, 2);
    put(bytes_, 0, 4), put(bytes_, streamed ? 0 : crc, 4);
    put(bytes_, streamed ? 0 : packed.size(), 4), put(bytes_, streamed ? 0 : size, 4);
    put(bytes_, local_name.size(), 2), put(bytes_, 5, 2);
    bytes_ += local_name;
    bytes_ += std::string("\x01\x02\x01\x00x", 5);  // a field that nobody knows
    bytes_ += packed;
    if (streamed)
      put(bytes_, 0x08074b50, 4), put(bytes_, crc, 4), put(bytes_, packed.size(), 4),
          put(bytes_, size, 4);
    add_record(name, flags, method, crc, packed.size(), size, at);
  }

  // Another record of what the last one points to.
  void repeat(std::string_view name) {
    std::string again = last_.substr(0, 46) + std::string(name) + last_.substr(46 + last_name_);
    again[28] = static_cast<char>(name.size());
    directory_ += again;
    ++count_;
  }

  std::string finish(std::string_view comment = {}) const {
    std::string whole = bytes_ + directory_;
    const std::uint64_t at = bytes_.size();
    const bool wide = style_.zip64;
    if (wide) {
      const std::uint64_t end = whole.size();
      put(whole, 0x06064b50, 4), put(whole, 44, 8), put(whole, 45, 2), put(whole, 45, 2);
      put(whole, 0, 4), put(whole, 0, 4), put(whole, count_, 8), put(whole, count_, 8);
      put(whole, directory_.size(), 8), put(whole, at, 8);
      put(whole, 0x07064b50, 4), put(whole, 0, 4), put(whole, end, 8), put(whole, 1, 4);
    }
    put(whole, 0x06054b50, 4), put(whole, 0, 4);
    put(whole, wide ? 0xffff : count_, 2), put(whole, wide ? 0xffff : count_, 2);
    put(whole, wide ? 0xffffffff : directory_.size(), 4), put(whole, wide ? 0xffffffff : at, 4);
    put(whole, comment.size(), 2);
    return whole + std::string(comment);
  }

 private:
  static void put(std::string& to, std::uint64_t number, int width) {
    for (int i = 0; i < width; ++i) to += static_cast<char>(number >> (8 * i) & 0xff);
  }

  static std::string deflated(std::string_view data) {
    z_stream stream{};
    deflateInit2(&stream, 9, Z_DEFLATED, -MAX_WBITS, 8, Z_DEFAULT_STRATEGY);
    std::string out(deflateBound(&stream, static_cast<uLong>(data.size())), '\0');
    stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(data.data()));
    stream.avail_in = static_cast<uInt>(data.size());
    stream.next_out = reinterpret_cast<Bytef*>(out.data());
    stream.avail_out = static_cast<uInt>(out.size());
    deflate(&stream, Z_FINISH);
    out.resize(stream.total_out);
    deflateEnd(&stream);
    return out;
  }

  void add_record(std::string_view name, std::uint16_t flags, std::uint16_t method,
                  std::uint32_t crc, std::uint64_t packed, std::uint64_t size, std::uint64_t at) {
    const bool wide = style_.zip64;
    last_.clear();
    put(last_, 0x02014b50, 4), put(last_, 20, 2), put(last_, 20, 2), put(last_, flags, 2);
    put(last_, method, 2), put(last_, 0, 4), put(last_, crc, 4);
    put(last_, wide ? 0xffffffff : packed, 4), put(last_, wide ? 0xffffffff : size, 4);
    put(last_, name.size(), 2), put(last_, wide ? 28 : 0, 2), put(last_, 0, 2);
    put(last_, 0, 4), put(last_, 0, 4), put(last_, wide ? 0xffffffff : at, 4);
    last_ += name;
    last_name_ = name.size();
    if (wide)
      put(last_, 1, 2), put(last_, 24, 2), put(last_, size, 8), put(last_, packed, 8),
          put(last_, at, 8);
    directory_ += last_;
    ++count_;
  }

  ZipStyle style_;
  std::string bytes_, directory_, last_;
  std::size_t last_name_ = 0;
  std::uint64_t count_ = 0;
};

}  // namespace recut
