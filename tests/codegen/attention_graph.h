// Graphs of one attention and its gradients, in text form, for tests of the CUDA functions.
#pragma once

#include <cstdint>
#include <string>

namespace recut::test {

// The kind of mask: additive numbers, bools, or a dropout mask.
enum class ScoreMask : std::uint8_t { none, additive, boolean, dropout };

struct AttentionGraph {
  std::string dtype = "f32";
  std::int64_t queries = 64, keys = 64, features = 64, value_features = 64;
  std::int64_t batches = 1, heads = 1, key_heads = 1;
  bool causal = false;
  ScoreMask mask = ScoreMask::none;
  std::string mask_shape = "1, 1, {queries}, {keys}";  // numbers, or names of the above
  bool transposed = false;  // operands are [batch, rows, heads, features] in memory

  std::string name() const;
  // Inputs %q, %k, %v, %m (the mask, if any) and %g, the gradient of the output; results %o, %l,
  // and the gradients.
  std::string text() const;
  // The same as a training step: %g is a tangent, %o the result. Not for transposed operands or
  // masks.
  std::string joint_text() const;

 private:
  std::string operand(const char* name, std::int64_t of, std::int64_t rows,
                      std::int64_t width) const;
  std::string mask_text() const;
  std::string calls() const;
};

}  // namespace recut::test
