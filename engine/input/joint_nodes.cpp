// Reads the node objects of an fx-joint-graph: a table of fields with their JSON kinds, checked in
// one pass over an object's members. A faulty node keeps its name, so that its users don't report
// it as unknown; only sound nodes are filled in. The first of two nodes of one name counts.
#include "engine/input/joint_nodes.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <map>

#include "engine/support/text.h"

namespace recut {
namespace {

struct Field {
  std::string_view key;
  JsonKind kind;
  bool required;
};
enum FieldIndex : std::size_t {
  kName,
  kOp,
  kTarget,
  kModule,
  kSource,
  kSeqNr,
  kMeta,
  kArgs,
  kKwargs,
  kVal,
  kMeasured,
  kSubgraph,
  kCount
};

constexpr std::array<Field, kCount> kFields = {{{"name", JsonKind::text, true},
                                                {"op", JsonKind::text, true},
                                                {"target", JsonKind::text, true},
                                                {"module", JsonKind::text, false},
                                                {"source", JsonKind::text, false},
                                                {"seq_nr", JsonKind::integer, false},
                                                {"meta", JsonKind::object, false},
                                                {"args", JsonKind::array, false},
                                                {"kwargs", JsonKind::object, false},
                                                {"val", JsonKind::null, false},  // any kind
                                                {"measured", JsonKind::object, false},
                                                {"subgraph", JsonKind::array, false}}};

// Reads the members of a node in one pass; diagnostics name the node, or its index.
class NodeReader {
 public:
  NodeReader(JsonValue object, std::size_t index, DiagnosticCollector& diagnostics)
      : object_(object), index_(index), diagnostics_(diagnostics) {}

  JointNode read() {
    for (const JsonMember member : object_.items()) take(member);
    for (std::size_t f = 0; f < kCount; ++f) check(f);
    JointNode node;
    node.object = object_;
    node.sound = sound_;
    if (values_[kName].is(JsonKind::text)) node.name = values_[kName].text();
    if (sound_) fill(node);
    return node;
  }

 private:
  void fill(JointNode& node) const {
    node.op = values_[kOp].text();
    node.target = values_[kTarget].text();
    if (values_[kModule].present()) node.module = values_[kModule].text();
    if (values_[kSource].present()) node.source = values_[kSource].text();
    if (values_[kSeqNr].present())
      node.seq_nr = std::max<std::int64_t>(values_[kSeqNr].integer(), -1);
    if (values_[kMeta].present()) fill_metadata(node);
    node.args = values_[kArgs];
    node.kwargs = values_[kKwargs];
    node.val = values_[kVal];
    node.measured = values_[kMeasured];
    node.subgraph = values_[kSubgraph];
  }

  // {"recompute": "CheckpointPolicy.MUST_SAVE", "ac_graph_id": 5}: exporters that write the
  // metadata as text put the number in quotes, too.
  void fill_metadata(JointNode& node) const {
    for (const JsonMember member : values_[kMeta].items()) {
      const JsonValue value = member.value;
      if (member.key == "autocast") node.autocast = value.is(JsonKind::boolean) && value.boolean();
      if (member.key == "recompute" && value.is(JsonKind::text)) node.recompute = value.text();
      if (member.key != "ac_graph_id") continue;
      if (value.is(JsonKind::integer))
        node.ac_graph_id = std::max<std::int64_t>(value.integer(), -1);
      if (value.is(JsonKind::text)) node.ac_graph_id = region_number(value.text());
    }
  }

  static std::int64_t region_number(std::string_view digits) {
    std::int64_t number = -1;
    const auto [end, fault] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
    return fault == std::errc() && end == digits.data() + digits.size() && number >= 0 ? number
                                                                                       : -1;
  }

  void take(const JsonMember& member) {
    for (std::size_t f = 0; f < kCount; ++f) {
      if (kFields[f].key != member.key) continue;
      if (values_[f].present()) report_error(fmt::format("'{}' stands there twice", member.key));
      values_[f] = member.value;
    }
  }

  void check(std::size_t f) {
    const Field& field = kFields[f];
    const JsonValue value = values_[f];
    if (!value.present()) {
      if (field.required)
        report_error(fmt::format("'{}' is missing, expected {}", field.key, describe(field.kind)));
    } else if (f != kVal && !value.is(field.kind)) {
      report_error(fmt::format("'{}' is {}, expected {}", field.key, describe(value.kind()),
                               describe(field.kind)));
    } else if (f == kName && value.text().empty()) {
      report_error("its name is empty");
    }
  }

  void report_error(std::string_view message) {
    sound_ = false;
    const JsonValue name = values_[kName];
    const std::string who = name.is(JsonKind::text) ? describe_node(name.text())
                                                    : fmt::format("the node at index {}", index_);
    diagnostics_.add(fmt::format("{}: {}", who, message), object_);
  }

  JsonValue object_;
  std::size_t index_;
  DiagnosticCollector& diagnostics_;
  std::array<JsonValue, kCount> values_;
  bool sound_ = true;
};

void add_node(const JointNode& node, JointNodes& found, DiagnosticCollector& diagnostics) {
  if (node.name.empty()) return;
  if (found.by_name.emplace(node.name, found.nodes.size()).second)
    found.nodes.push_back(node);
  else
    diagnostics.add(describe_node(node.name) + ": the name is that of an earlier node too",
                    node.object);
}

}  // namespace

Origin origin_of(const JointNode& node) {
  const auto policy = find_checkpoint_policy(node.recompute);
  return {std::string(node.name),
          std::string(node.module),
          node.seq_nr,
          std::string(node.source),
          policy.value_or(CheckpointPolicy::none),
          node.ac_graph_id};
}

std::string unknown_policies_note(const JointNodes& nodes) {
  std::map<std::string_view, std::size_t> unknown;
  for (const JointNode& node : nodes.nodes)
    if (!node.recompute.empty() && !find_checkpoint_policy(node.recompute))
      ++unknown[node.recompute];
  std::string names;
  for (const auto& [name, count] : unknown)
    names += fmt::format("{}{} ({})", names.empty() ? "" : ", ", quote(name), count);
  return names.empty() ? ""
                       : "Recut doesn't know these checkpoint policies, and the plan is free to "
                         "save or recompute the values of their calls: " +
                             names;
}

std::string describe_node(std::string_view name) { return "node " + quote(name); }

JointNodes read_joint_nodes(JsonValue list, DiagnosticCollector& diagnostics) {
  JointNodes found;
  found.nodes.reserve(list.size());
  found.by_name.reserve(list.size());
  std::size_t index = 0;
  for (const JsonMember item : list.items()) {
    if (item.value.is(JsonKind::object))
      add_node(NodeReader(item.value, index, diagnostics).read(), found, diagnostics);
    else
      diagnostics.add(fmt::format("the node at index {} is {}, expected an object", index,
                                  describe(item.value.kind())),
                      item.value);
    ++index;
  }
  return found;
}

}  // namespace recut
