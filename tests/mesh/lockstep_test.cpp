#include "engine/mesh/lockstep.h"

#include <catch2/catch_test_macros.hpp>
#include <map>
#include <string>
#include <vector>

#include "engine/input/text.h"
#include "engine/mesh/reduce_ranks.h"
#include "tests/mesh/fails.h"
#include "tests/mesh/mesh_tensors.h"

using namespace recut;
using namespace recut::mesh;
using recut::test::count_up;
using recut::test::mesh_of;
using recut::test::tensor_of;
using recut::test::values_in;

namespace {

using Values = std::vector<double>;

Graph graph_of(const std::string& lines) {
  auto graph = parse_graph_text("graph \"g\" {\n" + lines + "\n}", "test");
  INFO(lines);
  INFO((graph ? std::string() : format(graph.diagnostics())));
  REQUIRE(graph.ok());
  return std::move(*graph);
}

// Each rank's graph, with 100 * rank + 0, 1, … as the value of its input `x`.
Result<std::vector<Evaluation>> evaluate_graphs(const std::vector<Graph>& graphs,
                                                const GroupTable& groups) {
  std::vector<RankProgram> programs;
  for (std::size_t r = 0; r < graphs.size(); ++r) {
    const NodeId x = graphs[r].find("x");
    const TensorType& type = graphs[r].type(x);
    programs.push_back(
        {&graphs[r], {{x, count_up(type.shape, 100 * static_cast<double>(r), type.dtype)}}});
  }
  return evaluate_ranks(programs, groups);
}

// One graph on all ranks of a mesh.
Result<std::vector<Evaluation>> evaluate_spmd(const std::string& lines, std::string_view mesh) {
  const DeviceMesh on = mesh_of(mesh);
  const std::vector<Graph> graphs(static_cast<std::size_t>(on.size()), graph_of(lines));
  return evaluate_graphs(graphs, groups_of(on));
}

// The values of each rank's first output.
std::vector<Values> outputs_of(const Result<std::vector<Evaluation>>& evaluations) {
  INFO((evaluations ? std::string() : format(evaluations.diagnostics())));
  REQUIRE(evaluations.ok());
  std::vector<Values> outputs;
  for (const Evaluation& evaluation : *evaluations)
    outputs.push_back(values_in(evaluation.outputs.front()));
  return outputs;
}

std::string call(const std::string& type, const std::string& call, const std::string& result) {
  return "%x = input " + type + "\n%c = _c10d_functional." + call + " : " + result +
         "\n%w = _c10d_functional.wait_tensor(%c) : " + result + "\nresults %w";
}

}  // namespace

TEST_CASE("check 71: collectives of one mesh axis", "[mesh]") {
  const std::string row = "f32[2]";
  CHECK(outputs_of(evaluate_spmd(call(row, R"(all_reduce(%x, "sum", "tp"))", row), "dp=2,tp=2")) ==
        std::vector<Values>{{100, 102}, {100, 102}, {500, 502}, {500, 502}});
  CHECK(outputs_of(evaluate_spmd(call(row, R"(all_reduce(%x, "avg", "dp"))", row), "dp=2,tp=2")) ==
        std::vector<Values>{{100, 101}, {200, 201}, {100, 101}, {200, 201}});
  CHECK(outputs_of(evaluate_spmd(call(row, R"(all_gather_into_tensor(%x, 2, "dp"))", "f32[4]"),
                                 "dp=2,tp=2"))[1] == Values{100, 101, 300, 301});
  CHECK(outputs_of(evaluate_spmd(
            call("f32[4]", R"(reduce_scatter_tensor(%x, "max", 2, "tp"))", row), "tp=2")) ==
        std::vector<Values>{{100, 101}, {102, 103}});
  CHECK(outputs_of(evaluate_spmd(call(row, R"(broadcast(%x, 1, "tp"))", row), "dp=2,tp=2")) ==
        std::vector<Values>{{100, 101}, {100, 101}, {300, 301}, {300, 301}});
  CHECK(outputs_of(evaluate_spmd(call(row, R"(all_to_all_single(%x, [1, 1], [1, 1], "tp"))", row),
                                 "tp=2")) == std::vector<Values>{{0, 100}, {1, 101}});
}

