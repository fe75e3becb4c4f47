// The graph: pure tensor operators in program order.
//
// Nodes are interned in a NodePool and append-only: equal calls are one node, nothing is ever
// changed in place. A Graph is one stage's view of a pool: an order of nodes, their names, inputs
// and outputs. Passes make new Graphs on the same pool: every stage stays alive, and a snapshot
// costs one vector of ids.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "engine/ir/argument.h"
#include "engine/ir/measurements.h"
#include "engine/ir/operator.h"
#include "engine/ir/origin.h"
#include "engine/ir/type.h"
#include "engine/support/result.h"

namespace recut {

struct Node {
  Op op;
  std::vector<Argument> arguments;  // one a parameter of the operator
  std::vector<TensorType>
      outputs;  // one for most operators; several where the operator returns several
  std::vector<NodeId> operands;  // the distinct nodes in `arguments`, in order of first appearance

  const TensorType& type() const { return outputs.front(); }
};

// Stores each distinct node once (hash-consing), and the origins of nodes. Ids only grow, and an
// operand's id is below its user's.
class NodePool {
 public:
  // The node of this call, created if there is none. Impure operators carry a sequence number as an
  // argument, so that two random draws never become one node.
  NodeId intern(Op op, std::vector<Argument> arguments, std::vector<TensorType> outputs);

  const Node& operator[](NodeId id) const { return nodes_[id.index]; }
  std::size_t size() const { return nodes_.size(); }

  std::span<const TensorType> types_of(NodeId id) const { return nodes_[id.index].outputs; }

  const OriginTable& origins() const { return origins_; }
  OriginTable& origins() { return origins_; }

 private:
  struct Slot {
    std::uint64_t hash = 0;
    NodeId id;  // invalid: free
  };
  void grow_table();

  OriginTable origins_;
  std::deque<Node> nodes_;
  std::vector<Slot> slots_;  // open addressing, a power of two of them; at most half are taken
};

enum class InputKind : std::uint8_t { parameter, input, tangent };
std::string_view name_of(InputKind kind);

class Graph;
struct GraphSignature;  // graph_signature.h

// Nested graphs by name: branches of a condition, bodies of loops. Calls name them by arguments of
// text (region_call.h). They never change, and graphs share them.
using Regions = std::map<std::string, std::shared_ptr<const Graph>, std::less<>>;

class Graph {
 public:
  explicit Graph(std::shared_ptr<NodePool> pool = std::make_shared<NodePool>())
      : pool_(std::move(pool)) {}

  // A graph with the same pool, name, device, measurements, regions and signature, and nothing else.
  Graph empty_like() const;

  std::string name;
  std::string device;  // default of all values: "cuda", "cpu", or "" where the file names none
  std::shared_ptr<const Measurements> measured;     // of its nodes; null if nothing was measured
  std::shared_ptr<const Regions> regions;           // of its calls; null if there are none
  std::shared_ptr<const GraphSignature> signature;  // null where there is nothing to say
  std::vector<NodeId> results;                      // outputs of forward
  std::vector<NodeId>
      gradients;  // one for each non-tangent placeholder, in order; invalid: no gradient

  // Appends a call and returns its node. If the graph has an equal node, returns that node and
  // records `origin.name` as an alias of it. Types are not checked here; see make() below.
  NodeId append(Op op, std::vector<Argument> arguments, std::vector<TensorType> outputs,
                Origin origin);

  // Appends a node of another graph of this pool under its origin there; inputs stay inputs of
  // their kind.
  NodeId carry(const Graph& from, NodeId id);

  // Appends that node's call with other arguments and the types that they give.
  NodeId carry(const Graph& from, NodeId id, std::vector<Argument> arguments,
               std::vector<TensorType> outputs);

  NodeId add_input(InputKind kind, TensorType type, Origin origin);
  NodeId add_constant(TensorType type,
                      Origin origin);  // a get_attr: a tensor that the module holds

