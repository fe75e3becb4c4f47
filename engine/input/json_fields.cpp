#include "engine/input/json_fields.h"

#include <fmt/format.h>

namespace recut {

void JsonFields::complain(std::string_view message) {
  complaints_.add(fmt::format("{}: {}", what_, message), object_);
}

JsonValue JsonFields::find(std::string_view key) {
  JsonValue found;
  for (const JsonMember member : object_.items()) {
    if (member.key != key) continue;
    if (found.present()) complain(fmt::format("'{}' stands there twice", key));
    found = member.value;
  }
  return found;
}

JsonValue JsonFields::find(std::string_view key, JsonKind kind, bool required) {
  const JsonValue value = find(key);
  if (!value.present()) {
    if (required) complain(fmt::format("'{}' is missing, expected {}", key, describe(kind)));
    return {};
  }
  if (value.is(kind)) return value;
  complain(fmt::format("'{}' is {}, expected {}", key, describe(value.kind()), describe(kind)));
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
      complain(
          fmt::format("'{}' holds {}, expected names of nodes", key, describe(item.value.kind())));
      return texts;
    }
    texts.emplace_back(item.value.text());
  }
  return texts;
}

}  // namespace recut
