// Binds tensors of a file to a graph's inputs and outputs (inputs.h). Random values are a hash of
// seed, name and index: independent of the order of inputs and of the platform.
#include "engine/eval/inputs.h"

#include <fmt/core.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstring>
#include <map>

#include "engine/eval/index_inputs.h"
#include "engine/ir/epsilon.h"
#include "engine/ir/storage_view.h"
#include "engine/support/hash.h"
#include "engine/support/text.h"
#include "engine/support/units.h"

namespace recut {
namespace {

Result<Tensor> matching(const NamedTensor& tensor, const TensorType& type) {
  if (tensor.dtype == type.dtype && tensor.shape == type.shape)
    return tensor_from_bytes(type, tensor.bytes);
  return error(fmt::format("tensor {} is {}{}, the graph has {}{}", quote(tensor.name),
                           short_name(tensor.dtype), format_shape(tensor.shape),
                           short_name(type.dtype), format_shape(type.shape)));
}

// A tensor with exactly the recorded strides, so that as_strided sees the same elements as in
// PyTorch. A layout with gaps is kept only if the storage stays small.
Tensor allocate_as_recorded(const TensorType& type) {
  Layout layout = input_layout(type);
  const std::int64_t extent = layout::extent(layout);
  return {type.dtype, std::move(layout.shape), std::move(layout.strides), 0,
          std::make_shared<Storage>(extent * item_bytes(type.dtype), nullptr)};
}

// Calls visit(row-major index, bytes of the element) for all elements.
template <class Visit>
void for_each_element(Tensor& tensor, Visit&& visit) {
  const std::int64_t item = item_bytes(tensor.dtype);
  std::vector<std::int64_t> at(tensor.shape.size(), 0);
  const std::int64_t count = tensor.count();
  for (std::int64_t i = 0; i < count; ++i) {
    std::int64_t offset = tensor.offset;
    for (std::size_t d = 0; d < at.size(); ++d) offset += at[d] * tensor.strides[d];
    visit(i, tensor.storage->data() + offset * item);
    for (std::size_t d = at.size(); d-- > 0 && ++at[d] == tensor.shape[d];) at[d] = 0;
  }
}

void copy_in(Tensor& tensor, std::string_view bytes) {
  const std::int64_t item = item_bytes(tensor.dtype);
  const char* from = bytes.data();
  for_each_element(tensor, [&](std::int64_t i, std::byte* at) {
    std::memcpy(at, from + i * item, static_cast<std::size_t>(item));
  });
}

bool row_major(const Tensor& tensor) {
  return is_contiguous(TensorType{tensor.dtype, tensor.shape, tensor.strides, {}});
}

Result<std::size_t> output_position(std::string_view name, std::size_t outputs) {
  const std::string_view digits = name.substr(4);
  std::size_t position = 0;
  const auto [end, wrong] = std::from_chars(digits.data(), digits.data() + digits.size(), position);
  if (wrong == std::errc() && end == digits.data() + digits.size() && position < outputs)
    return position;
  return error(
      fmt::format("tensor {} is no output of the graph, which has {}", quote(name), outputs));
}

// The position of an input's gradient among the outputs.
Result<std::size_t> gradient_position(const Graph& graph, std::string_view name) {
  std::size_t position = graph.results.size();
  for (const NodeId id : graph.inputs()) {
    if (graph.input_kind(id) == InputKind::tangent) continue;
    if (graph.node_name(id) == name) return position;
    ++position;
  }
  return error(
      fmt::format("tensor {} is of no input of the graph", quote(fmt::format("grad.{}", name))));
}

// The output whose expected value the tensor is; none if it belongs to no output.
std::optional<Result<std::size_t>> expected_position(const Graph& graph,
                                                     const NamedTensor& tensor) {
  if (tensor.name.starts_with("out."))
    return output_position(tensor.name, graph.results.size() + graph.gradients.size());
  if (tensor.name.starts_with("grad.") && !graph.gradients.empty())
    return gradient_position(graph, tensor.name.substr(5));
  return std::nullopt;
}

// Random values for tensors that the file lacks.
struct RandomInputs {
  std::optional<std::uint64_t> seed;
  std::int64_t bytes = 0;  // so far, in eight-byte working precision

