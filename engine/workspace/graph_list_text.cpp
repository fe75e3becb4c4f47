#include "engine/workspace/graph_list_text.h"

#include "engine/support/table.h"
#include "engine/support/units.h"
#include "engine/support/utf8.h"
#include "engine/workspace/json_text.h"

namespace recut {
namespace {

constexpr std::size_t kFaultWidth = 100;

}  // namespace

std::string graph_list_text(const std::vector<GraphEntry>& graphs) {
  Table table;
  table.column("");
  table.column("graph");
  table.column("kind");
  table.column("nodes", Table::Align::right);
  table.column("inputs", Table::Align::right);
  table.column("");
  for (const GraphEntry& graph : graphs) {
    const bool read = graph.fault.empty();
    table.row({graph.opens_first ? "*" : "", graph.key, graph.kind,
               read ? format_count(graph.nodes) : "", read ? format_count(graph.inputs) : "",
               shorten_back(graph.fault, kFaultWidth)});
  }
  return table.format();
}

std::string graph_list_json(const std::vector<GraphEntry>& graphs) {
  using Json = nlohmann::ordered_json;
  Json list = Json::array();
  for (const GraphEntry& graph : graphs) {
    Json& row = list.emplace_back(Json{{"key", graph.key},
                                       {"compile_id", graph.compile_id},
                                       {"kind", graph.kind},
                                       {"nodes", graph.nodes},
                                       {"inputs", graph.inputs},
                                       {"opens_first", graph.opens_first}});
    if (!graph.fault.empty()) row["fault"] = graph.fault;
  }
  return json_text(list);
}

}  // namespace recut
