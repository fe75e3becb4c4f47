// Reduces a failing graph as delta debugging does (Zeller and Hildebrandt 2002): it removes chunks
// of candidates, halves the chunk size until single candidates remain, and repeats all kinds of
// reduction until none succeeds. A reduction removes outputs, moves an output to its operands,
// replaces calls by constants or by an operand of equal type, removes unread inputs, or halves
// dimensions.
//
// Invariant: the current graph is valid and still fails the check. Each step lowers weight(), so
// the search terminates, and the result is 1-minimal: no single further reduction keeps the
// failure. Cost: the checks, which are shell commands or evaluations; O(n log n) of them mostly,
// O(n^2) at worst.
#include "engine/passes/minimize.h"

#include <algorithm>
#include <functional>
#include <set>
#include <utility>

#include "engine/ir/copy.h"
#include "engine/ir/rebuild.h"
#include "engine/ir/type.h"
#include "engine/ir/verifier.h"
#include "engine/passes/smaller_extents.h"

namespace recut {
namespace {

// Indices of candidates: of outputs, counted from the first result to the last gradient, or of
// nodes in the graph's order.
using Indices = std::vector<std::size_t>;

// One kind of reduction: its candidates, and the graph without some of them.
struct Step {
  Indices (*candidates)(const Graph& graph);
  Graph (*without)(const Graph& graph, const Indices& taken);
};

Indices outputs(const Graph& graph) {
  Indices indices;
  const std::size_t results = graph.results.size();
  for (std::size_t i = 0; i < results + graph.gradients.size(); ++i)
    if (i < results || graph.gradients[i - results].valid()) indices.push_back(i);
  return indices;
}

// Gradients keep their indices, one an input, while any is left.
Graph without_outputs(const Graph& graph, const Indices& taken) {
  Graph smaller = graph;
  const std::set<std::size_t> removed(taken.begin(), taken.end());
  smaller.results.clear();
  for (std::size_t i = 0; i < graph.results.size(); ++i)
    if (removed.count(i) == 0) smaller.results.push_back(graph.results[i]);
  bool any = false;
  for (std::size_t i = 0; i < graph.gradients.size(); ++i) {
    NodeId& gradient = smaller.gradients[i];
    if (removed.count(graph.results.size() + i) != 0) gradient = NodeId();
    any = any || gradient.valid();
  }
  if (!any) smaller.gradients.clear();
  return smaller;
}

// Replaces outputs by their operands, which become results: a gradient's operand is no gradient.
Graph with_operands_as_outputs(const Graph& graph, const Indices& taken) {
  Graph smaller = without_outputs(graph, taken);
  const auto add = [&](NodeId id) {
    if (graph.op(id).is(kInput) || graph.op(id).multiple_outputs()) return;
    auto& results = smaller.results;
    if (std::find(results.begin(), results.end(), id) == results.end()) results.push_back(id);
  };
  const std::size_t results = graph.results.size();
  for (const std::size_t i : taken) {
    const NodeId output = i < results ? graph.results[i] : graph.gradients[i - results];
    for (const NodeId operand : graph[output].operands) {
      add(operand);
      if (graph.op(operand).multiple_outputs())
        for (const NodeId id : graph[operand].operands) add(id);
    }
  }
  return smaller;
}

bool gives_a_tensor(const Graph& graph, NodeId id) {
  return !graph.op(id).is(kInput) && !graph.op(id).multiple_outputs();
}

// An operand of the call's type that can replace it, if any.
NodeId substitute(const Graph& graph, NodeId call) {
  for (const NodeId operand : graph[call].operands)
    if (!graph.op(operand).multiple_outputs() && graph.type(operand) == graph.type(call))
      return operand;
  return NodeId();
}

template <class Predicate>
Indices nodes_where(const Graph& graph, Predicate predicate) {
  Indices indices;
  for (std::size_t i = 0; i < graph.order().size(); ++i)
    if (predicate(graph.order()[i])) indices.push_back(i);
  return indices;
}

Indices calls(const Graph& graph) {
  return nodes_where(graph, [&](NodeId id) { return gives_a_tensor(graph, id); });
}

Indices replaceable_calls(const Graph& graph) {
  return nodes_where(
      graph, [&](NodeId id) { return gives_a_tensor(graph, id) && substitute(graph, id).valid(); });
}

Indices unread_inputs(const Graph& graph) {
  const Users users(graph);
  return nodes_where(graph, [&](NodeId id) {
    const auto is_output = [&](const std::vector<NodeId>& list) {
      return std::find(list.begin(), list.end(), id) != list.end();
    };
    return graph.op(id).is(kInput) && users.of(id).empty() && !is_output(graph.results) &&
           !is_output(graph.gradients);
  });
}

// The graph with the taken nodes replaced by `replacement(to, old, map)`; an invalid id removes the
// node. Types do not change, so that all other nodes stay.
using Map = std::vector<NodeId>;
using Replacement = std::function<NodeId(Graph& to, NodeId old, const Map& map)>;

Graph with_images(const Graph& from, const Indices& taken, const Replacement& replacement) {
  const std::set<std::size_t> removed(taken.begin(), taken.end());
  Graph to = from.empty_like();
  Map map(from.order().size());
  const auto mapped = [&](NodeId id) { return id.valid() ? map[from.position(id)] : id; };
  for (std::size_t i = 0; i < map.size(); ++i) {
    const NodeId id = from.order()[i];
    map[i] = removed.count(i) != 0 ? replacement(to, id, map)
                                   : copy_node(from, id, to, from.origin(id), mapped);
  }
  for (const NodeId id : from.results) to.results.push_back(mapped(id));
  std::size_t index = 0;
  for (const NodeId id : from.inputs()) {
    if (from.gradients.empty() || from.input_kind(id) == InputKind::tangent) continue;
    const NodeId gradient = from.gradients[index++];
    if (removed.count(from.position(id)) == 0) to.gradients.push_back(mapped(gradient));
  }
  return to;
}

// Replaces nodes by constants, which have no gradients and need no operands.
Graph with_constants(const Graph& graph, const Indices& taken) {
  return with_images(graph, taken, [&](Graph& to, NodeId old, const Map&) {
    return to.add_constant(graph.type(old), {graph.node_name(old), "", -1});
  });
}

Graph with_operands(const Graph& graph, const Indices& taken) {
  return with_images(graph, taken, [&](Graph&, NodeId old, const Map& map) {
    return map[graph.position(substitute(graph, old))];
  });
}

Graph without_nodes(const Graph& graph, const Indices& taken) {
  return with_images(graph, taken, [](Graph&, NodeId, const Map&) { return NodeId(); });
}

// Dimensions are candidates by their length.
Indices extents(const Graph& graph) {
  const std::set<std::int64_t> all = extents_of(graph);
  return Indices(all.rbegin(), all.rend());
}

Graph with_halved(const Graph& graph, const Indices& taken, bool multiples) {
  const auto is_taken = [&](std::int64_t size) {
    return size > 1 && std::any_of(taken.begin(), taken.end(), [&](std::size_t one) {
             const auto unit = static_cast<std::int64_t>(one);
             return size == unit || (multiples && size % unit == 0);
           });
  };
  auto smaller =
      with_extents(graph, [&](std::int64_t size) { return is_taken(size) ? size / 2 : size; });
  if (!smaller) return graph;
  return std::move(*smaller);
}

Graph with_halved_extents(const Graph& graph, const Indices& taken) {
  return with_halved(graph, taken, false);
}

// A view joins dimensions, whose product halves with one of them.
Graph with_halved_multiples(const Graph& graph, const Indices& taken) {
  return with_halved(graph, taken, true);
}

constexpr Step kSteps[] = {{outputs, without_outputs},      {outputs, with_operands_as_outputs},
                           {calls, with_constants},         {replaceable_calls, with_operands},
                           {unread_inputs, without_nodes},  {extents, with_halved_extents},
                           {extents, with_halved_multiples}};

// The measure that every step decreases, so that the search terminates: nodes and outputs, then
// elements.
using Weight = std::pair<std::size_t, std::int64_t>;
Weight weight(const Graph& graph) {
  Weight weight{outputs(graph).size(), 0};
  for (const NodeId id : graph.order()) {
    weight.first += graph.op(id).is(kInput) ? 1 : 3;
    for (const TensorType& type : graph[id].outputs) weight.second += element_count(type.shape);
  }
  return weight;
}

class MinimizeSearch {
 public:
  MinimizeSearch(const Graph& graph, const GraphCheck& check) : check_(check), found_{graph, 0} {
    found_.graph.signature = nullptr;  // it names outputs that steps take away
  }

