#include "tests/autodiff/derivative_check.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <sstream>

#include "engine/autodiff/derivative_rule.h"
#include "engine/autodiff/differentiate.h"
#include "engine/eval/evaluator.h"
#include "engine/input/text.h"
#include "engine/ir/verifier.h"
#include "engine/support/hash.h"

namespace recut::test {
namespace {

using Numbers = std::vector<double>;

std::string trimmed(std::string text) {
  const auto blank = [](char c) { return c == ' ' || c == '\n'; };
  while (!text.empty() && blank(text.front())) text.erase(text.begin());
  while (!text.empty() && blank(text.back())) text.pop_back();
  return text;
}

std::vector<std::string> split(const std::string& text, char at) {
  std::vector<std::string> parts;
  std::stringstream stream(text);
  for (std::string part; std::getline(stream, part, at);)
    if (!trimmed(part).empty()) parts.push_back(trimmed(part));
  return parts;
}

// "a:2,3+" as "%a+ = parameter f64[2, 3]": the name's suffix selects the values.
std::string input_line(const std::string& word) {
  const auto colon = word.find(':');
  const auto end = word.find_first_not_of("0123456789,", colon + 1);
  const std::string sizes =
      word.substr(colon + 1, end == std::string::npos ? end : end - colon - 1);
  const std::string values = end == std::string::npos ? "" : word.substr(end);
  const bool integers = values.rfind('<', 0) == 0, bools = values == "?";
  return fmt::format("  %{} = {} {}[{}]\n", word.substr(0, colon),
                     integers || bools || word.front() < 'a' ? "input" : "parameter",
                     integers ? "i64"
                     : bools  ? "bool"
                              : "f64",
                     sizes);
}

// Results: each real output of the last call that its rule gives a derivative.
Result<Graph> with_results(Graph graph) {
  const NodeId last = graph.order().back();
  if (!graph.op(last).multiple_outputs()) {
    graph.results = {last};
    return graph;
  }
  const autodiff::DerivativeRule* rule = autodiff::find_derivative_rule(graph[last].op);
  for (std::size_t i = 0; i < graph[last].outputs.size(); ++i) {
    if (rule != nullptr && static_cast<int>(i) >= rule->outputs) continue;
    if (!is_floating(graph[last].outputs[i].dtype)) continue;
    auto item = graph.make(Op::getitem, {Argument(last), Argument(static_cast<std::int64_t>(i))});
    if (!item) return item.diagnostics();
    graph.results.push_back(*item);
  }
  return graph;
}

}  // namespace

Result<Graph> sample_graph(std::string_view sample) {
  const auto parts = split(std::string(sample), '|');
  if (parts.size() != 2) return error("a sample is INPUTS | CALLS");
  std::string text = "graph \"" + parts[0] + "\" {\n";
  for (const std::string& word : split(parts[0], ' ')) text += input_line(word);
  for (const std::string& call : split(parts[1], ';'))
    text += (call.front() == '%' ? "  " : "  %y = ") + call + "\n";
  auto graph = parse_graph_text(text + "}\n", "sample");
  if (!graph) return graph;
  return with_results(std::move(*graph));
}

namespace {

// An input's values, from the sample that the graph is named after.
std::string values_of(const Graph& graph, const std::string& name) {
  for (const std::string& word : split(graph.name, ' ')) {
    if (word.rfind(name + ":", 0) != 0) continue;
    const auto end = word.find_first_not_of("0123456789,", name.size() + 1);
    return end == std::string::npos ? "" : word.substr(end);
  }
  return "";
}

// Numbers without a pattern in [0, 1), the same everywhere.
double noise(std::string_view name, std::int64_t i) {
  const std::uint64_t h = hash_mix(hash_text(7, name), static_cast<std::uint64_t>(i));
  return static_cast<double>(hash_mix(h, 3) >> 11) / 9007199254740992.0;
}

double value(const std::string& kind, std::string_view name, std::int64_t i, std::int64_t count) {
  const double u = noise(name, i);
  if (kind == "+") return 0.5 + u;
  if (kind == "u") return 0.1 + 0.8 * u;
  if (kind == "s") return (u < 0.5 ? -1 : 1) * (0.4 + 1.2 * std::abs(u - 0.5));
  if (kind == "d")
    return (static_cast<double>((i * 7 + 3) % count) + 0.3 * u) * 3 / static_cast<double>(count) -
           1.2;
  if (kind == "?") return u < 0.5 ? 0 : 1;
  if (kind.rfind('<', 0) == 0) {
    const double n = std::stod(kind.substr(1));
    return kind.back() == '=' ? std::fmod(static_cast<double>(i), n) : std::floor(u * n);
  }
  return 2 * u - 1;
}

Tensor tensor_of(const TensorType& type, const Numbers& numbers) {
  Tensor tensor = allocate(type, nullptr);
  Reals dense;
  dense.shape = type.shape;
  dense.data = numbers;
  pack(dense, tensor);
  return tensor;
}

Numbers numbers_for(const TensorType& type, const std::string& kind, std::string_view name) {
  Numbers numbers;
  const std::int64_t count = element_count(type.shape);
  for (std::int64_t i = 0; i < count; ++i) numbers.push_back(value(kind, name, i, count));
  return numbers;
}

double dot(const Numbers& a, const Numbers& b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size() && i < b.size(); ++i) sum += a[i] * b[i];
  return sum;
}

struct Checker {
  const Graph& graph;
  std::string faults;
  std::map<std::string, Numbers> values;  // by input's name, also of tangents

