// Fractional max pooling (Graham 2014): random samples shift the windows.
#include <algorithm>

#include "engine/codegen/lower/nests/pooling.h"

namespace recut::loop {
namespace {

class Fractional : public Pooling {
 public:
  explicit Fractional(const Nest& nest)
      : Pooling(nest, nest.shape_of("self"), nest.type().shape), nest_(nest) {}

  // The plane position of an element of a window.
  Indices position(const Indices& at) const {
    const Indices along = window(at), reach = offset(at);
    Indices on;
    for (std::size_t d = 0; d < dims; ++d) on.push_back(start(at, d, along[d]) + reach[d]);
    return on;
  }

 private:
  // Computed in the dtype of the samples, as the rounding decides.
  Index start(const Indices& at, std::size_t d, const Index& window) const {
    const std::int64_t last = plane[d] - window_config.kernel[d];
    const DType type = nest_.type().dtype == DType::f64 ? DType::f64 : DType::f32;
    const ScalarExpr given = sample(at, d).to(type);
    const ScalarExpr shift = select((given >= 0.0) & (given <= 1.0), given, given.like(0));
    const ScalarExpr step = given.like(static_cast<double>(last)) /
                            static_cast<double>(std::max<std::int64_t>(windows[d] - 1, 1));
    const ScalarExpr i = nest_.lowering.number(window);
    const ScalarExpr begin =
        ((i.to(type) + shift) * step).to(DType::i64) - (shift * step).to(DType::i64);
    const ScalarExpr end = i.like(static_cast<double>(last));
    const ScalarExpr is_last = i == static_cast<double>(windows[d] - 1);
    return nest_.checked(select(is_last, end, smaller(begin, end)), last + 1, false);
  }
  // Samples are listed width first for planes, depth first for volumes.
  ScalarExpr sample(const Indices& at, std::size_t d) const {
    Indices of(at.begin(), at.begin() + static_cast<std::ptrdiff_t>(outer.size()));
    if (of.size() == 1) of.insert(of.begin(), 0);
    of.push_back(static_cast<std::int64_t>(dims == 2 ? 1 - d : d));
    return nest_.raw("random_samples", of);
  }

  const Nest& nest_;
};

void fractional_max_pool(const Nest& nest) {
  const Fractional p(nest);
  const DType type = nest.computing(nest.dtype_of("self"));
  const ReductionSpace space = p.space();
  for_each_ordered_reduction(nest.lowering, space, [&](Reducer& reducer) {
    const auto element = [&](const Indices& position) {
      return nest.raw("self", p.of_plane(reducer.at(), position)).to(type);
    };
    const ScalarExpr largest =
        reducer.reduce({"largest", Combine::max, nest.lowering.constant(type, -HUGE_VAL),
                        [&](const Indices& at) { return element(p.position(at)); }});
    const Indices out = p.of_plane(reducer.at(), p.window(reducer.at()));
    if (nest.is_requested(0)) nest.lowering.write(nest.output(0), out, largest);
    if (!nest.is_requested(1)) return;
    const ScalarExpr position = position_of_largest(reducer, largest, [&](const Indices& at) {
      const Indices on = p.position(at);
      return Candidate{element(on), linearize(on, p.plane), {}};
    });
    nest.lowering.write(nest.output(1), out, position);
  });
}

}  // namespace

void add_fractional_pooling_nests(NestTable& table) {
  for (const Op op : {Op::fractional_max_pool2d, Op::fractional_max_pool3d})
    table.push_back({op, fractional_max_pool});
}

}  // namespace recut::loop
