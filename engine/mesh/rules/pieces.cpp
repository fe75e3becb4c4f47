#include "engine/mesh/rules/pieces.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace recut::mesh {
namespace {

Tensor new_piece(DType dtype, const Shape& shape) {
  return allocate(make_type(dtype, shape), nullptr);
}

Tensor copied_piece(const Tensor& from) {
  Tensor to = new_piece(from.dtype, from.shape);
  copy_tensor(from, to);
  return to;
}

// Powers of two times the value, so that parts add up exactly. A zero has parts that aren't.
template <class T>
T part_of_sum(T value, std::int64_t element, AxisRank at) {
  const std::int64_t turn = (at.rank + element) % at.ranks;
  if (at.ranks == 1) return value;
  if (turn > 2) return T(0);
  const int of_two[] = {2, -1}, of_more[] = {2, -2, 1};
  const int zero_of_two[] = {1, -1}, zero_of_more[] = {2, -1, -1};
  if (value == T(0)) return T(at.ranks == 2 ? zero_of_two[turn] : zero_of_more[turn]);
  return T(at.ranks == 2 ? of_two[turn] : of_more[turn]) * value;
}

// The rank `element % ranks` has the value, the others a lower one (`sign` 1) or a higher one.
template <class T>
T part_of_extreme(T value, std::int64_t element, T sign, AxisRank at) {
  if (element % at.ranks == at.rank) return value;
  return value - sign * T(1 + element % 3);
}

template <class T>
T part_of_partial(T value, std::int64_t element, Reduction reduction, AxisRank at) {
  switch (reduction) {
    case Reduction::sum:
      return part_of_sum(value, element, at);
    case Reduction::avg:
      return at.rank == 0 ? value + T(static_cast<double>(at.ranks - 1)) * value : value - value;
    case Reduction::product:
      return element % at.ranks == at.rank ? value : T(1);
    default:
      return value;
  }
}

bool fits(DType dtype, std::int64_t value) { return wrap_to(dtype, value) == value; }

template <class T>
T any_part(DType dtype, T value, std::int64_t element, Reduction reduction, AxisRank at) {
  if constexpr (!std::is_same_v<T, Complex>) {
    if (reduction != Reduction::min && reduction != Reduction::max)
      return part_of_partial(value, element, reduction, at);
    const T sign = reduction == Reduction::max ? T(1) : T(-1);
    const T part = part_of_extreme(value, element, sign, at);
    if constexpr (std::is_same_v<T, std::int64_t>) return fits(dtype, part) ? part : value;
    return part;
  }
  return part_of_partial(value, element, reduction, at);
}

// Truth values: one rank has the value, the others have one that doesn't change it.
std::int64_t part_of_truth(std::int64_t value, std::int64_t element, Reduction reduction,
                           AxisRank at) {
  return element % at.ranks == at.rank ? value : (reduction == Reduction::max ? 0 : 1);
}

template <class T>
Tensor part_as(const Tensor& whole, Reduction reduction, AxisRank at) {
  Dense<T> values = unpack<T>(whole);
  for (std::int64_t i = 0; i < values.count(); ++i) {
    if constexpr (std::is_same_v<T, std::int64_t>)
      values[i] = whole.dtype == DType::boolean
                      ? part_of_truth(values[i], i, reduction, at)
                      : any_part(whole.dtype, values[i], i, reduction, at);
    else
      values[i] = any_part(whole.dtype, values[i], i, reduction, at);
  }
  Tensor part = new_piece(whole.dtype, whole.shape);
  pack(values, part);
  return part;
}

template <class T>
T reduced_pair(T a, T b, Reduction reduction) {
  if (reduction == Reduction::sum || reduction == Reduction::avg) return a + b;
  if (reduction == Reduction::product) return a * b;
  if constexpr (!std::is_same_v<T, Complex>) {
    if (a != a) return a;
    if (b != b) return b;
    return reduction == Reduction::max ? std::max(a, b) : std::min(a, b);
  }
  return a;
}

template <class T>
Tensor reduced_as(std::span<const Tensor> pieces, Reduction reduction) {
  Dense<T> values = unpack<T>(pieces.front());
  for (const Tensor& piece : pieces.subspan(1)) {
    const Dense<T> more = unpack<T>(piece);
    for (std::int64_t i = 0; i < values.count(); ++i)
      values[i] = reduced_pair(values[i], more[i], reduction);
  }
  if (reduction == Reduction::avg)
    for (T& value : values.data) value = value / T(static_cast<double>(pieces.size()));
  Tensor joined = new_piece(pieces.front().dtype, pieces.front().shape);
  pack(values, joined);
  return joined;
}

}  // namespace

Tensor shard_view(const Tensor& whole, Placement placement, AxisRank at) {
  Tensor view = whole;
  const auto d = static_cast<std::size_t>(placement.dim);
  const Interval part = axis_part(whole.shape[d], at);
  view.shape[d] = part.size;
  view.offset += part.offset * whole.strides[d];
  return view;
}

Tensor piece_of(const Tensor& whole, Placement placement, AxisRank at) {
  if (placement.is_shard()) return copied_piece(shard_view(whole, placement, at));
  if (placement.is_replicate()) return copied_piece(whole);
  if (is_complex(whole.dtype)) return part_as<Complex>(whole, placement.reduction, at);
  if (is_floating(whole.dtype)) return part_as<double>(whole, placement.reduction, at);
  return part_as<std::int64_t>(whole, placement.reduction, at);
}

Tensor join_pieces(std::span<const Tensor> pieces, Placement placement, const Shape& whole) {
  const Tensor& first = pieces.front();
  if (placement.is_replicate()) return first;
  if (placement.is_partial()) {
    if (is_complex(first.dtype)) return reduced_as<Complex>(pieces, placement.reduction);
    if (is_floating(first.dtype)) return reduced_as<double>(pieces, placement.reduction);
    return reduced_as<std::int64_t>(pieces, placement.reduction);
  }
  Tensor joined = new_piece(first.dtype, whole);
  const auto ranks = static_cast<std::int64_t>(pieces.size());
  for (std::int64_t r = 0; r < ranks; ++r) {
    Tensor part = shard_view(joined, placement, {ranks, r});
    copy_tensor(pieces[static_cast<std::size_t>(r)], part);
  }
  return joined;
}

Tensor embedded_piece(const Tensor& piece, Placement placement, const Shape& whole, AxisRank at) {
  if (!placement.is_shard()) return piece;
  Tensor embedded = new_piece(piece.dtype, whole);
  Tensor part = shard_view(embedded, placement, at);
  copy_tensor(piece, part);
  return embedded;
}

}  // namespace recut::mesh
