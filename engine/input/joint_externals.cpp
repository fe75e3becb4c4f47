// Calls of operators outside the table (external_operator.h): their arguments, their diagnostics,
// and the note that lists them. An object among the arguments becomes a list of pairs, as graphs
// have no dictionaries:
//   {"scale": 2, "axis": 0}   =>   [["scale", 2], ["axis", 0]]
// A call without types can't be planned, so it is an error; each unknown operator is reported once,
// at its first use, with the number of its uses.
#include "engine/input/joint_externals.h"

#include <fmt/core.h>

#include "engine/ir/data_flow.h"
#include "engine/ir/flex_attention.h"
#include "engine/ir/graph_signature.h"
#include "engine/ir/region_call.h"
#include "engine/support/text.h"
#include "engine/support/typo_correction.h"

namespace recut {
namespace {

// Tags that read_joint_argument knows.
bool is_known_tag(std::string_view tag) {
  return tag == "node" || tag == "dtype" || tag == "float" || tag == "device" || tag == "layout" ||
         tag == "memory_format";
}

Result<Argument> read_items(JsonValue list, const FindNode& find_node, bool& sound) {
  ArgumentList items;
  for (const JsonMember item : list.items()) {
    auto argument = read_external_argument(item.value, find_node, sound);
    if (!argument) return argument;
    items.push_back(std::move(*argument));
  }
  return Argument(std::move(items));
}

// ["key", value], so that a list can hold the members of an object.
Result<Argument> read_pair(const JsonMember& member, const FindNode& find_node, bool& sound) {
  auto value = read_external_argument(member.value, find_node, sound);
  if (!value) return value;
  return Argument(ArgumentList{Argument(std::string(member.key)), std::move(*value)});
}

// The target nearest to a misspelt one such as "aten.reluu.default", by the part between the dots.
std::string near_target(std::string_view target) {
  const auto middle = [](std::string_view whole) {
    const std::size_t dot = whole.find('.');
    if (dot == std::string_view::npos) return whole;
    return whole.substr(dot + 1, whole.rfind('.') - dot - 1);
  };
  TypoCorrection near(middle(target));
  for (const Operator& op : all_operators())
    if (!op.is(kInput)) near.consider(middle(op.target), op.target);
  return near.suggestion();
}

std::string more_uses(std::size_t uses) {
  if (uses < 2) return "";
  return uses == 2 ? ", and one more" : fmt::format(", and {} more", uses - 1);
}

std::string listed(const std::map<std::string, std::size_t>& uses) {
  std::string text;
  for (const auto& [target, count] : uses)
    text += fmt::format("{}{} ({} {})", text.empty() ? "" : ", ", external_name(target), count,
                        count == 1 ? "call" : "calls");
  return text;
}

void count_unknown(const Graph& graph, std::map<std::string, std::size_t>& uses) {
  for (const NodeId id : graph.order())
    if (is_external(graph[id].op) && !is_computed(graph, id))
      ++uses[std::string(graph.op(id).target)];
  if (graph.regions == nullptr) return;
  for (const auto& [name, region] : *graph.regions) count_unknown(*region, uses);
}

}  // namespace

Result<Argument> read_external_argument(JsonValue value, const FindNode& find_node, bool& sound) {
  if (value.is(JsonKind::array)) return read_items(value, find_node, sound);
  if (!value.is(JsonKind::object)) return read_joint_argument(value, find_node, sound);
  if (value.size() == 1) {
    const JsonMember member = *value.items().begin();
    if (is_known_tag(member.key)) return read_joint_argument(value, find_node, sound);
    return read_pair(member, find_node, sound);
  }
  ArgumentList members;
  for (const JsonMember member : value.items()) {
    auto pair = read_pair(member, find_node, sound);
    if (!pair) return pair;
    members.push_back(std::move(*pair));
  }
  return Argument(std::move(members));
}

Result<ExternalCall> read_external_call(const JointNode& node, bool several,
                                        const FindNode& find_node) {
  ExternalSignature signature{std::string(node.target), 0, {}, several};
  ExternalCall call;
  const auto take = [&](JsonValue value) {
    auto argument = read_external_argument(value, find_node, call.sound);
    if (!argument) return argument.diagnostics();
    call.arguments.push_back(std::move(*argument));
    return Diagnostics();
  };
  if (node.args.present())
    for (const JsonMember item : node.args.items()) {
      ++signature.positional;
      if (Diagnostics wrong = take(item.value); !wrong.empty()) return wrong;
    }
  if (node.kwargs.present())
    for (const JsonMember item : node.kwargs.items()) {
      signature.keywords.emplace_back(item.key);
      if (Diagnostics wrong = take(item.value); !wrong.empty()) return wrong;
    }
  const auto op = external_operator(signature);
  if (!op) return op.diagnostics();
  call.op = *op;
  call.arguments.emplace_back();
  return call;
}

bool is_computed(const Graph& graph, NodeId call) {
  return has_regions(graph, call) || is_zeros_and_scatter(graph.op(call));
}

// The gradients of flex_attention's buffers are a list behind those of query, key and value.
constexpr std::size_t kFlexGradients = 3;

void add_unread_outputs(const Graph& graph, const Node& call, std::vector<TensorType>& types) {
  const auto regions = region_call(call);
  const auto all = regions ? output_count(graph, *regions) : std::nullopt;
  if (all && *all > types.size()) types.resize(*all);
  const auto flex = flex_attention(call);
  if (!flex || !flex->backward) return;
  types.resize(kFlexGradients);
  for (const NodeId buffer : flex->score_buffers) types.push_back(graph.type(buffer));
}

std::optional<std::vector<NodeId>> list_output(Graph& graph, NodeId call, const JointNode& item) {
  const auto flex = flex_attention(graph[call]);
  JsonValue index;
  for (const JsonMember argument : item.args.items()) index = argument.value;
  if (!flex || !flex->backward || !index.is(JsonKind::integer) ||
      index.integer() != static_cast<std::int64_t>(kFlexGradients))
    return std::nullopt;
  std::vector<NodeId> items;
  for (std::size_t i = kFlexGradients; i < graph[call].outputs.size(); ++i) {
    const auto made = graph.make(Op::getitem, {call, static_cast<std::int64_t>(i)});
    if (!made) return std::nullopt;
    items.push_back(*made);
  }
  return items;
}

void ExternalCalls::add_refused(std::string_view target, std::size_t node) {
  auto it = refused_.find(target);
  if (it == refused_.end()) it = refused_.emplace(target, Refused{node, 0}).first;
  ++it->second.uses;
}

void ExternalCalls::add_all(const ExternalCalls& nested) {
  for (const auto& [target, count] : nested.dropped_) dropped_[target] += count;
  missing_regions_.insert(nested.missing_regions_.begin(), nested.missing_regions_.end());
}

void ExternalCalls::add_written_values(const std::vector<WrittenValues::Operand>& values,
                                       const JointNodes& nodes, bool detached, Graph& graph) {
  if (values.empty()) return;
  std::vector<NodeId> written;
  for (const auto& [at, value] : values) {
    written.push_back(value);
    if (!detached || !is_floating(graph.type(value).dtype)) continue;
    if (const auto apart = graph.make(Op::detach, {value})) written.back() = *apart;
  }
  const std::vector<bool> late = needs_tangent(graph);
  GraphSignature signature = graph.signature == nullptr ? GraphSignature() : *graph.signature;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const bool in_backward = late[graph.position(written[i])];
    ++(in_backward ? written_in_backward_ : written_);
    if (in_backward) continue;
    signature.mutations.push_back(
        {graph.results.size(), std::string(nodes.nodes[values[i].at].name)});
    graph.results.push_back(written[i]);
  }
  set_signature(graph, std::move(signature));
}

