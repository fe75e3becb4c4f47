// Steps on an NVIDIA GPU, for the window.
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <string>

#include "engine/cost/device.h"
#include "engine/workspace/executor.h"
#include "native/cuda/precision.h"
#include "native/cuda/step_cache.h"

namespace recut::native {

// Functions that open a GPU and compile a program for it; tests replace both.
struct GpuTools {
  std::function<Result<cuda::SharedGpu>()> open;
  std::function<Result<cuda::ReadyStep>(const cuda::SharedGpu& gpu, Program program,
                                        cuda::MatmulPrecision matmul_precision)>
      compile;
};
// The machine's driver, NVRTC and the default cache.
GpuTools default_gpu_tools();

// This machine's GPU, shared by all executors that use it. It is opened on the first use; where
// that fails, the next use tries again.
class GpuAccess {
 public:
  explicit GpuAccess(GpuTools tools = default_gpu_tools()) : tools_(std::move(tools)) {}

  // The GPU, which the calling thread has entered.
  Result<cuda::SharedGpu> enter();
  Result<cuda::ReadyStep> compile(const cuda::SharedGpu& gpu, Program program,
                                  cuda::Precision precision) const {
    return tools_.compile(gpu, std::move(program), cuda::matmul_precision_of(precision));
  }

  std::string name() const;     // "NVIDIA H100 80GB HBM3"; "" before it was opened
  std::string refusal() const;  // why it couldn't be opened; "" where unknown
  SmLimits sm_limits() const;   // empty before it was opened

 private:
  const GpuTools tools_;
  mutable std::mutex mutex_;
  cuda::SharedGpu gpu_;
  std::string refusal_;
};

class CudaExecutor : public Executor {
 public:
  CudaExecutor(std::shared_ptr<GpuAccess> access, cuda::Precision precision)
      : access_(std::move(access)), precision_(precision) {}

  std::string id() const override;
  std::string title() const override;
  std::string remark() const override;
  KernelLibrary library() const override;
  Result<ProgramOptions> program_options() override;
  std::string where() const override;
  std::vector<std::string> run_words() const override;
  std::string device() const override;
  Result<StepMeasurement> run(const ScheduledStep& scheduled, const StepRunOptions& order,
                              const StepProgress& progress) override;
  // Inputs and outputs are in the host's memory, and travel with each step.
  Result<PreparedStep> prepare(Program program, const BindInputs& read) override;

 private:
  std::shared_ptr<GpuAccess> access_;
  cuda::Precision precision_;
};

}  // namespace recut::native
