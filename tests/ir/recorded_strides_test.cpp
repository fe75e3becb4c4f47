// The strides that PyTorch recorded for the views of real graphs are those that the rules give.
#include <catch2/catch_test_macros.hpp>
#include <cstdlib>
#include <filesystem>
#include <string>

#include "engine/input/graph_file_reader.h"
#include "engine/ir/call.h"
#include "tests/paths.h"

namespace recut {
namespace {

void check_views(const Graph& graph, std::size_t& views) {
  const Call::TypesOf types_of = [&](NodeId id) { return graph.pool().types_of(id); };
  for (const NodeId id : graph.order()) {
    const Operator& op = graph.op(id);
    if (!op.is(kView) || op.op == Op::getitem) continue;
    const auto inferred = infer_types(op, graph[id].arguments, types_of);
    REQUIRE(inferred.ok());
    ++views;
    INFO(graph.name << " " << graph.node_name(id) << " " << op.name);
    for (std::size_t i = 0; i < inferred->size(); ++i)
      CHECK(format((*inferred)[i]) == format(graph[id].outputs[i]));
  }
}

TEST_CASE("views of real graphs have the strides that PyTorch recorded") {
  const std::filesystem::path folder = RECUT_SOURCE_DIR "/../shared/graphs";
  if (!std::filesystem::is_directory(folder)) SKIP("no folder " << folder.string());
  std::size_t views = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (entry.path().extension() != ".gz") continue;
    const auto file = read_graph_file(entry.path().string());
    INFO(entry.path().string());
    REQUIRE(file.ok());
    check_views(file->graph, views);
  }
  CHECK(views > 1000);
}

}  // namespace
}  // namespace recut
