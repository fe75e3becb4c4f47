// What strategy `peak` reaches, and how soon. One table a word on the command line:
//
//   points FILE…     a budget equal to the real peak of each of PyTorch's points; and half the peak
//   least FILE…      the least peak that is found with the usual effort, beside the proved bound
//   speed FILE…      half the peak: when the first plan stood, and when it was near the best
//   moccasin FILE…   the published graphs at 90, 80 and 70 % of their start peak
//   growth           synthetic graphs of repeated blocks, up to 100,000 computations
//
// Files are joint graphs (.json.gz), for `moccasin` node-link graphs (.json). Times are of one
// core. Plans of joint graphs are replayed (engine/partition/replay.h) and the peaks compared.
#include <fmt/format.h>

#include <chrono>
#include <cmath>
#include <filesystem>

#include "engine/input/graph_file.h"
#include "engine/input/graph_file_reader.h"
#include "engine/partition/baseline.h"
#include "engine/partition/peak/peak_of.h"
#include "engine/partition/peak/solver.h"
#include "engine/partition/problem/joint_problem.h"
#include "engine/partition/problem/moccasin.h"
#include "engine/partition/replay.h"
#include "tests/bench/growing_problem.h"
#include "tests/partition/torch_choice.h"

namespace recut::peak {
namespace {

double mib(std::int64_t bytes) { return static_cast<double>(bytes) / (1 << 20); }
std::string stem(const std::string& path) {
  const std::string name = std::filesystem::path(path).filename().string();
  return name.substr(0, name.find('.'));
}

// One plan, and when better ones were found on the way.
struct Timed {
  Outcome outcome;
  double ms = 0;
  std::vector<std::pair<double, std::int64_t>> better;  // ms, duration

  // When the plan was within `share` of this extra duration; -1: never.
  double reached(std::int64_t base, double overhead) const {
    for (const auto& [ms, duration] : better)
      if (static_cast<double>(duration - base) <= overhead + 1) return ms;
    return -1;
  }
};

Timed timed_solve(const RematProblem& problem, std::int64_t budget, double effort,
                  bool bounds = true) {
  Timed timed;
  const auto began = std::chrono::steady_clock::now();
  const auto ms = [&] {
    return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - began)
        .count();
  };
  SolveOptions options;
  options.effort = default_effort(problem, effort);
  options.relative_gap = default_relative_gap(effort);
  if (!bounds) options.bound_steps = 0;
  options.on_progress = [&](const Progress& p) {
    if (p.holds) timed.better.emplace_back(ms(), p.duration);
  };
  timed.outcome = solve(problem, budget, options);
  timed.ms = ms();
  return timed;
}

Timed timed_least(const RematProblem& problem) {
  Timed timed;
  const auto began = std::chrono::steady_clock::now();
  SolveOptions options;
  options.effort = default_effort(problem);
  timed.outcome = solve_min_peak(problem, options);
  timed.ms =
      std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - began).count();
  return timed;
}

struct Geomean {
  double sum = 0;
  int count = 0, nothing = 0;
  void add(double ours, double theirs) {
    if (theirs < 1) return;  // microseconds: nothing to compare with
    if (ours <= 0) {
      ++nothing;
    } else {
      sum += std::log(ours / theirs);
      ++count;
    }
  }
  std::string text() const {
    return fmt::format("{:.3f} over {} points; at {} more Recut recomputes nothing",
                       count == 0 ? 0 : std::exp(sum / count), count, nothing);
  }
};

// A joint graph with all that the tables need.
struct Model {
  explicit Model(GraphFile read)
      : file(std::move(read)),
        storages(file.graph),
        joint(file.graph, storages),
        baseline_cost(baseline_step(file.graph)) {}

  bool replays(const Outcome& outcome) const {
    const auto figures = replay(file.graph, storages, joint.plan(outcome.sequence));
    return figures.ok() && figures->peak_bytes == outcome.peak;
  }
  // Time beyond the file's own program, in which some of forward stands twice already.
  double beyond_file(const Outcome& outcome) const {
    return joint.micros(outcome.duration) - baseline_cost.step_us;
  }

  GraphFile file;
  StorageModel storages;
  JointProblem joint;
  BaselineCost baseline_cost;
};

void points(Model& m, Geomean& all) {
  fmt::print("{}: {} computations, {:.1f} MiB and {:.0f} us as written\n", m.file.model,
             m.joint.problem().size(), mib(m.baseline_cost.peak_bytes), m.baseline_cost.step_us);
  fmt::print("  {:>6} {:>10} {:>12} | {:>10} {:>12} {:>7} {:>12} {:>12} {:>7}\n", "budget",
             "peak MiB", "torch us", "peak MiB", "recompute us", "ratio", "bound us", "beyond file",
             "ms");
  Geomean own;
  const auto line = [&](const std::string& name, std::int64_t budget, double theirs) {
    const Timed t = timed_solve(m.joint.problem(), budget, 1);
    const double ours = m.joint.micros(t.outcome.overhead);
    fmt::print(
        "  {:>6} {:>10.1f} {:>12.1f} | {:>10.1f} {:>12.1f} {:>7.3f} {:>12.1f} {:>12.1f} "
        "{:>7.1f}{}{}\n",
        name, mib(budget), theirs, mib(t.outcome.peak), ours, theirs > 0 ? ours / theirs : 0,
        m.joint.micros(t.outcome.overhead_bound), m.beyond_file(t.outcome), t.ms,
        t.outcome.holds ? "" : "  DOESN'T HOLD", m.replays(t.outcome) ? "" : "  REPLAY DIFFERS");
    own.add(ours, theirs);
    all.add(ours, theirs);
  };
  for (const TorchPartition& partition : m.file.partitions) {
    if (!partition.budget) continue;
    const auto theirs = replay(m.file.graph, m.storages, plan_of(m.file.graph, partition));
    if (theirs.ok())
      line(fmt::format("{}", *partition.budget), theirs->peak_bytes, theirs->recompute_us);
  }
  line("50%", m.baseline_cost.peak_bytes / 2, 0);
  fmt::print("  geometric mean of the ratios: {}\n", own.text());
}

