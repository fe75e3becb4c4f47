#include "engine/partition/problem/moccasin.h"

#include <fmt/core.h>

#include <algorithm>
#include <deque>
#include <unordered_map>

#include "engine/input/json.h"
#include "engine/support/text.h"

// Reads node-link JSON into a RematProblem: a node becomes a computation with one storage, a link
// source -> target a read. It accepts the key names of both published variants. Every refusal names
// the node or link at fault and the expected form. Cost: O(nodes + links log links).

namespace recut {
namespace {

constexpr std::int64_t kMaxTotal = std::int64_t{1} << 60;

// The member of an object under `key`, or else under `other`.
JsonValue member(JsonValue object, std::string_view key, std::string_view other) {
  JsonValue found;
  for (const JsonMember m : object.items()) {
    if (m.key == key) return m.value;
    if (m.key == other) found = m.value;
  }
  return found;
}

class MoccasinReader {
 public:
  explicit MoccasinReader(std::string_view file) : file_(file) {}

  Result<MoccasinProblem> read(JsonValue root) {
    if (!root.is(JsonKind::object)) return fail("the file is no JSON object");
    const JsonValue nodes = member(root, "nodes", "");
    if (!nodes.is(JsonKind::array)) return fail("there is no list 'nodes'");
    for (const JsonMember m : nodes.items())
      if (!add_node(m.value)) return std::move(failure_);
    const JsonValue links = member(root, "links", "edges");
    if (!links.is(JsonKind::array)) return fail("there is no list 'links' (or 'edges')");
    for (const JsonMember m : links.items())
      if (!add_link(m.value)) return std::move(failure_);
    for (auto& before : before_) {
      std::sort(before.begin(), before.end());
      before.erase(std::unique(before.begin(), before.end()), before.end());
    }
    const JsonValue graph = member(root, "graph", "");
    if (graph.is(JsonKind::object))
      if (const JsonValue name = member(graph, "name", ""); name.is(JsonKind::text))
        name_ = std::string(name.text());
    const JsonValue order = graph.is(JsonKind::object) ? member(graph, "order", "") : JsonValue();
    if (!(order.is(JsonKind::array) && order.size() > 0 ? given_order(order) : topological_order()))
      return std::move(failure_);
    return build();
  }

 private:
  Diagnostics fail(std::string message) const {
    return {Diagnostic{std::move(message), std::string(file_), 0, 0}};
  }
  bool refuse(std::string message) {
    failure_ = fail(std::move(message));
    return false;
  }

  // A node's id as text: files use numbers or names.
  static std::string id_of(JsonValue value) {
    if (value.is(JsonKind::integer)) return std::to_string(value.integer());
    if (value.is(JsonKind::text)) return std::string(value.text());
    return {};
  }

  bool add_node(JsonValue node) {
    if (!node.is(JsonKind::object)) return refuse("an item of 'nodes' is no object");
    const JsonValue written = member(node, "id", "name");
    const std::string id = id_of(written);
    if (id.empty()) return refuse("a node has neither 'id' nor 'name'");
    const JsonValue bytes = member(node, "cost_ram", "out_cost");
    const JsonValue time = member(node, "cost_cpu", "duration");
    if (!bytes.is(JsonKind::integer) || bytes.integer() < 0)
      return refuse(fmt::format("node {}: 'cost_ram' (or 'out_cost') is no number of bytes from 0",
                                quote(id)));
    if (!time.is(JsonKind::integer) || time.integer() < 0)
      return refuse(
          fmt::format("node {}: 'cost_cpu' (or 'duration') is no whole number from 0", quote(id)));
    if (bytes.integer() > kMaxTotal - total_bytes_ ||
        time.integer() > kMaxTotal / 4096 - total_time_)
      return refuse(
          fmt::format("node {}: the numbers of this graph add up to too much", quote(id)));
    total_bytes_ += bytes.integer();
    total_time_ += time.integer();
    if (!index_.emplace(id, static_cast<std::int32_t>(names_.size())).second)
      return refuse(fmt::format("node {} stands twice", quote(id)));
    names_.push_back(id);
    numeric_.push_back(written.is(JsonKind::integer));
    bytes_.push_back(bytes.integer());
    time_.push_back(time.integer());
    before_.emplace_back();
    return true;
  }

