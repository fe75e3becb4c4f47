// Runs every golden file (tests/golden/golden.h) and holds each to more than its text: print after
// parse is the identity; the graph is sound before and after; a pass that says it changed something
// did (the runner checks both); a second run changes nothing; values stay the same, edge values
// too, but for the passes of freezing.
#include "tests/golden/golden.h"

#include <fmt/core.h>

#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <sstream>

#include "engine/eval/compare.h"
#include "engine/input/text.h"
#include "engine/ir/printer.h"
#include "engine/ir/verifier.h"
#include "engine/passes/freezing.h"
#include "engine/passes/pass_table.h"
#include "engine/passes/runner.h"
#include "native/cli.h"
#include "tests/paths.h"
#include "tests/random/same_meaning.h"

namespace recut::test {
namespace {

Graph read_graph(const Golden& golden) {
  const auto graph = parse_graph_text(golden.input, golden.path);
  if (!graph) FAIL(format(graph.diagnostics()));
  CHECK(verify(*graph).empty());
  const std::string text = print(*graph);
  const auto again = parse_graph_text(text, golden.path);
  REQUIRE(again.ok());
  CHECK(print(*again) == text);
  return *graph;
}

PipelineReport run_checked(const Graph& graph, const std::vector<std::string>& passes) {
  auto report = run_passes(graph, passes);
  if (!report) FAIL(format(report.diagnostics()));
  if (report->failure) FAIL(report->failure->pass + " " + report->failure->message);
  return std::move(*report);
}

// Whether all of the passes keep every bit.
bool exact(const std::vector<std::string>& passes) {
  return std::all_of(passes.begin(), passes.end(), [](const std::string& name) {
    const Pass* pass = find_pass(name);
    return pass == nullptr || pass->exact;
  });
}

// "" where the outputs are about the same; how near they have to be is for the tests of the rules.
std::string rough_difference(const Graph& before, const Graph& after) {
  const Inputs inputs = inputs_for(before, 1, Values::ordinary);
  const auto a = evaluate(before, inputs);
  const auto b = evaluate(after, inputs);
  if (!a || !b) return "can't be evaluated";
  for (std::size_t i = 0; i < a->outputs.size(); ++i)
    if (a->outputs[i].exists() && compare(b->outputs[i], a->outputs[i]).relative_error > 1e-2)
      return fmt::format("output {}", i);
  return "";
}

// `opt --passes a,b` in a golden: what the passes did, then the graph.
std::string opt(const Golden& golden) {
  REQUIRE(golden.words.size() == 3);
  REQUIRE(golden.words[1] == "--passes");
  const auto passes = split_pass_names(golden.words[2]);
  const Graph graph = read_graph(golden);
  const PipelineReport report = run_checked(graph, passes);
  CHECK_FALSE(run_checked(report.graph(), passes).changed());
  CHECK((exact(passes) ? difference(graph, report.graph())
                       : rough_difference(graph, report.graph())) == "");
  std::string text;
  for (const PassReport& pass : report.passes)
    for (const Change& change : pass.changes)
      text += fmt::format("{}: {}: {}\n", pass.name, change.rule, change.description.text());
  return text + print(report.graph());
}

// Anything else is the command's own, on the golden file itself. Its path, and those of other files
// of the repository, are told from the top of the checkout, wherever that is.
std::string command(const Golden& golden) {
  const std::string top = RECUT_SOURCE_DIR "/";
  std::vector<std::string> words = golden.words;
  for (std::string& word : words)
    if (word.starts_with("samples/") || word.starts_with("tests/")) word.insert(0, top);
  words.insert(words.begin() + 1, top + golden.path);
  std::ostringstream out, err;
  const int code = native::run_command(words, {out, err});
  std::string text = out.str();
  if (code != native::kDone) text = fmt::format("exit code {}\n{}{}", code, text, err.str());
  for (std::size_t at = text.find(top); at != std::string::npos; at = text.find(top, at))
    text.erase(at, top.size());
  return text;
}

TEST_CASE("golden files", "[golden]") {
  const auto paths = golden_paths();
  REQUIRE(paths.size() > 10);
  for (const std::string& path : paths) {
    DYNAMIC_SECTION(path) {
      const Golden golden = read_golden(path);
      const std::string output = golden.words[0] == "opt" ? opt(golden) : command(golden);
      if (blessing()) {
        if (output != golden.expected) bless(golden, output);
        continue;
      }
      INFO("run again:  build/release/tests/recut_tests \"golden files\" -c \"" << path << "\"");
      INFO("accept it:  RECUT_BLESS=1, the same line");
      CHECK(output == golden.expected);
    }
  }
}

}  // namespace
}  // namespace recut::test
