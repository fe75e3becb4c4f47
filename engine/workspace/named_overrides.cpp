#include "engine/workspace/named_overrides.h"

#include <fmt/core.h>

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include "engine/ir/aliases.h"
#include "engine/ir/data_flow.h"
#include "engine/support/name_pattern.h"
#include "engine/support/text.h"
#include "engine/support/typo_correction.h"

// Resolution in two steps: each name or pattern becomes a list of nodes that can be overridden,
// then settle() resolves conflicts. A name beats a pattern:
//
//   --recompute 'h.*.mlp' --save gelu_3    =>    recompute every node of the modules but gelu_3
//
// Two names, or two patterns, that contradict each other are an error. Every failure is collected,
// so the user sees all of them at once. The policies of checkpointed calls come last: they are the
// model's, and yield to the user's. Cost: O(nodes) for a pattern, O(1) for a name, O(nodes + edges)
// for policies.

namespace recut {
namespace {

std::string nearest_name(const Graph& graph, std::string_view name) {
  TypoCorrection near(name);
  for (const NodeId id : graph.order()) near.consider(graph.node_name(id));
  for (const auto& [alias, id] : graph.aliases()) near.consider(alias);
  return near.name();
}

class OverrideReader {
 public:
  explicit OverrideReader(const Graph& graph) : graph_(graph), rules_(graph), users_(graph) {}

  void read(const std::vector<std::string>& names, bool save) {
    for (const std::string& name : names) {
      const bool pattern = name.find('*') != std::string::npos;
      NamedOverride named{save, name, {}, pattern ? OverrideSource::pattern : OverrideSource::name};
      if (pattern)
        read_pattern(named);
      else
        read_name(named);
      overrides_.each.push_back(std::move(named));
    }
  }

  void read_policies() {
    NamedOverride saved{true, "", {}, OverrideSource::checkpoint};
    NamedOverride recomputed{false, "", {}, OverrideSource::checkpoint};
    std::unordered_set<std::uint32_t> kept;
    for (const NodeId id : graph_.order()) {
      const NodeId source = defining_node(graph_, id);
      if (!is_to_save(id) || !why_not(source, true).empty()) continue;
      if (kept.insert(source.index).second) saved.nodes.push_back(source);
    }
    std::vector<bool> asked(graph_.order().size());
    for (std::size_t p = 0; p < asked.size(); ++p) {
      const NodeId id = graph_.order()[p];
      asked[p] = asks_to_recompute(id) && kept.count(id.index) == 0;
    }
    recomputed.nodes = running_again(asked);
    for (NamedOverride* named : {&saved, &recomputed})
      if (!named->nodes.empty()) overrides_.each.push_back(std::move(*named));
  }

  Result<NamedOverrides> take() && {
    if (failures_.empty()) settle();
    if (!failures_.empty()) return std::move(failures_);
    std::erase_if(overrides_.each, [](const NamedOverride& named) {
      return named.source == OverrideSource::checkpoint && named.nodes.empty();
    });
    return std::move(overrides_);
  }

 private:
  std::string_view why_not(NodeId id, bool save) const {
    return save ? rules_.why_not_saved(id) : rules_.why_not_recomputed(id);
  }

  bool asks_to_recompute(NodeId id) const {
    const CheckpointPolicy policy = graph_.origin(id).policy;
    return policy == CheckpointPolicy::must_recompute ||
           policy == CheckpointPolicy::prefer_recompute;
  }

  // A later region begins with this value: without it, backward would run all regions before it.
  bool is_to_save(NodeId id) const {
    const Origin& origin = graph_.origin(id);
    if (origin.policy == CheckpointPolicy::must_save) return true;
    if (!asks_to_recompute(id)) return false;
    const auto users = users_.of(id);
    return std::any_of(users.begin(), users.end(), [&](NodeId user) {
      return asks_to_recompute(user) &&
             graph_.origin(user).checkpoint_region > origin.checkpoint_region;
    });
  }

  // The nodes that run again, of the asked ones (by position): backward reads their values, or
  // nodes that run again do. In reverse order of the program, so that readers are known.
  std::vector<NodeId> running_again(const std::vector<bool>& asked) const {
    std::vector<NodeId> nodes;
    std::vector<bool> again(asked.size());  // the node, or a call that reads the view
    for (std::size_t p = asked.size(); p-- > 0;) {
      const NodeId id = graph_.order()[p];
      const auto users = users_.of(id);
      const bool read_again = std::any_of(
          users.begin(), users.end(), [&](NodeId user) { return again[graph_.position(user)]; });
      if (defining_node(graph_, id) != id) {
        again[p] = read_again;
        continue;
      }
      const std::string_view why =
          read_again ? rules_.why_not_run_again(id) : rules_.why_not_recomputed(id);
      if (!asked[p] || !why.empty()) continue;
      again[p] = true;
      nodes.push_back(id);
    }
    std::reverse(nodes.begin(), nodes.end());
    return nodes;
  }

