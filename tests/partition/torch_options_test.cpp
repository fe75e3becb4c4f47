// Strategy torch under its options, beside the choices of PyTorch 2.11 that
// tests/pytorch/partition_options.py asked for and the folder torch_options keeps.
#include "engine/partition/torch_options.h"

#include <fmt/core.h>

#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <map>
#include <nlohmann/json.hpp>
#include <utility>

#include "engine/input/bytes.h"
#include "engine/input/graph_file_reader.h"
#include "tests/partition/graphs.h"
#include "tests/partition/torch_choice.h"
#include "tests/paths.h"

namespace recut {
namespace {

using OptionsJson = nlohmann::json;

OptionsJson kept_choices(const std::string& name) {
  const auto packed =
      read_file(RECUT_SOURCE_DIR "/tests/partition/torch_options/" + name + ".json.gz");
  REQUIRE(packed.ok());
  const auto text = gunzip(*packed);
  REQUIRE(text.ok());
  return OptionsJson::parse(*text);
}

// PyTorch's settings as they stand in the file.
TorchOptions options_of(const OptionsJson& json) {
  std::vector<std::string> settings;
  for (const auto& [name, value] : json.items()) {
    std::string text;
    if (value.is_boolean()) text = value.get<bool>() ? "True" : "False";
    if (value.is_string()) text = value.get<std::string>();
    if (value.is_array())
      for (const OptionsJson& item : value)
        text += (text.empty() ? "" : ",") + item.get<std::string>();
    settings.push_back(name + "=" + text);
  }
  auto options = read_torch_options(settings);
  INFO((options ? std::string() : format(options.diagnostics())));
  REQUIRE(options.ok());
  return std::move(*options);
}

using SavedStorages = std::vector<StorageId>;

// The storages that strategy torch saves; estimator `profile` takes the file's measured times.
SavedStorages chosen(const Graph& graph, const StorageModel& storages, double budget,
                     const TorchOptions& options) {
  PlanRequest request{"torch", SavedFraction{budget}};
  request.torch = options;
  request.rates.measured = true;
  const auto outcome = make_plan(graph, request);
  INFO((outcome ? std::string() : format(outcome.diagnostics())));
  REQUIRE(outcome.ok());
  return saved_storages(storages, outcome->plan);
}

SavedStorages chosen_by_pytorch(const Graph& graph, const StorageModel& storages,
                                const OptionsJson& choice) {
  TorchPartition partition;
  partition.saved = choice["saved"].get<std::vector<std::string>>();
  return saved_storages(storages, plan_of(graph, partition));
}

constexpr const char* kModels[] = {"perceptron", "gpt",      "sdpa",  "dropout",
                                   "gated",      "residual", "chain", "cells"};

// Only solver `ilp` may differ: PyTorch's is HiGHS, which stops within a ten-thousandth of the best
// choice and takes any of equals. Ours is exact (knapsack_test.cpp compares their values).
TEST_CASE("torch: saves PyTorch's storages under each option", "[partition]") {
  for (const char* model : kModels) {
    const OptionsJson json = kept_choices(model);
    const auto file = read_graph_file(
        std::string(RECUT_SOURCE_DIR "/tests/partition/torch_options/") + model + ".json.gz",
        "joint_after_passes");
    REQUIRE(file.ok());
    const StorageModel storages(file->graph);
    std::size_t same = 0, others = 0;
    for (const OptionsJson& choice : json["partitions"]) {
      const TorchOptions options = options_of(choice["options"]);
      const double budget = choice["budget"];
      INFO(model << " at budget " << budget << " by " << choice["options"].dump());
      const bool agrees = chosen(file->graph, storages, budget, options) ==
                          chosen_by_pytorch(file->graph, storages, choice);
      if (options.solver != KnapsackSolver::ilp) CHECK(agrees);
      ++(agrees ? same : others);
    }
    INFO(model << ": " << same << " agree, " << others << " of solver ilp don't");
    CHECK(same >= 140);
    CHECK(others <= 16);
  }
}

// The choices without options, or those without any rule: a rule that is on alone is seen there.
OptionsJson compared_options(const OptionsJson& options) {
  OptionsJson no_rules = OptionsJson::object();
  for (const auto& [name, value] : options.items())
    if (value.is_boolean() && name.rfind("ban_", 0) == 0) no_rules[name] = false;
  return no_rules.size() == 5 && no_rules != options ? no_rules : OptionsJson::object();
}

// Otherwise the comparison above would say nothing of that option. The nodes that the rule of long
// chains alone would save here are saved by other rules, too.
TEST_CASE("torch: each option changes one of PyTorch's choices", "[partition]") {
  std::map<std::string, bool> changes;
  for (const char* model : kModels) {
    const OptionsJson json = kept_choices(model);
    std::map<std::pair<std::string, double>, OptionsJson> saved;
    for (const OptionsJson& choice : json["partitions"])
      saved[{choice["options"].dump(), choice["budget"]}] = choice["saved"];
    for (const OptionsJson& choice : json["partitions"]) {
      const auto at = saved.find({compared_options(choice["options"]).dump(), choice["budget"]});
      bool& changed = changes[choice["options"].dump()];
      changed = changed || (at != saved.end() && at->second != choice["saved"]);
    }
  }
  for (const auto& [name, changed] : changes) {
    INFO(name);
    CHECK(changed == (name != "{}" && name != R"({"ban_recompute_long_fusible_chains":false})"));
  }
}

TEST_CASE("torch: the end of a long chain is saved, unless that rule is off", "[partition]") {
  std::string text = "graph \"chain\" {\n%c0 = parameter f32[4]\n%t = tangent f32[]\n";
  for (int i = 1; i <= 110; ++i) text += fmt::format("%c{} = cos(%c{})\n", i, i - 1);
  const Graph graph = parse(text +
                            "%r = sum(%c110)\n%e = expand(%t, [4])\n%g = mul.Tensor(%e, %c110)\n"
                            "results %r\ngradients %g\n}");
  PlanRequest request{"torch", NoBudget{}};
  CHECK(names(graph, make_plan(graph, request)->plan.saved) == std::vector<std::string>{"c110"});
  request.torch.ban_recompute_long_fusible_chains = false;
  CHECK(names(graph, make_plan(graph, request)->plan.saved).empty());
}

std::string option_fault(const std::vector<std::string>& settings) {
  const auto read = read_torch_options(settings);
  return read ? "" : read.diagnostics().front().message;
}

TEST_CASE("torch: settings are read, and written in one form", "[partition]") {
  const std::vector<std::string> settings{"solver=ilp",
                                          "ban_recompute_reductions=False",
                                          "activation_memory_budget_runtime_estimator=profile",
                                          "recomputable=aten.mm",
                                          "recomputable=bmm,mm",
                                          "aggressive_recomputation=on"};
  const auto options = read_torch_options(settings);
  REQUIRE(options.ok());
  CHECK(options->solver == KnapsackSolver::ilp);
  CHECK_FALSE(options->ban_recompute_reductions);
  CHECK(options->recomputable == std::vector<std::string>{"mm", "bmm"});
  const std::vector<std::string> written = write_torch_options(*options);
  CHECK(written == std::vector<std::string>{"ban_recompute_reductions=off",
                                            "aggressive_recomputation=on", "solver=ilp",
                                            "runtime_estimator=profile", "recomputable=mm,bmm"});
  CHECK(*read_torch_options(written) == *options);
  CHECK(write_torch_options(TorchOptions()).empty());
  CHECK(rules_off(*options).size() == 5);
  CHECK(rules_off(TorchOptions()).empty());
  CHECK(*checked_torch_setting("recomputable", "aten.mm,prims.fma") == "recomputable=mm,prims.fma");
}

TEST_CASE("torch: a bad setting is told with the values that there are", "[partition]") {
  CHECK(option_fault({"solver"}) ==
        "'solver' has no '=', expected NAME=VALUE, such as solver=greedy");
  CHECK(option_fault({"solver=best"}) ==
        "option 'solver' is 'best', expected one of: dp, greedy, ilp, "
        "dp_knapsack_sliding_hirschberg");
  CHECK(option_fault({"runtime_estimator="}).find("flops, profile, testing") != std::string::npos);
  CHECK(option_fault({"ban_recompute_reductions=maybe"}).find("expected one of: on, off") !=
        std::string::npos);
  CHECK(option_fault({"ban_recompute_reduction=off"})
            .find("did you mean 'ban_recompute_reductions'?") != std::string::npos);
  CHECK(option_fault({"recomputable=mmm"}).find("there is no operator 'mmm'") != std::string::npos);
  CHECK(option_fault({"recomputable=mm.default"}).find("without an overload") != std::string::npos);
  CHECK(option_fault({"not_recomputable="}).find("expected operators") != std::string::npos);
  CHECK(option_fault({"recomputable=mm", "not_recomputable=aten.mm"}).find("'mm' stands in") !=
        std::string::npos);
}

TEST_CASE("torch: options are for strategy torch, and its inputs have to be there", "[partition]") {
  const Graph graph = parse(
      "graph \"g\" {\n%x = parameter f32[2]\n%t = tangent f32[2]\n%y = exp(%x)\n"
      "%g = mul.Tensor(%t, %y)\nresults %y\ngradients %g\n}");
  const auto fault_of = [&](const char* strategy, const TorchOptions& options) {
    PlanRequest request{strategy, NoBudget{}};
    request.torch = options;
    const auto outcome = make_plan(graph, request);
    return outcome ? std::string() : outcome.diagnostics().front().message;
  };
  TorchOptions greedy, inputs;
  greedy.solver = KnapsackSolver::greedy;
  CHECK(fault_of("peak", greedy).find("only strategy 'torch' does") != std::string::npos);
  CHECK(fault_of("torch", greedy).empty());
  for (const char* name : {"z", "y", "t"}) {
    inputs.static_inputs = {name};
    CHECK(fault_of("torch", inputs).find("expected an input") != std::string::npos);
  }
  inputs.static_inputs = {"x"};
  CHECK(fault_of("torch", inputs).empty());
}

TEST_CASE("torch: a plan's remarks name the rules that are off, and who filled the budget",
          "[partition]") {
  const auto file = read_graph_file(
      RECUT_SOURCE_DIR "/tests/partition/torch_options/perceptron.json.gz", "joint_after_passes");
  REQUIRE(file.ok());
  PlanRequest request{"torch", SavedFraction{0.2}};
  request.torch.solver = KnapsackSolver::greedy;
  request.torch.ban_recompute_reductions = false;
  request.torch.not_recomputable = {"tanh"};
  const auto outcome = make_plan(file->graph, request);
  REQUIRE(outcome.ok());
  const std::vector<std::string>& remarks = outcome->remarks;
  for (const char* remark : {"solver: greedy", "runtime_estimator: flops",
                             "off: ban_recompute_reductions", "off the allowlist: tanh"}) {
    INFO(remark);
    CHECK(std::find(remarks.begin(), remarks.end(), remark) != remarks.end());
  }
}

}  // namespace
}  // namespace recut
