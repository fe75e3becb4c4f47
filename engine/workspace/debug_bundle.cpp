#include "engine/workspace/debug_bundle.h"

#include <fmt/format.h>

#include <algorithm>
#include <deque>

#include "engine/cost/measured_kernels.h"
#include "engine/eval/inputs.h"
#include "engine/ir/printer.h"
#include "engine/support/shell_word.h"
#include "engine/support/table.h"
#include "engine/support/version.h"
#include "engine/workspace/c_driver.h"
#include "engine/workspace/plan_report.h"
#include "engine/workspace/plan_text.h"
#include "engine/workspace/rerun.h"
#include "engine/workspace/target_code.h"
#include "engine/workspace/torch_program.h"

namespace recut {
namespace {

constexpr std::string_view kRunScript = R"sh(#!/bin/sh
# Runs the graph again. RECUT names the command where it isn't in PATH.
cd "$(dirname "$0")" || exit 2
exec "${{RECUT:-recut}}" {words} "$@"
)sh";

constexpr std::string_view kHoldsScript = R"sh(#!/bin/sh
# Exit code 1 if the graph $1 still fails, on the inputs $2 if given, for minimize.sh.
said=$("${{RECUT:-recut}}" {words} {tensors} 2>&1)
code=$?
printf '%s\n' "$said"
[ "$code" -gt 128 ] && exit "$code"
printf '%s\n' "$said" | grep -Eq {failure} && exit 1
exit 0
)sh";

constexpr std::string_view kMinimizeScript = R"sh(#!/bin/sh
# Reduces the graph to a small one that still fails: small.recut.
cd "$(dirname "$0")" || exit 2
exec "${{RECUT:-recut}}" minimize {words} --out small.recut --check 'sh ./holds.sh {{}}{tensors}' "$@"
)sh";

constexpr std::string_view kDriverScript = R"sh(#!/bin/sh
# Compiles the planned step for C, and runs it once on the same inputs. CC names the compiler.
cd "$(dirname "$0")" || exit 2
"${{RECUT:-recut}}" compile {words} || exit
"${{CC:-cc}}" -std=c11 -O1 -I. driver.c ./graph.so -lm -o driver && exec ./driver
)sh";

constexpr std::string_view kBundleReadme = R"(# Debug bundle of {graph}

Written by Recut {version}. The graph's digest is {digest}.
{finding}
## Run it again

| command | program |
|---|---|
| `sh run.sh` | `recut {words}` |
| `sh driver.sh` | the planned step as a C library, and driver.c, which runs it once |
| `python3 run.py` | the same calls in PyTorch |

`RECUT=FILE` names the command where it isn't in `PATH`. `run.sh` passes its arguments on:
`sh run.sh --out-tensors outputs.safetensors` writes the outputs, with which run.py compares its own.

## Make it smaller

1. `sh minimize.sh` finds a small graph that fails in the same way, small.recut, and its inputs, small.safetensors.
2. `sh holds.sh small.recut small.safetensors` has exit code 1 as long as it fails. Edit small.recut by hand, and try again.
3. `recut bisect {reference} --seed {seed}` finds the pass that changes outputs, if one does.

## Inputs

{inputs}
{values}
## Files

| file | contents |
|---|---|
| {graph_file} | the graph that was planned, after the passes |
| passes/ | the graph as it was read, and after each pass that changed it |
| plan.json, plan.txt | the plan |
| schedule.json, schedule.txt | kernels in order, and the address of each buffer |
| code/ | launches and kernels: loops, LLVM IR, WebAssembly, CUDA |
{notes})";

// The words for a shell, with one of them replaced by text that the shell expands.
std::string shell_line(const std::vector<std::string>& words, std::string_view replaced = {},
                       std::string_view by = {}) {
  std::string line;
  for (const std::string& word : words)
    line += (line.empty() ? "" : " ") +
            (word == replaced && !by.empty() ? std::string(by) : shell_word(word));
  return line;
}

class BundleWriter {
 public:
  BundleWriter(const Document& document, const DebugRequest& request)
      : document_(document), request_(request), graph_(document.graph()) {
    bundle_.notes = request.notes;
    bundle_.files = request.more;
  }

