// Advanced indexing (index.Tensor, index_put): which place of self an element of the result stands
// for.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "engine/codegen/lower/lowering.h"

namespace recut::loop {

// Where the indexed dimensions stand in the result: in front, but for those of neighbouring
// tensors, which stand where these do.
struct AdvancedIndex {
  std::vector<NodeId> tensors;  // by dimension of self; invalid: not indexed
  Shape shape;                  // of the index tensors, broadcast together
  std::size_t first = 0;        // of their dimensions in the result

  // Of integers; masks are refused (has_masks).
  explicit AdvancedIndex(const Call& call);

  // Lengths of self's dimensions that no tensor indexes, in order.
  Shape kept(const Shape& self) const;
  // The result's place: that of the kept dimensions, and that of the index tensors.
  Indices joined(const Indices& kept, const Indices& indexed) const;
  // The place in self of the result's element at `at`. Data out of range is the data's fault, and
  // negative indices count from the end; or all are clamped to what is there.
  enum class OutOfRange : std::uint8_t { faulty, clamped };
  Indices place(Lowering& lowering, const Shape& self, const Indices& at,
                OutOfRange out_of_range = OutOfRange::faulty) const;
};

// A refusal (formula.h): indices that are masks.
std::optional<std::string> has_masks(const Call& call);

}  // namespace recut::loop
