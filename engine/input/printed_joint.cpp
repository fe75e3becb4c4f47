// Writes a printed graph as fx-joint-graph JSON, so that printed and exported graphs have one
// reader. Each node is a line of the JSON, and `places` maps lines back to the printed text, for
// diagnostics.
//
// Some facts are not printed and follow from others: a graph is joint if its inputs are primals and
// tangents and some outputs depend on no tangent; the outputs before the gradients are results;
// types of an unknown operator's results come from the getitem nodes that read them. Each
// assumption that isn't certain is noted for the user.
#include "engine/input/printed_joint.h"

#include <fmt/core.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <unordered_set>

#include "engine/ir/operator.h"
#include "engine/support/text.h"

namespace recut {
namespace {

constexpr std::size_t kMaxAnnotationFaults = 20;
constexpr std::int64_t kMaxItem = 1'000;  // results of one call

bool is_tangent(std::string_view name) { return name.starts_with("tangents_"); }
bool is_primal(std::string_view name) { return name.starts_with("primals_"); }

// "# GradAOTOutput(grad_of=…)": false for an output without a word about it.
bool is_about(std::string_view comment, std::string_view what) {
  const std::size_t begin = comment.find_first_not_of("# ");
  return begin != std::string_view::npos && comment.substr(begin).starts_with(what);
}

std::size_t count_inputs(const PrintedModule& module, bool (*is_one)(std::string_view)) {
  std::size_t count = 0;
  for (const PrintedNode& node : module.nodes)
    if (node.kind == PrintedKind::placeholder && is_one(node.name)) ++count;
  return count;
}

// "# ac_graph_id: 1 - … File: /src/net.py:12 in forward, code: y = x" as
// "net.py:12 in forward: y = x".
std::string source_of(std::string_view comment) {
  const std::size_t file = comment.find("File: ");
  if (file == std::string_view::npos) return "";
  comment.remove_prefix(file + 6);
  const std::size_t code = comment.find(", code: ");
  std::string_view place = comment.substr(0, code);
  place.remove_prefix(std::min(place.rfind('/', place.find(" in ")) + 1, place.size()));
  const std::string_view words =
      code == std::string_view::npos ? std::string_view() : comment.substr(code + 8);
  return fmt::format("{}{}{}", place, words.empty() ? "" : ": ", words);
}

// {"recompute":"MUST_SAVE","ac_graph_id":1} of "# ac_graph_id: 1 - MUST_SAVE File: …", or of
// "# recompute: MUST_SAVE …"; "" where the comment names no policy.
std::string policy_of(std::string_view comment) {
  constexpr std::string_view kRegion = "ac_graph_id: ", kBare = "recompute: ";
  comment = comment.substr(0, comment.find("File: "));
  std::string_view region;
  if (const std::size_t at = comment.find(kRegion); at != std::string_view::npos) {
    comment.remove_prefix(at + kRegion.size());
    const std::size_t dash = comment.find(" - ");
    if (dash == std::string_view::npos) return "";
    region = comment.substr(0, dash);
    comment.remove_prefix(dash + 3);
  } else if (const std::size_t bare = comment.find(kBare); bare != std::string_view::npos) {
    comment.remove_prefix(bare + kBare.size());
  } else {
    return "";
  }
  std::string json = "{\"recompute\":";
  append_json_text(comment.substr(0, comment.find_first_of(" ,")), json);
  if (!region.empty()) {
    json += ",\"ac_graph_id\":";
    append_json_text(region, json);
  }
  return json + "}";
}

// The outputs: `joint` if outputs of forward stand before gradients, and `results`, the number of
// them.
struct Outputs {
  bool joint = false;
  std::size_t results = 0;
  bool told = false;  // the text says which they are
};

Outputs outputs_of(const PrintedModule& module) {
  const std::size_t primals = count_inputs(module, is_primal);
  const std::size_t tangents = count_inputs(module, is_tangent);
  const std::size_t all = module.outputs.size();
  Outputs found{false, all > primals ? all - primals : 0, false};
  for (std::size_t i = 0; i < all; ++i) {
    const std::string_view comment = module.outputs[i].comment;
    if (comment.empty() || is_about(comment, "None")) continue;
    if (!found.told) found.results = 0;
    found.told = true;
    if (!is_about(comment, "Grad")) found.results = i + 1;
  }
  if (module.flattened) {
    found.joint = tangents > 0 || primals > 0;
    return found;
  }
  std::size_t inputs = 0;
  std::unordered_set<std::string_view> late;
  for (const PrintedNode& node : module.nodes) {
    if (node.kind == PrintedKind::placeholder) ++inputs;
    bool depends = node.kind == PrintedKind::placeholder && is_tangent(node.name);
    for (const std::string_view use : node.uses) depends = depends || late.count(use) != 0;
    if (depends) late.insert(node.name);
  }
  found.joint = tangents > 0 && inputs == primals + tangents && found.results > 0;
  for (std::size_t i = 0; i < found.results && found.joint; ++i) {
    const std::string_view node = module.outputs[i].node;
    found.joint = !node.empty() && late.count(node) == 0;
  }
  return found;
}

// Writes the nodes of one module and of its nested graphs.
class ModuleWriter {
 public:
  ModuleWriter(JointText& text, Diagnostics& faults) : text_(text), faults_(faults) {}

