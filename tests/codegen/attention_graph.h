// Graphs of one attention and its gradients, in text, for tests of CUDA's functions for them.
#pragma once

#include <cstdint>
#include <string>

namespace recut::test {

// What stands at the scores: numbers, bools, or what dropout keeps.
enum class ScoreMask : std::uint8_t { none, added, hiding, kept };

struct AttentionGraph {
  std::string dtype = "f32";
  std::int64_t queries = 64, keys = 64, features = 64, value_features = 64;
  std::int64_t batches = 1, heads = 1, key_heads = 1;
  bool causal = false;
  ScoreMask mask = ScoreMask::none;
  std::string mask_shape = "1, 1, {queries}, {keys}";  // numbers, or names of the above
  bool turned = false;  // operands are [batch, rows, heads, features] in memory

  std::string name() const;
  // Inputs %q, %k, %v, %m where there is a mask, and %g, the gradient of the output; results %o,
  // %l, and the gradients.
  std::string text() const;
  // The same as a training step: %g a tangent, %o the result. Not of one that is turned or has a
  // mask.
  std::string joint_text() const;

 private:
  std::string operand(const char* name, std::int64_t of, std::int64_t rows,
                      std::int64_t width) const;
  std::string mask_text() const;
  std::string calls() const;
};

}  // namespace recut::test
