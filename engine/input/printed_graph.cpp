#include "engine/input/printed_graph.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <utility>

#include "engine/input/graph_file.h"
#include "engine/input/printed_joint.h"
#include "engine/input/printed_module.h"
#include "engine/input/printed_sources.h"
#include "engine/input/torch_trace.h"
#include "engine/support/text.h"
#include "engine/support/typo_correction.h"

namespace recut {
namespace {

using KnownSymbols = std::map<std::string, Symbol, std::less<>>;

constexpr std::size_t kMaxListedKeys = 40;

std::vector<std::string> keys_of(const std::vector<PrintedSource>& sources) {
  std::vector<std::string> keys;
  for (const PrintedSource& source : sources) keys.push_back(source.key);
  return keys;
}

Diagnostic no_graph(std::string_view key, const std::vector<std::string>& keys) {
  TypoCorrection near(key);
  for (const std::string& known : keys) near.consider(known);
  const std::vector<std::string> shown(
      keys.begin(),
      keys.begin() + static_cast<std::ptrdiff_t>(std::min(keys.size(), kMaxListedKeys)));
  const std::string more = keys.size() > shown.size()
                               ? fmt::format(", and {} more", keys.size() - shown.size())
                               : std::string();
  return error(fmt::format("there is no graph {}, expected one of: {}{}{}", quote(key),
                           fmt::join(shown, ", "), more, near.suggestion()));
}

// One diagnostic for all symbols without a size: a text without hints has no value without one.
std::optional<Diagnostic> unbound(const JointText& text, const KnownSymbols& known,
                                  const Dimensions& given) {
  std::vector<std::string> open, options;
  for (const std::string& name : text.symbols) {
    const auto symbol = known.find(name);
    const bool hinted = symbol != known.end() && symbol->second.hint;
    if (hinted || given.count(name) != 0) continue;
    open.push_back(name);
    options.push_back(fmt::format("--dim {}=N", name));
  }
  if (open.empty()) return std::nullopt;
  return Diagnostic{
      fmt::format("the printed graph has no hint of its symbolic {} {}: give {} by {}",
                  open.size() == 1 ? "size" : "sizes", fmt::join(open, ", "),
                  open.size() == 1 ? "it" : "them", fmt::join(options, " ")),
      {},
      text.first_symbol.line,
      text.first_symbol.column};
}

Result<PrintedGraph> read_source(std::string_view text, const PrintedSource& source,
                                 const KnownSymbols& symbols, const Dimensions& given) {
  const PrintedLines lines = lines_of(text, source);
  Diagnostics faults;
  const PrintedModule module = read_printed_module(lines.lines, faults);
  if (!faults.empty()) return faults;
  auto joint = write_joint_text(module, symbols);
  if (!joint) return joint.diagnostics();
  if (auto fault = unbound(*joint, symbols, given)) return std::move(*fault);
  PrintedGraph graph;
  graph.json = std::move(joint->json);
  graph.places = std::move(joint->places);
  graph.note = std::move(joint->note);
  graph.key = joint->joint ? "joint" : "forward";
  return graph;
}

Result<PrintedGraph> read_chosen(std::string_view text, std::string_view key,
                                 const std::vector<PrintedSource>& sources, const TorchTrace& trace,
                                 const Dimensions& given) {
  const bool single = sources.size() == 1 && sources.front().form == PrintedForm::plain;
  const PrintedSource* chosen = &first_choice(sources);
  if (key != kDefaultGraphKey && !single) {
    const auto found = std::find_if(sources.begin(), sources.end(),
                                    [&](const PrintedSource& source) { return source.key == key; });
    if (found == sources.end()) return no_graph(key, keys_of(sources));
    chosen = &*found;
  }
  auto graph = read_source(text, *chosen, trace.symbols_of(chosen->compile_id), given);
  if (!graph) return graph;
  graph->keys = single ? std::vector<std::string>{graph->key} : keys_of(sources);
  if (!single) graph->key = chosen->key;
  if (single && key != kDefaultGraphKey && key != graph->key) return no_graph(key, graph->keys);
  return graph;
}

}  // namespace

void PrintedGraph::relocate(Diagnostics& diagnostics) const {
  for (Diagnostic& fault : diagnostics) {
    if (fault.line == 0 || fault.line > places.size()) continue;
    const LineColumn place = places[fault.line - 1];
    fault.line = place.line;
    fault.column = place.column;
  }
}

std::optional<Result<PrintedGraph>> read_printed_graph(std::string_view text,
                                                       std::string_view file_name,
                                                       std::string_view key,
                                                       const Dimensions& given) {
  TorchTrace trace;
  std::vector<PrintedSource> sources;
  if (looks_like_torch_trace(text)) {
    trace = read_torch_trace(text);
    sources = std::move(trace.graphs);
    if (sources.empty())
      return Diagnostic{fmt::format("the trace has no graph among its {} records, expected one as "
                                    "'aot_joint_graph' (an older PyTorch writes none where it "
                                    "finds the graph in its cache)",
                                    trace.records),
                        std::string(file_name), 0, 0};
  } else {
    sources = find_printed_graphs(text);
    if (sources.empty()) return std::nullopt;
  }
  auto graph = read_chosen(text, key, sources, trace, given);
  if (graph) {
    if (trace.damaged > 0) {
      graph->note += fmt::format("{}{} of the trace's {} records are damaged and left out",
                                 graph->note.empty() ? "" : "; ", trace.damaged, trace.records);
    }
    return graph;
  }
  Diagnostics faults = graph.diagnostics();
  for (Diagnostic& fault : faults) fault.file = std::string(file_name);
  return Result<PrintedGraph>(std::move(faults));
}

}  // namespace recut
