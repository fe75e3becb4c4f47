#include "engine/codegen/lower/address.h"

#include <fmt/core.h>

#include <algorithm>

#include "engine/ir/about_node.h"
#include "engine/support/check.h"
#include "engine/support/text.h"

namespace recut::loop {
namespace {

// The elements of a view's owner as as_strided counts them: an input comes row by row, whatever
// gaps its type has.
Result<Address> elements_of(const Graph& graph, const StorageView& view) {
  auto address = address_of(graph, view.owner, view.output);
  if (address && graph.op(view.owner).is(kView)) address->layouts.push_back(view.whole);
  return address;
}

// as_strided: its strides count elements of the storage, not of the operand.
Result<Address> strided(const Graph& graph, NodeId id) {
  const auto view = storage_view(graph, graph[id].operands.front());
  if (!view) return view.diagnostics();
  auto address = elements_of(graph, *view);
  if (!address) return address;
  const Call::TypesOf types_of = [&](NodeId n) { return graph.pool().types_of(n); };
  auto shown =
      layout::as_strided(Call(graph.op(id), graph[id].arguments, types_of), view->shown, 0);
  if (!shown) return about_node(graph, id, shown.diagnostics().front().message);
  const bool within = layout::is_within(*shown, layout::extent(view->whole));
  if (view->whole.strides == address->layouts.back().strides) {
    if (!within) return about_node(graph, id, "this view reaches outside its storage");
    address->layouts.back() = std::move(*shown);
    return address;
  }
  auto among = within ? layout::among_elements(*shown, view->whole) : std::nullopt;
  if (!among) {
    const TensorType& type = graph[view->owner].outputs[view->output];
    return about_node(
        graph, id,
        fmt::format("it reads places of the storage of {} that in its type {} are gaps, or "
                    "of several elements: declare that row by row, or show its elements "
                    "by other views",
                    quote(graph.node_name(view->owner)), format(type)));
  }
  address->layouts.back() = std::move(*among);
  return address;
}

}  // namespace

Result<Address> address_of(const Graph& graph, NodeId id, std::size_t output) {
  const Node& node = graph[id];
  if (node.op == Op::getitem)
    return address_of(graph, node.operands.front(),
                      static_cast<std::size_t>(*node.arguments[1].get<std::int64_t>()));
  if (graph.op(id).is(kView)) return viewed(graph, id, output);
  return Address{{id, output}, {made_layout(node.outputs[output])}};
}

Result<Address> viewed(const Graph& graph, NodeId id, std::size_t output) {
  const Node& node = graph[id];
  const Operator& op = graph.op(id);
  const layout::Rule rule = layout::rule_of(node.op);
  if (rule == nullptr)
    return about_node(graph, id, fmt::format("no layout shows what operator '{}' does", op.name));
  if (graph.op(id).is(kReadsStorage)) return strided(graph, id);
  auto address = address_of(graph, node.operands.front());
  if (!address) return address;
  const Call::TypesOf types_of = [&](NodeId n) { return graph.pool().types_of(n); };
  const Call call(op, node.arguments, types_of);
  auto shown = rule(call, address->layouts.back(), static_cast<std::int64_t>(output));
  if (!shown) return about_node(graph, id, shown.diagnostics().front().message);
  // The rule gives a layout over the operand's elements: either the row-major count of the last
  // layout (copied), or whatever that layout indexed itself.
  std::vector<Layout>& layouts = address->layouts;
  const Made& made = address->made;
  if (shown->copied) {
    layouts.emplace_back();
    shown->copied = false;
  }
  const Shape& under = layouts.size() > 1 ? layouts[layouts.size() - 2].shape
                                          : graph[made.node].outputs[made.output].shape;
  if (!layout::is_within(*shown, element_count(under)))
    return about_node(graph, id, "this view reaches outside its storage");
  layouts.back() = std::move(*shown);
  return address;
}

Index place_of(const Address& address, std::vector<Index> at, const Builder& builder) {
  for (std::size_t l = address.layouts.size();;) {
    const Layout& shown = address.layouts[--l];
    RECUT_CHECK(at.size() == shown.shape.size(), "an element has an index a dimension");
    Index place(shown.offset);
    for (std::size_t d = 0; d < at.size(); ++d) place = place + shown.strides[d] * at[d];
    place = builder.simple(place);
    if (l == 0) return place;
    at = delinearised(place, address.layouts[l - 1].shape, builder);
  }
}

std::vector<Index> element_at(const Layout& storage, const Index& place, const Builder& builder) {
  std::vector<Index> at(storage.shape.size(), 0);
  for (std::size_t d = 0; d < at.size(); ++d)
    if (storage.shape[d] > 1 && storage.strides[d] > 0)  // an empty tensor steps nowhere
      at[d] = builder.remainder(builder.quotient(place, storage.strides[d]), storage.shape[d]);
  return at;
}

std::vector<Index> delinearised(const Index& place, const Shape& shape, const Builder& builder) {
  return element_at({shape, contiguous_strides(shape), 0, false}, place, builder);
}

Index linearised(const std::vector<Index>& at, const Shape& shape) {
  const Strides strides = contiguous_strides(shape);
  Index place;
  for (std::size_t d = 0; d < at.size(); ++d) place = place + strides[d] * at[d];
  return place;
}

}  // namespace recut::loop