  void report_error(const std::string& what) { faults += what + "\n"; }
  bool report_errors(const Diagnostics& diagnostics, const char* where) {
    for (const Diagnostic& d : diagnostics) report_error(fmt::format("{}: {}", where, d.message));
    return false;
  }

  void fill(const Graph& g) {
    for (const NodeId id : g.inputs()) {
      const std::string& name = g.node_name(id);
      if (values.count(name) == 0)
        values[name] = numbers_for(g.type(id), values_of(graph, name), name);
    }
  }

  std::optional<std::vector<Numbers>> run(const Graph& g, const char* where) {
    fill(g);
    Inputs inputs;
    for (const NodeId id : g.inputs()) inputs[id] = tensor_of(g.type(id), values[g.node_name(id)]);
    const auto evaluation = evaluate(g, inputs);
    if (!evaluation) return report_errors(evaluation.diagnostics(), where), std::nullopt;
    std::vector<Numbers> outputs;
    for (const Tensor& t : evaluation->outputs)
      outputs.push_back(t.exists() ? unpack<double>(t).data : Numbers{});
    return outputs;
  }

  // Of `weights` dotted with the graph's outputs from `first` on.
  std::optional<double> weighted(const Graph& g, const std::vector<Numbers>& weights,
                                 std::size_t first = 0) {
    const auto outputs = run(g, "differences");
    if (!outputs) return std::nullopt;
    double sum = 0;
    for (std::size_t i = 0; i < weights.size(); ++i) sum += dot(weights[i], (*outputs)[first + i]);
    return sum;
  }

