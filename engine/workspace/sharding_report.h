// A graph over a device mesh: the placements of its inputs, and the collectives that they need.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "engine/ir/graph.h"
#include "engine/mesh/spmd/sharded_graph.h"
#include "engine/support/result.h"
#include "engine/workspace/mesh_request.h"

namespace recut {

struct PlacedValue {
  std::string name, type, placements;  // "w1", "f32[64, 32]", "[S(0), R]"
  std::int64_t rank_bytes = 0;         // held by the first rank, which holds the most
};

// One step of a value to other placements.
struct ShardingCollective {
  std::string value, module;
  std::string axis;        // "dp"; "" where axes change their order
  std::string collective;  // "all_reduce", or "slice" without messages
  std::string from, to;    // "[S(0), P(sum)]"
  std::int64_t bytes = 0;  // sent by the rank that sends most
  std::string needed_by;   // the call that reads the value so; "" where it is made so once
};

struct ShardingReport {
  std::string mesh;            // "dp=2,tp=4"
  std::string placement_file;  // of inputs and results
  std::string table;           // inputs and results, with the shape and bytes of each rank
  std::vector<PlacedValue> inputs;
  std::vector<ShardingCollective> collectives;  // in the program's order

  std::int64_t bytes_sent() const;
  std::int64_t input_bytes() const;  // of the first rank
};

// Places the graph's inputs as the request says, and chooses every call's placements for the fewest bytes. Gradients end with their
// parameters' placements, results with the file's. Fails as the file and the mesh do, on a graph with
// collectives, and on an order of axes that isn't the mesh's: calls are placed axis by axis.
Result<ShardingReport> shard_graph(const Graph& graph, const MeshRequest& request);

// The report on decisions that are made.
ShardingReport report_of(const mesh::DistributedModule& module, const mesh::ShardedGraph& sharded);

std::string sharding_text(const ShardingReport& report);
std::string sharding_json(const ShardingReport& report);

}  // namespace recut
