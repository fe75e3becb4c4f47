#include "engine/workspace/budget.h"

#include <fmt/core.h>

#include <cmath>
#include <cstdlib>
#include <optional>
#include <string>

#include "engine/support/units.h"

namespace recut {
namespace {

// A plain decimal number: digits and at most one point. strtod alone would take "nan", "0x1p3" and
// signs.
std::optional<double> decimal(std::string_view text) {
  if (text.empty() || text.size() > 30 ||
      text.find_first_not_of("0123456789.") != std::string_view::npos ||
      text.find('.') != text.rfind('.') || text == ".")
    return std::nullopt;
  return std::strtod(std::string(text).c_str(), nullptr);
}

Diagnostic refuse(std::string_view text, std::string_view expected) {
  return error(fmt::format("budget '{}': expected {}", text, expected));
}

}  // namespace

Result<Budget> parse_budget(std::string_view text, std::string_view strategy,
                            std::int64_t baseline_peak_bytes) {
  if (text == "none") return Budget(NoBudget{});
  if (strategy == "torch") {
    const auto fraction = decimal(text);
    if (!fraction || *fraction > 1)
      return refuse(text,
                    "a fraction of the saved bytes from 0 to 1, such as 0.4, which is what "
                    "strategy torch takes, or none");
    return Budget(SavedFraction{*fraction});
  }
  if (text.ends_with('%')) {
    const auto percent = decimal(text.substr(0, text.size() - 1));
    if (!percent || *percent <= 0 || *percent > 1000)
      return refuse(text, "a percentage above 0 such as 40%");
    return Budget(PeakBytes{static_cast<std::int64_t>(
        std::floor(static_cast<double>(baseline_peak_bytes) * *percent / 100))});
  }
  const auto bytes = parse_bytes(text);
  if (!bytes)
    return refuse(text, "none, a percentage such as 40%, or bytes such as 3GiB: " +
                            bytes.diagnostics().front().message);
  if (*bytes == 0) return refuse(text, "more than 0 bytes");
  return Budget(PeakBytes{*bytes});
}

}  // namespace recut
