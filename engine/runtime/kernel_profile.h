// Measured times of a step's launches, as costs for later plans: times of kernels by their calls,
// and correction factors for all other kernels.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "engine/cost/device.h"
#include "engine/cost/measured_kernels.h"
#include "engine/fusion/kernel_model.h"
#include "engine/runtime/program.h"

namespace recut {

// Subtracts the overhead of the timers between launches, so that the times add up to a step without
// timers. The same overhead is subtracted from each launch, but no time falls below `floor` (or its
// measured time, if that is less). If the step takes longer than its launches, each gets an equal
// share of the difference. Seconds.
std::vector<double> subtract_timer_overhead(std::span<const double> seconds, double step_seconds,
                                            double floor);

// One kernel for each list of calls that was launched, with the mean time of its launches.
// `workspaces`: bytes by launch.
MeasuredGraph measured_kernels(const Graph& graph, const Program& program,
                               std::span<const double> seconds,
                               std::span<const std::int64_t> workspaces);

// Measured over modelled time, by kind of kernel, clamped to a profile's limits; 1 for a kind that
// wasn't launched.
Corrections corrections(const Graph& graph, const KernelModel& kernels, const Program& program,
                        std::span<const double> seconds, const DeviceRates& rates);

}  // namespace recut
