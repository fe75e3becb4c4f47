// Searches nodes by a typed query. It is compiled to a list of tests, one a term, which run on
// every node in program order until one fails: linear in nodes and terms. A term with `-` negates
// its test. There is no index: each pass has another graph, and roles change with every plan.
#include "gui/model/search.h"

#include <algorithm>
#include <functional>
#include <optional>
#include <string>

#include "engine/support/units.h"

namespace recut::gui {
namespace {

char lower_search(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + ('a' - 'A')) : c; }

std::string lowered(std::string_view text) {
  std::string out(text);
  for (char& c : out) c = lower_search(c);
  return out;
}

// True if `text` has `part`, which is in small letters, in any case.
bool has_part(std::string_view text, std::string_view part) {
  return std::search(text.begin(), text.end(), part.begin(), part.end(),
                     [](char a, char b) { return lower_search(a) == b; }) != text.end();
}

bool equals(std::string_view text, std::string_view small) {
  return text.size() == small.size() &&
         std::equal(text.begin(), text.end(), small.begin(),
                    [](char a, char b) { return lower_search(a) == b; });
}

// True if a path is in the module: "h.3" stands for itself and its submodules, with any parents:
// "transformer.h.3.attn", not "h.31".
bool is_in_module(std::string_view path, std::string_view part) {
  for (std::size_t at = 0; at + part.size() <= path.size(); ++at) {
    if (!equals(path.substr(at, part.size()), part)) continue;
    const std::size_t end = at + part.size();
    const bool begins = at == 0 || path[at - 1] == '.' || part.front() == '.';
    if (begins && (end == path.size() || path[end] == '.' || part.back() == '.')) return true;
  }
  return false;
}

// A test's view of a node.
struct Candidate {
  const DocumentView& document;
  const Graph& graph;
  const std::vector<bool>& forward;  // by node id: the plan runs it there
  NodeId id;
};
using Test = std::function<bool(const Candidate&)>;

struct Query {
  std::vector<Test> tests;
  std::string first;  // the first bare word
};

// The terms of a search; outside of "quotes" in small letters, with "bytes > 64 MiB" as one term.
std::vector<std::string> search_terms(std::string_view typed) {
  std::vector<std::string> tokens(1);
  bool quoted = false;
  const std::string text = lowered(typed);
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '"') {
      quoted = !quoted;
      continue;
    }
    if (c != ' ' || quoted) {
      tokens.back() += c;
      continue;
    }
    const auto is_sign = [](char s) { return s == '<' || s == '>' || s == '='; };
    const std::size_t next = text.find_first_not_of(' ', i);
    const bool before = !tokens.back().empty() && is_sign(tokens.back().back());
    const bool after = next != std::string::npos && is_sign(text[next]);
    // The unit after a number: "bytes>64 MiB".
    const std::string& word = tokens.back();
    const bool bound =
        word.rfind("bytes", 0) == 0 && word.size() > 6 && word.back() >= '0' && word.back() <= '9';
    const std::string_view rest =
        next == std::string::npos ? std::string_view() : std::string_view(text).substr(next);
    const std::string_view unit = rest.substr(0, rest.find(' '));
    const bool has_unit = bound && (unit == "b" || unit == "kib" || unit == "mib" ||
                                    unit == "gib" || unit == "kb" || unit == "mb" || unit == "gb");
    if (!before && !after && !has_unit) tokens.emplace_back();
  }
  std::erase_if(tokens, [](const std::string& word) { return word.empty(); });
  return tokens;
}

Result<Test> bound_test(const std::string& word) {
  const bool above = word[5] == '>';
  const bool equal = word.size() > 6 && word[6] == '=';
  const auto bytes = parse_bytes(word.substr(equal ? 7 : 6));
  if (!bytes) return bytes.diagnostics();
  return Test([above, equal, limit = *bytes](const Candidate& c) {
    const std::int64_t has = bytes_of(c.graph, c.id);
    if (has == limit) return equal;
    return (has > limit) == above;
  });
}

