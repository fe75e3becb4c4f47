// Random programs with nested graphs, writes in place and aliases mean the same as their definition
// says: as read, after each pass and all of them, in plans, as machine code and as WebAssembly.
//
// RECUT_RANDOM_GRAPHS is how many to try (300), RECUT_RANDOM_SEED the first seed (1). Each eighth
// runs as code, too, for that takes long; RECUT_RANDOM_CODE=1 runs all of them.
#include <fmt/core.h>

#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <cstdlib>
#include <map>

#include "engine/eval/compare.h"
#include "engine/fusion/fuse_pointwise.h"
#include "engine/input/graph_file_reader.h"
#include "engine/input/text.h"
#include "engine/ir/graph_signature.h"
#include "engine/ir/printer.h"
#include "engine/ir/region_call.h"
#include "engine/ir/verifier.h"
#include "engine/partition/baseline.h"
#include "engine/partition/strategy.h"
#include "engine/passes/pass_table.h"
#include "engine/passes/region_inlining.h"
#include "engine/passes/runner.h"
#include "engine/runtime/program.h"
#include "engine/schedule/make_schedule.h"
#include "native/cpu/step.h"
#include "tests/codegen/agreement.h"
#include "tests/effort.h"
#include "tests/random/random_program.h"
#include "tests/random/same_meaning.h"

