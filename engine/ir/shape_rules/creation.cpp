// Rules of creation operators: full, arange, *_like, random numbers. Shapes and dtypes come from
// arguments, so that each rule must bound them before computing with them.
#include <algorithm>
#include <cmath>
#include <numeric>

#include "engine/ir/shape_rules/rules.h"

namespace recut::rules {
namespace {

// A Device argument as a type's device; the graph's own device by default.
std::string named_device(const Call& call) { return std::string(call.text("device")); }

DType named_dtype(const Call& call, DType otherwise) {
  return call.maybe_dtype("dtype").value_or(otherwise);
}

// The dtype that a Python number has as a tensor.
DType dtype_of(const Scalar& scalar) {
  return scalar.category == DType::f64 ? DType::f32 : scalar.category;
}

Inferred in_named_format(const Call& call, Inferred made) {
  if (!made || !has(call, "memory_format")) return made;
  return one(in_memory_format(std::move(made->front()), call.text("memory_format")));
}

}  // namespace

Inferred fill_size(const Call& call) {
  return in_named_format(
      call, sized(named_dtype(call, DType::f32), call.integers("size"), named_device(call)));
}

Inferred fill_value(const Call& call) {
  return sized(named_dtype(call, dtype_of(call.scalar("fill_value"))), call.integers("size"),
               named_device(call));
}

Inferred fill_strided(const Call& call) {
  const bool like = has(call, "self");
  const DType dtype = named_dtype(call, like ? call.tensor("self").dtype : DType::f32);
  const bool named = call.given("device");
  Inferred made = sized(dtype, call.integers("size"),
                        like && !named ? call.tensor("self").device : named_device(call));
  if (!made) return made;
  TensorType& type = made->front();
  type.strides = call.integers("stride");
  if (type.strides.size() != type.shape.size())
    return error(
        fmt::format("{} strides for {} dimensions", type.strides.size(), type.shape.size()));
  return made;
}

Inferred fill_permuted(const Call& call) {
  Inferred made = fill_size(call);
  if (!made) return made;
  TensorType& type = made->front();
  const auto layout = call.integers("physical_layout");
  std::vector<std::int64_t> sorted = layout;
  std::sort(sorted.begin(), sorted.end());
  std::vector<std::int64_t> dimensions(type.shape.size());
  std::iota(dimensions.begin(), dimensions.end(), std::int64_t{0});
  if (sorted != dimensions) return error("physical_layout is no permutation of the dimensions");
  Shape physical;
  for (const std::int64_t d : layout) physical.push_back(type.shape[static_cast<std::size_t>(d)]);
  const Strides strides = contiguous_strides(physical);
  for (std::size_t i = 0; i < layout.size(); ++i)
    type.strides[static_cast<std::size_t>(layout[i])] = strides[i];
  return made;
}

Inferred fill_like(const Call& call) {
  TensorType type = in_memory_format(call.tensor("self"), call.text("memory_format"));
  type.dtype = named_dtype(call, type.dtype);
  if (call.given("device")) type.device = named_device(call);
  return one(std::move(type));
}

Inferred fill_new(const Call& call) {
  const TensorType& self = call.tensor("self");
  return sized(named_dtype(call, self.dtype), call.integers("size"),
               call.given("device") ? named_device(call) : self.device);
}

Inferred scalar_tensor(const Call& call) {
  return sized(named_dtype(call, DType::f32), {}, named_device(call));
}

Inferred eye(const Call& call) {
  const std::int64_t rows = call.integer("n");
  return sized(named_dtype(call, DType::f32), {rows, has(call, "m") ? call.integer("m") : rows},
               named_device(call));
}

Inferred arange(const Call& call) {
  const Scalar zero{DType::i64, 0, 0};
  const Scalar unit{DType::i64, 1, 1};
  const Scalar start = has(call, "start") ? call.scalar("start") : zero;
  const Scalar end = call.scalar("end");
  const Scalar step = has(call, "step") ? call.scalar("step") : unit;
  const bool real =
      start.category == DType::f64 || end.category == DType::f64 || step.category == DType::f64;
  const double range = end.real - start.real;
  if (step.real == 0 || !std::isfinite(range) || !std::isfinite(step.real))
    return error("arange takes finite bounds and a finite step that is not 0");
  if (range != 0 && (range < 0) != (step.real < 0))
    return error(
        fmt::format("a step of {} does not lead from {} to {}", step.real, start.real, end.real));
  const double length = std::ceil(range / step.real);
  if (length > static_cast<double>(kMaxBytes))
    return error(fmt::format("arange would have {} elements", length));
  return sized(named_dtype(call, real ? DType::f32 : DType::i64),
               {static_cast<std::int64_t>(length)}, named_device(call));
}

Inferred linspace(const Call& call) {
  return sized(named_dtype(call, DType::f32), {call.integer("steps")}, named_device(call));
}

Inferred iota(const Call& call) {
  return sized(named_dtype(call, DType::i64), {call.integer("length")}, named_device(call));
}

namespace {

// Elements of the lower triangle of [rows, columns] that ends `offset` right of the diagonal.
std::int64_t lower_triangle(std::int64_t rows, std::int64_t columns, std::int64_t offset) {
  // Row i holds min(columns, i + offset + 1) of them: none, then a growing run, then full rows.
  const std::int64_t first = std::clamp<std::int64_t>(-offset, 0, rows);
  const std::int64_t full = std::clamp<std::int64_t>(columns - offset - 1, first, rows);
  const std::int64_t growing = full - first;
  const std::int64_t shortest = first + offset + 1;
  return growing * shortest + growing * (growing - 1) / 2 + (rows - full) * columns;
}

}  // namespace

Inferred triangle_indices(const Call& call) {
  const std::int64_t rows = call.integer("row");
  const std::int64_t columns = call.integer("col");
  const std::int64_t offset = call.integer("offset");
  constexpr std::int64_t kLimit = 1 << 28;  // products of two fit easily
  if (rows < 0 || columns < 0 || rows > kLimit || columns > kLimit || offset < -kLimit ||
      offset > kLimit)
    return error("row, col and offset have to be sizes of a matrix");
  const bool lower = call.op().packet == "tril_indices";
  const std::int64_t count = lower ? lower_triangle(rows, columns, offset)
                                   : rows * columns - lower_triangle(rows, columns, offset - 1);
  return sized(named_dtype(call, DType::i64), {2, count}, named_device(call));
}

Inferred one_hot(const Call& call) {
  const TensorType& self = call.tensor("self");
  const std::int64_t classes = call.integer("num_classes");
  if (classes < 0) return error("num_classes has to be given where only values could tell it");
  Shape shape = self.shape;
  shape.push_back(classes);
  return sized(DType::i64, std::move(shape), self.device);
}

Inferred vander(const Call& call) {
  const TensorType& x = call.tensor("x");
  if (x.rank() != 1) return error("vander takes a tensor of one dimension");
  const DType dtype = x.dtype == DType::boolean || is_integral(x.dtype) ? DType::i64 : x.dtype;
  return sized(dtype, {x.shape[0], call.maybe_integer("N").value_or(x.shape[0])}, x.device);
}

// Random numbers
// -----------------------------------------------------------------------------------

Inferred randint(const Call& call) {
  return sized(named_dtype(call, DType::i64), call.integers("size"), named_device(call));
}

Inferred randperm(const Call& call) {
  return sized(named_dtype(call, DType::i64), {call.integer("n")}, named_device(call));
}

Inferred multinomial(const Call& call) {
  const TensorType& self = call.tensor("self");
  const std::int64_t samples = call.integer("num_samples");
  if (self.rank() < 1 || self.rank() > 2) return error("weights of one or two dimensions expected");
  if (samples < 1 || (!call.boolean("replacement") && samples > self.shape.back()))
    return error(fmt::format("can't draw {} samples from {}", samples, self.shape.back()));
  Shape shape = self.shape;
  shape.back() = samples;
  return sized(DType::i64, std::move(shape), self.device);
}

Inferred native_dropout(const Call& call) {
  TensorType values =
      elementwise_type(call, call.tensor("input").dtype, call.tensor("input").shape);
  TensorType mask = values;
  mask.dtype = DType::boolean;
  return Types{std::move(values), std::move(mask)};
}

Inferred inductor_seeds(const Call& call) {
  Shape shape;
  if (has(call, "count")) shape.push_back(call.integer("count"));
  return sized(DType::i64, std::move(shape), named_device(call));
}

Inferred inductor_lookup_seed(const Call& call) {
  const TensorType& seeds = call.tensor("seeds");
  const std::int64_t index = call.integer("index");
  if (seeds.rank() != 1 || index < 0 || index >= seeds.shape[0])
    return error(fmt::format("no seed {} in {}", index, format_shape(seeds.shape)));
  return one(make_type(seeds.dtype, {}, seeds.device));
}

Inferred inductor_random(const Call& call) {
  const bool integers = has(call, "low");
  if (!integers && call.text("mode") != "rand" && call.text("mode") != "randn")
    return error(fmt::format("mode is '{}', expected 'rand' or 'randn'", call.text("mode")));
  const TensorType& seed = call.tensor("seed");
  if (element_count(seed.shape) != 1)
    return error(fmt::format("a seed of shape {}, expected one number", format_shape(seed.shape)));
  return sized(integers ? DType::i64 : DType::f32, call.integers("size"), seed.device);
}

}  // namespace recut::rules
