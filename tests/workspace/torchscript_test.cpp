// TorchScript's text of operators that TorchScript lacks: its calls, read back as Recut's own, give
// the same values.
#include "engine/workspace/torchscript.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <catch2/catch_test_macros.hpp>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "engine/eval/compare.h"
#include "engine/eval/evaluator.h"
#include "engine/eval/inputs.h"
#include "engine/ir/printer.h"
#include "tests/input/parse.h"

namespace recut {
namespace {

// Reads the lines of a function in TorchScript's text as calls of Recut's text form.
class ScriptReader {
 public:
  // The inputs' lines are the graph's own.
  std::string read(const std::string& script, const Graph& graph) {
    text_ = "graph \"script\" on cpu {\n";
    for (const NodeId id : graph.inputs())
      text_ += fmt::format("  %{} = input {}\n", graph.node_name(id), format(graph.type(id)));
    std::stringstream lines(script);
    for (std::string line; std::getline(lines, line);)
      if (const auto equals = line.find(" = "); equals != std::string::npos)
        read_call(line.substr(0, equals), line.substr(equals + 3));
    return text_ + "}\n";
  }

 private:
  // "%a : Float(2), %b : Tensor" as a and b; the types have commas of their own.
  static std::vector<std::string> values_of(const std::string& declared) {
    std::vector<std::string> names;
    for (std::size_t at = declared.find('%'); at != std::string::npos;
         at = declared.find('%', at + 1))
      names.push_back(declared.substr(at, declared.find(' ', at) - at));
    return names;
  }

  static std::string renamed(const std::string& name) {
    return std::isdigit(static_cast<unsigned char>(name[1])) != 0 ? "%n" + name.substr(1) : name;
  }

  void read_call(const std::string& declared, const std::string& call) {
    const std::vector<std::string> values = values_of(declared);
    if (call.rfind("prim::Constant", 0) == 0) {
      const auto begin = call.find("value=");
      known_[values[0]] =
          begin == std::string::npos ? "none" : call.substr(begin + 6, call.rfind(']') - begin - 6);
      return;
    }
    const std::string op = call.substr(0, call.find('('));
    std::vector<std::string> x;
    std::stringstream items(call.substr(op.size() + 1, call.size() - op.size() - 2));
    for (std::string item; std::getline(items, item, ',');) {
      const std::string name = item.substr(item.find('%'));
      x.push_back(known_.count(name) != 0 ? known_[name] : renamed(name));
    }
    if (op == "prim::ListConstruct")
      known_[values[0]] = fmt::format("[{}]", fmt::join(x, ", "));
    else if (op == "prim::TupleConstruct")
      text_ += fmt::format("  results {}\n", fmt::join(x, ", "));
    else
      add(values, op, x);
  }

  void add(const std::vector<std::string>& values, const std::string& op,
           const std::vector<std::string>& x) {
    static const std::map<std::string, std::string> dtypes = {
        {"1", "i8"}, {"4", "i64"}, {"5", "f16"}, {"6", "f32"}, {"7", "f64"}};
    const std::string value = renamed(values[0]);
    std::string made;
    if (op == "aten::to")
      made = fmt::format("_to_copy({}, dtype={})", x[0], dtypes.at(x[1]));
    else if (op == "aten::mul")
      made = fmt::format("mul.Tensor({}, {})", x[0], x[1]);
    else if (op == "aten::add")
      made = fmt::format("add.Tensor({}, {}, alpha={})", x[0], x[1], x[2]);
    else if (op == "aten::floor_divide")
      made = fmt::format("floor_divide({}, {})", x[0], x[1]);
    else if (op == "aten::remainder")
      made = fmt::format("remainder.Scalar({}, {})", x[0], x[1]);
    else if (op == "aten::view")
      made = fmt::format("view({}, {})", x[0], x[1]);
    else if (op == "aten::scalar_tensor")
      made = fmt::format("full([], {}, dtype={})", x[0], dtypes.at(x[1]));
    else if (op == "aten::arange")
      made = fmt::format("arange.start_step({}, {}, {}, dtype={}, device=\"cpu\")", x[0], x[1],
                         x[2], dtypes.at(x[3]));
    else
      return add_pooling(values, op, x);
    text_ += fmt::format("  {} = {}\n", value, made);
  }

