// The matmul precision of f32 on a GPU.
#pragma once

#include <cstdint>
#include <string_view>

#include "engine/codegen/cuda/emit.h"
#include "engine/ir/graph.h"

namespace recut::cuda {

// tf32: libraries round the factors of products and convolutions to 10 fraction bits, for tensor
// cores. bf16: products round them to 7 bits, and convolutions, for which cuDNN has no bf16 math,
// to 10. Sums and results are f32 in all of them.
enum class Precision : std::uint8_t { f32, tf32, bf16 };

// The name of a precision: "f32", "tf32", "bf16".
std::string_view name_of(Precision precision);

// Parses one of these names.
Precision parse_precision(std::string_view name);

// The matmul precision of attention in a step of this precision: tf32 with bf16, too.
MatmulPrecision matmul_precision_of(Precision precision);

// The allowed error of a step's outputs against the interpreter's, relative to their norms, because
// values are rounded to fewer bits than f32 has: operands of products by the precision, and the
// graph's own f16 or bf16 values. 0: the tolerance of the dtypes holds.
double allowed_error(const Graph& graph, Precision precision);

}  // namespace recut::cuda
