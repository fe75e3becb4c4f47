// A program as WebAssembly on several threads of a page that is cross-origin isolated. The step has
// a memory of its own, which the page's thread pool (page/js/thread_pool.js) shares.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "engine/codegen/wasm/emit.h"
#include "engine/runtime/step_run.h"

namespace recut::step {

// The number of threads; 1: this one alone.
int pool_size();

class ParallelRun : public StepRun {
 public:
  // Compiles all kernels into one module, which every thread instantiates, and reserves memory
  // with room for `inputs` (as Run::prepare's), which read() copies into it. Fails where the
  // memory is missing.
  static Result<ParallelRun> prepare(Program program, std::span<const Tensor> inputs);
  void read(std::span<const Tensor> inputs);

  ParallelRun(ParallelRun&& other) noexcept;
  ~ParallelRun() override;

  const Program& program() const override { return program_; }
  Result<Done> run(std::uint64_t seed, std::span<double> launch_seconds = {}) override;
  void paint(std::byte with) override;
  std::int64_t end_of_written(std::byte paint) const override;
  Tensor output(std::size_t number) const override;

  // Bytes of an output's storage, up to the last one that it shows; 0 where there is no gradient.
  std::int64_t output_bytes(std::size_t number) const;
  void read_output(std::size_t number, std::span<std::byte> to) const;

 private:
  // The layout of the step's memory: offsets in bytes from its beginning.
  struct MemoryOffsets {
    std::int64_t lists = 0, arena = 0;
    std::int64_t scratch = 0, scratch_stride = 0;  // of each thread, one after another
    std::vector<std::int64_t> inputs;
  };

  ParallelRun(int step, Program program, wasm::Module module, MemoryOffsets offsets);
  void copy_in(std::int64_t at, std::span<const std::byte> bytes);
  std::int64_t offset_of(const BufferAddress& location) const;
  void write_lists();

  int step_;  // the thread pool's number; 0: moved from
  Program program_;
  wasm::Module module_;
  MemoryOffsets offsets_;
  std::vector<std::uint32_t> first_stage_;  // by kernel, counted through the module
};

}  // namespace recut::step
