// JSON as text. Bytes that are no UTF-8 are replaced: names come from users' files.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

namespace recut {

// One value and an end of line; `indent` below 0: all on one line.
template <class Json>
std::string json_text(const Json& json, int indent = 2) {
  return json.dump(indent, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace recut
