// as_strided and as_strided_scatter, whose offsets refer to the storage behind self, whatever part
// of it self shows.
#include <algorithm>
#include <optional>

#include "engine/autodiff/rules/formula.h"
#include "engine/ir/storage_view.h"

namespace recut::autodiff {
namespace {

// Self and the part that the call selects, as layouts of the range of storage that contains both.
struct StorageRange {
  Layout self, part;
  std::int64_t elements = 0;
  bool is_whole = false;  // self covers the whole storage
};

// The number of elements of the layout at each offset.
std::vector<std::int64_t> elements_at(const Layout& layout, std::int64_t storage) {
  std::vector<std::int64_t> counts(static_cast<std::size_t>(storage), 0);
  std::vector<std::int64_t> at(layout.shape.size(), 0);
  const std::int64_t count = element_count(layout.shape);
  for (std::int64_t i = 0; i < count; ++i) {
    std::int64_t offset = layout.offset;
    for (std::size_t d = 0; d < at.size(); ++d) offset += at[d] * layout.strides[d];
    ++counts[static_cast<std::size_t>(offset)];
    for (std::size_t d = at.size(); d-- > 0 && ++at[d] == layout.shape[d];) at[d] = 0;
  }
  return counts;
}

// Tells whether no two elements share an offset, as far as the strides tell.
bool is_injective(const Layout& layout) {
  return layout::relative_layout(layout, layout).has_value();
}

bool shows_all_of(const StorageRange& range) {
  if (layout::relative_layout(range.part, range.self)) return true;
  constexpr std::int64_t kMaxStorageElements = std::int64_t{1} << 26;
  if (range.elements > kMaxStorageElements) return false;
  const auto own = elements_at(range.self, range.elements);
  const auto shown = elements_at(range.part, range.elements);
  for (std::size_t i = 0; i < own.size(); ++i)
    if (shown[i] != 0 && own[i] == 0) return false;
  return true;
}

// Nullopt after a diagnostic.
std::optional<StorageRange> storage_range_of(VjpContext& ctx) {
  const NodeId self = ctx.call().node("self");
  auto view = storage_view(ctx.b.graph(), self);
  if (!view) {
    ctx.b.fail(view.diagnostics().front().message);
    return std::nullopt;
  }
  StorageRange range{view->shown, *layout::as_strided(ctx.call(), view->shown, 0), 0,
                     view->owner == self};
  const std::int64_t first = std::min(range.self.offset, range.part.offset);
  range.self.offset -= first;
  range.part.offset -= first;
  range.elements = std::max(layout::extent(range.self), layout::extent(range.part));
  return range;
}

Value shown(VjpContext& ctx, const Value& storage, const Layout& layout) {
  return ctx.b(Op::as_strided, {storage, layout.shape, layout.strides, layout.offset});
}
Value nothing_at(VjpContext& ctx, const StorageRange& range, DType dtype) {
  return ctx.b.full({range.elements}, 0, dtype, ctx["self"].type().device);
}
// The offsets that a layout shows.
Value numbers(VjpContext& ctx, const StorageRange& range, const Layout& layout) {
  const Value all = ctx.b(Op::arange, {range.elements});
  return ctx.b.view(shown(ctx, all, layout), {element_count(layout.shape)});
}
// The sum of a layout's elements at each offset.
Value summed(VjpContext& ctx, const StorageRange& range, const Layout& layout,
             const Value& elements) {
  return ctx.b(Op::index_put, {nothing_at(ctx, range, elements.dtype()),
                               std::vector<Value>{numbers(ctx, range, layout)},
                               ctx.b.view(elements, {element_count(layout.shape)}), true});
}

// The gradient at an offset is the sum over all elements of the view there; self's elements there
// share it.
Value strided(VjpContext& ctx) {
  const Value x = ctx["self"];
  if (x.count() == 0 || ctx.grad().count() == 0) return zeros(ctx.b, x.type());
  const auto range = storage_range_of(ctx);
  if (!range) return {};
  if (!range->is_whole && !shows_all_of(*range))
    return ctx.b.fail("a view of elements that self itself doesn't show has no derivative rule");
  const Value gradient = shown(ctx, summed(ctx, *range, range->part, ctx.grad()), range->self);
  if (is_injective(range->self)) return gradient;
  const Value ones = filled(gradient, 1);
  return gradient / shown(ctx, summed(ctx, *range, range->self, ones), range->self);
}

// The gradient of as_strided_scatter in the order of self's storage; 0 where self shows nothing.
struct Scattered {
  StorageRange range;
  Value storage;

  static std::optional<Scattered> of(VjpContext& ctx) {
    const auto range = storage_range_of(ctx);
    if (!range) return std::nullopt;
    if (!is_injective(range->self)) {
      ctx.b.fail("a self with elements on top of each other has no derivative rule");
      return std::nullopt;
    }
    return Scattered{
        *range, put(ctx, nothing_at(ctx, *range, ctx.grad().dtype()), ctx.grad(), range->self)};
  }
  static Value put(VjpContext& ctx, const Value& storage, const Value& elements,
                   const Layout& layout) {
    return ctx.b(Op::as_strided_scatter,
                 {storage, elements, layout.shape, layout.strides, layout.offset});
  }
};

Value scattered_around(VjpContext& ctx) {
  if (ctx.grad().count() == 0) return ctx.grad();
  const auto to = Scattered::of(ctx);
  if (!to) return {};
  const Value none = zeros(ctx.b, ctx["src"].type());
  return shown(ctx, Scattered::put(ctx, to->storage, none, to->range.part), to->range.self);
}

// If several elements of src share an offset, the last one is written and gets the gradient.
Value scattered_source(VjpContext& ctx) {
  const Value src = ctx["src"];
  if (src.count() == 0 || ctx.grad().count() == 0) return zeros(ctx.b, src.type());
  const auto to = Scattered::of(ctx);
  if (!to) return {};
  const Layout& part = to->range.part;
  const Value gradient = shown(ctx, to->storage, part);
  if (is_injective(part)) return gradient;
  const Value order = ctx.b.view(ctx.b(Op::arange, {src.count()}), src.shape());
  const Value last = Scattered::put(ctx, nothing_at(ctx, to->range, order.dtype()), order, part);
  return keep_where(ctx.b(Op::eq_Tensor, {shown(ctx, last, part), order}), gradient);
}

}  // namespace

DerivativeRules stride_rules() {
  return {
      vjp({Op::as_strided, Op::as_strided_copy}, {{"self", strided}}),
      vjp({Op::as_strided_scatter}, {{"self", scattered_around}, {"src", scattered_source}}),
  };
}

}  // namespace recut::autodiff
