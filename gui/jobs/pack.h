// Values as bytes and back, for a copy of this very program: both ends agree on every type, so the
// bytes say nothing about themselves. A struct takes part by a function
//
//   template <class Pack> void fields(Pack& pack, MyStruct& s) { pack(s.one, s.two); }
//
// in this namespace, which packs and unpacks alike.
#pragma once

#include <cstring>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "engine/support/check.h"
#include "engine/support/ids.h"
#include "engine/support/result.h"

namespace recut::gui {

// Types that are copied byte by byte.
template <class T>
struct IsPlain : std::bool_constant<std::is_arithmetic_v<T> || std::is_enum_v<T>> {};
template <class Tag>
struct IsPlain<Id<Tag>> : std::true_type {};

class Packer {
 public:
  template <class... T>
  void operator()(const T&... values) {
    (one(values), ...);
  }
  std::string take() { return std::move(bytes_); }

 private:
  void raw(const void* from, std::size_t count) {
    bytes_.append(static_cast<const char*>(from), count);
  }
  void size(std::size_t count) {
    const auto packed = static_cast<std::uint64_t>(count);
    raw(&packed, sizeof packed);
  }

  template <class T>
  void one(const T& value) {
    if constexpr (IsPlain<T>::value) {
      raw(&value, sizeof value);
    } else {
      fields(*this, const_cast<T&>(value));  // which only reads it
    }
  }
  void one(const std::string& text) {
    size(text.size());
    raw(text.data(), text.size());
  }
  template <class T>
  void one(const std::vector<T>& values) {
    size(values.size());
    if constexpr (IsPlain<T>::value) {
      raw(values.data(), values.size() * sizeof(T));
    } else {
      for (const T& value : values) one(value);
    }
  }
  template <class Key, class T>
  void one(const std::map<Key, T>& values) {
    size(values.size());
    for (const auto& [key, value] : values) (*this)(key, value);
  }
  template <class T>
  void one(const std::optional<T>& value) {
    one(value.has_value());
    if (value) one(*value);
  }
  template <class T>
  void one(const Result<T>& result) {
    one(result.ok());
    if (result.ok()) return one(result.value());
    one(result.diagnostics());
  }

  std::string bytes_;
};

class Unpacker {
 public:
  explicit Unpacker(std::string_view bytes) : bytes_(bytes) {}

  template <class... T>
  void operator()(T&... values) {
    (one(values), ...);
  }
  template <class T>
  T get() {
    T value{};
    one(value);
    return value;
  }
  template <class T>
  Result<T> result() {
    if (get<bool>()) return get<T>();
    return get<Diagnostics>();
  }

 private:
  void raw(void* to, std::size_t count) {
    RECUT_CHECK(count <= bytes_.size(), "packed bytes end too early");
    if (count > 0) std::memcpy(to, bytes_.data(), count);
    bytes_.remove_prefix(count);
  }
  std::size_t size() {
    std::uint64_t count = 0;
    raw(&count, sizeof count);
    RECUT_CHECK(count <= bytes_.size(), "packed bytes end too early");
    return static_cast<std::size_t>(count);
  }

  template <class T>
  void one(T& value) {
    if constexpr (IsPlain<T>::value) {
      raw(&value, sizeof value);
    } else {
      fields(*this, value);
    }
  }
  void one(std::string& text) {
    text.resize(size());
    raw(text.data(), text.size());
  }
  template <class T>
  void one(std::vector<T>& values) {
    values.resize(size());
    if constexpr (IsPlain<T>::value) {
      raw(values.data(), values.size() * sizeof(T));
    } else {
      for (T& value : values) one(value);
    }
  }
  template <class Key, class T>
  void one(std::map<Key, T>& values) {
    values.clear();
    for (std::size_t left = size(); left > 0; --left) {
      const Key key = get<Key>();
      values.emplace(key, get<T>());
    }
  }
  template <class T>
  void one(std::optional<T>& value) {
    value.reset();
    if (get<bool>()) value.emplace(get<T>());
  }

  std::string_view bytes_;
};

// Diagnostics of results.
template <class Pack>
void fields(Pack& pack, Diagnostic& d) {
  pack(d.message, d.file, d.line, d.column);
}

}  // namespace recut::gui
