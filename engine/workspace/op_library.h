// A library of operators that the table lacks (engine/ir/external_operator.h): an expansion of each
// into operators of the table, as rules (engine/rewrite) or as forward graphs. A file's calls are
// replaced as it is opened, so that all later work has their values, derivatives and code.
#pragma once

#include <memory>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/input/graph_file.h"
#include "engine/rewrite/rule.h"
#include "engine/support/result.h"

namespace recut {

// One file of a library.
struct OpLibrarySource {
  std::string op;    // the operator of a graph, "mine.scale3"; "": rules, or the graph's own name
  std::string file;  // for messages
  std::string text;
};

// A dimension of an input that is a symbol of the graph's file.
struct SymbolPlace {
  std::string symbol;
  std::size_t input = 0, dimension = 0;
};

// The forward graph of an operator. Its inputs are the tensors among a call's arguments, in order.
struct OperatorGraph {
  std::string op;
  std::string file;
  Graph graph;                       // symbols have their hints
  std::vector<SymbolPlace> symbols;  // of a graph that fits calls of other sizes, too
  std::string text;                  // of such a graph, to be read again for a call's sizes
};

struct OpLibrary {
  std::vector<std::shared_ptr<const RuleSet>> rules;
  std::vector<OperatorGraph> graphs;

  std::set<std::string, std::less<>> names() const;  // of its operators
};

// Reads the sources, each as rules or as a graph by its first word. Fails on a rule without an
// external operator, and on a graph that can't stand for a call.
Result<std::shared_ptr<const OpLibrary>> read_op_library(std::span<const OpLibrarySource> sources);

// The rules of a set that name operators that Recut lacks, as a library; null if there are none.
std::shared_ptr<const OpLibrary> library_of_rules(const RuleSet& rules);

// Replaces all calls of the library's operators in a file's graphs. A call that no expansion fits,
// or that runs for its effects, is a diagnostic with its node.
Result<Done> expand_operators(GraphFile& file, const OpLibrary& library,
                              std::string_view file_name);

// The same in one graph.
Result<Graph> expand_operators(const Graph& graph, const OpLibrary& library);

}  // namespace recut
