#include "engine/input/printed_graph.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <utility>

#include "engine/input/graph_file.h"
#include "engine/input/printed_joint.h"
#include "engine/input/printed_match.h"
#include "engine/input/printed_module.h"
#include "engine/input/printed_pairs.h"
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
    const bool hinted = symbol != known.end() && (symbol->second.hint || symbol->second.real);
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

// The classes of a source, and the lines that they have views of.
struct ReadModules {
  PrintedLines lines[2];
  PrintedModule modules[2];  // of a matched graph: forward's and backward's
  MatchedGraph matched;
};

Result<Done> read_module_of(std::string_view text, const PrintedSource& source, PrintedLines& lines,
                            PrintedModule& module) {
  lines = lines_of(text, source);
  Diagnostics faults;
  module = read_printed_module(lines.lines, faults);
  if (!faults.empty()) return faults;
  return Done{};
}

// The class of one source, or the joint graph that is matched from two.
Result<Done> read_modules(std::string_view text, const std::vector<PrintedSource>& sources,
                          const PrintedSource& chosen, ReadModules& read) {
  if (chosen.parts.empty()) return read_module_of(text, chosen, read.lines[0], read.modules[0]);
  for (std::size_t i = 0; i < 2; ++i) {
    auto done = read_module_of(text, sources[chosen.parts[i]], read.lines[i], read.modules[i]);
    if (!done) return done;
  }
  auto matched = match_modules(read.modules[0], read.modules[1]);
  if (!matched) return matched.diagnostics();
  read.matched = std::move(*matched);
  return Done{};
}

void add_words(std::string words, std::string& note) { note += (note.empty() ? "" : "; ") + words; }

// The joint graphs of a compilation come first, those are planned; graphs that can't be read last.
void sort_by_compilation(std::vector<GraphEntry>& entries) {
  std::map<std::string, std::size_t> first;
  for (const GraphEntry& entry : entries) first.emplace(entry.compile_id, first.size());
  std::stable_sort(entries.begin(), entries.end(), [&](const GraphEntry& a, const GraphEntry& b) {
    const auto place = [&](const GraphEntry& entry) {
      const int rank = !entry.fault.empty() ? 2 : entry.kind.starts_with("joint") ? 0 : 1;
      return std::pair(first.at(entry.compile_id), rank);
    };
    return place(a) < place(b);
  });
}

class PrintedFile {
 public:
  // None of its graphs are read yet.
  explicit PrintedFile(std::string_view text) : text_(text) {
    if (looks_like_torch_trace(text)) {
      trace_ = read_torch_trace(text);
      sources_ = std::move(trace_.graphs);
      is_trace_ = true;
    } else {
      sources_ = find_printed_graphs(text);
    }
    add_matched_sources(text, sources_);
  }

  // Nothing if the text is of another form.
  std::optional<Diagnostic> without_graphs() const {
    if (!is_trace_ || !sources_.empty()) return std::nullopt;
    return error(fmt::format(
        "the trace has no graph among its {} records, expected one as 'aot_joint_graph' (an older "
        "PyTorch writes none where it finds the graph in its cache)",
        trace_.records));
  }
  bool empty() const { return sources_.empty(); }

  Result<PrintedGraph> read(std::string_view key, const Dimensions& given) const {
    const PrintedSource* chosen = &first_choice(sources_);
    std::string failed;
    if (key == kDefaultGraphKey && !chosen->parts.empty())
      if (ReadModules read; auto fault = first_fault(*chosen, read)) {
        failed = fault->message;
        chosen = &sources_[chosen->parts.front()];
      }
    if (key != kDefaultGraphKey && !single()) {
      const auto found =
          std::find_if(sources_.begin(), sources_.end(),
                       [&](const PrintedSource& source) { return source.key == key; });
      if (found == sources_.end()) return no_graph(key, keys_of(sources_));
      chosen = &*found;
    }
    auto graph = read_source(*chosen, given);
    if (!graph) return graph;
    graph->keys = single() ? std::vector<std::string>{graph->key} : keys_of(sources_);
    if (!single()) graph->key = chosen->key;
    if (single() && key != kDefaultGraphKey && key != graph->key) return no_graph(key, graph->keys);
    if (!failed.empty()) add_words(failed, graph->note);
    if (trace_.damaged > 0)
      add_words(fmt::format("{} of the trace's {} records are damaged and left out", trace_.damaged,
                            trace_.records),
                graph->note);
    return graph;
  }

