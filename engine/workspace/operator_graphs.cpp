// Copies an operator's graph into the place of its calls.
//
//   %y = external mine.scale3(%x, 3) : f32[4]     graph "mine.scale3": %a → mul.Tensor(%a, 3)
//   =>  %y = mul.Tensor(%x, 3) : f32[4]
//
// A graph fits a call of its input and result types. Only strides may differ: then operands or
// results are copied. A graph with symbols is read again with the sizes of a call's tensors.
#include "engine/workspace/operator_graphs.h"

#include <fmt/core.h>

#include <algorithm>
#include <set>

#include "engine/input/graph_file_reader.h"
#include "engine/ir/aliases.h"
#include "engine/ir/call.h"
#include "engine/ir/copy.h"
#include "engine/ir/data_flow.h"
#include "engine/ir/fresh_names.h"
#include "engine/ir/laid_out.h"
#include "engine/ir/node_diagnostic.h"
#include "engine/ir/rebuild.h"
#include "engine/ir/region_call.h"
#include "engine/passes/region_inlining.h"
#include "engine/support/text.h"

namespace recut {
namespace {

std::optional<std::string> why_not_in_calls_place(const Graph& graph, NodeId id) {
  const Operator& op = graph.op(id);
  if (graph.is_input(id)) return std::nullopt;
  if (op.is(kInput)) return "it is a constant, and a call hands over all tensors";
  if (op.is(kReadsStorage)) return "it addresses the storage of its operand";
  if (has_regions(graph, id)) return "it runs nested graphs that can't be inlined";
  if (is_external(op.op)) return std::nullopt;
  if (op.is(kRandom | kImpure)) return "it draws random numbers";
  return std::nullopt;
}

std::string types_text(const std::vector<TensorType>& types) {
  std::string text;
  for (const TensorType& type : types)
    text += (text.empty() ? "" : ", ") + (type.exists() ? format(type) : "none");
  return "(" + text + ")";
}

std::vector<TensorType> types_of(const Graph& graph, std::span<const NodeId> ids) {
  std::vector<TensorType> types;
  for (const NodeId id : ids) types.push_back(graph.type(id));
  return types;
}

// A graph by other sizes of its symbols than their hints.
struct ResizedGraph {
  Graph graph;
  Dimensions sizes;
};

// With the sizes first, first + step, … of the symbols; none if they don't fit the graph.
std::optional<ResizedGraph> read_with_sizes(std::string_view text, const std::string& file_name,
                                            const GraphFile& file, std::int64_t first,
                                            std::int64_t step) {
  Dimensions sizes;
  for (const BoundSymbol& symbol : file.symbols) {
    sizes[symbol.name] = first;
    first += step;
  }
  auto read = read_graph_bytes(text, file_name, kDefaultGraphKey, sizes);
  if (!read || read->graph.inputs().size() != file.graph.inputs().size()) return std::nullopt;
  return ResizedGraph{std::move(read->graph), std::move(sizes)};
}

// The dimensions that are equal to a symbol's size in both.
std::vector<SymbolPlace> places_of(const ResizedGraph& a, const ResizedGraph& b) {
  std::vector<SymbolPlace> places;
  for (std::size_t i = 0; i < a.graph.inputs().size(); ++i) {
    const Shape& shape = a.graph.type(a.graph.inputs()[i]).shape;
    const Shape& other = b.graph.type(b.graph.inputs()[i]).shape;
    for (std::size_t d = 0; d < std::min(shape.size(), other.size()); ++d)
      for (const auto& [name, size] : a.sizes)
        if (shape[d] == size && other[d] == b.sizes.at(name)) places.push_back({name, i, d});
  }
  return places;
}

bool fits(const TensorType& from, const TensorType& to) {
  return from.dtype == to.dtype && from.shape == to.shape && can_be_laid_out(from, to);
}

}  // namespace

Result<Graph> operator_graph(const Graph& forward) {
  if (is_joint(forward)) return error("a joint graph, expected an operator's forward graph");
  Graph graph = without_dead_nodes(without_region_calls(forward));
  Diagnostics faults;
  for (const NodeId id : graph.order())
    if (const auto why = why_not_in_calls_place(graph, id))
      faults.push_back(
          node_diagnostic(graph, id, fmt::format("it can't stand in a call's place: {}", *why)));
  if (!std::all_of(graph.results.begin(), graph.results.end(),
                   [](NodeId id) { return id.valid(); }))
    faults.push_back(error("a result without a value, expected a value for each"));
  if (!faults.empty()) return faults;
  std::set<NodeId> taken(graph.inputs().begin(), graph.inputs().end());
  for (NodeId& result : graph.results) {
    if (taken.insert(storage_root(graph, result)).second) continue;
    const auto copy = graph.make(Op::clone, {result});
    RECUT_CHECK(copy.ok(), "every value can be copied");
    result = *copy;
  }
  return graph;
}

std::string describe(const OperatorGraph& graph) {
  std::string symbols;
  for (const SymbolPlace& place : graph.symbols)
    if (symbols.find(place.symbol) == std::string::npos)
      symbols += (symbols.empty() ? ", with any " : ", ") + place.symbol;
  const std::string& device = graph.graph.device;
  return fmt::format("graph {}{} of {} that gives {}{}", graph.file,
                     device.empty() ? "" : " on " + format_device(device),
                     types_text(types_of(graph.graph, graph.graph.inputs())),
                     types_text(types_of(graph.graph, graph.graph.results)), symbols);
}

std::vector<SymbolPlace> symbol_places(std::string_view text, const std::string& file_name,
                                       const GraphFile& file) {
  const auto count = static_cast<std::int64_t>(file.symbols.size());
  std::int64_t least = 0;
  for (const BoundSymbol& symbol : file.symbols) least = std::max(least, symbol.min.value_or(0));
  // Sizes are often multiples of powers of two, and some have small ranges.
  for (const std::int64_t step : {64, 8, 2, 1}) {
    const std::int64_t begin = (least / step + 1) * step;
    const auto first = read_with_sizes(text, file_name, file, begin, step);
    const auto second = read_with_sizes(text, file_name, file, begin + step * count, step);
    if (first && second) return places_of(*first, *second);
  }
  return {};
}

const Graph* GraphExpansion::instance(const Key& key) {
  const OperatorGraph& of = library_.graphs[key.first];
  if (key.second.empty()) return &of.graph;
  const auto [known, is_new] = instances_.try_emplace(key);
  if (is_new) {
    const auto file = read_graph_bytes(of.text, of.file, kDefaultGraphKey, key.second);
    auto graph = file ? operator_graph(file->graph) : Result<Graph>(file.diagnostics());
    if (graph) graph = expand_operators(*graph, library_);
    if (graph) graph = operator_graph(*graph);
    if (graph) known->second = std::move(*graph);
  }
  return known->second ? &*known->second : nullptr;
}

// One run over a graph.
class CallsByGraphs {
 public:
  CallsByGraphs(GraphExpansion& expansion, const Graph& from, Diagnostics& faults)
      : expansion_(expansion), from_(from), faults_(faults), names_(from) {
    for (const NodeId id : from.order())
      for (const NodeId operand : from[id].operands)
        if (from[id].op == Op::getitem)
          items_[operand].push_back(id);
        else if (from.op(operand).multiple_outputs())
          whole_.insert(operand);
  }

