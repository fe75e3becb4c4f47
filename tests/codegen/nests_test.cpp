// Operators with loop nests of their own, forward and with gradients by autodiff, as kernels and as
// machine code.
#include <catch2/catch_test_macros.hpp>

#include "engine/autodiff/differentiate.h"
#include "engine/input/text.h"
#include "tests/autodiff/derivative_check.h"
#include "tests/codegen/agreement.h"
#include "tests/random/same_meaning.h"

namespace recut::test {
namespace {

// The call of a sample (derivative_check.h), and its joint graph.
void check_with_gradients_nests(const std::string& sample) {
  INFO(sample);
  const auto graph = sample_graph(sample);
  if (!graph) FAIL(format(graph.diagnostics()));
  const auto joint = differentiate(*graph);
  if (!joint) FAIL(format(joint.diagnostics()));
  CHECK(disagreement(*joint, inputs_for(*joint, 1, Values::ordinary), {}, true).substr(0, 3000) ==
        "");
}

TEST_CASE("lowering: searchsorted and isin", "[codegen][cpu]") {
  const char* const kGraphs[] = {R"(
graph "one line for all" {
  %b = parameter f32[7]
  %i = parameter i64[5]
  %x = parameter f32[3, 4]
  %n = parameter f32[0]
  %l = bucketize.Tensor(%x, %b)
  %r = bucketize.Tensor(%x, %b, right=true, out_int32=true)
  %s = searchsorted.Scalar(%i, 0.5, side="right")
  %e = searchsorted.Tensor(%n, %x)
  results %l, %r, %s, %e
})",
                                 R"(
graph "a line each, in an order of its own" {
  %b = parameter f64[2, 3, 8]
  %x = parameter bf16[2, 3, 5]
  %t = sort(%b)
  %v = getitem(%t, 0)
  %o = getitem(%t, 1)
  %l = searchsorted.Tensor(%b, %x, sorter=%o)
  %r = searchsorted.Tensor(%v, %x, right=true)
  results %l, %r
})",
                                 R"(
graph "members" {
  %x = parameter i32[4, 9]
  %t = parameter i64[3, 5]
  %n = parameter i64[0]
  %a = isin.Tensor_Tensor(%x, %t)
  %b = isin.Tensor_Tensor(%x, %t, invert=true)
  %c = isin.Tensor_Scalar(%x, 1)
  %d = isin.Scalar_Tensor(1, %t)
  %e = isin.Tensor_Tensor(%x, %n)
  results %a, %b, %c, %d, %e
})"};
  for (const char* text : kGraphs) {
    INFO(text);
    const auto graph = parse_graph_text(text, "search");
    if (!graph) FAIL(format(graph.diagnostics()));
    for (const std::uint64_t seed : {1, 2, 3})
      CHECK(disagreement(*graph, inputs_for(*graph, seed, Values::ordinary), {}, true)
                .substr(0, 3000) == "");
    const std::string at_edges = edge_disagreement(*graph);
    CHECK((at_edges.empty() || is_refusal(at_edges)));
  }
}

TEST_CASE("distances between rows", "[codegen][cpu]") {
  const char* const kNorms[] = {"0.0", "0.5", "1.0", "2.0", "3.0", "inf"};
  for (const char* norm : kNorms)
    for (const char* shapes :
         {"x:4,19 w:3,19", "x:2,1,3,5 w:4,2,5", "x:2,0 w:3,0", "x:0,4 w:2,4"}) {
      const std::string sample =
          std::string(shapes) + " | _cdist_forward(%x, %w, " + norm + ", none)";
      INFO(sample);
      const auto graph = sample_graph(sample);
      if (!graph) FAIL(format(graph.diagnostics()));
      CHECK(
          disagreement(*graph, inputs_for(*graph, 1, Values::ordinary), {}, true).substr(0, 3000) ==
          "");
    }
}

TEST_CASE("lowering: transposed convolutions", "[codegen][cpu]") {
  for (
      const char* sample : {
          "x:1,4,3,3 w:4,1,2,2 b:4 | convolution(%x, %w, %b, [2, 1], [0, 1], [1, 1], true, [1, 0], "
          "4)",
          "x:2,3,4,5 w:3,2,2,2 b:2 | convolution(%x, %w, %b, [2, 2], [0, 0], [1, 1], true, [0, 0], "
          "1)",
          "x:2,4,3,4 w:4,2,3,3 b:4 | convolution(%x, %w, %b, [2, 2], [1, 1], [1, 1], true, [1, 1], "
          "2)",
          "x:1,2,9 w:2,3,3 | convolution(%x, %w, none, [1], [2], [2], true, [0], 1)",
          "x:1,2,4 w:2,1,2 | convolution(%x, %w, none, [3], [0], [2], true, [1], 1)",
          "x:1,2,3 w:2,2,2 b:2 | conv_transpose1d(%x, %w, %b, 2, 0, 1)",
          "x:2,3 w:2,2,2 b:2 | conv_transpose1d(%x, %w, %b, 2, 0, 1)",
          "x:1,1,2,2 w:1,1,1,1 b:1 | conv_transpose2d.input(%x, %w, %b, [2], [1, 1], [0], 1, [1])",
          "x:1,1,2,2,2 w:1,1,2,2,2 | conv_transpose3d.input(%x, %w)",
      })
    check_with_gradients_nests(sample);
}

