// The passes that the command line asks for: --passes, --stage, --with, --rules and their shared
// code.
#include <fmt/core.h>

#include <algorithm>

#include "engine/cost/device_profile.h"
#include "engine/input/bytes.h"
#include "engine/passes/channels_last.h"
#include "engine/passes/pad_mm.h"
#include "engine/passes/rule_pass.h"
#include "engine/rewrite/rule_text.h"
#include "engine/workspace/cost_model.h"
#include "native/commands/command.h"
#include "native/commands/plan_arguments.h"

namespace recut::native {
namespace {

// Parses --rules FILE, before:STAGE=FILE or after:STAGE=FILE.
struct RulesArgument {
  std::string path;
  std::optional<std::pair<Stage, StageEdge>> where;  // none: the pass `rules`
};

Result<RulesArgument> parse_rules_argument(const std::string& text) {
  for (const auto& [when, prefix] : {std::pair{StageEdge::before, std::string("before:")},
                                     {StageEdge::after, std::string("after:")}}) {
    const std::size_t equals = text.find('=');
    if (!text.starts_with(prefix)) continue;
    if (equals == std::string::npos)
      return error(fmt::format("--rules {}: expected '=' and a file after the stage", text));
    const auto stages = parse_stages(text.substr(prefix.size(), equals - prefix.size()));
    if (!stages) return stages.diagnostics();
    if (stages->size() != 1)
      return error(fmt::format("--rules {}: expected one stage after '{}'", text, prefix));
    return RulesArgument{text.substr(equals + 1), std::pair{stages->front(), when}};
  }
  return RulesArgument{text, std::nullopt};
}

bool contains(const std::vector<Stage>& stages, Stage stage) {
  return std::find(stages.begin(), stages.end(), stage) != stages.end();
}

bool has_pass(Stage stage, std::string_view name) {
  const auto passes = info_of(stage).passes;
  return std::any_of(passes.begin(), passes.end(),
                     [&](const StagePass& pass) { return pass.name == name; });
}

}  // namespace

void GraphArguments::add_passes_to(CLI::App& command) {
  const char* usual = runs_all_passes ? "the stage's passes"
                      : no_passes     ? "none"
                                      : "the stage's passes; none for joint_after_passes";
  auto* list =
      command
          .add_option("--passes", passes,
                      fmt::format("Run these passes, in this order: a,b,c (default: {})", usual))
          ->type_name("LIST");
  auto* none =
      command
          .add_flag("--no-passes", no_passes, "Run no passes: take the graph as it is in the file")
          ->excludes(list);
  command
      .add_option("--stage", stages,
                  fmt::format("Run the passes of these stages, in this order: pre-grad, joint, "
                              "post-grad, freezing (default: {})",
                              info_of(default_stage).name))
      ->type_name("LIST")
      ->excludes(list)
      ->excludes(none);
  command
      .add_flag("--inexact", inexact,
                "Also run inexact passes, each at its place in the stages: they may change the low "
                "bits of results")
      ->excludes(list)
      ->excludes(none);
  command
      .add_option("--with", with,
                  "Also run these passes, each at its place in the stages: a,b,c. Use it for "
                  "passes that run only by name")
      ->type_name("LIST")
      ->excludes(list)
      ->excludes(none);
  command
      .add_option("--rules", rules,
                  "Also run this file's rules after the other passes, or as pass 'rules' of "
                  "--passes (engine/rewrite/README.md). before:STAGE=FILE and after:STAGE=FILE "
                  "choose another place; may be given again")
      ->allow_extra_args(false)
      ->type_name("FILE")
      ->excludes(none);
  command.add_option("--skip", skip, "Leave out these passes: a,b")->type_name("LIST");
  command.add_option("--stop-at", stop_at, "Run only the first N passes (default: all)")
      ->type_name("N")
      ->check(CLI::NonNegativeNumber);
}

void GraphArguments::add_device_to(CLI::App& command) {
  command
      .add_option("--device", device,
                  "Device profile for passes that compare costs, such as pad_mm: a name, "
                  "calibrated, or a path (default: reference)")
      ->transform(calibrated_by_name())
      ->type_name("PROFILE");
}

GraphArguments GraphArguments::for_gpu(const std::optional<Device>& device,
                                       std::string_view without) const {
  GraphArguments graph = *this;
  graph.gpu = device;
  if (!without.empty()) graph.skip += (graph.skip.empty() ? "" : ",") + std::string(without);
  return graph;
}

RunnerOptions GraphArguments::runner_options() const {
  RunnerOptions options;
  if (!skip.empty()) options.skip = split_pass_names(skip);
  if (stop_at >= 0) options.stop_at = static_cast<std::size_t>(stop_at);
  return options;
}

// The stages of --stage, or the default one where passes run at all. A list of passes, and a file
// already processed by PyTorch's passes, have none.
Result<std::vector<Stage>> GraphArguments::named_stages(const GraphFile& file) const {
  auto named = parse_stages(stages);
  if (!named) return named;
  const bool placed = std::any_of(rules.begin(), rules.end(), [](const std::string& text) {
    return text.starts_with("before:") || text.starts_with("after:");
  });
  const bool wanted = runs_all_passes || placed || inexact || !with.empty() ||
                      (!no_passes && !stage_passes_for(file, {}, false).empty());
  if (named->empty() && passes.empty() && wanted) named->push_back(default_stage);
  if (post_grad_later && !contains(*named, Stage::post_grad)) named->push_back(Stage::post_grad);
  if (freeze) named = with_freezing(std::move(*named));
  for (const Stage stage : *named)
    if (auto fits = check_stage(stage, file.graph); !fits) {
      Diagnostics faults = fits.diagnostics();
      for (Diagnostic& fault : faults) fault.file = path;
      return faults;
    }
  return named;
}

// These stages, with the additions of `with` and `rules`.
Result<Pipeline> GraphArguments::pipeline(std::vector<Stage> run) const {
  Pipeline made;
  made.stages = std::move(run);
  made.inexact = inexact;
  made.with = split_pass_names(with);
  const auto add = [&](std::string_view name) {
    if (std::any_of(made.stages.begin(), made.stages.end(),
                    [&](Stage stage) { return has_pass(stage, name); }))
      made.with.emplace_back(name);
  };
  if (gpu) add("pad_mm");
  if (gpu || (processor_library && freeze)) add("channels_last");
  if (processor_library && freeze && inexact) add("convolution_epilogues");
  if (gpu && inexact && contains(made.stages, Stage::joint)) made.with.emplace_back("epilogues");
  for (const std::string& text : rules) {
    const auto argument = parse_rules_argument(text);
    if (!argument) return argument.diagnostics();
    if (!argument->where) continue;
    const auto [stage, when] = *argument->where;
    auto read = read_rules(argument->path);
    if (!read) return read.diagnostics();
    Pass pass = rules_pass(std::move(*read));
    pass.name = name_of(stage, when);
    made.custom.push_back({stage, when, std::move(pass)});
  }
  return made;
}

// Adds passes that decide by a device's figures, for the named device.
Result<Done> GraphArguments::add_device_passes(RunnerOptions& options) const {
  if (gpu) options.more = {pad_mm_pass(*gpu), channels_last_pass(*gpu)};
  if (processor_library) options.more = {channels_last_on_processor_pass()};
  if (gpu || device.empty() || device == kMeasuredDevice) return Done{};
  const auto profile = find_device(device);
  if (!profile) return profile.diagnostics();
  options.more = {pad_mm_pass(*profile), channels_last_pass(*profile)};
  return Done{};
}

// The stages in order. If a plan comes between, either the stages before it or those after it.
Result<ChosenPasses> GraphArguments::stage_passes(const GraphFile& file,
                                                  bool after_partition) const {
  auto run = named_stages(file);
  if (!run) return run.diagnostics();
  const auto made = pipeline(std::move(*run));
  if (!made) return made.diagnostics();
  ChosenPasses chosen{{}, runner_options()};
  if (const auto added = add_device_passes(chosen.options); !added) return added.diagnostics();
  const auto runs = stage_runs(*made, chosen.options);
  if (!runs) return runs.diagnostics();
  for (const StageRun& stage : *runs)
    if (after_partition == (post_grad_later && stage.stage == Stage::post_grad))
      chosen.names.insert(chosen.names.end(), stage.names.begin(), stage.names.end());
  return chosen;
}

Result<ChosenPasses> GraphArguments::post_grad_passes(const GraphFile& file) const {
  auto chosen = stage_passes(file, true);
  if (chosen) chosen->options.stop_at.reset();
  return chosen;
}

Result<ChosenPasses> GraphArguments::chosen_passes(const GraphFile& file) const {
  auto staged = stage_passes(file, false);
  if (!staged) return staged;
  ChosenPasses chosen = std::move(*staged);
  const auto listed = split_pass_names(passes);
  chosen.names.insert(chosen.names.begin(), listed.begin(), listed.end());
  for (const std::string& text : rules) {
    const auto argument = parse_rules_argument(text);
    if (!argument || argument->where) continue;
    const auto& more = chosen.options.more;
    if (std::any_of(more.begin(), more.end(), [](const Pass& p) { return p.name == kRulesPass; }))
      return error("--rules: one file alone may run without a stage before or after which it does");
    auto read = read_rules(argument->path);
    if (!read) return read.diagnostics();
    chosen.options.more.push_back(rules_pass(std::move(*read)));
    insert_rules_pass(chosen.names);
  }
  return chosen;
}

Result<std::shared_ptr<const RuleSet>> read_rules(const std::string& path) {
  const auto bytes = read_file(path);
  if (!bytes) return bytes.diagnostics();
  auto rules = parse_rules(*bytes, path);
  if (!rules) return rules.diagnostics();
  return std::make_shared<const RuleSet>(std::move(*rules));
}

}  // namespace recut::native
