#include "engine/autodiff/rules/formula.h"

#include <algorithm>

namespace recut::autodiff {
namespace {

std::vector<bool> reduced_dims(std::size_t rank, const std::vector<std::int64_t>& dims) {
  std::vector<bool> reduced(rank, dims.empty());
  for (const std::int64_t d : dims) {
    const auto wrapped = wrap_dimension(d, static_cast<std::int64_t>(rank));
    if (wrapped && static_cast<std::size_t>(*wrapped) < rank)
      reduced[static_cast<std::size_t>(*wrapped)] = true;
  }
  return reduced;
}

}  // namespace

Value with_dims_kept(const Value& value, const Shape& shape, std::vector<std::int64_t> dims,
                     bool keepdim) {
  if (!value.valid() || keepdim) return value;
  Shape kept = shape;
  const auto reduced = reduced_dims(shape.size(), dims);
  for (std::size_t d = 0; d < kept.size(); ++d)
    if (reduced[d]) kept[d] = 1;
  return value.builder()->view(value, kept);
}

std::int64_t elements_in(const Shape& shape, const std::vector<std::int64_t>& dims) {
  std::int64_t count = 1;
  const auto reduced = reduced_dims(shape.size(), dims);
  for (std::size_t d = 0; d < shape.size(); ++d)
    if (reduced[d]) count *= shape[d];
  return count;
}

Value reduced(const Value& elements, std::int64_t reduction) {
  if (!elements.valid() || reduction == 0) return elements;
  return unary(reduction == 1 ? Op::mean : Op::sum, elements);
}

}  // namespace recut::autodiff