TEST_CASE("lowering: recurrent cells", "[codegen][cpu]") {
  for (const char* sample : {
           "i:2,12 h:2,12 c:2,3 p:12 r:12 | _thnn_fused_lstm_cell(%i, %h, %c, %p, %r)",
           "i:9,40 h:9,40 c:9,10 | _thnn_fused_lstm_cell(%i, %h, %c)",
           "i:2,9 h:2,9 x:2,3 p:9 r:9 | _thnn_fused_gru_cell(%i, %h, %x, %p, %r)",
       })
    check_with_gradients_nests(sample);
}

TEST_CASE("lowering: attention never stores the scores", "[codegen][cpu]") {
  for (const char* sample : {
           "q:1,2,3,4 k:1,2,5,4 v:1,2,5,4 | _scaled_dot_product_flash_attention(%q, %k, %v)",
           "q:2,1,70,8 k:2,1,70,8 v:2,1,70,16 | _scaled_dot_product_flash_attention_for_cpu(%q, "
           "%k, "
           "%v, 0.0, true, scale=0.3)",
           "q:1,1,40,9 k:1,1,130,9 v:1,1,130,5 | _scaled_dot_product_efficient_attention(%q, %k, "
           "%v, "
           "none, true)",
           "q:1,4,3,4 k:1,2,5,4 v:1,2,5,4 | _scaled_dot_product_cudnn_attention(%q, %k, %v, none, "
           "true)",
           "q:1,2,3,4 k:1,2,5,4 v:1,2,5,4 m:1,2,3,5? | recut.scaled_dot_product_kept_attention(%q, "
           "%k, %v, none, %m, 2.0)",
           "q:1,2,33,4 k:1,2,67,4 v:1,2,67,4 B:1,1,33,67 m:1,2,33,67? | "
           "recut.scaled_dot_product_kept_attention(%q, %k, %v, %B, %m, 1.5, scale=0.4)",
       })
    check_with_gradients_nests(sample);
}

// Forms that the f64 samples lack: halves, masks that hide whole rows, gradients of masks, padded
// statistics, fewer key heads than query heads.
TEST_CASE("lowering: attention in f32 and halves, with masks and their gradients",
          "[codegen][cpu]") {
  const char* const kGraphs[] = {R"(
graph "masked" {
  %q = parameter bf16[1, 2, 40, 8]
  %k = parameter bf16[1, 2, 72, 8]
  %v = parameter bf16[1, 2, 72, 8]
  %m = parameter bool[40, 72]
  %y = scaled_dot_product_attention(%q, %k, %v, %m)
  results %y
})",
                                 R"(
graph "shared heads" {
  %q = parameter f32[2, 4, 65, 8]
  %k = parameter f32[2, 2, 65, 8]
  %v = parameter f32[2, 2, 65, 8]
  %y = scaled_dot_product_attention(%q, %k, %v, none, 0.0, true, enable_gqa=true)
  results %y
})",
                                 R"(
graph "bias" {
  %q = parameter f32[2, 2, 40, 8]
  %k = parameter f32[2, 2, 24, 8]
  %v = parameter f32[2, 2, 24, 16]
  %b = parameter f32[2, 1, 1, 24]
  %t = parameter f32[2, 2, 40, 16]
  %a = _scaled_dot_product_efficient_attention(%q, %k, %v, %b, true)
  %y = getitem(%a, 0)
  %l = getitem(%a, 1)
  %s = getitem(%a, 2)
  %o = getitem(%a, 3)
  %g = _scaled_dot_product_efficient_attention_backward(%t, %q, %k, %v, %b, %y, %l, %s, %o, 0.0, [true, true, true, true])
  %gq = getitem(%g, 0)
  %gk = getitem(%g, 1)
  %gv = getitem(%g, 2)
  %gb = getitem(%g, 3)
  results %y, %l, %gq, %gk, %gv, %gb
})"};
  for (const char* text : kGraphs) {
    const auto graph = parse_graph_text(text, "attention");
    if (!graph) FAIL(format(graph.diagnostics()));
    for (const std::uint64_t seed : {1, 2})
      CHECK(disagreement(*graph, inputs_for(*graph, seed, Values::ordinary), {}, true)
                .substr(0, 3000) == "");
  }
}

// Even and uneven tiles along rows, columns and depth; operands of all layouts; epilogues.
TEST_CASE("lowering: tiled matmuls", "[codegen][cpu]") {
  for (const char* sample : {
           "x:16,32 w:32,64 | mm(%x, %w)",
           "x:13,70 w:70,37 | mm(%x, %w)",
           "x:70,16 w:16,140 | mm(%x, %w)",
           "x:8,300 w:300,17 | mm(%x, %w)",
           "x:9,513 w:513,16 | mm(%x, %w)",
           "b:40 x:32,32 w:32,40 | addmm(%b, %x, %w, beta=0.5, alpha=2.0)",
           "b:2,37,29 x:2,37,43 w:2,43,29 | baddbmm(%b, %x, %w, beta=0.0, alpha=1.5)",
       })
    check_with_gradients_nests(sample);
}

