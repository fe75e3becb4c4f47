#include "gui/app/search.h"

#include <algorithm>
#include <cctype>
#include <optional>
#include <string>

#include "engine/support/units.h"

namespace recut::gui {
namespace {

std::string lowered(std::string_view text) {
  std::string lower(text);
  for (char& c : lower) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return lower;
}

struct Query {
  std::vector<std::string> words;
  std::vector<Role> roles;
  std::int64_t above = -1, below = -1;  // bytes; below 0: no bound
};

std::string word_at(const std::string& text, std::size_t at) {
  return at >= text.size() ? std::string()
                           : text.substr(at, std::min(text.find(' ', at), text.size()) - at);
}

// "bytes > 64MiB" is one word for people: blanks around the sign go.
std::string joined(std::string_view typed) {
  std::string text = lowered(typed), out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool blank = text[i] == ' ';
    const char before = out.empty() ? ' ' : out.back();
    const std::size_t next = text.find_first_not_of(' ', i);
    const char after = next == std::string::npos ? ' ' : text[next];
    const bool around_sign = before == '<' || before == '>' || after == '<' || after == '>';
    if (!blank || !around_sign) out += text[i];
  }
  return out;
}

Result<Query> parse(std::string_view typed) {
  Query query;
  const std::string text = joined(typed);
  for (std::size_t at = 0; at < text.size();) {
    const std::string word = word_at(text, at);
    at += word.size() + 1;
    if (word.empty()) continue;
    const bool bound = word.rfind("bytes>", 0) == 0 || word.rfind("bytes<", 0) == 0;
    if (bound) {
      const std::string unit = word_at(text, at);
      const bool apart = !unit.empty() && !parse_bytes(unit) && parse_bytes("1" + unit) &&
                         std::isdigit(static_cast<unsigned char>(word.back())) != 0;
      if (apart) at += unit.size() + 1;
      const auto bytes = parse_bytes(word.substr(6) + (apart ? unit : ""));
      if (!bytes) return bytes.diagnostics();
      (word[5] == '>' ? query.above : query.below) = *bytes;
      continue;
    }
    bool role = false;
    for (std::size_t i = 0; i < kRoles; ++i)
      if (word == name_of(static_cast<Role>(i))) {
        query.roles.push_back(static_cast<Role>(i));
        role = true;
      }
    if (!role) query.words.push_back(word);
  }
  return query;
}

bool fits(const Query& query, const DocumentView& document, NodeId id) {
  const Graph& graph = document.graph();
  if (query.above >= 0 || query.below >= 0) {
    const std::int64_t bytes = bytes_of(graph, id);
    if (query.above >= 0 && bytes <= query.above) return false;
    if (query.below >= 0 && bytes >= query.below) return false;
  }
  for (const Role role : query.roles)
    if (!document.shown || document.shown->role(id) != role) return false;
  const Origin& origin = graph.origin(id);
  const std::string all =
      lowered(origin.name) + "\n" + lowered(graph.op(id).name) + "\n" + lowered(origin.module);
  return std::all_of(query.words.begin(), query.words.end(),
                     [&](const std::string& word) { return all.find(word) != std::string::npos; });
}

}  // namespace

std::int64_t bytes_of(const Graph& graph, NodeId id) {
  std::int64_t bytes = 0;
  for (const TensorType& type : graph[id].outputs) bytes += byte_size(type);
  return bytes;
}

Result<std::vector<NodeId>> search_nodes(const DocumentView& document, std::string_view typed,
                                         std::size_t most) {
  const auto query = parse(typed);
  if (!query) return query.diagnostics();
  if (!document.document) return std::vector<NodeId>();
  std::vector<NodeId> first, others;
  for (const NodeId id : document.graph().order()) {
    if (!fits(*query, document, id)) continue;
    const bool begins =
        !query->words.empty() && document.graph().node_name(id).rfind(query->words.front(), 0) == 0;
    (begins ? first : others).push_back(id);
    if (first.size() >= most) break;
  }
  first.insert(first.end(), others.begin(), others.end());
  if (first.size() > most) first.resize(most);
  return first;
}

}  // namespace recut::gui
