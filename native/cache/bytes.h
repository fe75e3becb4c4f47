// Values as bytes and back, by one description of each type for both directions:
//
//   struct Fields {
//     template <class Bytes>
//     static void of(Bytes& bytes, BufferAddress& place) { bytes(place.input, place.offset); }
//   };
//   ByteWriter<Fields> writer;  writer(place);
//   ByteReader<Fields> reader(text);  reader(place);  reader.done();
//
// Numbers, enumerations, texts, lists, optional values and variants describe themselves. The bytes
// are for one machine and one build of Recut: numbers stand as in memory.
#pragma once

#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

namespace recut::cache {

template <class T>
concept PlainNumber = std::is_arithmetic_v<T> || std::is_enum_v<T>;

template <class Fields>
class ByteWriter {
 public:
  template <class... T>
  void operator()(T&... values) {
    (put(values), ...);
  }
  const std::string& bytes() const { return bytes_; }

 private:
  template <PlainNumber T>
  void put(T& value) {
    bytes_.append(reinterpret_cast<const char*>(&value), sizeof value);
  }
  void put(std::string& text) {
    std::uint64_t size = text.size();
    put(size);
    bytes_ += text;
  }
  template <class T>
  void put(std::vector<T>& list) {
    std::uint64_t size = list.size();
    put(size);
    for (T& value : list) put(value);
  }
  template <class T>
  void put(std::optional<T>& value) {
    bool there = value.has_value();
    put(there);
    if (value) put(*value);
  }
  template <class... T>
  void put(std::variant<T...>& value) {
    std::uint64_t which = value.index();
    put(which);
    std::visit([&](auto& held) { put(held); }, value);
  }
  template <class T>
  void put(T& value) {
    Fields::of(*this, value);
  }

  std::string bytes_;
};

template <class Fields>
class ByteReader {
 public:
  explicit ByteReader(std::string_view bytes) : left_(bytes) {}

  template <class... T>
  void operator()(T&... values) {
    (get(values), ...);
  }

  // True if the bytes sufficed and all were read.
  bool done() const { return sound_ && left_.empty(); }

 private:
  std::string_view take(std::uint64_t count) {
    sound_ = sound_ && count <= left_.size();
    if (!sound_) return {};
    const std::string_view bytes = left_.substr(0, count);
    left_.remove_prefix(count);
    return bytes;
  }
  template <PlainNumber T>
  void get(T& value) {
    const std::string_view bytes = take(sizeof value);
    if (sound_) std::memcpy(&value, bytes.data(), sizeof value);
  }
  void get(std::string& text) {
    std::uint64_t size = 0;
    get(size);
    text = take(size);
  }
  template <class T>
  void get(std::vector<T>& list) {
    std::uint64_t size = 0;
    get(size);
    for (std::uint64_t i = 0; sound_ && i < size; ++i) get(list.emplace_back());
  }
  template <class T>
  void get(std::optional<T>& value) {
    bool there = false;
    get(there);
    if (there) get(value.emplace());
  }
  template <class... T>
  void get(std::variant<T...>& value) {
    std::uint64_t which = 0, kind = 0;
    get(which);
    sound_ = sound_ && which < sizeof...(T);
    const auto take_as = [&](auto held) {
      if (which != kind++ || !sound_) return;
      get(held);
      value = std::move(held);
    };
    (take_as(T()), ...);
  }
  template <class T>
  void get(T& value) {
    Fields::of(*this, value);
  }

  std::string_view left_;
  bool sound_ = true;
};

}  // namespace recut::cache