  void add_pooling(const std::vector<std::string>& values, const std::string& op,
                   const std::vector<std::string>& x) {
    INFO(op);
    REQUIRE(op.rfind("aten::max_pool", 0) == 0);
    text_ += fmt::format("  %pooled = {}({}, {}, {}, {}, {}, {})\n", op.substr(6), x[0], x[1], x[2],
                         x[3], x[4], x[5] == "1" ? "true" : "false");
    for (std::size_t i = 0; i < 2; ++i)
      text_ += fmt::format("  {} = getitem(%pooled, {})\n", renamed(values[i]), i);
  }

  std::string text_;
  std::map<std::string, std::string> known_;  // constants and lists, by name
};

std::vector<Tensor> outputs_of(const Graph& graph) {
  const auto values = inputs_from(graph, {}, 5);
  REQUIRE(values.ok());
  auto evaluated = evaluate(graph, *values);
  INFO((evaluated ? "" : format(evaluated.diagnostics())));
  REQUIRE(evaluated.ok());
  return std::move(evaluated->outputs);
}

void check_script(const std::string& lines) {
  const Graph graph = parse("graph \"prims\" on cpu {\n" + lines + "}\n");
  const auto script = torchscript(graph);
  INFO((script ? *script : format(script.diagnostics())));
  REQUIRE(script.ok());
  const std::string text = ScriptReader().read(*script, graph);
  INFO(text);
  const Graph again = parse(text);
  REQUIRE(again.results.size() == graph.results.size());
  const auto expected = outputs_of(graph), found = outputs_of(again);
  for (std::size_t i = 0; i < expected.size(); ++i) {
    CHECK(again.type(again.results[i]).dtype == graph.type(graph.results[i]).dtype);
    CHECK(again.type(again.results[i]).shape == graph.type(graph.results[i]).shape);
    CHECK(unpack<double>(found[i]).data == unpack<double>(expected[i]).data);
  }
}

TEST_CASE("torchscript: offsets of max pooling, and back to indices", "[workspace]") {
  const struct {
    const char *input, *size, *kernel, *stride, *padding, *dilation, *ceil;
  } cases[] = {
      {"f32[2, 9]", "[9]", "[3]", "[2]", "[1]", "[1]", "false"},
      {"f32[1, 3, 10]", "[10]", "[3]", "[1]", "[0]", "[2]", "true"},
      {"f32[2, 3, 7, 8]", "[7, 8]", "[3, 2]", "[2, 1]", "[1, 0]", "[1, 2]", "false"},
      {"f32[2, 6, 6]", "[6, 6]", "[2, 3]", "[2, 2]", "[1, 1]", "[2, 1]", "true"},
      {"f32[1, 5, 6, 7]", "[5, 6, 7]", "[2, 3, 2]", "[1, 2, 3]", "[0, 1, 1]", "[1, 1, 2]", "false"},
      {"f32[1, 128]", "[128]", "[128]", "[1]", "[0]", "[1]", "false"},
  };
  for (const auto& c : cases)
    check_script(fmt::format(
        "  %x = input {}\n"
        "  %pool = prims._low_memory_max_pool_with_offsets(%x, {}, {}, {}, {}, {})\n"
        "  %y = getitem(%pool, 0)\n  %offsets = getitem(%pool, 1)\n"
        "  %at = prims._low_memory_max_pool_offsets_to_indices(%offsets, {}, {}, {}, {}, {})\n"
        "  results %y, %offsets, %at\n",
        c.input, c.kernel, c.stride, c.padding, c.dilation, c.ceil, c.kernel, c.size, c.stride,
        c.padding, c.dilation));
}

TEST_CASE("torchscript: a fused multiply-add, and ranges", "[workspace]") {
  for (const char* dtype : {"f32", "f16", "i64"})
    check_script(
        fmt::format("  %x = input {0}[3, 4]\n  %y = input {0}[4]\n"
                    "  %f = prims.fma(%x, %y, %x)\n  %g = prims.fma(%x, %y, 2)\n"
                    "  %r = prims.iota(4, start=3, step=-2, dtype=i64, device=\"cpu\", "
                    "requires_grad=false)\n  results %f, %g, %r\n",
                    dtype));
}

}  // namespace
}  // namespace recut