  Result<DebugBundle> write() {
    if (request_.with_data)
      if (auto done = take_data(); !done) return done.diagnostics();
    add_graphs();
    add_plan();
    add_programs();
    if (!request_.profile.empty()) add(kBundleProfile, request_.profile);
    add("README.md", readme());
    std::sort(bundle_.files.begin(), bundle_.files.end(),
              [](const BundleFile& a, const BundleFile& b) { return a.path < b.path; });
    return std::move(bundle_);
  }

 private:
  void add(std::string path, std::string bytes, bool executable = false) {
    bundle_.files.push_back({std::move(path), std::move(bytes), executable});
  }
  void note(std::string text) { bundle_.notes.push_back(std::move(text)); }

  // Every input's value, drawn or given, and the given outputs.
  Result<Done> take_data() {
    const auto inputs = inputs_from(graph_, request_.given, request_.seed);
    if (!inputs) return inputs.diagnostics();
    std::deque<std::string> bytes;
    std::vector<NamedTensor> tensors;
    for (const auto& [id, value] : *inputs)
      tensors.push_back({"in." + graph_.node_name(id), value.dtype, value.shape,
                         bytes.emplace_back(bytes_of(value))});
    for (const NamedTensor& tensor : request_.given)
      if (tensor.name.starts_with("out.") || tensor.name.starts_with("grad."))
        tensors.push_back(tensor);
    data_ = write_safetensors(tensors);
    add(kBundleData, data_);
    return Done{};
  }

  void add_graphs() {
    add(kBundleGraph, print(graph_));
    add(kBundleGraphAsRead, print(document_.passes.input));
    for (std::size_t number = 1; number <= document_.passes.passes.size(); ++number) {
      const PassReport& pass = document_.passes.passes[number - 1];
      if (pass.changed) add(bundle_graph_path(document_, number), print(pass.graph));
    }
  }

  void add_plan() {
    const auto scheduled = schedule_document(document_, request_.scheduling);
    if (!scheduled) return note("no plan: " + scheduled.diagnostics().front().message);
    add("plan.json", plan_file_json(graph_, scheduled->planned));
    add("plan.txt", plan_text(scheduled->planned.report));
    add("schedule.json", schedule_json(document_, *scheduled, true));
    add("schedule.txt", scheduling_text(document_, *scheduled));
    if (!scheduled->holds()) note("the plan exceeds its budget: run refuses it");
    for (const Target& target : targets()) {
      const auto program = program_for(target, document_, *scheduled);
      if (!program) return note("no code: " + program.diagnostics().front().message);
      add(fmt::format("code/step{}", target.extension), code_of(target, graph_, *program));
    }
  }

  void add_programs() {
    const auto script = [&](const char* path, std::string text) {
      add(path, std::move(text), true);
    };
    const std::vector<std::string>& words = request_.rerun.words;
    script("run.sh", fmt::format(kRunScript, fmt::arg("words", shell_line(words))));
    script("holds.sh",
           fmt::format(kHoldsScript,
                       fmt::arg("words", shell_line(without_tensors(words), words[1], "\"$1\"")),
                       fmt::arg("tensors", holds_tensors()),
                       fmt::arg("failure", shell_word(request_.rerun.failure))));
    script("minimize.sh",
           fmt::format(kMinimizeScript, fmt::arg("words", shell_line(minimize_words())),
                       fmt::arg("tensors", reads_values() ? " {tensors}" : "")));
    script("driver.sh", fmt::format(kDriverScript, fmt::arg("words", shell_line(compile_words()))));
    auto driver = c_driver(graph_, request_.seed, data_, kBundleData);
    RECUT_CHECK(driver.ok(), "the file of inputs is this writer's own");
    add("driver.c", std::move(*driver));
    TorchProgram torch = torch_program(graph_, {request_.seed, data_.empty() ? "" : kBundleData});
    add("run.py", std::move(torch.text), true);
    for (const std::string& line : torch.notes) note("run.py: " + line);
  }

  static std::vector<std::string> without_tensors(std::vector<std::string> words) {
    const auto at = std::find(words.begin(), words.end(), "--tensors");
    if (at != words.end()) words.erase(at, at + 2);
    return words;
  }

  // True if the command takes values of inputs, drawn or given. A bisection by a user's command
  // takes none.
  bool reads_values() const {
    const std::vector<std::string>& words = request_.rerun.words;
    return std::find(words.begin(), words.end(), "--seed") != words.end();
  }

