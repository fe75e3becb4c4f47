#include "engine/codegen/lower/advanced_index.h"

#include "engine/codegen/lower/nest.h"
#include "engine/support/check.h"

namespace recut::loop {

AdvancedIndex::AdvancedIndex(const Call& call) : tensors(call.nodes("indices")) {
  tensors.resize(call.tensor("self").shape.size());
  std::vector<std::size_t> dims;
  for (std::size_t d = 0; d < tensors.size(); ++d) {
    if (!tensors[d].valid()) continue;
    dims.push_back(d);
    auto both = broadcast(shape, call.tensor(tensors[d]).shape);
    RECUT_CHECK(both.ok(), "the shape rule has seen to it that index tensors fit");
    shape = std::move(*both);
  }
  const bool neighbours = !dims.empty() && dims.back() - dims.front() + 1 == dims.size();
  first = neighbours ? dims.front() : 0;
}

Shape AdvancedIndex::kept(const Shape& self) const {
  Shape lengths;
  for (std::size_t d = 0; d < self.size(); ++d)
    if (!tensors[d].valid()) lengths.push_back(self[d]);
  return lengths;
}

Indices AdvancedIndex::joined(const Indices& kept, const Indices& indexed) const {
  Indices at(kept.begin(), kept.begin() + static_cast<std::ptrdiff_t>(first));
  at.insert(at.end(), indexed.begin(), indexed.end());
  at.insert(at.end(), kept.begin() + static_cast<std::ptrdiff_t>(first), kept.end());
  return at;
}

Indices AdvancedIndex::position(Lowering& lowering, const Shape& self, const Indices& at,
                                OutOfRange out_of_range) const {
  Indices position;
  std::size_t kept = 0;  // of the result's dimensions that no tensor indexes
  for (std::size_t d = 0; d < self.size(); ++d) {
    if (!tensors[d].valid()) {
      position.push_back(at[kept < first ? kept : kept + shape.size()]);
      ++kept;
      continue;
    }
    const Shape& own = lowering.graph().type(tensors[d]).shape;
    Indices in_tensor(own.size(), 0);
    for (std::size_t n = 0; n < own.size(); ++n)
      if (own[n] != 1) in_tensor[n] = at[first + shape.size() - own.size() + n];
    const bool clamped = out_of_range == OutOfRange::clamped;
    ScalarExpr index = lowering.element(tensors[d], in_tensor).to(DType::i64);
    if (clamped) index = smaller(larger(index, 0.0), static_cast<double>(self[d] - 1));
    position.push_back(Nest::checked_index(lowering, index, self[d], /*from_end=*/!clamped));
  }
  return position;
}

std::optional<std::string> has_masks(const Call& call) {
  for (const NodeId id : call.nodes("indices"))
    if (id.valid() && item_bytes(call.tensor(id).dtype) == 1) return "masks as indices";
  return std::nullopt;
}

}  // namespace recut::loop
