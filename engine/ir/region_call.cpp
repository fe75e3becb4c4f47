// Conditions and loops by their roles (region_call.h). A region's signature follows from the call:
//
//   scan(f, [c], [xs], [w])   =>   f(c, xs[i], w) gives the next c, then one slice of each output
//
// A number among a call's operands is no input of the region: its placeholder became that number.
#include "engine/ir/region_call.h"

#include <fmt/core.h>

#include <algorithm>

#include "engine/ir/flex_attention.h"
#include "engine/support/hash.h"
#include "engine/support/text.h"

namespace recut {
namespace {

// `rest`: this argument and all later ones are whole values.
enum class RegionRole : std::uint8_t { predicate, region, carried, sliced, whole, rest, ignored };

struct RegionCallRow {
  RegionCallKind kind;
  std::string_view target;
  std::vector<RegionRole> roles;
};

const std::vector<RegionCallRow>& region_call_rows() {
  using enum RegionRole;
  static const std::vector<RegionCallRow> rows = {
#define RECUT_REGION_CALL(kind, target, ...) {RegionCallKind::kind, target, {__VA_ARGS__}},
#include "engine/ir/operators/region_calls.def"
#undef RECUT_REGION_CALL
  };
  return rows;
}

const RegionCallRow* row_of(const Operator& op) {
  for (const RegionCallRow& row : region_call_rows())
    if (row.target == op.target) return &row;
  return nullptr;
}

// An argument by its role; false where it has another kind.
bool take_role(RegionRole role, const Argument& argument, RegionCall& call) {
  if (role == RegionRole::predicate) {
    call.predicate = argument;
    return argument.get<NodeId>() != nullptr || argument.get<bool>() != nullptr;
  }
  if (role == RegionRole::region) {
    const auto* name = argument.get<std::string>();
    if (name != nullptr) call.regions.push_back(*name);
    return name != nullptr;
  }
  if (role == RegionRole::ignored) return true;
  const auto* list = argument.get<ArgumentList>();
  if (list == nullptr) return false;
  (role == RegionRole::carried  ? call.carried
   : role == RegionRole::sliced ? call.sliced
                                : call.whole) = *list;
  return true;
}

void add_names(const Graph& graph, const Argument& argument, std::vector<std::string_view>& names) {
  if (const auto* list = argument.get<ArgumentList>())
    for (const Argument& item : *list) add_names(graph, item, names);
  const auto* text = argument.get<std::string>();
  if (text == nullptr || graph.region(*text) == nullptr) return;
  if (std::find(names.begin(), names.end(), *text) == names.end()) names.push_back(*text);
}

void add_names(const Graph& graph, const Node& node, std::vector<std::string_view>& names) {
  if (graph.regions == nullptr || !is_external(node.op)) return;
  for (const Argument& argument : node.arguments) add_names(graph, argument, names);
}

// A value that a region takes or gives: its type, and its name in messages.
struct RegionValue {
  TensorType type;
  std::string name;
};

bool agree(const TensorType& a, const TensorType& b) {
  return a.dtype == b.dtype && a.shape == b.shape;
}

std::string text_of(const TensorType& type) {
  return fmt::format("{}{}", short_name(type.dtype), format_shape(type.shape));
}

// Compares the regions of one call with it.
class RegionCheck {
 public:
  RegionCheck(const Graph& graph, NodeId id, const RegionCall& call)
      : graph_(graph), node_(graph[id]), call_(call) {}

  std::vector<std::string> run() {
    if (!check_lists()) return std::move(messages_);
    for (std::size_t i = 0; i < call_.regions.size(); ++i) {
      region_ = graph_.region(call_.regions[i]);
      if (region_ == nullptr) continue;
      name_ = fmt::format("nested graph {}", quote(call_.regions[i]));
      if (!region_->gradients.empty()) report("{} has gradients, expected results alone", name_);
      check_inputs();
      if (has_condition() && i == 0)
        check_condition();
      else
        check_results();
    }
    return std::move(messages_);
  }

 private:
  template <class... Parts>
  void report(fmt::format_string<Parts...> text, Parts&&... parts) {
    messages_.push_back(fmt::format(text, std::forward<Parts>(parts)...));
  }

  bool loops() const {
    return call_.kind != RegionCallKind::branches && call_.kind != RegionCallKind::once;
  }
  bool has_condition() const {
    return call_.kind == RegionCallKind::while_loop || call_.kind == RegionCallKind::while_stack;
  }
  std::size_t carried() const { return call_.carried.size(); }

