// The calls by which a rank changes its part of a value from one sharding to another: collectives
// of _c10d_functional, each with its wait, and the moves around them.
#pragma once

#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "engine/ir/builder.h"
#include "engine/mesh/redistribute.h"

namespace recut::mesh {

// The name of the group of an axis is the axis' own; that of several joins theirs: "dp_tp".
std::string group_name(const DeviceMesh& mesh, const std::vector<int>& axes);

// Appends calls of one rank to a graph. All ranks make the same calls in the same order, also where
// some need no padding: so no rank has a value that the first one lacks, or a larger one. Collectives
// have equal sizes: uneven parts are padded at the end. `names` are not taken for new nodes.
class PartCalls {
 public:
  PartCalls(Builder& builder, const Graph& names, const DeviceMesh& mesh, Coordinate at)
      : b_(builder), names_(names), mesh_(mesh), at_(std::move(at)) {}

  // The rank's part in the plan's last sharding, from that in its first one. New nodes are named
  // after the value.
  Value redistribute(const RedistributionPlan& plan, const Value& part, std::string_view name);

  // The part with zeros around it, as large as the whole value.
  Value embed(const Value& part, const Shape& whole, const Sharding& sharding,
              std::string_view name);
  // The rank's part of a whole value, and of one dimension.
  Value take_part(const Value& whole, const Sharding& sharding, std::string_view name);
  Value narrow(const Value& x, int dim, Interval part);

  Value copy(const Value& x, std::string_view name);  // contiguous

  // Calls an operator under a new name.
  Value call(Op op, const Positional& positional, std::string_view name);

  // Sets of several axes that groups were named for.
  const std::set<std::vector<int>>& joint_groups() const { return joint_groups_; }

 private:
  Value step(const RedistributionStep& step, const Value& x);
  Value slice(const RedistributionStep& step, const Value& x);
  Value all_gather(const RedistributionStep& step, const Value& x);
  Value all_to_all(const RedistributionStep& step, const Value& x);
  Value all_reduce(const RedistributionStep& step, const Value& x);
  Value reduce_scatter(const RedistributionStep& step, const Value& x);
  Value hold_partial(const RedistributionStep& step, const Value& x);
  Value zero_fill(const RedistributionStep& step, const Value& x);
  Value rescale(const RedistributionStep& step, const Value& x);
  Value reorder(const RedistributionStep& step, const Value& x);
  struct Exchange;
  Exchange exchange_of(const RedistributionStep& step) const;
  Value in_order(const Value& arrived, const std::vector<Interval>& received);

  Value wait(const Value& started) { return call(Op::c10d_wait_tensor, {started}, name_); }
  Value contiguous(const Value& x);
  Value pad(const Value& x, int dim, std::int64_t before, std::int64_t after);
  Value trim(const Value& x, int dim, std::int64_t size);
  Value pad_to(const Value& x, int dim, std::int64_t size) {
    return pad(x, dim, 0, size - x.size(dim));
  }
  Value chunks_to_front(const Value& x, int dim, std::int64_t n);
  Value chunks_from_front(const Value& x, int dim, std::int64_t n);
  Value dim_to_front(const Value& x, int dim);
  Value dim_from_front(const Value& x, int dim);
  bool is_even(int dim, const std::vector<int>& axes) const;
  std::int64_t parent_size(int dim) const;
  std::int64_t ranks_of(int axis) const { return mesh_.axis_size(axis); }
  std::int64_t index_on(int axis) const { return at_[static_cast<std::size_t>(axis)]; }
  std::string fresh_name(std::string_view name);

  Builder& b_;
  const Graph& names_;
  const DeviceMesh& mesh_;
  const Coordinate at_;
  std::set<std::vector<int>> joint_groups_;

  // Of the plan under way.
  std::string name_;
  TensorType type_;
  Sharding before_;
  bool is_contiguous_ = false;  // the value that the last step made
};

}  // namespace recut::mesh
