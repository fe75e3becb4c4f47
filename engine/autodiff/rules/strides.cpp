// as_strided and as_strided_scatter, whose offsets refer to the storage behind self, whatever part
// of it self shows.
#include <algorithm>
#include <optional>

#include "engine/autodiff/rules/formula.h"
#include "engine/ir/storage_view.h"

namespace recut::autodiff {
namespace {

// Self and the part that the call selects, as layouts of the range of storage that contains both.
struct Stretch {
  Layout self, part;
  std::int64_t places = 0;
  bool is_whole = false;  // self is all that the storage has
};

// The number of elements of the layout at each offset.
std::vector<std::int64_t> elements_at(const Layout& layout, std::int64_t places) {
  std::vector<std::int64_t> counts(static_cast<std::size_t>(places), 0);
  std::vector<std::int64_t> at(layout.shape.size(), 0);
  const std::int64_t count = element_count(layout.shape);
  for (std::int64_t i = 0; i < count; ++i) {
    std::int64_t place = layout.offset;
    for (std::size_t d = 0; d < at.size(); ++d) place += at[d] * layout.strides[d];
    ++counts[static_cast<std::size_t>(place)];
    for (std::size_t d = at.size(); d-- > 0 && ++at[d] == layout.shape[d];) at[d] = 0;
  }
  return counts;
}

// Tells whether no two elements share an offset, as far as the strides tell.
bool is_apart(const Layout& layout) { return layout::among_elements(layout, layout).has_value(); }

bool shows_all_of(const Stretch& stretch) {
  if (layout::among_elements(stretch.part, stretch.self)) return true;
  constexpr std::int64_t kMostPlaces = std::int64_t{1} << 26;
  if (stretch.places > kMostPlaces) return false;
  const auto own = elements_at(stretch.self, stretch.places);
  const auto shown = elements_at(stretch.part, stretch.places);
  for (std::size_t i = 0; i < own.size(); ++i)
    if (shown[i] != 0 && own[i] == 0) return false;
  return true;
}

// Nullopt after a diagnostic.
std::optional<Stretch> stretch_of(Site& s) {
  const NodeId self = s.call().node("self");
  auto view = storage_view(s.b.graph(), self);
  if (!view) {
    s.b.fail(view.diagnostics().front().message);
    return std::nullopt;
  }
  Stretch stretch{view->shown, *layout::as_strided(s.call(), view->shown, 0), 0,
                  view->owner == self};
  const std::int64_t first = std::min(stretch.self.offset, stretch.part.offset);
  stretch.self.offset -= first;
  stretch.part.offset -= first;
  stretch.places = std::max(layout::extent(stretch.self), layout::extent(stretch.part));
  return stretch;
}

Value shown(Site& s, const Value& places, const Layout& layout) {
  return s.b(Op::as_strided, {places, layout.shape, layout.strides, layout.offset});
}
Value nothing_at(Site& s, const Stretch& stretch, DType dtype) {
  return s.b.full({stretch.places}, 0, dtype, s["self"].type().device);
}
// The offsets that a layout shows.
Value numbers(Site& s, const Stretch& stretch, const Layout& layout) {
  const Value all = s.b(Op::arange, {stretch.places});
  return s.b.view(shown(s, all, layout), {element_count(layout.shape)});
}
// The sum of a layout's elements at each offset.
Value summed(Site& s, const Stretch& stretch, const Layout& layout, const Value& elements) {
  return s.b(Op::index_put, {nothing_at(s, stretch, elements.dtype()),
                             std::vector<Value>{numbers(s, stretch, layout)},
                             s.b.view(elements, {element_count(layout.shape)}), true});
}

// The gradient at an offset is the sum over all elements of the view there; self's elements there
// share it.
Value strided(Site& s) {
  const Value x = s["self"];
  if (x.count() == 0 || s.grad().count() == 0) return zeros(s.b, x.type());
  const auto stretch = stretch_of(s);
  if (!stretch) return {};
  if (!stretch->is_whole && !shows_all_of(*stretch))
    return s.b.fail("a view of elements that self itself doesn't show has no derivative rule");
  const Value gradient = shown(s, summed(s, *stretch, stretch->part, s.grad()), stretch->self);
  if (is_apart(stretch->self)) return gradient;
  const Value ones = filled(gradient, 1);
  return gradient / shown(s, summed(s, *stretch, stretch->self, ones), stretch->self);
}

// The gradient of as_strided_scatter in the order of self's storage; 0 where self shows nothing.
struct Scattered {
  Stretch stretch;
  Value places;

  static std::optional<Scattered> of(Site& s) {
    const auto stretch = stretch_of(s);
    if (!stretch) return std::nullopt;
    if (!is_apart(stretch->self)) {
      s.b.fail("a self with elements on top of each other has no derivative rule");
      return std::nullopt;
    }
    return Scattered{*stretch,
                     put(s, nothing_at(s, *stretch, s.grad().dtype()), s.grad(), stretch->self)};
  }
  static Value put(Site& s, const Value& places, const Value& elements, const Layout& layout) {
    return s.b(Op::as_strided_scatter,
               {places, elements, layout.shape, layout.strides, layout.offset});
  }
};

Value scattered_around(Site& s) {
  if (s.grad().count() == 0) return s.grad();
  const auto to = Scattered::of(s);
  if (!to) return {};
  const Value none = zeros(s.b, s["src"].type());
  return shown(s, Scattered::put(s, to->places, none, to->stretch.part), to->stretch.self);
}

// If several elements of src share an offset, the last one is written and gets the gradient.
Value scattered_source(Site& s) {
  const Value src = s["src"];
  if (src.count() == 0 || s.grad().count() == 0) return zeros(s.b, src.type());
  const auto to = Scattered::of(s);
  if (!to) return {};
  const Layout& part = to->stretch.part;
  const Value gradient = shown(s, to->places, part);
  if (is_apart(part)) return gradient;
  const Value order = s.b.view(s.b(Op::arange, {src.count()}), src.shape());
  const Value last = Scattered::put(s, nothing_at(s, to->stretch, order.dtype()), order, part);
  return keep_where(s.b(Op::eq_Tensor, {shown(s, last, part), order}), gradient);
}

}  // namespace

Rows stride_rows() {
  return {
      formulas({Op::as_strided, Op::as_strided_copy}, {{"self", strided}}),
      formulas({Op::as_strided_scatter}, {{"self", scattered_around}, {"src", scattered_source}}),
  };
}

}  // namespace recut::autodiff
