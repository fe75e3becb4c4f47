// Padded operands: zeros at the ends of dimensions, written once. The padding moves beneath the
// views of a value, merges with a padding that is there already, and is shared by equal requests.
//
//   %c = constant_pad_nd(%x, [0, 0, 0, 1])    %p = constant_pad_nd(%x, [0, 3, 0, 1])
//   %v = view(%c, [8, 61])                    %c = slice.Tensor(%p, 2, 0, 61)
//   %t = permute(%v, [1, 0])              =>  %v = view(%c, [8, 61])
//   three more columns of %v,                 %w = view(%p, [8, 64])
//   three more rows of %t                     %u = permute(%w, [1, 0])
//
// Padding moves beneath views and permutations of dense values; other values are padded themselves.
#pragma once

#include <map>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/ir/aliases.h"
#include "engine/ir/graph.h"

namespace recut {

class PaddedOperands {
 public:
  using Zeros = std::vector<std::int64_t>;  // at the end of each dimension, from the first
  using Pad = std::vector<std::int64_t>;    // constant_pad_nd's: two a dimension, from the last

  explicit PaddedOperands(const Graph& from);

  // Announces a padding of a value. To be called before anything is created.
  void request(NodeId old, const Zeros& zeros);

  // For a constant_pad_nd of the graph that must be wider: the slice of the wider padding that
  // equals it. Nullopt for all other calls.
  std::optional<NodeId> widened(Graph& to, NodeId old, const std::vector<Argument>& arguments);

  // The padded successor of a value of the old graph.
  NodeId padded(Graph& to, NodeId old, const Zeros& zeros, std::string_view name);

  // Call it for every call with its successor, in order.
  void placed(NodeId old, NodeId successor) { successors_[from_.position(old)] = successor; }

 private:
  // The target of a value's padding: the views above it, outermost first, each with its zeros.
  struct PadTarget {
    std::vector<std::pair<NodeId, Zeros>> views;
    NodeId base;
    Zeros zeros;    // of the base
    NodeId widens;  // the base, if it is a padding itself; else invalid
    Pad pad;        // of the base, or of the operand of that padding
  };
  PadTarget pad_target_of(NodeId old, const Zeros& zeros) const;

  // Tells whether a value may change strides: only views that keep the padded dimensions show them.
  bool may_widen(NodeId old, const Zeros& zeros) const;
  bool is_output(NodeId old) const;

  NodeId pad_once(Graph& to, NodeId value, const Pad& pad, std::string_view name);

  const Graph& from_;
  Users users_;
  PinnedStorages pinned_;
  std::vector<NodeId> successors_;  // by position
  std::map<NodeId, Pad> wider_;     // the new pads of the graph's own paddings
  std::map<std::pair<NodeId, Pad>, NodeId> made_;
};

}  // namespace recut
