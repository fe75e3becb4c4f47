// The state of one lowering: the kernel in the making, the elements that its expressions ask for,
// and the loops that they stand in.
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

// The least number of lanes, and how many iterations ask for more.
inline constexpr std::int64_t kLanes = 8;
// Lanes for a loop that computes element by element, and for one that sums so many numbers: enough
// of them to be computed at once on any target, and the same everywhere.
std::int64_t lanes_for(std::int64_t iterations);
std::int64_t lanes_for_sum(std::int64_t terms);
// Lanes for one of so many sums that groups of threads make: at most `most`, a power of two. Some 8
// terms a lane, or fewer lanes where there are sums enough to keep a card busy.
std::int64_t lanes_for_group(std::int64_t terms, std::int64_t sums, std::int64_t most);
// The same of sums that lie side by side, of neighbours of which a block has some: up to
// kMostLanesAbreast, or more where so few lie there that all `threads` have a part of them.
inline constexpr std::int64_t kMostLanesAbreast = 256;
std::int64_t lanes_for_columns(std::int64_t terms, std::int64_t sums, std::int64_t most,
                               std::int64_t threads = 0);

// Whether a kernel whose own calls end with `last` stores this output of one of them.
bool reaches_memory(const StorageModel& storages, const FusionGroups& groups, NodeId last,
                    const Made& made);

class Lowering {
 public:
  Lowering(const Graph& graph, const StorageModel& storages, const FusionGroups& groups,
           std::span<const NodeId> calls, const LowerOptions& options);

  // What the calls are and what can be said of them
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
  // The element of an output of the kernel's own call, by its formula.
  Quantity made_element(const Made& made, const Indices& at);
  // From now on, to the end of the block that is open, each element of that output is this one: a
  // reduction's, within a row.
  void settle(const Made& made, const Quantity& element);
  // Where the condition holds; elsewhere 0, and nothing is read. Not of the kernel's own calls.
  Quantity element_where(NodeId id, const Indices& at, Quantity condition);
  const Address& address(NodeId id);
  // A storage, element by element in its own order.
  BufferId buffer(const Made& made, Access access);

  // Stores the element of an output, converted to its dtype.
  void write(const Made& made, const Indices& at, const Quantity& value);
  // The same where a view of the output shows that element.
  void write_through(const Address& view, const Indices& at, const Quantity& value);
  void combine_into(const Made& made, const Indices& at, Combine how, const Quantity& value);
  // What stands there by now, of the kernel's own output.
  Quantity stored(const Made& made, const Indices& at);

  // A computed number as an element of that dtype: rounded or wrapped, of its value type.
  Quantity rounded(Quantity computed, DType dtype);
  // An element of one dtype as the computation in another sees it (ATen's cast of operands).
  Quantity cast(Quantity element, DType from, DType common);

  // While it lives, statements are from this call, one of the kernel's own.
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

  // Calls body(at) for every place of a shape, inside of loops over it: the outermost parallel, the
  // innermost in lanes. Dimensions go from large strides to small ones where `strides` are given,
  // and neighbours are one loop where no index becomes harder by it.
  void for_each(const Shape& shape, const Strides& strides,
                const std::function<void(const Indices&)>& body);

  // Runs `attempt` for the best of the ways to merge `borders` neighbours: as many as leave the
  // indices without more divisions than there have to be.
  void merge_best(std::size_t borders,
                  const std::function<void(const std::vector<bool>&)>& attempt);

  LoweredKernel finish();

  const LowerOptions options;

 private:
  struct State {  // what an attempt changes
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
  const NodeId last_;  // of the kernel's own calls; invalid where it has views only
  Call::TypesOf types_of_;
  std::map<NodeId, std::uint32_t> notes_;  // of the kernel's own calls, in their order
  std::map<NodeId, Address> addresses_;
  Builder builder_;
  std::map<Made, BufferId> buffers_;
  std::vector<BufferSource> sources_;
  std::map<std::tuple<Made, Indices>, ValueId> known_;
  std::map<Made, ValueId> settled_;
};

}  // namespace recut::loop