namespace recut::test {
namespace {

std::uint64_t program_number_from(const char* variable, std::uint64_t otherwise) {
  const char* value = std::getenv(variable);
  return value == nullptr ? otherwise : std::strtoull(value, nullptr, 10);
}

// A graph, and the values that the program has by its definition.
struct ReadProgram {
  Graph graph;
  Inputs inputs;
  std::vector<Tensor> expected;
};

Result<ReadProgram> read_program(const ProgramBody& program) {
  auto file = parse_joint_graph(program_json(program), "program.json");
  if (!file) return file.diagnostics();
  ReadProgram read{std::move(file->graph), {}, {}};
  read.inputs = inputs_for(read.graph, 1, Values::ordinary);
  std::vector<Tensor> given;
  for (const NodeId id : read.graph.inputs()) given.push_back(read.inputs.at(id));
  auto expected = run_program(program, given);
  if (!expected) return expected.diagnostics();
  read.expected = std::move(*expected);
  return read;
}

// "" where the graph gives what the program does.
std::string wrong_values(const ReadProgram& program, const Graph& graph,
                         const Plan* plan = nullptr) {
  Inputs inputs;
  for (std::size_t i = 0; i < graph.inputs().size(); ++i)
    inputs[graph.inputs()[i]] = program.inputs.at(program.graph.inputs()[i]);
  const auto found = plan ? evaluate(graph, *plan, inputs) : evaluate(graph, inputs);
  if (!found) return format(found.diagnostics());
  return outputs_difference(program.expected, found->outputs);
}

int nested_calls(const Graph& graph) {
  int count = 0;
  for (const NodeId id : graph.order()) count += has_regions(graph, id);
  return count;
}

std::string wrong_in_passes(const ReadProgram& program, const std::vector<std::string>& passes) {
  const auto report = run_passes(program.graph, passes);
  if (!report) return "passes: " + format(report.diagnostics());
  if (report->failure) return "passes: " + report->failure->pass + " " + report->failure->message;
  const std::string what = wrong_values(program, report->graph());
  return what.empty() ? "" : fmt::format("passes: {}, after\n{}", what, print(report->graph()));
}

// Each pass on the graph as read, which has all nested graphs; then all with and without inlining.
std::string wrong_after_passes(const ReadProgram& program) {
  for (const Pass& pass : all_passes())
    if (pass.exact)
      if (auto wrong = wrong_in_passes(program, {std::string(pass.name)}); !wrong.empty())
        return wrong;
  std::vector<std::string> nested = default_passes();
  nested.erase(std::find(nested.begin(), nested.end(), "inline_regions"));
  for (const auto& passes : {default_passes(), nested})
    if (auto wrong = wrong_in_passes(program, passes); !wrong.empty()) return wrong;
  return "";
}

std::string wrong_in_plans(const ReadProgram& program, const Graph& graph) {
  const std::int64_t peak = baseline_step(graph).peak_bytes;
  for (const Budget& budget :
       {Budget(NoBudget{}), Budget(PeakBytes{peak * 7 / 10}), Budget(PeakBytes{1})}) {
    PlanRequest request;
    request.budget = budget;
    request.limits.effort = 0.05;
    const auto outcome = make_plan(graph, request);
    if (!outcome) return "plan: " + format(outcome.diagnostics());
    const std::string what = wrong_values(program, graph, &outcome->plan);
    if (!what.empty()) return "plan: " + what;
  }
  return "";
}

// The whole way to machine code: a plan, a schedule, a program, its run.
std::string wrong_in_step(const ReadProgram& program, const Graph& graph, const Inputs& inputs) {
  const StorageModel storages(graph);
  PlanRequest request;
  request.groups = fuse_pointwise(graph, storages, Fusion::rows);
  const auto outcome = make_plan(graph, request);
  if (!outcome) return "step: " + format(outcome.diagnostics());
  const auto schedule = make_schedule(graph, {storages, request.groups}, outcome->plan);
  if (!schedule) return "step: " + format(schedule.diagnostics());
  auto made = make_program(graph, {storages, request.groups}, *schedule, {});
  if (!made) return "refused: " + format(made.diagnostics());
  auto step = cpu::Step::compile(std::move(*made));
  if (!step) return "step: " + format(step.diagnostics());
  std::vector<Tensor> given;
  for (const NodeId id : step->program().inputs)
    given.push_back(as_kernels_read(graph.type(id), inputs.at(id)));
  auto run = cpu::Run::prepare(*step, std::move(given), 1, 0);
  if (!run) return "step: " + format(run.diagnostics());
  if (const auto done = run->run(0); !done) return "step: " + format(done.diagnostics());
  const std::vector<Tensor> found = run->outputs();
  if (found.size() != program.expected.size()) return "step: another number of outputs";
  const std::string apart = rounding_exceeded(graph, inputs, found, program.expected);
  return apart.empty() ? "" : "step: " + apart;
}

// Loops whose trips depend on data stay, and the refusal names them.
std::string wrong_as_code(const ReadProgram& program, const Graph& graph) {
  Inputs inputs;
  for (std::size_t i = 0; i < graph.inputs().size(); ++i)
    inputs[graph.inputs()[i]] = program.inputs.at(program.graph.inputs()[i]);
  KernelRunOptions options;
  options.groups = fuse_pointwise(graph, StorageModel(graph), Fusion::chains);
  const std::string kernels = disagreement(graph, inputs, options, true);
  const std::string step = wrong_in_step(program, graph, inputs);
  if (nested_calls(graph) == 0) return kernels.empty() ? step : "code: " + kernels;
  for (const NodeId id : graph.order())
    if (has_regions(graph, id) && !why_not_inlined(graph, id)) return "code: it could be inlined";
  return step.starts_with("refused: ") && is_refusal(kernels)
             ? ""
             : "code: no refusal: " + kernels + "; " + step;
}

// The last results are the new values of the inputs that the program writes, and no others are.
std::string wrong_signature(const ProgramBody& body, const Graph& graph) {
  const std::vector<std::size_t> written = written_inputs(body);
  const std::size_t own = graph.results.size() - written.size();
  for (std::size_t i = 0; i < graph.results.size(); ++i) {
    const NodeId expected = i < own ? NodeId() : graph.inputs()[written[i - own]];
    if (mutated_input(graph, i) != expected)
      return fmt::format("signature: result {}\n{}", i, print(graph));
  }
  return "";
}

// "" where the program means the same everywhere; the first word names the stage.
std::string fault_of(const ProgramBody& body, bool as_code) {
  const auto program = read_program(body);
  if (!program) return "read: " + format(program.diagnostics());
  if (const Failures failures = verify(program->graph); !failures.empty())
    return "verify: " + print(program->graph, failures);
  if (const std::string what = wrong_values(*program, program->graph); !what.empty())
    return "eval: " + what;
  if (auto wrong = wrong_signature(body, program->graph); !wrong.empty()) return wrong;
  const std::string text = print(program->graph);
  const auto again = parse_graph_text(text, "again");
  if (!again) return "text: " + format(again.diagnostics());
  if (print(*again) != text) return "text: reread as\n" + print(*again);
  if (const std::string what = wrong_values(*program, *again); !what.empty())
    return "text: " + what;
  if (auto wrong = wrong_after_passes(*program); !wrong.empty()) return wrong;
  if (auto wrong = wrong_in_plans(*program, program->graph); !wrong.empty()) return wrong;
  const Graph passed = run_passes(program->graph, default_passes())->graph();
  if (auto wrong = wrong_signature(body, passed); !wrong.empty()) return wrong;
  if (auto wrong = wrong_in_plans(*program, passed); !wrong.empty()) return wrong;
  return as_code ? wrong_as_code(*program, passed) : "";
}

std::string program_stage(const std::string& fault) { return fault.substr(0, fault.find(':')); }

// How many of the programs have what they are made for.
struct ProgramCounts {
  std::map<std::string, int> nested;
  int written = 0, staying = 0;
};

void count_program(const ProgramBody& body, ProgramCounts& counts) {
  for (const ProgramCall& call : body.calls) {
    if (is_nested_call(call)) ++counts.nested[call.target.substr(23)];
    for (const ProgramArgument& argument : call.arguments)
      if (const auto* inner = std::get_if<std::shared_ptr<const ProgramBody>>(&argument))
        count_program(**inner, counts);
  }
}

TEST_CASE("random programs with nested graphs, writes and aliases mean the same everywhere",
          "[random]") {
  const std::uint64_t first = program_number_from("RECUT_RANDOM_SEED", 1);
  const std::uint64_t last = first + program_number_from("RECUT_RANDOM_GRAPHS", tries(300));
  for (std::uint64_t seed = first; seed < last; ++seed) {
    const std::string again = fmt::format(
        "run again:  RECUT_RANDOM_SEED={} RECUT_RANDOM_GRAPHS=1 RECUT_RANDOM_CODE=1 "
        "build/release/tests/recut_tests --in random/random_programs_test",
        seed);
    INFO(again);
    const ProgramBody program = random_program(seed);
    const bool as_code = seed % program_number_from("RECUT_RANDOM_CODE", 8) == 0;
    const std::string wrong = fault_of(program, as_code);
    if (wrong.empty()) {
      SUCCEED();
      continue;
    }
    const ProgramBody small = shrink_program(program, [&](const ProgramBody& candidate) {
      return program_stage(fault_of(candidate, as_code)) == program_stage(wrong);
    });
    FAIL(program_json(small) << "\nhas a fault: " << fault_of(small, as_code)
                             << "\nand the program that it was: " << wrong);
  }
}

TEST_CASE("random programs have each kind of nested graph, writes and loops that stay",
          "[random]") {
  ProgramCounts counts;
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    const ProgramBody program = random_program(seed);
    count_program(program, counts);
    counts.written += !written_inputs(program).empty();
    if (const auto read = read_program(program))
      counts.staying += nested_calls(run_passes(read->graph, default_passes())->graph()) > 0;
  }
  CHECK(counts.nested.size() == 8);
  for (const auto& entry : counts.nested) {
    CAPTURE(entry.first);
    CHECK(entry.second >= 5);
  }
  CHECK(counts.written >= 50);
  CHECK(counts.staying >= 5);
}

}  // namespace
}  // namespace recut::test
