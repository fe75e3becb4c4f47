#include "engine/rewrite/affine_values.h"

#include <algorithm>
#include <limits>
#include <numeric>

namespace recut {
namespace {

// The limit of magnitudes: sums of a few such numbers stay far from overflow.
constexpr std::int64_t kMaxMagnitude = std::int64_t{1} << 50;

using MaybeAffine = std::optional<AffineValue>;

struct Range {
  std::int64_t minimum = 0, maximum = 0;
};

// The range of the elements of a non-empty value.
Range range_of(const AffineValue& p, const Shape& shape) {
  Range range{p.start, p.start};
  for (std::size_t d = 0; d < shape.size(); ++d)
    (p.steps[d] > 0 ? range.maximum : range.minimum) += p.steps[d] * (shape[d] - 1);
  return range;
}

bool is_small(std::int64_t number) { return number >= -kMaxMagnitude && number <= kMaxMagnitude; }

// For a non-empty value.
bool is_small(const AffineValue& p, const Shape& shape) {
  if (!is_small(p.start)) return false;
  std::int64_t reach = std::abs(p.start);
  for (std::size_t d = 0; d < shape.size(); ++d) {
    if (!is_small(p.steps[d]) || std::abs(p.steps[d]) > kMaxMagnitude / shape[d]) return false;
    reach += std::abs(p.steps[d]) * shape[d];
    if (reach > kMaxMagnitude) return false;
  }
  return true;
}

// Tells whether the dtype represents all numbers of the range.
bool holds(DType dtype, const Range& range) {
  const std::int64_t bits = 8 * item_bytes(dtype);
  if (bits >= 64 || dtype == DType::boolean) return true;
  if (dtype == DType::u8) return range.minimum >= 0 && range.maximum <= 255;
  return range.minimum >= -(std::int64_t{1} << (bits - 1)) && range.maximum < std::int64_t{1}
                                                                                  << (bits - 1);
}

// The transfer functions: each gives the affine value of the call's result from its operands'.
class AffineTransfer {
 public:
  AffineTransfer(const Call& call, const TensorType& type, const AffineAnalysis& known)
      : call_(call), type_(type), known_(known) {}

  MaybeAffine read() const {
    switch (call_.op().op) {
      case Op::prims_iota:
        return along(call_.integer("start"), call_.integer("step"));
      case Op::arange:
        return counted(whole(0), whole(1));
      case Op::arange_start:
        return counted(call_.scalar("start"), whole(1));
      case Op::arange_start_step:
        return counted(call_.scalar("start"), call_.scalar("step"));
      case Op::unsqueeze:
      case Op::squeeze:
      case Op::squeeze_dim:
      case Op::squeeze_dims:
      case Op::view:
      case Op::reshape:
        return reshaped();
      case Op::expand:
        return broadcasted(self());
      case Op::permute:
        return permuted();
      case Op::slice_Tensor:
        return sliced();
      case Op::cat:
        return concatenated();
      case Op::alias:
      case Op::clone:
      case Op::detach:
        return self();
      case Op::prims_convert_element_type:
        return converted();
      default:
        return computed();
    }
  }

 private:
  static Scalar whole(std::int64_t number) {
    return Scalar{DType::i64, static_cast<double>(number), number};
  }

  MaybeAffine computed() const {
    switch (call_.op().op) {
      case Op::add_Tensor:
        return sum(1);
      case Op::sub_Tensor:
        return sum(-1);
      case Op::le_Tensor:
      case Op::le_Scalar:
        return difference("other", "self", 0);
      case Op::lt_Tensor:
      case Op::lt_Scalar:
        return difference("other", "self", -1);
      case Op::ge_Tensor:
      case Op::ge_Scalar:
        return difference("self", "other", 0);
      case Op::gt_Tensor:
      case Op::gt_Scalar:
        return difference("self", "other", -1);
      case Op::eq_Tensor:
      case Op::eq_Scalar:
        return equality(true);
      case Op::ne_Tensor:
      case Op::ne_Scalar:
        return equality(false);
      case Op::bitwise_not:
      case Op::logical_not:
        return negation();
      case Op::bitwise_and_Tensor:
      case Op::logical_and:
        return conjunction();
      case Op::tril:
        return triangle(1);
      case Op::triu:
        return triangle(-1);
      case Op::cumsum:
        return running_sum();
      case Op::index_Tensor:
      case Op::_unsafe_index_Tensor:
        return indexed();
      default:
        return std::nullopt;
    }
  }

