// A program as a card's code: what runs a training step there.
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

// A program's kernels as code for one kind of card, and what of it is launched.
struct StepCode {
  std::string cubin;
  std::vector<std::vector<Launch>> kernels;  // by kernel
  std::vector<std::vector<Launch>> library;  // by the library's kernel: of attention
  std::vector<std::string> faults;           // as Module has them
};

// Brings the program's kernels into their order (engine/runtime/kernel_order.h), and emits all of
// it without names.
Module emit_step(Program& program, Factors factors);

class Step {
 public:
  // Fails where the card doesn't take the code.
  static Result<Step> load(SharedCard card, Program program, const StepCode& code);

  // Where runs find and keep what was measured of libraries' ways; without it each run measures.
  void keep_ways(std::shared_ptr<KeptWays> ways) { ways_ = std::move(ways); }
  KeptWays* ways() const { return ways_.get(); }

  const SharedCard& card() const { return card_; }
  const Program& program() const { return program_; }
  std::span<const Function> kernel(std::uint32_t number) const { return kernels_[number]; }
  // By the library's kernel: functions of those that are attention.
  std::span<const std::vector<Function>> library() const { return library_; }
  const std::string& fault(std::int64_t number) const;
  // How many pointers the function takes, where it draws random numbers.
  std::optional<std::size_t> buffers_of_drawing(driver::FunctionHandle function) const;
  bool draws() const { return !drawing_.empty(); }
  // Of the card's memory, before anything of the step was there: before the code, or before what
  // was asked to make the program.
  std::int64_t free_before() const { return free_before_; }
  void count_from(std::int64_t free) { free_before_ = free; }

 private:
  Step(SharedCard card, Program program, Cubin cubin, const StepCode& code);
  Result<Done> find_kernels(const StepCode& code);
  Result<std::vector<Function>> find(const std::vector<Launch>& launches) const;

  struct Drawing {
    driver::FunctionHandle function;
    std::size_t buffers;
  };

  SharedCard card_;
  Program program_;
  Cubin cubin_;
  std::shared_ptr<KeptWays> ways_;
  std::vector<std::vector<Function>> kernels_, library_;
  std::vector<std::string> faults_;
  std::vector<Drawing> drawing_;
  std::int64_t free_before_ = 0;
};

// A step with memory on the card: inputs, an arena, and the library's calls with their scratch. All
// launches are recorded as one graph, which runs them again without the processor.
class Run : public StepRun {
 public:
  // `inputs`: one for each of the program's, of their types, as kernels read them
  // (as_kernels_read). The step is kept by reference. Fails where the card lacks the memory, or a
  // library is missing or has no code for a call. A program with a budget leaves libraries no more
  // scratch than what the arena doesn't take of it.
  static Result<Run> prepare(const Step& step, const std::vector<Tensor>& inputs,
                             const CallOptions& options);

  const Program& program() const override { return step_.program(); }
  // Without `launch_seconds` the step runs as a graph from the second time on.
  Result<Done> run(std::uint64_t seed, std::span<double> launch_seconds = {}) override;
  void paint(std::byte with) override;
  std::int64_t end_of_written(std::byte paint) const override;
  Tensor output(std::size_t number) const override;

  // The inputs' values anew, in the order and layouts that prepare() had them in.
  Result<Done> write_inputs(const std::vector<Tensor>& inputs);
  // As much of the storage that an output is a view of as it shows: so many bytes.
  std::int64_t output_bytes(std::size_t number) const;
  Result<Done> read_output(std::size_t number, std::span<std::byte> to) const;

  // What libraries take beside the arena, where their workspaces are not in the plan.
  std::int64_t scratch_bytes() const override { return library_->scratch_bytes(); }
  // Bytes that they may take there.
  std::int64_t scratch_limit_bytes() const { return scratch_limit_bytes_; }
  // What the calls of one launch take, there or here.
  std::int64_t workspace_bytes(const recut::Launch& launch) const;
  // What the card has less free than before the step was loaded: inputs, arena, scratch, code, and
  // what the driver and the libraries keep for themselves.
  std::int64_t taken_bytes() const;
  // Why the step is launched kernel by kernel; empty where it runs as a graph.
  const std::string& not_recorded() const { return not_recorded_; }

 private:
  Run(const Step& step, Stream stream) : step_(step), stream_(std::move(stream)) {}
  Result<Done> reserve(const std::vector<Tensor>& inputs);
  Result<Done> prepare_library(CallOptions options);
  Diagnostics told_of_budget(Diagnostics diagnostics) const;
  driver::Address address(const Place& place) const;
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
  bool bounded_by_budget_ = false;  // that limit
  std::vector<std::int64_t> input_offsets_;
  std::optional<LibraryCalls> library_;
  std::vector<std::vector<driver::Address>> buffers_;  // of each launch
  std::vector<void*> arguments_;                       // of the launch that is made
  driver::Address fault_address_ = 0;
  long long seed_ = 0, graph_seed_ = 0;
  bool ran_ = false;
  std::optional<LaunchGraph> graph_;
  std::string not_recorded_;
  std::vector<Event> events_;
};

}  // namespace recut::cuda
