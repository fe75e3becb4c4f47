// Bits of integers and bools.
#include "engine/eval/kernels/elementwise.h"
#include "engine/eval/kernels/pointwise.h"

namespace recut {
namespace {

using namespace elementwise;

// Integers alone: the shape rules refuse floats.
template <class F, class... Names>
Done integers(KernelContext& c, F f, Names... names) {
  return apply<std::int64_t, std::int64_t>(c, result_dtype(c.call), Numbers::arithmetic, f,
                                           names...);
}

template <class F>
Kernel bits(F) {
  return [](KernelContext& c) -> Result<Done> {
    return integers(c, F{}, name_of_parameter(c, 0), name_of_parameter(c, 1));
  };
}

Result<Done> bitwise_not(KernelContext& c) {
  const bool logical = c.output_types[0].dtype == DType::boolean;
  return integers(
      c, [=](std::int64_t x) { return logical ? std::int64_t{x == 0} : ~x; }, "self");
}

std::int64_t width(DType dtype) { return dtype == DType::boolean ? 1 : 8 * item_bytes(dtype); }

Result<Done> shift_left(KernelContext& c) {
  const std::int64_t bits_of = width(result_dtype(c.call));
  return integers(
      c,
      [=](std::int64_t x, std::int64_t by) {
        if (by < 0 || by >= bits_of) return std::int64_t{0};
        return static_cast<std::int64_t>(static_cast<std::uint64_t>(x) << by);
      },
      name_of_parameter(c, 0), name_of_parameter(c, 1));
}

// Out of range, everything but the sign is shifted out.
Result<Done> shift_right(KernelContext& c) {
  const DType dtype = result_dtype(c.call);
  const std::int64_t max_shift = dtype == DType::u8 ? 8 : width(dtype) - 1;
  return integers(
      c,
      [=](std::int64_t x, std::int64_t by) {
        return x >> (by < 0 || by > max_shift ? max_shift : by);
      },
      name_of_parameter(c, 0), name_of_parameter(c, 1));
}

}  // namespace

void add_bit_kernels(KernelTable& table) {
  const Kernel both = bits([](std::int64_t a, std::int64_t b) { return a & b; });
  const Kernel either = bits([](std::int64_t a, std::int64_t b) { return a | b; });
  const Kernel one = bits([](std::int64_t a, std::int64_t b) { return a ^ b; });
  for (const Op op :
       {Op::bitwise_and_Tensor, Op::bitwise_and_Scalar, Op::bitwise_and_Scalar_Tensor})
    table.add(op, both);
  for (const Op op : {Op::bitwise_or_Tensor, Op::bitwise_or_Scalar, Op::bitwise_or_Scalar_Tensor})
    table.add(op, either);
  for (const Op op :
       {Op::bitwise_xor_Tensor, Op::bitwise_xor_Scalar, Op::bitwise_xor_Scalar_Tensor})
    table.add(op, one);
  for (const Op op :
       {Op::bitwise_left_shift_Tensor, Op::bitwise_left_shift_Tensor_Scalar,
        Op::bitwise_left_shift_Scalar_Tensor, Op::__lshift___Tensor, Op::__lshift___Scalar})
    table.add(op, shift_left);
  for (const Op op :
       {Op::bitwise_right_shift_Tensor, Op::bitwise_right_shift_Tensor_Scalar,
        Op::bitwise_right_shift_Scalar_Tensor, Op::__rshift___Tensor, Op::__rshift___Scalar})
    table.add(op, shift_right);
  table.add(Op::bitwise_not, bitwise_not);
}

}  // namespace recut
