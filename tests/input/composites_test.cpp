// Composite operators of a file: each comes to the values of calls that the operator table has.
#include <catch2/catch_test_macros.hpp>
#include <string>
#include <vector>

#include "tests/input/call_lines.h"

namespace recut {
namespace {

// A buffer b[2, 3] and an input x[2, 3]; `text` makes %y of %b and %x without composites.
void check_composite(const std::vector<std::string>& lines, const std::string& text) {
  INFO(lines.front());
  check_writes(lines, "y", text + "  results %y\n");
}

TEST_CASE("composites: sums of products by their equations") {
  check_composite(
      {"y = aten.einsum.default(\"ij,kj->ik\", [{\"node\": \"x\"}, {\"node\": \"b\"}])"},
      "  %t = t(%b)\n  %y = mm(%x, %t)\n");
  check_composite(
      {"y = aten.einsum.default(\"ij,ij->ij\", [{\"node\": \"x\"}, {\"node\": \"b\"}])"},
      "  %y = mul.Tensor(%x, %b)\n");
  check_composite({"y = aten.einsum.default(\"ij->ji\", [{\"node\": \"x\"}])"}, "  %y = t(%x)\n");
  check_composite({"y = aten.einsum.default(\"ba\", [{\"node\": \"x\"}])"}, "  %y = t(%x)\n");
  check_composite(
      {"y = aten.einsum.default(\"...j,kj->...k\", [{\"node\": \"x\"}, {\"node\": \"b\"}])"},
      "  %t = t(%b)\n  %y = mm(%x, %t)\n");
  check_composite({"t = aten.t.default(b)", "g = aten.mm.default(x, t)",
                   "y = aten.einsum.default(\"ii\", [{\"node\": \"g\"}])"},
                  "  %t = t(%b)\n  %g = mm(%x, %t)\n  %d = diagonal(%g)\n  %y = sum(%d)\n");
  // Rows that nobody reads are summed before the product.
  check_composite({"y = aten.einsum.default(\"ij,kj->k\", [{\"node\": \"x\"}, {\"node\": \"b\"}])"},
                  "  %s = sum.dim_IntList(%x, [0], true)\n  %t = t(%b)\n  %m = mm(%s, %t)\n"
                  "  %y = view(%m, [2])\n");
  const auto wrong = written_graph(
      {"y = aten.einsum.default(\"ij,jk->ik\", [{\"node\": \"x\"}, {\"node\": \"b\"}])"}, "y");
  REQUIRE_FALSE(wrong.ok());
  CHECK(format(wrong.diagnostics()).find("sizes don't agree") != std::string::npos);
}

TEST_CASE("composites: a weight of its own length") {
  check_composite({"g = aten.slice.Tensor(b, 1, 0, 1)", "y = aten._weight_norm.default(x, g, 0)"},
                  "  %g = slice.Tensor(%b, 1, 0, 1)\n"
                  "  %n = linalg_vector_norm(%x, 2.0, [1], true)\n  %q = div.Tensor(%g, %n)\n"
                  "  %y = mul.Tensor(%x, %q)\n");
  // -1 is no dimension: the norm of the whole weight.
  check_composite({"g = aten.amax.default(b)", "y = aten._weight_norm.default(x, g, -1)"},
                  "  %g = amax(%b)\n  %n = linalg_vector_norm(%x)\n  %q = div.Tensor(%g, %n)\n"
                  "  %y = mul.Tensor(%x, %q)\n");
}

TEST_CASE("composites: padding by its mode") {
  check_composite({"y = aten.pad.default(x, [1, 0], \"constant\", 2.0)"},
                  "  %y = constant_pad_nd(%x, [1, 0], 2.0)\n");
  check_composite({"y = aten.pad.default(x, [1, 2], \"circular\")"},
                  "  %a = slice.Tensor(%x, 1, 2, 3)\n  %c = slice.Tensor(%x, 1, 0, 2)\n"
                  "  %y = cat([%a, %x, %c], 1)\n");
  check_composite({"y = aten.pad.default(x, [1, 1], \"reflect\")"},
                  "  %y = reflection_pad1d(%x, [1, 1])\n");
}

TEST_CASE("composites: convolutions whose padding has a name") {
  // 3 columns and a kernel of 2: the odd element is padded at the end.
  check_composite(
      {"u = aten.unsqueeze.default(x, 0)", "w = aten.slice.Tensor(u, 2, 0, 2)",
       "y = aten.conv1d.padding(u, w, null, [1], \"same\")"},
      "  %u = unsqueeze(%x, 0)\n  %w = slice.Tensor(%u, 2, 0, 2)\n"
      "  %p = constant_pad_nd(%u, [0, 1], 0.0)\n  %y = conv1d(%p, %w, none, [1], [0], [1])\n");
  check_composite({"u = aten.unsqueeze.default(x, 0)", "w = aten.slice.Tensor(u, 2, 0, 2)",
                   "y = aten.conv1d.padding(u, w)"},
                  "  %u = unsqueeze(%x, 0)\n  %w = slice.Tensor(%u, 2, 0, 2)\n"
                  "  %y = conv1d(%u, %w)\n");
}

TEST_CASE("composites: differences, grids and parts") {
  check_composite({"y = aten.diff.default(x, 1, 1)"},
                  "  %a = slice.Tensor(%x, 1, 1, 3)\n  %c = slice.Tensor(%x, 1, 0, 2)\n"
                  "  %y = sub.Tensor(%a, %c)\n");
  check_composite({"p = aten.select.int(x, 0, 0)", "q = aten.select.int(b, 1, 0)",
                   "g = aten.meshgrid.indexing([{\"node\": \"p\"}, {\"node\": \"q\"}], "
                   "indexing=\"xy\")",
                   "u = getitem(g, 0)", "v = getitem(g, 1)", "y = aten.sub.Tensor(u, v)"},
                  "  %p = select.int(%x, 0, 0)\n  %q = select.int(%b, 1, 0)\n"
                  "  %r = unsqueeze(%q, 1)\n  %y = sub.Tensor(%p, %r)\n");
  check_composite({"s = aten.tensor_split.sections(x, 2, 1)", "y = getitem(s, 0)"},
                  "  %y = slice.Tensor(%x, 1, 0, 2)\n");
}

TEST_CASE("composites: conversions that change nothing are the tensor itself") {
  check_composite({"v = aten.to.dtype(x, {\"dtype\": \"float32\"})",
                   "w = aten.contiguous.default(v)", "y = aten.relu.default(w)"},
                  "  %y = relu(%x)\n");
  check_composite(
      {"v = aten.to.dtype(x, {\"dtype\": \"float64\"})", "y = aten.type_as.default(v, x)"},
      "  %y = clone(%x)\n");
  check_composite({"y = aten.multiply.Tensor(x, b)"}, "  %y = mul.Tensor(%x, %b)\n");
}

// A training step writes the statistics, and reads of them behind it are new.
TEST_CASE("composites: a batch normalisation in training writes its statistics") {
  check_writes(
      {"m = aten.select.int(b, 0, 0)", "v = aten.select.int(b, 0, 1)",
       "n = aten.batch_norm.default(x, null, null, m, v, true, 0.1, 1e-5, false)",
       "y = aten.add.Tensor(n, m)"},
      "y",
      "  %m = select.int(%b, 0, 0)\n  %v = select.int(%b, 0, 1)\n"
      "  %a = _native_batch_norm_legit_functional(%x, none, none, %m, %v, true, 0.1, 1e-05)\n"
      "  %n = getitem(%a, 0)\n  %mean = getitem(%a, 3)\n  %var = getitem(%a, 4)\n"
      "  %y = add.Tensor(%n, %mean)\n  %c = select_scatter(%b, %mean, 0, 0)\n"
      "  %d = select_scatter(%c, %var, 0, 1)\n  results %y, %d\n");
}

TEST_CASE("composites: quantiles between the sorted values") {
  const std::string sorted = "  %s = sort(%x, 1)\n  %v = getitem(%s, 0)\n";
  check_composite({"y = aten.quantile.scalar(x, 0.5, 1)"},
                  sorted + "  %y = select.int(%v, 1, 1)\n");
  check_composite({"y = aten.quantile.scalar(x, 1.0, 1, true)"}, "  %y = amax(%x, [1], true)\n");
  check_composite({"y = aten.nanquantile.scalar(x, 0.0, 0)"}, "  %y = amin(%x, [0])\n");
  check_composite({"y = aten.quantile.scalar(x, 0.25, -1)"},
                  sorted +
                      "  %a = select.int(%v, 1, 0)\n  %c = select.int(%v, 1, 1)\n"
                      "  %y = lerp.Scalar(%a, %c, 0.5)\n");
  check_composite({"y = aten.quantile.scalar(x, 0.3, 1, interpolation=\"higher\")"},
                  sorted + "  %y = select.int(%v, 1, 1)\n");
  check_composite({"y = aten.quantile.scalar(x, 0.6, 1, interpolation=\"midpoint\")"},
                  sorted +
                      "  %a = select.int(%v, 1, 1)\n  %c = select.int(%v, 1, 2)\n"
                      "  %y = lerp.Scalar(%a, %c, 0.5)\n");
  check_composite({"q = aten.full.default([2], 1.0)", "y = aten.quantile.default(x, q, 0)"},
                  "  %a = amax(%x, [0], true)\n  %y = expand(%a, [2, 3])\n");
}

TEST_CASE("composites: covariances, integrals and slopes") {
  check_composite({"y = aten.cov.default(x)"},
                  "  %m = mean.dim(%x, [1], true)\n  %d = sub.Tensor(%x, %m)\n  %t = t(%d)\n"
                  "  %p = mm(%d, %t)\n  %y = div.Tensor(%p, 2)\n");
  check_composite({"c = aten.corrcoef.default(x)", "y = aten.diagonal.default(c)"},
                  "  %y = full([2], 1.0)\n");
  const std::string parts =
      "  %a = slice.Tensor(%x, 1, 0, 2)\n  %c = slice.Tensor(%x, 1, 1, 3)\n"
      "  %s = add.Tensor(%a, %c)\n  %h = mul.Tensor(%s, 0.5)\n";
  check_composite({"y = aten.trapezoid.dx(x)"}, parts + "  %y = sum.dim_IntList(%h, [1])\n");
  check_composite({"y = aten.cumulative_trapezoid.dx(x, dx=2)"},
                  parts + "  %d = mul.Tensor(%h, 2)\n  %y = cumsum(%d, 1)\n");
  check_composite({"y = aten.trapezoid.x(x, b)"},
                  parts +
                      "  %e = slice.Tensor(%b, 1, 0, 2)\n  %f = slice.Tensor(%b, 1, 1, 3)\n"
                      "  %w = sub.Tensor(%f, %e)\n  %g = mul.Tensor(%h, %w)\n"
                      "  %y = sum.dim_IntList(%g, [1])\n");
  check_composite({"g = aten.gradient.scalarint(x, spacing=2, dim=1)", "y = getitem(g, 0)"},
                  "  %a = select.int(%x, 1, 0)\n  %c = select.int(%x, 1, 1)\n"
                  "  %d = select.int(%x, 1, 2)\n  %e = sub.Tensor(%c, %a)\n"
                  "  %f = sub.Tensor(%d, %a)\n  %g = sub.Tensor(%d, %c)\n"
                  "  %h = div.Tensor(%e, 2)\n  %i = div.Tensor(%f, 4)\n"
                  "  %j = div.Tensor(%g, 2)\n  %y = stack([%h, %i, %j], 1)\n");
}

// Files may say anything: a call that has no such dimension or length isn't expanded.
TEST_CASE("composites: dimensions and lengths that aren't there") {
  for (const char* call :
       {"aten.linalg_matrix_norm.default(x, 1, [4, 5])", "aten.linalg_norm.default(x, 2, [0, 0])",
        "aten.nuclear_norm.dim(x, [7, 8])", "aten.norm_except_dim.default(x, 2, 9)",
        "aten.trapezoid.dx(x, dim=6)", "aten.trapezoid.x(x, b, dim=-4)",
        "aten.quantile.scalar(x, 0.5, 5)", "aten.fft_rfft.default(x, -1)",
        "aten.fft_irfft.default(x, 0)", "aten.fft_fftn.default(x, [2, 2], [3, 9])",
        "aten.hann_window.default(9223372036854775807)",
        "aten.fft_fftfreq.default(9223372036854775807)",
        "aten.stft.default(x, 9223372036854775807)", "aten.linalg_tensorinv.default(x, 1)",
        "aten.gradient.array(x, dim=[8])"}) {
    CAPTURE(call);
    const auto made = written_graph({std::string("y = ") + call}, "y");
    if (made) CHECK(print(made->graph).find("external") != std::string::npos);
  }
}

TEST_CASE("composites: stacks and diagonals") {
  check_composite({"y = aten.dstack.default([{\"node\": \"x\"}, {\"node\": \"b\"}])"},
                  "  %y = stack([%x, %b], 2)\n");
  check_composite({"p = aten.select.int(x, 0, 0)", "q = aten.select.int(b, 0, 0)",
                   "y = aten.column_stack.default([{\"node\": \"p\"}, {\"node\": \"q\"}])"},
                  "  %p = select.int(%x, 0, 0)\n  %q = select.int(%b, 0, 0)\n"
                  "  %y = stack([%p, %q], 1)\n");
  check_composite({"y = aten.atleast_3d.default(x)"}, "  %y = unsqueeze(%x, 2)\n");
  check_composite({"g = aten.hsplit.array(x, [1])", "y = getitem(g, 1)"},
                  "  %y = slice.Tensor(%x, 1, 1, 3)\n");
  check_composite({"p = aten.select.int(x, 0, 0)", "y = aten.diag.default(p)"},
                  "  %p = select.int(%x, 0, 0)\n  %y = diag_embed(%p)\n");
  check_composite({"y = aten.fliplr.default(x)"}, "  %y = flip(%x, [1])\n");
  check_composite({"y = aten.sum_to_size.default(x, [1, 3])"},
                  "  %y = sum.dim_IntList(%x, [0], true)\n");
  check_composite({"y = aten.special_expm1.default(x)"}, "  %y = expm1(%x)\n");
}

}  // namespace
}  // namespace recut