  bool add_link(JsonValue link) {
    if (!link.is(JsonKind::object)) return refuse("an item of 'links' is no object");
    std::int32_t ends[2];
    const std::string_view keys[2][2] = {{"source", "0"}, {"target", "1"}};
    for (int i = 0; i < 2; ++i) {
      const std::string id = id_of(member(link, keys[i][0], keys[i][1]));
      const auto at = index_.find(id);
      if (at == index_.end())
        return refuse(fmt::format("a link's '{}' is {}, which is no node", keys[i][0], quote(id)));
      ends[i] = at->second;
    }
    before_[ends[1]].push_back(ends[0]);
    return true;
  }

  bool given_order(JsonValue order) {
    std::vector<bool> seen(names_.size(), false);
    for (const JsonMember m : order.items()) {
      const std::string id = id_of(m.value);
      const auto at = index_.find(id);
      if (at == index_.end() || seen[at->second])
        return refuse(fmt::format("'order' has {}, which is no node or stands twice", quote(id)));
      for (const std::int32_t needed : before_[at->second])
        if (!seen[needed])
          return refuse(fmt::format("'order' runs {} before {}, which it needs", quote(id),
                                    quote(names_[needed])));
      seen[at->second] = true;
      order_.push_back(at->second);
    }
    if (order_.size() != names_.size())
      return refuse(fmt::format("'order' has {} of {} nodes", order_.size(), names_.size()));
    return true;
  }

  // Kahn's algorithm (1962), first in, first out, in the file's order of nodes and links.
  bool topological_order() {
    std::vector<std::vector<std::int32_t>> after(names_.size());
    std::vector<std::size_t> waits(names_.size());
    std::deque<std::int32_t> ready;
    for (std::size_t n = 0; n < names_.size(); ++n) {
      waits[n] = before_[n].size();
      for (const std::int32_t needed : before_[n])
        after[needed].push_back(static_cast<std::int32_t>(n));
      if (waits[n] == 0) ready.push_back(static_cast<std::int32_t>(n));
    }
    while (!ready.empty()) {
      const std::int32_t n = ready.front();
      ready.pop_front();
      order_.push_back(n);
      for (const std::int32_t next : after[n])
        if (--waits[next] == 0) ready.push_back(next);
    }
    return order_.size() == names_.size() || refuse("the links form a cycle");
  }

  // Adds computations in topological order, since reads have to name existing storages.
  Result<MoccasinProblem> build() const {
    MoccasinProblem out;
    out.name = name_;
    std::vector<std::int32_t> number(names_.size());
    for (std::size_t i = 0; i < order_.size(); ++i) {
      const std::int32_t n = order_[i];
      number[n] = static_cast<std::int32_t>(i);
      std::vector<std::int32_t> reads;
      for (const std::int32_t needed : before_[n]) reads.push_back(number[needed]);
      out.problem.add(time_[n], std::span(&bytes_[n], 1), reads);
      out.problem.order.push_back(static_cast<std::int32_t>(i));
      out.names.push_back(names_[n]);
      out.numeric.push_back(numeric_[n]);
    }
    out.problem.finish();
    return out;
  }

  std::string_view file_;
  std::unordered_map<std::string, std::int32_t> index_;  // looked up only
  std::string name_;
  std::vector<std::string> names_;
  std::vector<bool> numeric_;
  std::vector<std::int64_t> bytes_, time_;
  std::vector<std::vector<std::int32_t>> before_;
  std::vector<std::int32_t> order_;
  std::int64_t total_bytes_ = 0, total_time_ = 0;
  Diagnostics failure_;
};

}  // namespace

bool is_node_link(std::string_view bytes) {
  const auto has = [&](std::string_view text) {
    return bytes.find(text) != std::string_view::npos;
  };
  if (!has("\"nodes\"") || !(has("\"links\"") || has("\"edges\""))) return false;
  const std::string_view nothing[] = {""};
  const auto document = parse_json(bytes, "", nothing);
  if (!document || !document->root().is(JsonKind::object)) return false;
  const auto& keys = document->keys();
  const auto is_key = [&](std::string_view key) {
    return std::find(keys.begin(), keys.end(), key) != keys.end();
  };
  return is_key("nodes") && (is_key("links") || is_key("edges"));
}

Result<MoccasinProblem> parse_moccasin(std::string_view json_text, std::string_view file_name) {
  const std::string_view wanted[] = {"nodes", "links", "edges", "graph"};
  const auto document = parse_json(json_text, file_name, wanted);
  if (!document) return document.diagnostics();
  return MoccasinReader(file_name).read(document->root());
}

}  // namespace recut
