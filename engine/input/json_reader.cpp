// The JSON reader: nlohmann's SAX parser, and a builder that turns its events into flat entries.
// The two outermost levels are parsed here, so that reading can pause between values of a long
// list. Time and memory are linear in the text; skipped keys cost no memory. The parser keeps its
// own stack on the heap, and the depth is bounded, so that deep nesting can't overflow the call
// stack.
#include <fmt/core.h>

#include <algorithm>
#include <iterator>
#include <nlohmann/json.hpp>
#include <optional>

#include "engine/input/json.h"
#include "engine/support/text.h"

namespace recut {
namespace {

// Feeds the lexer and tells how far it has read: the library's own events carry no positions.
class TrackedIterator {
 public:
  using value_type = char;
  using difference_type = std::ptrdiff_t;
  using pointer = const char*;
  using reference = const char&;
  using iterator_category = std::input_iterator_tag;

  TrackedIterator(const char* at, const char** reached) : at_(at), reached_(reached) {}
  reference operator*() const { return *at_; }
  TrackedIterator& operator++() {
    *reached_ = ++at_;
    return *this;
  }
  TrackedIterator operator++(int) {
    TrackedIterator before = *this;
    ++*this;
    return before;
  }
  bool operator==(const TrackedIterator& other) const { return at_ == other.at_; }
  bool operator!=(const TrackedIterator& other) const { return at_ != other.at_; }

 private:
  const char* at_;
  const char** reached_;
};

// Strips the location from "[json.exception.parse_error.101] parse error at line 1, column 2:
// syntax error …": the diagnostic carries it itself.
std::string parse_error_message(std::string_view what) {
  const std::size_t bracket = what.find("] ");
  if (bracket != std::string_view::npos) what.remove_prefix(bracket + 2);
  if (what.starts_with("parse error"))
    what.remove_prefix(std::min(what.size(), what.find(": ") + 2));
  return "JSON: " + printable(what, 300);
}

}  // namespace

// Takes the events of nlohmann's SAX parser, which keeps its own stack on the heap.
class JsonBuilder {
 public:
  using number_integer_t = nlohmann::json::number_integer_t;
  using number_unsigned_t = nlohmann::json::number_unsigned_t;
  using number_float_t = nlohmann::json::number_float_t;
  using string_t = nlohmann::json::string_t;
  using binary_t = nlohmann::json::binary_t;

  JsonBuilder(std::string_view text, std::span<const std::string_view> kept_keys,
              std::size_t max_values)
      : begin_(text.data()),
        end_(text.data() + text.size()),
        reached_(text.data()),
        last_event_(text.data()),
        kept_keys_(kept_keys),
        max_values_(max_values) {
    document_.entries_.reserve(std::min(text.size() / 8, max_values));
  }

  const char** reached() { return &reached_; }
  std::size_t position() const { return static_cast<std::size_t>(reached_ - begin_); }
  const std::string& diagnostic() const { return diagnostic_; }
  JsonDocument take() { return std::move(document_); }

  // The events. Returning false ends the parse. Each moves on to its token before anything else.
  bool null() { return scalar(JsonKind::null, 0); }
  bool boolean(bool value) { return scalar(JsonKind::boolean, value ? 1 : 0); }
  bool number_integer(number_integer_t value) { return scalar(JsonKind::integer, value); }
  bool number_unsigned(number_unsigned_t value) {
    if (value > static_cast<number_unsigned_t>(INT64_MAX)) return scalar(JsonKind::big_integer, 0);
    return scalar(JsonKind::integer, static_cast<std::int64_t>(value));
  }
  bool number_float(number_float_t value, const string_t& lexeme) {
    if (lexeme.find_first_of(".eE") == string_t::npos) return scalar(JsonKind::big_integer, 0);
    next_token();
    if (skip()) return true;
    append(JsonKind::real).real = value;
    return within_limit();
  }
  bool string(string_t& value) {
    next_token();
    if (skip()) return true;
    append_text(value);
    return within_limit();
  }
  bool binary(binary_t&) { return false; }  // no such thing in text
  bool key(string_t& value) {
    next_token();
    if (skipped_depth_ > 0) return true;
    if (open_.size() == 1 && !keep_outermost(value)) {
      skip_next_ = true;
      return within_limit();
    }
    ++document_.entries_[open_.back()].span.second;
    append_text(value);
    return within_limit();
  }
  bool start_object(std::size_t) { return open(JsonKind::object); }
  bool start_array(std::size_t) { return open(JsonKind::array); }
  bool end_object() { return close(); }
  bool end_array() { return close(); }
  bool parse_error(std::size_t, const std::string&, const nlohmann::detail::exception& wrong) {
    diagnostic_ = parse_error_message(wrong.what());
    return false;
  }