  Graph run() {
    return rebuild(from_, [&](Graph& to, NodeId old, const std::vector<Argument>& arguments) {
      return place(to, old, arguments);
    });
  }

 private:
  NodeId place(Graph& to, NodeId old, const std::vector<Argument>& arguments) {
    const Node& node = from_[old];
    if (node.op == Op::getitem)
      if (const auto made = made_.find(node.operands.front()); made != made_.end())
        return made->second[item_of(old)];
    const bool whole = is_external(node.op) && whole_.count(old) == 0;
    const auto key = whole ? graph_for(to, old, arguments) : std::nullopt;
    if (!key || !same_numbers(*key, old)) return keep_node(from_, to, old, arguments);
    std::vector<NodeId> values = copy(to, old, arguments, *expansion_.instance(*key));
    if (!operator_of(node.op).returns_list) return values.front();
    made_.emplace(old, std::move(values));
    return NodeId();
  }

  std::size_t item_of(NodeId getitem) const {
    const Call::TypesOf types = [this](NodeId id) { return from_.pool().types_of(id); };
    const Call call(from_.op(getitem), from_[getitem].arguments, types);
    return static_cast<std::size_t>(call.integer("index"));
  }

  static std::vector<NodeId> tensors_of(const std::vector<Argument>& arguments) {
    std::vector<NodeId> tensors;
    for (const Argument& argument : arguments)
      for_each_node(argument, [&](NodeId id) { tensors.push_back(id); });
    return tensors;
  }

  // The first graph that fits a call, with its sizes.
  std::optional<GraphExpansion::Key> graph_for(const Graph& to, NodeId old,
                                               const std::vector<Argument>& arguments) const {
    const std::vector<NodeId> tensors = tensors_of(arguments);
    for (std::size_t g = 0; g < expansion_.library_.graphs.size(); ++g) {
      const OperatorGraph& named = expansion_.library_.graphs[g];
      if (named.op != from_.op(old).name) continue;
      if (fits_call(named.graph, to, tensors, old)) return GraphExpansion::Key{g, {}};
      const GraphExpansion::Key key{g, sizes_of(named, to, tensors)};
      if (key.second.empty()) continue;
      const Graph* instance = expansion_.instance(key);
      if (instance != nullptr && fits_call(*instance, to, tensors, old)) return key;
    }
    return std::nullopt;
  }

