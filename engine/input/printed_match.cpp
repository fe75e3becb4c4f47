#include "engine/input/printed_match.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <set>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "engine/ir/operator.h"
#include "engine/support/text.h"

namespace recut {
namespace {

constexpr std::string_view kResultComment = "# PlainAOTOutput";
constexpr std::string_view kGradientComment = "# GradAOTOutput";
constexpr std::string_view kNodeKey = "{\"node\": \"";  // as PythonValues writes a reference

using NameMap = std::unordered_map<std::string_view, std::string_view>;

bool is_input(const PrintedNode& node) { return node.kind == PrintedKind::placeholder; }
bool is_tangent_input(const PrintedNode& node) {
  return is_input(node) && node.name.starts_with("tangents_");
}

// "f32[8, s5]" of "f32[8, s5][s5, 1]cuda:0": a pass may have changed the strides.
std::string_view dtype_and_sizes(std::string_view annotation) {
  const std::size_t end = annotation.find(']');
  return annotation.substr(0, end == std::string_view::npos ? end : end + 1);
}

bool is_size_annotation(std::string_view annotation) { return annotation.starts_with("Sym("); }

// A call that writes to an operand: "aten.copy_.default".
bool writes_in_place(const PrintedNode& node) {
  std::string_view target = node.target;
  if (node.kind != PrintedKind::call || target.starts_with("_operator.")) return false;
  const std::size_t first = target.find('.');
  if (first == std::string_view::npos) return false;
  target = target.substr(first + 1);
  const std::string_view name = target.substr(0, target.find('.'));
  return name.ends_with('_') && !name.ends_with("__");
}

bool draws_random_numbers(const PrintedNode& node) {
  const Operator* op = find_operator_by_target(node.target);
  return op != nullptr && op->is(kImpure);
}

// JSON with the nodes' new names.
std::string renamed(const std::string& json, const NameMap& names) {
  std::string text;
  for (std::size_t at = 0;;) {
    const std::size_t found = json.find(kNodeKey, at);
    if (found == std::string::npos) return text + json.substr(at);
    const std::size_t begin = found + kNodeKey.size(), end = json.find('"', begin);
    text += json.substr(at, begin - at);
    const std::string_view name = std::string_view(json).substr(begin, end - begin);
    const auto other = names.find(name);
    text += other == names.end() ? name : other->second;
    at = end;
  }
}

bool same_node(const PrintedNode& a, const PrintedNode& b) {
  return a.kind == b.kind && a.name == b.name && a.target == b.target &&
         a.arguments == b.arguments && a.keywords == b.keywords &&
         dtype_and_sizes(a.annotation) == dtype_and_sizes(b.annotation);
}

bool same_module(const PrintedModule& a, const PrintedModule& b) {
  return a.name == b.name &&
         std::equal(a.nodes.begin(), a.nodes.end(), b.nodes.begin(), b.nodes.end(), same_node) &&
         std::equal(
             a.outputs.begin(), a.outputs.end(), b.outputs.begin(), b.outputs.end(),
             [](const PrintedOutput& x, const PrintedOutput& y) { return x.json == y.json; }) &&
         std::equal(a.nested.begin(), a.nested.end(), b.nested.begin(), b.nested.end(),
                    same_module);
}

const PrintedModule* nested_of(const PrintedModule& module, std::string_view name) {
  for (const PrintedModule& nested : module.nested)
    if (nested.name == name) return &nested;
  return nullptr;
}

// Names of nodes that depend on an input which some call writes to: a second run of the same call
// may see other values. `all` where a call writes to something else than an input.
struct UnstableNames {
  explicit UnstableNames(const PrintedModule& module) {
    std::unordered_set<std::string_view> inputs;
    for (const PrintedNode& node : module.nodes) {
      if (is_input(node)) inputs.insert(node.name);
      if (!writes_in_place(node) || node.uses.empty()) continue;
      all = all || inputs.count(node.uses.front()) == 0;
      names.insert(node.uses.front());
    }
    for (const PrintedNode& node : module.nodes)
      for (const std::string_view use : node.uses)
        if (names.count(use) != 0) names.insert(node.name);
  }

  bool has(std::string_view name) const { return all || names.count(name) != 0; }

