#include "native/commands/reduced_inputs.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <vector>

#include "engine/eval/evaluator.h"
#include "engine/eval/inputs.h"

namespace recut::native {
namespace {

bool gives_a_value(const Graph& graph, NodeId id) {
  return !graph.op(id).is(kInput) && !graph.op(id).multiple_outputs() && graph.type(id).exists();
}

// The first part of a row-major value, of a shape of the same rank that is nowhere larger.
std::string first_part(const std::string& bytes, const Shape& whole, const Shape& part,
                       std::size_t item) {
  if (whole == part) return bytes;
  std::string out;
  const Strides steps = contiguous_strides(whole);
  std::vector<std::int64_t> at(part.size(), 0);
  for (std::int64_t n = element_count(part); n > 0; --n) {
    std::int64_t offset = 0;
    for (std::size_t d = 0; d < part.size(); ++d) offset += at[d] * steps[d];
    out.append(bytes, static_cast<std::size_t>(offset) * item, item);
    for (std::size_t d = part.size(); d-- > 0;) {
      if (++at[d] < part[d]) break;
      at[d] = 0;
    }
  }
  return out;
}

bool is_part(const Shape& part, const Shape& whole) {
  return part.size() == whole.size() &&
         std::equal(part.begin(), part.end(), whole.begin(), std::less_equal<>());
}

}  // namespace

Result<ReducedInputs> ReducedInputs::of(const Graph& graph, std::span<const NamedTensor> tensors,
                                        std::uint64_t seed) {
  const auto inputs = inputs_from(graph, tensors, seed);
  if (!inputs) return inputs.diagnostics();
  ReducedInputs all;
  const auto add = [&](NodeId id, const Tensor& tensor) {
    all.values_[std::string(graph.node_name(id))] = {tensor.dtype, tensor.shape, bytes_of(tensor)};
  };
  for (const auto& [id, tensor] : *inputs) add(id, tensor);
  Graph with_all = graph;
  with_all.signature = nullptr;
  with_all.gradients.clear();
  with_all.results.clear();
  for (const NodeId id : graph.order())
    if (gives_a_value(graph, id)) with_all.results.push_back(id);
  EvaluateOptions options;
  options.seed = seed;
  const auto evaluation = evaluate(with_all, *inputs, options);
  if (!evaluation) {
    all.note_ = "calls that become constants have drawn values: " +
                evaluation.diagnostics().front().message;
    return all;
  }
  for (std::size_t i = 0; i < with_all.results.size(); ++i)
    if (evaluation->outputs[i].exists()) add(with_all.results[i], evaluation->outputs[i]);
  return all;
}

std::string ReducedInputs::file_for(const Graph& reduced) const {
  std::vector<std::string> bytes;
  std::vector<NamedTensor> tensors;
  bytes.reserve(reduced.order().size());
  for (const NodeId id : reduced.order()) {
    if (!reduced.op(id).is(kInput)) continue;
    const auto found = values_.find(std::string(reduced.node_name(id)));
    if (found == values_.end()) continue;
    const Value& value = found->second;
    const Shape& shape = reduced.type(id).shape;
    // A call's own dimensions may have grown while others shrank: then its value is drawn.
    if (!is_part(shape, value.shape)) continue;
    bytes.push_back(first_part(value.bytes, value.shape, shape,
                               static_cast<std::size_t>(item_bytes(value.dtype))));
    tensors.push_back({"in." + found->first, value.dtype, shape, bytes.back()});
  }
  return write_safetensors(tensors);
}

bool ReducedInputs::simplify(const std::string& name, Simpler how) {
  const auto found = values_.find(name);
  if (found == values_.end() || !is_floating(found->second.dtype)) return false;
  Value& value = found->second;
  Tensor tensor = tensor_from_bytes(make_type(value.dtype, value.shape), value.bytes);
  auto reals = unpack<double>(tensor);
  for (double& real : reals.data)
    real = how == Simpler::zeros ? 0 : how == Simpler::ones ? 1 : std::nearbyint(real);
  pack(reals, tensor);
  std::string bytes = bytes_of(tensor);
  if (bytes == value.bytes) return false;
  value.bytes = std::move(bytes);
  return true;
}

}  // namespace recut::native
