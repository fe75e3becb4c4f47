// How the products of f32 numbers are computed.
#pragma once

#include <cstdint>

namespace recut::cuda {

// tf32: products and convolutions of libraries round their factors to 10 bits behind the point, for
// tensor cores.
enum class Precision : std::uint8_t { f32, tf32 };

}  // namespace recut::cuda
