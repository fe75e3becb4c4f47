// An NVIDIA GPU through CUDA's driver: its properties, its context and its memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "engine/codegen/cuda/emit.h"
#include "engine/cost/device.h"
#include "engine/support/result.h"
#include "native/cuda/driver_api.h"

namespace recut::cuda {

inline constexpr const char* kDriverLibrary = "libcuda.so.1";
inline constexpr int kMinCapability = 80;  // sm_80

struct GpuMemory {
  std::int64_t free = 0, total = 0;
};

// A GPU and this process' context on it. The driver keeps a current context for each thread: the
// thread that opens the GPU has it, others call enter() before they use anything on it. Every
// object on the GPU keeps the GPU alive, and any thread may release it.
class Gpu {
 public:
  // Opens the first visible GPU (CUDA_VISIBLE_DEVICES). Fails, with one sentence, where there is
  // no driver, one that is too old, no GPU, or one below sm_80.
  static Result<std::shared_ptr<const Gpu>> open(const char* driver = kDriverLibrary);
  // The same with a driver that was found.
  static Result<std::shared_ptr<const Gpu>> open(const driver::Functions& functions);

  Gpu(const Gpu&) = delete;
  Gpu& operator=(const Gpu&) = delete;
  ~Gpu();

  const std::string& name() const { return name_; }  // "NVIDIA H100 80GB HBM3"
  int capability() const { return capability_; }     // 90 of sm_90
  SmLimits sm_limits() const;
  int driver_major() const { return driver_version_ / 1000; }  // the CUDA version that it knows
  std::string driver_version() const;                          // "13.0"
  GpuMemory memory() const;
  int attribute(driver::DeviceAttribute which) const;  // 0 where the driver doesn't say

  // Makes this context the calling thread's.
  Result<Done> enter() const;
  const driver::Functions& driver() const { return functions_; }
  // The driver, for a thread that may not have entered: it enters first.
  const driver::Functions& driver_here() const;
  // Fails with the driver's text for the status: "`doing`: CUDA_ERROR_… (…)".
  Result<Done> done(driver::Status status, std::string_view doing) const;

 private:
  Gpu() = default;
  Result<Done> connect();

  driver::Functions functions_;
  driver::Device device_ = 0;
  driver::Context context_ = nullptr;
  std::string name_;
  int capability_ = 0, driver_version_ = 0;
};
using SharedGpu = std::shared_ptr<const Gpu>;

// A block of the GPU's memory.
class DeviceMemory {
 public:
  // Reserves `bytes` bytes at an address that is a multiple of 256; `what` needs them, for the
  // message. Fails where the GPU hasn't that many free.
  static Result<DeviceMemory> reserve(SharedGpu gpu, std::int64_t bytes, std::string_view what);

  DeviceMemory() = default;
  DeviceMemory(DeviceMemory&& other) noexcept;
  DeviceMemory& operator=(DeviceMemory&& other) noexcept;
  ~DeviceMemory();

  driver::Address address() const { return address_; }
  std::int64_t bytes() const { return bytes_; }

  // These three wait until they are done; nothing else may run meanwhile.
  Result<Done> fill(std::byte with);
  Result<Done> write(std::int64_t offset, std::span<const std::byte> from);
  Result<Done> read(std::int64_t offset, std::span<std::byte> to) const;

 private:
  void release();

  SharedGpu gpu_;
  driver::Address address_ = 0;
  std::int64_t bytes_ = 0;
};

}  // namespace recut::cuda
