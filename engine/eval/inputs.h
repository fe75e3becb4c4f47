// Values for a graph's inputs, and the outputs to expect: from a safetensors file, or made by seed.
//
// In a file, `in.<name>` is the value of a placeholder or constant, `out.<position>` that of an
// output, counted in the list of results and then gradients, and `grad.<name>` that of the gradient
// of an input; a graph without gradients passes over the last.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/eval/evaluator.h"
#include "engine/input/safetensors.h"

namespace recut {

// Values for every placeholder and constant. What the file lacks is made by `seed` where one is
// given and all of them together take no more than kMaxEvaluateBytes, and is a diagnostic
// otherwise; so is a tensor of another dtype or shape than its node. Made are random tensors of
// reach 1, and of 1/sqrt(elements of a row) for parameters of two dimensions or more.
Result<Inputs> inputs_from(const Graph& graph, std::span<const NamedTensor> tensors,
                           std::optional<std::uint64_t> seed = std::nullopt);

// One entry an output, results first: the value that the file has for it, or nothing.
Result<std::vector<std::optional<Tensor>>> expected_outputs(const Graph& graph,
                                                            std::span<const NamedTensor> tensors);

// Row-major bytes as a tensor of the type's layout. `bytes` must have the type's size.
Tensor tensor_from_bytes(const TensorType& type, std::string_view bytes);

// The other way: row-major bytes of any layout.
std::string bytes_of(const Tensor& tensor);

// The same values for the same seed and name on every platform: reals uniform in [-reach, reach),
// integers and bools 0 or 1, so that they are indices into anything.
Tensor random_tensor(const TensorType& type, std::uint64_t seed, std::string_view name,
                     double reach = 1);

// The same values but for their last bits: each real moves by up to 2^-18 of itself, 32 roundings
// of f32, times `coarser`. Shows how much of a difference rounding alone can make.
Inputs nudged(const Inputs& inputs, std::uint64_t seed, double coarser = 1);

}  // namespace recut
