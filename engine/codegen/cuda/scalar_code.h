// Scalar operators and dtypes in memory as expressions of C++.
#pragma once

#include <span>
#include <string>

#include "engine/codegen/cuda/helpers.h"
#include "engine/codegen/loop/kernel.h"

namespace recut::cuda {

// The names of the types of a value, "float", and of an element in memory, "unsigned short".
std::string value_type_name(DType type);
std::string memory_type_name(DType dtype);

std::string literal(DType type, const loop::Constant& constant);

// The expression of an operator; operands are names or literals. Integer divisors aren't 0.
std::string scalar_code(const loop::Apply& apply, DType operands, DType result,
                        std::span<const std::string> x, Helpers& helpers);

// Combines the value so far with the next one.
std::string combine_code(loop::Combine how, DType type, const std::string& so_far,
                         const std::string& next, Helpers& helpers);
// The sum so far and a product, rounded once.
std::string multiply_add_code(DType type, const std::string& a, const std::string& b,
                              const std::string& so_far, Helpers& helpers);

// An element as a value, and back.
std::string value_of_memory(DType dtype, const std::string& element, Helpers& helpers);
std::string memory_of_value(DType dtype, const std::string& value, Helpers& helpers);

}  // namespace recut::cuda
