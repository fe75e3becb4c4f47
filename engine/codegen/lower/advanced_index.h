// Advanced indexing (index.Tensor, index_put): maps an index of the result to an index of self.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "engine/codegen/lower/lowering.h"

namespace recut::loop {

// The indexed dimensions come first in the result, except that adjacent index tensors leave them
// where they are (NumPy's rule).
struct AdvancedIndex {
  std::vector<NodeId> tensors;  // by dimension of self; invalid: not indexed
  Shape shape;                  // of the index tensors, broadcast together
  std::size_t first = 0;        // their first dimension in the result

  // Index tensors hold integers; masks are refused (has_masks).
  explicit AdvancedIndex(const Call& call);

  // The sizes of the dimensions of self that no tensor indexes, in order.
  Shape kept(const Shape& self) const;
  // The index into the result, from the kept dimensions' part and the index tensors' part.
  Indices joined(const Indices& kept, const Indices& indexed) const;
  // The index into self of the result's element at `at`. Negative indices count from the end and an
  // index out of range is a run-time fault; `clamped` limits all to the range instead.
  enum class OutOfRange : std::uint8_t { faulty, clamped };
  Indices position(Lowering& lowering, const Shape& self, const Indices& at,
                   OutOfRange out_of_range = OutOfRange::faulty) const;
};

// Unsupported calls (formula.h): index tensors that are masks.
std::optional<std::string> has_masks(const Call& call);

}  // namespace recut::loop
