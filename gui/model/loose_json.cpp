#include "gui/model/loose_json.h"

#include <cmath>
#include <nlohmann/json.hpp>

#include "engine/support/utf8.h"

namespace recut::gui {

std::string text_of(const Json& json, const char* key, std::string otherwise) {
  const auto found = json.is_object() ? json.find(key) : json.end();
  return found != json.end() && found->is_string() ? found->get<std::string>() : otherwise;
}

std::int64_t number_of(const Json& json, const char* key) {
  const auto found = json.is_object() ? json.find(key) : json.end();
  return found != json.end() && found->is_number_integer() ? found->get<std::int64_t>() : 0;
}

std::optional<double> real_of(const Json& json, const char* key) {
  const auto found = json.is_object() ? json.find(key) : json.end();
  if (found == json.end() || !found->is_number()) return std::nullopt;
  const double number = found->get<double>();
  return std::isfinite(number) ? std::optional(number) : std::nullopt;
}

Json list_of(const Json& json, const char* key) {
  const auto found = json.is_object() ? json.find(key) : json.end();
  return found != json.end() && found->is_array() ? *found : Json::array();
}

std::vector<std::string> texts_of(const Json& json, const char* key) {
  std::vector<std::string> texts;
  for (const Json& one : list_of(json, key))
    if (one.is_string()) texts.push_back(one.get<std::string>());
  return texts;
}

Json texts_in(const std::vector<std::string>& texts) {
  Json list = Json::array();
  for (const std::string& text : texts) list.push_back(valid_utf8(text));
  return list;
}

}  // namespace recut::gui
