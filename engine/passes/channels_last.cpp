// Lays out the operands and results of convolutions channels last, if that moves fewer bytes.
//
//   %y = convolution(%x, %w, …)             %p = clone(%x, memory_format="channels_last")
//   %z = relu(%y)                           %q = clone(%w, memory_format="channels_last")
//   %v = view(%z, [n, chw])           =>    %y = convolution(%p, %q, …)      (channels last)
//                                           %z = relu(%y)                    (channels last)
//                                           %c = clone(%z, memory_format="contiguous_format")
//                                           %v = view(%c, [n, chw])
//
// A convolution's output has its channels last where its input has (ATen's rule), and so have
// element-wise calls, poolings, concatenations and slices of such: the layout propagates by itself
// to the next convolution. Other readers, and outputs, get the value in its old layout.
//
// Needs: two spatial dimensions; f16, bf16 or f32 on a device that is no CPU (one that the graph
// doesn't name counts as none) whose tensor cores take that; groups of more than one channel. For
// the processor's library instead: f32, any groups, and weights stay as they are. The
// library transposes every other layout before and after such a convolution: these bytes are saved,
// at the cost of the bytes that clones move. If the savings are twice the cost, all convolutions of
// the graph change, else none. Establishes: no such convolution reads another layout, in a graph
// where that pays. Bit-exact: no value depends on strides.
//
// Inductor lays out its convolutions alike (layout_optimization), and decides by counts of channels
// and of operations; PyTorch's channels_last is the same for models in eager mode. Opt-in, and on
// for steps on a GPU (recut run --device cuda), and for frozen graphs on the processor.
#include "engine/passes/channels_last.h"

#include <algorithm>
#include <unordered_set>

#include "engine/ir/aliases.h"
#include "engine/ir/call.h"
#include "engine/passes/freezing/rewriter.h"
#include "engine/passes/pass_table.h"
#include "engine/passes/rewrite_nodes.h"
#include "engine/support/check.h"

namespace recut::passes {

PassResult channels_last(const Graph& graph) { return channels_last_pass({}).run(graph); }

}  // namespace recut::passes

namespace recut {
namespace {

constexpr std::size_t kRank = 4;  // samples, channels, rows, columns
// The required ratio of saved to copied bytes. Generated copies are slower than a library's
// transposes and hold memory: at a ratio of 1.7 (mobilenet_v3) a step took a fifth longer.
constexpr std::int64_t kWorth = 2;

// The channels-last strides of the shape rules, which are not public to this module.
Strides strides_of_pixels(const Shape& shape) {
  return {shape[1] * shape[2] * shape[3], 1, shape[1] * shape[3], shape[1]};
}

// Tells whether a type is channels last. Strides of dimensions of length 1 do not matter.
bool is_last(const TensorType& type) {
  if (type.shape.size() != kRank) return false;
  const Strides channels_last_strides = strides_of_pixels(type.shape);
  for (std::size_t d = 0; d < kRank; ++d)
    if (type.shape[d] != 1 && type.strides[d] != channels_last_strides[d]) return false;
  return true;
}

// The rewrite, and the bytes that its clones move.
class ChannelsLast {
 public:
  // `device`: null for the processor's library.
  ChannelsLast(const Graph& from, const Device* device)
      : from_(from), device_(device), pinned_(from), converted_(from.order().size()) {
    outputs_.insert(from.results.begin(), from.results.end());
    outputs_.insert(from.gradients.begin(), from.gradients.end());
  }

  PassResult run() {
    PassResult done = rewrite_nodes(
        from_,
        [&](Graph& to, NodeId old, const std::vector<Argument>& arguments) {
          return rewritten(to, old, arguments);
        },
        [&](NodeId old, const Graph&, NodeId successor) {
          Versions& known = versions(old);
          if (!known.flowing.valid()) known.flowing = successor;
        });
    if (saved_ <= kWorth * moved_) return {from_, false, {}};
    return done;
  }

 private:
  // The successors of an old node: in the layout of its call, and in its old layout.
  struct Versions {
    NodeId flowing, last, as_it_was;
  };
  Versions& versions(NodeId old) { return converted_[from_.position(old)]; }

  // An input is its own successor.
  NodeId flowing(NodeId old) {
    const NodeId successor = versions(old).flowing;
    return successor.valid() ? successor : old;
  }

  NodeId clone(Graph& to, NodeId id, const char* format, const std::string& name) {
    moved_ += 2 * byte_size(to.type(id));
    return FreezingRewriter::make(to, Op::clone, {id, format}, name);
  }

