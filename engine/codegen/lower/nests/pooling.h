// Max pooling, average pooling: windows that slide over planes.
#pragma once

#include "engine/codegen/lower/reduction_loops.h"
#include "engine/codegen/lower/sliding_window.h"

namespace recut::loop {

// The number of dimensions that a pooling's windows slide over, for an input of that rank.
std::size_t pooled_dimensions(const Call& call, std::size_t rank);
WindowConfig window_config_of(const Call& call, std::size_t dims);

// True for the backward of a max pooling whose indices come from a forward with the same windows:
// each index lies in its window then.
bool names_own_windows(const Graph& graph, NodeId backward);

// self [planes..., plane]: the windows slide over the last dimensions.
struct Pooling {
  std::size_t dims;
  Shape outer, plane, windows;  // outer: samples and channels
  WindowConfig window_config;
  Strides steps;  // walking order of outer dimensions and plane

  Pooling(const Nest& nest, const Shape& in, const Shape& out)
      : dims(pooled_dimensions(nest.call, in.size())),
        outer(in.begin(), in.end() - static_cast<std::ptrdiff_t>(dims)),
        plane(in.end() - static_cast<std::ptrdiff_t>(dims), in.end()),
        windows(out.end() - static_cast<std::ptrdiff_t>(dims), out.end()),
        window_config(window_config_of(nest.call, dims)),
        steps(steps_of(output_layout(nest.type()).strides)) {}

  // kept: outer, window; reduced: offset. Lanes go along the dimension of the smallest stride in
  // the first output.
  ReductionSpace space() const { return space(windows, window_config.kernel); }
  ReductionSpace space(const Shape& kept, const Shape& reduced) const {
    ReductionSpace s;
    for (const Shape* shape : {&outer, &kept, &reduced})
      s.shape.insert(s.shape.end(), shape->begin(), shape->end());
    s.reduced.assign(s.shape.size(), false);
    s.strides.assign(s.shape.size(), 0);
    for (std::size_t d = 0; d < s.shape.size(); ++d) {
      s.reduced[d] = d >= outer.size() + dims;
      s.strides[d] = s.reduced[d] ? static_cast<std::int64_t>(2 * s.shape.size() - d) : steps[d];
    }
    return s;
  }
  Indices window(const Indices& at) const { return part(at, outer.size()); }
  Indices offset(const Indices& at) const { return part(at, outer.size() + dims); }
  Indices of_plane(const Indices& at, const Indices& position) const {
    Indices out(at.begin(), at.begin() + static_cast<std::ptrdiff_t>(outer.size()));
    out.insert(out.end(), position.begin(), position.end());
    return out;
  }

 private:
  // By dimension, the rank of its stride: 1 for the smallest.
  static Strides steps_of(const Strides& strides) {
    Strides steps(strides.size(), 1);
    for (std::size_t a = 0; a < strides.size(); ++a)
      for (std::size_t b = 0; b < strides.size(); ++b)
        if (strides[b] < strides[a] || (strides[b] == strides[a] && b > a)) ++steps[a];
    return steps;
  }
  Indices part(const Indices& at, std::size_t first) const {
    return Indices(at.begin() + static_cast<std::ptrdiff_t>(first),
                   at.begin() + static_cast<std::ptrdiff_t>(first + dims));
  }
};

// argmax over the positions that `reducer` visits, as in ATen: the first maximum, but the last of
// several NaNs. `element` gives an element, its number and the condition that it counts.
struct Candidate {
  ScalarExpr element;
  Index number;
  std::optional<ScalarExpr> inside;  // none: it does
};
ScalarExpr position_of_largest(Reducer& reducer, const ScalarExpr& largest,
                               const std::function<Candidate(const Indices&)>& element);

}  // namespace recut::loop