  Result<Tensor> make(const TensorType& type, double bound, std::string_view node,
                      std::string_view tensor) {
    if (!seed)
      return error(fmt::format("tensor {} is missing, expected {}", quote(tensor), format(type)));
    if (!has_values(type.dtype))
      return error(fmt::format("tensor {} is {}, which Recut doesn't compute with yet",
                               quote(tensor), short_name(type.dtype)));
    bytes += std::int64_t{8} * element_count(type.shape);
    if (bytes <= kMaxEvaluateBytes) return random_tensor(type, *seed, node, bound);
    bytes = kMaxEvaluateBytes;
    return error(
        fmt::format("tensor {} is missing, and random values for all that are would take "
                    "more memory than the {} allowed",
                    quote(tensor), format_bytes(kMaxEvaluateBytes)));
  }
};

}  // namespace

// The bound of PyTorch's default initialisation: 1/sqrt(fan-in).
double random_bound(const Graph& graph, NodeId id) {
  if (is_integral(graph.type(id).dtype)) return indexes_one_element(graph, id) ? 0 : 1;
  const Shape& shape = graph.type(id).shape;
  const std::int64_t count = element_count(shape);
  if (graph[id].op != Op::placeholder || graph.input_kind(id) != InputKind::parameter) return 1;
  if (shape.size() < 2 || count == 0) return 1;
  return 1 / std::sqrt(static_cast<double>(count / shape[0]));
}

Tensor tensor_from_bytes(const TensorType& type, std::string_view bytes) {
  RECUT_CHECK(static_cast<std::int64_t>(bytes.size()) == byte_size(type),
              "bytes of another size than the tensor's");
  Tensor tensor = allocate_as_recorded(type);
  if (row_major(tensor)) {
    if (!bytes.empty()) std::memcpy(tensor.storage->data(), bytes.data(), bytes.size());
    return tensor;
  }
  copy_in(tensor, bytes);
  if (bytes_of(tensor) == bytes) return tensor;
  // The recorded layout overlaps, but the values differ: store them contiguously.
  tensor = allocate(make_type(type.dtype, type.shape), nullptr);
  copy_in(tensor, bytes);
  return tensor;
}

std::string bytes_of(const Tensor& tensor) {
  const std::int64_t item = item_bytes(tensor.dtype);
  std::string bytes(static_cast<std::size_t>(tensor.count() * item), '\0');
  Tensor source = tensor;
  for_each_element(source, [&](std::int64_t i, const std::byte* at) {
    std::memcpy(bytes.data() + i * item, at, static_cast<std::size_t>(item));
  });
  return bytes;
}

Tensor random_tensor(const TensorType& type, std::uint64_t seed, std::string_view name,
                     double bound) {
  Tensor tensor = allocate(type, nullptr);
  if (is_complex(type.dtype)) {
    const Tensor parts = parts_of(tensor);
    tensor.storage = random_tensor(make_type(parts.dtype, parts.shape), seed, name, bound).storage;
    tensor.strides = contiguous_strides(type.shape);
    return tensor_from_bytes(type, bytes_of(tensor));
  }
  const std::uint64_t stream = hash_text(seed, name);
  const auto bits = [&](std::int64_t i) { return hash_mix(stream, static_cast<std::uint64_t>(i)); };
  if (is_floating(type.dtype)) {
    Reals values(type.shape);
    for (std::int64_t i = 0; i < values.count(); ++i)
      values[i] = bound * hash_signed_unit(stream, static_cast<std::uint64_t>(i));
    pack(values, tensor);
  } else {
    Integers values(type.shape);
    for (std::int64_t i = 0; i < values.count(); ++i)
      values[i] = bound > 0 ? static_cast<std::int64_t>(bits(i) >> 63) : 0;
    pack(values, tensor);
  }
  return is_dense(type) ? tensor : tensor_from_bytes(type, bytes_of(tensor));
}

namespace {

// True if half of the dtype's significand holds the number: a count, a mask's 0 or 1, an infinity.
bool has_few_bits(DType dtype, double value) {
  if (!std::isfinite(value)) return true;
  int exponent = 0;
  const double bits = -std::log2(epsilon_of(dtype)) / 2;
  const double scaled = std::ldexp(std::frexp(value, &exponent), static_cast<int>(bits));
  return scaled == std::trunc(scaled);
}

}  // namespace

Inputs perturbed(const Inputs& inputs, std::uint64_t seed, double share) {
  Inputs perturbed_inputs = inputs;
  const auto reals_of = [](const Tensor& tensor) {
    return is_complex(tensor.dtype) ? parts_of(tensor) : tensor;
  };
  for (auto& [id, tensor] : perturbed_inputs) {
    if (!is_floating(tensor.dtype) && !is_complex(tensor.dtype)) continue;
    Reals values = unpack<double>(reals_of(tensor));
    const std::uint64_t stream = hash_mix(seed, id.index);
    for (std::int64_t i = 0; i < values.count(); ++i)
      if (!has_few_bits(tensor.dtype, values[i]))
        values[i] *= 1 + share * hash_signed_unit(stream, static_cast<std::uint64_t>(i));
    const auto storage = std::make_shared<Storage>(tensor.storage->size(), nullptr);
    std::memcpy(storage->data(), tensor.storage->data(), static_cast<std::size_t>(storage->size()));
    tensor.storage = storage;
    Tensor reals = reals_of(tensor);
    pack(values, reals);
  }
  return perturbed_inputs;
}

namespace {

using TensorsByName = std::map<std::string, const NamedTensor*, std::less<>>;

// Names the tensors in.0, in.1, … by the arguments without a tensor of their own name.
void name_arguments(const Graph& graph, TensorsByName& tensors) {
  std::map<std::int64_t, const NamedTensor*> numbered;
  for (const auto& [name, tensor] : tensors) {
    std::int64_t number = 0;
    const std::string_view digits =
        std::string_view(name).substr(std::min<std::size_t>(3, name.size()));
    const auto [end, wrong] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
    const bool plain = wrong == std::errc() && end == digits.data() + digits.size();
    if (name.starts_with("in.") && plain && !graph.find(digits).valid())
      numbered.emplace(number, tensor);
  }
  auto next = numbered.begin();
  for (const NodeId id : graph.inputs()) {
    if (next == numbered.end()) return;
    const bool held = !graph.origin(id).module.empty();  // by the module: a buffer
    if (graph.input_kind(id) != InputKind::input || held) continue;
    if (tensors.emplace("in." + graph.node_name(id), next->second).second) ++next;
  }
}

}  // namespace

Result<Inputs> inputs_from(const Graph& graph, std::span<const NamedTensor> tensors,
                           std::optional<std::uint64_t> seed) {
  TensorsByName by_name;
  for (const NamedTensor& tensor : tensors) by_name.emplace(tensor.name, &tensor);
  name_arguments(graph, by_name);
  Inputs inputs;
  Diagnostics wrong;
  RandomInputs random{seed};
  for (const NodeId id : graph.order()) {
    if (!graph.op(id).is(kInput)) continue;
    const TensorType& type = graph.type(id);
    const std::string name = "in." + graph.node_name(id);
    const auto given = by_name.find(name);
    auto value = given != by_name.end()
                     ? matching(*given->second, type)
                     : random.make(type, random_bound(graph, id), graph.node_name(id), name);
    if (value)
      inputs.emplace(id, std::move(*value));
    else
      wrong.push_back(value.diagnostics().front());
  }
  if (!wrong.empty()) return wrong;
  return inputs;
}

Result<std::vector<std::optional<Tensor>>> expected_outputs(const Graph& graph,
                                                            std::span<const NamedTensor> tensors) {
  std::vector<NodeId> outputs = graph.results;
  outputs.insert(outputs.end(), graph.gradients.begin(), graph.gradients.end());
  std::vector<std::optional<Tensor>> expected(outputs.size());
  Diagnostics wrong;
  for (const NamedTensor& tensor : tensors) {
    const auto found = expected_position(graph, tensor);
    if (!found) continue;
    const auto& position = *found;
    if (!position || !outputs[*position].valid()) {
      wrong.push_back(position ? error(fmt::format("tensor {} is an output that the graph lacks",
                                                   quote(tensor.name)))
                               : position.diagnostics().front());
      continue;
    }
    if (expected[*position]) continue;
    auto value = matching(tensor, graph.type(outputs[*position]));
    if (value)
      expected[*position] = std::move(*value);
    else
      wrong.push_back(value.diagnostics().front());
  }
  if (!wrong.empty()) return wrong;
  return expected;
}

}  // namespace recut
