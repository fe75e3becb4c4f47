#include "tests/random/random_calls.h"

#include <algorithm>
#include <array>
#include <numeric>

namespace recut::test {
namespace {

using Drawn = std::optional<NamedArguments>;

// Numbers at which rewriting is likely to fail.
Argument number(Random& random) {
  static const std::array<Argument, 10> kNumbers = {
      Argument(0),    Argument(1),   Argument(-1),  Argument(2),    Argument(0.0),
      Argument(-0.0), Argument(1.0), Argument(0.5), Argument(-3.0), Argument(true)};
  return random.of(kNumbers);
}

std::int64_t dimension(Draw& d, NodeId of) {
  const std::int64_t rank = std::max<std::int64_t>(1, d.type(of).rank());
  return d.random.between(-rank, rank - 1);
}

Drawn unary(Draw& d) { return NamedArguments{{"self", d.value()}}; }

Drawn binary(Draw& d) {
  const NodeId self = d.value();
  const NodeId other = d.random.one_in(2) ? d.value_of(d.type(self)) : d.value();
  return NamedArguments{{"self", self}, {"other", other}};
}

Drawn with_number(Draw& d) {
  return NamedArguments{{"self", d.value()}, {"other", number(d.random)}};
}

Drawn power(Draw& d) { return NamedArguments{{"self", d.value()}, {"exponent", number(d.random)}}; }

Drawn where(Draw& d) {
  const NodeId self = d.value();
  const NodeId condition = d.value_of({DType::boolean, d.type(self).shape, {}, {}});
  if (!condition.valid()) return std::nullopt;
  const NodeId other = d.random.one_in(3) ? self : d.value_of(d.type(self));
  return NamedArguments{{"condition", condition}, {"self", self}, {"other", other}};
}

Drawn convert(Draw& d) {
  const NodeId self = d.value();
  const DType same = d.type(self).dtype;
  return NamedArguments{{"a", self}, {"dtype", d.random.one_in(4) ? same : random_dtype(d.random)}};
}

// The same elements under another shape.
Drawn view(Draw& d) {
  const NodeId self = d.value();
  if (d.random.one_in(4))
    return NamedArguments{{"self", self}, {"size", Argument(d.type(self).shape)}};
  std::int64_t rest = element_count(d.type(self).shape);
  if (rest == 0) return std::nullopt;
  std::vector<std::int64_t> size;
  for (std::int64_t factor = 2; factor <= 4; ++factor)
    if (rest % factor == 0 && d.random.one_in(2)) {
      size.push_back(factor);
      rest /= factor;
    }
  size.insert(size.begin() + d.random.between(0, static_cast<std::int64_t>(size.size())), rest);
  if (d.random.one_in(4)) size.push_back(1);
  return NamedArguments{{"self", self}, {"size", Argument(size)}};
}

Drawn permute(Draw& d) {
  const NodeId self = d.value();
  std::vector<std::int64_t> dims(d.type(self).shape.size());
  std::iota(dims.begin(), dims.end(), 0);
  for (std::size_t i = dims.size(); i > 1; --i)
    std::swap(dims[i - 1],
              dims[static_cast<std::size_t>(d.random.below(static_cast<std::int64_t>(i)))]);
  return NamedArguments{{"self", self}, {"dims", Argument(dims)}};
}

Drawn expand(Draw& d) {
  const NodeId self = d.value();
  Shape size = d.type(self).shape;
  for (std::int64_t& n : size)
    if (n == 1 && d.random.one_in(2)) n = d.random.between(1, 4);
  if (d.random.one_in(3)) size.insert(size.begin(), d.random.between(1, 3));
  return NamedArguments{{"self", self}, {"size", Argument(size)}};
}

Drawn with_dimension(Draw& d) {
  const NodeId self = d.value();
  return NamedArguments{{"self", self}, {"dim", dimension(d, self)}};
}

Drawn slice(Draw& d) {
  const NodeId self = d.value();
  NamedArguments drawn{{"self", self}, {"dim", dimension(d, self)}};
  if (d.random.one_in(2)) drawn.emplace_back("start", d.random.between(-3, 3));
  if (d.random.one_in(2)) drawn.emplace_back("end", d.random.between(-2, 5));
  if (d.random.one_in(3)) drawn.emplace_back("step", d.random.between(1, 3));
  return drawn;
}

Drawn select(Draw& d) {
  auto drawn = with_dimension(d);
  drawn->emplace_back("index", d.random.between(-2, 2));
  return drawn;
}

Drawn slice_scatter(Draw& d) {
  const NodeId self = d.value();
  return NamedArguments{
      {"self", self}, {"src", d.value_of(d.type(self))}, {"dim", dimension(d, self)}};
}

// A window into the operand's own elements, whatever its layout is.
Drawn as_strided(Draw& d) {
  const NodeId self = d.value_with_dimensions(1);
  if (!self.valid() || !is_dense(d.type(self))) return std::nullopt;
  const std::int64_t elements = element_count(d.type(self).shape);
  if (elements < 2) return std::nullopt;
  const std::int64_t length = d.random.between(1, elements / 2);
  const std::vector<std::int64_t> size{2, length},
      stride{d.random.between(0, elements - length), 1};
  return NamedArguments{{"self", self}, {"size", Argument(size)}, {"stride", Argument(stride)}};
}

Drawn full(Draw& d) {
  return NamedArguments{{"size", Argument(random_shape(d.random))},
                        {"fill_value", number(d.random)},
                        {"dtype", random_dtype(d.random)}};
}

Drawn like(Draw& d) {
  return NamedArguments{{"size", Argument(d.type(d.value()).shape)},
                        {"fill_value", number(d.random)},
                        {"dtype", d.type(d.value()).dtype}};
}

Drawn scalar_tensor(Draw& d) {
  return NamedArguments{{"s", number(d.random)}, {"dtype", random_dtype(d.random)}};
}

Drawn rand(Draw& d) {
  return NamedArguments{{"size", Argument(random_shape(d.random))},
                        {"dtype", DType::f32},
                        {"draw", d.random.below(1000)}};
}

Drawn reduction(Draw& d) {
  const NodeId self = d.value_with_dimensions(1);
  if (!self.valid()) return std::nullopt;
  return NamedArguments{
      {"self", self}, {"dim", ArgumentList{dimension(d, self)}}, {"keepdim", d.random.one_in(2)}};
}

Drawn matrix_product(Draw& d) {
  const NodeId self = d.value_with_dimensions(2);
  if (!self.valid() || d.type(self).rank() != 2) return std::nullopt;
  const NodeId other = d.value();
  return NamedArguments{{"self", self}, {"mat2", other}};
}

Drawn concatenation(Draw& d) {
  const NodeId first = d.value_with_dimensions(1);
  if (!first.valid()) return std::nullopt;
  ArgumentList tensors{first};
  if (d.random.one_in(2)) tensors.push_back(d.value_of(d.type(first)));
  return NamedArguments{{"tensors", tensors}, {"dim", dimension(d, first)}};
}

Drawn padding(Draw& d) {
  const std::vector<std::int64_t> pad{d.random.between(0, 1), d.random.between(0, 1)};
  return NamedArguments{{"self", d.value()}, {"pad", Argument(pad)}, {"value", number(d.random)}};
}

Drawn scan(Draw& d) {
  const NodeId self = d.value_with_dimensions(1);
  if (!self.valid()) return std::nullopt;
  return NamedArguments{{"self", self}, {"dim", dimension(d, self)}};
}

constexpr RandomCall kCalls[] = {
    {"exp", unary},
    {"relu", unary},
    {"neg", unary},
    {"abs", unary},
    {"sin", unary},
    {"tanh", unary},
    {"sigmoid", unary},
    {"sqrt", unary},
    {"reciprocal", unary},
    {"floor", unary},
    {"sign", unary},
    {"logical_not", unary},
    {"bitwise_not", unary},
    {"clone", unary},
    {"alias", unary},
    {"squeeze", unary},
    {"add.Tensor", binary},
    {"sub.Tensor", binary},
    {"mul.Tensor", binary},
    {"div.Tensor", binary},
    {"maximum", binary},
    {"minimum", binary},
    {"gt.Tensor", binary},
    {"eq.Tensor", binary},
    {"bitwise_and.Tensor", binary},
    {"add.Tensor", with_number},
    {"add.Scalar", with_number},
    {"sub.Tensor", with_number},
    {"mul.Tensor", with_number},
    {"mul.Tensor", with_number},
    {"mul.Scalar", with_number},
    {"div.Tensor", with_number},
    {"ge.Scalar", with_number},
    {"pow.Tensor_Scalar", power},
    {"where.self", where},
    {"where.self", where},
    {"prims.convert_element_type", convert},
    {"prims.convert_element_type", convert},
    {"view", view},
    {"view", view},
    {"view", view},
    {"permute", permute},
    {"permute", permute},
    {"expand", expand},
    {"expand", expand},
    {"squeeze.dim", with_dimension},
    {"unsqueeze", with_dimension},
    {"unsqueeze", with_dimension},
    {"slice.Tensor", slice},
    {"slice.Tensor", slice},
    {"select.int", select},
    {"slice_scatter", slice_scatter},
    {"as_strided", as_strided},
    {"full", full},
    {"full", like},
    {"scalar_tensor", scalar_tensor},
    {"rand", rand},
    {"sum.dim_IntList", reduction},
    {"mean.dim", reduction},
    {"amax", reduction},
    {"mm", matrix_product},
    {"cat", concatenation},
    {"constant_pad_nd", padding},
    {"cumsum", scan},
};

}  // namespace

NodeId Draw::value_of(const TensorType& wanted) {
  std::vector<NodeId> fitting;
  for (const NodeId id : values)
    if (type(id).dtype == wanted.dtype && type(id).shape == wanted.shape) fitting.push_back(id);
  return fitting.empty() ? NodeId() : random.of(fitting);
}

NodeId Draw::value_with_dimensions(std::int64_t least) {
  std::vector<NodeId> fitting;
  for (const NodeId id : values)
    if (type(id).rank() >= least) fitting.push_back(id);
  return fitting.empty() ? NodeId() : random.of(fitting);
}

std::span<const RandomCall> random_calls() { return kCalls; }

Shape random_shape(Random& random) {
  Shape shape(static_cast<std::size_t>(random.one_in(6) ? 0 : random.between(1, 3)));
  for (std::int64_t& n : shape) n = random.one_in(30) ? 0 : random.between(1, 4);
  return shape;
}

DType random_dtype(Random& random) {
  static constexpr std::array<DType, 12> kTypes = {
      DType::f32, DType::f32,  DType::f32, DType::f32,     DType::f32, DType::f64,
      DType::f16, DType::bf16, DType::i64, DType::boolean, DType::i32, DType::u8};
  return random.of(kTypes);
}

}  // namespace recut::test
