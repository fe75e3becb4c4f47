// Complex numbers from their parts, and back.
#include <cmath>

#include "engine/eval/kernels/elementwise.h"

namespace recut {
namespace {

using namespace elementwise;

Result<Tensor> view_as_real(const Call&, const Tensor& self, const TensorType&, std::size_t) {
  return parts_of(self);
}

// The shape rule has checked the layout that it knows; a tensor may have another one, which is
// copied.
Result<Tensor> view_as_complex(const Call&, const Tensor& self, const TensorType& output,
                               std::size_t) {
  Tensor parts = allocate(make_type(self.dtype, self.shape), nullptr);
  copy_tensor(self, parts);
  return Tensor{output.dtype, output.shape, contiguous_strides(output.shape), 0, parts.storage};
}

Result<Done> conjugate(KernelContext& c) {
  Complexes values = c.complexes("self");
  for (Complex& x : values.data) x = std::conj(x);
  c.write(values);
  return Done{};
}

Result<Done> unchanged(KernelContext& c) {
  if (is_floating(c.output_types[0].dtype))
    c.write(c.reals("self"));
  else
    c.write(c.integers("self"));
  return Done{};
}

template <class F>
Done of_two_parts(KernelContext& c, F f) {
  const Shape& shape = c.output_types[0].shape;
  c.write(map<Complex>(f, broadcast_to(c.reals(name_of_parameter(c, 0)), shape),
                       broadcast_to(c.reals(name_of_parameter(c, 1)), shape)));
  return Done{};
}

Result<Done> from_parts(KernelContext& c) {
  return of_two_parts(c, [](double real, double imaginary) { return Complex(real, imaginary); });
}

Result<Done> from_polar(KernelContext& c) {
  return of_two_parts(c, [](double magnitude, double angle) {
    return Complex(magnitude * std::cos(angle), magnitude * std::sin(angle));
  });
}

}  // namespace

void add_complex_part_kernels(KernelTable& table) {
  for (const Op op : {Op::view_as_real, Op::view_as_real_copy}) table.add_view(op, view_as_real);
  for (const Op op : {Op::view_as_complex, Op::view_as_complex_copy})
    table.add_view(op, view_as_complex);
  for (const Op op : {Op::_conj, Op::_conj_copy, Op::_conj_physical, Op::conj_physical}) {
    table.add(op, unchanged);
    table.add_complex(op, conjugate);
  }
  table.add_complex(Op::complex, from_parts);
  table.add_complex(Op::polar, from_polar);
}

}  // namespace recut
