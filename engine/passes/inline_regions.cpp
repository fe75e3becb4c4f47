// Inlines nested graphs, so that they can be compiled: both branches of a condition, whose results
// are selected, and the trips of a loop, one after another.
//
//   %c = external torch.ops.higher_order.cond(%p, "yes", "no", [%x], draw=0) : (f32[4])
//   %y = getitem(%c, 0)      =>   %s = sin(%x); %t = cos(%x); %y = where.self(%p, %s, %t)
//
// Needs nothing. Establishes: no call is of a nested graph that is in the graph and calls known
// operators; except conditions whose branches may fail where they aren't taken, and loops whose
// trips aren't known or are too many (region_inlining.h). A branch may fail if it reads at indices
// that are data, divides integers or solves. Where the predicate is known, its branch alone is
// inlined. Bit-exact: a selection takes the values of the branch that the condition would run, and
// random draws are numbered as the interpreter numbers those of each run.
#include "engine/passes/region_inlining.h"

#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <memory>
#include <vector>

#include "engine/ir/call.h"
#include "engine/ir/copy.h"
#include "engine/ir/flex_attention.h"
#include "engine/ir/laid_out.h"
#include "engine/ir/printer.h"
#include "engine/ir/rebuild.h"
#include "engine/ir/region_call.h"
#include "engine/passes/flex_expansion.h"
#include "engine/passes/known_values.h"
#include "engine/passes/pass.h"
#include "engine/passes/region_body.h"
#include "engine/support/text.h"

namespace recut {
namespace {

using Nodes = std::vector<NodeId>;

// One output of an inlined call: a value, the choice of two by the predicate, or a stack.
struct InlinedOutput {
  enum class Kind : std::uint8_t { value, choice, stack } kind = Kind::value;
  Nodes parts;
};

struct InlinedCall {
  NodeId predicate;
  std::vector<InlinedOutput> outputs;
};

class RegionInliner {
 public:
  explicit RegionInliner(const Graph& from) : from_(from) {}

  PassResult run() {
    Graph to =
        rebuild(from_, [&](Graph& graph, NodeId old, const std::vector<Argument>& arguments) {
          return place(graph, old, arguments);
        });
    if (changes_.empty()) return {from_, false, {}};
    return {std::move(to), true, std::move(changes_)};
  }

  // Of calls that stay, after run().
  const std::map<NodeId, std::string>& reasons() const { return reasons_; }

 private:
  // A call of several outputs becomes no node of its own: its results are known where a getitem
  // reads them.
  NodeId place(Graph& to, NodeId old, const std::vector<Argument>& arguments) {
    const Node& node = from_[old];
    const auto source = node.op == Op::getitem ? calls_.find(node.operands.front()) : calls_.end();
    if (source != calls_.end()) {
      const Call::TypesOf types_of = [this](NodeId id) { return from_.pool().types_of(id); };
      const Call call(operator_of(node.op), node.arguments, types_of);
      return output(to, old, source->second, static_cast<std::size_t>(call.integer("index")));
    }
    if (!region_call(node) || !has_regions(from_, old)) return keep_node(from_, to, old, arguments);
    auto inlined = inline_call(to, old, arguments);
    if (!inlined) {
      reasons_.emplace(old, inlined.diagnostics().front().message);
      return keep_node(from_, to, old, arguments);
    }
    changes_.push_back({rule_, old, {}, fmt::format("{}  =>  {}", print_node(from_, old), note_)});
    if (!operator_of(node.op).returns_list) return output(to, old, *inlined, 0);
    calls_.emplace(old, std::move(*inlined));
    return NodeId();
  }

  NodeId output(Graph& to, NodeId old, const InlinedCall& call, std::size_t index) {
    const InlinedOutput& output = call.outputs[index];
    const TensorType& type = from_.type(old);
    if (output.kind == InlinedOutput::Kind::choice)
      return to.append(Op::where_self, {call.predicate, output.parts.front(), output.parts.back()},
                       from_[old].outputs, from_.origin(old));
    if (output.kind == InlinedOutput::Kind::value) return laid_out(to, output.parts.front(), type);
    const auto stacked =
        output.parts.empty()
            ? to.make(Op::full, {Argument(type.shape), 0, type.dtype}, from_.origin(old))
            : to.make(Op::stack, {Argument(output.parts), 0}, from_.origin(old));
    RECUT_CHECK(stacked.ok(), "the results of all trips have one type");
    return laid_out(to, *stacked, type);
  }