TEST_CASE("check 71: lists of tensors, and a dimension exchanged for another", "[mesh]") {
  const std::string lists = R"(
    %x = input f32[2]
    %y = neg(%x)
    %c = _c10d_functional.all_gather_into_tensor_coalesced([%x, %y, %x], 2, "tp")
    %i = getitem(%c, 1) : f32[4]
    %w = _c10d_functional.wait_tensor(%i) : f32[4]
    results %w)";
  CHECK(outputs_of(evaluate_spmd(lists, "tp=2"))[0] == Values{0, -1, -100, -101});
  const std::string exchange = R"(
    %x = input f32[1, 4]
    %c = _dtensor.shard_dim_alltoall(%x, 0, 1, "tp") : f32[2, 2]
    results %c)";
  CHECK(outputs_of(evaluate_spmd(exchange, "tp=2")) ==
        std::vector<Values>{{0, 1, 100, 101}, {2, 3, 102, 103}});
}

TEST_CASE("check 71: empty and single tensors, and integers", "[mesh]") {
  CHECK(outputs_of(
            evaluate_spmd(call("f32[0]", R"(all_reduce(%x, "sum", "tp"))", "f32[0]"), "tp=2"))[1]
            .empty());
  CHECK(outputs_of(evaluate_spmd(call("i64[1]", R"(all_reduce(%x, "bor", "tp"))", "i64[1]"),
                                 "tp=3"))[0] == Values{100 | 200});
  CHECK(fails_with(
      evaluate_spmd(call("i64[1]", R"(all_reduce(%x, "avg", "tp"))", "i64[1]"), "tp=2"),
      "rank 0, node 'c': i64 values can't be reduced by avg, expected sum, which stays exact"));
}

TEST_CASE("check 71: 16-bit sums are rounded once, and ranks are added in order", "[mesh]") {
  const auto sum = [](DType dtype, const Values& values) {
    std::vector<Tensor> tensors;
    for (const double value : values) tensors.push_back(tensor_of({1}, {value}, dtype));
    return values_in(reduce_ranks(tensors, RankReduction::sum))[0];
  };
  // In bf16 steps, 256 + 1 would stay 256 each time.
  CHECK(sum(DType::bf16, {256, 1, 1}) == 258);
  CHECK(sum(DType::f16, {2048, 1, 1}) == 2050);
  CHECK(sum(DType::f32, {16777216, 1, 1}) == 16777216);
  CHECK(sum(DType::f32, {1, 1, 16777216}) == 16777218);
  CHECK(sum(DType::f64, {16777216, 1, 1}) == 16777218);
  CHECK(sum(DType::i8, {100, 100}) == -56);
  CHECK(sum(DType::boolean, {1, 1}) == 1);
}

TEST_CASE("check 71: a product of row parts is the whole product", "[mesh]") {
  // Columns of x and rows of w over two ranks: Megatron's second linear layer.
  const std::string part = R"(
    %x = input f32[2, 2]
    %t = permute(%x, [1, 0])
    %y = mm(%x, %t)
    %c = _c10d_functional.all_reduce(%y, "sum", "tp") : f32[2, 2]
    %w = _c10d_functional.wait_tensor(%c) : f32[2, 2]
    %r = relu(%w)
    results %r)";
  const auto evaluations = evaluate_spmd(part, "tp=2");
  const Values whole = {
      0 * 0 + 1 * 1 + 100 * 100 + 101 * 101, 0 * 2 + 1 * 3 + 100 * 102 + 101 * 103,
      0 * 2 + 1 * 3 + 100 * 102 + 101 * 103, 2 * 2 + 3 * 3 + 102 * 102 + 103 * 103};
  CHECK(outputs_of(evaluations) == std::vector<Values>{whole, whole});
  CHECK((*evaluations)[1].peak_bytes == 32);  // the product and its sum
}

