// Forward graphs that stand for the calls of an operator (op_library.h).
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/ir/graph.h"
#include "engine/support/result.h"
#include "engine/workspace/op_library.h"

namespace recut {

// The graph with results of storages of their own, and without calls of nested graphs. Fails where
// it can't stand for a call: on gradients, constants, random draws and reads of whole storages.
Result<Graph> operator_graph(const Graph& forward);

// The dimensions of inputs that are symbols of the file: reading it with other sizes tells.
std::vector<SymbolPlace> symbol_places(std::string_view text, const std::string& file_name,
                                       const GraphFile& file);

// "graph scale3.recut of (f32[4]) that gives (f32[4])"
std::string describe(const OperatorGraph& graph);

// Replaces calls by graphs. A graph has no numbers of its calls: all calls that it stands for must
// have the same ones.
class GraphExpansion {
 public:
  explicit GraphExpansion(const OpLibrary& library) : library_(library) {}

  // The graph with the calls that fit replaced. Adds a fault for each call with other numbers.
  Graph run(const Graph& from, Diagnostics& faults);

 private:
  friend class CallsByGraphs;
  // A graph of the library, and the sizes of its symbols.
  using Key = std::pair<std::size_t, Dimensions>;
  using Numbers = std::map<std::string, Argument, std::less<>>;  // by parameter
  struct Use {
    Numbers numbers;
    std::string node;
  };

  // The graph with these sizes; null where they don't fit it.
  const Graph* instance(const Key& key);

  const OpLibrary& library_;
  std::map<Key, std::optional<Graph>> instances_;  // with other sizes than the hints
  std::map<Key, Use> uses_;                        // the first call
};

}  // namespace recut