Test role_test(Role role) {
  return [role](const Candidate& c) {
    if (!c.document.shown) return false;
    // A node of another pass's graph is found in the plan by its name.
    const Graph& planned = c.document.shown->graph();
    const NodeId id = planned.contains(c.id) ? c.id : planned.find(c.graph.node_name(c.id));
    return id.valid() && c.document.shown->role(id) == role;
  };
}

bool is_overridden(const Candidate& c) {
  const std::string& name = c.graph.node_name(c.id);
  const OverrideRequest& overrides = c.document.plan_settings.overrides;
  const auto has = [&](const std::vector<std::string>& names) {
    return std::find(names.begin(), names.end(), name) != names.end();
  };
  return has(overrides.save) || has(overrides.recompute);
}

bool runs_forward(const Candidate& c) {
  return c.id.index < c.forward.size() && c.forward[c.id.index];
}

// The test of a keyword of the search: "saved", "backward", "pinned".
std::optional<Test> named_test(const std::string& word) {
  for (std::size_t i = 0; i < kRoles; ++i)
    if (word == name_of(static_cast<Role>(i))) return role_test(static_cast<Role>(i));
  if (word == "pinned") return Test(is_overridden);
  if (word == "forward") return Test(runs_forward);
  if (word == "backward")
    return Test([](const Candidate& c) { return !runs_forward(c) && !c.graph.is_input(c.id); });
  return std::nullopt;
}

Result<Test> keyed_test(const std::string& key, bool whole, const std::string& value) {
  const auto fits = [whole, value](std::string_view text) {
    return whole ? equals(text, value) : has_part(text, value);
  };
  if (key == "op") return Test([fits](const Candidate& c) { return fits(c.graph.op(c.id).name); });
  if (key == "name")
    return Test([fits](const Candidate& c) { return fits(c.graph.node_name(c.id)); });
  if (key == "module")
    return Test([whole, value](const Candidate& c) {
      const std::string& path = c.graph.origin(c.id).module;
      return whole ? equals(path, value) : is_in_module(path, value);
    });
  if (key == "dtype")
    return Test([value](const Candidate& c) {
      const auto& outputs = c.graph[c.id].outputs;
      return std::any_of(outputs.begin(), outputs.end(), [&](const TensorType& type) {
        return short_name(type.dtype) == value || torch_name(type.dtype) == value;
      });
    });
  if (key == "source")
    return Test([fits](const Candidate& c) { return fits(c.graph.origin(c.id).source); });
  return error("no '" + key + "' to search by: op, name, module, source, dtype or bytes");
}

// The place of a line of Python, "net.py:12", without the code, which may hold any word.
std::string_view file_and_line(std::string_view source) {
  return source.substr(0, source.find(" in "));
}

Test text_test(const std::string& word) {
  return [word](const Candidate& c) {
    const Origin& origin = c.graph.origin(c.id);
    return has_part(origin.name, word) || has_part(c.graph.op(c.id).name, word) ||
           has_part(origin.module, word) || has_part(file_and_line(origin.source), word);
  };
}

Result<Test> test_of(const std::string& word) {
  if (word.rfind("bytes>", 0) == 0 || word.rfind("bytes<", 0) == 0) return bound_test(word);
  if (auto named = named_test(word)) return *std::move(named);
  const std::size_t sign = word.find_first_of(":=");
  // "net.py:12" is a place in a file; keys have no dots.
  const bool keyed = sign != std::string::npos && sign > 0 && sign + 1 < word.size() &&
                     word.compare(sign, 2, "::") != 0 && word.find('.') > sign;
  if (!keyed) return text_test(word);
  return keyed_test(word.substr(0, sign), word[sign] == '=', word.substr(sign + 1));
}

Result<Query> parse(std::string_view typed) {
  Query query;
  for (std::string word : search_terms(typed)) {
    const bool no = word.size() > 1 && word.front() == '-';
    if (no) word.erase(0, 1);
    auto test = test_of(word);
    if (!test) return test.diagnostics();
    if (query.first.empty() && !no && word.find_first_of(":=<>") == std::string::npos &&
        !named_test(word))
      query.first = word;
    if (no) {
      query.tests.push_back([inner = std::move(*test)](const Candidate& c) { return !inner(c); });
    } else {
      query.tests.push_back(std::move(*test));
    }
  }
  return query;
}

