// Zeros behind the dimensions of values, written once: beneath the views of a value, together with
// zeros that stand there already, and shared by all that ask for the same.
//
//   %c = constant_pad_nd(%x, [0, 0, 0, 1])    %p = constant_pad_nd(%x, [0, 3, 0, 1])
//   %v = view(%c, [8, 61])                    %c = slice.Tensor(%p, 2, 0, 61)
//   %t = permute(%v, [1, 0])              =>  %v = view(%c, [8, 61])
//   three more columns of %v,                 %w = view(%p, [8, 64])
//   three more rows of %t                     %u = permute(%w, [1, 0])
//
// Views and permutations of dense rows are gone beneath; other values are padded as they are.
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
  using Zeros = std::vector<std::int64_t>;  // behind each dimension, from the first
  using Pad = std::vector<std::int64_t>;    // two a dimension, from the last: constant_pad_nd's

  explicit PaddedOperands(const Graph& from);

  // Before anything is made: that these zeros of a value will be asked for.
  void announce(NodeId old, const Zeros& zeros);

  // Of a padding of the graph's own that has to be wider: the part of the wider one that it was.
  // Nothing for all other calls.
  std::optional<NodeId> widened(Graph& to, NodeId old, const std::vector<Argument>& arguments);

  // What stands for the value of the old graph, with zeros behind it.
  NodeId padded(Graph& to, NodeId old, const Zeros& zeros, std::string_view name);

  // To be told of every call and what stands for it, in order.
  void placed(NodeId old, NodeId successor) { successors_[from_.position(old)] = successor; }

 private:
  // Views of a value that is padded, from the outermost; and what is to be behind each.
  struct Place {
    std::vector<std::pair<NodeId, Zeros>> views;
    NodeId base;
    Zeros zeros;    // behind the base
    NodeId widens;  // the padding that the base is, where it is one; else invalid
    Pad pad;        // of the base, or of what it pads
  };
  Place place_of(NodeId old, const Zeros& zeros) const;

  // Whether a value may have other strides: nothing but views that keep the padded dimensions
  // shows them.
  bool may_widen(NodeId old, const Zeros& zeros) const;
  bool goes_out(NodeId old) const;

  NodeId pad_once(Graph& to, NodeId value, const Pad& pad, std::string_view name);

  const Graph& from_;
  Users users_;
  PinnedStorages pinned_;
  std::vector<NodeId> successors_;  // by position
  std::map<NodeId, Pad> wider_;     // of the graph's own paddings, the pads that they are to have
  std::map<std::pair<NodeId, Pad>, NodeId> made_;
};

}  // namespace recut
