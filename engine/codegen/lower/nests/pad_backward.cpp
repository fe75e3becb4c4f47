// Gradients of reflection and replication padding: each padded position adds to the element that it
// read. Planes are parallel; positions of one plane may collide, and run serially.
#include "engine/codegen/lower/formulas/padding_modes.h"
#include "engine/codegen/lower/nest.h"

namespace recut::loop {
namespace {

template <PadMode mode>
void pad_backward(const Nest& nest) {
  const Layout whole = output_layout(nest.type());
  nest.lowering.for_each(whole.shape, whole.strides, [&](const Indices& at) {
    nest.lowering.write(nest.output(), at,
                        nest.lowering.constant(value_type(nest.type().dtype), 0));
  });
  const Shape& padded = nest.shape_of("grad_output");
  const auto dims = static_cast<std::ptrdiff_t>(nest.call.integers("padding").size() / 2);
  const Shape outer(padded.begin(), padded.end() - dims), plane(padded.end() - dims, padded.end());
  Builder& builder = nest.lowering.builder();
  const std::size_t depth = builder.depth();
  const Index plane_number = builder.open_loop("i", element_count(outer), Builder::Order::parallel);
  Indices from = delinearize(plane_number, outer, builder);
  const Index position = builder.open_loop("j", element_count(plane));
  for (const Index& index : delinearize(position, plane, builder)) from.push_back(index);
  const Indices to = padded_source_index(nest.lowering, nest.call, nest.type().shape, mode, from);
  nest.lowering.combine_into(nest.output(), to, Combine::add, nest.raw("grad_output", from));
  builder.close_to(depth);
}

}  // namespace

void add_pad_backward_nests(NestTable& table) {
  for (const Op op : {Op::reflection_pad1d_backward, Op::reflection_pad2d_backward,
                      Op::reflection_pad3d_backward})
    table.push_back({op, pad_backward<PadMode::reflect>});
  for (const Op op : {Op::replication_pad1d_backward, Op::replication_pad2d_backward,
                      Op::replication_pad3d_backward})
    table.push_back({op, pad_backward<PadMode::replicate>});
}

}  // namespace recut::loop