  // The values of holds.sh: its second argument's, then the bundle's, such as expected outputs.
  std::string holds_tensors() const {
    if (!reads_values()) return "";
    const std::string given = "${2:+--tensors \"$2\"}";
    return data_.empty() ? given : fmt::format("{} --tensors {}", given, kBundleData);
  }

  // The graph and its inputs, as `recut minimize` takes them.
  std::vector<std::string> minimize_words() const {
    std::vector<std::string> words = {request_.rerun.words[1]};
    if (!reads_values()) return words;
    words.insert(words.end(), {"--seed", fmt::format("{}", request_.seed)});
    if (!data_.empty()) words.insert(words.end(), {"--tensors", kBundleData});
    return words;
  }

  // The plan's options, as `recut compile` takes them.
  std::vector<std::string> compile_words() const {
    std::vector<std::string> words = {kBundleGraph, "--no-passes", "--name",   kDriverPrefix,
                                      "-o",         "graph.so",    "--header", "graph.h"};
    const auto plan = plan_words(kCompileCommand, request_.scheduling.planning);
    words.insert(words.end(), plan.begin(), plan.end());
    return words;
  }

  std::string inputs_table() const {
    std::string text = "| input | kind | type | drawn within |\n|---|---|---|---|\n";
    for (const NodeId id : graph_.order()) {
      if (!graph_.op(id).is(kInput)) continue;
      const std::string kind =
          graph_.is_input(id) ? std::string(name_of(graph_.input_kind(id))) : "constant";
      const TensorType& type = graph_.type(id);
      const double bound = random_bound(graph_, id);
      text += fmt::format("| `{}` | {} | {} | {} |\n", graph_.node_name(id), kind, format(type),
                          is_floating(type.dtype) ? fmt::format("±{:.6g}", bound)
                          : bound > 0             ? "0 or 1"
                                                  : "0");
    }
    return text;
  }

  std::string values_text() const {
    if (!data_.empty())
      return fmt::format(
          "{} has all values. Those that the command wasn't given were drawn by the "
          "seed {}.\n",
          kBundleData, request_.seed);
    std::string text = fmt::format(
        "The bundle has no values. All three programs draw the same ones by the seed {}.\n",
        request_.seed);
    if (!request_.given.empty())
      text += "The command was given values, which are left out: `--with-data` puts them in.\n";
    return text;
  }

  std::string readme() const {
    std::string notes;
    for (const std::string& line : bundle_.notes) notes += "\n- " + line;
    if (!notes.empty()) notes = "\n## Notes\n" + notes + "\n";
    const std::string finding =
        request_.finding.empty() ? "" : "\n```\n" + request_.finding + "```\n";
    const std::string name = graph_.name.empty() ? std::string("a graph") : graph_.name;
    return fmt::format(
        kBundleReadme, fmt::arg("graph", name), fmt::arg("version", version()),
        fmt::arg("digest", graph_digest(graph_)), fmt::arg("finding", finding),
        fmt::arg("words", shell_line(request_.rerun.words)),
        fmt::arg("reference", bundle_graph_path(document_, reference_pass(document_))),
        fmt::arg("seed", request_.seed), fmt::arg("inputs", inputs_table()),
        fmt::arg("values", values_text()), fmt::arg("graph_file", kBundleGraph),
        fmt::arg("notes", notes));
  }

  const Document& document_;
  const DebugRequest& request_;
  const Graph& graph_;
  DebugBundle bundle_;
  std::string data_;  // the file of inputs; "": none
};

}  // namespace

std::size_t reference_pass(const Document& document) {
  const auto& passes = document.passes.passes;
  const auto made = std::find_if(passes.begin(), passes.end(), [&](const PassReport& pass) {
    return &pass.graph == &document.reference_graph();
  });
  return made == passes.end() ? 0 : static_cast<std::size_t>(made - passes.begin()) + 1;
}

std::string bundle_graph_path(const Document& document, std::size_t passes) {
  if (passes == 0) return kBundleGraphAsRead;
  return fmt::format("passes/{:02}-{}.recut", passes, document.passes.passes[passes - 1].name);
}

const BundleFile* DebugBundle::find(std::string_view path) const {
  const auto file =
      std::find_if(files.begin(), files.end(), [&](const BundleFile& f) { return f.path == path; });
  return file == files.end() ? nullptr : &*file;
}

Result<DebugBundle> debug_bundle(const Document& document, const DebugRequest& request) {
  return BundleWriter(document, request).write();
}

}  // namespace recut
