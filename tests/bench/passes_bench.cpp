// Recut's passes beside Inductor's joint passes: how long, and how many nodes that are no views
// they leave.
//
// usage: bench_passes_bench [FILE…]     without files: every joint graph of samples/joint and of
//                                       ../shared/graphs
#include <fmt/format.h>

#include <chrono>
#include <cmath>
#include <filesystem>
#include <string>
#include <vector>

#include "engine/input/graph_file.h"
#include "engine/passes/runner.h"
#include "tests/partition/joint_files.h"

namespace recut {
namespace {

int count_work(const Graph& graph) {
  int work = 0;
  for (const NodeId id : graph.order())
    if (!graph.op(id).is(kView | kInput)) ++work;
  return work;
}

// The whole pipeline, the verifier after each pass included: the best of five runs. Graphs are
// copied outside: a pool that has seen the passes' nodes would only look them up again.
double pipeline_ms(const std::string& path, double& passes_ms) {
  double best = HUGE_VAL;
  for (int run = 0; run < 5; ++run) {
    const auto file = read_graph_file(path, "joint");
    const auto start = std::chrono::steady_clock::now();
    const auto report = run_passes(file->graph, default_passes());
    const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - start;
    if (took.count() >= best) continue;
    best = took.count();
    passes_ms = 0;
    for (const PassReport& pass : report->passes) passes_ms += pass.milliseconds;
  }
  return best;
}

void print_row(const std::string& path) {
  const auto joint = read_graph_file(path, "joint");
  const auto after = read_graph_file(path, "joint_after_passes");
  if (!joint || !after) return;
  double passes_ms = 0;
  const double whole = pipeline_ms(path, passes_ms);
  const auto report = run_passes(joint->graph, default_passes());
  const double theirs = joint->joint_passes_seconds_warm * 1000;
  fmt::print("{:<16}{:>8}{:>10}{:>10}{:>12.2f}{:>12.2f}{:>12.1f}{:>10.0f}\n",
             std::filesystem::path(path).stem().stem().string(), count_work(joint->graph),
             count_work(report->graph()), count_work(after->graph), passes_ms, whole, theirs,
             theirs / whole);
}

}  // namespace
}  // namespace recut

int main(int argc, char** argv) {
  std::vector<std::string> files(argv + 1, argv + argc);
  if (files.empty()) files = recut::joint_files();
  fmt::print("{:<16}{:>8}{:>10}{:>10}{:>12}{:>12}{:>12}{:>10}\n", "graph", "nodes", "Recut",
             "Inductor", "passes ms", "verified", "Inductor", "times");
  for (const std::string& file : files) recut::print_row(file);
  return 0;
}
