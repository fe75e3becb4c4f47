#include "engine/ir/graph_signature.h"

#include <fmt/core.h>

#include <algorithm>
#include <set>
#include <utility>

#include "engine/support/text.h"

namespace recut {
namespace {

class SignatureCheck {
 public:
  SignatureCheck(const Graph& graph, const GraphSignature& signature)
      : graph_(graph), signature_(signature) {}

  std::vector<std::string> run() {
    for (const Mutation& mutation : signature_.mutations) check(mutation);
    check_tangents();
    for (const DualInput& dual : signature_.dual_inputs) check(dual);
    for (const DualResult& dual : signature_.dual_results) check(dual);
    for (const auto& group : signature_.shared_storages) check(group);
    return std::move(faults_);
  }

 private:
  // Invalid, and a fault, where there is none of that name.
  NodeId input_of(const std::string& name) {
    const NodeId id = graph_.find(name);
    if (id.valid() && graph_.op(id).is(kInput)) return id;
    faults_.push_back(fmt::format("the signature names {}, expected an input", quote(name)));
    return {};
  }

  bool is_result(std::size_t index) {
    if (index < graph_.results.size() && graph_.results[index].valid()) return true;
    faults_.push_back(fmt::format("the signature names result {}, expected one of the {} results",
                                  index, graph_.results.size()));
    return false;
  }

  void check(const Mutation& mutation) {
    const NodeId input = input_of(mutation.input);
    if (!is_result(mutation.result) || !input.valid()) return;
    if (!written_.insert(mutation.input).second)
      faults_.push_back(fmt::format("two results are the new value of {}", quote(mutation.input)));
    if (!results_.insert(mutation.result).second)
      faults_.push_back(fmt::format("result {} is the new value of two inputs", mutation.result));
    const TensorType& was = graph_.type(input);
    const TensorType& now = graph_.type(graph_.results[mutation.result]);
    const bool fits = was.dtype == now.dtype &&
                      (mutation.metadata ? element_count(was.shape) == element_count(now.shape)
                                         : was.shape == now.shape);
    if (!fits)
      faults_.push_back(fmt::format("result {}, the new value of {}, is {}{}, expected {}{}",
                                    mutation.result, quote(mutation.input), short_name(now.dtype),
                                    format_shape(now.shape), short_name(was.dtype),
                                    format_shape(was.shape)));
  }

  void check_tangents() {
    if (signature_.tangent_of.empty()) return;
    std::vector<NodeId> tangents;
    for (const NodeId id : graph_.inputs())
      if (graph_.input_kind(id) == InputKind::tangent) tangents.push_back(id);
    if (tangents.size() != signature_.tangent_of.size()) {
      faults_.push_back(fmt::format("the signature tells of {} tangents, the graph has {}",
                                    signature_.tangent_of.size(), tangents.size()));
      return;
    }
    for (std::size_t i = 0; i < tangents.size(); ++i) {
      const std::size_t of = signature_.tangent_of[i];
      if (!is_result(of)) continue;
      if (graph_.type(tangents[i]).shape != graph_.type(graph_.results[of]).shape)
        faults_.push_back(fmt::format("{}, the tangent of result {}, has shape {}, expected {}",
                                      quote(graph_.node_name(tangents[i])), of,
                                      format_shape(graph_.type(tangents[i]).shape),
                                      format_shape(graph_.type(graph_.results[of]).shape)));
    }
  }

  void check_dual(NodeId primal, NodeId tangent, int level) {
    if (level < 0) faults_.push_back(fmt::format("a tangent of level {}", level));
    if (!duals_.emplace(primal, level).second)
      faults_.push_back(fmt::format("{} has two tangents at level {}, expected one",
                                    quote(graph_.node_name(primal)), level));
    if (graph_.type(primal).shape != graph_.type(tangent).shape)
      faults_.push_back(fmt::format(
          "{}, the tangent of {}, has shape {}, expected {}", quote(graph_.node_name(tangent)),
          quote(graph_.node_name(primal)), format_shape(graph_.type(tangent).shape),
          format_shape(graph_.type(primal).shape)));
  }

  void check(const DualInput& dual) {
    const NodeId primal = input_of(dual.primal), tangent = input_of(dual.tangent);
    if (primal.valid() && tangent.valid()) check_dual(primal, tangent, dual.level);
  }