  bool lacks_strides() const { return lacks_strides_; }
  bool has_unseen_results() const { return unseen_; }

  void write(const PrintedModule& module) {
    Facts facts;
    gather(module, facts);
    for (const PrintedNode& node : module.nodes) {
      begin_line(node.place);
      write_node(module, node, facts);
      text_.json += "},";
    }
    begin_line(module.end);
    text_.json += R"({"name":"output","op":"output","target":"output","args":[[)";
    for (const PrintedOutput& output : module.outputs) {
      if (text_.json.back() != '[') text_.json += ',';
      text_.json += output.json;
    }
    text_.json += "]]}";
  }

 private:
  using Views = std::unordered_set<std::string_view>;
  struct Facts {
    std::unordered_map<std::string_view, std::map<std::int64_t, std::string_view>> items;
    Views used;     // nodes that others, or the outputs, read
    Views targets;  // attributes' names: of nested graphs
    Views reals;    // symbolic numbers that are real
  };

  void begin_line(LineColumn place) {
    text_.json += '\n';
    text_.places.push_back(place);
  }

  static void gather(const PrintedModule& module, Facts& facts) {
    for (const PrintedNode& node : module.nodes) {
      for (const std::string_view use : node.uses) facts.used.insert(use);
      if (node.target != "getitem" || node.uses.size() != 1) continue;
      const std::size_t comma = node.arguments.rfind(',');
      const std::string_view index = std::string_view(node.arguments).substr(comma + 1);
      std::int64_t item = 0;
      for (const char c : index)
        item = c < '0' || c > '9' || item > kMaxItem ? -1 : item * 10 + c - '0';
      if (item >= 0 && item <= kMaxItem && !index.empty())
        facts.items[node.uses.front()].emplace(item, node.annotation);
    }
    for (const PrintedOutput& output : module.outputs)
      if (!output.node.empty()) facts.used.insert(output.node);
  }

  void write_node(const PrintedModule& module, const PrintedNode& node, Facts& facts) {
    std::string& json = text_.json;
    constexpr std::string_view kOps[] = {"placeholder", "get_attr", "call_function"};
    json += "{\"name\":";
    append_json_text(node.name, json);
    json += fmt::format(",\"op\":\"{}\",\"target\":", kOps[static_cast<std::size_t>(node.kind)]);
    append_json_text(node.target, json);
    if (!node.arguments.empty()) json += ",\"args\":[" + node.arguments + "]";
    if (!node.keywords.empty()) json += ",\"kwargs\":{" + node.keywords + "}";
    if (const std::string source = source_of(node.comment); !source.empty()) {
      json += ",\"source\":";
      append_json_text(source, json);
    }
    if (const std::string policy = policy_of(node.comment); !policy.empty())
      json += ",\"meta\":" + policy;
    write_types(node, facts);
    if (node.kind != PrintedKind::attribute) return;
    for (const PrintedModule& nested : module.nested) {
      if (nested.name != node.target) continue;
      json += ",\"subgraph\":[";
      write(nested);
      json += "]";
      return;
    }
  }

  std::optional<PrintedType> type_of(std::string_view annotation, LineColumn place) {
    const std::size_t before = text_.symbols.size();
    auto type = read_printed_type(annotation, text_.symbols);
    if (before == 0 && !text_.symbols.empty()) text_.first_symbol = place;
    if (type) return std::move(*type);
    if (faults_.size() < kMaxAnnotationFaults)
      faults_.push_back({type.diagnostics().front().message, {}, place.line, place.column});
    return std::nullopt;
  }

