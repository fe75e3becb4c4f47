// Writes the calls of an exported program as nodes of an fx-joint-graph (exported_graph.h).
//
//   {"target": "torch.ops.aten.split.Tensor", "outputs": [{"as_tensors": [a, b]}], …}
//     =>  {"name": "split", "target": "aten.split.Tensor", …}, and a getitem for each of a and b
//
// torch.export runs some regions of a model as calls of nested graphs: torch.no_grad, autocast,
// checkpoints. Those are no operators, and their nodes stand in the call's place. Of a
// condition both branches run, and where.self takes one of the results: the branches of an exported
// program have no effects. The branch that isn't taken reads zeros, so that no gradient passes
// through it: zero times its infinite derivatives would be NaN. Names of an inlined graph get a
// number in front, so that they stay apart from others. Linear in the size of the program.
#include "engine/input/exported_graph.h"

#include <fmt/core.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "engine/input/exported_origins.h"
#include "engine/input/printed_values.h"
#include "engine/support/text.h"

namespace recut {
namespace {

constexpr std::string_view kOpsPrefix = "torch.ops.";
constexpr std::string_view kHigherOrderPrefix = "torch.ops.higher_order.";

// Calls that run nested graphs and are no operators.
struct InlinedCall {
  std::string_view target;
  std::size_t graphs;    // of the nested graphs: 2 are the branches of a condition
  int autocast_at = -1;  // unless that argument is false, calls convert their operands
  int gradient_at = -1;  // where that argument is false, results have no gradient
};
constexpr InlinedCall kInlinedCalls[] = {
    {"torch.ops.higher_order.cond", 2},
    {"torch.ops.higher_order.wrap_with_set_grad_enabled", 1, -1, 0},
    {"torch.ops.higher_order.wrap_with_autocast", 1, 2},
    {"torch.ops.higher_order.tag_activation_checkpoint", 1},
    {"torch.ops.higher_order.wrap_activation_checkpoint", 1},
    {"torch.ops.higher_order.invoke_subgraph", 1},
    {"torch.ops.higher_order.wrap", 1},
    {"torch.ops.higher_order.strict_mode", 1}};

std::string node_reference(std::string_view name) {
  std::string json = "{\"node\":";
  append_json_text(name, json);
  return json + "}";
}

bool is_false(JsonValue argument) {
  const JsonMember chosen = chosen_of(argument);
  return chosen.key == "as_bool" && chosen.value.is(JsonKind::boolean) && !chosen.value.boolean();
}

std::vector<JsonValue> items_of(JsonValue list) {
  std::vector<JsonValue> items;
  if (list.is(JsonKind::array))
    for (const JsonMember item : list.items()) items.push_back(item.value);
  return items;
}

// The single values in a list of results: {"as_tensors": [a, b]} has two.
std::vector<std::string_view> names_of(JsonValue output) {
  const JsonMember chosen = chosen_of(output);
  std::vector<std::string_view> names;
  if (chosen.key == "as_tensor") names.push_back(text_of(chosen.value, "name"));
  if (chosen.key.starts_with("as_sym_")) names.push_back(text_of(chosen.value, "as_name"));
  if (chosen.key == "as_optional_tensor") return names_of(chosen.value);
  if (chosen.key == "as_tensors")
    for (const JsonValue tensor : items_of(chosen.value)) names.push_back(text_of(tensor, "name"));
  if (chosen.key == "as_optional_tensors")
    for (const JsonValue item : items_of(chosen.value))
      names.push_back(text_of(member_of(item, "as_tensor"), "name"));
  if (chosen.key == "as_none") names.emplace_back();
  return names;
}

bool is_list(JsonValue output) {
  const std::string_view kind = chosen_of(output).key;
  return kind == "as_tensors" || kind == "as_optional_tensors";
}

}  // namespace

// A call whose nested graphs can be inlined.
struct ExportedGraphWriter::NestedCall {
  const InlinedCall* row = nullptr;
  JsonValue node;
  std::vector<JsonValue> graphs;
  std::vector<std::string> before, operands;  // arguments in front of the graphs, and behind
  std::vector<std::string_view> results;
  std::vector<bool> tensors;  // by result; others are symbolic numbers
  bool has_gradient = true;
  std::optional<bool> autocast;  // of the region, if it is one
};

void ExportedGraphWriter::begin_line(JsonValue at) {
  text_.json += '\n';
  text_.places.push_back(at.present() ? at.position() : 0);
}

void ExportedGraphWriter::add_fault(std::string message, JsonValue at) {
  constexpr std::size_t kShownFaults = 20;
  if (text_.faults.size() < kShownFaults)
    text_.faults.push_back({std::move(message), {}, at.present() ? at.position() : 0, 0});
}

std::string ExportedGraphWriter::resolve(std::string_view name) const {
  const auto known = scopes_.back().find(name);
  return known == scopes_.back().end() ? node_reference(name) : known->second;
}

std::string ExportedGraphWriter::defined(std::string_view name) {
  if (scopes_.size() == 1) return std::string(name);
  std::string unique = fmt::format("inlined_{}.{}", inlined_, name);
  scopes_.back()[std::string(name)] = node_reference(unique);
  return unique;
}

std::string ExportedGraphWriter::unused(std::string_view base) {
  return fmt::format("{}.{}", base, ++made_);
}

Result<std::string> ExportedGraphWriter::output(JsonValue value) const {
  return values_.argument(value, [this](std::string_view name) { return resolve(name); });
}

Result<std::string> ExportedGraphWriter::detached(JsonValue value) {
  const auto whole = output(value);
  if (!whole) return whole;
  const std::string name = unused("written");
  write_node(name, "aten.detach.default", {}, fmt::format(R"(,"args":[{}])", *whole));
  return node_reference(name);
}

JsonValue ExportedGraphWriter::entry_of(JsonValue graph, std::string_view table,
                                        std::string_view name) {
  const JsonValue object = member_of(graph, table);
  if (!object.is(JsonKind::object)) return {};
  auto [known, added] = tables_.try_emplace(object.position());
  if (added)
    for (const JsonMember member : object.items()) known->second.emplace(member.key, member.value);
  const auto found = known->second.find(name);
  return found == known->second.end() ? JsonValue() : found->second;
}

void ExportedGraphWriter::write_input(JsonValue graph, JsonValue value, std::string_view module) {
  const std::vector<std::string_view> names = names_of(value);
  if (names.size() != 1 || names.front().empty() || is_list(value)) return;
  const std::string type = value_type(graph, value, value);
  begin_line(value);
  text_.json += "{\"name\":";
  append_json_text(names.front(), text_.json);
  text_.json += R"(,"op":"placeholder","target":)";
  append_json_text(names.front(), text_.json);
  if (!module.empty()) {
    text_.json += ",\"module\":";
    append_json_text(module, text_.json);
  }
  text_.json += ",\"val\":" + type + "},";
}

void ExportedGraphWriter::write_nodes(JsonValue graph) {
  for (const JsonValue node : items_of(member_of(graph, "nodes")))
    if (text_of(node, "target").empty())
      add_fault("a node without its 'target', expected the name of an operator", node);
    else if (!write_inlined(node))
      write_call(graph, node);
}

// The type of a result as `val`.
std::string ExportedGraphWriter::value_type(JsonValue graph, JsonValue output, JsonValue node) {
  const auto typed = [&](std::string_view name) -> std::string {
    if (name.empty()) return "null";
    const auto type = values_.type(entry_of(graph, "tensor_values", name));
    if (type) return *type;
    add_fault(fmt::format("the type of {}: {}", quote(name), type.diagnostics().front().message),
              node);
    return "null";
  };
  const JsonMember chosen = chosen_of(output);
  const std::vector<std::string_view> names = names_of(output);
  if (chosen.key == "as_sym_int" || chosen.key == "as_sym_float") {
    const bool real = chosen.key == "as_sym_float";
    const auto number = values_.number(entry_of(graph, real ? "sym_float_values" : "sym_int_values",
                                                names.empty() ? std::string_view() : names.front()),
                                       real);
    if (number) return *number;
    add_fault(number.diagnostics().front().message, node);
  }
  if (is_list(output)) {
    std::string list = "[";
    for (const std::string_view name : names) list += (list.size() > 1 ? "," : "") + typed(name);
    return list + "]";
  }
  return names.size() == 1 && !chosen.key.starts_with("as_sym_") ? typed(names.front()) : "null";
}

// One node with its place in the model; `rest` are its last members.
void ExportedGraphWriter::write_node(std::string_view name, std::string_view target, JsonValue node,
                                     std::string_view rest) {
  std::string& json = text_.json;
  begin_line(node);
  json += "{\"name\":";
  append_json_text(name, json);
  json += R"(,"op":"call_function","target":)";
  append_json_text(target, json);
  const JsonValue metadata = member_of(node, "metadata");
  const std::string_view module = innermost_module(text_of(metadata, "nn_module_stack"));
  const std::string source = innermost_source(text_of(metadata, "stack_trace"));
  if (!module.empty()) {
    json += ",\"module\":";
    append_json_text(module, json);
  }
  if (!source.empty()) {
    json += ",\"source\":";
    append_json_text(source, json);
  }
  if (autocast_) json += R"(,"meta":{"autocast":true})";
  json += rest;
  json += "},";
}

// Several results are one node with a list of types, and a getitem for each.
void ExportedGraphWriter::write_call(JsonValue graph, JsonValue node) {
  std::string args, kwargs, val;
  if (!write_arguments(node, args, kwargs)) return;
  const std::vector<JsonValue> outputs = items_of(member_of(node, "outputs"));
  std::vector<std::string_view> names;
  for (const JsonValue output : outputs) {
    const std::vector<std::string_view> more = names_of(output);
    names.insert(names.end(), more.begin(), more.end());
    val += (val.empty() ? "" : ",") + value_type(graph, output, node);
  }
  // A call of a nested graph may return a list of one.
  const JsonValue single = member_of(node, "is_hop_single_tensor_return");
  const bool list_of_one = outputs.size() == 1 && single.is(JsonKind::boolean) && !single.boolean();
  const bool several =
      outputs.size() > 1 || list_of_one || (outputs.size() == 1 && is_list(outputs[0]));
  if (val.empty()) val = "null";
  if (outputs.size() > 1 || list_of_one) val = "[" + val + "]";
  std::string_view target = text_of(node, "target");
  if (target.starts_with(kOpsPrefix) && !target.starts_with(kHigherOrderPrefix))
    target.remove_prefix(kOpsPrefix.size());
  const std::string_view own =
      !several && names.size() == 1 && !names[0].empty() ? names[0] : text_of(node, "name");
  const std::string name = own.empty() ? unused("call") : defined(own);
  write_node(name, target, node,
             fmt::format(R"(,"args":[{}],"kwargs":{{{}}},"val":{})", args, kwargs, val));
  for (std::size_t i = 0; several && i < names.size(); ++i)
    if (!names[i].empty())
      write_node(defined(names[i]), "getitem", node,
                 fmt::format(R"(,"args":[{},{}])", node_reference(name), i));
}

bool ExportedGraphWriter::write_arguments(JsonValue node, std::string& args, std::string& kwargs) {
  constexpr std::int64_t kKeyword = 2;
  for (const JsonValue input : items_of(member_of(node, "inputs"))) {
    const JsonValue value = member_of(input, "arg"), kind = member_of(input, "kind");
    const std::string_view name = text_of(input, "name");
    std::string json;
    if (chosen_of(value).key == "as_graph") {
      json = nested_argument(chosen_of(value).value);
    } else {
      auto argument =
          values_.argument(value, [this](std::string_view used) { return resolve(used); });
      if (!argument) {
        add_fault(fmt::format("argument {} of {}: {}", quote(name), quote(text_of(node, "target")),
                              argument.diagnostics().front().message),
                  node);
        return false;
      }
      json = std::move(*argument);
    }
    // Files before the kinds were written name every argument as the schema does.
    const bool keyword =
        !name.empty() && (!kind.is(JsonKind::integer) || kind.integer() == kKeyword);
    std::string& list = keyword ? kwargs : args;
    if (!list.empty()) list += ',';
    if (keyword) {
      append_json_text(name, list);
      list += ':';
    }
    list += json;
  }
  return true;
}

// A nested graph that stays one: a get_attr in front of its call.
std::string ExportedGraphWriter::nested_argument(JsonValue nested) {
  const std::string name = unused(text_of(nested, "name"));
  begin_line(nested);
  text_.json += "{\"name\":";
  append_json_text(name, text_.json);
  text_.json += R"(,"op":"get_attr","target":)";
  append_json_text(name, text_.json);
  text_.json += ",\"subgraph\":[";
  write_nested(member_of(nested, "graph"));
  text_.json += "]},";
  return node_reference(name);
}

void ExportedGraphWriter::write_nested(JsonValue graph) {
  const auto outer = std::exchange(scopes_, {Names()});
  for (const JsonValue input : items_of(member_of(graph, "inputs"))) write_input(graph, input, "");
  write_nodes(graph);
  begin_line(graph);
  text_.json += R"({"name":"graph results","op":"output","target":"output","args":[[)";
  for (const JsonValue value : items_of(member_of(graph, "outputs"))) {
    const auto result = output(value);
    if (text_.json.back() != '[') text_.json += ',';
    text_.json += result && result->starts_with("{\"node\"") ? *result : "null";
  }
  text_.json += "]]}";
  scopes_ = outer;
}

// False where the call isn't one that can be inlined.
bool ExportedGraphWriter::write_inlined(JsonValue node) {
  NestedCall call;
  if (!read_nested_call(node, call)) return false;
  std::vector<std::vector<std::string>> values;
  for (std::size_t branch = 0; branch < call.graphs.size(); ++branch)
    values.push_back(inline_graph(call, branch));
  for (std::size_t i = 0; i < call.results.size(); ++i) {
    std::vector<std::string> of_graphs;
    for (const std::vector<std::string>& results : values) of_graphs.push_back(results[i]);
    if (!call.results[i].empty()) write_result(call, i, of_graphs);
  }
  text_.inlined.emplace_back(call.row->target);
  return true;
}

bool ExportedGraphWriter::read_nested_call(JsonValue node, NestedCall& call) const {
  const std::string_view target = text_of(node, "target");
  call.row = std::find_if(std::begin(kInlinedCalls), std::end(kInlinedCalls),
                          [&](const InlinedCall& row) { return row.target == target; });
  if (call.row == std::end(kInlinedCalls)) return false;
  call.node = node;
  int position = 0;
  for (const JsonValue input : items_of(member_of(node, "inputs"))) {
    const JsonValue value = member_of(input, "arg");
    if (position == call.row->autocast_at) call.autocast = !is_false(value);
    if (position == call.row->gradient_at && is_false(value)) call.has_gradient = false;
    ++position;
    if (chosen_of(value).key == "as_graph") {
      call.graphs.push_back(member_of(chosen_of(value).value, "graph"));
      continue;
    }
    const auto arguments =
        values_.arguments(value, [this](std::string_view name) { return resolve(name); });
    if (!arguments) return false;
    std::vector<std::string>& to = call.graphs.empty() ? call.before : call.operands;
    to.insert(to.end(), arguments->begin(), arguments->end());
    if (call.graphs.empty() && call.row->graphs > 1 && chosen_of(value).key != "as_tensor")
      return false;
  }
  for (const JsonValue result : items_of(member_of(node, "outputs")))
    for (const std::string_view name : names_of(result)) {
      call.results.push_back(name);
      call.tensors.push_back(!chosen_of(result).key.starts_with("as_sym_"));
    }
  if (call.graphs.size() != call.row->graphs) return false;
  for (const JsonValue graph : call.graphs) {
    const std::vector<JsonValue> results = items_of(member_of(graph, "outputs"));
    if (results.size() != call.results.size() ||
        items_of(member_of(graph, "inputs")).size() > call.operands.size())
      return false;
    for (const JsonValue result : results)
      if (call.graphs.size() > 1 && chosen_of(result).key != "as_tensor") return false;
  }
  return call.graphs.size() < 2 || call.before.size() == 1;
}

// A result of a condition is chosen from those of its branches; of another call it is the nested
// graph's own.
void ExportedGraphWriter::write_result(const NestedCall& call, std::size_t result,
                                       const std::vector<std::string>& values) {
  const std::string_view name = call.results[result];
  if (values.size() > 1)
    return write_node(defined(name), "aten.where.self", call.node,
                      fmt::format(R"(,"args":[{},{},{}])", call.before[0], values[0], values[1]));
  if (call.has_gradient || !call.tensors[result])
    scopes_.back()[std::string(name)] = values[0];
  else
    write_node(defined(name), "aten.detach.default", call.node,
               fmt::format(R"(,"args":[{}])", values[0]));
}

// An operand of a branch that is read as zeros where the branch isn't taken. Numbers and tensors of
// integers have no gradients and stay as they are.
std::string ExportedGraphWriter::gated(const NestedCall& call, std::size_t branch, JsonValue input,
                                       const std::string& operand) {
  if (call.graphs.size() < 2 || chosen_of(input).key != "as_tensor") return operand;
  const JsonValue meta = entry_of(call.graphs[branch], "tensor_values", names_of(input).front());
  if (!values_.is_differentiable(meta)) return operand;
  const std::string name = unused("gated");
  if (branch == 0)
    write_node(name, "aten.where.ScalarOther", call.node,
               fmt::format(R"(,"args":[{},{},0.0])", call.before[0], operand));
  else
    write_node(name, "aten.where.ScalarSelf", call.node,
               fmt::format(R"(,"args":[{},0.0,{}])", call.before[0], operand));
  return node_reference(name);
}

// The arguments that stand for the results. Operands beyond the graph's inputs come first: they
// are options of the call.
std::vector<std::string> ExportedGraphWriter::inline_graph(const NestedCall& call,
                                                           std::size_t branch) {
  const JsonValue graph = call.graphs[branch];
  const std::vector<JsonValue> inputs = items_of(member_of(graph, "inputs"));
  Names names;
  const std::size_t skipped = call.operands.size() - inputs.size();
  for (std::size_t i = 0; i < inputs.size(); ++i)
    for (const std::string_view name : names_of(inputs[i]))
      names[std::string(name)] = gated(call, branch, inputs[i], call.operands[skipped + i]);
  const std::size_t outer = std::exchange(inlined_, ++made_);
  const bool outer_autocast = std::exchange(autocast_, call.autocast.value_or(autocast_));
  scopes_.push_back(std::move(names));
  write_nodes(graph);
  std::vector<std::string> results;
  for (const JsonValue value : items_of(member_of(graph, "outputs"))) {
    const auto result = output(value);
    results.push_back(result ? *result : "null");
  }
  scopes_.pop_back();
  inlined_ = outer;
  autocast_ = outer_autocast;
  return results;
}

}  // namespace recut
