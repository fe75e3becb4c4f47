// Calls that write in place: values read behind them are the new ones, also through views, and those
// of other tensors stay. Every case is checked by values, against a graph that is written without
// such calls.
#include <catch2/catch_test_macros.hpp>
#include <string>
#include <vector>

#include "tests/input/call_lines.h"

namespace recut {
namespace {

TEST_CASE("writes: a buffer that is written is an input, and its value follows the results") {
  check_writes({"w = aten.add_.Tensor(b, x, alpha=2)", "y = aten.relu.default(b)"}, "y",
               "  %w = add.Tensor(%b, %x, alpha=2)\n  %y = relu(%w)\n  results %y, %w\n");
  check_writes({"w = aten.mul_.Tensor(b, x)", "v = aten.add_.Tensor(w, 1)"}, "b",
               "  %w = mul.Tensor(%b, %x)\n  %v = add.Tensor(%w, 1)\n  results %v, %v\n");
  const auto unwritten = written_graph({"y = aten.relu.default(b)"}, "y");
  CHECK_FALSE(unwritten->graph.is_input(unwritten->graph.find("b")));
}

TEST_CASE("writes: what was computed before keeps its value") {
  check_writes(
      {"old = aten.relu.default(b)", "w = aten.zero_.default(b)", "y = aten.add.Tensor(old, b)"},
      "y",
      "  %old = relu(%b)\n  %w = zeros_like(%b)\n  %y = add.Tensor(%old, %w)\n"
      "  results %y, %w\n");
}

TEST_CASE("writes: two equal tensors are two") {
  check_writes({"p = aten.clone.default(x)", "q = aten.clone.default(x)",
                "w = aten.add_.Tensor(p, 1)", "y = aten.mul.Tensor(p, q)"},
               "y", "  %p = add.Tensor(%x, 1)\n  %y = mul.Tensor(%p, %x)\n  results %y\n");
}

TEST_CASE("writes: a view sees a write to its tensor") {
  check_writes(
      {"v = aten.select.int(b, 0, 1)", "w = aten.add_.Tensor(b, x)", "y = aten.relu.default(v)"},
      "y",
      "  %w = add.Tensor(%b, %x)\n  %v = select.int(%w, 0, 1)\n  %y = relu(%v)\n"
      "  results %y, %w\n");
}

TEST_CASE("writes: through a view to its tensor, and to other views of that") {
  check_writes({"v = aten.select.int(b, 0, 1)", "u = aten.slice.Tensor(b, 1, 1, 3)",
                "w = aten.mul_.Tensor(v, 2)", "y = aten.relu.default(u)"},
               "y",
               "  %v = select.int(%b, 0, 1)\n  %w = mul.Tensor(%v, 2)\n"
               "  %c = select_scatter(%b, %w, 0, 1)\n  %u = slice.Tensor(%c, 1, 1, 3)\n"
               "  %y = relu(%u)\n  results %y, %c\n");
}

// Each kind of view, written through: the reference adds 1 to the elements that it shows.
TEST_CASE("writes: through every kind of view") {
  const struct {
    const char* lines;  // of the file, up to %v
    const char* text;   // elements of %b that change, as a mask of ones
  } kinds[] = {
      {"v = aten.view.default(b, [6])", "full([2, 3], 1.0)"},
      {"v = aten.reshape.default(b, [3, 2])", "full([2, 3], 1.0)"},
      {"v = aten.t.default(b)", "full([2, 3], 1.0)"},
      {"v = aten.permute.default(b, [1, 0])", "full([2, 3], 1.0)"},
      {"v = aten.unsqueeze.default(b, 1)", "full([2, 3], 1.0)"},
      {"v = aten.expand.default(b, [2, 3])", "full([2, 3], 1.0)"},
      {"v = aten.flatten.using_ints(b)", "full([2, 3], 1.0)"},
      {"v = aten.detach.default(b)", "full([2, 3], 1.0)"},
      {"v = aten.dropout.default(b, 0.5, false)", "full([2, 3], 1.0)"},
      {"v = aten.contiguous.default(b)", "full([2, 3], 1.0)"},
      {"v = aten.numpy_T.default(b)", "full([2, 3], 1.0)"},
      {"v = aten.narrow.default(b, 1, 0, 1)", "MASK 0"},
      {"v = aten.slice.Tensor(b, 1, 0, 1)", "MASK 0"},
      {"v = aten.select.int(b, 1, 0)", "MASK 0"},
      {"s = aten.split.Tensor(b, 1, 1); v = getitem(s, 0)", "MASK 0"},
      {"s = aten.chunk.default(b, 3, 1); v = getitem(s, 0)", "MASK 0"},
      {"s = aten.unbind.int(b, 1); v = getitem(s, 0)", "MASK 0"},
      {"t = aten.t.default(b); v = aten.select.int(t, 0, 0)", "MASK 0"},
      {"u = aten.unsqueeze.default(b, 0); v = aten.slice.Tensor(u, 2, 0, 1)", "MASK 0"},
  };
  for (const auto& kind : kinds) {
    std::vector<std::string> lines;
    for (std::string_view rest = kind.lines; !rest.empty();) {
      const std::size_t end = std::min(rest.find("; "), rest.size());
      lines.emplace_back(rest.substr(0, end));
      rest.remove_prefix(std::min(end + 2, rest.size()));
    }
    lines.emplace_back("w = aten.add_.Tensor(v, 1)");
    lines.emplace_back("y = aten.relu.default(b)");
    INFO(kind.lines);
    const std::string mask = kind.text == std::string("MASK 0")
                                 ? "  %one = full([2, 1], 1.0)\n  %none = full([2, 2], 0.0)\n"
                                   "  %m = cat([%one, %none], 1)\n"
                                 : "  %m = full([2, 3], 1.0)\n";
    check_writes(lines, "y",
                 mask + "  %c = add.Tensor(%b, %m)\n  %y = relu(%c)\n  results %y, %c\n");
  }
}

TEST_CASE("writes: the dtype and the shape stay those of the tensor") {
  check_writes({"r = aten.select.int(x, 0, 0)", "d = aten.to.dtype(r, {\"dtype\": \"float64\"})",
                "w = aten.copy_.default(b, d)", "y = aten.relu.default(b)"},
               "y",
               "  %r = select.int(%x, 0, 0)\n  %w = expand(%r, [2, 3])\n  %y = relu(%w)\n"
               "  results %y, %w\n");
  const auto wider = written_graph({"r = aten.unsqueeze.default(x, 0)",
                                    "s = aten.cat.default([{\"node\": \"r\"}, {\"node\": \"r\"}])",
                                    "w = aten.add_.Tensor(b, s)"},
                                   "w");
  REQUIRE_FALSE(wider.ok());
  CHECK(format(wider.diagnostics()).find("expected the same shape") != std::string::npos);
}

TEST_CASE("writes: a copied tensor stays another than the one it is copied to") {
  check_writes(
      {"w = aten.copy_.default(b, x)", "v = aten.add_.Tensor(w, 1)", "y = aten.relu.default(x)"},
      "y", "  %v = add.Tensor(%x, 1)\n  %y = relu(%x)\n  results %y, %v\n");
}

TEST_CASE("writes: a tensor that an input is copied to is no input") {
  check_writes(
      {"t = aten.add.Tensor(x, x)", "c = aten.copy_.default(t, x)", "s = aten.sin_.default(t)",
       "w = aten.add_.Tensor(b, t)", "y = aten.relu.default(x)"},
      "y",
      "  %s = sin(%x)\n  %w = add.Tensor(%b, %s)\n  %y = relu(%x)\n"
      "  results %y, %w\n");
}

// The tensor can be viewed as before, so its new value has its strides.
TEST_CASE("writes: a tensor keeps its layout") {
  check_writes({"v = aten.t.default(b)", "s = aten.reshape.default(x, [3, 2])",
                "w = aten.copy_.default(v, s)", "y = aten.view.default(b, [6])"},
               "y",
               "  %s = reshape(%x, [3, 2])\n  %t = t(%s)\n  %y = reshape(%t, [6])\n"
               "  results %y, %t\n");
  check_writes(
      {"v = aten.t.default(b)", "s = aten.reshape.default(x, [3, 2])",
       "w = aten.copy_.default(v, s)", "u = aten.t.default(w)", "y = aten.view.default(u, [6])"},
      "y",
      "  %s = reshape(%x, [3, 2])\n  %t = t(%s)\n  %y = reshape(%t, [6])\n"
      "  results %y, %t\n");
  check_writes({"r = aten.select.int(x, 0, 0)", "w = aten.copy_.default(b, r)",
                "y = aten.view.default(b, [6])"},
               "y",
               "  %r = select.int(%x, 0, 0)\n  %e = expand(%r, [2, 3])\n"
               "  %y = reshape(%e, [6])\n  results %y, %e\n");
}

TEST_CASE("writes: a view that repeats elements can't be written through") {
  const auto file =
      written_graph({"u = aten.unsqueeze.default(b, 0)", "v = aten.expand.default(u, [4, 2, 3])",
                     "w = aten.add_.Tensor(v, 1)"},
                    "w");
  REQUIRE_FALSE(file.ok());
  CHECK(format(file.diagnostics()).find("Recut can't write through that view") !=
        std::string::npos);
}

}  // namespace
}  // namespace recut