  NodeId last_of(Graph& to, NodeId old) {
    const NodeId now = flowing(old);
    if (is_last(to.type(now))) return now;
    NodeId& made = versions(old).last;
    if (!made.valid()) made = clone(to, now, "channels_last", from_.node_name(old) + ".last");
    return made;
  }

  // The value with its old strides.
  NodeId as_it_was(Graph& to, NodeId old) {
    const NodeId now = flowing(old);
    if (to[now].outputs == from_[old].outputs) return now;
    NodeId& made = versions(old).as_it_was;
    if (!made.valid()) made = restored(to, now, old);
    return made;
  }

  NodeId restored(Graph& to, NodeId now, NodeId old) {
    const std::string name = from_.node_name(old) + ".first";
    const NodeId dense = clone(to, now, "contiguous_format", name);
    return FreezingRewriter::with_types(to, dense, from_[old], name);
  }

  // Calls
  // ----------------------------------------------------------------------------------------------

  std::optional<Rewrite> rewritten(Graph& to, NodeId old, const std::vector<Argument>& arguments) {
    const bool convolution = is_convolution(old);
    std::vector<Argument> now = convolution      ? of_convolution(to, old)
                                : lets_flow(old) ? of_flowing(to, old)
                                                 : of_others(to, old);
    const bool goes_out = outputs_.count(old) != 0;
    if (now == arguments && !goes_out && !convolution) return std::nullopt;
    std::vector<TensorType> types = types_of(to, old, now);
    if (now == arguments && types == from_[old].outputs) return std::nullopt;
    if (convolution) saved_ += 2 * bytes_laid_out_otherwise(old);
    const NodeId made = to.carry(from_, old, std::move(now), std::move(types));
    versions(old).flowing = made;
    return Rewrite{convolution ? "convolution" : "operands", goes_out ? as_it_was(to, old) : made};
  }

  // The type by its shape rule, with two exceptions: a value whose layout in memory is unchanged
  // keeps its strides, and a convolution's results are channels last even if its input's layout is
  // ambiguous.
  std::vector<TensorType> types_of(const Graph& to, NodeId old,
                                   const std::vector<Argument>& arguments) const {
    const std::vector<TensorType>& before = from_[old].outputs;
    const bool convolution = is_convolution(old);
    if (arguments == from_[old].arguments && !convolution) return before;
    auto types =
        infer_types(from_.op(old), arguments, [&](NodeId id) { return to.pool().types_of(id); });
    RECUT_CHECK(types.ok(), "operands have other strides alone");
    for (std::size_t o = 0; o < before.size(); ++o) {
      TensorType& type = (*types)[o];
      if (convolution && type.shape.size() == kRank) type.strides = strides_of_pixels(type.shape);
      if (is_last(before[o]) && is_last(type)) type = before[o];
    }
    return std::move(*types);
  }

  template <class Choose>  // the successor of an operand
  std::vector<Argument> with_operands(NodeId old, const Choose& choose) const {
    std::vector<Argument> now = from_[old].arguments;
    for (Argument& a : now) for_each_node(a, [&](NodeId& operand) { operand = choose(operand); });
    return now;
  }

  std::vector<Argument> of_others(Graph& to, NodeId old) {
    return with_operands(old, [&](NodeId operand) { return as_it_was(to, operand); });
  }

  // Brings all operands of one shape to one layout if one of them changed. Non-dense operands stay
  // views.
  std::vector<Argument> of_flowing(Graph& to, NodeId old) {
    const auto& operands = from_[old].operands;
    const bool any = std::any_of(operands.begin(), operands.end(),
                                 [&](NodeId operand) { return is_converted(to, operand); });
    const Shape& shape = from_[old].type().shape;
    return with_operands(old, [&](NodeId operand) {
      const Shape& own = from_.type(operand).shape;
      const bool follows = any && own.size() == kRank && is_dense(to.type(flowing(operand))) &&
                           (own == shape || !from_.op(old).is(kPointwise));
      return follows && from_[operand].outputs.size() == 1 ? last_of(to, operand)
                                                           : flowing(operand);
    });
  }

  bool is_converted(const Graph& to, NodeId operand) {
    const NodeId now = flowing(operand);
    return to[now].outputs != from_[operand].outputs;
  }

