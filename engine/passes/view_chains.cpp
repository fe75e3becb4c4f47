// Merges a chain of views into one view.
//
//   %a = view(%x, [4, 8])
//   %b = view(%a, [2, 16])         =>     %b = view(%x, [2, 16])
//
//   %a = permute(%x, [1, 0])
//   %b = permute(%a, [1, 0])       =>     %x
//
// Needs nothing. Bit-exact. Establishes: no reshaping view (view, squeeze, unsqueeze) reads
// another, nor a permute a permute, an expand an expand, a slice a slice of the same dimension,
// unless no single view of the operand has the same type and strides. The inner view stays for its
// other users; without any, dead_code removes it. An output does not become an input of the graph
// or another output (engine/ir/aliases.h).
//
// The merged view has the same storage, offset and strides, so that no reader of the layout can
// tell the difference.
#include <algorithm>
#include <limits>
#include <string_view>

#include "engine/ir/aliases.h"
#include "engine/ir/call.h"
#include "engine/passes/rewrite_nodes.h"

namespace recut::passes {
namespace {

// A view of the inner view's operand, which replaces both.
struct Merged {
  std::string_view rule;
  std::string_view op;
  std::vector<std::pair<std::string_view, Argument>> arguments;  // without self
};

// An existing or a merged view.
struct Link {
  const Operator* op;
  std::vector<Argument> arguments;

  NodeId base() const { return *arguments.front().get<NodeId>(); }
};

enum class Family { none, reshape, permute, expand, slice };

// Views that leave the elements in row-major order.
bool reshapes(const Operator& op) {
  if (op.packet == "view") return op.parameter("size").has_value();  // not view.dtype
  return op.packet == "squeeze" || op.packet == "unsqueeze";
}

Family family_of(const Operator& op) {
  if (!op.is(kView)) return Family::none;
  if (reshapes(op)) return Family::reshape;
  if (op.packet == "permute") return Family::permute;
  if (op.packet == "expand") return Family::expand;
  if (op.packet == "slice") return Family::slice;
  return Family::none;
}

// Two views of a chain.
struct Pair {
  const Call& outer;
  const Call& inner;
  const TensorType& base;    // of the inner view's operand
  const TensorType& result;  // of the outer view

  std::optional<Merged> reshape() const {
    return Merged{"view of a view", "view", {{"size", Argument(result.shape)}}};
  }

  std::optional<Merged> expand() const {
    return Merged{"expand of an expand", "expand", {{"size", Argument(result.shape)}}};
  }

  std::optional<Merged> permute() const {
    const std::vector<std::int64_t> first = inner.integers("dims");
    std::vector<std::int64_t> dims = outer.integers("dims");
    for (std::int64_t& d : dims) {
      d = first[static_cast<std::size_t>(wrapped(d))];
      d = wrapped(d);
    }
    return Merged{"permute of a permute", "permute", {{"dims", Argument(dims)}}};
  }

  std::optional<Merged> slice() const {
    const std::int64_t dim = wrapped(outer.integer("dim"));
    if (dim != wrapped(inner.integer("dim"))) return std::nullopt;
    const auto at = static_cast<std::size_t>(dim);
    const std::int64_t middle = inner_length(at);
    const std::int64_t inner_step = inner.integer("step");
    const std::int64_t outer_step = outer.integer("step");
    // A step beyond any size would overflow the product; such a slice has one element at most.
    if (inner_step > kLongest || outer_step > kLongest / inner_step) return std::nullopt;
    const std::int64_t step = inner_step * outer_step;
    const std::int64_t start =
        slice_start(inner, base.shape[at]) + slice_start(outer, middle) * inner_step;
    const std::int64_t length = result.shape[at];
    const std::int64_t end = length == 0 ? start : start + (length - 1) * step + 1;
    return Merged{"slice of a slice",
                  "slice.Tensor",
                  {{"dim", dim}, {"start", start}, {"end", end}, {"step", step}}};
  }

 private:
  static constexpr std::int64_t kLongest = std::int64_t{1} << 30;

  std::int64_t wrapped(std::int64_t dim) const { return dim < 0 ? dim + base.rank() : dim; }

