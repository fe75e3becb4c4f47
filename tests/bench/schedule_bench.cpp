// Arenas of real plans: how far above the most that is alive at once, and how soon.
//
//   schedule_bench [--packing-effort F] [FILE…]     without files: ../shared/graphs and
//   samples/joint
//
// One row a graph, model and budget: none, 60 % and 40 % of the peak without recomputation, and the
// least that is found (where a share can't be held, that is the least, too). Every schedule is
// proved by the verifier.
#include <fmt/format.h>

#include <chrono>
#include <filesystem>

#include "engine/fusion/fuse_pointwise.h"
#include "engine/input/graph_file_reader.h"
#include "engine/partition/baseline.h"
#include "engine/partition/strategy.h"
#include "engine/schedule/make_schedule.h"
#include "engine/schedule/schedule.h"
#include "engine/schedule/verifier.h"
#include "tests/partition/joint_files.h"

namespace recut {
namespace {

struct Totals {
  int rows = 0, optimal = 0;
  double gap = 0, ms = 0;
};

void row(const std::string& name, const Graph& graph, const PlanRequest& request,
         const std::string& budget, double effort, Totals& totals) {
  const StorageModel storages(graph);
  const auto outcome = make_plan(graph, request);
  if (!outcome) return fmt::print("{:14} {}", name, format(outcome.diagnostics()));
  ScheduleOptions options;
  options.effort = effort;
  const auto start = std::chrono::steady_clock::now();
  const auto schedule = make_schedule(graph, {storages, request.groups}, outcome->plan, options);
  const std::chrono::duration<double, std::milli> taken = std::chrono::steady_clock::now() - start;
  if (!schedule) return fmt::print("{:14} {}", name, format(schedule.diagnostics()));
  const Diagnostics faults = verify_schedule(graph, storages, outcome->plan, *schedule);
  const double gap = 100 * static_cast<double>(schedule->gap_bytes()) /
                     static_cast<double>(std::max<std::int64_t>(1, schedule->lower_bound_bytes));
  fmt::print("{:14} {:6} {:>6} {:6} {:6} {:>15} {:>15} {:8.3f} % {:8.1f}{}\n", name,
             request.groups.fused() ? "fused" : "eager", budget, schedule->kernels.size(),
             schedule->buffers.size(), schedule->arena_bytes, schedule->lower_bound_bytes, gap,
             taken.count(), faults.empty() ? "" : "  NOT PROVED: " + faults.front().message);
  std::fflush(stdout);
  ++totals.rows;
  totals.optimal += schedule->gap_bytes() == 0 ? 1 : 0;
  totals.gap += gap;
  totals.ms += taken.count();
}

void graph_rows(const std::string& path, double effort, Totals& totals) {
  const std::string name = std::filesystem::path(path).stem().stem().string();
  const auto file = read_graph_file(path);
  if (!file) return fmt::print("{}\n", format(file.diagnostics()));
  const StorageModel storages(file->graph);
  for (const bool fused : {false, true}) {
    PlanRequest request;
    if (fused) request.groups = fuse_pointwise(file->graph, storages);
    const auto all = baseline_step(file->graph, storages, request.groups, {});
    if (!all) return fmt::print("{}\n", format(all.diagnostics()));
    row(name, file->graph, request, "none", effort, totals);
    for (const std::int64_t percent : {60, 40, 0}) {
      request.budget = PeakBytes{std::max<std::int64_t>(1, all->peak_bytes * percent / 100)};
      row(name, file->graph, request, percent == 0 ? "least" : fmt::format("{} %", percent), effort,
          totals);
    }
  }
}

}  // namespace
}  // namespace recut

int main(int argc, char** argv) {
  double effort = 1;
  std::vector<std::string> files;
  for (int i = 1; i < argc; ++i)
    if (std::string(argv[i]) == "--packing-effort" && i + 1 < argc)
      effort = std::atof(argv[++i]);
    else
      files.emplace_back(argv[i]);
  if (files.empty()) files = recut::joint_files();
  fmt::print("{:14} {:6} {:>6} {:>6} {:>6} {:>15} {:>15} {:>10} {:>8}\n", "graph", "model",
             "budget", "steps", "bufs", "arena", "alive at once", "gap", "ms");
  recut::Totals totals;
  for (const std::string& file : files) recut::graph_rows(file, effort, totals);
  if (totals.rows > 0)
    fmt::print("{} of {} at the bound; mean gap {:.3f} %, mean {:.1f} ms\n", totals.optimal,
               totals.rows, totals.gap / totals.rows, totals.ms / totals.rows);
  return 0;
}
