// Products and convolutions by a library: the calls that it takes, and their values beside the
// interpreter's.
#include <fmt/core.h>

#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <nlohmann/json.hpp>
#include <span>
#include <tuple>

#include "engine/codegen/library/library_call.h"
#include "engine/input/text.h"
#include "native/cpu/onednn.h"
#include "tests/native/run_command.h"

namespace recut {
namespace {

using Json = nlohmann::json;
using native::Ran;

// Runs a graph's text, compares it, and returns the kernels that were oneDNN's.
std::vector<std::string> taken(const std::string& text, std::vector<std::string> options = {}) {
  native::TemporaryFile file("library.recut");
  file.write(text);
  options.insert(options.begin(),
                 {"run", file.path(), "--check", "--json", "--steps", "2", "--no-cache"});
  const Ran ran = native::run(options);
  INFO(text << ran.err << ran.out);
  REQUIRE(ran.code == native::kDone);
  std::vector<std::string> names;
  const Json report = Json::parse(ran.out);
  for (const Json& kernel : report["slowest"])
    if (kernel["library"]) names.push_back(kernel["name"]);
  std::sort(names.begin(), names.end());
  return names;
}

// A graph that computes %y from `lines`, with parameters %a and %b of these types.
std::string product(const std::string& a, const std::string& b, const std::string& y,
                    const std::string& lines) {
  return fmt::format(
      "graph \"product\" {{\n  %a = parameter {}\n  %b = parameter {}\n  %z = parameter {}[]\n"
      "  %t = tangent {}\n{}  %ty = mul.Tensor(%t, %y)\n  %g = sum(%ty)\n  results %y\n"
      "  gradients none, none, %g\n}}\n",
      a, b, y.substr(0, y.find('[')), y, lines);
}

using Names = std::vector<std::string>;

TEST_CASE("library: products, however their operands lie", "[native][cpu][library]") {
  CHECK(taken(product("f32[19, 33]", "f32[33, 21]", "f32[19, 21]", "  %y = mm(%a, %b)\n")) ==
        Names{"y"});
  CHECK(taken(product("f32[33, 19]", "f32[21, 33]", "f32[19, 21]",
                      "  %at = permute(%a, [1, 0])\n  %bt = permute(%b, [1, 0])\n"
                      "  %y = mm(%at, %bt)\n")) == Names{"y"});
  CHECK(taken(product("f32[5, 19, 33]", "f32[5, 21, 33]", "f32[5, 19, 21]",
                      "  %bt = permute(%b, [0, 2, 1])\n  %y = bmm(%a, %bt)\n")) == Names{"y"});
  CHECK(taken(product("f32[5, 19, 21]", "f32[5, 21, 21]", "f32[5, 19, 21]",
                      "  %r = select.int(%b, 0, 1)\n  %row = select.int(%r, 0, 3)\n"
                      "  %y = baddbmm(%row, %a, %b)\n")) == Names{"y"});
  CHECK(taken(product("f32[19, 5, 33]", "f32[5, 33, 21]", "f32[5, 19, 21]",
                      "  %at = permute(%a, [1, 0, 2])\n  %y = bmm(%at, %b)\n")) == Names{"y"});
  CHECK(taken(product("f32[19, 40]", "f32[33, 21]", "f32[19, 21]",
                      "  %part = slice.Tensor(%a, 1, 4, 37)\n  %y = mm(%part, %b)\n")) ==
        Names{"y"});
  CHECK(taken(product("f32[19, 33]", "f32[21]", "f32[19, 19]",
                      "  %at = permute(%a, [1, 0])\n  %bias = slice.Tensor(%b, 0, 2, 21)\n"
                      "  %y = addmm(%bias, %a, %at)\n")) == Names{"y"});
}

TEST_CASE("library: what doesn't fit stays with the loops", "[native][cpu][library]") {
  const std::string plain =
      product("f32[19, 33]", "f32[33, 21]", "f32[19, 21]", "  %y = mm(%a, %b)\n");
  CHECK(taken(plain, {"--no-library"}).empty());
  CHECK(taken(product("f64[19, 33]", "f64[33, 21]", "f64[19, 21]", "  %y = mm(%a, %b)\n")).empty());
  CHECK(taken(product("f32[1, 33]", "f32[33, 21]", "f32[19, 21]",
                      "  %many = expand(%a, [19, 33])\n  %y = mm(%many, %b)\n"))
            .empty());
  CHECK(taken(product("f32[19, 66]", "f32[33, 21]", "f32[19, 21]",
                      "  %part = slice.Tensor(%a, 1, 0, 66, 2)\n  %copy = alias(%part)\n"
                      "  %bt = permute(%b, [1, 0])\n  %y = mm(%copy, %b)\n"))
            .empty());
  CHECK(taken(product("f32[19, 21]", "f32[21, 21]", "f32[19, 21]",
                      "  %y = addmm(%a, %a, %b, beta=2)\n"))
            .empty());
  CHECK(taken(product("f32[19, 21]", "f32[21, 21]", "f32[19, 21]",
                      "  %y = addmm(%a, %a, %b, alpha=2)\n"))
            .empty());
}

TEST_CASE("library: a kernel has one dtype, and oneDNN's is f32", "[native][cpu][library]") {
  const auto text = [](const std::string& dtype) {
    return product(dtype + "[19, 33]", dtype + "[33, 21]", dtype + "[19, 21]",
                   "  %y = mm(%a, %b)\n");
  };
  for (const auto& [dtype, known, common] :
       {std::tuple("f32", true, true), std::tuple("bf16", true, false),
        std::tuple("f16", true, false), std::tuple("f64", false, false)}) {
    INFO(dtype);
    const auto graph = parse_graph_text(text(dtype), "p");
    if (!graph) FAIL(format(graph.diagnostics()));
    const auto kernel = library::library_kernel(*graph, StorageModel(*graph), graph->find("y"));
    REQUIRE(kernel.has_value() == known);
    if (!kernel) continue;
    CHECK(short_name(std::get<library::MatrixProduct>(kernel->calls.front()).dtype) == dtype);
    CHECK(library::is_portable(*kernel) == common);
  }
  CHECK(taken(text("bf16")).empty());
}

// What is added counts for nothing at a beta of 0, and is no part of the call.
TEST_CASE("library: what is added to a product, with its scales", "[native][cpu][library]") {
  const auto line = [](const std::string& call) {
    const auto graph =
        parse_graph_text(product("f32[19, 21]", "f32[21, 21]", "f32[19, 21]", call), "p");
    if (!graph) FAIL(format(graph.diagnostics()));
    const auto kernel = library::library_kernel(*graph, StorageModel(*graph), graph->find("y"));
    if (!kernel) return std::string("loops");
    const std::string printed = library::print(*kernel);
    const std::size_t at = printed.find(" = ", printed.find("\n  %y["));
    return printed.substr(at + 3, printed.find('\n', at) - at - 3) +
           (library::is_portable(*kernel) ? "" : " (not oneDNN's)");
  };
  const std::string product_text = "product %a[19, 21 by 21, 1], %b[21, 21 by 21, 1]";
  const std::string added = "%a[19, 21 by 21, 1] (not oneDNN's)";
  CHECK(line("  %y = addmm(%a, %a, %b)\n") == product_text + ", plus " + added);
  CHECK(line("  %y = addmm(%a, %a, %b, beta=0.5, alpha=-2)\n") ==
        "-2 * " + product_text + ", plus 0.5 * " + added);
  CHECK(line("  %y = addmm(%a, %a, %b, beta=0)\n") == product_text);
  const std::string row = "  %row = select.int(%b, 0, 3)\n  %y = addmm(%row, %a, %b";
  CHECK(line(row + ")\n") == product_text + ", plus %b + 63[21 by 1]");
  CHECK(line(row + ", beta=2)\n") == "loops");
  CHECK(line("  %one = slice.Tensor(%a, 0, 0, 1)\n  %y = addmm(%one, %a, %b)\n") == "loops");
}

struct Shapes {
  std::int64_t channels, outputs, plane, kernel, stride, padding, dilation, groups;
  bool transposed, bias;
  std::int64_t output_padding = 0;

