#include "native/cuda/gpu.h"

#include <fmt/core.h>

#include <utility>
#include <vector>

#include "engine/support/units.h"
#include "native/cuda/shared_library.h"

// The driver is opened at run time (dlopen of libcuda.so.1), and its functions are found by name,
// so that one build works with and without a GPU. The primary context is retained once per process
// and made current for each thread by enter(). All errors come through done(), which adds the
// driver's own name and text of the status. Memory is freed in the destructor, from whichever
// thread that is: driver_here() enters first.

namespace recut::cuda {
namespace {

constexpr int kMinDriverVersion = 12000;  // the lowest CUDA version of a driver

std::string version_text(int version) {
  return fmt::format("{}.{}", version / 1000, version % 1000 / 10);
}

Result<Done> find_functions(const SharedLibrary& library, driver::Functions& functions) {
#define RECUT_FUNCTION(name, ...) \
  if (auto done = library.find(#name, functions.name); !done) return done;
#include "native/cuda/driver_functions.def"
#undef RECUT_FUNCTION
  return Done{};
}

}  // namespace

Result<SharedGpu> Gpu::open(const char* driver) {
  const std::vector<std::string> names = {driver}, folders = {""};
  const auto library = SharedLibrary::open("CUDA's driver", names, folders);
  if (!library)
    return error(fmt::format("this machine has no CUDA driver: {} isn't found", driver));
  driver::Functions functions;
  if (auto done = find_functions(*library, functions); !done) return done.diagnostics();
  return open(functions);
}

Result<SharedGpu> Gpu::open(const driver::Functions& functions) {
  std::shared_ptr<Gpu> gpu(new Gpu());
  gpu->functions_ = functions;
  if (auto done = gpu->connect(); !done) return done.diagnostics();
  return SharedGpu(std::move(gpu));
}

Result<Done> Gpu::connect() {
  const driver::Functions& f = functions_;
  if (f.cuDriverGetVersion(&driver_version_) == driver::kSuccess &&
      driver_version_ < kMinDriverVersion)
    return error(fmt::format("the CUDA driver is too old: it knows CUDA {}, and Recut needs {}",
                             version_text(driver_version_), version_text(kMinDriverVersion)));
  int count = 0;
  driver::Status status = f.cuInit(0);
  if (status == driver::kSuccess) status = f.cuDeviceGetCount(&count);
  if (status == driver::kNoDevice || (status == driver::kSuccess && count == 0))
    return error("this machine has no GPU that CUDA's driver can see");
  if (auto ready = done(status, "CUDA's driver doesn't start"); !ready) return ready;
  char name[256] = {};
  int major = 0, minor = 0;
  status = f.cuDeviceGet(&device_, 0);
  if (status == driver::kSuccess) status = f.cuDeviceGetName(name, sizeof name - 1, device_);
  if (status == driver::kSuccess)
    status = f.cuDeviceGetAttribute(&major, driver::kComputeMajor, device_);
  if (status == driver::kSuccess)
    status = f.cuDeviceGetAttribute(&minor, driver::kComputeMinor, device_);
  if (auto known = done(status, "CUDA's driver says nothing of the GPU"); !known) return known;
  name_ = name;
  capability_ = 10 * major + minor;
  if (capability_ < kMinCapability)
    return error(fmt::format("{} is an sm_{} GPU, and Recut's kernels need sm_{} or later", name_,
                             capability_, kMinCapability));
  status = f.cuDevicePrimaryCtxRetain(&context_, device_);
  if (auto had = done(status, fmt::format("{} can't be used", name_)); !had) return had;
  return enter();
}

Gpu::~Gpu() {
  if (context_ != nullptr) functions_.cuDevicePrimaryCtxRelease_v2(device_);
}

Result<Done> Gpu::enter() const {
  return done(functions_.cuCtxSetCurrent(context_), fmt::format("{} can't be used", name_));
}

const driver::Functions& Gpu::driver_here() const {
  functions_.cuCtxSetCurrent(context_);
  return functions_;
}

std::string Gpu::driver_version() const { return version_text(driver_version_); }

GpuMemory Gpu::memory() const {
  std::size_t free = 0, total = 0;
  functions_.cuMemGetInfo_v2(&free, &total);
  return {static_cast<std::int64_t>(free), static_cast<std::int64_t>(total)};
}

SmLimits Gpu::sm_limits() const {
  return {capability_ >= 90, attribute(driver::kMultiprocessorCount)};
}

int Gpu::attribute(driver::DeviceAttribute which) const {
  int value = 0;
  functions_.cuDeviceGetAttribute(&value, which, device_);
  return value;
}

Result<Done> Gpu::done(driver::Status status, std::string_view doing) const {
  if (status == driver::kSuccess) return Done{};
  const char *name = nullptr, *text = nullptr;
  functions_.cuGetErrorName(status, &name);
  functions_.cuGetErrorString(status, &text);
  return error(
      fmt::format("{}: {} ({})", doing,
                  name == nullptr ? fmt::format("error {}", static_cast<int>(status)) : name,
                  text == nullptr ? "unknown to the driver" : text));
}

Result<DeviceMemory> DeviceMemory::reserve(SharedGpu gpu, std::int64_t bytes,
                                           std::string_view what) {
  DeviceMemory memory;
  if (bytes > 0) {
    const driver::Status status =
        gpu->driver().cuMemAlloc_v2(&memory.address_, static_cast<std::size_t>(bytes));
    if (status == driver::kOutOfMemory)
      return error(fmt::format("{} can't be had: it takes {}, and {} has {} free", what,
                               format_bytes(bytes), gpu->name(), format_bytes(gpu->memory().free)));
    if (auto had = gpu->done(status, fmt::format("{} can't be had", what)); !had)
      return had.diagnostics();
  }
  memory.gpu_ = std::move(gpu);
  memory.bytes_ = bytes;
  return memory;
}

DeviceMemory::DeviceMemory(DeviceMemory&& other) noexcept
    : gpu_(std::move(other.gpu_)),
      address_(std::exchange(other.address_, 0)),
      bytes_(std::exchange(other.bytes_, 0)) {}

DeviceMemory& DeviceMemory::operator=(DeviceMemory&& other) noexcept {
  if (this == &other) return *this;
  release();
  gpu_ = std::move(other.gpu_);
  address_ = std::exchange(other.address_, 0);
  bytes_ = std::exchange(other.bytes_, 0);
  return *this;
}

DeviceMemory::~DeviceMemory() { release(); }

void DeviceMemory::release() {
  if (address_ != 0) gpu_->driver_here().cuMemFree_v2(address_);
}

Result<Done> DeviceMemory::fill(std::byte with) {
  if (bytes_ == 0) return Done{};
  driver::Status status = gpu_->driver().cuMemsetD8_v2(address_, static_cast<unsigned char>(with),
                                                       static_cast<std::size_t>(bytes_));
  if (status == driver::kSuccess) status = gpu_->driver().cuStreamSynchronize(nullptr);
  return gpu_->done(status, "the GPU's memory can't be filled");
}

Result<Done> DeviceMemory::write(std::int64_t offset, std::span<const std::byte> from) {
  if (from.empty()) return Done{};
  driver::Status status = gpu_->driver().cuMemcpyHtoD_v2(
      address_ + static_cast<driver::Address>(offset), from.data(), from.size());
  if (status == driver::kSuccess) status = gpu_->driver().cuStreamSynchronize(nullptr);
  return gpu_->done(status, "the GPU's memory can't be written");
}

Result<Done> DeviceMemory::read(std::int64_t offset, std::span<std::byte> to) const {
  if (to.empty()) return Done{};
  return gpu_->done(gpu_->driver().cuMemcpyDtoH_v2(
                        to.data(), address_ + static_cast<driver::Address>(offset), to.size()),
                    "the GPU's memory can't be read");
}

}  // namespace recut::cuda