 private:
  using Entry = JsonDocument::Entry;

  // The lexer reads one character beyond a number: only separators are skipped here.
  void next_token() {
    const auto between = [](char c) {
      return c == ' ' || c == '\n' || c == '\r' || c == '\t' || c == ',' || c == ':';
    };
    token_ = std::find_if_not(last_event_, end_, between);
    last_event_ = reached_;
  }

  // True if the current value is skipped: it is in a skipped value, or is one itself.
  bool skip() {
    if (skipped_depth_ > 0) return true;
    return std::exchange(skip_next_, false);
  }

  bool within_limit() {
    if (document_.entries_.size() + document_.keys_.size() <= max_values_) return true;
    diagnostic_ = fmt::format("JSON: more than {} values", max_values_);
    return false;
  }

  bool keep_outermost(const string_t& key) {
    document_.keys_.push_back(key);
    return kept_keys_.empty() ||
           std::find(kept_keys_.begin(), kept_keys_.end(), key) != kept_keys_.end();
  }

  Entry& append(JsonKind kind) {
    if (!open_.empty() && document_.entries_[open_.back()].kind == JsonKind::array)
      ++document_.entries_[open_.back()].span.second;
    return push(kind);
  }

  Entry& push(JsonKind kind) {
    Entry& entry = document_.entries_.emplace_back();
    entry.kind = kind;
    entry.end_or_position = static_cast<std::uint32_t>(token_ - begin_);
    return entry;
  }

  bool scalar(JsonKind kind, std::int64_t value) {
    next_token();
    if (!skip()) append(kind).integer = value;
    return within_limit();
  }

  void append_text(const string_t& value) {
    const auto offset = static_cast<std::uint32_t>(document_.texts_.size());
    document_.texts_ += value;
    append(JsonKind::text).span = {offset, static_cast<std::uint32_t>(value.size())};
  }

  bool open(JsonKind kind) {
    next_token();
    if (static_cast<int>(open_.size()) + skipped_depth_ >= kMaxJsonDepth) {
      diagnostic_ = fmt::format("JSON: nested deeper than {} levels", kMaxJsonDepth);
      return false;
    }
    if (skip()) {
      ++skipped_depth_;
      return true;
    }
    const auto index = static_cast<std::uint32_t>(document_.entries_.size());
    append(kind).span = {static_cast<std::uint32_t>(position() - 1), 0};
    open_.push_back(index);
    return within_limit();
  }

  bool close() {
    next_token();
    if (skipped_depth_ > 0) {
      --skipped_depth_;
      return true;
    }
    document_.entries_[open_.back()].end_or_position =
        static_cast<std::uint32_t>(document_.entries_.size());
    open_.pop_back();
    return true;
  }

  const char* begin_;
  const char* end_;
  const char* reached_;
  const char* last_event_;       // position of the lexer at the previous event
  const char* token_ = nullptr;  // where the event's value begins
  std::span<const std::string_view> kept_keys_;
  std::size_t max_values_;
  JsonDocument document_;
  std::vector<std::uint32_t> open_;  // enclosing lists and objects
  int skipped_depth_ = 0;
  bool skip_next_ = false;
  std::string diagnostic_;
};

// Walks the two outermost levels, an object and the lists in it; the library reads the values below
// them one by one. At anything unexpected, the library reads the whole text again, and its
// diagnostic is reported.
struct JsonReader::State {
  enum class ParseState : std::uint8_t {
    start,
    first_key,
    after_member,
    value,
    first_item,
    after_item,
    end
  };

  State(std::string_view given, std::string_view file_name, std::span<const std::string_view> keys,
        std::size_t value_limit)
      : text(given),
        file(file_name),
        kept_keys(keys),
        max_values(value_limit),
        end(text.data() + text.size()) {
    if (text.size() <= kMaxTextBytes)
      restart();
    else
      parse_state = ParseState::end;
  }

  void restart() {
    builder.emplace(text, kept_keys, max_values);
    at = text.data();
  }

  bool step() {
    if (parse_state == ParseState::end) return false;
    const char* const step_end = at + std::min<std::ptrdiff_t>(kStepBytes, end - at);
    do {
      if (!advance()) return read_whole();
    } while (parse_state != ParseState::end && at < step_end);
    if (parse_state != ParseState::end) return true;
    skip_space();
    return at == end ? false : read_whole();
  }

