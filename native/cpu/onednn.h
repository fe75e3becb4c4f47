// A program's library calls by oneDNN: primitives that are made once and run often.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "engine/codegen/library/library_call.h"
#include "engine/support/result.h"

namespace recut::cpu {

// Whether oneDNN has code for all calls of the kernel, as it says itself when it is asked for
// descriptions of them: there is none for a dilated transposed convolution, say.
bool onednn_takes(const library::Kernel& kernel);

// "2.6.0": what it has code for depends on it.
std::string onednn_version();

class OneDnn {
 public:
  // Primitives for as many threads as the caller has (threads.h), but for one where a kernel's work
  // is less than `least_shared_work` (codegen/loop/stages.h). Fails where oneDNN has no code for a
  // call, which onednn_takes() says before.
  static Result<OneDnn> prepare(std::span<const library::Kernel> kernels, double least_shared_work);

  OneDnn(OneDnn&& other) noexcept;
  OneDnn& operator=(OneDnn&& other) noexcept;
  ~OneDnn();

  // Memory that a kernel needs beside its buffers while it runs, the most of all of them: tensors
  // in the layouts that the primitives like, and what these keep for themselves.
  std::int64_t scratch_bytes() const;

  // Runs a kernel, on those threads. `buffers` in the kernel's order.
  // `scratch`: so many bytes, from a multiple of 64 on. One run at a time.
  void run(std::uint32_t kernel, void* const* buffers, std::byte* scratch) const;

 private:
  struct Primitives;
  explicit OneDnn(std::unique_ptr<Primitives> primitives);
  std::unique_ptr<Primitives> primitives_;
};

}  // namespace recut::cpu
