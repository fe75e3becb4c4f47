#include "engine/input/json_fields.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "engine/support/text.h"

namespace recut {

void JsonFields::report_error(std::string_view message, JsonValue where) {
  diagnostics_.add(fmt::format("{}: {}", what_, message), where.present() ? where : object_);
}

void JsonFields::only(std::span<const std::string_view> known) {
  for (const JsonMember member : object_.items())
    if (std::find(known.begin(), known.end(), member.key) == known.end())
      report_error(
          fmt::format("unknown {}, expected one of: {}", quote(member.key), fmt::join(known, ", ")),
          member.value);
}

JsonValue JsonFields::find(std::string_view key) {
  JsonValue found;
  for (const JsonMember member : object_.items()) {
    if (member.key != key) continue;
    if (found.present()) report_error(fmt::format("'{}' stands there twice", key), member.value);
    found = member.value;
  }
  return found;
}

JsonValue JsonFields::find(std::string_view key, JsonKind kind, bool required) {
  const JsonValue value = find(key);
  if (!value.present()) {
    if (required) report_error(fmt::format("'{}' is missing, expected {}", key, describe(kind)));
    return {};
  }
  if (value.is(kind)) return value;
  report_error(fmt::format("'{}' is {}, expected {}", key, describe(value.kind()), describe(kind)),
               value);
  return {};
}

std::optional<std::string_view> JsonFields::text(std::string_view key, bool required) {
  const JsonValue value = find(key, JsonKind::text, required);
  return value.present() ? std::optional(value.text()) : std::nullopt;
}

std::optional<std::int64_t> JsonFields::integer(std::string_view key, bool required) {
  const JsonValue value = find(key, JsonKind::integer, required);
  return value.present() ? std::optional(value.integer()) : std::nullopt;
}

std::optional<double> JsonFields::number(std::string_view key) {
  if (const JsonValue value = find(key); value.is(JsonKind::integer))
    return static_cast<double>(value.integer());
  const JsonValue value = find(key, JsonKind::real, false);
  return value.present() ? std::optional(value.real()) : std::nullopt;
}

bool JsonFields::boolean(std::string_view key) {
  const JsonValue value = find(key, JsonKind::boolean, false);
  return value.present() && value.boolean();
}

std::vector<std::string> JsonFields::texts(std::string_view key) {
  std::vector<std::string> texts;
  const JsonValue list = find(key, JsonKind::array, false);
  if (!list.present()) return texts;
  for (const JsonMember item : list.items()) {
    if (!item.value.is(JsonKind::text)) {
      report_error(
          fmt::format("'{}' holds {}, expected names of nodes", key, describe(item.value.kind())),
          item.value);
      return texts;
    }
    texts.emplace_back(item.value.text());
  }
  return texts;
}

}  // namespace recut
