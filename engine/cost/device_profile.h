// Device profiles: sustained rates of a device as JSON. The profiles of samples/devices/*.json are
// built in.
//
//   {"name": "h100", "title": "…", "source": "where the figures are from",
//    "note": "which of them are guesses",
//    "flops_per_second": {"f64": …, "f32": …, "tf32": …, "bf16": …, "f16": …, "i8": …, …},
//    "f32_uses_tf32": true, "bytes_per_second": …, "launch_micros": …,
//    "sustained": {"products": 0.6, "memory": 0.9}}
//
// The rates are peaks. `sustained` has the share of each that a program sustains. Only f32 is
// required; other dtypes default to its rate. An optional object has the measured factors on the
// time of matrix products whose rows are not a multiple of 16 bytes apart (engine/passes/pad_mm.h):
//
//    "unaligned_slowdown": {"f32": …, "tf32": …, "bf16": …, "f16": …},
//
// Another has the link between the ranks of a group: bytes a second that a rank sends while it
// receives, and the latency of a step.
//
//    "link": {"bytes_per_second": …, "micros": …}
//
// Measurements of a graph's kernels on the device add
//
//    "corrections": {"products": 1.2, "memory": 1.1, "launches": 0.8},
//    "measured": {"graph": …, "digest": …, "kernels": […]}
//
// which are factors on modelled times by kind of kernel (cost.h), and the times themselves
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

// A device with a name and the source of its figures.
struct DeviceProfile : Device {
  std::string name;    // letters, digits, '.', '_' and '-'
  std::string title;   // for users
  std::string source;  // of the figures
  std::string note;
  DeviceRates peaks;  // upper bounds; the sustained rates are shares of them
  std::shared_ptr<const MeasuredGraph> measured;  // null if no graph was measured

  // The rates with the measured kernel times, if they are of this graph. Fails if they are and name
  // a call that the graph lacks.
  Result<DeviceRates> rates_of(const Graph& graph) const;
};

// The name of the built-in profile with DeviceRates's default rates, which plans use by default.
inline constexpr std::string_view kReferenceDevice = "reference";

// Fails if a key is missing, unknown or repeated, or a figure is out of range. Every fault is
// reported with its location.
Result<DeviceProfile> parse_device_profile(std::string_view json_text, std::string_view file_name);

// The same for an object within a larger text, to which the diagnostics refer.
Result<DeviceProfile> read_device_profile(JsonValue profile, std::string_view text,
                                          std::string_view file_name);

// A built-in profile by its bare name ("h100"). If `name_or_path` has a '/', a '\' or a '.', the
// profile in that file.
Result<DeviceProfile> find_device(const std::string& name_or_path);

// The built-in profiles, by name.
struct BuiltinProfile {
  std::string_view name;
  std::string_view json;
};
std::span<const BuiltinProfile> builtin_profiles();

}  // namespace recut
