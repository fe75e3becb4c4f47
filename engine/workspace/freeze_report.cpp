#include "engine/workspace/freeze_report.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "engine/support/table.h"
#include "engine/support/units.h"
#include "engine/workspace/json_text.h"

namespace recut {

std::string_view name_of(WeightFate fate) {
  switch (fate) {
    case WeightFate::kept:
      return "kept";
    case WeightFate::folded:
      return "folded";
    case WeightFate::unread:
      return "unread";
    case WeightFate::no_value:
      return "no value";
  }
  return "";
}

std::int64_t FreezeReport::count(WeightFate fate) const {
  return std::count_if(weights.begin(), weights.end(),
                       [&](const FrozenWeight& weight) { return weight.fate == fate; });
}

std::string freeze_text(const FreezeReport& report) {
  std::string text = fmt::format(
      "frozen: {} constants computed; of {} weights {} folded, {} kept, {} unread",
      format_count(static_cast<std::int64_t>(report.constants.size())),
      format_count(static_cast<std::int64_t>(report.weights.size())),
      format_count(report.count(WeightFate::folded)), format_count(report.count(WeightFate::kept)),
      format_count(report.count(WeightFate::unread)));
  if (const std::int64_t missing = report.count(WeightFate::no_value); missing > 0)
    text += fmt::format(", {} without a value", format_count(missing));
  return text + fmt::format("; {} of weights become {}", format_bytes(report.bytes_before),
                            format_bytes(report.bytes_after));
}

std::string freeze_table(const FreezeReport& report) {
  Table table;
  table.column("weight");
  table.column("bytes", Table::Align::right);
  table.column("is");
  table.column("into");
  for (const FrozenWeight& weight : report.weights)
    table.row({weight.name, format_bytes(weight.bytes), std::string(name_of(weight.fate)),
               fmt::format("{}", fmt::join(weight.into, ", "))});
  return table.format(0);
}

std::string freeze_json(const FreezeReport& report) {
  nlohmann::ordered_json weights = nlohmann::ordered_json::array();
  for (const FrozenWeight& weight : report.weights)
    weights.push_back({{"name", weight.name},
                       {"fate", name_of(weight.fate)},
                       {"bytes", weight.bytes},
                       {"into", weight.into}});
  const nlohmann::ordered_json json = {{"constants", report.constants},
                                       {"bytes_before", report.bytes_before},
                                       {"bytes_after", report.bytes_after},
                                       {"weights", weights}};
  return json_text(json);
}

}  // namespace recut
