// A program as GPU code, and runs of it as a training step.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "engine/codegen/cuda/emit.h"
#include "engine/runtime/step_run.h"
#include "native/cuda/function.h"
#include "native/cuda/library_calls.h"
#include "native/cuda/precision.h"
#include "native/cuda/stream.h"

namespace recut::cuda {

// A program's kernels as code for one GPU architecture, and their launches.
struct StepCode {
  std::string cubin;
  std::vector<std::vector<Launch>> kernels;  // by kernel
  std::vector<std::vector<Launch>> library;  // by library kernel: launches of attention
  std::vector<std::string> faults;           // as Module has them
};

// Brings the program's kernels into canonical order (engine/runtime/kernel_order.h), and emits all
// of it without names.
Module emit_step(Program& program, MatmulPrecision matmul_precision);

class Step {
 public:
  // Fails where the GPU doesn't take the code.
  static Result<Step> load(SharedGpu gpu, Program program, const StepCode& code);

  // The cache of measured algorithms of library calls; without it each run measures.
  void set_algorithm_cache(std::shared_ptr<AlgorithmCache> cache) {
    algorithm_cache_ = std::move(cache);
  }
  AlgorithmCache* algorithm_cache() const { return algorithm_cache_.get(); }

  const SharedGpu& gpu() const { return gpu_; }
  const Program& program() const { return program_; }
  std::span<const Function> kernel(std::uint32_t number) const { return kernels_[number]; }
  // By library kernel: the functions of attention; empty for others.
  std::span<const std::vector<Function>> library() const { return library_; }
  const std::string& fault(std::int64_t number) const;
  // The number of pointers that the function takes, if it draws random numbers.
  std::optional<std::size_t> buffer_count_of_random_kernel(driver::FunctionHandle function) const;
  bool draws() const { return !random_kernels_.empty(); }
  // Free bytes of the GPU before anything of the step was loaded: before the code, or before the
  // libraries were asked while the program was made.
  std::int64_t free_before() const { return free_before_; }
  void count_from(std::int64_t free) { free_before_ = free; }

 private:
  Step(SharedGpu gpu, Program program, Cubin cubin, const StepCode& code);
  Result<Done> find_kernels(const StepCode& code);
  Result<std::vector<Function>> find(const std::vector<Launch>& launches) const;

  struct RandomKernel {
    driver::FunctionHandle function;
    std::size_t buffers;
  };

  SharedGpu gpu_;
  Program program_;
  Cubin cubin_;
  std::shared_ptr<AlgorithmCache> algorithm_cache_;
  std::vector<std::vector<Function>> kernels_, library_;
  std::vector<std::string> faults_;
  std::vector<RandomKernel> random_kernels_;
  std::int64_t free_before_ = 0;
};

// A step with memory on the GPU: inputs, an arena, and library calls with their scratch. All
// launches are captured as one CUDA graph, which replays them without the CPU.
class Run : public StepRun {
 public:
  // `inputs`: one for each of the program's, of their types, in the layout of as_kernels_read.
  // The step is kept by reference. Fails where the GPU lacks the memory, or a library is missing
  // or has no algorithm for a call. A program with a budget leaves libraries no more scratch than
  // the budget has beside the arena.
  static Result<Run> prepare(const Step& step, const std::vector<Tensor>& inputs,
                             const CallOptions& options);

  const Program& program() const override { return step_.program(); }
  // Without `launch_seconds` the step runs as a CUDA graph from the second time on.
  Result<Done> run(std::uint64_t seed, std::span<double> launch_seconds = {}) override;
  void paint(std::byte with) override;
  std::int64_t end_of_written(std::byte paint) const override;
  Tensor output(std::size_t number) const override;

  // Writes new values of the inputs, in the order and layouts of prepare().
  Result<Done> write_inputs(const std::vector<Tensor>& inputs);
  // Bytes of an output's storage, up to the last element that the output shows.
  std::int64_t output_bytes(std::size_t number) const;
  Result<Done> read_output(std::size_t number, std::span<std::byte> to) const;

  // Bytes that libraries take beside the arena, for workspaces that are not in the plan.
  std::int64_t scratch_bytes() const override { return library_->scratch_bytes(); }
  // The bound of these bytes.
  std::int64_t scratch_limit_bytes() const { return scratch_limit_bytes_; }
  // Bytes that the calls of one launch take, in their workspace or beside the arena.
  std::int64_t workspace_bytes(const recut::Launch& launch) const;
  // The decrease of the GPU's free memory since before the step was loaded: inputs, arena, scratch,
  // code, and the driver's and libraries' own memory.
  std::int64_t taken_bytes() const;
  // The reason why the step is launched kernel by kernel; empty if it runs as a CUDA graph.
  const std::string& not_recorded() const { return not_recorded_; }

 private:
  Run(const Step& step, Stream stream) : step_(step), stream_(std::move(stream)) {}
  Result<Done> reserve(const std::vector<Tensor>& inputs);
  Result<Done> prepare_library(CallOptions options);
  Diagnostics with_budget_note(Diagnostics diagnostics) const;
  driver::Address address(const BufferAddress& location) const;
  Workspace workspace(const recut::Launch& launch) const;
  std::int64_t end_of_workspaces() const;
  std::span<const driver::Address> buffers(std::size_t launch) const;

  Result<Done> launch(std::size_t number);
  Result<Done> launch_all();
  Result<Done> run_timed(std::span<double> launch_seconds);
  Result<Done> run_recorded();
  Result<Done> seed_graph();
  Result<Done> finish();

  const Step& step_;
  Stream stream_;
  DeviceMemory arena_, inputs_, fault_;
  std::int64_t scratch_limit_bytes_ = 0;
  bool bounded_by_budget_ = false;  // whether the budget set that limit
  std::vector<std::int64_t> input_offsets_;
  std::optional<LibraryCalls> library_;
  std::vector<std::vector<driver::Address>> buffers_;  // of each launch
  std::vector<void*> arguments_;                       // of the current launch
  driver::Address fault_address_ = 0;
  long long seed_ = 0, graph_seed_ = 0;
  bool ran_ = false;
  std::optional<LaunchGraph> graph_;
  std::string not_recorded_;
  std::vector<Event> events_;
};

}  // namespace recut::cuda
