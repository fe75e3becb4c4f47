// Axes: round steps between ticks, and their labels.
#pragma once

#include <cstdint>
#include <string>

namespace recut::gui {

// The distance between ticks of bytes, a power of two, so that labels are whole numbers of a binary
// unit; at most `ticks` of them reach `most`.
std::int64_t byte_tick(std::int64_t most, std::int64_t ticks);

// The distance between ticks of microseconds, 1, 2 or 5 times a power of ten, likewise. `most` is
// above 0.
double time_tick(double most, double ticks);

// The label of a tick of bytes: "2 GiB", "0".
std::string byte_label(std::int64_t bytes);

// The label of a tick of time: "20 ms", "0".
std::string time_label(double micros);

}  // namespace recut::gui
