// JSON that users may have edited: a missing value, or one of another kind, reads as nothing.
// Sources that look into a value include nlohmann/json.hpp, which is too large for headers.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

namespace recut::gui {

using Json = nlohmann::ordered_json;

std::string text_of(const Json& json, const char* key, std::string otherwise = {});
std::int64_t number_of(const Json& json, const char* key);         // 0: no whole number
std::optional<double> real_of(const Json& json, const char* key);  // finite
Json list_of(const Json& json, const char* key);
std::vector<std::string> texts_of(const Json& json, const char* key);
Json texts_in(const std::vector<std::string>& texts);  // as valid UTF-8

}  // namespace recut::gui