std::vector<bool> forward_of(const DocumentView& document) {
  std::vector<bool> forward;
  if (!document.shown) return forward;
  for (const NodeId id : document.shown->planned.plan.forward) {
    if (id.index >= forward.size()) forward.resize(id.index + 1);
    forward[id.index] = true;
  }
  return forward;
}

// A dozen matches: names that begin with the word come first.
std::vector<NodeId> best_of(const Graph& graph, const std::vector<NodeId>& found,
                            const std::string& word) {
  constexpr std::size_t kMax = 12;
  std::vector<NodeId> first, others;
  for (const NodeId id : found) {
    if (first.size() >= kMax) break;
    const std::string_view name = graph.node_name(id);
    const bool begins = !word.empty() && equals(name.substr(0, word.size()), word);
    if (begins)
      first.push_back(id);
    else if (others.size() < kMax)
      others.push_back(id);
  }
  first.insert(first.end(), others.begin(), others.end());
  if (first.size() > kMax) first.resize(kMax);
  return first;
}

}  // namespace

std::int64_t bytes_of(const Graph& graph, NodeId id) {
  std::int64_t bytes = 0;
  for (const TensorType& type : graph[id].outputs) bytes += byte_size(type);
  return bytes;
}

Result<std::vector<NodeId>> search_graph(const DocumentView& document, const Graph& graph,
                                         std::string_view typed) {
  const auto query = parse(typed);
  if (!query) return query.diagnostics();
  std::vector<NodeId> found;
  const std::vector<bool> forward = forward_of(document);
  for (const NodeId id : graph.order()) {
    const Candidate candidate{document, graph, forward, id};
    if (std::all_of(query->tests.begin(), query->tests.end(),
                    [&](const Test& test) { return test(candidate); }))
      found.push_back(id);
  }
  return found;
}

Result<std::vector<NodeId>> search_nodes(const DocumentView& document, std::string_view typed,
                                         std::size_t most) {
  if (!document.document) return std::vector<NodeId>();
  auto found = search_graph(document, document.graph(), typed);
  if (found && found->size() > most) found->resize(most);
  return found;
}

Search search_document(const DocumentView& document, std::string_view text) {
  Search search;
  search.text = std::string(text);
  search.pass = document.pass;
  search.plan = document.shown;
  if (text.find_first_not_of(' ') == std::string_view::npos) return search;
  if (!document.document) return search;
  auto found = search_graph(document, document.graph_at_pass(), text);
  if (!found) {
    search.fault = found.diagnostics().front().message;
    return search;
  }
  search.best = best_of(document.graph_at_pass(), *found, parse(text)->first);
  search.found = std::make_shared<const std::vector<NodeId>>(std::move(*found));
  return search;
}

bool is_stale(const Search& search, const DocumentView& document) {
  return !search.text.empty() && (search.pass != document.pass || search.plan != document.shown);
}

std::string Search::summary(NodeId selected) const {
  if (!found) return fault;
  if (found->empty()) return "nothing fits";
  const auto at = std::find(found->begin(), found->end(), selected);
  if (at == found->end()) return format_count(static_cast<std::int64_t>(found->size())) + " found";
  return format_count(at - found->begin() + 1) + " of " +
         format_count(static_cast<std::int64_t>(found->size()));
}

NodeId Search::neighbour(NodeId selected, const Graph& graph, int by) const {
  if (!found || found->empty()) return {};
  const bool known = selected.valid() && graph.contains(selected);
  const auto position_of = [&](NodeId id) { return graph.position(id); };
  if (by > 0) {
    for (const NodeId id : *found)
      if (!known || position_of(id) > position_of(selected)) return id;
    return found->front();
  }
  for (auto it = found->rbegin(); it != found->rend(); ++it)
    if (!known || position_of(*it) < position_of(selected)) return *it;
  return found->back();
}

}  // namespace recut::gui
