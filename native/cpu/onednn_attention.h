// Attention by oneDNN's products and softmax, a block of one head's queries at a time:
//   scores = query key^T;  weights = softmax(scale * scores + mask);  out = weights value
// The scores of a block lie in scratch, so memory grows with the keys and not with their square.
#pragma once

#include <cstddef>
#include <cstdint>
#include <dnnl.hpp>
#include <memory>

#include "engine/codegen/library/library_call.h"

namespace recut::cpu::onednn {

// Bytes: tensors in scratch begin at a multiple of it, as oneDNN likes them.
constexpr std::int64_t kScratchAlignment = 64;

// True for forward attention of f32 without dropout, in layouts that products take.
bool supports_attention(const library::Kernel& kernel);

class AttentionCall {
 public:
  // For a call that supports_attention(), on as many threads as the caller has. Throws dnnl::error
  // where oneDNN has no code for it.
  AttentionCall(const dnnl::engine& engine, const library::Kernel& kernel,
                const library::Attention& call);
  AttentionCall(AttentionCall&& other) noexcept;
  AttentionCall& operator=(AttentionCall&& other) noexcept;
  ~AttentionCall();

  std::int64_t scratch_bytes() const;

  // Makes the code. Before the first run.
  void make();

  // `buffers` in the kernel's order; `scratch`: scratch_bytes() bytes at a multiple of 64.
  void run(void* const* buffers, std::byte* scratch) const;

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

}  // namespace recut::cpu::onednn