  std::vector<GraphEntry> list() const {
    std::vector<GraphEntry> entries;
    const PrintedSource* first = &first_choice(sources_);
    for (const PrintedSource& source : sources_) {
      GraphEntry& entry = entries.emplace_back();
      entry.compile_id = source.compile_id;
      entry.key = source.key;
      entry.opens_first = &source == first;
      ReadModules read;
      if (const auto fault = first_fault(source, read)) entry.fault = fault->message;
      const PrintedModule& module = source.parts.empty() ? read.modules[0] : read.matched.joint;
      const bool joint = is_joint_module(module);
      for (const PrintedNode& node : module.nodes) {
        entry.nodes += node.kind == PrintedKind::call ? 1 : 0;
        entry.inputs += node.kind == PrintedKind::placeholder ? 1 : 0;
      }
      entry.kind = kind_of(source, module, joint);
      if (single()) entry.key = joint ? "joint" : "forward";
    }
    sort_by_compilation(entries);
    return entries;
  }

 private:
  bool single() const {
    return sources_.size() == 1 && sources_.front().form == PrintedForm::plain;
  }

  std::optional<Diagnostic> first_fault(const PrintedSource& source, ReadModules& read) const {
    const auto done = read_modules(text_, sources_, source, read);
    if (done) return std::nullopt;
    return done.diagnostics().front();
  }

  static std::string kind_of(const PrintedSource& source, const PrintedModule& module, bool joint) {
    constexpr std::pair<std::string_view, std::string_view> kStages[] = {
        {"dynamo_output_graph", "of Dynamo"},
        {"before_pre_grad_graph", "before pre-grad"},
        {"after_pre_grad_graph", "pre-grad"},
        {"before_post_grad_graph", "before post-grad"},
        {"inductor_post_grad_graph", "post-grad"}};
    if (!source.parts.empty()) return "joint, of forward and backward";
    const bool backward =
        std::any_of(module.nodes.begin(), module.nodes.end(), [](const PrintedNode& node) {
          return node.kind == PrintedKind::placeholder && node.name.starts_with("tangents_");
        });
    std::string kind = joint ? "joint" : backward ? "backward" : "forward";
    for (const auto& [name, words] : kStages)
      if (source.kind == name) kind += fmt::format(", {}", words);
    return kind;
  }

  Result<PrintedGraph> read_source(const PrintedSource& source, const Dimensions& given) const {
    ReadModules read;
    if (auto done = read_modules(text_, sources_, source, read); !done) return done.diagnostics();
    const bool matched = !source.parts.empty();
    const auto symbols = trace_.symbols_of(source.compile_id);
    auto joint = write_joint_text(matched ? read.matched.joint : read.modules[0], symbols,
                                  matched ? &read.matched.torch : nullptr);
    if (!joint) return joint.diagnostics();
    if (auto fault = unbound(*joint, symbols, given)) return std::move(*fault);
    PrintedGraph graph;
    graph.json = std::move(joint->json);
    graph.places = std::move(joint->places);
    graph.note = std::move(joint->note);
    graph.key = joint->joint ? "joint" : "forward";
    graph.after_joint_passes = matched;
    add_partition(source, symbols, graph);
    return graph;
  }

  // The graph that PyTorch partitioned, beside a joint graph from before its passes.
  void add_partition(const PrintedSource& joint, const KnownSymbols& symbols,
                     PrintedGraph& graph) const {
    const PrintedSource* partition =
        partition_of(static_cast<std::size_t>(&joint - sources_.data()), sources_);
    if (partition == nullptr) return;
    ReadModules read;
    auto fault = first_fault(*partition, read);
    if (!fault) {
      auto text = write_joint_text(read.matched.joint, symbols, &read.matched.torch);
      if (text)
        graph.partition_json = std::move(text->json);
      else
        fault = text.diagnostics().front();
    }
    if (fault) add_words(fault->message, graph.note);
  }

  std::string_view text_;
  TorchTrace trace_;
  std::vector<PrintedSource> sources_;
  bool is_trace_ = false;
};

Diagnostics with_file(Diagnostics faults, std::string_view file_name) {
  for (Diagnostic& fault : faults) fault.file = std::string(file_name);
  return faults;
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
  const PrintedFile file(text);
  if (auto none = file.without_graphs()) return with_file({std::move(*none)}, file_name);
  if (file.empty()) return std::nullopt;
  auto graph = file.read(key, given);
  if (graph) return graph;
  return Result<PrintedGraph>(with_file(graph.diagnostics(), file_name));
}

std::optional<Result<std::vector<GraphEntry>>> list_printed_graphs(std::string_view text,
                                                                   std::string_view file_name) {
  const PrintedFile file(text);
  if (auto none = file.without_graphs()) return with_file({std::move(*none)}, file_name);
  if (file.empty()) return std::nullopt;
  return file.list();
}

}  // namespace recut
