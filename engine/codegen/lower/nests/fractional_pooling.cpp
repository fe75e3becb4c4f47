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
  Indices place(const Indices& at) const {
    const Indices along = window(at), reach = offset(at);
    Indices on;
    for (std::size_t d = 0; d < dims; ++d) on.push_back(start(at, d, along[d]) + reach[d]);
    return on;
  }

 private:
  // Computed in the dtype of the samples, as the rounding decides.
  Index start(const Indices& at, std::size_t d, const Index& window) const {
    const std::int64_t last = plane[d] - slide.kernel[d];
    const DType type = nest_.type().dtype == DType::f64 ? DType::f64 : DType::f32;
    const Quantity given = sample(at, d).to(type);
    const Quantity shift = select((given >= 0.0) & (given <= 1.0), given, given.like(0));
    const Quantity step = given.like(static_cast<double>(last)) /
                          static_cast<double>(std::max<std::int64_t>(windows[d] - 1, 1));
    const Quantity i = nest_.lowering.number(window);
    const Quantity begin =
        ((i.to(type) + shift) * step).to(DType::i64) - (shift * step).to(DType::i64);
    const Quantity end = i.like(static_cast<double>(last));
    const Quantity is_last = i == static_cast<double>(windows[d] - 1);
    return nest_.checked(select(is_last, end, smaller(begin, end)), last + 1, false);
  }
  // Samples are listed width first for planes, depth first for volumes.
  Quantity sample(const Indices& at, std::size_t d) const {
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
  const FoldSpace space = p.space();
  for_each_fold(nest.lowering, space, [&](Folder& folder) {
    const auto element = [&](const Indices& place) {
      return nest.raw("self", p.of_plane(folder.at(), place)).to(type);
    };
    const Quantity largest =
        folder.fold({"largest", Combine::max, nest.lowering.constant(type, -HUGE_VAL),
                     [&](const Indices& at) { return element(p.place(at)); }});
    const Indices out = p.of_plane(folder.at(), p.window(folder.at()));
    if (nest.wanted(0)) nest.lowering.write(nest.output(0), out, largest);
    if (!nest.wanted(1)) return;
    const Quantity place = place_of_largest(folder, largest, [&](const Indices& at) {
      const Indices on = p.place(at);
      return Candidate{element(on), linearised(on, p.plane), {}};
    });
    nest.lowering.write(nest.output(1), out, place);
  });
}

}  // namespace

void add_fractional_pooling_nests(NestTable& table) {
  for (const Op op : {Op::fractional_max_pool2d, Op::fractional_max_pool3d})
    table.push_back({op, fractional_max_pool});
}

}  // namespace recut::loop
