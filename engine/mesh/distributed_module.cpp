#include "engine/mesh/distributed_module.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <set>

#include "engine/ir/graph_signature.h"
#include "engine/ir/node_diagnostic.h"
#include "engine/mesh/sharding_text.h"
#include "engine/support/check.h"
#include "engine/support/name_pattern.h"
#include "engine/support/text.h"
#include "engine/support/typo_correction.h"

namespace recut::mesh {
namespace {

enum class Section : std::uint8_t { none, parameters, inputs, outputs };

std::string_view without_comment(std::string_view line) {
  line = line.substr(0, line.find(';'));
  const std::size_t begin = line.find_first_not_of(" \t\r");
  if (begin == std::string_view::npos) return {};
  return line.substr(begin, line.find_last_not_of(" \t\r") - begin + 1);
}

std::optional<Section> section_of(std::string_view word) {
  if (word == "parameters") return Section::parameters;
  if (word == "inputs") return Section::inputs;
  if (word == "outputs") return Section::outputs;
  return std::nullopt;
}

std::string_view words_of(Section section) {
  if (section == Section::parameters) return "parameter";
  return section == Section::inputs ? "input" : "output";
}

bool is_parameter(const Graph& graph, NodeId id) {
  return !graph.is_input(id) || graph.input_kind(id) == InputKind::parameter;
}

}  // namespace

class PlacementReader {
 public:
  PlacementReader(DistributedModule& module, std::string_view file)
      : module_(module), graph_(module.graph_), users_(module.graph_), file_(file) {}

  Result<Done> read(std::string_view text) {
    Section section = Section::none;
    for (std::size_t begin = 0; begin < text.size();) {
      const std::size_t end = std::min(text.find('\n', begin), text.size());
      const std::string_view line = without_comment(text.substr(begin, end - begin));
      begin = end + 1;
      ++line_;
      if (line.empty()) continue;
      if (const auto named = section_of(line))
        section = *named;
      else
        read_line(section, line);
    }
    if (!failures_.empty()) return std::move(failures_);
    place_mutations();
    return Done{};
  }

 private:
  // One value that the file may place: an input of the graph, or a result by its position.
  struct Target {
    NodeId node;
    std::size_t result = 0;
  };

  struct Choice {
    std::uint32_t line = 0;
    bool by_name = false;
  };

  // The new value of an input is written over it on each rank: it lies as the input does.
  void place_mutations() {
    for (std::size_t i = 0; i < graph_.results.size(); ++i) {
      const NodeId input = mutated_input(graph_, i);
      if (input.valid() && choices_.count({true, graph_.results[i], i}) == 0)
        module_.result_shardings_[i] = module_.input_shardings_.at(input);
    }
  }

  void fail(std::string message) {
    failures_.push_back({std::move(message), std::string(file_), line_, 1});
  }

  void read_line(Section section, std::string_view line) {
    if (section == Section::none)
      return fail(
          fmt::format("{} stands before the first section; begin with a line 'parameters', "
                      "'inputs' or 'outputs'",
                      quote(line)));
    const std::size_t blank = line.find_first_of(" \t");
    if (blank == std::string_view::npos)
      return fail(
          fmt::format("{} has no placements; write them after it, as in [S(0), R]", quote(line)));
    const std::string pattern(line.substr(0, blank));
    const auto [first, is_new] = lines_.emplace(std::pair(section, pattern), line_);
    if (!is_new)
      return fail(fmt::format("{} stands in line {}, too; keep one of them", quote(pattern),
                              first->second));
    const auto list = parse_placements(line.substr(blank));
    if (!list) return fail(list.diagnostics().front().message);
    std::vector<Target> targets = named_targets(section, pattern);
    const bool by_name = !targets.empty();
    if (!by_name) targets = matching(section, pattern);
    if (targets.empty()) return fail_unmatched(section, pattern);
    for (const Target& target : targets) place(section, target, {line_, by_name}, *list);
  }

  std::vector<Target> all_targets(Section section) const {
    std::vector<Target> targets;
    if (section == Section::outputs) {
      for (std::size_t i = 0; i < graph_.results.size(); ++i)
        if (graph_.results[i].valid()) targets.push_back({graph_.results[i], i});
      return targets;
    }
    for (const NodeId id : module_.inputs_)
      if (is_parameter(graph_, id) == (section == Section::parameters)) targets.push_back({id, 0});
    return targets;
  }

  // The path of an input without one is that of its first reader.
  std::string_view module_of(NodeId id) const {
    if (!graph_.origin(id).module.empty() || !graph_.op(id).is(kInput))
      return graph_.origin(id).module;
    for (const NodeId user : users_.of(id))
      if (!graph_.origin(user).module.empty()) return graph_.origin(user).module;
    return {};
  }

  std::vector<Target> named_targets(Section section, const std::string& name) const {
    const NodeId id = graph_.find(name);
    std::vector<Target> targets;
    for (const Target& target : all_targets(section))
      if (target.node == id) targets.push_back(target);
    return targets;
  }

  std::vector<Target> matching(Section section, const std::string& pattern) const {
    std::vector<Target> targets;
    for (const Target& target : all_targets(section)) {
      const std::string& name = graph_.node_name(target.node);
      if (matches_pattern(pattern, name) || matches_module(pattern, name) ||
          matches_module(pattern, module_of(target.node)))
        targets.push_back(target);
    }
    return targets;
  }

