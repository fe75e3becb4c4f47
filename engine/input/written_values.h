// Functionalisation: calls that write to a tensor in place, in a graph whose values never change.
//
//   %a = select.int(%x, 0, 1)              %a = select.int(%x, 0, 1)
//   %b = add_.Tensor(%a, 1)          =>    %b = add.Tensor(%a, 1)
//   %y = relu(%x)                          %x' = select_scatter(%x, %b, 0, 1)
//                                          %y = relu(%x')
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "engine/ir/graph.h"
#include "engine/support/result.h"

namespace recut {

// True if the result of a call may share its first operand's storage in PyTorch.
bool may_be_view(const Operator& op);

// The values that the nodes of a file have at the place that is being read, as nodes of a graph.
// A node of the file that is a view of another shares its storage: after a write to either, both
// have new values. Nodes of the file have the numbers 0, 1, …
class WrittenValues {
 public:
  explicit WrittenValues(Graph& graph, std::size_t file_nodes)
      : graph_(graph), nodes_(file_nodes) {}

  // A node of the file that a call read, and the value that it had.
  struct Operand {
    std::size_t at;
    NodeId value;
  };

  // The node's first value. It is a view of one of the operands if views lead there from it.
  void define(std::size_t at, NodeId value, std::span<const Operand> operands);

  // The value now; invalid if the node has none. Views of a written tensor are made again, in the
  // place of the reader.
  Result<NodeId> read(std::size_t at);

  // Gives the node another value, of its own type. Fails if views lie between the node and its
  // storage that a value can't be written through.
  Result<Done> write(std::size_t at, NodeId value);

  // The placeholders and constants that were written, with their values now, in the order of their
  // first writes.
  std::vector<Operand> written_inputs() const;

  // True if a write to one of two nodes of the file may change the other.
  bool share_storage(std::size_t a, std::size_t b) const { return storage_of(a) == storage_of(b); }

 private:
  static constexpr std::size_t kNone = static_cast<std::size_t>(-1);
  struct Entry {
    NodeId value;
    std::size_t view_of = kNone;  // a node of the file, and at the end of these the storage
    std::size_t storage = kNone;
    std::vector<NodeId> steps;  // the views from there, as they were first made
    std::uint32_t depth = 0, version = 0;
  };

  std::size_t storage_of(std::size_t at) const {
    return nodes_[at].storage == kNone ? at : nodes_[at].storage;
  }
  Result<NodeId> repeat(NodeId step, NodeId operand);
  Result<NodeId> write_through(std::span<const NodeId> steps, NodeId whole, NodeId value);
  Result<NodeId> write_step(NodeId step, NodeId before, NodeId value);
  Result<NodeId> write_elements(std::span<const NodeId> steps, NodeId before, NodeId value);

  Graph& graph_;
  std::vector<Entry> nodes_;
  std::vector<std::size_t> inputs_;  // that were written
};

}  // namespace recut
