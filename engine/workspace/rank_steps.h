// The steps of all ranks of a mesh: one plan for all of them, and a program for each.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "engine/mesh/device_mesh.h"
#include "engine/mesh/distributed_module.h"
#include "engine/mesh/group_table.h"
#include "engine/mesh/spmd/sharded_graph.h"
#include "engine/runtime/program.h"
#include "engine/support/result.h"
#include "engine/workspace/document.h"
#include "engine/workspace/scheduling.h"

namespace recut {

// The graph of every rank, by rank; ranks with one graph share its document.
struct RankDocuments {
  std::vector<std::shared_ptr<const Document>> ranks;
  std::size_t first = 0;  // the rank at the mesh's first position, which has the largest parts
  mesh::GroupTable groups;

  const Document& planned() const { return *ranks[first]; }
};

// The parts of a whole graph (engine/mesh/spmd/spmd_graph.h). Fails as spmd_graph() does.
Result<RankDocuments> shard_ranks(const Document& whole, const mesh::DistributedModule& module,
                                  const mesh::ShardedGraph& sharded, std::string_view file_name);

// One graph of all ranks, which has collectives. A group is that of the mesh's axis with its name.
// Where the graph names one group alone, a mesh of one axis needs no such name. Fails where the
// ranks of a group stay unknown: a file doesn't give them.
Result<RankDocuments> given_ranks(std::shared_ptr<const Document> document,
                                  const mesh::DeviceMesh& mesh);

// True if the graph has a collective that several ranks take part in, or may.
bool has_collectives(const Graph& graph);

struct RankStep {
  std::shared_ptr<const Document> document;
  Schedule schedule;
  Program program;
};

struct RankSteps {
  ScheduledPlan scheduled;  // of the first rank; its plan is that of all
  std::vector<std::shared_ptr<const RankStep>> ranks;

  // The rank with the largest arena, and whether that holds the budget.
  std::size_t worst() const;
  bool holds() const;
};

// Plans the first rank by the request, whose budget is that of each device, and gives its plan to
// all: so that all ranks make the same collectives in the same order. Each rank has kernels and
// addresses for its own sizes. `options` are the executor's; collectives become steps of the
// program. Fails as schedule_document() and make_program() do, and where a rank's graph has other
// calls than the first one's (rank_plan.h).
Result<RankSteps> compile_ranks(const RankDocuments& documents, const SchedulingRequest& request,
                                ProgramOptions options);

}  // namespace recut
