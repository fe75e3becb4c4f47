// A rank's part of a call, as calls on its parts of the operands.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "engine/mesh/rules/local_call.h"
#include "engine/mesh/rules/sharding_rule.h"
#include "engine/mesh/spmd/part_calls.h"
#include "engine/mesh/spmd/sharded_graph.h"

namespace recut::mesh {

// Writes the calls of one rank. `graph` is the whole one; a call keeps its name and origin.
class LocalNodes {
 public:
  LocalNodes(Builder& builder, PartCalls& parts, const Graph& graph, const DeviceMesh& mesh,
             Coordinate at)
      : b_(builder), parts_(parts), graph_(graph), mesh_(mesh), at_(std::move(at)) {}

  // The rank's parts of all outputs of call `id`; outputs that don't exist are invalid. `operands`
  // are its parts of the operands in the shardings that the call needs. A failure is the builder's.
  std::vector<Value> call(NodeId id, const CallShardings& shardings, std::vector<Value> operands);

 private:
  struct Masked;

  std::optional<std::vector<Argument>> drawn_from_offset(NodeId id, const CallShardings& shardings,
                                                         const ShardingRule& rule) const;
  std::vector<Value> part_of_whole(NodeId id, const CallShardings& shardings,
                                   const ShardingRule& rule, std::vector<Value> operands);
  std::vector<Value> masked(NodeId id, const ShardingRule& rule, const Factor& factor,
                            const RankCallPart& part, std::vector<Argument> arguments,
                            std::vector<Value> operands);
  std::vector<Value> append(NodeId id, std::vector<Argument> arguments,
                            const std::vector<Value>& operands, const std::vector<Shape>& shapes);
  std::vector<TensorType> types_of(NodeId id, const std::vector<Argument>& arguments,
                                   const std::vector<Value>& operands,
                                   const std::vector<Shape>& shapes);
  std::vector<Value> outputs_of(NodeId call, const std::string& name);
  RankCallPart part_of(const ShardingRule& rule, const CallShardings& shardings) const;
  const Factor* masked_factor(const ShardingRule& rule, const CallShardings& shardings) const;
  Masked localize(NodeId id, const Factor& factor, Interval part, std::vector<Argument>& arguments,
                  std::vector<Value>& operands);
  Value zero_misses(const Masked& found, const ShardingRule& rule, const DimensionFactors& dims,
                    const Value& x, const std::string& name);
  Value with_layout(const Value& x, const TensorType& whole, const std::string& name);

  Builder& b_;
  PartCalls& parts_;
  const Graph& graph_;
  const DeviceMesh& mesh_;
  const Coordinate at_;
};

}  // namespace recut::mesh