  void compare(double found, double expected, double tolerance, const std::string& what) {
    if (!(std::abs(found - expected) <= tolerance * std::max(1.0, std::abs(expected))))
      report_error(fmt::format("{}: found {}, expected {}", what, found, expected));
  }
};

constexpr double kStep = 1e-5;

// The graph with other outputs; tangents become plain inputs.
Graph with_outputs(const Graph& from, const std::vector<NodeId>& results) {
  Graph to = from.empty_like();
  for (const NodeId id : from.order()) {
    const Node& node = from[id];
    if (node.op == Op::placeholder) {
      const InputKind kind = from.input_kind(id);
      to.add_input(kind == InputKind::tangent ? InputKind::input : kind, node.type(),
                   from.origin(id));
    } else {
      to.append(node.op, node.arguments, node.outputs, from.origin(id));
    }
  }
  to.results = results;
  return to;
}

std::vector<NodeId> valid_ones(const std::vector<NodeId>& ids) {
  std::vector<NodeId> valid;
  for (const NodeId id : ids)
    if (id.valid()) valid.push_back(id);
  return valid;
}

// Gradients of sum(tangent · result) against differences of that sum, element by element.
void check_reverse(Checker& c, const Graph& joint) {
  const auto outputs = c.run(joint, "reverse mode");
  if (!outputs) return;
  std::vector<Numbers> weights;
  for (const NodeId id : joint.inputs())
    if (joint.input_kind(id) == InputKind::tangent)
      weights.push_back(c.values[joint.node_name(id)]);
  std::size_t index = 0;
  for (const NodeId id : c.graph.inputs()) {
    const std::size_t gradient = index++;
    if (!joint.gradients[gradient].valid()) continue;
    const Numbers& found = (*outputs)[joint.results.size() + gradient];
    Numbers& x = c.values[c.graph.node_name(id)];
    for (std::size_t i = 0; i < x.size(); ++i) {
      const double middle = x[i];
      x[i] = middle + kStep;
      const auto above = c.weighted(c.graph, weights);
      x[i] = middle - kStep;
      const auto below = c.weighted(c.graph, weights);
      x[i] = middle;
      if (!above || !below) return;
      c.compare(found[i], (*above - *below) / (2 * kStep), 1e-6,
                fmt::format("gradient of {}[{}]", c.graph.node_name(id), i));
    }
  }
}

// Moves every input that has a tangent along it.
void move(Checker& c, const Jvp& forward, double step) {
  for (std::size_t i = 0; i < forward.inputs.size(); ++i) {
    Numbers& x = c.values[forward.graph.node_name(forward.inputs[i])];
    const Numbers& along = c.values[forward.graph.node_name(forward.input_tangents[i])];
    for (std::size_t k = 0; k < x.size(); ++k) x[k] += step * along[k];
  }
}

// Tangents of `g`'s outputs against differences along the inputs' tangents.
std::optional<std::vector<Numbers>> check_forward(Checker& c, const Graph& g, const Jvp& forward,
                                                  const char* what) {
  const auto outputs = c.run(forward.graph, what);
  if (!outputs) return std::nullopt;
  move(c, forward, kStep);
  const auto above = c.run(g, what);
  move(c, forward, -2 * kStep);
  const auto below = c.run(g, what);
  move(c, forward, kStep);
  if (!above || !below) return std::nullopt;
  std::vector<Numbers> tangents;
  for (std::size_t i = 0; i < forward.tangents.size(); ++i) {
    const Numbers& found = (*outputs)[forward.tangents[i]];
    const Numbers &a = (*above)[forward.primal[i]], &b = (*below)[forward.primal[i]];
    for (std::size_t k = 0; k < found.size(); ++k)
      c.compare(found[k], (a[k] - b[k]) / (2 * kStep), 1e-6,
                fmt::format("{}: output {}[{}]", what, i, k));
    tangents.push_back(found);
  }
  return tangents;
}

// u·(J v) = (J^T u)·v, to rounding.
void check_products(Checker& c, const Graph& joint, const std::vector<Numbers>& tangents) {
  const auto outputs = c.run(joint, "reverse mode");
  if (!outputs) return;
  double left = 0, right = 0;
  std::size_t k = 0;
  for (const NodeId id : joint.inputs())
    if (joint.input_kind(id) == InputKind::tangent)
      left += dot(c.values[joint.node_name(id)], tangents[k++]);
  std::size_t index = 0;
  for (const NodeId id : c.graph.inputs()) {
    const std::size_t gradient = index++;
    if (joint.gradients[gradient].valid())
      right += dot((*outputs)[joint.results.size() + gradient],
                   c.values[c.graph.node_name(id) + "_tangent"]);
  }
  c.compare(left, right, 1e-7, "u (J v) and (J^T u) v");
}

// Hessian-vector products: forward mode of the gradients, and reverse mode of their dot product
// with the same direction.
void check_twice(Checker& c, const Graph& joint) {
  const Graph gradients = with_outputs(joint, valid_ones(joint.gradients));
  std::vector<std::string> requires_grad;
  std::size_t index = 0;
  for (const NodeId id : c.graph.inputs())
    if (joint.gradients[index++].valid()) requires_grad.push_back(c.graph.node_name(id));
  const auto forward = jvp(gradients, {std::nullopt, requires_grad});
  if (!forward) return void(c.report_errors(forward.diagnostics(), "forward over reverse"));
  const auto products = check_forward(c, gradients, *forward, "forward over reverse");
  if (!products) return;
  std::vector<std::size_t> all;
  for (std::size_t i = 0; i < gradients.results.size(); ++i) all.push_back(i);
  const auto reverse = differentiate(gradients, {all, requires_grad});
  if (!reverse) return void(c.report_errors(reverse.diagnostics(), "reverse over reverse"));
  std::size_t k = 0;
  for (const NodeId id : reverse->inputs())
    if (reverse->input_kind(id) == InputKind::tangent)
      c.values[reverse->node_name(id)] = c.values[requires_grad[k++] + "_tangent"];
  const auto outputs = c.run(*reverse, "reverse over reverse");
  if (!outputs) return;
  k = 0;
  for (std::size_t i = 0; i < reverse->gradients.size(); ++i) {
    if (!reverse->gradients[i].valid()) continue;
    const Numbers& found = (*outputs)[reverse->results.size() + i];
    const auto at = static_cast<std::size_t>(std::find(requires_grad.begin(), requires_grad.end(),
                                                       reverse->node_name(reverse->inputs()[i])) -
                                             requires_grad.begin());
    for (std::size_t e = 0; e < found.size(); ++e)
      c.compare(found[e], (*products)[at][e], 1e-8,
                fmt::format("reverse over reverse: {}[{}]", requires_grad[at], e));
  }
}

}  // namespace

std::string derivative_faults(const Graph& graph, Depth depth) {
  Checker c{graph, {}, {}};
  std::vector<std::size_t> all;
  for (std::size_t i = 0; i < graph.results.size(); ++i) all.push_back(i);
  const auto joint = differentiate(graph, {all, std::nullopt});
  if (!joint) return c.report_errors(joint.diagnostics(), "reverse mode"), c.faults;
  for (const Failure& failure : verify(*joint)) c.report_error("joint graph: " + failure.message);
  c.fill(graph);
  check_reverse(c, *joint);
  const auto forward = jvp(graph);
  if (!forward) return c.report_errors(forward.diagnostics(), "forward mode"), c.faults;
  for (const Failure& failure : verify(forward->graph))
    c.report_error("forward mode: " + failure.message);
  const auto tangents = check_forward(c, graph, *forward, "forward mode");
  if (tangents) check_products(c, *joint, *tangents);
  if (depth == Depth::twice && c.faults.empty()) check_twice(c, *joint);
  return c.faults;
}

std::set<std::string> operators_in(const Graph& graph) {
  std::set<std::string> names;
  const auto joint = differentiate(graph);
  for (const Graph* g : {&graph, joint ? &*joint : &graph})
    for (const NodeId id : g->order())
      if (!g->op(id).is(kInput)) names.insert(std::string(g->op(id).name));
  return names;
}

}  // namespace recut::test
