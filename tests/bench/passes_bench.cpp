// Recut's passes beside Inductor's joint passes: how long, and how many nodes that are no views
// they leave; the default pipeline and the one with the passes that don't keep every bit. Times
// quicker: the passes alone, and with the verifier after each, which Inductor has no like of.
//
// usage: bench_passes_bench [FILE…]     without files: every joint graph of samples/joint and of
//                                       ../shared/graphs
#include <fmt/format.h>

#include <chrono>
#include <cmath>
#include <filesystem>
#include <string>
#include <vector>

#include "engine/input/graph_file_reader.h"
#include "engine/passes/runner.h"
#include "engine/passes/stages.h"
#include "tests/partition/joint_files.h"

namespace recut {
namespace {

int count_work(const Graph& graph) {
  int work = 0;
  for (const NodeId id : graph.order())
    if (!graph.op(id).is(kView | kInput)) ++work;
  return work;
}

struct Run {
  double passes_ms = 0;  // the passes alone
  double whole_ms = HUGE_VAL;
  int work = 0;
};

// The whole pipeline, the verifier after each pass included: the best of so many runs. Graphs are
// read anew for each: a pool that has seen the passes' nodes would only look them up again.
Run best_of(int runs, const std::string& path, const std::vector<std::string>& passes) {
  Run best;
  for (int run = 0; run < runs; ++run) {
    const auto file = read_graph_file(path, "joint");
    const auto start = std::chrono::steady_clock::now();
    const auto report = run_passes(file->graph, passes);
    const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - start;
    if (took.count() >= best.whole_ms) continue;
    best = {0, took.count(), count_work(report->graph())};
    for (const PassReport& pass : report->passes) best.passes_ms += pass.milliseconds;
  }
  return best;
}

void print_row(const std::string& path) {
  const auto joint = read_graph_file(path, "joint");
  const auto after = read_graph_file(path, "joint_after_passes");
  if (!joint || !after) return;
  const Run exact = best_of(7, path, default_passes());
  const Run inexact = best_of(2, path, inexact_passes());
  const double theirs = joint->joint_passes_seconds_warm * 1000;
  fmt::print("{:<14}{:>7}{:>7}{:>9}{:>10}{:>10.2f}{:>10.2f}{:>11.2f}{:>10.1f}{:>7.0f}{:>10.0f}\n",
             std::filesystem::path(path).stem().stem().string(), count_work(joint->graph),
             exact.work, inexact.work, count_work(after->graph), exact.passes_ms, exact.whole_ms,
             inexact.whole_ms, theirs, theirs / exact.passes_ms, theirs / exact.whole_ms);
}

}  // namespace
}  // namespace recut

int main(int argc, char** argv) {
  std::vector<std::string> files(argv + 1, argv + argc);
  if (files.empty()) files = recut::joint_files();
  fmt::print("{:<14}{:>7}{:>7}{:>9}{:>10}{:>10}{:>10}{:>11}{:>10}{:>7}{:>10}\n", "graph", "nodes",
             "exact", "inexact", "Inductor", "passes ms", "verified", "inexact ms", "Inductor",
             "times", "verified");
  for (const std::string& file : files) recut::print_row(file);
  return 0;
}