  // A gradient reads only the shape of an operand whose values it does not need.
  std::vector<Argument> of_convolution(Graph& to, NodeId old) {
    const Node& node = from_[old];
    std::vector<NodeId> read;
    const auto operand = [&](std::size_t argument) {
      return *node.arguments[argument].get<NodeId>();
    };
    if (node.op == Op::convolution) {
      read = {operand(0)};
      if (device_ != nullptr) read.push_back(operand(1));
    } else {
      const std::vector<bool> mask = output_mask(old);
      read = {operand(0)};
      if (mask[0]) read.push_back(operand(2));
      if (mask[1]) read.push_back(operand(1));
    }
    return with_operands(old, [&](NodeId id) {
      const bool is_read = std::find(read.begin(), read.end(), id) != read.end();
      return is_read ? last_of(to, id) : flowing(id);
    });
  }

  std::vector<bool> output_mask(NodeId old) const {
    const Call::TypesOf types = [&](NodeId id) { return from_.pool().types_of(id); };
    return Call(from_.op(old), from_[old].arguments, types).booleans("output_mask");
  }

  std::int64_t bytes_laid_out_otherwise(NodeId old) const {
    const Node& node = from_[old];
    const auto bytes = [](const TensorType& type) { return is_last(type) ? 0 : byte_size(type); };
    const auto of = [&](std::size_t argument) {
      return bytes(from_.type(*node.arguments[argument].get<NodeId>()));
    };
    if (node.op == Op::convolution)
      return of(0) + (device_ != nullptr ? of(1) : 0) + bytes(node.type());
    // Each gradient has the shape of one operand and reads the two others.
    const std::vector<bool> mask = output_mask(old);
    return (int{mask[0]} + int{mask[1]}) * (of(0) + of(1) + of(2));
  }

  // Kinds of calls
  // ----------------------------------------------------------------------------------------------

  bool is_convolution(NodeId old) const {
    const Node& node = from_[old];
    const bool gradient = node.op == Op::convolution_backward && device_ != nullptr;
    if (node.op != Op::convolution && !gradient) return false;
    const std::size_t weight = node.op == Op::convolution ? 1 : 2;
    const std::size_t input = weight - 1;
    const TensorType& x = from_.type(*node.arguments[input].get<NodeId>());
    const TensorType& w = from_.type(*node.arguments[weight].get<NodeId>());
    if (x.shape.size() != kRank || element_count(x.shape) == 0 || element_count(w.shape) == 0)
      return false;
    if (pinned_.contains(old)) return false;
    if (device_ == nullptr) return x.dtype == DType::f32;
    const bool cores = x.dtype == DType::f16 || x.dtype == DType::bf16 ||
                       (x.dtype == DType::f32 && device_->f32_uses_tf32);
    const bool alone = w.shape[1] == 1 && x.shape[1] > 1;  // each channel by itself
    return cores && !alone && on_accelerator(x);
  }

  bool on_accelerator(const TensorType& type) const {
    if (device_->runs_step) return true;
    const std::string& device = type.device.empty() ? from_.device : type.device;
    return device.rfind("cpu", 0) != 0;
  }

  // Calls whose values do not depend on the layout of operands, and whose layout follows theirs.
  bool lets_flow(NodeId old) const {
    const Operator& op = from_.op(old);
    if (pinned_.contains(old) || op.is(kRandom)) return false;
    const Op which = from_[old].op;
    if (which == Op::getitem || which == Op::cat || which == Op::slice_Tensor) return true;
    if (names_a_layout(old)) return false;
    return op.is(kPointwise) || op.is(kReduction) || op.is(kPooling);
  }

  bool names_a_layout(NodeId old) const {
    const Operator& op = from_.op(old);
    for (std::size_t p = 0; p < op.parameters.size(); ++p)
      if (op.parameters[p].name == "memory_format" && from_[old].arguments[p].get<std::string>())
        return true;
    return false;
  }

  const Graph& from_;
  const Device* const device_;
  PinnedStorages pinned_;
  std::vector<Versions> converted_;  // by position in `from_`
  std::unordered_set<NodeId> outputs_;
  std::int64_t saved_ = 0, moved_ = 0;  // bytes
};

}  // namespace

Pass channels_last_pass(const Device& device) {
  return {"channels_last", find_pass("channels_last")->description,
          [device](const Graph& graph) { return ChannelsLast(graph, &device).run(); }, false, true};
}

Pass channels_last_on_processor_pass() {
  return {"channels_last", find_pass("channels_last")->description,
          [](const Graph& graph) { return ChannelsLast(graph, nullptr).run(); }, false, true};
}

}  // namespace recut
