// What a step's launches took, as the prices of later plans: times of kernels by their calls, and
// factors for the kernels that were not among them.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "engine/cost/device.h"
#include "engine/cost/measured_kernels.h"
#include "engine/fusion/kernel_model.h"
#include "engine/runtime/program.h"

namespace recut {

// Times of launches without what the clocks between them cost, so that they add up to the step
// without clocks: the same is taken off each launch, but none goes below `least` (or its own time,
// where that is less). Where a step takes longer than its launches, each gets the same more.
std::vector<double> without_clocks(std::span<const double> seconds, double step_seconds,
                                   double least);

// One kernel for each list of calls that was launched, in the mean of its launches. `workspaces`: a
// number of bytes for each launch.
MeasuredGraph measured_kernels(const Graph& graph, const Program& program,
                               std::span<const double> seconds,
                               std::span<const std::int64_t> workspaces);

// Measured over modelled time, by kind of kernel, within what a profile may say; 1 of a kind that
// wasn't launched. `kernels`: the program's.
Corrections corrections(const Graph& graph, const KernelModel& kernels, const Program& program,
                        std::span<const double> seconds, const DeviceRates& rates);

}  // namespace recut
