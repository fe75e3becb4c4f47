#include "engine/passes/stages.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "engine/passes/pass_runner.h"
#include "engine/passes/pass_table.h"
#include "engine/passes/runner.h"
#include "engine/support/check.h"

namespace recut {
namespace {

// The table of stages. A pass may belong to several. Within a stage, a pass precedes the passes
// that its result enables: canonical forms and folding first, then pattern matching (attention),
// then choices for a device, cleanup last.
constexpr RunCondition kInexact = RunCondition::inexact;
constexpr RunCondition kOptIn = RunCondition::opt_in;

constexpr StagePass kPreGrad[] = {
    {"expand_flex_attention"},
    {"inline_regions"},
    {"canonicalize"},
    {"conv_bn_eval", kOptIn},
    {"constant_folding", kOptIn},
    {"splat_constants"},
    {"noop_removal"},
    {"merge_casts"},
    {"random_seeds", kOptIn},
    {"view_chains"},
    {"attention", kInexact},
    {"triangular_masks", kInexact},
    {"attention_masks", kInexact},
    {"merge_clones"},
    {"dead_code"},
};
constexpr StagePass kJoint[] = {
    {"expand_flex_attention"},
    {"inline_regions"},
    {"complex_parts"},
    {"canonicalize"},
    {"constant_folding", kOptIn},
    {"splat_constants"},
    {"noop_removal"},
    {"merge_casts"},
    {"elide_rounding_casts", kInexact},
    {"scatter_of_full"},
    {"slice_backward_to_pad"},
    {"randperm_indices"},
    {"random_seeds", kOptIn},
    {"batch_of_one"},
    {"split_convolution_backward"},
    {"view_chains"},
    {"attention", kInexact},
    {"triangular_masks", kInexact},
    {"attention_masks", kInexact},
    {"scaled_softmax", kInexact},
    {"horizontal_matmul_fusion", kOptIn},
    {"epilogues", kOptIn},
    {"pad_mm", kOptIn},
    {"channels_last", kOptIn},
    {"decompositions", kOptIn},
    {"merge_clones"},
    {"dead_code"},
};
constexpr StagePass kPostGrad[] = {
    {"canonicalize"},
    {"constant_folding", kOptIn},
    {"splat_constants"},
    {"noop_removal"},
    {"merge_casts"},
    {"view_chains"},
    {"horizontal_matmul_fusion", kOptIn},
    {"pad_mm", kOptIn},
    {"decompositions", kOptIn},
    {"merge_clones"},
    {"dead_code"},
};
// binary_folding may create work for conv_bn_folding: two rounds (Inductor has four). dead_code
// then removes their leftovers, which horizontal_matmul_fusion would otherwise fuse.
constexpr StagePass kFreezing[] = {
    {"canonicalize"},
    {"quantized_products"},
    {"conv_bn_folding"},
    {"binary_folding"},
    {"conv_bn_folding"},
    {"binary_folding"},
    {"dead_code"},
    {"horizontal_matmul_fusion"},
    {"prepacked_weights"},
    {"pad_mm", kOptIn},
    {"convolution_epilogues", kOptIn},
    {"dead_code"},
};

constexpr StageInfo kStages[] = {
    {Stage::pre_grad, "pre-grad", "forward graph, before `recut grad` differentiates it", kPreGrad},
    {Stage::joint, "joint",
     "joint graph of forward and backward before planning, or an inference graph", kJoint},
    {Stage::post_grad, "post-grad",
     "partitioned graph of a plan, forward or backward, before code generation", kPostGrad},
    {Stage::freezing, "freezing", "inference graph with fixed parameters", kFreezing},
};

template <class List, class Item>
bool contains(const List& list, const Item& item) {
  return std::find(list.begin(), list.end(), item) != list.end();
}

Diagnostics faults_of_with(const Pipeline& pipeline) {
  std::vector<std::string_view> known;
  for (const Stage stage : pipeline.stages)
    for (const StagePass& pass : info_of(stage).passes)
      if (!contains(known, pass.name)) known.push_back(pass.name);
  Diagnostics faults;
  for (const std::string& name : pipeline.with)
    if (!contains(known, name))
      faults.push_back(
          error(fmt::format("unknown pass '{}' in the stages that run, expected one of {}", name,
                            fmt::join(known, ", "))));
  return faults;
}

Diagnostics faults_of_custom(const Pipeline& pipeline, std::span<const Pass> more) {
  Diagnostics faults;
  std::vector<std::string_view> taken;
  for (const Pass& pass : more) taken.push_back(pass.name);
  for (const CustomPass& custom : pipeline.custom) {
    const std::string_view name = custom.pass.name;
    if (!contains(pipeline.stages, custom.stage))
      faults.push_back(error(fmt::format("'{}' is to run at stage {}, which doesn't run", name,
                                         info_of(custom.stage).name)));
    if (find_pass(name) != nullptr || contains(taken, name))
      faults.push_back(error(fmt::format("there is a pass '{}' already", name)));
    taken.push_back(name);
  }
  return faults;
}

bool runs_in(const Pipeline& pipeline, const StagePass& pass) {
  return pass.runs == RunCondition::always ||
         (pass.runs == RunCondition::inexact && pipeline.inexact) ||
         contains(pipeline.with, pass.name);
}

void add_custom(const Pipeline& pipeline, Stage stage, StageEdge when, StageRun& run) {
  for (const CustomPass& custom : pipeline.custom)
    if (custom.stage == stage && custom.when == when) run.names.emplace_back(custom.pass.name);
}

}  // namespace

std::span<const StageInfo> all_stages() { return kStages; }

std::string_view name_of(Stage stage, StageEdge when) {
  static constexpr std::string_view kNames[][2] = {{"before:pre-grad", "after:pre-grad"},
                                                   {"before:joint", "after:joint"},
                                                   {"before:post-grad", "after:post-grad"},
                                                   {"before:freezing", "after:freezing"}};
  return kNames[static_cast<std::size_t>(stage)][static_cast<std::size_t>(when)];
}

Result<Done> check_stage(Stage stage, const Graph& graph) {
  const auto is_tangent = [&](NodeId id) { return graph.input_kind(id) == InputKind::tangent; };
  const auto inputs = graph.inputs();
  const bool gradients = std::any_of(graph.gradients.begin(), graph.gradients.end(),
                                     [](NodeId id) { return id.valid(); });
  const bool backward = gradients || std::any_of(inputs.begin(), inputs.end(), is_tangent);
  if (backward && stage == Stage::pre_grad)
    return error("stage pre-grad is for forward graphs: this one has its gradients already");
  if (backward && stage == Stage::freezing)
    return error("stage freezing is for inference: a graph with gradients changes its parameters");
  return Done{};
}

const StageInfo& info_of(Stage stage) { return kStages[static_cast<std::size_t>(stage)]; }

Result<std::vector<Stage>> parse_stages(std::string_view list) {
  std::vector<Stage> stages;
  Diagnostics faults;
  for (const std::string& name : split_pass_names(list)) {
    const auto it = std::find_if(std::begin(kStages), std::end(kStages),
                                 [&](const StageInfo& info) { return info.name == name; });
    if (it == std::end(kStages)) {
      std::vector<std::string_view> names;
      for (const StageInfo& info : kStages) names.push_back(info.name);
      faults.push_back(error(
          fmt::format("unknown stage '{}', expected one of {}", name, fmt::join(names, ", "))));
    } else if (contains(stages, it->stage)) {
      faults.push_back(error(fmt::format("stage '{}' is named twice", name)));
    } else {
      stages.push_back(it->stage);
    }
  }
  if (!faults.empty()) return faults;
  return stages;
}

std::string stages_text(const std::vector<Stage>& stages) {
  std::vector<std::string_view> names;
  for (const Stage stage : stages) names.push_back(info_of(stage).name);
  return fmt::format("{}", fmt::join(names, ","));
}

std::vector<Stage> with_freezing(std::vector<Stage> stages) {
  if (!contains(stages, Stage::freezing)) stages.push_back(Stage::freezing);
  return stages;
}

Result<std::vector<StageRun>> stage_runs(const Pipeline& pipeline, RunnerOptions& options) {
  Diagnostics faults = faults_of_with(pipeline);
  for (Diagnostic& fault : faults_of_custom(pipeline, options.more))
    faults.push_back(std::move(fault));
  if (!faults.empty()) return faults;

  std::vector<StageRun> runs;
  for (const Stage stage : pipeline.stages) {
    StageRun& run = runs.emplace_back(StageRun{stage, {}});
    add_custom(pipeline, stage, StageEdge::before, run);
    for (int round = 0; round < (pipeline.inexact ? 2 : 1); ++round)
      for (const StagePass& pass : info_of(stage).passes)
        if (runs_in(pipeline, pass)) run.names.emplace_back(pass.name);
    add_custom(pipeline, stage, StageEdge::after, run);
  }
  for (const CustomPass& custom : pipeline.custom) options.more.push_back(custom.pass);
  return runs;
}

Result<std::vector<std::string>> pipeline_names(const Pipeline& pipeline, RunnerOptions& options) {
  auto runs = stage_runs(pipeline, options);
  if (!runs) return runs.diagnostics();
  std::vector<std::string> names;
  for (const StageRun& run : *runs) names.insert(names.end(), run.names.begin(), run.names.end());
  return names;
}

std::vector<std::string> inexact_passes() {
  const Pipeline pipeline{{Stage::joint}, {}, {}, true};
  RunnerOptions options;
  auto names = pipeline_names(pipeline, options);
  RECUT_CHECK(names.ok(), "a stage alone has no custom pass that could be wrong");
  return std::move(*names);
}

}  // namespace recut