  // append() with types inferred by the operator's shape rule. An empty name becomes the operator's
  // packet and a number.
  Result<NodeId> make(Op op, std::vector<Argument> arguments, Origin origin = {});

  // The region of a name; null if there is none.
  const Graph* region(std::string_view region_name) const;

  // False where the graph has a region of that name.
  bool add_region(std::string region_name, Graph region);

  const NodePool& pool() const { return *pool_; }
  const std::shared_ptr<NodePool>& shared_pool() const { return pool_; }

  std::span<const NodeId> order() const { return order_; }
  const Node& operator[](NodeId id) const { return (*pool_)[id]; }
  const TensorType& type(NodeId id) const { return (*pool_)[id].outputs.front(); }
  const Operator& op(NodeId id) const { return operator_of((*pool_)[id].op); }

  // Null if the node was not measured.
  const Measurement* measurement(NodeId id) const {
    return measured == nullptr ? nullptr : measured->of(id);
  }

  bool contains(NodeId id) const {
    return id.index < position_.size() && position_[id.index] != kAbsent;
  }
  std::size_t position(NodeId id) const { return position_[id.index]; }
  const Origin& origin(NodeId id) const { return pool_->origins()[origins_[position(id)]]; }
  const std::string& node_name(NodeId id) const { return origin(id).name; }
  NodeId find(std::string_view node_name) const;  // also by alias; invalid where there is none

  // True if no other node or alias has the node's name.
  bool owns_its_name(NodeId id) const;

  // Names of nodes that interning merged into another: (name in the file, surviving node).
  std::span<const std::pair<std::string, NodeId>> aliases() const { return aliases_; }

  // Records another name of a node; false where the name is taken.
  bool add_alias(std::string alias, NodeId id);

  // order() as it was written, with merged nodes repeated wherever the source had them.
  std::vector<NodeId> program() const;

  // Placeholders (without constants), in order, and the kind of each.
  std::span<const NodeId> inputs() const { return inputs_; }
  bool is_input(NodeId id) const { return input_kinds_.count(id.index) != 0; }
  InputKind input_kind(NodeId id) const;
  void set_input_kind(NodeId id, InputKind kind) { input_kinds_[id.index] = kind; }

  // A name that no node of this graph has: `base` itself, or with _1, _2, … after it.
  std::string unused_name(std::string_view base);

 private:
  static constexpr std::uint32_t kAbsent = 0xffffffff;

  NodeId named(NameId name) const;
  bool take_name(NameId name, NodeId id);  // false where it is taken
  void insert(NodeId id, OriginId origin);
  NodeId insert_as(const Graph& from, NodeId old, NodeId id);  // under old's origin there
  void record_input(NodeId id, InputKind kind);

  std::shared_ptr<NodePool> pool_;
  std::vector<NodeId> order_;
  std::vector<OriginId> origins_;        // by position
  std::vector<std::uint32_t> position_;  // by node id
  std::vector<NodeId> inputs_;
  std::unordered_map<std::uint32_t, InputKind> input_kinds_;
  std::vector<NodeId> by_name_;  // by the pool's number of the name
  std::unordered_map<std::string, int>
      next_suffix_;  // by base name: ten thousand equal ones stay linear
  std::vector<std::pair<std::string, NodeId>> aliases_;
  std::vector<std::size_t> alias_positions_;  // number of nodes before each alias
};

// Def-use chains: the distinct users of each node in program order, in compressed sparse rows.
class Users {
 public:
  explicit Users(const Graph& graph);
  std::span<const NodeId> of(NodeId id) const {
    const std::size_t p = graph_->position(id);
    return std::span(users_).subspan(first_[p], first_[p + 1] - first_[p]);
  }

 private:
  const Graph* graph_;
  std::vector<std::size_t> first_;
  std::vector<NodeId> users_;
};

}  // namespace recut
