// Strategy `torch` against the partitions that PyTorch chose and the seconds that it took.
//
// usage: bench_partition_bench [FILE…] [--plans FOLDER]
//   without files: every joint graph of samples/joint and of ../shared/graphs
//   --plans        writes each plan as FOLDER/MODEL-STRATEGY-BUDGET.json
#include <fmt/format.h>

#include <chrono>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "engine/input/graph_file.h"
#include "engine/input/graph_file_reader.h"
#include "tests/partition/joint_files.h"
#include "tests/partition/torch_choice.h"

namespace recut {
namespace {

struct Options {
  std::vector<std::string> files;
  std::string plans;
};

std::string name_list(const Graph& graph, const std::vector<NodeId>& nodes) {
  std::string text;
  for (const NodeId id : nodes)
    text += fmt::format("{}\"{}\"", text.empty() ? "" : ", ", graph.node_name(id));
  return "[" + text + "]";
}

void write_plan(const Options& options, const Graph& graph, const Plan& plan, const Replay& figures,
                const std::string& name) {
  if (options.plans.empty()) return;
  std::string same;
  for (const auto& [alias, id] : graph.aliases())
    same += fmt::format("{}\"{}\": \"{}\"", same.empty() ? "" : ", ", alias, graph.node_name(id));
  std::ofstream(options.plans + "/" + name + ".json")
      << fmt::format("{{\"forward\": {}, \"saved\": {}, \"backward\": {}, \"same\": {{{}}}, ",
                     name_list(graph, plan.forward), name_list(graph, plan.saved),
                     name_list(graph, plan.backward), same)
      << fmt::format("\"peak_bytes\": {}, \"saved_bytes\": {}, \"recompute_us\": {:.1f}, ",
                     figures.peak_bytes, figures.saved_bytes, figures.recompute_us)
      << fmt::format("\"step_us\": {:.1f}}}\n", figures.step_us);
}

// The best of some runs, in milliseconds.
template <class Run>
double best_ms(const Run& run) {
  double best = HUGE_VAL;
  for (int i = 0; i < 3; ++i) {
    const auto start = std::chrono::steady_clock::now();
    run();
    const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - start;
    best = std::min(best, took.count());
  }
  return best;
}

double percent(double ours, double theirs) {
  return theirs == 0 ? (ours == 0 ? 0 : HUGE_VAL) : 100 * (ours - theirs) / theirs;
}

void compare(const Options& options, const std::string& name, const Graph& graph,
             const TorchPartition& partition) {
  const PlanRequest request =
      partition.budget ? torch_request(partition) : PlanRequest{"default", NoBudget{}};
  const StorageModel storages(graph);
  const auto outcome = make_plan(graph, request);
  if (!outcome) return fmt::print("{:14} {}", name, format(outcome.diagnostics()));
  const auto ours = replay(graph, storages, outcome->plan);
  const Plan their_plan = plan_of(graph, partition);
  const auto theirs = replay(graph, storages, their_plan);
  if (!ours || !theirs)
    return fmt::print("{:14} {}", name, format((ours ? theirs : ours).diagnostics()));

  const double ms = best_ms([&] { (void)make_plan(graph, request); });
  const std::string budget = partition.budget ? fmt::format("{}", *partition.budget) : "default";
  const bool same = saved_storages(storages, outcome->plan) == saved_storages(storages, their_plan);
  fmt::print(
      "{:14} {:7} {:8.2f} {:8.0f} {:6.0f}x {:>14} {:>14} {:+7.2f}% {:9.1f} {:9.1f} {:+7.2f}% "
      "{:>14} {}\n",
      name, budget, ms, 1000 * partition.seconds, 1000 * partition.seconds / ms, ours->saved_bytes,
      theirs->saved_bytes,
      percent(static_cast<double>(ours->saved_bytes), static_cast<double>(theirs->saved_bytes)),
      ours->recompute_us, theirs->recompute_us, percent(ours->recompute_us, theirs->recompute_us),
      ours->peak_bytes, same ? "same storages" : "");
  write_plan(options, graph, outcome->plan, *ours,
             fmt::format("{}-{}-{}", name, request.strategy, budget));
}

// Plans alone, for graphs without PyTorch's choice; another program replays them.
void plan_only(const Options& options, const std::string& name, const Graph& graph) {
  std::vector<std::pair<std::string, PlanRequest>> requests = {
      {"default", {"default", NoBudget{}}}};
  for (const double fraction : {1.0, 0.75, 0.5, 0.2, 0.0})
    requests.push_back({fmt::format("{}", fraction), {"torch", SavedFraction{fraction}}});
  for (const auto& [budget, request] : requests) {
    const auto outcome = make_plan(graph, request);
    if (!outcome) return fmt::print("{:14} {}", name, format(outcome.diagnostics()));
    const auto figures = replay(graph, outcome->plan);
    if (!figures) return fmt::print("{:14} {}", name, format(figures.diagnostics()));
    write_plan(options, graph, outcome->plan, *figures,
               fmt::format("{}@joint-{}-{}", name, request.strategy, budget));
  }
}

int run(const Options& options) {
  fmt::print("{:14} {:7} {:>8} {:>8} {:>7} {:>14} {:>14} {:>8} {:>9} {:>9} {:>8} {:>14}\n", "graph",
             "budget", "ms", "torch ms", "", "saved", "torch's", "", "again us", "torch's", "",
             "peak");
  for (const std::string& path : options.files) {
    const std::string name = std::filesystem::path(path).stem().stem().string();
    const auto after = read_graph_file(path, "joint_after_passes");
    if (!after) {
      fmt::print("{}\n", format(after.diagnostics()));
      continue;
    }
    for (const TorchPartition& partition : after->partitions)
      if (!partition.saved.empty()) compare(options, name, after->graph, partition);
    if (const auto joint = read_graph_file(path); joint && !options.plans.empty())
      plan_only(options, name, joint->graph);
  }
  return 0;
}

}  // namespace
}  // namespace recut

int main(int argc, char** argv) {
  recut::Options options;
  for (int i = 1; i < argc; ++i)
    if (std::string(argv[i]) == "--plans" && i + 1 < argc)
      options.plans = argv[++i];
    else
      options.files.emplace_back(argv[i]);
  if (options.files.empty()) options.files = recut::joint_files();
  return recut::run(options);
}