  static Dimensions sizes_of(const OperatorGraph& graph, const Graph& to,
                             const std::vector<NodeId>& tensors) {
    Dimensions sizes;
    for (const SymbolPlace& place : graph.symbols) {
      if (place.input >= tensors.size()) return {};
      const Shape& shape = to[tensors[place.input]].outputs.front().shape;
      if (place.dimension >= shape.size()) return {};
      sizes[place.symbol] = shape[place.dimension];
    }
    return sizes;
  }

  bool fits_call(const Graph& graph, const Graph& to, const std::vector<NodeId>& tensors,
                 NodeId old) const {
    const auto& outputs = from_[old].outputs;
    if (graph.inputs().size() != tensors.size() || graph.results.size() != outputs.size() ||
        !same_device(graph))
      return false;
    for (std::size_t i = 0; i < tensors.size(); ++i)
      if (to.op(tensors[i]).multiple_outputs() ||
          !fits(to.type(tensors[i]), graph.type(graph.inputs()[i])))
        return false;
    for (std::size_t i = 0; i < outputs.size(); ++i)
      if (outputs[i].exists() && !fits(graph.type(graph.results[i]), outputs[i])) return false;
    return true;
  }

  bool same_device(const Graph& graph) const {
    return graph.device.empty() || from_.device.empty() || graph.device == from_.device;
  }

  bool same_numbers(const GraphExpansion::Key& key, NodeId old) {
    GraphExpansion::Numbers numbers;
    const Operator& op = from_.op(old);
    for (std::size_t i = 0; i + 1 < op.parameters.size(); ++i) {
      Argument argument = from_[old].arguments[i];
      for_each_node(argument, [](NodeId& id) { id = NodeId(0); });
      numbers.emplace(op.parameters[i].name, std::move(argument));
    }
    const auto [use, first] =
        expansion_.uses_.emplace(key, GraphExpansion::Use{numbers, from_.node_name(old)});
    if (first || use->second.numbers == numbers) return true;
    faults_.push_back(node_diagnostic(
        from_, old,
        fmt::format("found numbers in this call of {} that the call {} doesn't have, expected the "
                    "same ones in all calls of {}: rules tell them apart",
                    op.name, quote(use->second.node), expansion_.library_.graphs[key.first].file)));
    return false;
  }

  // The name of a call's result: its own, or its item's.
  Origin origin_of(NodeId old, std::size_t result) const {
    if (!from_.op(old).returns_list) return from_.origin(old);
    if (const auto items = items_.find(old); items != items_.end())
      for (const NodeId item : items->second)
        if (item_of(item) == result) return from_.origin(item);
    Origin origin = from_.origin(old);
    origin.name.clear();
    return origin;
  }

  std::vector<NodeId> copy(Graph& to, NodeId old, const std::vector<Argument>& arguments,
                           const Graph& graph) {
    std::map<NodeId, NodeId> images;
    const std::vector<NodeId> tensors = tensors_of(arguments);
    for (std::size_t i = 0; i < tensors.size(); ++i)
      images[graph.inputs()[i]] = laid_out(to, tensors[i], graph.type(graph.inputs()[i]));
    for (const NodeId id : graph.order()) {
      if (graph.is_input(id)) continue;
      Origin origin = from_.origin(old);
      origin.name = names_.name(to, graph.op(id).packet);
      const auto result = std::find(graph.results.begin(), graph.results.end(), id);
      if (result != graph.results.end())
        origin = origin_of(old, static_cast<std::size_t>(result - graph.results.begin()));
      images[id] = copy_node(graph, id, to, std::move(origin),
                             [&](NodeId operand) { return images.at(operand); });
    }
    std::vector<NodeId> values;
    for (std::size_t i = 0; i < graph.results.size(); ++i) {
      const TensorType& type = from_[old].outputs[i];
      const NodeId value = images.at(graph.results[i]);
      values.push_back(type.exists() ? laid_out(to, value, type) : value);
    }
    return values;
  }

  GraphExpansion& expansion_;
  const Graph& from_;
  Diagnostics& faults_;
  FreshNames names_;
  std::map<NodeId, std::vector<NodeId>> items_;  // of calls with several values
  std::set<NodeId> whole_;                       // such calls that are read as a list
  std::map<NodeId, std::vector<NodeId>> made_;   // the values of replaced ones
};

Graph GraphExpansion::run(const Graph& from, Diagnostics& faults) {
  return CallsByGraphs(*this, from, faults).run();
}

}  // namespace recut
