// A program as WebAssembly in this program's memory, and runs of it as a training step.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "engine/runtime/step_run.h"
#include "wasm/step/instance.h"

namespace recut::step {

// A block of this program's memory, aligned to 64 bytes.
class Block {
 public:
  // Fails where there is no such memory; `what` needs it, for the message.
  static Result<Block> reserve(std::int64_t bytes, const std::string& what);

  std::byte* data() const { return begin_; }
  std::int64_t bytes() const { return bytes_; }

 private:
  struct Free {
    void operator()(std::byte* memory) const;
  };
  std::unique_ptr<std::byte, Free> memory_;
  std::byte* begin_ = nullptr;
  std::int64_t bytes_ = 0;
};

class Step {
 public:
  // Compiles all of the program's kernels into one module. Fails where the engine lacks the
  // memory.
  static Result<Step> compile(Program program);

  // A stage of a kernel (codegen/wasm/emit.h); addresses have 32 bits here.
  using StageFunction = void(std::byte* const* buffers, std::int64_t first, std::int64_t last,
                             std::int64_t seed, std::int64_t* fault, std::byte* scratch);
  struct StageCode {
    StageFunction* run = nullptr;
    std::int64_t extent = 1;
  };

  const Program& program() const { return program_; }
  const std::vector<StageCode>& kernel(std::uint32_t number) const { return kernels_[number]; }
  const std::string& fault(std::int64_t number) const;
  std::int64_t scratch_bytes() const { return scratch_bytes_; }

 private:
  Step(Program program, Instance instance, wasm::Module module);

  Program program_;
  Instance instance_;
  std::vector<std::vector<StageCode>> kernels_;
  std::vector<std::string> faults_;
  std::int64_t scratch_bytes_ = 0;
};

// A step with memory and inputs, on this thread.
class Run : public StepRun {
 public:
  // `inputs`: one for each of the program's, of their types, in the layout of as_kernels_read.
  // The step is kept by reference. Fails where the memory is missing.
  static Result<Run> prepare(const Step& step, std::vector<Tensor> inputs);

  const Program& program() const override { return step_.program(); }
  Result<Done> run(std::uint64_t seed, std::span<double> launch_seconds = {}) override;
  void paint(std::byte with) override;
  std::int64_t end_of_written(std::byte paint) const override;
  Tensor output(std::size_t number) const override;
  const std::byte* output_storage(std::size_t output) const override {
    return address(program().outputs[output].address);
  }

 private:
  Run(const Step& step, std::vector<Tensor> inputs, Block arena, Block scratch);
  std::byte* address(const BufferAddress& location) const;

  const Step& step_;
  std::vector<Tensor> inputs_;
  Block arena_, scratch_;
  std::vector<std::byte*> buffers_;  // of all launches, one after another
};

}  // namespace recut::step
