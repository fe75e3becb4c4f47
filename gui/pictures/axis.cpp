#include "gui/pictures/axis.h"

#include <fmt/core.h>

#include <cmath>

#include "engine/support/units.h"

namespace recut::gui {
namespace {

// Drops zeros behind the point: "2.00 GiB" ⇒ "2 GiB", "2.50 ms" ⇒ "2.5 ms".
std::string without_zeros(std::string label) {
  const std::size_t point = label.find('.');
  const std::size_t blank = label.find(' ');
  if (point >= blank) return label;
  std::size_t end = label.find_last_not_of('0', blank - 1);
  if (end == point) --end;
  return label.erase(end + 1, blank - end - 1);
}

}  // namespace

std::int64_t byte_tick(std::int64_t most, std::int64_t ticks) {
  std::int64_t tick = 1;
  while (most / tick > ticks) tick *= 2;
  return tick;
}

double time_tick(double most, double ticks) {
  const double power = std::pow(10, std::floor(std::log10(most / ticks)));
  for (const double step : {1.0, 2.0, 5.0})
    if (step * power * ticks >= most) return step * power;
  return 10 * power;
}

std::string byte_label(std::int64_t bytes) {
  return bytes == 0 ? "0" : without_zeros(format_bytes(bytes));
}

std::string time_label(double micros) {
  if (micros == 0) return "0";
  // With two digits behind the point several ticks would have the same label.
  if (micros < 0.1) return fmt::format("{:.4g} ns", 1000 * micros);
  return without_zeros(format_micros(micros));
}

}  // namespace recut::gui
