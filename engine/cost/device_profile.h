// Device profiles: what a device sustains, as JSON (samples/devices/*.json, which are built in).
//
//   {"name": "h100", "title": "…", "source": "where the figures are from",
//    "note": "which of them are guesses",
//    "flops_per_second": {"f64": …, "f32": …, "tf32": …, "bf16": …, "f16": …, "i8": …, …},
//    "f32_uses_tf32": true, "bytes_per_second": …, "launch_micros": …,
//    "sustained": {"products": 0.6, "memory": 0.9}}
//
// The rates are peaks, of which a program sustains the shares in `sustained`. Only f32 must be
// named: a dtype that isn't runs at f32's rate. Who measured that adds how many times longer matrix
// products take whose rows are no multiple of 16 bytes apart (engine/passes/pad_mm.h):
//
//    "unaligned_slowdown": {"f32": …, "tf32": …, "bf16": …, "f16": …},
//
// and who measured kernels of a graph on the device
//
//    "corrections": {"products": 1.2, "memory": 1.1, "launches": 0.8},
//    "measured": {"graph": …, "digest": …, "kernels": […]}
//
// factors on what the model has of kernels, by their kind (cost.h), and the kernels themselves
// (measured_kernels.h).
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "engine/cost/device.h"
#include "engine/input/json.h"
#include "engine/ir/graph.h"
#include "engine/support/result.h"

namespace recut {

struct MeasuredGraph;  // measured_kernels.h

// A device with a name, and where its figures are from.
struct DeviceProfile : Device {
  std::string name;    // letters, digits, '.', '_' and '-'
  std::string title;   // for people
  std::string source;  // of the figures
  std::string note;
  DeviceRates peaks;  // of which the rates are shares: no program goes above them
  std::shared_ptr<const MeasuredGraph> measured;  // null: no graph's kernels were

  // The rates with the times of this graph's kernels, where those are what was measured. Fails
  // where they should be and name a call that the graph lacks.
  Result<DeviceRates> rates_of(const Graph& graph) const;
};

// The name of the built-in profile whose rates are DeviceRates's own: plans are priced by it where
// nobody says otherwise.
inline constexpr std::string_view kReferenceDevice = "reference";

// Fails where a key is missing, unknown or there twice, or a figure is no positive number of a
// possible size; every fault is reported, with its place.
Result<DeviceProfile> parse_device_profile(std::string_view json_text, std::string_view file_name);

// The same of an object within a larger text, which the complaints then speak of.
Result<DeviceProfile> read_device_profile(JsonValue profile, std::string_view text,
                                          std::string_view file_name);

// A built-in profile by its bare name ("h100"), or, where `name_or_path` has a '/', a '\' or a '.',
// the profile in that file.
Result<DeviceProfile> find_device(const std::string& name_or_path);

// The profiles that stand in the program, by name.
struct BuiltinProfile {
  std::string_view name;
  std::string_view json;
};
std::span<const BuiltinProfile> builtin_profiles();

}  // namespace recut