TEST_CASE("lowering: tiled matmuls of all dtypes and layouts", "[codegen][cpu]") {
  const char* const kText = R"(
graph "products" {
  %x = parameter $[40, 32]
  %y = parameter $[40, 32]
  %z = parameter $[32, 300]
  %xt = t(%x)
  %yt = t(%y)
  %nt = mm(%x, %yt)
  %tn = mm(%xt, %y)
  %nn = mm(%x, %z)
  %part = slice.Tensor(%z, 1, 3, 260)
  %far = mm(%y, %part)
  results %nt, %tn, %nn, %far
})";
  for (const char* dtype : {"f64", "f32", "f16", "bf16", "i64", "i16", "u8"}) {
    std::string text = kText;
    for (std::size_t at; (at = text.find('$')) != std::string::npos;) text.replace(at, 1, dtype);
    INFO(text);
    const auto graph = parse_graph_text(text, "products");
    if (!graph) FAIL(format(graph.diagnostics()));
    CHECK(disagreement(*graph, inputs_for(*graph, 1, Values::ordinary), {}, true).substr(0, 3000) ==
          "");
  }
}

// Lines with and without padding to whole vectors; padding, strides (also where no window falls,
// and with too many phases), groups, bias. The last two are plain nests beside tiled gradients.
TEST_CASE("lowering: implicit GEMM convolutions", "[codegen][cpu]") {
  for (const char* sample : {
           "x:2,3,7,15 w:9,3,3,3 b:9 | convolution(%x, %w, %b, [1, 1], [1, 1], [1, 1], false, [0, "
           "0], 1)",
           "x:1,8,11,13 w:8,8,3,2 | convolution(%x, %w, none, [2, 1], [2, 0], [1, 2], false, [0, "
           "0], 1)",
           "x:2,16,5,7 w:18,8,3,3 b:18 | convolution(%x, %w, %b, [2, 2], [1, 1], [1, 1], false, "
           "[0, 0], 2)",
           "x:2,24,4,8 w:16,24,1,1 | convolution(%x, %w, none, [1, 1], [0, 0], [1, 1], false, [0, "
           "0], 1)",
           "x:2,24,9,5 w:16,24,1,1 | convolution(%x, %w, none, [2, 2], [0, 0], [1, 1], false, [0, "
           "0], 1)",
           "x:2,8,12,13 w:16,8,3,3 | convolution(%x, %w, none, [2, 2], [1, 1], [2, 1], false, [0, "
           "0], 1)",
           "x:2,8,14,13 w:16,8,2,3 | convolution(%x, %w, none, [3, 2], [0, 1], [1, 1], false, [0, "
           "0], 1)",
           "x:2,8,14,13 w:16,8,3,4 | convolution(%x, %w, none, [3, 3], [2, 1], [1, 1], false, [0, "
           "0], 1)",
           "x:3,12,50 w:10,12,5 b:10 | conv1d(%x, %w, %b, 1, 2)",
           "x:1,8,3,5,6 w:8,8,2,3,2 | convolution(%x, %w, none, [1, 1, 1], [0, 1, 1], [1, 1, 1], "
           "false, [0, 0, 0], 1)",
           "x:2,3,12,12 w:16,3,5,5 | convolution(%x, %w, none, [1, 1], [2, 2], [1, 1], false, [0, "
           "0], 1)",
           "x:2,12,14,14 w:12,1,3,3 | convolution(%x, %w, none, [1, 1], [1, 1], [1, 1], false, [0, "
           "0], 12)",
       })
    check_with_gradients_nests(sample);
}

TEST_CASE("tiled matmuls are bit-exact for every register tile", "[codegen][cpu]") {
  const auto graph = parse_graph_text(
      "graph \"g\" {\n%x = parameter f32[50, 300]\n%y = parameter f32[300, 70]\n"
      "%a = parameter f32[48, 256]\n%b = parameter f32[256, 64]\n%t = t(%b)\n"
      "%z = mm(%x, %y)\n%c = mm(%a, %b)\n%d = mm(%t, %b)\nresults %z, %c, %d\n}\n",
      "product");
  if (!graph) FAIL(format(graph.diagnostics()));
  const Inputs inputs = inputs_for(*graph, 1, Values::ordinary);
  KernelRunOptions options;
  options.executor = Executor::machine_code;
  const KernelRun usual = run_kernels(*graph, inputs, options);
  REQUIRE(usual.problem == "");
  for (const loop::RegisterTile tile : {loop::RegisterTile{4, 32}, {6, 32}, {8, 128}, {1, 64}}) {
    options.lower.registers = tile;
    const KernelRun other = run_kernels(*graph, inputs, options);
    REQUIRE(other.problem == "");
    CHECK(other.texts != usual.texts);
    CHECK(outputs_difference(usual.outputs, other.outputs) == "");
  }
}

}  // namespace
}  // namespace recut::test
