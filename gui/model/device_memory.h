// The memory of one device at the peak of its plan, by kind: its inputs are there all the time, the
// rest is alive at the peak's step.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "gui/model/plan_view.h"

namespace recut::gui {

enum class DeviceShare : unsigned char { parameters, inputs, saved, gathered, outputs, temporary };
inline constexpr std::size_t kDeviceShares = 6;
std::string_view name_of(DeviceShare share);

using DeviceBytes = std::array<std::int64_t, kDeviceShares>;  // by share

// A value that is gathered from all ranks counts as gathered, even if it is saved. Parameters and
// inputs are those of the plan's graph.
DeviceBytes device_bytes(const PlanView& plan);
std::int64_t total_of(const DeviceBytes& bytes);

}  // namespace recut::gui
