#include "engine/partition/torch_options.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>
#include <optional>
#include <variant>

#include "engine/ir/operator.h"
#include "engine/support/text.h"
#include "engine/support/typo_correction.h"

// One table describes the options; reading, writing and the help go through its rows. A value is
// kept in one form: on or off, a name of the row's choices, or a list without blanks.

namespace recut {
namespace {

using NameList = std::vector<std::string>;

constexpr std::string_view kLongPrefix = "activation_memory_budget_";  // PyTorch's, of two names
constexpr std::string_view kOnOff[] = {"on", "off"};
constexpr std::string_view kSolvers[] = {"dp", "greedy", "ilp", "dp_knapsack_sliding_hirschberg"};
constexpr std::string_view kEstimators[] = {"flops", "profile", "testing"};

struct Option {
  using Member = std::variant<bool TorchOptions::*, KnapsackSolver TorchOptions::*,
                              RuntimeEstimator TorchOptions::*, NameList TorchOptions::*>;

  std::string_view name;
  Member member;
  std::span<const std::string_view> choices;  // empty: a list
  std::string_view values;                    // in words
  std::string_view prose;
  bool operators = false;  // the list is of operators
};

const std::vector<Option>& options_table() {
  static const std::vector<Option> table = {
      {"ban_recompute_used_far_apart", &TorchOptions::ban_recompute_used_far_apart, kOnOff,
       "on, off", "Save results beyond a call that can't be fused with their operand"},
      {"ban_recompute_long_fusible_chains", &TorchOptions::ban_recompute_long_fusible_chains,
       kOnOff, "on, off", "Save the end of a chain of a hundred cheap calls"},
      {"ban_recompute_materialized_backward", &TorchOptions::ban_recompute_materialized_backward,
       kOnOff, "on, off", "Save values that backward has to have in memory anyway"},
      {"ban_recompute_not_in_allowlist", &TorchOptions::ban_recompute_not_in_allowlist, kOnOff,
       "on, off",
       "Recompute operators of the allowlist alone; off: all but random and expensive ones"},
      {"ban_recompute_reductions", &TorchOptions::ban_recompute_reductions, kOnOff, "on, off",
       "Save values of less than a quarter of their operands' bytes"},
      {"aggressive_recomputation", &TorchOptions::aggressive_recomputation, kOnOff, "on, off",
       "Turn off all of these switches but the last"},
      {"solver", &TorchOptions::solver, kSolvers, "dp, greedy, ilp, dp_knapsack_sliding_hirschberg",
       "Choose how a budget is filled where no cut holds it; ilp is exact to the byte"},
      {"runtime_estimator", &TorchOptions::runtime_estimator, kEstimators,
       "flops, profile, testing",
       "Price recomputation then by operations, by the device's times, or alike"},
      {"recomputable",
       &TorchOptions::recomputable,
       {},
       "operators such as mm,bmm",
       "Add these operators to the allowlist",
       true},
      {"not_recomputable",
       &TorchOptions::not_recomputable,
       {},
       "operators such as mm,bmm",
       "Take these operators from the allowlist",
       true},
      {"static_inputs",
       &TorchOptions::static_inputs,
       {},
       "names of inputs",
       "Take these inputs to be free to save, as parameters are"},
  };
  return table;
}

const Option* find_option(std::string_view name) {
  if (name.substr(0, kLongPrefix.size()) == kLongPrefix) name.remove_prefix(kLongPrefix.size());
  for (const Option& option : options_table())
    if (option.name == name) return &option;
  return nullptr;
}

Diagnostic no_such_option(std::string_view name) {
  TypoCorrection correction(name);
  std::vector<std::string_view> names;
  for (const Option& option : options_table()) {
    names.push_back(option.name);
    correction.consider(option.name);
  }
  return error(fmt::format("strategy 'torch' has no option {}, expected one of: {}{}", quote(name),
                           fmt::join(names, ", "), correction.suggestion()));
}

Result<std::string> packet_of(std::string_view name) {
  constexpr std::string_view kAten = "aten.";
  const std::string_view packet =
      name.substr(0, kAten.size()) == kAten ? name.substr(kAten.size()) : name;
  TypoCorrection correction(packet);
  for (const Operator& row : all_operators()) {
    if (row.packet == packet) return std::string(packet);
    correction.consider(row.packet);
  }
  return error(
      fmt::format("there is no operator {}, expected a name without an overload, such as "
                  "mm or prims.fma{}",
                  quote(name), correction.suggestion()));
}

Result<NameList> read_list(const Option& option, std::string_view text) {
  NameList names;
  while (!text.empty()) {
    const std::string_view one = text.substr(0, text.find(','));
    text.remove_prefix(std::min(text.size(), one.size() + 1));
    if (one.empty()) continue;
    auto name = option.operators ? packet_of(one) : Result<std::string>(std::string(one));
    if (!name) return name.diagnostics();
    names.push_back(std::move(*name));
  }
  if (names.empty()) return error(fmt::format("nothing found, expected {}", option.values));
  return names;
}

// Adds the names that the list lacks.
void add_names(const NameList& more, NameList& names) {
  for (const std::string& name : more)
    if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
}

// The place of a value among the choices; a switch takes Python's words, too.
std::optional<std::size_t> choice_of(const Option& option, std::string_view value) {
  const bool is_switch = std::holds_alternative<bool TorchOptions::*>(option.member);
  if (is_switch && (value == "True" || value == "true")) return 0;
  if (is_switch && (value == "False" || value == "false")) return 1;
  const auto found = std::find(option.choices.begin(), option.choices.end(), value);
  if (found == option.choices.end()) return std::nullopt;
  return static_cast<std::size_t>(found - option.choices.begin());
}

Result<Done> set_option(const Option& option, std::string_view value, TorchOptions& options) {
  if (const auto* list = std::get_if<NameList TorchOptions::*>(&option.member)) {
    const auto names = read_list(option, value);
    if (!names)
      return error(
          fmt::format("option '{}': {}", option.name, names.diagnostics().front().message));
    add_names(*names, options.**list);
    return Done{};
  }
  const auto choice = choice_of(option, value);
  if (!choice)
    return error(fmt::format("option '{}' is {}, expected one of: {}", option.name, quote(value),
                             option.values));
  if (const auto* flag = std::get_if<bool TorchOptions::*>(&option.member))
    options.** flag = *choice == 0;
  else if (const auto* solver = std::get_if<KnapsackSolver TorchOptions::*>(&option.member))
    options.** solver = static_cast<KnapsackSolver>(*choice);
  else
    options.*std::get<RuntimeEstimator TorchOptions::*>(option.member) =
        static_cast<RuntimeEstimator>(*choice);
  return Done{};
}

std::string value_of(const Option& option, const TorchOptions& options) {
  if (const auto* list = std::get_if<NameList TorchOptions::*>(&option.member))
    return fmt::format("{}", fmt::join(options.**list, ","));
  std::size_t choice = 0;
  if (const auto* flag = std::get_if<bool TorchOptions::*>(&option.member))
    choice = options.**flag ? 0 : 1;
  else if (const auto* solver = std::get_if<KnapsackSolver TorchOptions::*>(&option.member))
    choice = static_cast<std::size_t>(options.**solver);
  else
    choice = static_cast<std::size_t>(options.*
                                      std::get<RuntimeEstimator TorchOptions::*>(option.member));
  return std::string(option.choices[choice]);
}

Result<Done> check_lists(const TorchOptions& options) {
  for (const std::string& name : options.recomputable)
    if (std::find(options.not_recomputable.begin(), options.not_recomputable.end(), name) !=
        options.not_recomputable.end())
      return error(fmt::format(
          "operator {} stands in 'recomputable' and in 'not_recomputable', expected in one of them",
          quote(name)));
  return Done{};
}

}  // namespace

const std::vector<TorchOptionRow>& torch_option_rows() {
  static const std::vector<TorchOptionRow> rows = [] {
    std::vector<TorchOptionRow> all;
    for (const Option& option : options_table())
      all.push_back({option.name, option.values, value_of(option, TorchOptions()), option.prose});
    return all;
  }();
  return rows;
}

Result<TorchOptions> read_torch_options(std::span<const std::string> settings) {
  TorchOptions options;
  for (const std::string& setting : settings) {
    const std::size_t cut = setting.find('=');
    if (cut == std::string::npos)
      return error(
          fmt::format("{} has no '=', expected NAME=VALUE, such as solver=greedy", quote(setting)));
    const std::string_view name = std::string_view(setting).substr(0, cut);
    const Option* option = find_option(name);
    if (option == nullptr) return no_such_option(name);
    const auto done = set_option(*option, std::string_view(setting).substr(cut + 1), options);
    if (!done) return done.diagnostics();
  }
  if (const auto fit = check_lists(options); !fit) return fit.diagnostics();
  return options;
}

Result<std::string> checked_torch_setting(std::string_view name, std::string_view value) {
  const Option* option = find_option(name);
  if (option == nullptr) return no_such_option(name);
  TorchOptions options;
  const auto done = set_option(*option, value, options);
  if (!done) return done.diagnostics();
  return fmt::format("{}={}", option->name, value_of(*option, options));
}

std::vector<std::string> write_torch_options(const TorchOptions& options) {
  std::vector<std::string> settings;
  const TorchOptions usual;
  for (const Option& option : options_table())
    if (std::string value = value_of(option, options); value != value_of(option, usual))
      settings.push_back(fmt::format("{}={}", option.name, value));
  return settings;
}

std::vector<std::string_view> rules_off(const TorchOptions& options) {
  TorchOptions effective = options;
  if (options.aggressive_recomputation)
    effective.ban_recompute_used_far_apart = effective.ban_recompute_long_fusible_chains =
        effective.ban_recompute_materialized_backward = effective.ban_recompute_not_in_allowlist =
            false;
  effective.aggressive_recomputation = true;  // no rule: it isn't listed
  std::vector<std::string_view> off;
  for (const Option& option : options_table())
    if (const auto* flag = std::get_if<bool TorchOptions::*>(&option.member))
      if (!(effective.**flag)) off.push_back(option.name);
  return off;
}

std::vector<TorchSetting> all_torch_settings(const TorchOptions& options) {
  std::vector<TorchSetting> settings;
  for (const Option& option : options_table())
    settings.push_back({option.name, value_of(option, options)});
  return settings;
}

}  // namespace recut
