// Typed access to an object's members. Missing, duplicate and ill-typed members are reported.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/input/diagnostic_collector.h"
#include "engine/input/json.h"

namespace recut {

class JsonFields {
 public:
  // `what` names the object in messages: "the file", "node 'mm_3'". `object` must be an object.
  JsonFields(JsonValue object, std::string what, DiagnosticCollector& diagnostics)
      : object_(object), what_(std::move(what)), diagnostics_(diagnostics) {}

  // The member; absent if there is none. Reports duplicates.
  JsonValue find(std::string_view key);

  // Members of one kind. A missing member is reported if it is `required`.
  JsonValue find(std::string_view key, JsonKind kind, bool required);
  std::optional<std::string_view> text(std::string_view key, bool required = false);
  std::optional<std::int64_t> integer(std::string_view key, bool required = false);
  std::optional<double> number(std::string_view key);    // an int or a float
  bool boolean(std::string_view key);                    // false if missing
  std::vector<std::string> texts(std::string_view key);  // a list of strings; empty if missing

  // Reports every member whose key is not in `known`.
  void only(std::span<const std::string_view> known);

  void report_error(std::string_view message,
                    JsonValue where = {});  // default location: the object

 private:
  JsonValue object_;
  std::string what_;
  DiagnosticCollector& diagnostics_;
};

}  // namespace recut
