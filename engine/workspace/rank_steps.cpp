#include "engine/workspace/rank_steps.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <utility>

#include "engine/ir/call.h"
#include "engine/ir/collective.h"
#include "engine/mesh/spmd/spmd_graph.h"
#include "engine/runtime/local_ranks.h"
#include "engine/workspace/rank_plan.h"
#include "engine/workspace/sharded_document.h"

namespace recut {
namespace {

// The names of the groups of collectives that several ranks take part in.
std::set<std::string> group_names(const Graph& graph) {
  const Call::TypesOf types_of = [&graph](NodeId id) { return graph.pool().types_of(id); };
  std::set<std::string> names;
  for (const NodeId id : graph.order()) {
    if (!graph.op(id).is(kCollective)) continue;
    const Call call(graph.op(id), graph[id].arguments, types_of);
    if (needs_other_ranks(call)) names.emplace(call.text("group_name"));
  }
  return names;
}

std::string axes_text(const mesh::DeviceMesh& mesh) {
  std::vector<std::string> names;
  for (const mesh::MeshAxis& axis : mesh.axes()) names.push_back(axis.name);
  return fmt::format("{}", fmt::join(names, ", "));
}

// Compiles ranks by the plan of the first one.
class RankCompiler {
 public:
  RankCompiler(const Graph& first, const ScheduledPlan& scheduled, const ScheduleOptions& schedule,
               const ProgramOptions& program)
      : first_(first), scheduled_(scheduled), schedule_(schedule), program_(program) {}

  Result<std::shared_ptr<const RankStep>> compile(std::shared_ptr<const Document> document) const {
    const Graph& graph = document->graph();
    const auto calls = RankCalls::between(first_, graph);
    if (!calls) return calls.diagnostics();
    const KernelModel kernels = calls->carry(scheduled_.kernels->groups, graph);
    auto schedule = schedule_plan(graph, kernels, calls->carry(scheduled_.planned.plan), schedule_);
    if (!schedule) return schedule.diagnostics();
    auto program = make_program(graph, kernels, *schedule, program_);
    if (!program) return program.diagnostics();
    program->budget_bytes = scheduled_.planned.report.budget_bytes;
    if (&graph == &first_) predict(*program, *schedule, scheduled_.planned.replay);
    return std::shared_ptr<const RankStep>(std::make_shared<RankStep>(
        RankStep{std::move(document), std::move(*schedule), std::move(*program)}));
  }

 private:
  const Graph& first_;
  const ScheduledPlan& scheduled_;
  const ScheduleOptions& schedule_;
  const ProgramOptions& program_;
};

}  // namespace

bool has_collectives(const Graph& graph) { return !group_names(graph).empty(); }

Result<RankDocuments> shard_ranks(const Document& whole, const mesh::DistributedModule& module,
                                  const mesh::ShardedGraph& sharded, std::string_view file_name) {
  const mesh::DeviceMesh& mesh = module.mesh();
  RankDocuments documents;
  documents.ranks.resize(static_cast<std::size_t>(mesh.size()));
  documents.first = static_cast<std::size_t>(mesh.ranks().front());
  for (std::int64_t position = 0; position < mesh.size(); ++position) {
    auto spmd = mesh::spmd_graph(module, sharded, position);
    if (!spmd) return spmd.diagnostics();
    auto document = document_of(whole, std::move(spmd->graph), file_name);
    if (!document) return document.diagnostics();
    documents.ranks[static_cast<std::size_t>(mesh.ranks()[static_cast<std::size_t>(position)])] =
        std::make_shared<const Document>(std::move(*document));
    documents.groups = std::move(spmd->groups);
  }
  return documents;
}

Result<RankDocuments> given_ranks(std::shared_ptr<const Document> document,
                                  const mesh::DeviceMesh& mesh) {
  const std::set<std::string> names = group_names(document->graph());
  RankDocuments documents;
  documents.ranks.assign(static_cast<std::size_t>(mesh.size()), document);
  documents.first = static_cast<std::size_t>(mesh.ranks().front());
  documents.groups = mesh::groups_of(mesh);
  const bool known = std::all_of(names.begin(), names.end(), [&](const std::string& name) {
    return documents.groups.has(name);
  });
  if (known) return documents;
  if (names.size() > 1 || mesh.ndim() > 1)
    return error(
        fmt::format("the collectives name the groups {}, and the mesh has the axes {}: "
                    "the file doesn't say which ranks a group has; expected a mesh whose "
                    "axes have the groups' names, or one group and one axis",
                    fmt::join(names, ", "), axes_text(mesh)));
  documents.groups = mesh::one_group(*names.begin(), mesh);
  return documents;
}

std::size_t RankSteps::worst() const {
  const auto largest =
      std::max_element(ranks.begin(), ranks.end(), [](const auto& a, const auto& b) {
        return a->schedule.arena_bytes < b->schedule.arena_bytes;
      });
  return static_cast<std::size_t>(largest - ranks.begin());
}

bool RankSteps::holds() const {
  const std::int64_t budget = scheduled.planned.report.budget_bytes;
  return scheduled.holds() && (budget == 0 || ranks[worst()]->schedule.arena_bytes <= budget);
}

Result<RankSteps> compile_ranks(const RankDocuments& documents, const SchedulingRequest& request,
                                ProgramOptions options) {
  options.collectives = true;
  auto scheduled = schedule_document(documents.planned(), request);
  if (!scheduled) return scheduled.diagnostics();
  RankSteps steps{std::move(*scheduled), {}};
  const RankCompiler compiler(documents.planned().graph(), steps.scheduled, request.options,
                              options);
  std::map<const Document*, std::shared_ptr<const RankStep>> made;
  for (std::size_t rank = 0; rank < documents.ranks.size(); ++rank) {
    std::shared_ptr<const RankStep>& step = made[documents.ranks[rank].get()];
    if (step == nullptr) {
      auto compiled = compiler.compile(documents.ranks[rank]);
      if (!compiled) return with_rank(rank, compiled.diagnostics());
      step = std::move(*compiled);
    }
    steps.ranks.push_back(step);
  }
  return steps;
}

}  // namespace recut