void ExternalCalls::report_refused(const JointNodes& nodes,
                                   DiagnosticCollector& diagnostics) const {
  std::map<std::size_t, std::string_view> in_order;
  for (const auto& [target, use] : refused_) in_order.emplace(use.first_node, target);
  for (const auto& [first, target] : in_order) {
    const JointNode& node = nodes.nodes[first];
    diagnostics.add_beyond_limit(
        fmt::format("unknown operator {}: {} uses it{}, and has no 'val' with its types{}",
                    quote(target), describe_node(node.name),
                    more_uses(refused_.find(target)->second.uses), near_target(target)),
        node.object);
  }
}

std::string unknown_operators_note(const Graph& graph) {
  std::map<std::string, std::size_t> uses;
  count_unknown(graph, uses);
  if (uses.empty()) return "";
  return fmt::format(
      "Recut doesn't know these operators. It plans their calls, and has no values "
      "for them: {}; give their expansions by --op-library FILE",
      listed(uses));
}

void ExternalCalls::add_notes(GraphFile& file) const {
  std::string& text = file.externals_note;
  const auto add = [&](const std::string& note) { text += (text.empty() ? "" : "; ") + note; };
  std::string unseen;
  for (const std::string& name : missing_regions_) unseen += (unseen.empty() ? "" : ", ") + name;
  if (!unseen.empty()) add("the file lacks nested graphs, whose memory isn't counted: " + unseen);
  if (!dropped_.empty()) add("calls without a value are left out: " + listed(dropped_));
  if (written_ > 0)
    add(fmt::format("values that are written to inputs follow the results: {}", written_));
  if (written_in_backward_ > 0)
    add(fmt::format("writes to inputs in backward are left out: {}", written_in_backward_));
  file.unknown_note = unknown_operators_note(file.graph);
}

}  // namespace recut
