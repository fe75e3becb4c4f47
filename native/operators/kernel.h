// A kept kernel as a function: its library is loaded, and called on a caller's buffers.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "engine/ir/type.h"
#include "engine/support/result.h"
#include "native/operators/operator_call.h"
#include "native/operators/operator_store.h"

namespace recut::operators {

// The prefix of the functions of a kernel's library (native/aot/header.h).
inline constexpr const char* kPrefix = "kernel";

struct KernelTensor {
  std::string name;
  TensorType type;
  std::int64_t bytes = 0;  // of the caller's buffer: to the last element that the strides reach
};

class Kernel {
 public:
  // Loads the library. Fails with the loader's message, and where the library's tensors are not the
  // call's.
  static Result<Kernel> load(const KeptKernel& kept, const OperatorCall& call);

  const std::vector<KernelTensor>& inputs() const { return inputs_; }    // in the call's strides
  const std::vector<KernelTensor>& outputs() const { return outputs_; }

  // Runs on buffers of those tensors, which don't overlap. A null output isn't written. Threads may
  // run one kernel at once. Fails with the fault of the data, such as an index out of range, and
  // where there is no memory.
  Result<Done> run(std::span<const void* const> inputs, std::span<void* const> outputs,
                   std::uint64_t seed) const;

 private:
  struct Copied {
    std::size_t input = 0;  // whose strides the kernel doesn't read
    std::int64_t bytes = 0;
  };
  Result<Done> bind(const OperatorCall& call);
  void* symbol(const std::string& name) const;

  std::shared_ptr<void> library_;
  std::vector<KernelTensor> inputs_, outputs_;
  std::vector<std::size_t> order_;  // for each of the library's inputs, the number of the call's
  std::vector<Copied> copied_;
  std::int64_t arena_bytes_ = 0;
  std::int32_t (*forward_)(const void* step) = nullptr;
  const char* (*fault_)(std::int32_t number) = nullptr;
};

}  // namespace recut::operators
