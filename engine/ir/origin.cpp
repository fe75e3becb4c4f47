#include "engine/ir/origin.h"

namespace recut {
namespace {

struct NamedPolicy {
  CheckpointPolicy policy;
  std::string_view name;
};

constexpr NamedPolicy kPolicies[] = {{CheckpointPolicy::must_save, "MUST_SAVE"},
                                     {CheckpointPolicy::prefer_save, "PREFER_SAVE"},
                                     {CheckpointPolicy::prefer_recompute, "PREFER_RECOMPUTE"},
                                     {CheckpointPolicy::must_recompute, "MUST_RECOMPUTE"}};

}  // namespace

std::string_view name_of(CheckpointPolicy policy) {
  for (const NamedPolicy& row : kPolicies)
    if (row.policy == policy) return row.name;
  return "";
}

std::optional<CheckpointPolicy> find_checkpoint_policy(std::string_view text) {
  constexpr std::string_view kPythonEnum = "CheckpointPolicy.";
  if (text.starts_with(kPythonEnum)) text.remove_prefix(kPythonEnum.size());
  for (const NamedPolicy& row : kPolicies)
    if (row.name == text) return row.policy;
  return std::nullopt;
}

std::string_view short_module(std::string_view path) {
  if (path.rfind("L['", 0) != 0) return path;
  const std::size_t end = path.find("']");
  if (end == std::string_view::npos) return path;
  if (end + 2 == path.size()) return path.substr(3, end - 3);
  return path[end + 2] == '.' ? path.substr(end + 3) : path;
}

OriginId OriginTable::add(Origin origin) {
  const NameId number = name(origin.name);
  rows_.push_back({std::move(origin), number});
  return OriginId(rows_.size() - 1);
}

NameId OriginTable::name(std::string_view text) {
  if (const NameId known = find_name(text); known.valid()) return known;
  const NameId number(texts_.size());
  texts_.emplace_back(text);
  by_text_.emplace(texts_.back(), number);
  return number;
}

NameId OriginTable::find_name(std::string_view text) const {
  const auto it = by_text_.find(text);
  return it == by_text_.end() ? NameId() : it->second;
}

}  // namespace recut
