// The report of recut run on a measured step, the same for every device.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "engine/cost/device.h"
#include "engine/runtime/step_execution.h"
#include "native/cache/step_origin.h"

namespace recut::native {

// The ceilings beside the measured rates, from the device's profile.
struct Ceilings {
  std::string name;   // of the profile, or its file
  std::string title;  // the measured device
  DeviceRates peaks;
  std::string source;  // a measurement, or a data sheet
};

struct RunReport {
  const StepExecution& execution;
  cache::StepOrigin origin = cache::StepOrigin::compiled;
  int steps = 10;
  bool check = false;
  std::optional<Ceilings> ceilings;
  std::string where;             // "2 threads", or the GPU
  std::string library;           // the library whose calls are marked
  std::string facts;             // extra lines
  nlohmann::ordered_json more;   // extra JSON keys
  std::string without_ceilings;  // advice where no ceilings are known
};

// One output against its bounds.
nlohmann::ordered_json checked_json(const OutputComparison& output);

std::string as_json(const RunReport& report);
std::string as_text(const RunReport& report);
// The measured peak and the check alone. They name no files.
std::string finding_text(const StepExecution& execution);

}  // namespace recut::native
