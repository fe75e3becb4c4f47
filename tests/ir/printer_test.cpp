#include "engine/ir/printer.h"

#include <catch2/catch_test_macros.hpp>
#include <limits>

#include "engine/input/text.h"

namespace recut {
namespace {

const TensorType kPrinterVector = make_type(DType::f32, {4});

std::string printed(const Argument& argument) { return print_argument(Graph(), argument); }

// Also holds that the printed graph reads back as it was.
std::string printed(const Graph& graph) {
  const std::string text = print(graph);
  const auto again = parse_graph_text(text, "printed");
  REQUIRE(again.ok());
  CHECK(print(*again) == text);
  return text;
}

TEST_CASE("printer: numbers read back as they were", "[ir]") {
  CHECK(printed(Argument(1)) == "1");
  CHECK(printed(Argument(std::numeric_limits<std::int64_t>::min())) == "-9223372036854775808");
  CHECK(printed(Argument(1.0)) == "1.0");
  CHECK(printed(Argument(-0.0)) == "-0.0");
  CHECK(printed(Argument(1e-5)) == "1e-05");
  CHECK(printed(Argument(0.1)) == "0.1");
  CHECK(printed(Argument(1e300)) == "1e+300");
  CHECK(printed(Argument(std::numeric_limits<double>::infinity())) == "inf");
  CHECK(printed(Argument(-std::numeric_limits<double>::infinity())) == "-inf");
  CHECK(printed(Argument(std::numeric_limits<double>::quiet_NaN())) == "nan");
}

TEST_CASE("printer: other arguments", "[ir]") {
  CHECK(printed(Argument(true)) == "true");
  CHECK(printed(Argument(None{})) == "none");
  CHECK(printed(Argument(DType::bf16)) == "bf16");
  CHECK(printed(Argument("cuda")) == "\"cuda\"");
  CHECK(printed(Argument(ArgumentList{1, ArgumentList{}, None{}})) == "[1, [], none]");
  CHECK(printed(Argument(NodeId(std::size_t{7}))) == "%\"?7\"");
}

TEST_CASE("printer: text is escaped", "[ir]") {
  CHECK(printed(Argument("a \"b\" \\ \n\t\x01\x7f")) == R"("a \"b\" \\ \n\x09\x01\x7f")");
  CHECK(printed(Argument("größe")) == "\"größe\"");
}

TEST_CASE("printer: odd names everywhere read back", "[ir]") {
  Graph graph;
  graph.name = "a \"graph\"\n; not a comment";
  const NodeId x = graph.add_input(InputKind::parameter, kPrinterVector, {"x y", "net[\"0\"]", 0});
  const NodeId plain = graph.append(Op::exp, {x}, {kPrinterVector}, {"plain.name_1", {}, 12});
  CHECK(graph.add_alias("%also\\", plain));
  graph.results = {plain};
  graph.gradients = {NodeId()};
  CHECK(printed(graph) == R"(graph "a \"graph\"\n; not a comment" {
  %"x y" = parameter f32[4]  @"net[\"0\"]" #0
  %plain.name_1 = exp(%"x y") : f32[4]  #12
  same %"%also\\" %plain.name_1
  results %plain.name_1
  gradients none
}
)");
}

TEST_CASE("printer: layouts, devices and arguments by name", "[ir]") {
  Graph graph;
  graph.device = "cuda";
  const TensorType columns{DType::f32, {4, 2}, {1, 4}, {}};
  const NodeId x = graph.add_input(InputKind::input, columns, {"x", {}, -1});
  const NodeId s =
      graph.add_input(InputKind::input, make_type(DType::i64, {}, "cpu"), {"s", {}, -1});
  REQUIRE(graph.make(Op::add_Tensor, {x, s, 2}, {"y", {}, -1}).ok());
  CHECK(printed(graph) == R"(graph "" on cuda {
  %x = input f32[4, 2]{1, 4}
  %s = input i64[] on cpu
  %y = add.Tensor(%x, %s, alpha=2) : f32[4, 2]{1, 4}
  results
}
)");
}

}  // namespace
}  // namespace recut
