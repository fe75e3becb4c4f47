// What passes do for plans of strategy `peak`: the step's time within a budget, and the least peak
// that is planned, of the graph as its file has it, after the usual passes, and after those that
// change bits too (attention and others; engine/passes/passes.def). The budget is half the peak
// that the file's own graph has without recomputation, for all three; where that graph can't hold
// it, its least peak.
//
// usage: bench_plans_bench [FILE…]     without files: every joint graph of samples/joint and of
//                                      ../shared/graphs
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "engine/passes/runner.h"
#include "engine/passes/stages.h"
#include "engine/support/units.h"
#include "engine/workspace/document.h"
#include "engine/workspace/open_document.h"
#include "engine/workspace/planning.h"
#include "tests/partition/joint_files.h"

namespace recut {
namespace {

constexpr std::size_t kStages = 3;  // as it is, usual passes, inexact ones too

std::vector<std::string> passes_of(std::size_t stage) {
  if (stage == 0) return {};
  if (stage == 1) return default_passes();
  return inexact_passes();
}

struct Figures {
  bool holds = false;
  double step_us = 0;
  std::int64_t least_bytes = 0;
};

PlanReport planned(const Document& document, const std::string& budget) {
  PlanningRequest request;
  request.budget = budget;
  auto plan = plan_document(document, request);
  RECUT_CHECK(plan.ok(), "a joint graph is planned");
  return std::move(plan->report);
}

struct Row {
  std::int64_t peak_bytes = 0, budget_bytes = 0;
  std::array<Figures, kStages> stages;
};

// The graph's row; none where the file has no joint graph.
std::optional<Row> row_of(const std::string& path) {
  Row row;
  for (std::size_t i = 0; i < kStages; ++i) {
    OpenOptions options;
    options.passes = passes_of(i);
    const auto document = open_document(path, options);
    if (!document || !check_joint(*document, path)) return std::nullopt;
    Figures& figures = row.stages[i];
    figures.least_bytes = planned(*document, "1").peak_bytes;
    if (i == 0) {
      row.peak_bytes = planned(*document, "none").baseline_peak_bytes;
      row.budget_bytes = std::max(row.peak_bytes / 2, figures.least_bytes);
    }
    const PlanReport report = planned(*document, std::to_string(row.budget_bytes));
    figures.holds = report.holds();
    figures.step_us = report.step_us;
  }
  return row;
}

// The geometric mean of ratios after and before passes.
struct Mean {
  double sum = 0;
  int count = 0;
  void add(double before, double after) {
    if (before <= 0 || after <= 0) return;
    sum += std::log(after / before);
    ++count;
  }
  std::string text() const { return fmt::format("{:.3f}", count == 0 ? 1 : std::exp(sum / count)); }
};

std::string step_text(const Figures& figures) {
  return figures.holds ? format_micros(figures.step_us) : "not held";
}

// Marks a figure that is worse than the one before.
std::string mark(double before, double after) {
  return after > before * 1.0005 ? fmt::format(" (+{:.1f} %)", (after / before - 1) * 100) : "";
}

struct Means {
  std::array<Mean, kStages> step, least;
};

void print_row(const std::string& path, Means& means) {
  const auto row = row_of(path);
  if (!row) return;
  const Figures& before = row->stages.front();
  const std::string name = std::filesystem::path(path).filename().string();
  std::string steps, peaks;
  for (std::size_t i = 0; i < kStages; ++i) {
    const Figures& f = row->stages[i];
    const bool both = before.holds && f.holds;
    steps += fmt::format(" | {}{}", step_text(f), both ? mark(before.step_us, f.step_us) : "");
    peaks += fmt::format(
        " | {}{}", format_bytes(f.least_bytes),
        mark(static_cast<double>(before.least_bytes), static_cast<double>(f.least_bytes)));
    if (both) means.step[i].add(before.step_us, f.step_us);
    means.least[i].add(static_cast<double>(before.least_bytes), static_cast<double>(f.least_bytes));
  }
  fmt::print("| {} | {} | {:.0f} %{}{} |\n", name.substr(0, name.find('.')),
             format_bytes(row->peak_bytes),
             100 * static_cast<double>(row->budget_bytes) / static_cast<double>(row->peak_bytes),
             steps, peaks);
  std::fflush(stdout);
}

}  // namespace
}  // namespace recut

int main(int argc, char** argv) {
  std::vector<std::string> files(argv + 1, argv + argc);
  if (files.empty()) files = recut::joint_files();
  fmt::print(
      "| graph | peak | budget | step | passes | all passes | least peak | passes | all passes |\n"
      "|---|---|---|---|---|---|---|---|---|\n");
  recut::Means means;
  for (const std::string& file : files) recut::print_row(file, means);
  fmt::print("| geometric mean | | | 1 | {} | {} | 1 | {} | {} |\n", means.step[1].text(),
             means.step[2].text(), means.least[1].text(), means.least[2].text());
  return 0;
}
