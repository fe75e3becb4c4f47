// One call of a library on the card, with the ways in which the library can do it.
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

  // At least one; the one that the library thinks best first.
  virtual std::size_t ways() const = 0;
  virtual std::int64_t workspace_bytes(std::size_t way) const = 0;
  // Whether it may give other bits each time.
  virtual bool varies(std::size_t) const { return false; }

  // Puts it on the stream that the call was made for. `buffers` in the kernel's order; `workspace`:
  // as many bytes as the way needs, at a multiple of kWorkspaceAlignment. Fails where the library
  // refuses.
  virtual Result<Done> run(std::size_t way, std::span<const driver::Address> buffers,
                           driver::Address workspace) const = 0;

 protected:
  DeviceCall() = default;
  DeviceCall(const DeviceCall&) = delete;
  DeviceCall& operator=(const DeviceCall&) = delete;
};

// What bounds the ways of a call.
inline constexpr std::size_t kMostWays = 8;
inline constexpr std::int64_t kUsualWorkspace = std::int64_t{256} << 20;
inline constexpr std::int64_t kWorkspaceAlignment = 256;

// What a plan keeps for a call that takes so many bytes: schedules align buffers to less.
constexpr std::int64_t planned_workspace(std::int64_t bytes) {
  return bytes == 0 ? 0 : bytes + kWorkspaceAlignment;
}

// Bytes of workspace: a call's ways take `most` or less, and one of them no more than `least`,
// where the library has such a one.
struct WorkspaceBounds {
  std::int64_t most = 0, least = 0;
};

}  // namespace recut::cuda