  Result<Minimized> run() {
    const auto begins = good(found_.graph);
    if (!begins) return begins.diagnostics();
    if (*begins) return error("the check holds: there is no failure to keep");
    for (bool smaller = true; smaller;) {
      const Weight before = weight(found_.graph);
      for (const Step& step : kSteps)
        if (const auto done = sweep(step); !done) return done.diagnostics();
      smaller = weight(found_.graph) < before;
    }
    return std::move(found_);
  }

 private:
  Result<bool> good(const Graph& graph) {
    ++found_.checks;
    return check_(graph);
  }

  // Large chunks first, then halves of them.
  Result<Done> sweep(const Step& step) {
    std::size_t part = step.candidates(found_.graph).size();
    for (; part > 0; part /= 2) {
      std::size_t at = 0;
      for (Indices all = step.candidates(found_.graph); at < all.size();
           all = step.candidates(found_.graph)) {
        const std::size_t end = std::min(at + part, all.size());
        const auto taken = take(step, Indices(all.begin() + static_cast<std::ptrdiff_t>(at),
                                              all.begin() + static_cast<std::ptrdiff_t>(end)));
        if (!taken) return taken.diagnostics();
        if (!*taken) at = end;
      }
    }
    return Done{};
  }

  // Removes these candidates if the graph still fails without them. Tells whether it did.
  Result<bool> take(const Step& step, const Indices& indices) {
    Graph smaller = without_dead_nodes(step.without(found_.graph, indices));
    if (outputs(smaller).empty() || weight(smaller) >= weight(found_.graph)) return false;
    if (!verify(smaller).empty()) return false;
    const auto is_good = good(smaller);
    if (!is_good) return is_good.diagnostics();
    if (*is_good) return false;
    found_.graph = std::move(smaller);
    return true;
  }

  const GraphCheck& check_;
  Minimized found_;
};

}  // namespace

Result<Minimized> minimize(const Graph& graph, const GraphCheck& check) {
  return MinimizeSearch(graph, check).run();
}

}  // namespace recut
