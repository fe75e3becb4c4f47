// Plans of strategy `peak` beside what PyTorch chose, and on the Moccasin graphs beside what was
// published.
//
// usage: bench_peak_bench SECONDS FILE…     joint graphs (.json.gz) and node-link graphs (.json)
// SECONDS is processor time for each plan. Times printed are processor time, too.
#include <fmt/format.h>

#include <atomic>
#include <cmath>
#include <cstdlib>
#include <ctime>
#include <filesystem>

#include "engine/input/graph_file.h"
#include "engine/partition/peak/solver.h"
#include "engine/partition/problem/joint_problem.h"
#include "engine/partition/problem/moccasin.h"
#include "engine/partition/replay.h"
#include "tests/partition/torch_choice.h"

namespace recut::peak {
namespace {

double processor_ms() { return 1e3 * static_cast<double>(std::clock()) / CLOCKS_PER_SEC; }
double mib(std::int64_t bytes) { return static_cast<double>(bytes) / (1 << 20); }

// One plan, and when its milestones were reached.
struct Timed {
  Outcome outcome;
  double first = -1, tenth = 0, fiftieth = 0;  // ms to a valid plan, to within 10 %, to within 2 %
};

Timed timed_solve(const Problem& problem, std::int64_t budget, double seconds) {
  Timed timed;
  std::vector<std::pair<double, std::int64_t>> history;
  std::atomic<bool> cancel = false;
  const double began = processor_ms();
  SolveOptions options;
  options.effort = std::int64_t{1} << 50;
  options.seconds = seconds * 20;  // in case that the machine is shared
  options.cancel = &cancel;
  options.on_progress = [&](const Progress& p) {
    if (p.holds) history.emplace_back(processor_ms() - began, p.duration);
  };
  options.on_work = [&] { cancel = processor_ms() - began > seconds * 1e3; };
  timed.outcome = solve(problem, budget, options);
  if (history.empty()) return timed;
  timed.first = history.front().first;
  const auto reached = [&](double share) {
    for (const auto& [ms, duration] : history)
      if (static_cast<double>(duration - problem.total_duration()) <=
          share * static_cast<double>(timed.outcome.extra))
        return ms;
    return history.back().first;
  };
  timed.tenth = reached(1.1);
  timed.fiftieth = reached(1.02);
  return timed;
}

struct Geomean {
  double sum = 0;
  int count = 0;
  // PyTorch's points without recomputation have no ratio; ours without count as a thousandth.
  void add(double ours, double theirs) {
    if (theirs < 1) return;
    sum += std::log(std::max(1e-3, ours / theirs));
    ++count;
  }
  double value() const { return count == 0 ? 0 : std::exp(sum / count); }
};

void bench_joint(const std::string& path, double seconds, Geomean& all) {
  const auto file = read_graph_file(path, "joint_after_passes");
  if (!file.ok()) {
    fmt::print("{}", format(file.diagnostics()));
    return;
  }
  const StorageModel storages(file->graph);
  const JointProblem joint(file->graph, storages);
  std::int64_t untouched = peak_of(joint.problem(), joint.problem().order);
  fmt::print("{}: {} computations, {:.1f} MiB without recomputation\n",
             std::filesystem::path(path).filename().string(), joint.problem().size(),
             mib(untouched));
  Geomean own;
  const auto line = [&](const std::string& name, std::int64_t budget, double theirs) {
    const Timed t = timed_solve(joint.problem(), budget, seconds);
    const double ours = joint.micros(t.outcome.extra);
    const auto figures = replay(file->graph, storages, joint.plan(t.outcome.sequence));
    fmt::print(
        "  {:8} {:9.1f} MiB  torch {:9.1f} us  {} {:9.1f} MiB {:9.1f} us (bound {:9.1f})  ratio "
        "{:5.3f}  ms {:6.1f} {:7.1f} {:7.1f}{}\n",
        name, mib(budget), theirs, t.outcome.holds ? "holds" : "LEAST", mib(t.outcome.peak), ours,
        joint.micros(t.outcome.extra_bound), theirs > 0 ? ours / theirs : 0, t.first, t.tenth,
        t.fiftieth,
        figures.ok() && figures->peak_bytes == t.outcome.peak ? "" : "  REPLAY DIFFERS");
    own.add(ours, theirs);
    all.add(ours, theirs);
  };
  for (const TorchPartition& partition : file->partitions) {
    if (partition.saved.empty()) continue;
    const auto theirs = replay(file->graph, storages, plan_of(file->graph, partition));
    if (!theirs.ok()) continue;
    if (!partition.budget) untouched = theirs->peak_bytes;
    if (partition.budget)
      line(fmt::format("{}", *partition.budget), theirs->peak_bytes, theirs->recompute_us);
  }
  line("50%", untouched / 2, 0);
  const Timed least = timed_solve(joint.problem(), 0, seconds * 3);
  fmt::print("  least peak {:.1f} MiB, bound {:.1f} MiB; geometric mean {:.3f}\n",
             mib(least.outcome.peak), mib(least.outcome.peak_bound), own.value());
}

void bench_moccasin(const std::string& path, double seconds) {
  const auto bytes = read_file(path);
  if (!bytes.ok()) return;
  const auto read = parse_moccasin(*bytes, path);
  if (!read.ok()) {
    fmt::print("{}", format(read.diagnostics()));
    return;
  }
  const Problem& problem = read->problem;
  const std::int64_t start = peak_of(problem, problem.order);
  fmt::print("{}: {} nodes, peak {}\n", std::filesystem::path(path).filename().string(),
             problem.size(), start);
  for (const int percent : {90, 80, 70}) {
    const Timed t = timed_solve(problem, start * percent / 100, seconds);
    fmt::print(
        "  {} %: {} {:.4f} of the peak, +{:.3f} % duration, first after {:.1f} ms, bound on "
        "the peak {:.4f}\n",
        percent, t.outcome.holds ? "holds" : "LEAST",
        static_cast<double>(t.outcome.peak) / static_cast<double>(start),
        100 * static_cast<double>(t.outcome.extra) / static_cast<double>(problem.total_duration()),
        t.first, static_cast<double>(t.outcome.peak_bound) / static_cast<double>(start));
  }
}

}  // namespace
}  // namespace recut::peak

int main(int argc, char** argv) {
  if (argc < 3) {
    fmt::print("usage: {} SECONDS FILE...\n", argv[0]);
    return 2;
  }
  recut::peak::Geomean all;
  for (int i = 2; i < argc; ++i) {
    const std::string path = argv[i];
    if (path.size() > 3 && path.substr(path.size() - 3) == ".gz")
      recut::peak::bench_joint(path, std::atof(argv[1]), all);
    else
      recut::peak::bench_moccasin(path, std::atof(argv[1]));
    std::fflush(stdout);
  }
  fmt::print("geometric mean of all points: {:.3f}\n", all.value());
  return 0;
}
