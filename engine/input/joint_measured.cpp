#include "engine/input/joint_measured.h"

#include <fmt/core.h>

#include "engine/input/joint_nodes.h"
#include "engine/support/text.h"

namespace recut {
namespace {

constexpr double kMaxMicros = 1e12;
constexpr std::int64_t kMaxWorkspace = std::int64_t{1} << 50;  // as large as a value may be
constexpr std::int64_t kMaxGranularity = std::int64_t{1} << 30;
constexpr std::size_t kMaxDeviceName = 100;
constexpr std::string_view kKeys[] = {"us", "workspace_bytes"};

}  // namespace

Measurement read_measurement(JsonValue object, std::string_view name,
                             DiagnosticCollector& diagnostics) {
  JsonFields fields(object, fmt::format("'measured' of {}", describe_node(name)), diagnostics);
  fields.only(kKeys);
  Measurement measurement;
  if (const auto micros = fields.number("us")) {
    if (*micros >= 0 && *micros <= kMaxMicros)
      measurement.micros = *micros;
    else
      fields.report_error(fmt::format("'us' is {}, expected 0 to {}", *micros, kMaxMicros));
  }
  if (const auto bytes = fields.integer("workspace_bytes")) {
    if (*bytes >= 0 && *bytes <= kMaxWorkspace)
      measurement.workspace_bytes = *bytes;
    else
      fields.report_error(
          fmt::format("'workspace_bytes' is {}, expected 0 to {}", *bytes, kMaxWorkspace));
  }
  return measurement;
}

void read_measurement_metadata(JsonFields& file, Measurements& measurements) {
  measurements.device = printable(file.text(kMeasuredOnKey).value_or(""), kMaxDeviceName);
  const auto granularity = file.integer(kGranularityKey);
  if (!granularity) return;
  if (*granularity >= 1 && *granularity <= kMaxGranularity)
    measurements.granularity = *granularity;
  else
    file.report_error(
        fmt::format("'{}' is {}, expected 1 to {}", kGranularityKey, *granularity, kMaxGranularity),
        file.find(kGranularityKey));
}

}  // namespace recut
