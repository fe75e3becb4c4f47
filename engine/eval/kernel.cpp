#include "engine/eval/kernel.h"

#include <fmt/core.h>

#include "engine/support/check.h"
#include "engine/support/hash.h"

namespace recut {
namespace {

// The values as a coarser arithmetic would give them, where `dtype` rounds them at all.
Reals rounded_randomly(Reals values, DType dtype, std::uint64_t stream, double share) {
  for (std::int64_t i = 0; i < values.count(); ++i)
    if (round_to(dtype, values[i]) != values[i])
      values[i] *= 1 + share * hash_signed_unit(stream, static_cast<std::uint64_t>(i));
  return values;
}

}  // namespace

void KernelTable::add(Op op, Kernel kernel) {
  RECUT_CHECK(!has_one(op), "an operator has two kernels");
  kernels.set(op, kernel);
}

void KernelTable::add_complex(Op op, Kernel kernel) {
  RECUT_CHECK(complex_kernel(op) == nullptr && view(op) == nullptr,
              "an operator has two complex kernels");
  complex_kernels.set(op, kernel);
}

void KernelTable::add_view(Op op, ViewKernel view) {
  RECUT_CHECK(!has_one(op), "an operator has two kernels");
  views.set(op, view);
}

const KernelTable& kernel_table() {
  static const KernelTable table = [] {
    KernelTable t;
    add_all_kernels(t);
    return t;
  }();
  return table;
}

Result<Done> check_shape_rule(const KernelContext& context) {
  const auto expected = context.call.op().rule(context.call);
  if (!expected) return expected.diagnostics();
  const Shape& recorded = context.output_types[0].shape;
  if (recorded == expected->front().shape) return Done{};
  return error(fmt::format("{} gives {}, but {} was recorded", context.call.op().name,
                           format_shape(expected->front().shape), format_shape(recorded)));
}

template <class T>
Dense<T> KernelContext::read(std::string_view parameter) const {
  if (const NodeId id = call.node(parameter); id.valid()) return unpack<T>(tensor(id));
  const Scalar scalar = call.scalar(parameter);
  if constexpr (std::is_same_v<T, std::int64_t>)
    return Integers(Shape{}, scalar.integer);
  else
    return Dense<T>(Shape{}, T(scalar.real));
}

template <class T>
void KernelContext::write(const Dense<T>& values, std::size_t index) {
  if (!requested(index)) return;
  Tensor& output = outputs[index];
  if constexpr (std::is_same_v<T, double>) {
    if (rounding_ != nullptr && is_floating(output.dtype)) {
      const std::uint64_t stream = hash_mix(hash_mix(rounding_->seed, call_number_), index);
      return pack(rounded_randomly(values, output.dtype, stream, rounding_->share), output);
    }
  }
  pack(values, output);
}

template Reals KernelContext::read<double>(std::string_view) const;
template Integers KernelContext::read<std::int64_t>(std::string_view) const;
template Complexes KernelContext::read<Complex>(std::string_view) const;
template void KernelContext::write(const Reals&, std::size_t);
template void KernelContext::write(const Integers&, std::size_t);
template void KernelContext::write(const Complexes&, std::size_t);

}  // namespace recut