  std::unordered_set<std::string_view> names;
  bool all = false;
};

class Matcher {
 public:
  Matcher(const PrintedModule& forward, const PrintedModule& backward)
      : forward_(forward), backward_(backward), unstable_(forward) {}

  Result<MatchedGraph> match() {
    for (const PrintedNode& node : forward_.nodes) forward_nodes_.emplace(node.name, &node);
    if (auto fault = match_inputs()) return std::move(*fault);
    if (auto fault = check_gradients()) return std::move(*fault);
    build();
    return std::move(matched_);
  }

 private:
  Diagnostic fault(LineColumn place, std::string message) const {
    return {
        "forward and backward don't match: " + std::move(message), {}, place.line, place.column};
  }

  std::size_t results() const { return forward_.outputs.size() - saved_inputs_.size(); }

  // The values that forward saves and backward reads: by name if all names agree, else by order.
  std::optional<Diagnostic> match_inputs() {
    for (const PrintedNode& node : backward_.nodes)
      if (is_input(node) && !is_tangent_input(node)) saved_inputs_.push_back(&node);
    if (saved_inputs_.size() > forward_.outputs.size())
      return fault(backward_.place,
                   fmt::format("backward has {} inputs beside tangents, and forward returns {}",
                               saved_inputs_.size(), forward_.outputs.size()));
    std::unordered_map<std::string_view, const PrintedOutput*> saved;
    for (std::size_t i = results(); i < forward_.outputs.size(); ++i)
      saved.emplace(forward_.outputs[i].node, &forward_.outputs[i]);
    const bool named =
        std::all_of(saved_inputs_.begin(), saved_inputs_.end(),
                    [&](const PrintedNode* input) { return saved.count(input->name) != 0; });
    const std::vector<const PrintedOutput*> by_order = outputs_by_order();
    for (std::size_t i = 0; i < saved_inputs_.size(); ++i) {
      const PrintedNode& input = *saved_inputs_[i];
      const PrintedOutput& output = named ? *saved.at(input.name) : *by_order[i];
      if (auto fault = match_input(input, output)) return fault;
    }
    return std::nullopt;
  }

  // Forward returns saved tensors before saved sizes; backward takes the sizes first.
  std::vector<const PrintedOutput*> outputs_by_order() const {
    std::vector<const PrintedOutput*> outputs;
    for (std::size_t i = results(); i < forward_.outputs.size(); ++i)
      outputs.push_back(&forward_.outputs[i]);
    std::stable_partition(outputs.begin(), outputs.end(), [&](const PrintedOutput* output) {
      const auto node = forward_nodes_.find(output->node);
      return node != forward_nodes_.end() && is_size_annotation(node->second->annotation);
    });
    return outputs;
  }

  std::optional<Diagnostic> match_input(const PrintedNode& input, const PrintedOutput& output) {
    const auto found = forward_nodes_.find(output.node);
    if (found == forward_nodes_.end())
      return fault(input.place, fmt::format("for {} forward returns no node", quote(input.name)));
    const std::string_view saved = dtype_and_sizes(found->second->annotation);
    const std::string_view read = dtype_and_sizes(input.annotation);
    if (saved != read)
      return fault(input.place, fmt::format("backward reads {} as {}, and forward returns {} as {}",
                                            quote(input.name), read, quote(output.node),
                                            saved.empty() ? "something without a type" : saved));
    names_.emplace(input.name, output.node);
    if (!is_size_annotation(input.annotation)) matched_.torch.saved.emplace_back(output.node);
    return std::nullopt;
  }

  std::optional<Diagnostic> check_gradients() const {
    std::size_t primals = 0;
    for (const PrintedNode& node : forward_.nodes) {
      if (!is_input(node)) continue;
      ++primals;
      if (!node.name.starts_with("primals_"))
        return fault(node.place, fmt::format("forward's input {} is no primal", quote(node.name)));
    }
    if (primals != backward_.outputs.size())
      return fault(backward_.end,
                   fmt::format("backward returns {} gradients for forward's {} inputs",
                               backward_.outputs.size(), primals));
    return std::nullopt;
  }

