// The state of one lowering: the kernel so far, the elements that its expressions have asked for,
// and the open loops.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <tuple>
#include <vector>

#include "engine/codegen/lower/lowered_kernel.h"
#include "engine/codegen/lower/scalar_expr.h"
#include "engine/codegen/lower/view_map.h"
#include "engine/fusion/fusion_groups.h"
#include "engine/ir/call.h"

namespace recut::loop {

using Indices = std::vector<Index>;  // one a dimension

// The smallest number of lanes above one, and of iterations that get lanes.
inline constexpr std::int64_t kLanes = 8;
// Lanes for an elementwise loop, and for a sum of `terms` terms. They suffice for the widest
// vectors of any target, and are the same on all of them.
std::int64_t lanes_for(std::int64_t iterations);
std::int64_t lanes_for_sum(std::int64_t terms);
// Lanes for one of `sums` sums that groups of threads compute: at most `most`, a power of two.
// About 8 terms a lane, or fewer lanes where there are enough sums to fill a GPU.
std::int64_t lanes_for_group(std::int64_t terms, std::int64_t sums, std::int64_t most);
// Likewise for sums that lie side by side, several of which a thread block computes: up to
// kMaxLanesAbreast, or more where so few sums exist that all `threads` can share them.
inline constexpr std::int64_t kMaxLanesAbreast = 256;
std::int64_t lanes_for_columns(std::int64_t terms, std::int64_t sums, std::int64_t most,
                               std::int64_t threads = 0);

// True where the kernel that ends with the call `last` stores this output of one of its calls: the
// output owns a storage that is not internal to a fusion group.
bool is_materialized(const StorageModel& storages, const FusionGroups& groups, NodeId last,
                     const ValueRef& ref);

class Lowering {
 public:
  Lowering(const Graph& graph, const StorageModel& storages, const FusionGroups& groups,
           std::span<const NodeId> calls, const LowerOptions& options);

  // Calls and their types
  const Graph& graph() const { return graph_; }
  Call call_of(NodeId id) const { return {graph_.op(id), graph_[id].arguments, types_of_}; }
  const TensorType& type(const ValueRef& ref) const { return graph_[ref.node].outputs[ref.output]; }
  bool is_member(NodeId id) const { return locations_.count(id) != 0; }
  bool is_materialized(const ValueRef& ref) const {
    return loop::is_materialized(storages_, groups_, last_, ref);
  }
  DType compute_type(DType dtype) const;

  // Elements
  // The element of a node's output, of the value type of its dtype.
  ScalarExpr element(NodeId id, const Indices& at);
  ScalarExpr element(const ViewMap& view_map, const Indices& at);
  // The element of an output of the kernel's own call, computed by its formula.
  ScalarExpr computed_element(const ValueRef& ref, const Indices& at);
  // Binds every element of that output to this value until the open block ends: the result of a
  // reduction within its row.
  void bind_element(const ValueRef& ref, const ScalarExpr& element);
  // A guarded load: 0 without an access where the condition is false. Not for the kernel's own
  // calls.
  ScalarExpr element_where(NodeId id, const Indices& at, ScalarExpr condition);
  const ViewMap& view_map(NodeId id);
  // The buffer of a whole storage.
  BufferId buffer(const ValueRef& ref, Access access);

  // Stores an element of an output, converted to its dtype.
  void write(const ValueRef& ref, const Indices& at, const ScalarExpr& value);
  // Writes the element that the formula of the kernel's own call gives; both parts if complex.
  void write_computed(const ValueRef& ref, const Indices& at);
  // The same, at the element that a view of the output shows.
  void write_through(const ViewMap& view, const Indices& at, const ScalarExpr& value);
  void combine_into(const ValueRef& ref, const Indices& at, Combine how, const ScalarExpr& value);
  // Reads back an element of the kernel's own output.
  ScalarExpr stored(const ValueRef& ref, const Indices& at);

  // Rounds or wraps a computed value to a dtype; the result has its value type.
  ScalarExpr rounded(ScalarExpr computed, DType dtype);
  // Casts an operand's element to the common dtype of a computation (ATen's casts).
  ScalarExpr cast(ScalarExpr element, DType from, DType common);

  // RAII: statements built in its lifetime carry the source location of this call.
  class LocationScope {
   public:
    LocationScope(Lowering& lowering, NodeId id)
        : builder_(lowering.builder_), before_(builder_.set_location(lowering.locations_.at(id))) {}
    ~LocationScope() { builder_.set_location(before_); }
    LocationScope(const LocationScope&) = delete;
    LocationScope& operator=(const LocationScope&) = delete;

   private:
    Builder& builder_;
    const std::uint32_t before_;
  };

  // Loops
  Builder& builder() { return builder_; }
  ScalarExpr constant(DType type, double number);
  ScalarExpr number(const Index& index) { return {&builder_, builder_.number(index)}; }

  // Calls body(at) for every index of a shape, inside of loops over it: the outermost is parallel,
  // the innermost has lanes. Dimensions go from large strides to small ones where `strides` are
  // given. Adjacent dimensions are collapsed where no index becomes harder by it.
  void for_each(const Shape& shape, const Strides& strides,
                const std::function<void(const Indices&)>& body);

  // Collapses loops: runs `attempt` for the best set of boundaries between adjacent dimensions. It
  // merges as many as it can without adding divisions to the indices. For n boundaries the body is
  // generated at most n + 3 times.
  void merge_loops(std::size_t boundaries,
                   const std::function<void(const std::vector<bool>&)>& attempt);

  LoweredKernel finish();

  const LowerOptions options;

 private:
  struct State {  // restored before each attempt
    Builder builder;
    std::map<ValueRef, BufferId> buffers;
    std::vector<BufferSource> sources;
    std::map<std::tuple<ValueRef, Indices>, ValueId> known;
    std::map<ValueRef, ValueId> bound;
  };
  ScalarExpr load(const ViewMap& view_map, const Indices& at, ValueId where);
  ScalarExpr loaded(const ScalarExpr& value, DType dtype) const;

  const Graph& graph_;
  const StorageModel& storages_;
  const FusionGroups& groups_;
  const NodeId last_;  // the last own call; invalid where the kernel has views only
  Call::TypesOf types_of_;
  std::map<NodeId, std::uint32_t> locations_;  // by own call, in their order
  std::map<NodeId, ViewMap> view_maps_;
  Builder builder_;
  std::map<ValueRef, BufferId> buffers_;
  std::vector<BufferSource> sources_;
  std::map<std::tuple<ValueRef, Indices>, ValueId> known_;
  std::map<ValueRef, ValueId> bound_;
};

}  // namespace recut::loop
