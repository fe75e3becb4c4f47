#include "engine/workspace/torchscript_prims.h"

#include <fmt/core.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "engine/ir/call.h"

namespace recut {
namespace {

constexpr const char* kTensor = "Tensor";

// A call's arguments by name, with their defaults.
class NamedArguments {
 public:
  explicit NamedArguments(const ScriptCall& c)
      : call_(c.graph.op(c.id), c.graph[c.id].arguments,
              [&pool = c.graph.pool()](NodeId node) { return pool.types_of(node); }) {}
  const Call* operator->() const { return &call_; }

 private:
  Call call_;
};

std::string converted(ScriptBody& body, const std::string& x, DType dtype) {
  const std::string number = body.integer(script_dtype_number(dtype)), no = body.boolean(false);
  return body.made(kTensor, "aten::to", {x, number, no, no, body.none()});
}

// Adds the values of a range: start, start + step, … below end.
std::vector<std::string> range_operands(ScriptBody& body, std::int64_t start, std::int64_t length,
                                        std::int64_t step, const std::string& dtype,
                                        const std::string& device) {
  const std::string first = body.integer(start), end = body.integer(start + step * length);
  const std::string by = body.integer(step);
  return {first, end, by, dtype, body.none(), device, body.none()};
}

Result<Done> convert(const ScriptCall& c) {
  write_conversion(c);
  return Done{};
}

Result<Done> iota(const ScriptCall& c) {
  const NamedArguments given(c);
  const std::string dtype = c.operand(3), device = c.operand(4);
  c.body.add(c.values, "aten::arange",
             range_operands(c.body, given->integer("start"), given->integer("length"),
                            given->integer("step"), dtype, device));
  return Done{};
}

// Rounded once in the call, and twice by ATen: in f64 the product of two f32 is exact, and the sum
// is rounded to f64 and then to f32. The second rounding differs from a single one only where the
// sum in f64 lies halfway between two f32 and the exact sum doesn't. No wider dtype than f64 exists.
Result<Done> fma(const ScriptCall& c) {
  const DType dtype = c.graph.type(c.id).dtype;
  if (dtype == DType::f64 || dtype == DType::c128)
    return error(fmt::format(
        "TorchScript has no form for operator '{}' of {}: it rounds once, and a product and a sum "
        "round twice; expected f32 or narrower",
        c.graph.op(c.id).target, short_name(dtype)));
  const DType wide = is_complex(dtype) ? DType::c128 : is_floating(dtype) ? DType::f64 : dtype;
  std::vector<std::string> x;
  for (const std::size_t i : {0, 1, 2}) x.push_back(converted(c.body, c.operand(i), wide));
  const std::string product = c.body.made(kTensor, "aten::mul", {x[0], x[1]});
  const std::string sum = c.body.made(kTensor, "aten::add", {product, x[2], c.body.integer(1)});
  const std::string number = c.body.integer(script_dtype_number(dtype));
  const std::string no = c.body.boolean(false);
  c.body.add(c.values, "aten::to", {sum, number, no, no, c.body.none()});
  return Done{};
}

// Max pooling with offsets in windows
// ------------------------------------------------------------------------------------------------

// The windows of one dimension of a plane.
struct Window {
  std::int64_t size = 0;  // of the plane
  std::int64_t kernel = 0, stride = 0, padding = 0, dilation = 0;
  std::int64_t count = 0;
};

std::int64_t item_of(const std::vector<std::int64_t>& list, std::size_t i, std::int64_t missing) {
  if (list.empty()) return missing;
  return list.size() == 1 ? list.front() : list[i];
}

// By dimension; `sizes` ends with those of the plane, `pooled` with the numbers of windows.
std::vector<Window> windows(const ScriptCall& c, const std::vector<std::int64_t>& sizes,
                            const std::vector<std::int64_t>& pooled) {
  const NamedArguments given(c);
  const auto kernel = given->integers("kernel_size"), stride = given->integers("stride");
  const auto padding = given->integers("padding"), dilation = given->integers("dilation");
  std::vector<Window> all(kernel.size());
  for (std::size_t i = 0; i < all.size(); ++i)
    all[i] = {sizes[sizes.size() - all.size() + i],
              kernel[i],
              item_of(stride, i, kernel[i]),
              item_of(padding, i, 0),
              item_of(dilation, i, 1),
              pooled[pooled.size() - all.size() + i]};
  return all;
}

// Arithmetic on i64 tensors.
struct Integers64 {
  ScriptBody& body;