  // Equal results are one node: of these each may have a tangent.
  void check(const DualResult& dual) {
    if (!is_result(dual.primal) || !is_result(dual.tangent)) return;
    if (!dual_results_.emplace(dual.primal, dual.level).second)
      faults_.push_back(fmt::format("result {} has two tangents at level {}, expected one",
                                    dual.primal, dual.level));
    const NodeId primal = graph_.results[dual.primal], tangent = graph_.results[dual.tangent];
    if (graph_.type(primal).shape != graph_.type(tangent).shape)
      faults_.push_back(
          fmt::format("result {}, the tangent of result {}, has shape {}, expected {}",
                      dual.tangent, dual.primal, format_shape(graph_.type(tangent).shape),
                      format_shape(graph_.type(primal).shape)));
  }

  void check(const std::vector<std::string>& group) {
    for (const std::string& name : group) input_of(name);
    if (group.size() < 2)
      faults_.push_back("the signature has a shared storage of fewer than two inputs");
  }

  const Graph& graph_;
  const GraphSignature& signature_;
  std::set<std::string> written_;
  std::set<std::size_t> results_;
  std::set<std::pair<NodeId, int>> duals_;
  std::set<std::pair<std::size_t, int>> dual_results_;
  std::vector<std::string> faults_;
};

}  // namespace

void set_signature(Graph& graph, GraphSignature signature) {
  graph.signature =
      signature.empty() ? nullptr : std::make_shared<const GraphSignature>(std::move(signature));
}

const Mutation* mutation_of(const Graph& graph, std::size_t result) {
  if (graph.signature == nullptr) return nullptr;
  for (const Mutation& mutation : graph.signature->mutations)
    if (mutation.result == result) return &mutation;
  return nullptr;
}

NodeId mutated_input(const Graph& graph, std::size_t result) {
  const Mutation* mutation = mutation_of(graph, result);
  return mutation == nullptr || mutation->metadata ? NodeId() : graph.find(mutation->input);
}

bool is_mutated(const Graph& graph, NodeId input) {
  if (graph.signature == nullptr) return false;
  const auto& mutations = graph.signature->mutations;
  return std::any_of(mutations.begin(), mutations.end(),
                     [&](const Mutation& mutation) { return graph.find(mutation.input) == input; });
}

std::vector<std::size_t> user_results(const Graph& graph) {
  std::vector<std::size_t> seen;
  for (std::size_t i = 0; i < graph.results.size(); ++i)
    if (mutation_of(graph, i) == nullptr) seen.push_back(i);
  return seen;
}

int next_dual_level(const Graph& graph) {
  int next = 0;
  if (graph.signature == nullptr) return next;
  for (const DualInput& dual : graph.signature->dual_inputs) next = std::max(next, dual.level + 1);
  for (const DualResult& dual : graph.signature->dual_results)
    next = std::max(next, dual.level + 1);
  return next;
}

GraphSignature without_tangents(const Graph& graph) {
  GraphSignature signature = graph.signature == nullptr ? GraphSignature() : *graph.signature;
  signature.tangent_of.clear();
  return signature;
}

GraphSignature with_results(const GraphSignature& signature, const std::vector<std::size_t>& kept) {
  const auto place_of = [&](std::size_t result) {
    return static_cast<std::size_t>(std::find(kept.begin(), kept.end(), result) - kept.begin());
  };
  GraphSignature to = signature;
  to.mutations.clear();
  for (const Mutation& mutation : signature.mutations)
    if (const std::size_t place = place_of(mutation.result); place < kept.size())
      to.mutations.push_back({place, mutation.input, mutation.value, mutation.metadata});
  to.dual_results.clear();
  for (const DualResult& dual : signature.dual_results) {
    const std::size_t primal = place_of(dual.primal), tangent = place_of(dual.tangent);
    if (primal < kept.size() && tangent < kept.size())
      to.dual_results.push_back({primal, tangent, dual.level});
  }
  for (std::size_t& result : to.tangent_of) result = place_of(result);
  const bool lost = std::any_of(to.tangent_of.begin(), to.tangent_of.end(),
                                [&](std::size_t result) { return result >= kept.size(); });
  if (lost) to.tangent_of.clear();
  return to;
}

std::vector<std::string> check_signature(const Graph& graph) {
  if (graph.signature == nullptr) return {};
  return SignatureCheck(graph, *graph.signature).run();
}

}  // namespace recut
