// A program as machine code, and runs of it as a training step on this machine's processor.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "engine/codegen/llvm/emit.h"
#include "engine/eval/evaluator.h"
#include "engine/runtime/rank_run.h"
#include "native/cpu/jit.h"
#include "native/cpu/onednn.h"
#include "native/cpu/threads.h"

namespace recut::cpu {

// One block of memory: a step's arena, or its library's scratch. It begins at a multiple of 64, and
// a guard page begins less than 64 bytes behind its end.
class Arena {
 public:
  // Fails where the machine lacks the memory.
  static Result<Arena> reserve(std::int64_t bytes);

  Arena(Arena&& other) noexcept;
  Arena& operator=(Arena&&) = delete;
  ~Arena();

  std::byte* data() const { return data_; }
  std::int64_t bytes() const { return bytes_; }
  void fill(std::byte with);

 private:
  Arena() = default;

  std::byte *mapped_ = nullptr, *data_ = nullptr;
  std::int64_t bytes_ = 0, mapped_bytes_ = 0;
};

// A program's kernels as object code for this machine, and the functions in it.
struct StepCode {
  std::string object;
  std::vector<std::vector<loop::Stage>> kernels;  // by kernel
  std::vector<std::string> faults;                // as in llvm_ir::Module
};

class Step {
 public:
  // Fails where the machine has no code for the kernels.
  static Result<Step> compile(Program program);

  // Loads existing code; the program's kernels need no bodies.
  static Result<Step> load(Program program, const StepCode& code);

  // A stage of a kernel (codegen/llvm/emit.h).
  struct StageCode {
    void (*run)(void* const* buffers, std::int64_t first, std::int64_t last, std::int64_t seed,
                std::int64_t* fault);
    std::int64_t extent = 1, grain = 1;
    bool parallel = false;
    double work = 0;
  };

  const Program& program() const { return program_; }
  std::span<const StageCode> kernel(std::uint32_t number) const { return kernels_[number]; }
  const std::string& fault(std::int64_t number) const;

 private:
  Step(Program program, Jit jit, const StepCode& code);

  Program program_;
  Jit jit_;
  std::vector<std::vector<StageCode>> kernels_;
  std::vector<std::string> faults_;
};

// A step with memory and threads: inputs, an arena, and library calls with their scratch.
class Run : public RankRun {
 public:
  // `inputs`: one for each of the program's, of their types, in the layout of as_kernels_read.
  // The step is kept by reference. A stage or call below `min_parallel_work`
  // (codegen/loop/stages.h) runs on one thread. `constant` (none if empty) marks inputs
  // that keep their values while this lives. Library calls read these from a copy in the library's
  // layout. Fails where the machine lacks the memory, or the library has no code for a call.
  static Result<Run> prepare(const Step& step, std::vector<Tensor> inputs, int threads,
                             double min_parallel_work = loop::kMinParallelWork,
                             const std::vector<bool>& constant = {});

  const Program& program() const override { return step_.program(); }
  // Allocates nothing, except oneDNN's own records of a call.
  Result<Done> run(std::uint64_t seed, std::span<double> launch_seconds = {}) override;
  Result<Done> run_launches(std::size_t first, std::size_t last, std::uint64_t seed) override;
  std::byte* memory(const BufferAddress& address) const override { return this->address(address); }
  void paint(std::byte with) override { arena_.fill(with); }
  std::int64_t end_of_written(std::byte paint) const override;
  Tensor output(std::size_t number) const override;

  const std::byte* output_storage(std::size_t output) const override {
    return address(program().outputs[output].address);
  }
  std::int64_t scratch_bytes() const override { return scratch_.bytes(); }
  std::int64_t packed_bytes() const { return packed_.bytes(); }

 private:
  Run(const Step& step, std::vector<Tensor> inputs, Threads threads, double min_parallel_work,
      OneDnn library, Arena arena, Arena scratch, Arena packed);
  void pack();
  Result<Done> run_range(std::size_t first, std::size_t last, std::uint64_t seed,
                         std::span<double> launch_seconds);
  void launch(std::size_t number, std::int64_t seed);
  std::byte* address(const BufferAddress& location) const;

  const Step& step_;
  std::vector<Tensor> inputs_;
  Threads threads_;
  double min_parallel_work_;
  OneDnn library_;
  Arena arena_, scratch_, packed_;
  std::vector<void*> buffers_;               // of all launches, one after another
  std::vector<std::size_t> first_buffers_;   // of each launch, in buffers_
  std::vector<std::byte*> packed_operands_;  // of each launch, in packed_
  std::int64_t fault_ = 0;
};

}  // namespace recut::cpu