  void write_types(const PrintedNode& node, Facts& facts) {
    const Operator* op =
        node.kind == PrintedKind::call ? find_operator_by_target(node.target) : nullptr;
    if (node.annotation.empty()) {
      if (node.kind == PrintedKind::call && (op == nullptr || are_recorded(*op, node, facts)))
        write_items(node, facts);
      return;
    }
    const auto type = type_of(node.annotation, node.place);
    if (!type) return;
    if (type->number) return write_number(node, *type, facts);
    lacks_strides_ |= !type->strides;
    // The operator's rule knows the strides; a type without them would say that it is contiguous.
    if (!type->strides && op != nullptr && !op->is(kDataDependent)) return;
    text_.json += ",\"val\":" + type->json;
  }

  // Sizes that depend on data or on the device stand at the items alone. The operator's rule serves
  // where an item isn't read.
  static bool are_recorded(const Operator& op, const PrintedNode& node, const Facts& facts) {
    const auto items = facts.items.find(node.name);
    return op.is(kDataDependent) && items != facts.items.end() &&
           items->second.size() == op.outputs;
  }

  // A symbolic number is real if an operand is, or if it is a quotient.
  void write_number(const PrintedNode& node, const PrintedType& type, Facts& facts) {
    constexpr std::string_view kOperator = "_operator.";
    const std::string_view target = node.target;
    const std::string_view name =
        target.starts_with(kOperator) ? target.substr(kOperator.size()) : std::string_view();
    constexpr std::string_view kComparisons[] = {"lt", "le", "gt", "ge", "eq", "ne", "and_", "or_"};
    bool real = type.real || name == "truediv" || target.find("sym_float") != std::string::npos;
    if (!name.empty()) {
      real = real || node.real;
      for (const std::string_view use : node.uses) real = real || facts.reals.count(use) != 0;
    }
    const bool boolean =
        std::find(std::begin(kComparisons), std::end(kComparisons), name) != std::end(kComparisons);
    if (real && !boolean) facts.reals.insert(node.name);
    text_.json += fmt::format(",\"val\":{{\"sym\":{},\"type\":\"{}\"}}", type.json,
                              boolean ? "SymBool"
                              : real  ? "SymFloat"
                                      : "SymInt");
  }

  // The types of an unknown operator's results stand at the items that are read; an unused call has
  // no value.
  void write_items(const PrintedNode& node, const Facts& facts) {
    const auto items = facts.items.find(node.name);
    if (items == facts.items.end()) {
      if (facts.used.count(node.name) == 0) text_.json += ",\"val\":null";
      return;
    }
    std::string list;
    std::int64_t next = 0;
    for (const auto& [index, annotation] : items->second) {
      unseen_ |= next < index;
      for (; next < index; ++next) list += "null,";
      const auto type = annotation.empty() ? std::nullopt : type_of(annotation, node.place);
      if (type && type->number)
        list += fmt::format("{{\"sym\":{},\"type\":\"SymInt\"}},", type->json);
      else
        list += type ? type->json + "," : "null,";
      ++next;
    }
    list.pop_back();
    text_.json += ",\"val\":[" + list + "]";
  }