  std::int64_t windows() const {
    const std::int64_t reach = (kernel - 1) * dilation + 1;
    return transposed ? (plane - 1) * stride + reach - 2 * padding + output_padding
                      : (plane + 2 * padding - reach) / stride + 1;
  }
  std::string settings() const {
    return fmt::format("[{0}, {0}], [{1}, {1}], [{2}, {2}], {3}, [{4}, {4}], {5}", stride, padding,
                       dilation, transposed, output_padding, groups);
  }
  std::string text() const {
    const std::int64_t first = transposed ? channels : outputs;
    const std::int64_t second = (transposed ? outputs : channels) / groups;
    return fmt::format(
        "graph \"convolution\" {{\n"
        "  %w = parameter f32[{0}, {1}, {2}, {2}]\n  %bias = parameter f32[{3}]\n"
        "  %x = input f32[2, {4}, {5}, {5}]\n  %g = tangent f32[2, {3}, {6}, {6}]\n"
        "  %y = convolution(%x, %w, {7}, {8})\n"
        "  %b = convolution_backward(%g, %x, %w, {9}, {8}, [true, true, {10}])\n"
        "  %gx = getitem(%b, 0)\n  %gw = getitem(%b, 1)\n{11}"
        "  results %y\n  gradients %gw, {12}, %gx\n}}\n",
        first, second, kernel, outputs, channels, plane, windows(), bias ? "%bias" : "none",
        settings(), bias ? fmt::format("[{}]", outputs) : "none", bias,
        bias ? "  %gb = getitem(%b, 2)\n" : "", bias ? "%gb" : "none");
  }
};

TEST_CASE("library: convolutions, forward and backward", "[native][cpu][library]") {
  const Shapes shapes = GENERATE(
      Shapes{3, 8, 12, 3, 1, 1, 1, 1, false, false}, Shapes{16, 16, 9, 3, 2, 1, 1, 1, false, true},
      Shapes{8, 12, 11, 3, 1, 2, 2, 4, false, true},
      Shapes{16, 16, 8, 3, 1, 1, 1, 16, false, false}, Shapes{5, 7, 10, 1, 2, 0, 1, 1, false, true},
      Shapes{8, 6, 5, 2, 2, 0, 1, 1, true, true}, Shapes{8, 6, 5, 3, 2, 1, 1, 2, true, false, 1},
      Shapes{4, 4, 6, 3, 1, 0, 2, 1, true, true});
  CHECK(taken(shapes.text(), {"--no-passes"}) == Names{"b", "y"});
  CHECK(taken(shapes.text()) == Names{"convolution_backward", "convolution_backward_1", "y"});
}

// A convolution channels last, with an epilogue.
std::string clamped(const std::string& addend, const std::string& bounds, const char* last) {
  return fmt::format(
      "graph \"clamped\" {{\n  %x = input f32[2, 16, 9, 9]{0}\n"
      "  %w = parameter f32[24, 16, 3, 3]{{144, 1, 48, 16}}\n  %b = parameter f32[24]\n"
      "  %r = input f32[2, 24, 9, 9]{{1944, 1, 216, 24}}\n"
      "  %y = recut.clamped_convolution(%x, %w, %b, {1}, [1, 1], [1, 1], [1, 1], 1{2})\n"
      "  %s = mul.Tensor(%r, 2)\n  results %y, %s\n}}\n",
      last, addend, bounds);
}

TEST_CASE("library: convolutions with epilogues", "[native][cpu][library]") {
  const char* last = "{1296, 1, 144, 16}";
  for (const char* bounds : {"", ", 0.0", ", 0.0, 6.0", ", none, 0.25", ", -0.5"}) {
    CHECK(taken(clamped("%r", bounds, last)) == Names{"y"});
    CHECK(taken(clamped("none", bounds, last)) == Names{"y"});
  }
  CHECK(taken(clamped("none", ", 0.0", "")) == Names{"y"});
  // A NaN is neither below nor above a bound.
  for (const char* bounds : {", 0.0", ", 0.0, 6.0"}) {
    std::string nans = clamped("none", bounds, last);
    nans.replace(nans.find("convolution(%x"), 14, "convolution(%l");
    nans.insert(nans.find("  %y"), "  %l = log(%x)\n");
    CHECK(taken(nans) == Names{"y"});
  }
  // A residual that isn't channels last would be reordered, or added by plain loops.
  const std::string text = clamped("%r", ", 0.0", last);
  const std::string strides = "{1944, 1, 216, 24}";
  std::string rows = text;
  rows.erase(rows.find(strides), strides.size());
  CHECK(taken(rows).empty());
}

// oneDNN is asked: where it has no code for a call, forward or backward, the loops are there.
TEST_CASE("library: convolutions that oneDNN refuses stay with the loops",
          "[native][cpu][library]") {
  // Outputs padded beyond the windows of a dilated transposed convolution.
  const Shapes refused = GENERATE(Shapes{4, 6, 5, 3, 1, 0, 2, 1, true, false, 1},
                                  Shapes{4, 6, 5, 3, 1, 0, 2, 2, true, true, 1},
                                  Shapes{4, 4, 6, 2, 2, 0, 3, 1, true, true, 2},
                                  Shapes{4, 4, 6, 2, 2, 0, 3, 4, true, false, 2});
  for (const std::vector<std::string>& options :
       {std::vector<std::string>{"--no-passes"}, std::vector<std::string>()}) {
    INFO(refused.text());
    CHECK(taken(refused.text(), options).empty());
  }
}

TEST_CASE("library: oneDNN says itself what it takes", "[native][cpu][library]") {
  const auto takes = [](const Shapes& shapes, const char* node) {
    const auto graph = parse_graph_text(shapes.text(), "c");
    if (!graph) FAIL(format(graph.diagnostics()));
    const auto kernel = library::library_kernel(*graph, StorageModel(*graph), graph->find(node));
    REQUIRE(kernel);
    REQUIRE(library::is_portable(*kernel));
    // What is taken is prepared, and the other way round.
    const bool taken = cpu::onednn_takes(*kernel);
    CHECK(cpu::OneDnn::prepare(std::span(&*kernel, 1), 0, std::vector<std::vector<bool>>(1)).ok() ==
          taken);
    return taken;
  };
  for (const char* node : {"y", "b"}) {
    INFO(node);
    CHECK(takes(Shapes{3, 8, 12, 3, 1, 1, 1, 1, false, true}, node));
    CHECK(takes(Shapes{4, 4, 6, 3, 1, 0, 2, 1, true, true}, node));
    CHECK_FALSE(takes(Shapes{4, 6, 5, 3, 1, 0, 2, 1, true, true, 1}, node));
  }
}

TEST_CASE("library: a call's text says what it multiplies", "[library]") {
  const auto graph = parse_graph_text(Shapes{3, 8, 12, 3, 1, 1, 1, 1, false, true}.text(), "c");
  if (!graph) FAIL(format(graph.diagnostics()));
  const auto kernel = library::library_kernel(*graph, StorageModel(*graph), graph->find("b"));
  REQUIRE(kernel);
  CHECK(library::print(*kernel) ==
        "library kernel \"b\" {\n  note \"%b = convolution_backward\"\n"
        "  buffer %g : f32[2304] read\n  buffer %w : f32[216] read\n"
        "  buffer %b.0 : f32[864] written\n  buffer %x : f32[864] read\n"
        "  buffer %b.1 : f32[216] written\n  buffer %b.2 : f32[8] written\n"
        "  %b.0[2, 3, 12, 12 by 432, 144, 12, 1] = input gradient of convolution "
        "%g[2, 8, 12, 12 by 1152, 144, 12, 1], %w[8, 3, 3, 3 by 27, 9, 3, 1] "
        "stride 1x1 padding 1x1 dilation 1x1 groups 1\n"
        "  %b.1[8, 3, 3, 3 by 27, 9, 3, 1], %b.2[8 by 1] = weight gradient of convolution "
        "%g[2, 8, 12, 12 by 1152, 144, 12, 1], %x[2, 3, 12, 12 by 432, 144, 12, 1] "
        "stride 1x1 padding 1x1 dilation 1x1 groups 1\n}\n");
}

}  // namespace
}  // namespace recut
