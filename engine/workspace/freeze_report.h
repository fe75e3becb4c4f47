// The report of freezing a document (frozen_document.h): the computed constants, and the fate of
// every weight.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace recut {

// The fate of a weight.
enum class WeightFate : std::uint8_t {
  kept,      // the frozen graph reads it as it is
  folded,    // only computed constants have its values
  unread,    // no result depends on it
  no_value,  // neither the file nor the caller has its value, so that it stays an input
};
std::string_view name_of(WeightFate fate);

struct FrozenWeight {
  std::string name;
  WeightFate fate = WeightFate::kept;
  std::int64_t bytes = 0;
  std::vector<std::string> into;  // the computed constants that depend on it
};

struct FreezeReport {
  std::vector<FrozenWeight> weights;               // in the graph's order
  std::vector<std::string> constants;              // computed, in the graph's order
  std::int64_t bytes_before = 0, bytes_after = 0;  // of all weights; of the frozen graph

  std::int64_t count(WeightFate fate) const;
};

// "frozen: 12 constants computed; of 62 weights 20 folded, 41 kept, 1 unread; 44.6 MiB held"
std::string freeze_text(const FreezeReport& report);
// The same with a row for each weight, and as JSON.
std::string freeze_table(const FreezeReport& report);
std::string freeze_json(const FreezeReport& report);

}  // namespace recut