  JointText& text_;
  Diagnostics& faults_;
  bool lacks_strides_ = false;
  bool unseen_ = false;  // an unknown operator has unused results
};

// "PlainAOTInput(idx=0)" of "# TangentAOTInput(output=…)" behind that key; "" without it.
std::string_view described(std::string_view comment, std::string_view kind) {
  if (!is_about(comment, kind)) return {};
  const std::size_t open = comment.find('='), close = comment.rfind(')');
  return open == std::string_view::npos || close <= open
             ? std::string_view()
             : comment.substr(open + 1, close - open - 1);
}

// The comment without "# ".
std::string_view description_of(std::string_view comment) {
  comment.remove_prefix(std::min(comment.find_first_not_of("# "), comment.size()));
  return comment.substr(0, comment.find_last_not_of(' ') + 1);
}

// The graph's signature, as far as AOTAutograd's comments on inputs and outputs tell it.
void write_signature(const PrintedModule& module, std::string& json) {
  std::unordered_map<std::string_view, std::string_view> inputs;
  std::unordered_map<std::string_view, std::size_t> outputs;
  for (const PrintedNode& node : module.nodes)
    if (node.kind == PrintedKind::placeholder && !node.comment.empty())
      inputs.emplace(description_of(node.comment), node.name);
  std::string writes, tangents;
  for (std::size_t i = 0; i < module.outputs.size(); ++i) {
    const std::string_view comment = module.outputs[i].comment;
    if (comment.empty()) continue;
    outputs.emplace(description_of(comment), i);
    const auto input = inputs.find(described(comment, "InputMutationAOTOutput"));
    if (input == inputs.end() || module.outputs[i].node.empty()) continue;
    writes += fmt::format("{}{{\"result\":{},\"input\":", writes.empty() ? "" : ",", i);
    append_json_text(input->second, writes);
    writes += '}';
  }
  bool all = true;
  for (const PrintedNode& node : module.nodes) {
    if (node.kind != PrintedKind::placeholder || !is_tangent(node.name)) continue;
    const auto output = outputs.find(described(node.comment, "TangentAOTInput"));
    all = all && output != outputs.end();
    if (all) tangents += fmt::format("{}{}", tangents.empty() ? "" : ",", output->second);
  }
  if (!writes.empty()) json += ",\"writes\":[" + writes + "]";
  if (all && !tangents.empty()) json += ",\"tangents\":[" + tangents + "]";
}

void write_names(std::string_view key, const std::vector<std::string>& names, std::string& json) {
  json += fmt::format("\"{}\":[", key);
  for (const std::string& name : names) {
    if (json.back() != '[') json += ',';
    append_json_text(name, json);
  }
  json += ']';
}

void add_note(std::string words, std::string& note) { note += (note.empty() ? "" : "; ") + words; }

void write_notes(const PrintedModule& module, const Outputs& outputs, const ModuleWriter& writer,
                 std::string& note) {
  const std::size_t all = module.outputs.size();
  if (outputs.joint && !outputs.told)
    add_note(fmt::format("the printed graph doesn't say which outputs are results: the first {} of "
                         "{} are taken, for the others match its inputs as gradients",
                         outputs.results, all),
             note);
  if (!outputs.joint) {
    std::size_t saved = 0;
    for (const PrintedOutput& output : module.outputs)
      if (is_about(output.comment, "SavedForBackwards")) ++saved;
    if (saved > 0)
      add_note(fmt::format("{} of its {} results are values that PyTorch saves for backward", saved,
                           all),
               note);
    add_note("the printed graph doesn't say which inputs are parameters", note);
  }
  if (writer.has_unseen_results())
    add_note(
        "unused results of unknown operators have no printed type, and count no "
        "memory",
        note);
  if (writer.lacks_strides())
    add_note("the printed graph has values without strides: inputs are taken as contiguous", note);
}

}  // namespace

bool is_joint_module(const PrintedModule& module) { return outputs_of(module).joint; }

Result<JointText> write_joint_text(const PrintedModule& module,
                                   const std::map<std::string, Symbol, std::less<>>& symbols,
                                   const SavedNames* torch) {
  const Outputs outputs = outputs_of(module);
  const std::size_t primals = count_inputs(module, is_primal), all = module.outputs.size();
  if (outputs.joint && outputs.results + primals != all)
    return Diagnostic{fmt::format("{} outputs found, of which {} are results, for {} primals: "
                                  "expected one gradient or None for each primal",
                                  all, outputs.results, primals),
                      {},
                      module.end.line,
                      module.end.column};
  JointText text;
  Diagnostics faults;
  text.joint = outputs.joint;
  text.places.push_back(module.place);
  text.json = R"({"format":"fx-joint-graph","version":2,"model":)";
  append_json_text(module.name, text.json);
  if (outputs.joint) text.json += fmt::format(",\"num_fwd_outputs\":{}", outputs.results);
  text.json += outputs.joint ? ",\"joint\":[" : ",\"forward\":[";
  ModuleWriter writer(text, faults);
  writer.write(module);
  text.json += ']';
  auto all_symbols = symbols;
  for (const std::string& name : text.symbols) all_symbols.try_emplace(name);
  text.json += ",\"symbols\":" + symbols_json(all_symbols);
  if (outputs.joint) write_signature(module, text.json);
  if (torch != nullptr) {
    text.json += ",\"default_partition\":{";
    write_names("saved", torch->saved, text.json);
    text.json += ',';
    write_names("recomputed", torch->recomputed, text.json);
    text.json += '}';
  }
  text.json += '}';
  if (!faults.empty()) return faults;
  write_notes(module, outputs, writer, text.note);
  return text;
}

}  // namespace recut