  std::size_t rank() const { return type_.shape.size(); }

  AffineValue splat(std::int64_t number) const {
    return {number, std::vector<std::int64_t>(rank(), 0)};
  }

  const AffineValue* of(NodeId id) const { return id.valid() ? known_.of(id) : nullptr; }
  MaybeAffine self() const {
    const AffineValue* p = of(call_.node("self"));
    return p == nullptr ? std::nullopt : MaybeAffine(*p);
  }
  const Shape& shape_of_self() const { return call_.tensor("self").shape; }

  // A vector.
  MaybeAffine along(std::int64_t start, std::int64_t step) const {
    return AffineValue{start, {step}};
  }
  MaybeAffine counted(const Scalar& start, const Scalar& step) const {
    if (start.category == DType::f64 || step.category == DType::f64) return std::nullopt;
    return along(start.integer, step.integer);
  }

  // Where dimensions of one element come and go.
  MaybeAffine reshaped() const {
    const MaybeAffine from = self();
    if (!from) return std::nullopt;
    AffineValue to = splat(from->start);
    const Shape& shape = shape_of_self();
    std::size_t d = 0;
    for (std::size_t i = 0; i < shape.size(); ++i) {
      if (shape[i] == 1) continue;
      while (d < rank() && type_.shape[d] == 1) ++d;
      if (d == rank() || type_.shape[d] != shape[i])
        return from->is_splat() ? MaybeAffine(splat(from->start)) : std::nullopt;
      to.steps[d++] = from->steps[i];
    }
    return to;
  }

  // Broadcast to the shape of the result.
  MaybeAffine broadcasted(const MaybeAffine& from) const {
    if (!from || from->steps.size() > rank()) return std::nullopt;
    AffineValue to = splat(from->start);
    std::copy(from->steps.begin(), from->steps.end(),
              to.steps.end() - static_cast<std::ptrdiff_t>(from->steps.size()));
    return to;
  }

  MaybeAffine permuted() const {
    const MaybeAffine from = self();
    if (!from) return std::nullopt;
    AffineValue to = splat(from->start);
    const auto dims = call_.integers("dims");
    for (std::size_t d = 0; d < rank(); ++d)
      to.steps[d] = from->steps[static_cast<std::size_t>(
          *wrap_dimension(dims[d], static_cast<std::int64_t>(rank())))];
    return to;
  }

  MaybeAffine sliced() const {
    MaybeAffine p = self();
    if (!p) return std::nullopt;
    const auto d = static_cast<std::size_t>(
        *wrap_dimension(call_.integer("dim"), static_cast<std::int64_t>(rank())));
    const std::int64_t extent = shape_of_self()[d];
    std::int64_t first = call_.maybe_integer("start").value_or(0);
    if (first < 0) first += extent;
    p->start += p->steps[d] * std::clamp<std::int64_t>(first, 0, extent);
    p->steps[d] *= type_.shape[d] == 1 ? 0 : call_.integer("step");
    return p;
  }

