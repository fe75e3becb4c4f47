// Steps on a fake GPU (fake_gpu.h), with the emitter's kernels, compiled for this processor.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "native/cuda/execution.h"
#include "tests/codegen/cuda_on_cpu.h"
#include "tests/environment_variable.h"

namespace recut::test {

// A new fake GPU with nothing on it.
cuda::SharedGpu open_fake_gpu();

// The program's code on the fake GPU, valid as long as `code` is. Fails where the compiler does.
Result<cuda::ReadyStep> compile_fake(const cuda::SharedGpu& gpu, Program program,
                                     cuda::MatmulPrecision matmul_precision,
                                     std::unique_ptr<CudaOnCpu>& code);

// While it lives, cuBLASLt and cuDNN of fake_libraries.h are found before this machine's libraries.
// A process opens them once.
class FakeLibraries {
 public:
  FakeLibraries();
  // False if no compiler is there to make them.
  bool provided() const { return provided_; }

 private:
  bool provided_;
  EnvironmentVariable path_;
};

// A step of a file; it owns its code.
struct FakeStep {
  Document document;
  ScheduledPlan scheduled;
  std::unique_ptr<CudaOnCpu> code;
  std::unique_ptr<cuda::ReadyStep> ready;
};
FakeStep fake_step(const std::string& path, const std::string& budget = "none",
                   bool library = false, const std::optional<DeviceProfile>& profile = {});

// Runs and checks it: once uncaptured, once captured, then three steps, and five with clocks.
Result<cuda::Execution> execute_fake(const FakeStep& step,
                                     cuda::Precision precision = cuda::Precision::f32,
                                     bool allows_nondeterminism = false);

}  // namespace recut::test