  std::string with(const char* op, const std::string& x, std::int64_t number) {
    return body.made(kTensor, op, {x, body.integer(number)});
  }
  std::string sum(const std::string& a, const std::string& b, std::int64_t factor) {
    return body.made(kTensor, "aten::add", {a, b, body.integer(factor)});
  }
  // The coordinate of positions in an array, by the size of a dimension and of all after it.
  std::string coordinate(const std::string& position, std::int64_t size, std::int64_t after) {
    return with("aten::remainder", with("aten::floor_divide", position, after), size);
  }
  // Where the windows of a dimension begin, in the shape [count, 1, …] of `later` ones.
  std::string begins(const Window& w, std::size_t later, const std::string& device) {
    const std::string range =
        body.made(kTensor, "aten::arange",
                  range_operands(body, -w.padding, w.count, w.stride,
                                 body.integer(script_dtype_number(DType::i64)), device));
    std::vector<std::int64_t> shape = {w.count};
    shape.insert(shape.end(), later, 1);
    return body.made(kTensor, "aten::view", {range, body.integers(shape)});
  }
};

std::int64_t product_after(const std::vector<Window>& all, std::size_t i,
                           std::int64_t Window::*size) {
  std::int64_t product = 1;
  for (std::size_t k = i + 1; k < all.size(); ++k) product *= all[k].*size;
  return product;
}

// An offset is an i8, and wraps in larger windows.
Result<Done> check_offsets(const ScriptCall& c, const std::vector<Window>& all) {
  const std::int64_t places = all.front().kernel * product_after(all, 0, &Window::kernel);
  if (places <= 128) return Done{};
  return error(
      fmt::format("TorchScript has no form for operator '{}' with windows of {} elements, "
                  "expected at most 128",
                  c.graph.op(c.id).target, places));
}

std::string device_of(const ScriptCall& c) {
  const std::string& device = c.graph.type(c.id).device;
  const std::string& known = device.empty() ? c.graph.device : device;
  return known.empty() ? c.body.none() : c.body.text("Device", known);
}

//   index = Σ coordinate · sizes after it,  coordinate = begin + offset · dilation
//   offset = Σ (coordinate - begin) / dilation · kernels after it
Result<Done> pool_with_offsets(const ScriptCall& c) {
  const NodeId x = *c.graph[c.id].arguments[0].get<NodeId>();
  const auto all = windows(c, c.graph.type(x).shape, c.graph.type(c.id).shape);
  if (auto fits = check_offsets(c, all); !fits) return fits;
  std::vector<std::string> operands;
  for (std::size_t i = 0; i < 6; ++i) operands.push_back(c.operand(i));
  const std::string index = c.body.number();
  c.body.add({c.values[0], fmt::format("{} : {}", index, kTensor)},
             fmt::format("aten::max_pool{}d_with_indices", all.size()), operands);
  Integers64 on{c.body};
  const std::string device = device_of(c);
  std::string offset;
  for (std::size_t i = 0; i < all.size(); ++i) {
    const Window& w = all[i];
    const std::string at = on.coordinate(index, w.size, product_after(all, i, &Window::size));
    const std::string inside = on.with(
        "aten::floor_divide", on.sum(at, on.begins(w, all.size() - 1 - i, device), -1), w.dilation);
    const std::string part = on.with("aten::mul", inside, product_after(all, i, &Window::kernel));
    offset = offset.empty() ? part : on.sum(offset, part, 1);
  }
  const std::string number = c.body.integer(script_dtype_number(DType::i8));
  const std::string no = c.body.boolean(false);
  c.body.add({c.values[1]}, "aten::to", {offset, number, no, no, c.body.none()});
  return Done{};
}

Result<Done> offsets_to_indices(const ScriptCall& c) {
  const NamedArguments given(c);
  const auto all = windows(c, given->integers("input_size"), c.graph.type(c.id).shape);
  if (auto fits = check_offsets(c, all); !fits) return fits;
  Integers64 on{c.body};
  const std::string offset = converted(c.body, c.operand(0), DType::i64);
  const std::string device = device_of(c);
  std::string index;
  for (std::size_t i = 0; i < all.size(); ++i) {
    const Window& w = all[i];
    const std::string inside =
        on.coordinate(offset, w.kernel, product_after(all, i, &Window::kernel));
    const std::string at = on.sum(on.begins(w, all.size() - 1 - i, device), inside, w.dilation);
    const std::string part = on.with("aten::mul", at, product_after(all, i, &Window::size));
    index = index.empty() ? part : on.sum(index, part, 1);
  }
  const std::string number = c.body.integer(script_dtype_number(DType::i64));
  const std::string no = c.body.boolean(false);
  c.body.add(c.values, "aten::to", {index, number, no, no, c.body.none()});
  return Done{};
}

using WriteCall = Result<Done> (*)(const ScriptCall&);
constexpr std::pair<Op, WriteCall> kForms[] = {
    {Op::prims_convert_element_type, convert},
    {Op::prims_iota, iota},
    {Op::prims_fma, fma},
    {Op::prims_low_memory_max_pool_with_offsets, pool_with_offsets},
    {Op::prims_low_memory_max_pool_offsets_to_indices, offsets_to_indices},
};

}  // namespace

void write_conversion(const ScriptCall& call) {
  const std::string x = call.operand(0), dtype = call.operand(1), no = call.body.boolean(false);
  call.body.add(call.values, "aten::to", {x, dtype, no, no, call.body.none()});
}

std::optional<Result<Done>> write_prims_call(const ScriptCall& call) {
  const auto* const form = std::find_if(std::begin(kForms), std::end(kForms), [&](const auto& row) {
    return row.first == call.graph[call.id].op;
  });
  if (form == std::end(kForms)) return std::nullopt;
  return form->second(call);
}

}  // namespace recut