  // A concatenation is affine if each piece continues the one before it.
  MaybeAffine concatenated() const {
    const auto pieces = call_.nodes("tensors");
    const auto d = static_cast<std::size_t>(
        *wrap_dimension(call_.integer("dim"), static_cast<std::int64_t>(rank())));
    const AffineValue* first = of(pieces.front());
    if (first == nullptr || first->steps.size() != rank()) return std::nullopt;
    AffineValue all = *first;
    std::int64_t at = call_.tensor(pieces.front()).shape[d];
    bool has_step = at > 1;
    for (std::size_t i = 1; i < pieces.size(); ++i) {
      const AffineValue* piece = of(pieces[i]);
      const std::int64_t extent = call_.tensor(pieces[i]).shape[d];
      if (piece == nullptr || piece->steps.size() != rank() || at == 0) return std::nullopt;
      if (!has_step) all.steps[d] = (piece->start - all.start) / at;
      has_step = true;
      AffineValue expected = all;
      expected.start += all.steps[d] * at;
      if (extent == 1) expected.steps[d] = 0;
      if (!(*piece == expected)) return std::nullopt;
      at += extent;
    }
    return all;
  }

  MaybeAffine converted() const {
    const AffineValue* p = of(call_.node("a"));
    const bool was_bool = call_.tensor("a").dtype == DType::boolean;
    if (p == nullptr || was_bool != (type_.dtype == DType::boolean)) return std::nullopt;
    return *p;
  }

  // A tensor or an integer, broadcast to the shape of the result.
  MaybeAffine operand(std::string_view parameter) const {
    if (const NodeId id = call_.node(parameter); id.valid()) {
      const AffineValue* p = of(id);
      if (p == nullptr || call_.tensor(id).dtype == DType::boolean) return std::nullopt;
      return broadcasted(*p);
    }
    const Scalar number = call_.scalar(parameter);
    if (number.category != DType::i64 || !is_small(number.integer)) return std::nullopt;
    return splat(number.integer);
  }

  static AffineValue weighted_sum(AffineValue a, const AffineValue& b, std::int64_t factor) {
    a.start += factor * b.start;
    for (std::size_t d = 0; d < a.steps.size(); ++d) a.steps[d] += factor * b.steps[d];
    return a;
  }

  MaybeAffine sum(std::int64_t sign) const {
    const Scalar alpha = call_.scalar("alpha");
    const MaybeAffine a = operand("self"), b = operand("other");
    if (!a || !b || alpha.category != DType::i64 || alpha.integer != 1) return std::nullopt;
    return weighted_sum(*a, *b, sign);
  }

  // The predicate left - right + more >= 0.
  MaybeAffine difference(std::string_view left, std::string_view right, std::int64_t more) const {
    const MaybeAffine a = operand(left), b = operand(right);
    if (!a || !b) return std::nullopt;
    AffineValue p = weighted_sum(*a, *b, -1);
    p.start += more;
    return p;
  }

  // Known only if all elements are equal to each other.
  MaybeAffine equality(bool equal) const {
    const MaybeAffine distance = difference("self", "other", 0);
    if (!distance) return std::nullopt;
    const Range range = range_of(*distance, type_.shape);
    if (range.minimum == 0 && range.maximum == 0) return splat(equal ? 0 : -1);
    if (range.minimum > 0 || range.maximum < 0) return splat(equal ? -1 : 0);
    return std::nullopt;
  }

  MaybeAffine negation() const {
    MaybeAffine p = self();
    if (!p || call_.tensor("self").dtype != DType::boolean) return std::nullopt;
    p->start = -p->start - 1;
    for (std::int64_t& step : p->steps) step = -step;
    return p;
  }

  // A conjunction of booleans, one of which is true everywhere. The splat analysis handles an
  // operand that is false everywhere.
  MaybeAffine conjunction() const {
    for (const auto& [one, other] : {std::pair("self", "other"), std::pair("other", "self")}) {
      const NodeId a = call_.node(one), b = call_.node(other);
      const AffineValue *all = of(a), *rest = of(b);
      if (all == nullptr || rest == nullptr) continue;
      if (call_.tensor(a).dtype != DType::boolean || call_.tensor(b).dtype != DType::boolean)
        return std::nullopt;
      if (all->is_splat() && all->start >= 0) return broadcasted(*rest);
    }
    return std::nullopt;
  }

