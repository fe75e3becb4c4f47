// What recut run says of a step that ran, on whatever it ran.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "engine/cost/device.h"
#include "engine/runtime/step_execution.h"
#include "native/cache/step_origin.h"

namespace recut::native {

// What the measured rates stand beside: a profile of what the step runs on.
struct Ceilings {
  std::string name;   // of the profile, or its file
  std::string title;  // what it was measured on
  DeviceRates peaks;
  std::string source;  // who says so: a measurement, a data sheet
};

struct RunReport {
  const StepExecution& execution;
  cache::StepOrigin origin = cache::StepOrigin::compiled;
  int steps = 10;
  bool check = false;
  std::optional<Ceilings> ceilings;
  std::string where;             // "2 threads", or the card
  std::string library;           // whose calls are marked so
  std::string facts;             // lines of their own
  nlohmann::ordered_json more;   // the same as keys
  std::string without_ceilings;  // where none are known: how to know them
};

std::string as_json(const RunReport& report);
std::string as_text(const RunReport& report);

}  // namespace recut::native