  // Reads one value or separator. False: the text is not as expected.
  bool advance() {
    skip_space();
    if (at == end) return false;
    switch (parse_state) {
      case ParseState::start:
        return *at == '{' && consume_char() && builder->start_object(0) &&
               enter(ParseState::first_key);
      case ParseState::first_key:
        if (*at == '}') return consume_char() && builder->end_object() && enter(ParseState::end);
        return read_key();
      case ParseState::after_member:
        if (*at == '}') return consume_char() && builder->end_object() && enter(ParseState::end);
        return *at == ',' && consume_char() && (skip_space(), read_key());
      case ParseState::value:
        if (*at != '[') return read_value() && enter(ParseState::after_member);
        return consume_char() && builder->start_array(0) && enter(ParseState::first_item);
      case ParseState::first_item:
        if (*at == ']')
          return consume_char() && builder->end_array() && enter(ParseState::after_member);
        return read_value() && enter(ParseState::after_item);
      case ParseState::after_item:
        if (*at == ']')
          return consume_char() && builder->end_array() && enter(ParseState::after_member);
        return *at == ',' && consume_char() && (skip_space(), read_value());
      case ParseState::end:
        return true;
    }
    return false;
  }

  bool enter(ParseState next) {
    parse_state = next;
    return true;
  }

  void skip_space() {
    while (at != end && (*at == ' ' || *at == '\n' || *at == '\r' || *at == '\t')) ++at;
  }

  bool consume_char() {
    *builder->reached() = ++at;
    return true;
  }

  // Reads a key of printable ASCII without escapes, and the colon after it.
  bool read_key() {
    if (at == end || *at != '"') return false;
    const char* last = at + 1;
    while (last != end && *last >= ' ' && *last <= '~' && *last != '"' && *last != '\\') ++last;
    if (last == end || *last != '"') return false;
    std::string key(at + 1, last);
    at = last;
    consume_char();
    if (!builder->key(key)) return false;
    skip_space();
    return at != end && *at == ':' && consume_char() && enter(ParseState::value);
  }

  bool read_value() {
    if (at == end) return false;
    const bool number = *at == '-' || (*at >= '0' && *at <= '9');
    const bool good = nlohmann::json::sax_parse(TrackedIterator(at, builder->reached()),
                                                TrackedIterator(end, builder->reached()), &*builder,
                                                nlohmann::json::input_format_t::json, false);
    at = *builder->reached();
    if (number && at != end) --at;  // the lexer looks beyond a number to find its end
    return good;
  }

  // Always false: there is nothing more to read.
  bool read_whole() {
    restart();
    parse_state = ParseState::end;
    good = nlohmann::json::sax_parse(TrackedIterator(at, builder->reached()),
                                     TrackedIterator(end, builder->reached()), &*builder);
    return false;
  }

  Result<JsonDocument> take() {
    if (!builder) return Diagnostic{"JSON: the text is larger than 2 GiB", std::string(file), 0, 0};
    if (good) return builder->take();
    const std::size_t position = builder->position() == 0 ? 0 : builder->position() - 1;
    const LineColumn found = line_column_of(text, position);
    return Diagnostic{builder->diagnostic(), std::string(file), found.line, found.column};
  }

  static constexpr std::ptrdiff_t kStepBytes = 256 << 10;
  static constexpr std::size_t kMaxTextBytes = std::size_t{1} << 31;

  const std::string_view text, file;
  const std::span<const std::string_view> kept_keys;
  const std::size_t max_values;
  const char* const end;  // of the text
  std::optional<JsonBuilder> builder;
  const char* at = nullptr;
  ParseState parse_state = ParseState::start;
  bool good = true;
};

JsonReader::JsonReader(std::string_view text, std::string_view file_name,
                       std::span<const std::string_view> kept_keys, std::size_t max_values)
    : state_(std::make_unique<State>(text, file_name, kept_keys, max_values)) {}
JsonReader::~JsonReader() = default;
bool JsonReader::step() { return state_->step(); }
Result<JsonDocument> JsonReader::take() { return state_->take(); }

Result<JsonDocument> parse_json(std::string_view text, std::string_view file_name,
                                std::span<const std::string_view> kept_keys,
                                std::size_t max_values) {
  JsonReader reader(text, file_name, kept_keys, max_values);
  while (reader.step()) {
  }
  return reader.take();
}

}  // namespace recut