  Result<InlinedCall> inline_call(Graph& to, NodeId old, const std::vector<Argument>& arguments) {
    const auto faults = check_regions(from_, old);
    if (!faults.empty()) return error(faults.front());
    const RegionCall call = *region_call(Node{from_[old].op, arguments, from_[old].outputs, {}});
    for (const ArgumentList* values : {&call.carried, &call.sliced})
      if (operands_among(*values).size() != values->size())
        return error("there is a number among the values of its loop");
    for (const TensorType& type : from_[old].outputs)
      if (type.exists() && !is_dense(type))
        return error(fmt::format("it gives {}, whose elements overlap or have gaps", format(type)));
    first_ = {draw_of(from_[old]), 0};
    bodies_.clear();
    for (const std::string& name : call.regions) {
      auto found = body(name);
      if (!found) return found.diagnostics();
      bodies_.push_back(*found);
    }
    switch (call.kind) {
      case RegionCallKind::branches:
        return inline_branches(to, old, call);
      case RegionCallKind::while_loop:
      case RegionCallKind::while_stack:
        return inline_while(to, old, call);
      case RegionCallKind::scan:
        return inline_scan(to, old, call);
      case RegionCallKind::prefix_scan:
        return inline_prefix_scan(to, old, call);
      case RegionCallKind::once:
        return inline_once(to, old, call);
    }
    return error("it runs its nested graph in an unknown way");
  }

  // The region with the calls of its own regions inlined.
  Result<const Graph*> body(const std::string& name) {
    const auto known = inlined_regions_.find(name);
    if (known != inlined_regions_.end()) return &known->second;
    const Graph region = passes::expand_flex_attention(deep_copy(*from_.region(name))).graph;
    RegionInliner inner(region);
    PassResult result = inner.run();
    if (!inner.reasons().empty()) {
      const auto& [node, reason] = *inner.reasons().begin();
      return error(fmt::format("node {} of the nested graph {}: {}", quote(region.node_name(node)),
                               quote(name), reason));
    }
    result.graph.name = name;
    if (const auto why = why_not_inlined(from_, result.graph)) return error(*why);
    return &inlined_regions_.emplace(name, std::move(result.graph)).first->second;
  }

  // Inputs may be given as the region has them, or copied so.
  static Result<Done> check_inputs(const Graph& region, const std::vector<TensorType>& given) {
    for (std::size_t i = 0; i < given.size(); ++i)
      if (const TensorType& type = region.type(region.inputs()[i]);
          !can_be_laid_out(given[i], type))
        return error(fmt::format("the nested graph {} takes {}, and is given {}",
                                 quote(region.name), format(type),
                                 given[i].exists() ? format(given[i]) : "none"));
    return Done{};
  }

  static void add_types(const Graph& graph, const Nodes& values, std::vector<TensorType>& types) {
    for (const NodeId id : values) types.push_back(id.valid() ? graph.type(id) : TensorType{});
  }

  static std::vector<TensorType> slice_types(const Graph& graph, const Nodes& sliced) {
    std::vector<TensorType> types;
    for (const NodeId id : sliced) {
      TensorType type = graph.type(id);
      type.shape.erase(type.shape.begin());
      type.strides.erase(type.strides.begin());
      types.push_back(std::move(type));
    }
    return types;
  }

  Result<InlinedCall> inline_once(Graph& to, NodeId old, const RegionCall& call) {
    const Nodes whole = operands_among(call.whole);
    std::vector<TensorType> types;
    add_types(to, whole, types);
    if (auto fits = check_inputs(*bodies_[0], types); !fits) return fits.diagnostics();
    describe("call", "its nodes");
    return values_of(old, copy_region(to, *bodies_[0], first_, whole));
  }

  Result<InlinedCall> inline_branches(Graph& to, NodeId old, const RegionCall& call) {
    const Nodes whole = operands_among(call.whole);
    std::vector<TensorType> types;
    add_types(to, whole, types);
    for (const Graph* region : bodies_)
      if (auto fits = check_inputs(*region, types); !fits) return fits.diagnostics();
    const auto* number = call.predicate.get<bool>();
    std::optional<bool> known = number == nullptr ? std::nullopt : std::optional(*number);
    const NodeId predicate = known ? NodeId() : *call.predicate.get<NodeId>();
    if (!known && element_count(to.type(predicate).shape) != 1)
      return error("its predicate has not one element");
    if (!known)
      if (const auto value = known_value(to, predicate)) known = is_true(*value);
    if (known) {
      describe("known condition", "its branch " + quote(call.regions[*known ? 0 : 1]));
      return values_of(old, copy_region(to, *bodies_[*known ? 0 : 1], first_, whole));
    }
    for (const Graph* region : bodies_)
      if (const auto why = why_not_untaken(*region)) return error(*why);
    describe(kBothBranches, "both branches, and a selection of each result");
    InlinedCall inlined = values_of(old, copy_region(to, *bodies_[0], first_, whole));
    const Nodes others = copy_region(to, *bodies_[1], first_, whole);
    for (std::size_t i = 0; i < inlined.outputs.size(); ++i) {
      inlined.outputs[i].kind = InlinedOutput::Kind::choice;
      inlined.outputs[i].parts.push_back(others[i]);
    }
    inlined.predicate = as_bool(to, predicate);
    return inlined;
  }

