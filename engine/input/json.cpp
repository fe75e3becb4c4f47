#include "engine/input/json.h"

#include <algorithm>

namespace recut {

std::string_view describe(JsonKind kind) {
  static constexpr std::string_view kNames[] = {
      "null",    "a bool",   "an int", "an int beyond 64 bits",
      "a float", "a string", "a list", "an object"};
  return kNames[static_cast<std::size_t>(kind)];
}

JsonKind JsonValue::kind() const { return document_->entries_[index_].kind; }

bool JsonValue::boolean() const {
  RECUT_CHECK(is(JsonKind::boolean), "not a bool");
  return document_->entries_[index_].integer != 0;
}

std::int64_t JsonValue::integer() const {
  RECUT_CHECK(is(JsonKind::integer), "not an integer");
  return document_->entries_[index_].integer;
}

double JsonValue::real() const {
  RECUT_CHECK(is(JsonKind::real), "not a float");
  return document_->entries_[index_].real;
}

std::string_view JsonValue::text() const {
  RECUT_CHECK(is(JsonKind::text), "not a string");
  return document_->text_of(index_);
}

std::size_t JsonValue::size() const {
  RECUT_CHECK(is(JsonKind::array) || is(JsonKind::object), "not a list or object");
  return document_->entries_[index_].span.second;
}

JsonItems JsonValue::items() const {
  RECUT_CHECK(is(JsonKind::array) || is(JsonKind::object), "not a list or object");
  return {document_, index_ + 1, document_->after(index_), is(JsonKind::object)};
}

std::uint32_t JsonValue::position() const {
  const JsonDocument::Entry& entry = document_->entries_[index_];
  return JsonDocument::nests(entry.kind) ? entry.span.first : entry.end_or_position;
}

JsonMember JsonItems::Iterator::operator*() const {
  if (keys_) return {document_->text_of(index_), JsonValue(document_, index_ + 1)};
  return {{}, JsonValue(document_, index_)};
}

JsonItems::Iterator& JsonItems::Iterator::operator++() {
  index_ = document_->after(index_ + (keys_ ? 1 : 0));
  return *this;
}

LineColumn line_column_of(std::string_view text, std::size_t position) {
  const std::string_view before = text.substr(0, position);
  const std::size_t newline = before.rfind('\n');
  const std::size_t line_start = newline == std::string_view::npos ? 0 : newline + 1;
  const auto lines = std::count(before.begin(), before.end(), '\n');
  return {static_cast<std::uint32_t>(lines + 1),
          static_cast<std::uint32_t>(before.size() - line_start + 1)};
}

}  // namespace recut