  void build() {
    PrintedModule& joint = matched_.joint;
    joint.name = forward_.name;
    joint.place = forward_.place;
    joint.end = backward_.end;
    joint.flattened = true;
    joint.nested = forward_.nested;
    for (const PrintedNode& node : forward_.nodes)
      if (is_input(node)) joint.nodes.push_back(node);
    for (const PrintedNode& node : backward_.nodes)
      if (is_tangent_input(node)) add(node);
    for (const PrintedNode& node : forward_.nodes)
      if (!is_input(node)) joint.nodes.push_back(node);
    for (const PrintedNode& node : backward_.nodes)
      if (!is_input(node)) add(node);
    for (std::size_t i = 0; i < results(); ++i) add_output(forward_.outputs[i], kResultComment);
    for (const PrintedOutput& output : backward_.outputs) {
      PrintedOutput gradient = output;
      gradient.json = renamed(output.json, names_);
      if (const auto other = names_.find(output.node); other != names_.end())
        gradient.node = other->second;
      add_output(std::move(gradient), kGradientComment);
    }
  }

  void add_output(PrintedOutput output, std::string_view comment) {
    if (output.comment.empty()) output.comment = comment;
    matched_.joint.outputs.push_back(std::move(output));
  }

  // A node of backward, unless forward has it.
  void add(PrintedNode node) {
    node.arguments = renamed(node.arguments, names_);
    node.keywords = renamed(node.keywords, names_);
    for (std::string_view& use : node.uses)
      if (const auto other = names_.find(use); other != names_.end()) use = other->second;
    const auto twin = forward_nodes_.find(node.name);
    if (twin != forward_nodes_.end() && is_same(*twin->second, node)) {
      if (node.kind == PrintedKind::call) matched_.torch.recomputed.emplace_back(node.name);
      return;
    }
    if (node.kind == PrintedKind::attribute) add_nested(node);
    if (twin != forward_nodes_.end()) {
      const std::string_view before = node.name;
      node.name = free_name(node.name);
      names_.emplace(before, node.name);
    }
    matched_.joint.nodes.push_back(std::move(node));
  }

  // True if a node of backward, in the joint graph's names, is that one of forward.
  bool is_same(const PrintedNode& twin, const PrintedNode& node) const {
    if (!same_node(twin, node) || unstable_.has(node.name) || draws_random_numbers(node) ||
        writes_in_place(node))
      return false;
    if (node.kind != PrintedKind::attribute) return true;
    const PrintedModule* here = nested_of(forward_, node.target);
    const PrintedModule* there = nested_of(backward_, node.target);
    if (here == nullptr || there == nullptr) return here == there;
    return same_module(*here, *there);
  }

  // The nested graph of an attribute, under a name that no graph of forward has.
  void add_nested(PrintedNode& node) {
    const PrintedModule* nested = nested_of(backward_, node.target);
    if (nested == nullptr) return;
    PrintedModule copy = *nested;
    if (nested_of(matched_.joint, nested->name) != nullptr) {
      const std::string_view name = keep(fmt::format("{}_backward", nested->name));
      copy.name = nested_of(matched_.joint, name) == nullptr
                      ? name
                      : keep(fmt::format("{}_{}", name, matched_.joint.nested.size()));
      node.target = std::string(copy.name);
    }
    matched_.joint.nested.push_back(std::move(copy));
  }

  std::string_view keep(std::string name) { return matched_.names.emplace_back(std::move(name)); }

  // "exp_1_backward", or with a number behind it.
  std::string_view free_name(std::string_view name) {
    if (taken_.empty())
      for (const PrintedModule* module : {&forward_, &backward_})
        for (const PrintedNode& node : module->nodes) taken_.emplace(node.name);
    std::string candidate = fmt::format("{}_backward", name);
    for (int i = 2; !taken_.insert(candidate).second; ++i)
      candidate = fmt::format("{}_backward_{}", name, i);
    return keep(std::move(candidate));
  }

  const PrintedModule& forward_;
  const PrintedModule& backward_;
  const UnstableNames unstable_;
  std::unordered_map<std::string_view, const PrintedNode*> forward_nodes_;
  std::vector<const PrintedNode*> saved_inputs_;  // of backward
  NameMap names_;                                 // of backward's nodes in the joint graph
  std::set<std::string, std::less<>> taken_;
  MatchedGraph matched_;
};

}  // namespace

Result<MatchedGraph> match_modules(const PrintedModule& forward, const PrintedModule& backward) {
  return Matcher(forward, backward).match();
}

}  // namespace recut