  static NodeId as_bool(Graph& to, NodeId predicate) {
    const auto apply = [&](Op op, std::vector<Argument> arguments) {
      auto made = to.make(op, std::move(arguments));
      RECUT_CHECK(made.ok(), "a predicate of one element has the shape []");
      return *made;
    };
    if (to.type(predicate).rank() > 0) predicate = apply(Op::reshape, {predicate, ArgumentList()});
    if (to.type(predicate).dtype == DType::boolean) return predicate;
    return apply(Op::ne_Scalar, {predicate, 0});
  }

  void describe(std::string_view rule, std::string note) {
    rule_ = rule;
    note_ = std::move(note);
  }

  InlinedCall values_of(NodeId old, const Nodes& results) const {
    InlinedCall call;
    for (std::size_t i = 0; i < from_[old].outputs.size(); ++i)
      call.outputs.push_back({InlinedOutput::Kind::value, {results[i]}});
    return call;
  }

  InlinedCall stacks_of(NodeId old, std::size_t first) const {
    InlinedCall call;
    call.outputs.resize(from_[old].outputs.size());
    for (std::size_t i = first; i < call.outputs.size(); ++i)
      call.outputs[i].kind = InlinedOutput::Kind::stack;
    return call;
  }

  RegionRunNumber number(std::int64_t run) const { return {first_.draw, run}; }

  static std::int64_t calls_of(const Graph& region) {
    return static_cast<std::int64_t>(std::max<std::size_t>(region.order().size(), 1));
  }

  // The first trip has the values of the call as inputs, and each later one results of the region.
  Result<Done> check_loop(const Graph& region, std::vector<TensorType> first, std::size_t carried,
                          const std::vector<TensorType>& others, std::int64_t trips) {
    std::vector<TensorType> later;
    for (std::size_t i = 0; i < carried; ++i) add_types(region, {region.results[i]}, later);
    for (std::vector<TensorType>* types : {&first, &later}) {
      types->insert(types->end(), others.begin(), others.end());
      if (auto fits = check_inputs(region, *types); !fits) return fits;
    }
    const std::int64_t calls = calls_of(region);
    if (trips > kMaxUnrolledCalls / calls)
      return error(fmt::format("its {} trips would become {} calls, and Recut unrolls at most {}",
                               trips, trips * calls, kMaxUnrolledCalls));
    describe("loop", fmt::format("{} {}", trips, trips == 1 ? "trip" : "trips"));
    return Done{};
  }

  Result<InlinedCall> inline_while(Graph& to, NodeId old, const RegionCall& call) {
    Nodes carried = operands_among(call.carried);
    const Nodes whole = operands_among(call.whole);
    const KnownValues none(to.inputs().size());
    const auto trips = known_trips(
        {*bodies_[0], *bodies_[1], known_values(to, none, carried), known_values(to, none, whole)},
        kMaxUnrolledCalls / calls_of(*bodies_[1]));
    if (!trips) return trips.diagnostics();
    std::vector<TensorType> first, others;
    add_types(to, carried, first);
    add_types(to, whole, others);
    if (auto fits = check_loop(*bodies_[1], first, carried.size(), others, *trips); !fits)
      return fits.diagnostics();
    const bool stacks = call.kind == RegionCallKind::while_stack;
    InlinedCall inlined = stacks_of(old, stacks ? 0 : carried.size());
    for (std::int64_t trip = 0; trip < *trips; ++trip) {
      Nodes inputs = carried;
      inputs.insert(inputs.end(), whole.begin(), whole.end());
      // The condition runs before each trip.
      carried = copy_region(to, *bodies_[1], number(2 * trip + 1), inputs);
      for (std::size_t i = 0; stacks && i < carried.size(); ++i)
        inlined.outputs[i].parts.push_back(carried[i]);
    }
    for (std::size_t i = 0; i < carried.size(); ++i)
      if (!stacks || *trips == 0) inlined.outputs[i].parts = {carried[i]};
    return inlined;
  }