TEST_CASE("check 71: ranks with programs of their own rotate parts of different sizes", "[mesh]") {
  const DeviceMesh mesh = mesh_of("cp=3");
  std::vector<Graph> graphs;
  for (int rank = 0; rank < 3; ++rank) {
    // Rank r has r + 1 rows and sends them to rank r + 1.
    const int rows = rank + 1, before = (rank + 2) % 3;
    const auto sizes = [](int place, int size) {
      Values list(3, 0);
      list[static_cast<std::size_t>(place)] = size;
      return "[" + std::to_string(static_cast<int>(list[0])) + ", " +
             std::to_string(static_cast<int>(list[1])) + ", " +
             std::to_string(static_cast<int>(list[2])) + "]";
    };
    const std::string own = "f32[" + std::to_string(rows) + "]",
                      got = "f32[" + std::to_string(before + 1) + "]";
    graphs.push_back(graph_of(call(own,
                                   "all_to_all_single(%x, " + sizes(before, before + 1) + ", " +
                                       sizes((rank + 1) % 3, rows) + ", \"cp\")",
                                   got)));
  }
  CHECK(outputs_of(evaluate_graphs(graphs, groups_of(mesh))) ==
        std::vector<Values>{{200, 201, 202}, {0}, {100, 101}});
}

TEST_CASE("checks 75, 76: calls that don't fit each other name rank and node", "[mesh]") {
  const std::string row = "f32[2]";
  const GroupTable groups = groups_of(mesh_of("tp=2"));
  const auto fault = [&](const std::string& first, const std::string& second) {
    return evaluate_graphs({graph_of(first), graph_of(second)}, groups);
  };
  const std::string sum = call(row, R"(all_reduce(%x, "sum", "tp"))", row);
  CHECK(fails_with(fault(sum, call(row, R"(all_reduce(%x, "max", "tp"))", row)),
                   "rank 1, node 'c': its reduce_op isn't that of rank 0, node 'c'"));
  CHECK(fails_with(fault(sum, call(row, R"(broadcast(%x, 0, "tp"))", row)),
                   "rank 1, node 'c': it calls _c10d_functional.broadcast, and rank 0, node 'c' "
                   "calls _c10d_functional.all_reduce"));
  CHECK(fails_with(fault(sum, call("f32[3]", R"(all_reduce(%x, "sum", "tp"))", "f32[3]")),
                   "rank 1, node 'c': it gives f32[3], expected f32[2] as rank 0, node 'c' gives"));
  CHECK(fails_with(fault(sum, "%x = input f32[2]\nresults %x"),
                   "rank 0, node 'c': it waits for group 'tp', but rank 1 has ended"));
  const std::string parts = "all_to_all_single(%x, [1, 1], [1, 1], \"tp\")";
  CHECK(fails_with(fault(call(row, parts, row),
                         call("f32[3]", "all_to_all_single(%x, [1, 1], [2, 1], \"tp\")", row)),
                   "rank 0, node 'c': it expects 1 rows from rank 1, which sends 2"));
  CHECK(fails_with(fault(call(row, parts, row), call("bf16[2]", parts, "bf16[2]")),
                   "rank 1, node 'c': it gives bf16[2], and rank 0, node 'c' gives f32[2]"));
  CHECK(fails_with(fault(call(row, parts, row), call("f32[2, 3]", parts, "f32[2, 3]")),
                   "rank 1, node 'c': it gives f32[2, 3], and rank 0, node 'c' gives f32[2]"));
}

