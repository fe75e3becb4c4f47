// What recut calibrate is asked for, and who does it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "native/commands/command.h"
#include "native/console.h"
#include "native/cuda/card.h"

namespace recut::native {

struct CalibrateCommand {
  GraphArguments graph;  // whose kernels are measured; no path: none
  std::string target = "cpu";
  int threads = 0;  // of a processor; 0: one a core
  double seconds = 0.3;
  std::int64_t triad_bytes = 0;
  std::string precision = "f32";  // of a card's products of f32
  std::string workspace;          // the most that its libraries may take; "": the usual
  std::string out;
  bool json = false;
};

// All give the exit code.
int calibrate_cpu(CalibrateCommand command, const Console& console);
int calibrate_cuda(const CalibrateCommand& command, const Console& console);

// The same of a card that is open, by code that is there (nothing: NVRTC makes it), in products of
// so many rows.
struct CardToCalibrate {
  cuda::SharedCard card;
  std::optional<std::string> code;
  std::int64_t product = 8192;
};
int calibrate_card(const CalibrateCommand& command, const CardToCalibrate& with,
                   const Console& console);

// What is said where nobody says where the profile goes, and there is no folder of settings.
Diagnostic no_settings_folder();

}  // namespace recut::native
