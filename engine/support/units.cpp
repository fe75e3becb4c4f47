#include "engine/support/units.h"

#include <fmt/core.h>

#include <array>
#include <cmath>
#include <cstdlib>

namespace recut {
namespace {

struct Unit {
  std::string_view name;  // lower case
  double bytes;
};

constexpr std::array<Unit, 10> kUnits = {{{"", 1},
                                          {"b", 1},
                                          {"kb", 1e3},
                                          {"mb", 1e6},
                                          {"gb", 1e9},
                                          {"tb", 1e12},
                                          {"kib", 1024.0},
                                          {"mib", 1048576.0},
                                          {"gib", 1073741824.0},
                                          {"tib", 1099511627776.0}}};

bool is_digit(char c) { return c >= '0' && c <= '9'; }

std::string lower(std::string_view text) {
  std::string out(text);
  for (char& c : out)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return out;
}

// Three significant digits, but never an exponent.
std::string three_digits(double x) {
  if (x >= 100) return fmt::format("{:.0f}", x);
  if (x >= 10) return fmt::format("{:.1f}", x);
  return fmt::format("{:.2f}", x);
}

}  // namespace

Result<std::int64_t> parse_bytes(std::string_view text) {
  const auto refuse = [&](std::string_view why) {
    return error(fmt::format(
        "'{}' is not a number of bytes: {} (expected for example 3GiB, 512MiB or 1000000)", text,
        why));
  };
  std::size_t end = 0;
  while (end < text.size() && (is_digit(text[end]) || text[end] == '.')) ++end;
  const std::string digits(text.substr(0, end));
  if (digits.empty() || digits == "." || digits.find('.') != digits.rfind('.'))
    return refuse("it must begin with a number");
  while (end < text.size() && text[end] == ' ') ++end;
  const std::string unit = lower(text.substr(end));
  for (const Unit& u : kUnits) {
    if (u.name != unit) continue;
    if (u.bytes == 1 && digits.find('.') == std::string::npos &&
        digits.size() <= 18)  // exact, beyond 53 bits too
      return static_cast<std::int64_t>(std::strtoll(digits.c_str(), nullptr, 10));
    const double bytes = std::floor(std::strtod(digits.c_str(), nullptr) * u.bytes);
    if (!(bytes < 9.2e18)) return refuse("it is larger than 8 EiB");
    return static_cast<std::int64_t>(bytes);
  }
  return refuse(fmt::format("unknown unit '{}'", text.substr(end)));
}

std::string format_bytes(std::int64_t bytes) {
  static constexpr std::array<const char*, 5> kNames = {"B", "KiB", "MiB", "GiB", "TiB"};
  if (bytes < 1024) return fmt::format("{} B", bytes);
  double x = static_cast<double>(bytes);
  std::size_t unit = 0;
  while (x >= 1023.5 && unit + 1 < kNames.size()) {
    x /= 1024;
    ++unit;
  }
  return fmt::format("{} {}", three_digits(x), kNames[unit]);
}

std::string format_micros(double micros) {
  if (micros >= 1e6) return three_digits(micros / 1e6) + " s";
  if (micros >= 1e3) return three_digits(micros / 1e3) + " ms";
  return three_digits(micros) + " µs";
}

std::string format_count(std::int64_t count) {
  std::string digits = fmt::format("{}", count);
  const std::ptrdiff_t first = digits[0] == '-' ? 1 : 0;
  for (std::ptrdiff_t at = static_cast<std::ptrdiff_t>(digits.size()) - 3; at > first; at -= 3)
    digits.insert(static_cast<std::size_t>(at), ",");
  return digits;
}

std::string signed_bytes(std::int64_t bytes) {
  if (bytes == 0) return "0";
  return (bytes > 0 ? "+" : "-") + format_bytes(bytes > 0 ? bytes : -bytes);
}

std::string signed_micros(double micros) {
  if (std::abs(micros) < 0.05) return "0";
  return (micros > 0 ? "+" : "-") + format_micros(std::abs(micros));
}

}  // namespace recut
