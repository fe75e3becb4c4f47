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

#include "engine/codegen/lower/address.h"
#include "engine/codegen/lower/lowered_kernel.h"
#include "engine/codegen/lower/quantity.h"
#include "engine/fusion/fusion_groups.h"
#include "engine/ir/call.h"

namespace recut::loop {

using Indices = std::vector<Index>;  // one a dimension

// The smallest number of lanes above one, and of iterations that get lanes.
inline constexpr std::int64_t kLanes = 8;
// Lanes for an elementwise loop, and for a sum of so many terms. They suffice for the widest
// vectors of any target, and are the same on all of them.
std::int64_t lanes_for(std::int64_t iterations);
std::int64_t lanes_for_sum(std::int64_t terms);
// Lanes for one of `sums` sums that groups of threads compute: at most `most`, a power of two.
// About 8 terms a lane, or fewer lanes where there are enough sums to fill a GPU.
std::int64_t lanes_for_group(std::int64_t terms, std::int64_t sums, std::int64_t most);
// Likewise for sums that lie side by side, several of which a thread block computes: up to
// kMostLanesAbreast, or more where so few sums exist that all `threads` can share them.
inline constexpr std::int64_t kMostLanesAbreast = 256;
std::int64_t lanes_for_columns(std::int64_t terms, std::int64_t sums, std::int64_t most,
                               std::int64_t threads = 0);

// True where the kernel that ends with the call `last` stores this output of one of its calls: the
// output owns a storage that is not internal to a fusion group.
bool reaches_memory(const StorageModel& storages, const FusionGroups& groups, NodeId last,
                    const Made& made);

class Lowering {
 public:
  Lowering(const Graph& graph, const StorageModel& storages, const FusionGroups& groups,
           std::span<const NodeId> calls, const LowerOptions& options);

  // Calls and their types
  const Graph& graph() const { return graph_; }
  Call call_of(NodeId id) const { return {graph_.op(id), graph_[id].arguments, types_of_}; }
  const TensorType& type(const Made& made) const { return graph_[made.node].outputs[made.output]; }
  bool is_member(NodeId id) const { return notes_.count(id) != 0; }
  bool reaches_memory(const Made& made) const {
    return loop::reaches_memory(storages_, groups_, last_, made);
  }
  DType compute_type(DType dtype) const;

  // Elements
  // The element of a node's output, of the value type of its dtype.
  Quantity element(NodeId id, const Indices& at);
  Quantity element(const Address& address, const Indices& at);
  // The element of an output of the kernel's own call, computed by its formula.
  Quantity made_element(const Made& made, const Indices& at);
  // Binds every element of that output to this value until the open block ends: the result of a
  // reduction within its row.
  void settle(const Made& made, const Quantity& element);
  // A guarded load: 0 without an access where the condition is false. Not for the kernel's own
  // calls.
  Quantity element_where(NodeId id, const Indices& at, Quantity condition);
  const Address& address(NodeId id);
  // The buffer of a whole storage.
  BufferId buffer(const Made& made, Access access);

  // Stores an element of an output, converted to its dtype.
  void write(const Made& made, const Indices& at, const Quantity& value);
  // The same, at the element that a view of the output shows.
  void write_through(const Address& view, const Indices& at, const Quantity& value);
  void combine_into(const Made& made, const Indices& at, Combine how, const Quantity& value);
  // Reads back an element of the kernel's own output.
  Quantity stored(const Made& made, const Indices& at);

  // Rounds or wraps a computed value to a dtype; the result has its value type.
  Quantity rounded(Quantity computed, DType dtype);
  // Casts an operand's element to the common dtype of a computation (ATen's casts).
  Quantity cast(Quantity element, DType from, DType common);

  // RAII: statements built in its lifetime carry the source location of this call.
  class About {
   public:
    About(Lowering& lowering, NodeId id)
        : builder_(lowering.builder_), before_(builder_.begin_note(lowering.notes_.at(id))) {}
    ~About() { builder_.begin_note(before_); }
    About(const About&) = delete;
    About& operator=(const About&) = delete;

   private:
    Builder& builder_;
    const std::uint32_t before_;
  };

  // Loops
  Builder& builder() { return builder_; }
  Quantity constant(DType type, double number);
  Quantity number(const Index& index) { return {&builder_, builder_.number(index)}; }

  // Calls body(at) for every index of a shape, inside of loops over it: the outermost is parallel,
  // the innermost has lanes. Dimensions go from large strides to small ones where `strides` are
  // given. Adjacent dimensions are collapsed where no index becomes harder by it.
  void for_each(const Shape& shape, const Strides& strides,
                const std::function<void(const Indices&)>& body);

  // Collapses loops: runs `attempt` for the best set of boundaries between adjacent dimensions. It
  // merges as many as it can without adding divisions to the indices. For n boundaries the body is
  // generated at most n + 3 times.
  void merge_best(std::size_t borders,
                  const std::function<void(const std::vector<bool>&)>& attempt);

  LoweredKernel finish();

  const LowerOptions options;

 private:
  struct State {  // restored before each attempt
    Builder builder;
    std::map<Made, BufferId> buffers;
    std::vector<BufferSource> sources;
    std::map<std::tuple<Made, Indices>, ValueId> known;
    std::map<Made, ValueId> settled;
  };
  Quantity load(const Address& address, const Indices& at, ValueId where);

  const Graph& graph_;
  const StorageModel& storages_;
  const FusionGroups& groups_;
  const NodeId last_;  // the last own call; invalid where the kernel has views only
  Call::TypesOf types_of_;
  std::map<NodeId, std::uint32_t> notes_;  // by own call, in their order
  std::map<NodeId, Address> addresses_;
  Builder builder_;
  std::map<Made, BufferId> buffers_;
  std::vector<BufferSource> sources_;
  std::map<std::tuple<Made, Indices>, ValueId> known_;
  std::map<Made, ValueId> settled_;
};

}  // namespace recut::loop