  // The start of a slice, in a dimension of that length.
  static std::int64_t slice_start(const Call& slice, std::int64_t length) {
    std::int64_t start = slice.maybe_integer("start").value_or(0);
    if (start < 0) start = std::max(start, -length) + length;
    return std::min(start, length);
  }

  std::int64_t inner_length(std::size_t at) const { return outer.tensor("self").shape[at]; }
};

std::optional<Merged> merge(Family family, const Pair& pair) {
  switch (family) {
    case Family::reshape:
      return pair.reshape();
    case Family::permute:
      return pair.permute();
    case Family::expand:
      return pair.expand();
    case Family::slice:
      return pair.slice();
    case Family::none:
      break;
  }
  return std::nullopt;
}

// Tells whether the merged view is the identity on the base.
bool is_identity(Family family, const Merged& merged, const TensorType& base,
                 const TensorType& result) {
  if (base != result || family == Family::slice) return base == result;
  if (family != Family::permute) return true;
  const auto& dims = *merged.arguments.front().second.get<ArgumentList>();
  for (std::size_t i = 0; i < dims.size(); ++i)
    if (*dims[i].get<std::int64_t>() != static_cast<std::int64_t>(i)) return false;
  return true;
}

class ViewChains {
 public:
  explicit ViewChains(const Graph& from) : from_(from), outputs_(from) {}

  PassResult run() {
    return rewrite_nodes(
        from_,
        [&](Graph& to, NodeId old, const std::vector<Argument>& arguments) {
          return try_rewrite(to, old, arguments);
        },
        [&](NodeId old, const Graph& to, NodeId successor) {
          outputs_.record(old, to, successor);
        });
  }

 private:
  // Merges as long as there is something to merge with: a link that merges with none of the views
  // under it may stand between two that do.
  std::optional<Rewrite> try_rewrite(Graph& to, NodeId old,
                                     const std::vector<Argument>& arguments) const {
    const TensorType& type = from_[old].type();
    const Family family = family_of(from_.op(old));
    if (family == Family::none) return std::nullopt;
    Link link{&from_.op(old), arguments};
    std::string_view rule;
    while (const auto merged = merge_once(to, link, family, type)) {
      const NodeId base = *to[link.base()].arguments.front().get<NodeId>();
      if (is_identity(family, *merged, to.type(base), type) && outputs_.may_become(old, to, base))
        return Rewrite{"views that cancel", base};
      rule = merged->rule;
      link = link_of(*merged, base);
    }
    if (rule.empty()) return std::nullopt;
    return Rewrite{rule, to.append(link.op->op, link.arguments, {type}, from_.origin(old))};
  }

  // The link and the view that it reads as one, if that can have the type.
  static std::optional<Merged> merge_once(const Graph& to, const Link& link, Family family,
                                          const TensorType& type) {
    const Node& inner = to[link.base()];
    if (family_of(operator_of(inner.op)) != family) return std::nullopt;
    const NodeId base = *inner.arguments.front().get<NodeId>();
    const Call::TypesOf types_of = [&](NodeId id) { return to.pool().types_of(id); };
    const Call outer_call(*link.op, link.arguments, types_of);
    const Call inner_call(operator_of(inner.op), inner.arguments, types_of);
    auto merged = merge(family, Pair{outer_call, inner_call, to.type(base), type});
    if (!merged) return std::nullopt;
    const Link one = link_of(*merged, base);
    const auto types = infer_types(*one.op, one.arguments, types_of);
    if (!types || types->front() != type) return std::nullopt;
    return merged;
  }

  static Link link_of(const Merged& merged, NodeId base) {
    Link link{find_operator_by_name(merged.op), {}};
    link.arguments.resize(link.op->parameters.size());
    link.arguments.front() = base;
    for (const auto& [name, argument] : merged.arguments)
      link.arguments[*link.op->parameter(name)] = argument;
    return link;
  }

  const Graph& from_;
  OutputStorages outputs_;
};

}  // namespace

PassResult view_chains(const Graph& graph) { return ViewChains(graph).run(); }

}  // namespace recut::passes