  // A triangle of a boolean that is true everywhere. `side` is 1 for tril, -1 for triu.
  MaybeAffine triangle(std::int64_t side) const {
    const MaybeAffine from = self();
    const std::int64_t diagonal = call_.integer("diagonal");
    if (!from || type_.dtype != DType::boolean || !is_small(diagonal)) return std::nullopt;
    if (!from->is_splat() || from->start < 0) return std::nullopt;
    AffineValue p = splat(side * diagonal);
    p.steps[rank() - 2] = side;
    p.steps[rank() - 1] = -side;
    return p;
  }

  MaybeAffine running_sum() const {
    const MaybeAffine from = self();
    if (!from || !from->is_splat() || rank() == 0) return std::nullopt;
    const bool of_bools = call_.tensor("self").dtype == DType::boolean;
    const std::int64_t number = of_bools ? (from->start >= 0 ? 1 : 0) : from->start;
    AffineValue p = splat(number);
    p.steps[static_cast<std::size_t>(
        *wrap_dimension(call_.integer("dim"), static_cast<std::int64_t>(rank())))] = number;
    return p;
  }

  // A splat indexed by indices that are all in range.
  MaybeAffine indexed() const {
    const MaybeAffine from = self();
    if (!from || !from->is_splat()) return std::nullopt;
    const auto indices = call_.nodes("indices");
    for (std::size_t i = 0; i < indices.size(); ++i) {
      if (!indices[i].valid()) continue;
      const AffineValue* index = of(indices[i]);
      const TensorType& type = call_.tensor(indices[i]);
      if (index == nullptr || type.dtype == DType::boolean) return std::nullopt;
      const Range range = range_of(*index, type.shape);
      const std::int64_t extent = shape_of_self()[i];
      if (range.minimum < -extent || range.maximum >= extent) return std::nullopt;
    }
    return splat(from->start);
  }

  const Call& call_;
  const TensorType& type_;
  const AffineAnalysis& known_;
};

}  // namespace

bool AffineValue::is_splat() const {
  return std::all_of(steps.begin(), steps.end(), [](std::int64_t step) { return step == 0; });
}

void AffineAnalysis::analyze(NodeId id) {
  if (values_.count(id) != 0) return;
  if (auto affine = affine_value_of(id)) record(id, std::move(*affine));
}

void AffineAnalysis::add_splat(NodeId id, std::int64_t number) {
  const TensorType& type = pool_[id].type();
  const std::int64_t start = type.dtype == DType::boolean ? (number != 0 ? 0 : -1) : number;
  record(id, {start, std::vector<std::int64_t>(type.shape.size(), 0)});
}

const AffineValue* AffineAnalysis::of(NodeId id) const {
  const auto it = values_.find(id);
  return it == values_.end() ? nullptr : &it->second;
}

std::optional<AffineValue> AffineAnalysis::affine_value_of(NodeId id) const {
  const Node& node = pool_[id];
  const Operator& op = operator_of(node.op);
  if (node.outputs.size() != 1 || op.multiple_outputs() || op.is(kInput)) return std::nullopt;
  const TensorType& type = node.type();
  if (!type.exists() || is_floating(type.dtype) || element_count(type.shape) == 0)
    return std::nullopt;
  const Call::TypesOf types_of = [&](NodeId operand) { return pool_.types_of(operand); };
  return AffineTransfer(Call(op, node.arguments, types_of), type, *this).read();
}

void AffineAnalysis::record(NodeId id, AffineValue affine) {
  const TensorType& type = pool_[id].type();
  for (std::size_t d = 0; d < affine.steps.size(); ++d)
    if (type.shape[d] == 1) affine.steps[d] = 0;
  if (!is_small(affine, type.shape)) return;
  const Range range = range_of(affine, type.shape);
  if (!holds(type.dtype, range)) return;
  if (type.dtype == DType::boolean && (range.minimum >= 0 || range.maximum < 0))
    affine = {range.minimum >= 0 ? 0 : -1, std::vector<std::int64_t>(type.shape.size(), 0)};
  values_.emplace(id, std::move(affine));
}

}  // namespace recut