  // The operands that are sliced have one length, and carried values are the first outputs.
  bool check_lists() {
    for (const ArgumentList* values : {&call_.carried, &call_.sliced, &call_.whole})
      for (const NodeId id : operands_among(*values))
        if (graph_[id].outputs.size() != 1)
          report("operand {} is a list, expected a tensor", named(id));
    if (!messages_.empty()) return false;
    const std::vector<NodeId> sliced = operands_among(call_.sliced);
    for (const NodeId id : sliced) {
      const TensorType& type = graph_.type(id);
      const TensorType& first = graph_.type(sliced.front());
      if (type.rank() == 0)
        report("operand {} has no dimension, and a loop can't read its slices", named(id));
      else if (first.rank() > 0 && type.shape.front() != first.shape.front())
        report("operand {} is {}, and operand {} is {}: a loop reads as many slices of each",
               named(sliced.front()), text_of(first), named(id), text_of(type));
    }
    if (!loops()) return messages_.empty();
    if (node_.outputs.size() < carried())
      report("it has {} outputs, expected one for each of {} carried values", node_.outputs.size(),
             carried());
    for (std::size_t i = 0; i < std::min(carried(), node_.outputs.size()); ++i) {
      const auto* id = call_.carried[i].get<NodeId>();  // or a number, which has no type
      if (id != nullptr && node_.outputs[i].exists() && !agree(element(i), graph_.type(*id)))
        report("output {} is {}, and the carried value {} is {}", i, text_of(node_.outputs[i]),
               named(*id), text_of(graph_.type(*id)));
    }
    return messages_.empty();
  }

  // An output of the call, or the slice of it that one run of the region gives.
  TensorType element(std::size_t i) const {
    const bool stacked = call_.kind == RegionCallKind::while_stack ||
                         (i >= carried() && (call_.kind == RegionCallKind::scan ||
                                             call_.kind == RegionCallKind::prefix_scan));
    TensorType type = node_.outputs[i];
    if (stacked && type.rank() > 0) type.shape.erase(type.shape.begin());
    return type;
  }

  std::string named(NodeId id) const { return quote(graph_.node_name(id)); }

  void add_all(const ArgumentList& values, bool slices, std::vector<RegionValue>& to) const {
    for (const NodeId id : operands_among(values)) {
      TensorType type = graph_.type(id);
      if (slices) type.shape.erase(type.shape.begin());
      to.push_back({std::move(type), (slices ? "a slice of operand " : "operand ") + named(id)});
    }
  }

  std::vector<RegionValue> inputs() const {
    std::vector<RegionValue> values;
    add_all(call_.carried, false, values);
    if (call_.kind == RegionCallKind::prefix_scan) add_all(call_.sliced, true, values);
    add_all(call_.sliced, true, values);
    add_all(call_.whole, false, values);
    return values;
  }

  // Outputs without a type are unused: their results may have any.
  std::vector<RegionValue> results() const {
    std::vector<RegionValue> values;
    for (std::size_t i = 0; i < node_.outputs.size(); ++i) {
      TensorType type = element(i);
      const bool slice = type.rank() < node_.outputs[i].rank();
      values.push_back(
          {std::move(type), fmt::format("{}output {} of the call", slice ? "a slice of " : "", i)});
    }
    return values;
  }

  void check_inputs() {
    const std::vector<RegionValue> expected = inputs();
    const auto found = region_->inputs();
    if (found.size() != expected.size())
      return report("{} takes {} tensors, and the call gives {}", name_, found.size(),
                    expected.size());
    for (std::size_t i = 0; i < found.size(); ++i) {
      const TensorType& type = region_->type(found[i]);
      if (!agree(type, expected[i].type))
        report("input {} of {} is {}, and {} is {}", quote(region_->node_name(found[i])), name_,
               text_of(type), expected[i].name, text_of(expected[i].type));
    }
  }

  void check_results() {
    const std::vector<RegionValue> expected = results();
    const auto& found = region_->results;
    if (found.size() != expected.size())
      return report("{} gives {} results, and the call has {} outputs", name_, found.size(),
                    expected.size());
    for (std::size_t i = 0; i < found.size(); ++i) {
      if (!expected[i].type.exists()) continue;
      if (!found[i].valid())
        report("result {} of {} is none, and {} is {}", i, name_, expected[i].name,
               text_of(expected[i].type));
      else if (const TensorType& type = region_->type(found[i]); !agree(type, expected[i].type))
        report("result {} of {} is {}, and {} is {}", quote(region_->node_name(found[i])), name_,
               text_of(type), expected[i].name, text_of(expected[i].type));
    }
  }

