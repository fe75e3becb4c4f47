#include "engine/workspace/rerun.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "engine/cost/device_profile.h"
#include "engine/input/bytes.h"
#include "engine/passes/pass_runner.h"

namespace recut {
namespace {

void add_words(std::vector<std::string>& words, const std::vector<std::string>& more) {
  words.insert(words.end(), more.begin(), more.end());
}

// Puts the profile into the bundle, and returns the words that name it there.
Result<std::vector<std::string>> profile_words(const PlanCommand& command,
                                               const std::string& profile, DebugRequest& request) {
  if (profile.empty()) return std::vector<std::string>{};
  if (profile == kMeasuredDevice) {
    request.notes.emplace_back(
        "the plan was priced by the file's own times, which the bundle lacks");
    return std::vector<std::string>{};
  }
  for (const BuiltinProfile& builtin : builtin_profiles())
    if (profile == builtin.name) return std::vector<std::string>{command.profile, profile};
  auto bytes = read_file(profile);
  if (!bytes) return bytes.diagnostics();
  request.profile = std::move(*bytes);
  return std::vector<std::string>{command.profile, kBundleProfile};
}

// Ends a rerun of a plan: its options, its profile, `more`, and its seed.
Result<Done> add_plan(DebugRequest& request, const PlanCommand& command, const std::string& profile,
                      const std::vector<std::string>& more) {
  std::vector<std::string>& words = request.rerun.words;
  request.rerun.failure = kFailedRun;
  add_words(words, plan_words(command, request.scheduling.planning));
  const auto priced = profile_words(command, profile, request);
  if (priced) add_words(words, *priced);
  add_words(words, more);
  add_words(words, {"--seed", fmt::format("{}", request.seed)});
  if (!priced) return priced.diagnostics();
  return Done{};
}

}  // namespace

std::vector<std::string> plan_words(const PlanCommand& command, const PlanningRequest& request) {
  std::vector<std::string> words;
  const PlanningRequest usual;
  const auto add = [&](const char* option, const std::string& value) {
    words.insert(words.end(), {option, value});
  };
  if (request.strategy != usual.strategy) add("--strategy", request.strategy);
  if (request.budget != usual.budget) add("--budget", request.budget);
  if (request.cost_model != command.cost_model) add("--model", request.cost_model);
  const SearchLimits& limits = request.limits;
  if (limits.effort != usual.limits.effort) add("--effort", fmt::format("{}", limits.effort));
  if (limits.seconds != usual.limits.seconds) add("--seconds", fmt::format("{}", limits.seconds));
  if (limits.seed != usual.limits.seed) add("--search-seed", fmt::format("{}", limits.seed));
  for (const std::string& name : request.overrides.save) add("--save", name);
  for (const std::string& name : request.overrides.recompute) add("--recompute", name);
  if (request.overrides.ignore_checkpoints) words.emplace_back("--ignore-checkpoints");
  for (const std::string& setting : request.torch) add("--torch", setting);
  return words;
}

Result<Done> rerun_by_run(DebugRequest& request, const std::string& profile,
                          const std::vector<std::string>& more) {
  request.rerun.words = {kRunCommand.name, kBundleGraph, "--no-passes", "--check",
                         "--steps",        "1",          "--no-cache"};
  const auto done = add_plan(request, kRunCommand, profile, more);
  if (request.with_data) add_words(request.rerun.words, {"--tensors", kBundleData});
  return done;
}

Result<Done> rerun_by_eval(DebugRequest& request, const std::string& profile, bool check,
                           const std::vector<std::string>& more) {
  request.rerun.words = {kEvalCommand.name, kBundleGraph, "--no-passes"};
  if (check) request.rerun.words.emplace_back("--check");
  if (check || request.with_data) add_words(request.rerun.words, {"--tensors", kBundleData});
  if (check && !request.with_data)
    request.notes.push_back(fmt::format(
        "run.sh needs the expected outputs in {}: they are in a bundle with data", kBundleData));
  return add_plan(request, kEvalCommand, profile, more);
}

void rerun_by_bisect(DebugRequest& request, const Document& document) {
  const auto& reports = document.passes.passes;
  std::vector<std::string> passes, own;
  for (std::size_t i = reference_pass(document); i < reports.size(); ++i) {
    if (reports[i].skipped) continue;
    const std::vector<std::string> name = {reports[i].name};
    (find_passes(name) ? passes : own).push_back(reports[i].name);
  }
  if (!own.empty())
    request.notes.push_back(
        fmt::format("run.sh leaves out passes of this document alone: {}", fmt::join(own, ", ")));
  std::vector<std::string> check = {"--seed", fmt::format("{}", request.seed)};
  if (request.with_data) add_words(check, {"--tensors", kBundleData});
  rerun_by_bisect(request, bundle_graph_path(document, reference_pass(document)), passes, check);
}

void rerun_by_bisect(DebugRequest& request, const std::string& graph,
                     const std::vector<std::string>& passes,
                     const std::vector<std::string>& check) {
  request.rerun.words = {"bisect", graph};
  if (passes.empty())
    request.rerun.words.emplace_back("--no-passes");
  else
    add_words(request.rerun.words, {"--passes", fmt::format("{}", fmt::join(passes, ","))});
  add_words(request.rerun.words, check);
  request.rerun.failure = "^[^ ]+ is guilty";
}

}  // namespace recut
