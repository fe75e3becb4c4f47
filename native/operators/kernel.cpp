#include "native/operators/kernel.h"

#include <dlfcn.h>
#include <fmt/core.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "engine/ir/layout.h"
#include "engine/support/text.h"

// A step, as the C header of a library declares it, is words: pointers of inputs, of outputs, the
// arena, the seed, the parallel loop and its context. A kernel runs on its caller's thread.

namespace recut::operators {
namespace {

constexpr std::size_t kAlignment = 64;

// The tensor's description in a library (native/aot/header.cpp).
struct LibraryTensor {
  const char *name, *kind, *dtype;
  std::int64_t rank;
  const std::int64_t *shape, *strides;
  std::int64_t bytes;
};
using TensorAt = const LibraryTensor* (*)(std::int32_t number);

TensorType type_of(const LibraryTensor& tensor) {
  TensorType type;
  type.dtype = dtype_from_short_name(tensor.dtype).value_or(DType::none);
  type.shape.assign(tensor.shape, tensor.shape + tensor.rank);
  type.strides.assign(tensor.strides, tensor.strides + tensor.rank);
  return type;
}

std::vector<KernelTensor> tensors_of(TensorAt at) {
  std::vector<KernelTensor> all;
  while (const LibraryTensor* tensor = at(static_cast<std::int32_t>(all.size())))
    all.push_back({tensor->name, type_of(*tensor), tensor->bytes});
  return all;
}

// Bytes up to the last element that the strides reach.
std::int64_t span_bytes(const TensorType& type) {
  return layout::extent({type.shape, type.strides}) * item_bytes(type.dtype);
}

// Writes a strided tensor's elements row by row.
void copy_rows(const TensorType& type, std::size_t dimension, const char* from, char*& to) {
  const auto item = static_cast<std::size_t>(item_bytes(type.dtype));
  if (dimension == type.shape.size()) {
    std::memcpy(to, from, item);
    to += item;
    return;
  }
  const std::int64_t step = type.strides[dimension] * static_cast<std::int64_t>(item);
  for (std::int64_t i = 0; i < type.shape[dimension]; ++i)
    copy_rows(type, dimension + 1, from + i * step, to);
}

struct Freed {
  void operator()(void* memory) const { std::free(memory); }
};
using Memory = std::unique_ptr<void, Freed>;

Memory aligned_memory(std::int64_t bytes) {
  const std::size_t size = (static_cast<std::size_t>(bytes) + kAlignment) / kAlignment * kAlignment;
  return Memory(std::aligned_alloc(kAlignment, size));
}

}  // namespace

void* Kernel::symbol(const std::string& name) const {
  return dlsym(library_.get(), (std::string(kPrefix) + "_" + name).c_str());
}

Result<Kernel> Kernel::load(const KeptKernel& kept, const OperatorCall& call) {
  Kernel kernel;
  void* const library = dlopen(kept.path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) return error(printable(dlerror(), 400));
  kernel.library_ = std::shared_ptr<void>(library, [](void* loaded) { dlclose(loaded); });
  kernel.arena_bytes_ = kept.arena_bytes;
  if (auto done = kernel.bind(call); !done) return done.diagnostics();
  return kernel;
}

// The library names its inputs as the call does, but may have them in another order.
Result<Done> Kernel::bind(const OperatorCall& call) {
  const auto input_at = reinterpret_cast<TensorAt>(symbol("input"));
  const auto output_at = reinterpret_cast<TensorAt>(symbol("output"));
  forward_ = reinterpret_cast<decltype(forward_)>(symbol("forward"));
  fault_ = reinterpret_cast<decltype(fault_)>(symbol("fault"));
  if (input_at == nullptr || output_at == nullptr || forward_ == nullptr || fault_ == nullptr)
    return error("the library has no kernel of Recut's");
  outputs_ = tensors_of(output_at);
  for (const TensorArgument& tensor : call.tensors)
    inputs_.push_back({tensor.name, tensor.type, span_bytes(tensor.type)});
  for (const KernelTensor& read : tensors_of(input_at)) {
    const auto found = std::find_if(inputs_.begin(), inputs_.end(), [&](const KernelTensor& input) {
      return input.name == read.name;
    });
    const bool fits = found != inputs_.end() && found->type.dtype == read.type.dtype &&
                      found->type.shape == read.type.shape;
    if (!fits)
      return error(fmt::format("the library's input {} is none of the call's", quote(read.name)));
    const auto number = static_cast<std::size_t>(found - inputs_.begin());
    order_.push_back(number);
    if (found->type.strides != read.type.strides) copied_.push_back({number, read.bytes});
  }
  return Done{};
}

Result<Done> Kernel::run(std::span<const void* const> inputs, std::span<void* const> outputs,
                         std::uint64_t seed) const {
  if (inputs.size() != inputs_.size() || outputs.size() != outputs_.size())
    return error(fmt::format("{} inputs and {} outputs found, expected {} and {}", inputs.size(),
                             outputs.size(), inputs_.size(), outputs_.size()));
  std::vector<const void*> read(inputs.begin(), inputs.end());
  for (std::size_t i = 0; i < read.size(); ++i)
    if (read[i] == nullptr && inputs_[i].bytes > 0)
      return error(fmt::format("the input '{}' is null", inputs_[i].name));
  std::vector<Memory> copies;
  for (const Copied& copied : copied_) {
    copies.push_back(aligned_memory(copied.bytes));
    if (copies.back() == nullptr) return error("there is no memory for a copy of an input");
    auto* to = static_cast<char*>(copies.back().get());
    copy_rows(inputs_[copied.input].type, 0, static_cast<const char*>(read[copied.input]), to);
    read[copied.input] = copies.back().get();
  }
  const Memory arena = aligned_memory(arena_bytes_);
  if (arena == nullptr) return error("there is no memory for the kernel's arena");
  std::vector<std::uint64_t> step;
  const auto add = [&](const void* word) {
    step.push_back(reinterpret_cast<std::uintptr_t>(word));
  };
  for (const std::size_t number : order_) add(read[number]);
  for (void* output : outputs) add(output);
  add(arena.get());
  step.insert(step.end(), {seed, 0, 0});
  const std::int32_t fault = forward_(step.data());
  if (fault != 0) return error(fault_(fault));
  return Done{};
}

}  // namespace recut::operators
