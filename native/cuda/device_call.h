// One call of a library on the GPU, with the algorithms that the library has for it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "engine/support/result.h"
#include "native/cuda/driver_api.h"

namespace recut::cuda {

class DeviceCall {
 public:
  virtual ~DeviceCall() = default;

  // At least one; the library's preferred algorithm is 0.
  virtual std::size_t algorithm_count() const = 0;
  virtual std::int64_t workspace_bytes(std::size_t algorithm) const = 0;
  // True if the algorithm may give other bits each time.
  virtual bool is_nondeterministic(std::size_t) const { return false; }

  // Puts the call on the stream that it was made for. `buffers` are in the kernel's order;
  // `workspace` has as many bytes as the algorithm needs, at a multiple of kWorkspaceAlignment.
  // Fails where the library refuses.
  virtual Result<Done> run(std::size_t algorithm, std::span<const driver::Address> buffers,
                           driver::Address workspace) const = 0;

 protected:
  DeviceCall() = default;
  DeviceCall(const DeviceCall&) = delete;
  DeviceCall& operator=(const DeviceCall&) = delete;
};

// Bounds of a call's algorithms.
inline constexpr std::size_t kMaxAlgorithms = 8;
inline constexpr std::int64_t kDefaultWorkspaceBytes = std::int64_t{256} << 20;
inline constexpr std::int64_t kWorkspaceAlignment = 256;

// Bytes that a plan keeps for a call with such a workspace: schedules align buffers to less.
constexpr std::int64_t planned_workspace(std::int64_t bytes) {
  return bytes == 0 ? 0 : bytes + kWorkspaceAlignment;
}

// Bounds of the workspace, in bytes: all algorithms take `max_bytes` or less, and one of them no
// more than `min_bytes`, where the library has such a one.
struct WorkspaceBounds {
  std::int64_t max_bytes = 0, min_bytes = 0;
};

}  // namespace recut::cuda
