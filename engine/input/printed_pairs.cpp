#include "engine/input/printed_pairs.h"

#include <fmt/core.h>

#include <algorithm>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>

namespace recut {
namespace {

constexpr std::string_view kJoint = "aot_joint_graph";
constexpr std::string_view kForward = "aot_forward_graph", kBackward = "aot_backward_graph";
constexpr std::string_view kTangent = "tangents_", kPrimal = "primals_";

// Kinds of graphs that come in pairs, the best first. A plain text doesn't name the kind.
enum class PairStage : unsigned char { aot, before_post_grad, post_grad, plain };
constexpr PairStage kPairStages[] = {PairStage::aot, PairStage::before_post_grad,
                                     PairStage::post_grad, PairStage::plain};

std::optional<PairStage> stage_of(const PrintedSource& source) {
  if (source.kind == kForward || source.kind == kBackward) return PairStage::aot;
  if (source.kind == "before_post_grad_graph") return PairStage::before_post_grad;
  if (source.kind == "inductor_post_grad_graph") return PairStage::post_grad;
  if (source.form == PrintedForm::plain) return PairStage::plain;
  return std::nullopt;
}

// "0/0" of "0/0/aot_forward_graph#2"; with the rank, where a log has several.
std::string_view group_of(const PrintedSource& source) {
  const std::size_t slash = source.key.rfind('/');
  return std::string_view(source.key).substr(0, slash == std::string::npos ? 0 : slash);
}

std::string_view name_in_group(const PrintedSource& source) {
  return std::string_view(source.key).substr(source.key.rfind('/') + 1);
}

enum class Half : unsigned char { none, forward, backward };

Half half_of(std::string_view text, const PrintedSource& source) {
  const std::string_view lines = text.substr(source.begin, source.end - source.begin);
  if (lines.find(kTangent) == std::string_view::npos)
    return lines.find(kPrimal) == std::string_view::npos || source.kind == kBackward
               ? Half::none
               : Half::forward;
  // A joint graph has both as trees, and backward returns no tree.
  const bool joint = lines.find("tree_flatten_spec") != std::string_view::npos ||
                     lines.find("tree_unflatten") != std::string_view::npos;
  return joint || source.kind == kForward ? Half::none : Half::backward;
}

void add_pair(std::size_t forward, std::size_t backward, std::vector<PrintedSource>& sources) {
  PrintedSource matched = sources[forward];
  const std::string_view group = group_of(sources[forward]);
  matched.kind =
      fmt::format("{}+{}", name_in_group(sources[forward]), name_in_group(sources[backward]));
  matched.key = fmt::format("{}{}{}", group, group.empty() ? "" : "/", matched.kind);
  matched.parts = {forward, backward};
  sources.push_back(std::move(matched));
}

}  // namespace

void add_matched_sources(std::string_view text, std::vector<PrintedSource>& sources) {
  const std::size_t all = sources.size();
  std::set<std::string, std::less<>> done;  // groups that have a pair
  for (const PairStage stage : kPairStages) {
    const std::size_t before = sources.size();
    std::map<std::string, std::size_t, std::less<>> open;  // forward without its backward, by group
    for (std::size_t i = 0; i < all; ++i) {
      if (stage_of(sources[i]) != stage || done.count(group_of(sources[i])) != 0) continue;
      const Half half = half_of(text, sources[i]);
      const std::string group(group_of(sources[i]));
      if (half == Half::forward) open[group] = i;
      const auto forward = open.find(group);
      if (half != Half::backward || forward == open.end()) continue;
      add_pair(forward->second, i, sources);
      open.erase(forward);
    }
    std::sort(sources.begin() + static_cast<std::ptrdiff_t>(before), sources.end(),
              [](const PrintedSource& a, const PrintedSource& b) { return a.parts < b.parts; });
    for (std::size_t i = before; i < sources.size(); ++i) done.emplace(group_of(sources[i]));
  }
}

const PrintedSource* partition_of(std::size_t at, const std::vector<PrintedSource>& sources) {
  const PrintedSource& joint = sources[at];
  if (joint.kind != kJoint) return nullptr;
  for (const PrintedSource& matched : sources) {
    if (matched.parts.empty() || group_of(matched) != group_of(joint)) continue;
    const std::size_t forward = matched.parts.front();
    if (forward < at) continue;
    const bool other = std::any_of(
        sources.begin() + static_cast<std::ptrdiff_t>(at) + 1,
        sources.begin() + static_cast<std::ptrdiff_t>(forward), [&](const PrintedSource& between) {
          return between.kind == kJoint && group_of(between) == group_of(joint);
        });
    return other ? nullptr : &matched;
  }
  return nullptr;
}

}  // namespace recut
