#include "engine/workspace/rank_evaluation.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <numeric>
#include <set>

#include "engine/eval/inputs.h"
#include "engine/ir/call.h"
#include "engine/mesh/group_table.h"
#include "engine/mesh/lockstep.h"
#include "engine/support/table.h"
#include "engine/support/text.h"
#include "engine/support/units.h"
#include "engine/workspace/json_text.h"

namespace recut {
namespace {

// The group has all ranks. A file doesn't say which ranks a name stands for, so that with several
// names a sum might be over the wrong ones.
Result<mesh::GroupTable> groups_of_all(const Graph& graph, std::int64_t ranks) {
  std::vector<std::int64_t> all(static_cast<std::size_t>(ranks));
  std::iota(all.begin(), all.end(), std::int64_t{0});
  const Call::TypesOf types_of = [&](NodeId id) { return graph.pool().types_of(id); };
  std::set<std::string> names;
  for (const NodeId id : graph.order())
    if (!graph.is_input(id) && graph.op(id).is(kCollective))
      names.emplace(Call(graph.op(id), graph[id].arguments, types_of).text("group_name"));
  if (names.size() > 1)
    return error(
        fmt::format("the collectives name the groups {}, expected one, of all ranks: the file "
                    "doesn't say which ranks each has",
                    fmt::join(names, ", ")));
  mesh::GroupTable table;
  for (const std::string& name : names)
    if (const auto added = table.add(name, {all}); !added) return added.diagnostics();
  return table;
}

bool equal_bits(const std::vector<Evaluation>& ranks, std::size_t output) {
  const Tensor& first = ranks.front().outputs[output];
  return std::all_of(ranks.begin(), ranks.end(), [&](const Evaluation& rank) {
    const Tensor& tensor = rank.outputs[output];
    return tensor.shape == first.shape && bytes_of(tensor) == bytes_of(first);
  });
}

}  // namespace

Result<RankEvaluation> evaluate_on_ranks(const Graph& graph, const RankEvaluationRequest& request) {
  const auto groups = groups_of_all(graph, request.ranks);
  if (!groups) return groups.diagnostics();
  std::vector<mesh::RankProgram> programs;
  for (std::int64_t rank = 0; rank < request.ranks; ++rank) {
    std::span<const NamedTensor> given;
    if (!request.tensors.empty())
      given = request.tensors[request.tensors.size() == 1 ? 0 : static_cast<std::size_t>(rank)];
    std::optional<std::uint64_t> seed = request.seed;
    if (seed) *seed += static_cast<std::uint64_t>(rank);
    auto inputs = inputs_from(graph, given, seed);
    if (!inputs) {
      Diagnostics faults = inputs.diagnostics();
      for (Diagnostic& fault : faults)
        fault.message = fmt::format("rank {}: {}", rank, fault.message);
      return faults;
    }
    programs.push_back({&graph, std::move(*inputs)});
  }
  EvaluateOptions options;
  options.seed = request.seed.value_or(0);
  const auto ranks = mesh::evaluate_ranks(programs, *groups, options);
  if (!ranks) return ranks.diagnostics();
  RankEvaluation evaluation;
  for (const Evaluation& rank : *ranks) evaluation.peak_bytes.push_back(rank.peak_bytes);
  std::size_t output = 0;
  for (const auto* list : {&graph.results, &graph.gradients})
    for (const NodeId id : *list) {
      const std::size_t at = output++;
      if (id.valid())
        evaluation.outputs.push_back(
            {std::string(graph.node_name(id)), list == &graph.gradients, equal_bits(*ranks, at)});
    }
  return evaluation;
}

std::string rank_evaluation_text(const RankEvaluation& evaluation) {
  Table outputs;
  for (const char* title : {"output", "", "on all ranks"}) outputs.column(title);
  for (const RankOutput& output : evaluation.outputs)
    outputs.row({printable(output.name), output.gradient ? "gradient" : "result",
                 output.equal ? "the same bits" : "each its own"});
  Table peaks;
  for (const char* title : {"rank", "measured peak"}) peaks.column(title, Table::Align::right);
  for (std::size_t rank = 0; rank < evaluation.peak_bytes.size(); ++rank)
    peaks.row({fmt::format("{}", rank), format_bytes(evaluation.peak_bytes[rank])});
  return outputs.format() + "\n" + peaks.format();
}

std::string rank_evaluation_json(const RankEvaluation& evaluation) {
  nlohmann::ordered_json json{{"peak_bytes", evaluation.peak_bytes},
                              {"outputs", nlohmann::ordered_json::array()}};
  for (const RankOutput& output : evaluation.outputs)
    json["outputs"].push_back(
        {{"name", output.name}, {"gradient", output.gradient}, {"equal", output.equal}});
  return json_text(json);
}

}  // namespace recut
