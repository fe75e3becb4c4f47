#include "gui/app/settings.h"

#include <fmt/core.h>

#include <cstdlib>

namespace recut::gui {

std::string Settings::text(std::string_view name, std::string_view otherwise) const {
  const auto found = values_.find(name);
  return found == values_.end() ? std::string(otherwise) : found->second;
}

double Settings::number(std::string_view name, double otherwise) const {
  const std::string value = text(name);
  char* end = nullptr;
  const double parsed = std::strtod(value.c_str(), &end);
  return value.empty() || *end != 0 || !(parsed > -1e9 && parsed < 1e9) ? otherwise : parsed;
}

bool Settings::flag(std::string_view name, bool otherwise) const {
  const std::string value = text(name);
  return value == "on" || (value != "off" && otherwise);
}

void Settings::set(std::string_view name, std::string value) {
  if (text(name) == value) return;
  ++changes_;
  if (value.empty()) {
    values_.erase(std::string(name));
  } else {
    values_[std::string(name)] = std::move(value);
  }
}

void Settings::set_number(std::string_view name, double value) {
  set(name, fmt::format("{:.4g}", value));
}

void Settings::set_flag(std::string_view name, bool value) { set(name, value ? "on" : "off"); }

}  // namespace recut::gui