  void fail_unmatched(Section section, const std::string& pattern) {
    const NodeId named = graph_.find(pattern);
    if (named.valid() && !graph_.op(named).is(kInput) && section != Section::outputs)
      return fail(fmt::format("{} is computed by the graph, expected a parameter or an input",
                              quote(pattern)));
    if (named.valid())
      return fail(fmt::format("{} is no {} of the graph; put it into its own section",
                              quote(pattern), words_of(section)));
    TypoCorrection near(pattern);
    for (const Target& target : all_targets(section)) {
      near.consider(graph_.node_name(target.node));
      near.consider(module_of(target.node));
    }
    fail(fmt::format("no {} has the name or the module path {}{}", words_of(section),
                     quote(pattern), near.suggestion()));
  }

  void place(Section section, const Target& target, Choice own,
             const std::vector<ListedPlacement>& list) {
    auto sharding = sharding_from(list, module_.mesh_, graph_.type(target.node).rank());
    if (!sharding)
      return fail(fmt::format("{} {}: {}", words_of(section), quote(graph_.node_name(target.node)),
                              sharding.diagnostics().front().message));
    const bool output = section == Section::outputs;
    Sharding& held =
        output ? module_.result_shardings_[target.result] : module_.input_shardings_[target.node];
    const auto key = std::tuple(output, target.node, target.result);
    const auto [found, is_new] = choices_.emplace(key, own);
    Choice& other = found->second;
    if (!is_new && other.by_name && !own.by_name) return;
    if (!is_new && other.by_name == own.by_name && held != *sharding)
      return fail(
          fmt::format("{} {} has {} by line {} and {} by this one; name it in a line of its "
                      "own",
                      words_of(section), quote(graph_.node_name(target.node)),
                      format(held, module_.mesh_), other.line, format(*sharding, module_.mesh_)));
    held = std::move(*sharding);
    other = own;
  }

  DistributedModule& module_;
  const Graph& graph_;
  Users users_;
  std::string_view file_;
  std::uint32_t line_ = 0;
  std::map<std::pair<Section, std::string>, std::uint32_t> lines_;  // of patterns
  std::map<std::tuple<bool, NodeId, std::size_t>, Choice> choices_;
  Diagnostics failures_;
};

DistributedModule::DistributedModule(const Graph& graph, DeviceMesh mesh)
    : graph_(graph), mesh_(std::move(mesh)) {
  for (const NodeId id : graph.order()) {
    if (!graph.op(id).is(kInput)) continue;
    inputs_.push_back(id);
    input_shardings_[id] = Sharding::replicated(graph.type(id).rank(), mesh_.ndim());
  }
  for (const NodeId id : graph.results)
    result_shardings_.push_back(
        Sharding::replicated(id.valid() ? graph.type(id).rank() : 0, mesh_.ndim()));
}

DistributedModule DistributedModule::placed_like(const Graph& graph) const {
  DistributedModule other(graph, mesh_);
  RECUT_CHECK(other.inputs_.size() == inputs_.size() &&
                  other.result_shardings_.size() == result_shardings_.size(),
              "the graphs have the same inputs and results");
  for (std::size_t i = 0; i < inputs_.size(); ++i)
    other.input_shardings_.at(other.inputs_[i]) = input_shardings_.at(inputs_[i]);
  other.result_shardings_ = result_shardings_;
  other.placed_ = placed_;
  other.file_ = file_;
  return other;
}

Result<Done> DistributedModule::place(std::string_view text, std::string_view file_name) {
  if (placed_)
    return error(fmt::format("the module is distributed already, by {}; give one placement file",
                             quote(file_)));
  DistributedModule draft = *this;
  if (auto read = PlacementReader(draft, file_name).read(text); !read) return read;
  input_shardings_ = std::move(draft.input_shardings_);
  result_shardings_ = std::move(draft.result_shardings_);
  file_ = file_name;
  placed_ = true;
  return Done{};
}

Result<std::map<NodeId, DistributedTensor>> DistributedModule::distribute_inputs(
    const Inputs& values, Traffic& traffic) const {
  std::map<NodeId, DistributedTensor> distributed;
  Diagnostics failures;
  for (const NodeId id : inputs_) {
    const auto value = values.find(id);
    const TensorType& type = graph_.type(id);
    if (value == values.end() || value->second.dtype != type.dtype ||
        value->second.shape != type.shape) {
      failures.push_back(
          node_diagnostic(graph_, id, fmt::format("it needs a value of {}", format(type))));
      continue;
    }
    auto tensor = distribute({&value->second, 1}, mesh_, of_input(id), 0, traffic);
    if (!tensor)
      failures.push_back(node_diagnostic(graph_, id, tensor.diagnostics().front().message));
    else
      distributed.emplace(id, std::move(*tensor));
  }
  if (!failures.empty()) return failures;
  return distributed;
}

std::string placement_file(const DistributedModule& module) {
  const Graph& graph = module.graph();
  std::string parameters, inputs, outputs;
  const auto add = [&](std::string& lines, NodeId id, const Sharding& sharding) {
    if (sharding != Sharding::replicated(graph.type(id).rank(), module.mesh().ndim()))
      lines += fmt::format("  {} {}\n", graph.node_name(id), format(sharding, module.mesh()));
  };
  for (const NodeId id : module.inputs())
    add(is_parameter(graph, id) ? parameters : inputs, id, module.of_input(id));
  std::set<NodeId> placed;  // a value may be several results
  for (std::size_t i = 0; i < graph.results.size(); ++i)
    if (graph.results[i].valid() && placed.insert(graph.results[i]).second)
      add(outputs, graph.results[i], module.of_results()[i]);
  const auto section = [](std::string_view title, const std::string& lines) {
    return lines.empty() ? "" : fmt::format("{}\n{}", title, lines);
  };
  return section("parameters", parameters) + section("inputs", inputs) +
         section("outputs", outputs);
}

}  // namespace recut::mesh
