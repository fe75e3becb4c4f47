// Steps on a card that isn't there (fake_card.h), with the emitter's kernels, compiled for this
// processor.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "native/cuda/execution.h"
#include "tests/codegen/cuda_on_cpu.h"

namespace recut::test {

// The fake card as it is at first, with nothing on it.
cuda::SharedCard open_fake_card();

// The program's code on the fake card, as long as `code` is there. Fails where the compiler does.
Result<cuda::ReadyStep> compile_fake(const cuda::SharedCard& card, Program program,
                                     cuda::Factors factors, std::unique_ptr<CudaOnCpu>& code);

// cuBLASLt and cuDNN (fake_libraries.h) in the folder that is searched from now on, as long as
// RECUT_CUDA_PATH names it; false where there is no compiler for them. A process opens them once.
bool provide_libraries();

// A step of a file; the code lives as long as it.
struct FakeStep {
  Document document;
  ScheduledPlan scheduled;
  std::unique_ptr<CudaOnCpu> code;
  std::unique_ptr<cuda::ReadyStep> ready;
};
FakeStep fake_step(const std::string& path, const std::string& budget = "none",
                   bool library = false, const std::optional<DeviceProfile>& profile = {});

// Runs and checks it: once as it is, once to be recorded, then three steps, and five with clocks.
Result<cuda::Execution> execute_fake(const FakeStep& step,
                                     cuda::Precision precision = cuda::Precision::f32,
                                     bool may_vary = false);

}  // namespace recut::test
