// JSON text as a flat, read-only document: one array of 16-byte entries in the order of the text,
// so that a file of a million values is two allocations, and nothing recurses over hostile nesting.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/support/result.h"

namespace recut {

// `big_integer` is an integer that does not fit into 64 bits.
enum class JsonKind : std::uint8_t {
  null,
  boolean,
  integer,
  big_integer,
  real,
  text,
  array,
  object
};

// Names the kind in messages: "a string", "a list".
std::string_view describe(JsonKind kind);

inline constexpr int kMaxJsonDepth = 64;

// A hundred times the values of the largest real graph, and still a small part of memory.
inline constexpr std::size_t kMaxJsonValues = std::size_t{1} << 25;

class JsonDocument;
class JsonItems;

// One value: a position in its document, cheap to copy. The document must outlive it.
class JsonValue {
 public:
  JsonValue() = default;  // absent: no such value in the file
  JsonValue(const JsonDocument* document, std::uint32_t index)
      : document_(document), index_(index) {}

  bool present() const { return document_ != nullptr; }
  JsonKind kind() const;
  bool is(JsonKind k) const { return present() && kind() == k; }

  // Each requires the kind that it names; another kind is a failed check.
  bool boolean() const;
  std::int64_t integer() const;
  double real() const;
  std::string_view text() const;
  std::size_t size() const;  // items of a list, members of an object
  JsonItems items() const;   // of a list: values; of an object: keys and values

  // Byte offset of the value in the text.
  std::uint32_t position() const;

 private:
  const JsonDocument* document_ = nullptr;
  std::uint32_t index_ = 0;
};

struct JsonMember {
  std::string_view key;  // "" in a list
  JsonValue value;
};

class JsonItems {
 public:
  class Iterator {
   public:
    Iterator(const JsonDocument* document, std::uint32_t index, bool keys)
        : document_(document), index_(index), keys_(keys) {}
    JsonMember operator*() const;
    Iterator& operator++();
    bool operator!=(const Iterator& other) const { return index_ != other.index_; }

   private:
    const JsonDocument* document_;
    std::uint32_t index_;
    bool keys_;
  };

  JsonItems(const JsonDocument* document, std::uint32_t begin, std::uint32_t end, bool keys)
      : begin_(document, begin, keys), end_(document, end, keys) {}
  Iterator begin() const { return begin_; }
  Iterator end() const { return end_; }

 private:
  Iterator begin_, end_;
};

class JsonDocument {
 public:
  JsonValue root() const { return {this, 0}; }

  // Every key of the outermost object, kept or skipped, in order.
  const std::vector<std::string>& keys() const { return keys_; }

 private:
  friend class JsonValue;
  friend class JsonItems::Iterator;
  friend class JsonBuilder;

  struct Span {
    std::uint32_t first, second;
  };
  struct Entry {
    JsonKind kind = JsonKind::null;
    // For a list or object: the index of the entry after it and all within it. For other values:
    // the position.
    std::uint32_t end_or_position = 0;
    union {
      std::int64_t integer = 0;
      double real;
      Span span;  // of a text: offset and length; of a list or object: position and size
    };
  };

  static bool nests(JsonKind kind) { return kind == JsonKind::array || kind == JsonKind::object; }

  // The index of the entry after a value and all within it.
  std::uint32_t after(std::uint32_t index) const {
    return nests(entries_[index].kind) ? entries_[index].end_or_position : index + 1;
  }

  std::string_view text_of(std::uint32_t index) const {
    const Span span = entries_[index].span;
    return std::string_view(texts_).substr(span.first, span.second);
  }

  std::vector<Entry> entries_;  // an object's member is the entry of its key, then its value
  std::string texts_;
  std::vector<std::string> keys_;
};

// Line and column (from 1, in bytes) of a position in the text.
struct LineColumn {
  std::uint32_t line = 1;
  std::uint32_t column = 1;
};
LineColumn line_column_of(std::string_view text, std::size_t position);

// Reads JSON text in steps that a window can interleave with frames. The text, `file_name` and
// `kept_keys` must outlive it.
class JsonReader {
 public:
  JsonReader(std::string_view text, std::string_view file_name,
             std::span<const std::string_view> kept_keys = {},
             std::size_t max_values = kMaxJsonValues);
  ~JsonReader();

  bool step();                  // reads on; true if there is more to read
  Result<JsonDocument> take();  // once step() returned false; see parse_json

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// Reads JSON text. Values of the outermost object whose key is not in `kept_keys` are checked but
// not kept; an empty `kept_keys` keeps everything. Nesting deeper than kMaxJsonDepth is an error,
// as are more than `max_values` values and keys.
Result<JsonDocument> parse_json(std::string_view text, std::string_view file_name,
                                std::span<const std::string_view> kept_keys = {},
                                std::size_t max_values = kMaxJsonValues);

}  // namespace recut