  static Nodes slices(Graph& to, const Nodes& sliced, std::int64_t index) {
    Nodes parts;
    for (const NodeId id : sliced) {
      auto part = to.make(Op::select_int, {id, 0, index});
      RECUT_CHECK(part.ok(), "a trip has a slice of each operand");
      parts.push_back(*part);
    }
    return parts;
  }

  Result<InlinedCall> inline_scan(Graph& to, NodeId old, const RegionCall& call) {
    Nodes carried = operands_among(call.carried);
    const Nodes sliced = operands_among(call.sliced), whole = operands_among(call.whole);
    const std::size_t count = carried.size();
    const auto trips = trips_of(to, call);
    if (!trips) return error("there is no tensor to read slices of");
    std::vector<TensorType> first, others = slice_types(to, sliced);
    add_types(to, carried, first);
    add_types(to, whole, others);
    if (auto fits = check_loop(*bodies_[0], first, count, others, *trips); !fits)
      return fits.diagnostics();
    InlinedCall inlined = stacks_of(old, count);
    for (std::int64_t trip = 0; trip < *trips; ++trip) {
      Nodes inputs = carried;
      for (const Nodes& more : {slices(to, sliced, trip), whole})
        inputs.insert(inputs.end(), more.begin(), more.end());
      carried = copy_region(to, *bodies_[0], number(trip), inputs);
      for (std::size_t i = count; i < carried.size(); ++i)
        inlined.outputs[i].parts.push_back(carried[i]);
      carried.resize(count);
    }
    for (std::size_t i = 0; i < count; ++i) inlined.outputs[i].parts = {carried[i]};
    return inlined;
  }

  Result<InlinedCall> inline_prefix_scan(Graph& to, NodeId old, const RegionCall& call) {
    const Nodes sliced = operands_among(call.sliced), whole = operands_among(call.whole);
    const auto trips = trips_of(to, call);
    if (!trips) return error("there is no tensor to read slices of");
    const std::vector<TensorType> first = slice_types(to, sliced);
    std::vector<TensorType> others = first;
    add_types(to, whole, others);
    if (auto fits = check_loop(*bodies_[0], first, sliced.size(), others, *trips); !fits)
      return fits.diagnostics();
    InlinedCall inlined = stacks_of(old, 0);
    Nodes sum;
    for (std::int64_t trip = 0; trip < *trips; ++trip) {
      Nodes inputs = sum;
      const Nodes parts = slices(to, sliced, trip);
      inputs.insert(inputs.end(), parts.begin(), parts.end());
      inputs.insert(inputs.end(), whole.begin(), whole.end());
      sum = trip == 0 ? parts : copy_region(to, *bodies_[0], number(trip - 1), inputs);
      for (std::size_t i = 0; i < sum.size(); ++i) inlined.outputs[i].parts.push_back(sum[i]);
    }
    return inlined;
  }

  const Graph& from_;
  std::map<std::string, Graph> inlined_regions_;
  std::vector<const Graph*> bodies_;  // of the call that is being inlined
  RegionRunNumber first_;             // of its first run
  std::string_view rule_;             // of its change
  std::string note_;
  std::map<NodeId, InlinedCall> calls_;  // that were inlined
  std::map<NodeId, std::string> reasons_;
  std::vector<Change> changes_;
};

}  // namespace

namespace passes {

PassResult inline_regions(const Graph& graph) { return RegionInliner(graph).run(); }

}  // namespace passes

Graph without_region_calls(const Graph& graph) {
  if (graph.regions == nullptr) return graph;
  return passes::inline_regions(passes::expand_flex_attention(graph).graph).graph;
}

std::optional<std::string> why_not_inlined(const Graph& graph, NodeId call) {
  if (!has_regions(graph, call)) return std::nullopt;
  const Graph copy = deep_copy(graph);  // the graph's pool may belong to another thread
  RegionInliner inliner(copy);
  inliner.run();
  const bool attention = flex_attention(graph[call]).has_value();
  const auto reasons = attention ? unexpanded_attention(copy) : inliner.reasons();
  const auto reason = reasons.find(copy.find(graph.node_name(call)));
  return reason == reasons.end() ? std::nullopt : std::optional(reason->second);
}

}  // namespace recut
