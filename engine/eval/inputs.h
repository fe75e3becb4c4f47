// Values of a graph's inputs and expected outputs, from a safetensors file or random by seed.
//
// In a file, `in.<name>` is the value of a placeholder or constant. `in.<number>` is that of a
// placeholder whose name no tensor has: the lowest number is that of the first one that is neither
// parameter, buffer, constant nor tangent, as a program's caller counts its arguments.
// `out.<position>` is the value of an output, counted in the list of results and then gradients,
// and `grad.<name>` that of the gradient of an input; a graph without gradients passes over the
// last.
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

// Values for every placeholder and constant. Missing tensors are random if a `seed` is given and
// they take at most kMaxEvaluateBytes together; otherwise they are errors, as is a wrong dtype or
// shape. Random values are uniform with bound 1, or 1/sqrt(elements of a row) for parameters of two
// or more dimensions.
Result<Inputs> inputs_from(const Graph& graph, std::span<const NamedTensor> tensors,
                           std::optional<std::uint64_t> seed = std::nullopt);

// One entry for each output, results first: the value in the file, or none.
Result<std::vector<std::optional<Tensor>>> expected_outputs(const Graph& graph,
                                                            std::span<const NamedTensor> tensors);

// Row-major bytes as a tensor of the type's layout. `bytes` must have the type's size.
Tensor tensor_from_bytes(const TensorType& type, std::string_view bytes);

// Row-major bytes of a tensor of any layout.
std::string bytes_of(const Tensor& tensor);

// The same values for the same seed and name on every platform: reals uniform in [-bound, bound),
// integers and bools 0 or 1, so that they are indices into anything; 0 where the bound is 0.
Tensor random_tensor(const TensorType& type, std::uint64_t seed, std::string_view name,
                     double bound = 1);

// The bound of the values that inputs_from draws for an input: 0 for indices into one element.
double random_bound(const Graph& graph, NodeId input);

// Perturbs each real by up to `share` of itself (negative: with the opposite sign). Numbers that
// half of the dtype's bits hold stay: masks and counts are exact.
Inputs perturbed(const Inputs& inputs, std::uint64_t seed, double share);

}  // namespace recut