  void check_condition() {
    const auto& found = region_->results;
    const bool one = found.size() == 1 && found.front().valid();
    if (one && region_->type(found.front()).dtype == DType::boolean &&
        element_count(region_->type(found.front()).shape) == 1)
      return;
    report("{} is the condition of a loop: it gives {}, expected one bool", name_,
           one ? text_of(region_->type(found.front())) : fmt::format("{} results", found.size()));
  }

  const Graph& graph_;
  const Node& node_;
  const RegionCall& call_;
  const Graph* region_ = nullptr;  // that is being checked
  std::string name_;               // the region's, in messages
  std::vector<std::string> messages_;
};

}  // namespace

std::optional<RegionCall> region_call(const Node& node) {
  const Operator& op = operator_of(node.op);
  const RegionCallRow* row = is_external(node.op) ? row_of(op) : nullptr;
  // The last argument is the draw.
  if (row == nullptr || node.arguments.size() < row->roles.size()) return std::nullopt;
  if (!op.returns_list && row->kind != RegionCallKind::once) return std::nullopt;
  const bool open = row->roles.back() == RegionRole::rest;
  if (!open && node.arguments.size() != row->roles.size() + 1) return std::nullopt;
  RegionCall call;
  call.kind = row->kind;
  const std::size_t named = row->roles.size() - (open ? 1 : 0);
  for (std::size_t i = 0; i < named; ++i)
    if (op.parameters[i].keyword_only || !take_role(row->roles[i], node.arguments[i], call))
      return std::nullopt;
  for (std::size_t i = named; open && !op.parameters[i].keyword_only; ++i)
    call.whole.push_back(node.arguments[i]);
  return call;
}

std::vector<NodeId> operands_among(const ArgumentList& values) {
  std::vector<NodeId> operands;
  for (const Argument& value : values)
    if (const auto* id = value.get<NodeId>()) operands.push_back(*id);
  return operands;
}

std::optional<std::int64_t> trips_of(const Graph& graph, const RegionCall& call) {
  const std::vector<NodeId> sliced = operands_among(call.sliced);
  if (sliced.empty() || graph[sliced.front()].outputs.size() != 1) return std::nullopt;
  if (graph.type(sliced.front()).rank() == 0) return std::nullopt;
  return graph.type(sliced.front()).shape.front();
}

// 53 bits, which every reader of numbers keeps.
std::int64_t draw_of_run(RegionRunNumber number, std::int64_t draw) {
  std::uint64_t mixed = 0;
  for (const std::int64_t part : {number.draw, number.run, draw})
    mixed = hash_mix(mixed, static_cast<std::uint64_t>(part));
  return static_cast<std::int64_t>(mixed >> 11);
}

std::int64_t draw_of(const Node& external) {
  const auto* draw = external.arguments.back().get<std::int64_t>();
  return draw == nullptr ? 0 : *draw;
}

bool has_regions(const Graph& graph, NodeId id) {
  if (has_flex_regions(graph, id)) return true;
  const auto call = region_call(graph[id]);
  return call &&
         std::all_of(call->regions.begin(), call->regions.end(),
                     [&](const std::string& name) { return graph.region(name) != nullptr; });
}

// The last region gives the outputs: the first one of a while_loop is its condition.
std::optional<std::size_t> output_count(const Graph& graph, const RegionCall& call) {
  const Graph* region = call.regions.empty() ? nullptr : graph.region(call.regions.back());
  return region == nullptr ? std::nullopt : std::optional(region->results.size());
}

std::vector<std::string_view> named_regions(const Graph& graph) {
  std::vector<std::string_view> names;
  for (const NodeId id : graph.order()) add_names(graph, graph[id], names);
  return names;
}

std::vector<std::string_view> named_regions(const Graph& graph, NodeId id) {
  return named_regions(graph, graph[id]);
}

std::vector<std::string_view> named_regions(const Graph& graph, const Node& call) {
  std::vector<std::string_view> names;
  add_names(graph, call, names);
  return names;
}

std::vector<std::string> check_regions(const Graph& graph, NodeId id) {
  if (graph.regions == nullptr) return {};
  if (auto wrong = check_flex_attention(graph, id)) return {std::move(*wrong)};
  const auto call = region_call(graph[id]);
  return call ? RegionCheck(graph, id, *call).run() : std::vector<std::string>();
}

}  // namespace recut