void least(Model& m) {
  const Timed t = timed_least(m.joint.problem());
  fmt::print("{:14} least peak {:9.2f} MiB, bound {:9.2f} MiB, {:5.3f} x, {:8.1f} ms{}\n",
             m.file.model, mib(t.outcome.peak), mib(t.outcome.peak_bound),
             static_cast<double>(t.outcome.peak) /
                 static_cast<double>(std::max<std::int64_t>(1, t.outcome.peak_bound)),
             t.ms, m.replays(t.outcome) ? "" : "  REPLAY DIFFERS");
}

void speed_of(const RematProblem& p, const std::string& name, std::int64_t budget) {
  const Timed usual = timed_solve(p, budget, 1, false);
  const Timed run = timed_solve(p, budget, 20, false);
  const auto best = static_cast<double>(run.outcome.overhead);
  fmt::print(
      "{:14} {:6} computations: first {:7.1f} ms, within 10 % {:7.1f} ms, within 2 % {:8.1f} "
      "ms of the best in {:.0f} ms; the usual effort: {:6.1f} ms, {:.1f} % above it\n",
      name, p.size(), run.better.empty() ? -1 : run.better.front().first,
      run.reached(p.total_duration(), 1.1 * best), run.reached(p.total_duration(), 1.02 * best),
      run.ms, usual.ms,
      best > 0 ? 100 * (static_cast<double>(usual.outcome.overhead) / best - 1) : 0.0);
}

void moccasin(const std::string& path) {
  const auto bytes = read_file(path);
  if (!bytes.ok()) return fmt::print("{}", format(bytes.diagnostics()));
  const auto read = parse_moccasin(*bytes, path);
  if (!read.ok()) return fmt::print("{}", format(read.diagnostics()));
  const RematProblem& p = read->problem;
  const std::int64_t start = peak_of(p, p.order);
  fmt::print("{}: {} nodes, peak {}\n", stem(path), p.size(), start);
  for (const int percent : {90, 80, 70}) {
    const Timed t = timed_solve(p, start * percent / 100, 1);
    fmt::print(
        "  {} %: {} {:.4f} of the peak, +{:.3f} % duration, {:.1f} ms, bound on the peak {:.4f}\n",
        percent, t.outcome.holds ? "holds" : "LEAST",
        static_cast<double>(t.outcome.peak) / static_cast<double>(start),
        100 * static_cast<double>(t.outcome.overhead) / static_cast<double>(p.total_duration()),
        t.ms, static_cast<double>(t.outcome.peak_bound) / static_cast<double>(start));
  }
}

void growth() {
  for (const int blocks : {100, 300, 1000, 3000, 10000}) {
    const RematProblem p = growing_problem(blocks);
    const Timed t = timed_solve(p, peak_of(p, p.order) / 2, 1, false);
    fmt::print(
        "{:7} computations: first {:8.1f} ms, whole {:9.1f} ms ({:.2f} us each), {:.2f} % extra\n",
        p.size(), t.better.empty() ? -1 : t.better.front().first, t.ms, 1e3 * t.ms / p.size(),
        100 * static_cast<double>(t.outcome.overhead) / static_cast<double>(p.total_duration()));
    std::fflush(stdout);
  }
}

int run(const std::string& table, const std::vector<std::string>& files) {
  if (table == "growth") return growth(), 0;
  Geomean all;
  for (const std::string& path : files) {
    if (table == "moccasin") {
      moccasin(path);
      continue;
    }
    auto file = read_graph_file(path, "joint_after_passes");
    if (!file.ok()) return fmt::print("{}", format(file.diagnostics())), 2;
    if (file->model.empty()) file->model = stem(path);
    Model model(std::move(*file));
    if (table == "points") points(model, all);
    if (table == "least") least(model);
    if (table == "speed")
      speed_of(model.joint.problem(), model.file.model, model.baseline_cost.peak_bytes / 2);
    std::fflush(stdout);
  }
  if (table == "points") fmt::print("geometric mean of all: {}\n", all.text());
  return 0;
}

}  // namespace
}  // namespace recut::peak

int main(int argc, char** argv) {
  if (argc < 2) {
    fmt::print("usage: {} points|least|speed|moccasin|growth [FILE...]\n", argv[0]);
    return 2;
  }
  return recut::peak::run(argv[1], {argv + 2, argv + argc});
}
