// Typed access to an object's members, with a complaint for each that is missing, there twice or of
// the wrong kind.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/input/complaints.h"
#include "engine/input/json.h"

namespace recut {

class JsonFields {
 public:
  // `what` names the object in messages: "the file", "node 'mm_3'". `object` must be an object.
  JsonFields(JsonValue object, std::string what, Complaints& complaints)
      : object_(object), what_(std::move(what)), complaints_(complaints) {}

  // The member; absent where there is none. Complains where there are several.
  JsonValue find(std::string_view key);

  // Members of one kind. Where `required`, a missing one is a complaint too.
  JsonValue find(std::string_view key, JsonKind kind, bool required);
  std::optional<std::string_view> text(std::string_view key, bool required = false);
  std::optional<std::int64_t> integer(std::string_view key, bool required = false);
  std::optional<double> number(std::string_view key);    // an int or a float
  bool boolean(std::string_view key);                    // false where missing
  std::vector<std::string> texts(std::string_view key);  // a list of strings; empty where missing

  // Complains of every member that `known` doesn't name.
  void only(std::span<const std::string_view> known);

  void complain(std::string_view message, JsonValue where = {});  // nowhere: at the object

 private:
  JsonValue object_;
  std::string what_;
  Complaints& complaints_;
};

}  // namespace recut
