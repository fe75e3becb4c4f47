// Rewrites a graph call by call, with complex values as parts: the work of the pass complex_parts.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "engine/ir/aliases.h"
#include "engine/passes/complex/call_parts.h"

namespace recut::complex_parts {

class Splitter {
 public:
  explicit Splitter(const Graph& from);

  // Appends the successors of all nodes, and the outputs. Some may turn out to be dead.
  void run();

  const Graph& graph() const { return to_; }

  // The new nodes of an old one's value: the real part, the imaginary part, and the whole; those
  // that exist.
  std::vector<NodeId> successors(NodeId old) const;

  // Of nodes that the old graph lacks: the old node that one was made for, and the name that it is
  // to have; invalid, and "" where it has none of its own.
  NodeId made_for(NodeId id) const { return find(made_for_, id); }
  std::string name(NodeId id) const { return find(names_, id); }

  // The old calls that were replaced, each with its successors.
  struct Replaced {
    NodeId old;
    std::vector<NodeId> by;
  };
  const std::vector<Replaced>& replaced() const { return replaced_; }

 private:
  // A part across calls: builders come and go.
  struct StoredPart {
    NodeId tensor;
    double number = 0;
  };
  struct StoredParts {
    StoredPart re, im;
  };

  template <class T>
  static T find(const std::unordered_map<std::uint32_t, T>& map, NodeId id) {
    const auto found = map.find(id.index);
    return found == map.end() ? T() : found->second;
  }

  void place(NodeId id);
  void set_whole(NodeId old, NodeId node);
  NodeId whole(NodeId old);
  Parts parts(Builder& b, NodeId old);
  Parts known_parts(Builder& b, NodeId old) const;
  bool has_parts(NodeId old) const { return parts_.count(old.index) != 0; }
  void store(NodeId old, const Parts& parts);
  void set_name(NodeId node, NodeId old, std::string_view suffix);
  void set_made_for(std::size_t first, NodeId old);

  void keep(NodeId id);
  NodeId with_arguments(NodeId id, std::vector<Argument> arguments);

  bool rewrite(NodeId id);
  NodeId pairs_of_parts(NodeId id) const;
  MaybeParts picked(Builder& b, NodeId id) const;
  MaybeParts selected(Builder& b, NodeId id) const;
  MaybeParts as_pairs(Builder& b, NodeId id);
  Parts of_pairs(Builder& b, NodeId id);
  MaybeParts by_rule(Builder& b, NodeId id);
  bool accept(Builder& b, NodeId id, Parts made);
  bool accept_list(NodeId id, const Parts& made);
  bool accept_real(Builder& b, NodeId id, const Part& made);

  const Graph& from_;
  Graph to_;
  OutputStorages outputs_;
  std::vector<bool> is_output_;  // by position
  // By old node:
  std::unordered_map<std::uint32_t, NodeId> whole_;       // its successor of the same type
  std::unordered_map<std::uint32_t, StoredParts> parts_;  // of calls that were replaced
  std::unordered_map<std::uint32_t, StoredParts> read_;   // of complex values that stay
  std::unordered_map<std::uint32_t, NodeId> pairs_;       // of which it is view_as_complex
  // By new node:
  std::unordered_map<std::uint32_t, NodeId> made_for_;
  std::unordered_map<std::uint32_t, std::string> names_;
  std::vector<Replaced> replaced_;
};

// True if an operand or an output is complex.
bool touches_complex(const Graph& graph, NodeId id);

}  // namespace recut::complex_parts
