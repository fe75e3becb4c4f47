// Facts about a joint graph that every cut of the min-cut partitioner uses, computed once in
// O(nodes + edges): users, traits, fusibility, node weights.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "engine/ir/graph.h"
#include "engine/ir/storage_model.h"
#include "engine/partition/classify.h"
#include "engine/partition/torch/op_tables.h"

namespace recut::torch {

// A node is given by its position in the graph. The graph has no dead nodes.
class Analysis {
 public:
  using Position = std::uint32_t;

  explicit Analysis(const Graph& graph, const TorchOptions& options = {});
  Analysis(const Analysis&) = delete;
  Analysis& operator=(const Analysis&) = delete;

  const Graph& graph() const { return graph_; }
  const TorchOptions& options() const { return options_; }
  const JointClasses& classes() const { return classes_; }
  const StorageModel& storages() const { return storages_; }
  std::size_t size() const { return bytes_.size(); }
  NodeId node(Position p) const { return graph_.order()[p]; }

  std::span<const Position> users(Position p) const {
    return std::span(users_).subspan(first_user_[p], first_user_[p + 1] - first_user_[p]);
  }
  const OpTraits& traits(Position p) const { return *traits_[p]; }
  std::int64_t bytes(Position p) const { return bytes_[p]; }  // of all outputs together
  bool is_input(Position p) const { return kinds_[p] == Kind::input; }
  bool is_primal(Position p) const;  // a placeholder other than a tangent

  // Consumer `b` could be fused with its producer `a` (PyTorch: is_fusible).
  bool fusible(Position a, Position b) const {
    return traits_[b]->concatenation || (traits_[a]->fusible && traits_[b]->fusible);
  }

  // One of the users needs the value in memory (PyTorch: is_materialized).
  bool materialized(Position p) const { return materialized_[p]; }

  // A user outside forward, directly or through views, needs the value in memory: recomputing it
  // would not be free there (PyTorch: is_materialized_backwards).
  bool materialized_in_backward(Position p) const { return materialized_in_backward_[p]; }

  // The output is less than a quarter of the tensor arguments: cheap to save.
  bool reduces(Position p) const { return reduces_[p]; }

  // A producer has uses on both sides of an operator that can't be fused, and this node, which
  // could be fused with the producer, is on the far side.
  bool used_far_apart(Position p) const { return used_far_apart_[p]; }

  // The price of saving a value (PyTorch: get_node_weight), a whole number of bytes: scaled up with
  // the distance from backward, and doubled where only saving would write it to memory.
  double node_weight(Position p) const { return node_weights_[p]; }

 private:
  Analysis(const Graph& graph, const TorchOptions& options, const Users& users);

  enum class Kind : std::uint8_t { call, input };

  void find_materialized();
  void find_reductions();
  void find_used_far_apart();
  void find_node_weights();
  bool walk_views_to_backward(Position from) const;
  bool free_to_save(NodeId id) const;

  const Graph& graph_;
  const TorchOptions options_;
  const OperatorMap<OpTraits> table_;
  StorageModel storages_;
  std::vector<std::uint32_t> first_user_;
  std::vector<Position> users_;
  JointClasses classes_;
  std::vector<const OpTraits*> traits_;
  std::vector<Kind> kinds_;
  std::vector<std::int64_t> bytes_;
  std::vector<double> node_weights_;
  std::vector<bool> materialized_, materialized_in_backward_, reduces_, used_far_apart_;
};

}  // namespace recut::torch