  void fail(const NamedOverride& named, const std::string& why) {
    failures_.push_back(error(
        fmt::format("--{} {}: {}", named.save ? "save" : "recompute", quote(named.name), why)));
  }

  void read_name(NamedOverride& named) {
    const auto id = find_node(graph_, named.name);
    if (!id) {
      failures_.push_back(error(fmt::format("--{}: {}", named.save ? "save" : "recompute",
                                            id.diagnostics().front().message)));
      return;
    }
    if (const std::string_view why = why_not(*id, named.save); !why.empty())
      return fail(named, fmt::format("{} {}", quote(graph_.node_name(*id)), why));
    named.nodes.push_back(defining_node(graph_, *id));
  }

  void read_pattern(NamedOverride& named) {
    bool matched = false;
    std::vector<bool> asked(graph_.order().size());
    for (std::size_t p = 0; p < asked.size(); ++p) {
      const NodeId id = graph_.order()[p];
      asked[p] = matches_module(named.name, graph_.origin(id).module);
      matched = matched || asked[p];
      if (asked[p] && named.save && defining_node(graph_, id) == id && why_not(id, true).empty())
        named.nodes.push_back(id);
    }
    if (!named.save) named.nodes = running_again(asked);
    if (!matched) return fail(named, "no module's path has such a part");
    if (named.nodes.empty())
      fail(named,
           fmt::format("no node of these modules can be {}", named.save ? "saved" : "recomputed"));
  }

  // Names take precedence over patterns, and these over checkpoint policies; beyond that no node
  // may be both saved and recomputed.
  void settle() {
    std::unordered_map<std::uint32_t, const NamedOverride*> overridden;  // looked up only
    for (const OverrideSource source :
         {OverrideSource::name, OverrideSource::pattern, OverrideSource::checkpoint})
      for (NamedOverride& named : overrides_.each) {
        if (named.source != source) continue;
        std::vector<NodeId> kept;
        for (const NodeId id : named.nodes) {
          const auto [at, first] = overridden.emplace(id.index, &named);
          const NamedOverride& other = *at->second;
          if (first || other.save == named.save) {
            kept.push_back(id);
          } else if (other.source == source) {
            return fail(named, fmt::format("{} says the contrary of {}", as_written(other),
                                           quote(graph_.node_name(id))));
          }
        }
        named.nodes = std::move(kept);
      }
  }

  const Graph& graph_;
  OverrideRules rules_;
  Users users_;
  NamedOverrides overrides_;
  Diagnostics failures_;
};

}  // namespace

Overrides NamedOverrides::overrides() const { return overrides_without(each.size()); }

Overrides NamedOverrides::overrides_without(std::size_t named) const {
  Overrides overrides;
  for (std::size_t i = 0; i < each.size(); ++i) {
    if (i == named) continue;
    auto& list = each[i].save ? overrides.save : overrides.recompute;
    list.insert(list.end(), each[i].nodes.begin(), each[i].nodes.end());
  }
  return overrides;
}

Result<NamedOverrides> resolve_overrides(const Graph& graph, const OverrideRequest& request) {
  if (!has_overrides(graph, request)) return NamedOverrides();
  OverrideReader reader(graph);
  reader.read(request.save, true);
  reader.read(request.recompute, false);
  if (!request.ignore_checkpoints) reader.read_policies();
  return std::move(reader).take();
}

Result<NodeId> find_node(const Graph& graph, const std::string& name) {
  if (const NodeId id = graph.find(name); id.valid()) return id;
  const std::string nearest = nearest_name(graph, name);
  return error(nearest.empty() ? fmt::format("no node is named {}", quote(name))
                               : fmt::format("no node is named {}; the nearest name is {}",
                                             quote(name), quote(nearest)));
}

bool has_checkpoint_policies(const Graph& graph) {
  return is_joint(graph) && std::any_of(graph.order().begin(), graph.order().end(), [&](NodeId id) {
           return graph.origin(id).policy != CheckpointPolicy::none;
         });
}

bool has_overrides(const Graph& graph, const OverrideRequest& request) {
  return !request.save.empty() || !request.recompute.empty() ||
         (!request.ignore_checkpoints && has_checkpoint_policies(graph));
}

std::string as_written(const NamedOverride& named) {
  if (named.source == OverrideSource::checkpoint)
    return fmt::format("the model's checkpoint policies ({})", named.save ? "save" : "recompute");
  return fmt::format("--{} {}", named.save ? "save" : "recompute", named.name);
}

}  // namespace recut
