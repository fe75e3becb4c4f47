#include "tests/conformance/conformance.h"

#include <fmt/core.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <map>

#include "engine/eval/compare.h"
#include "engine/eval/evaluator.h"
#include "engine/eval/inputs.h"
#include "engine/input/graph_file.h"
#include "engine/input/graph_file_reader.h"
#include "tests/conformance/program.h"

namespace recut::conformance {
namespace {

struct CaseOutcome {
  Verdict verdict = Verdict::agrees;
  std::string detail;
};

CaseOutcome refused_case(const Diagnostics& diagnostics) {
  std::string messages;
  for (const Diagnostic& d : diagnostics) messages += (messages.empty() ? "" : "; ") + d.message;
  return {Verdict::refused, messages};
}

CaseOutcome compared_case(const Graph& graph, const Inputs& inputs, const Evaluation& evaluation,
                          const std::vector<std::optional<Tensor>>& expected) {
  CaseOutcome outcome;
  for (const OutputComparison& c : compare_outputs(graph, inputs, evaluation.outputs, expected)) {
    if (c.ok()) continue;
    outcome.verdict = Verdict::disagrees;
    outcome.detail += fmt::format("{}output {} ({}): {}", outcome.detail.empty() ? "" : "; ",
                                  c.position, c.name, c.comparison.problem);
  }
  return outcome;
}

CaseOutcome run_case(const std::string& stem) {
  const auto file = read_graph_file(stem + ".json");
  if (!file) return refused_case(file.diagnostics());
  const std::string values_name = stem + ".safetensors";
  const auto bytes = read_file(values_name);
  if (!bytes) return refused_case(bytes.diagnostics());
  const auto tensors = parse_safetensors(*bytes, values_name);
  if (!tensors) return refused_case(tensors.diagnostics());
  const auto inputs = inputs_from(file->graph, *tensors);
  if (!inputs) return refused_case(inputs.diagnostics());
  const auto expected = expected_outputs(file->graph, *tensors);
  if (!expected) return refused_case(expected.diagnostics());
  const auto evaluation = evaluate(file->graph, *inputs);
  if (!evaluation) return refused_case(evaluation.diagnostics());
  return compared_case(file->graph, *inputs, *evaluation, *expected);
}

// The child writes one byte for the verdict, then the detail.
[[noreturn]] void run_as_child(const std::string& stem, int pipe) {
  const CaseOutcome outcome = run_case(stem);
  const std::string message =
      static_cast<char>('0' + static_cast<int>(outcome.verdict)) + outcome.detail.substr(0, 4000);
  const bool written = write(pipe, message.data(), message.size()) > 0;
  _exit(written ? 0 : 1);
}

// Reads until the child ends or time is up; false where time is up.
bool read_until(int pipe, int seconds, std::string& text) {
  std::array<char, 4096> buffer;
  pollfd ready{pipe, POLLIN, 0};
  while (poll(&ready, 1, seconds * 1000) > 0) {
    const ssize_t count = read(pipe, buffer.data(), buffer.size());
    if (count <= 0) return true;
    text.append(buffer.data(), static_cast<std::size_t>(count));
  }
  return false;
}

CaseOutcome run_isolated(const std::string& stem, int seconds) {
  int ends[2];
  if (pipe(ends) != 0) return {Verdict::crashed, "no pipe can be made"};
  const pid_t child = fork();
  if (child == 0) run_as_child(stem, ends[1]);
  close(ends[1]);
  std::string text;
  const bool ended = read_until(ends[0], seconds, text);
  close(ends[0]);
  if (!ended) kill(child, SIGKILL);
  int status = 0;
  waitpid(child, &status, 0);
  if (!ended) return {Verdict::hung, fmt::format("no answer within {} s", seconds)};
  if (text.empty()) return {Verdict::crashed, fmt::format("wait status {}", status)};
  return {static_cast<Verdict>(text.front() - '0'), text.substr(1)};
}

}  // namespace

std::vector<CaseResult> run_folder(const std::string& folder, const std::string& filter,
                                   int seconds) {
  std::vector<CaseResult> results;
  for (const std::string& stem : stems_in(folder, filter)) {
    CaseOutcome outcome = run_isolated(stem, seconds);
    const std::string name = std::filesystem::path(stem).filename().string();
    results.push_back(
        {name, name.substr(0, name.rfind('-')), outcome.verdict, std::move(outcome.detail)});
  }
  return results;
}

std::vector<Finding> findings_of(const std::vector<CaseResult>& results) {
  std::vector<Finding> findings;
  for (const CaseResult& r : results)
    findings.push_back(
        {r.name, std::string(verdict_name(r.verdict)), r.verdict == Verdict::agrees, r.detail});
  return findings;
}

std::string_view verdict_name(Verdict verdict) {
  static constexpr std::string_view kVerdictNames[] = {"agrees", "disagrees", "refused", "crashed",
                                                       "hung"};
  return kVerdictNames[static_cast<std::size_t>(verdict)];
}

namespace {

constexpr std::size_t kVerdicts = 5;
using Tally = std::array<int, kVerdicts>;

void print_row(std::ostream& out, const std::string& name, const Tally& tally) {
  int cases = 0;
  for (const int count : tally) cases += count;
  out << fmt::format("{:<52}{:>6}{:>7}{:>10}{:>9}{:>9}{:>6}\n", name, cases, tally[0], tally[1],
                     tally[2], tally[3], tally[4]);
}

}  // namespace

void print_table(std::ostream& out, const std::vector<CaseResult>& results, bool all) {
  std::map<std::string, Tally> by_operator;
  Tally sum{};
  for (const CaseResult& r : results) {
    ++by_operator.try_emplace(r.operator_name, Tally{}).first->second[static_cast<int>(r.verdict)];
    ++sum[static_cast<std::size_t>(r.verdict)];
  }
  out << fmt::format("{:<52}{:>6}{:>7}{:>10}{:>9}{:>9}{:>6}\n", "operator", "cases", "agree",
                     "disagree", "refused", "crashed", "hung");
  const auto agrees = [](const Tally& t) { return t[1] + t[2] + t[3] + t[4] == 0; };
  for (const auto& [name, tally] : by_operator)
    if (all || !agrees(tally)) print_row(out, name, tally);
  for (const CaseResult& r : results)
    if (r.verdict != Verdict::agrees)
      out << fmt::format("{}: {}: {}\n", r.name, verdict_name(r.verdict), r.detail);
  print_row(out, "all", sum);
  const auto cases = static_cast<double>(std::max<std::size_t>(results.size(), 1));
  out << fmt::format("{:.1f} % agree\n", 100.0 * sum[0] / cases);
}

}  // namespace recut::conformance
