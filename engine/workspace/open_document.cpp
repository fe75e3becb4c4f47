// Opens a file as a document, in steps of some milliseconds that a window can run between frames:
// the reader's steps, the expansion of an operator library's calls and of dual numbers, one pass
// after another, then the fold of weights where they are frozen.
// Passes come from the stages or from --passes; `grad`, `jvp` and `optimizer` stand in front of
// them where a step is made of a forward graph, and extra
// passes at their place in the table. The verifier runs on the graph as read and after each pass: a
// violation in the input is the file's fault, one after a pass an internal error.
#include "engine/workspace/open_document.h"

#include <fmt/core.h>

#include <algorithm>
#include <utility>

#include "engine/input/bytes.h"
#include "engine/ir/data_flow.h"
#include "engine/ir/verifier.h"
#include "engine/passes/pass_table.h"
#include "engine/passes/rule_pass.h"
#include "engine/support/text.h"
#include "engine/workspace/dual_document.h"
#include "engine/workspace/gradients.h"
#include "engine/workspace/op_library.h"

namespace recut {
namespace {

bool has(const std::vector<std::string>& names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

// The verifier's findings on a file's graph: invariants that the reader doesn't check.
Diagnostics invariant_violations(const Graph& graph, const std::string& file) {
  Diagnostics faults;
  for (const Failure& failure : verify(graph)) {
    const std::string node =
        failure.node.valid() ? fmt::format("node {}: ", quote(graph.node_name(failure.node))) : "";
    faults.push_back({node + failure.message, file, 0, 0});
  }
  return faults;
}

Diagnostics with_file_name(Diagnostics faults, const std::string& file) {
  for (Diagnostic& fault : faults)
    if (fault.file.empty()) fault.file = file;
  return faults;
}

// The pass's position in the pipeline; past its end for unknown ones.
std::size_t pipeline_position(std::string_view name) {
  const auto table = all_passes();
  const auto found =
      std::find_if(table.begin(), table.end(), [&](const Pass& pass) { return pass.name == name; });
  return static_cast<std::size_t>(found - table.begin());
}

// Inserts the pass before the first one that comes later in the pipeline.
void insert_in_pipeline_order(std::vector<std::string>& names, const std::string& name) {
  if (has(names, name)) return;
  const auto later = std::find_if(names.begin(), names.end(), [&](const std::string& other) {
    return pipeline_position(other) > pipeline_position(name);
  });
  names.insert(later, name);
}

}  // namespace

DocumentOpener::DocumentOpener(std::string_view bytes, std::string_view file_name,
                               OpenOptions options)
    : file_name_(file_name),
      options_(std::move(options)),
      reader_(bytes, file_name, options_.graph_key, options_.sizes) {}

bool DocumentOpener::step() {
  if (freezer_) return step_freezing();
  if (passes_) return step_passes();
  if (reader_.step()) return true;
  auto file = reader_.take();
  if (!file) return fail(file.diagnostics());
  return begin_passes(std::move(*file));
}

// The stages of the named passes. An extra pass has its position in the stage joint, or in the first
// one where that doesn't run.
std::vector<StageRun> DocumentOpener::stage_names() const {
  std::vector<StageRun> runs = options_.passes
                                   ? std::vector{StageRun{Stage::joint, *options_.passes}}
                                   : stages_for(*file_, options_.stages, options_.freeze);
  const auto joint = std::find_if(runs.begin(), runs.end(),
                                  [](const StageRun& run) { return run.stage == Stage::joint; });
  StageRun& extended = joint == runs.end() ? runs.front() : *joint;
  for (const std::string& name : options_.extra_passes)
    insert_in_pipeline_order(extended.names, name);
  if (options_.rules != nullptr) insert_rules_pass(runs.back().names);
  return runs;
}

std::vector<std::string> DocumentOpener::pass_names() {
  std::vector<std::string> names;
  for (const StageRun& run : stage_names()) {
    if (!options_.passes) stages_.push_back({run.stage, names.size()});
    names.insert(names.end(), run.names.begin(), run.names.end());
  }
  return names;
}

// The stages take the file's graph. Derivatives come before all passes, so that they leave nothing
// to the stage before derivatives.
Result<Done> DocumentOpener::check_stages() const {
  const auto named = options_.freeze ? with_freezing(options_.stages) : options_.stages;
  for (const Stage stage : named)
    if (auto fits = check_stage(stage, file_->graph); !fits) return fits;
  const bool early = std::find(named.begin(), named.end(), Stage::pre_grad) != named.end();
  if (early && (options_.differentiate || options_.training))
    return error(
        "stage pre-grad is for the graph before its derivatives, which are made before all "
        "passes: leave the stage out, or run it first by recut grad");
  return Done{};
}

bool DocumentOpener::begin_passes(GraphFile file) {
  file_ = std::move(file);
  if (auto fits = check_stages(); !fits)
    return fail(with_file_name(fits.diagnostics(), file_name_));
  if (options_.library != nullptr)
    if (auto expanded = expand_operators(*file_, *options_.library, file_name_); !expanded)
      return fail(expanded.diagnostics());
  if (auto expanded = expand_dual_numbers(*file_, file_name_); !expanded)
    return fail(expanded.diagnostics());
  std::vector<Pass> more = options_.runner.more;
  if (options_.rules != nullptr) more.push_back(rules_pass(options_.rules));
  const auto skipped = find_passes(options_.runner.skip, more);
  if (!skipped) return fail(skipped.diagnostics());
  auto passes = find_passes(pass_names(), more);
  if (!passes) return fail(passes.diagnostics());
  if (!add_step_passes(*passes))
    return fail(with_file_name(std::move(pass_state_->faults), file_name_));
  passes_.emplace(file_->graph, std::move(*passes), options_.runner);
  return true;
}

// Puts the passes that create the step in front: `jvp`, or `grad`, for the loss alone in training,
// and `optimizer`. False if forward mode can't be had, or training finds no loss.
bool DocumentOpener::add_step_passes(std::vector<Pass>& passes) {
  std::vector<Pass> step_passes;
  const bool trained = options_.training.has_value();
  if (options_.differentiate == GradMode::forward) {
    auto possible = check_forward_mode(file_->graph, trained);
    if (!possible) pass_state_->faults = possible.diagnostics();
    if (!possible) return false;
    differentiated_ = GradMode::forward;
    step_passes.push_back(jvp_pass(pass_state_));
  } else if ((options_.differentiate || trained) && !is_joint(file_->graph)) {
    differentiated_ = GradMode::reverse;
    GradOptions gradients;
    if (trained) {
      const auto loss = find_loss(file_->graph, options_.training->loss);
      if (!loss) pass_state_->faults = loss.diagnostics();
      if (!loss) return false;
      gradients.differentiable = std::vector{*loss};
    }
    step_passes.push_back(gradient_pass(pass_state_, std::move(gradients)));
  }
  if (trained)
    step_passes.push_back(
        optimizer_pass(pass_state_, options_.training->optimizer, options_.training->loss));
  passes.insert(passes.begin(), step_passes.begin(), step_passes.end());
  for (StageBegin& stage : stages_) stage.pass += step_passes.size();
  return true;
}

bool DocumentOpener::step_passes() {
  const bool more = passes_->step();
  if (!pass_state_->faults.empty())
    return fail(with_file_name(std::move(pass_state_->faults), file_name_));
  return more || (options_.freeze && begin_freezing());
}

bool DocumentOpener::begin_freezing() {
  auto document = document_of_passes();
  if (!document) return fail(document.diagnostics());
  document_ = std::move(*document);
  freezer_.emplace(*document_, options_.weights);
  return true;
}

bool DocumentOpener::step_freezing() {
  if (freezer_->step()) return true;
  if (auto done = freezer_->finish(); !done)
    return fail(with_file_name(done.diagnostics(), file_name_));
  return false;
}

bool DocumentOpener::fail(Diagnostics faults) {
  faults_ = std::move(faults);
  return false;
}

Result<Document> DocumentOpener::take() {
  if (!faults_.empty()) return faults_;
  return document_ ? std::move(*document_) : document_of_passes();
}

Result<Document> DocumentOpener::document_of_passes() {
  PipelineReport report = passes_->take();
  if (report.failure && report.failure->pass == "input")
    return invariant_violations(report.input, file_name_);
  if (report.failure)
    return Diagnostic{
        fmt::format("internal error: pass '{}' {}", report.failure->pass, report.failure->message),
        file_name_, 0, 0};
  Document document{std::move(*file_), std::move(report), differentiated_, pass_state_->loss};
  document.stages = std::move(stages_);
  return document;
}

Result<Document> open_document_bytes(std::string_view bytes, std::string_view file_name,
                                     const OpenOptions& options) {
  DocumentOpener opener(bytes, file_name, options);
  while (opener.step()) {
  }
  return opener.take();
}

Result<Document> open_document_graph(GraphFile file, std::string_view file_name,
                                     const OpenOptions& options) {
  DocumentOpener opener("", file_name, options);
  bool more = opener.begin_passes(std::move(file));
  while (more) more = opener.step();
  return opener.take();
}

Result<Document> open_document(const std::string& path, const OpenOptions& options) {
  const auto bytes = read_graph_file_bytes(path);
  if (!bytes) return bytes.diagnostics();
  return open_document_bytes(*bytes, path, options);
}

}  // namespace recut