TEST_CASE("checks 75, 76: groups that don't fit the calls are refused", "[mesh]") {
  const std::string row = "f32[2]";
  CHECK(fails_with(evaluate_spmd(call(row, R"(all_reduce(%x, "sum", "pt"))", row), "tp=2"),
                   "rank 0, node 'c': no group is named 'pt'"));
  CHECK(fails_with(
      evaluate_spmd(call(row, R"(all_gather_into_tensor(%x, 4, "tp"))", "f32[8]"), "tp=2"),
      "it is a call of 4 ranks, and its group 'tp' has 2"));
  CHECK(fails_with(evaluate_spmd(call(row, R"(broadcast(%x, 2, "tp"))", row), "tp=2"),
                   "its source is rank 2 of the group, which has 2"));
  const std::string exchange =
      "%x = input f32[1, 3]\n%c = _dtensor.shard_dim_alltoall(%x, 0, 1, \"tp\") : f32[2, 2]\n"
      "results %c";
  CHECK(fails_with(evaluate_spmd(exchange, "tp=2"),
                   "3 elements of dimension 1 can't be parted among 2 ranks; pad the tensor"));
  GroupTable table;
  CHECK(table.add("a", {{0, 1}, {2}}).ok());
  CHECK(fails_with(table.add("a", {{0}}), "two groups are named 'a'"));
  CHECK(fails_with(table.add("b", {{0, 1}, {1}}), "rank 1 is in group 'b' twice"));
  CHECK(fails_with(table.add("b", {{}}), "group 'b' has no ranks"));
  CHECK(fails_with(table.group_of("a", 3), "rank 3 is in none of the groups of 'a'"));
  CHECK(fails_with(table.check_world(2), "group 'a' has rank 2, and there are 2 ranks"));
}

TEST_CASE("check 76: another order of collectives ends in a message", "[mesh]") {
  const auto both = [](const std::string& first, const std::string& second) {
    return graph_of("%x = input f32[1]\n%a = _c10d_functional.all_reduce(%x, \"sum\", \"" + first +
                    "\") : f32[1]\n%b = _c10d_functional.all_reduce(%a, \"sum\", \"" + second +
                    "\") : f32[1]\nresults %b");
  };
  CHECK(outputs_of(evaluate_graphs(std::vector<Graph>(4, both("dp", "tp")),
                                   groups_of(mesh_of("dp=2,tp=2"))))[0] == Values{600});
  GroupTable groups;  // two communicators of the same ranks
  REQUIRE((groups.add("one", {{0, 1}}).ok() && groups.add("two", {{1, 0}}).ok()));
  CHECK(fails_with(evaluate_graphs({both("one", "two"), both("two", "one")}, groups),
                   "rank 0, node 'a': it waits for group 'one', but rank 1, node 'a' waits for "
                   "group 'two'; all ranks of a group make the same calls in one order"));
}

TEST_CASE("check 3: ranks outside the mesh run to their end", "[mesh]") {
  const auto mesh = DeviceMesh::make({{"tp", 2}}, {1, 3});
  REQUIRE(mesh.ok());
  std::vector<Graph> graphs(4, graph_of("%x = input f32[0]\nresults %x"));
  graphs[1] = graphs[3] = graph_of(call("f32[1]", R"(all_reduce(%x, "sum", "tp"))", "f32[1]"));
  CHECK(outputs_of(evaluate_graphs(graphs, groups_of(*mesh))) ==
        std::vector<Values>{{}, {400}, {}, {400}});
  graphs[2] = graphs[1];
  CHECK(fails_with(evaluate_graphs(graphs, groups_of(*mesh)),
                   "rank 2, node 'c': rank 2 is in none of the groups of 'tp'"));
}

TEST_CASE("check 77: an error of one rank names it", "[mesh]") {
  const Graph graph = graph_of("%x = input f32[2]\n%y = neg(%x)\nresults %y");
  std::vector<RankProgram> programs(2, {&graph, {{graph.find("x"), count_up({2})}}});
  programs[1].inputs.clear();
  CHECK(fails_with(evaluate_ranks(programs, GroupTable()), "rank 1: node 'x': has no value"));
}
