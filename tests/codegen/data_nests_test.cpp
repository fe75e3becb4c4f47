// Nests with data-dependent positions or lengths, with their gradients by autodiff, as loop kernels
// and as machine code.
#include <fmt/core.h>

#include <catch2/catch_test_macros.hpp>

#include "engine/autodiff/differentiate.h"
#include "engine/fusion/fuse_pointwise.h"
#include "engine/input/text.h"
#include "tests/autodiff/derivative_check.h"
#include "tests/codegen/agreement.h"
#include "tests/codegen/wasm_code.h"
#include "tests/random/same_meaning.h"

namespace recut::test {
namespace {

void check(const Graph& graph) {
  CHECK(disagreement(graph, inputs_for(graph, 1, Values::ordinary), {}, true).substr(0, 2000) ==
        "");
}

void check_with_gradients_data_nests(const std::string& sample) {
  INFO(sample);
  const auto graph = sample_graph(sample);
  if (!graph) FAIL(format(graph.diagnostics()));
  const auto joint = differentiate(*graph);
  if (!joint) FAIL(format(joint.diagnostics()));
  check(*joint);
}

void check_text_data_nests(const std::string& text) {
  INFO(text);
  const auto graph = parse_graph_text(text, "data");
  if (!graph) FAIL(format(graph.diagnostics()));
  check(*graph);
}

TEST_CASE("lowering: embedding bags", "[codegen][cpu]") {
  const std::string six = "w:7,19 i:6<7 p:6 | %o = arange.start_step(0, 7, 2); ";
  for (const char* call :
       {"_embedding_bag(%w, %i, %o) : (f64[4, 19], i64[6], i64[4], i64[4])",
        "_embedding_bag(%w, %i, %o, false, 1, false, none, false, 2) : (f64[4, 19], i64[6], "
        "i64[4], i64[4])",
        "_embedding_bag(%w, %i, %o, false, 2) : (f64[4, 19], i64[6], i64[4], i64[4, 19])",
        "_embedding_bag(%w, %i, %o, false, 0, false, %p, true) : (f64[3, 19], i64[6], i64[3], "
        "i64[3])"})
    check_with_gradients_data_nests(six + call);
}

TEST_CASE("padding of an empty tensor", "[codegen][cpu]") {
  for (const char* dtype : {"f32", "i64", "bool"})
    check_text_data_nests(fmt::format(
        "graph \"padded\" {{\n  %x = input {0}[2, 0, 3]\n"
        "  %y = constant_pad_nd(%x, [0, 1, 2, 2], 1)\n  results %y\n  gradients none\n}}\n",
        dtype));
}

// Bags with an offset, empty bags, and lists in the sizes of other devices.
TEST_CASE("embedding bag outputs may be short or padded", "[codegen][cpu]") {
  for (const char* lists : {"i64[0], i64[0], i64[0]", "i64[9], i64[5], i64[2]"})
    for (const char* dtype : {"f32", "bf16"})
      check_text_data_nests(fmt::format(
          "graph \"bags\" {{\n%w = parameter {}[3, 4]\n%i = parameter i64[6]\n"
          "%a = arange.start_step(2, 5, 1)\n%o = bitwise_and.Scalar(%a, 6)\n"
          "%b = _embedding_bag_forward_only(%w, %i, %o) : ({}[3, 4], {})\n"
          "%y = getitem(%b, 0)\n%k = getitem(%b, 1)\n%s = getitem(%b, 2)\n%m = getitem(%b, 3)\n"
          "results %y, %k, %s, %m\n}}\n",
          dtype, dtype, lists));
}

TEST_CASE("lowering: im2col and col2im", "[codegen][cpu]") {
  for (const char* sample : {
           "a:2,3,7,9 | im2col(%a, [3, 2], [2, 1], [1, 0], [2, 3])",
           "a:3,4,20 | im2col(%a, [1, 5], [1, 2], [0, 4], [1, 2])",
           "a:2,12,20 | col2im(%a, [5, 6], [2, 2], [1, 1], [0, 0], [1, 1])",
           "a:12,16 | col2im(%a, [7, 8], [2, 2], [2, 1], [1, 0], [2, 2])",
           "a:2,4,9,3 | unfold_backward(%a, [2, 4, 20], 2, 3, 2)",
           "a:4,2,5 | unfold_backward(%a, [12, 2], 0, 5, 2)",
       })
    check_with_gradients_data_nests(sample);
}

TEST_CASE("lowering: stream compaction by masks", "[codegen][cpu]") {
  check_with_gradients_data_nests("a:5,9 m:5,1? b:50 | masked_scatter(%a, %m, %b)");
  check_with_gradients_data_nests("a:5,9 m:5,9? | masked_scatter_backward(%a, %m, [5, 9])");
  check_with_gradients_data_nests("a:5,9 i:3,4<45 b:3,4 | put(%a, %i, %b, true)");
  check_with_gradients_data_nests("a:2,3,2,3 i:2,3,2,3<30 | max_unpool2d(%a, %i, [5, 6])");
  check_text_data_nests(
      "graph \"places\" {\n%x = parameter i32[4, 6]\n%b = parameter bool[3]\n%m = parameter "
      "bool[4, 1]\n"
      "%some = masked_scatter_backward(%x, %m, [3])\n"
      "%few = nonzero_static(%x, size=5)\n%all = nonzero_static(%x, size=30, fill_value=-7)\n"
      "%one = nonzero_static(%b, size=2)\nresults %few, %all, %one, %some\n}\n");
}

TEST_CASE("lowering: grid samplers", "[codegen][cpu]") {
  for (const int interpolation : {0, 1, 2})
    for (const int padding : {0, 1, 2})
      check_with_gradients_data_nests(
          fmt::format("a:2,3,5,6 g:2,4,9,2 | %h = mul.Tensor(%g, 1.6); grid_sampler_2d(%a, %h, "
                      "{}, {}, {})",
                      interpolation, padding, padding == interpolation));
  check_with_gradients_data_nests(
      "a:1,2,3,4,5 g:1,2,3,4,3 | %h = mul.Tensor(%g, 1.6); grid_sampler_3d(%a, %h, 0, 2, false)");
  for (const char* dtype : {"f32", "f16"})
    check_text_data_nests(
        fmt::format("graph \"sampled\" {{\n%x = parameter {}[1, 2, 5, 4]\n"
                    "%g = parameter {}[1, 6, 7, 2]\n"
                    "%y = grid_sampler_2d(%x, %g, 0, 1, true)\nresults %y\n}}\n",
                    dtype, dtype));
}

TEST_CASE("lowering: antialiased resampling", "[codegen][cpu]") {
  for (const char* kind : {"bilinear", "bicubic"})
    for (const char* size :
         {"[3, 4], false", "[9, 20], true", "[5, 3], true", "[2, 2], false, 0.4, 0.3"})
      check_with_gradients_data_nests(
          fmt::format("a:2,3,7,11 | _upsample_{}2d_aa(%a, {})", kind, size));
}

TEST_CASE("lowering: segment reductions", "[codegen][cpu]") {
  for (const char* reduce : {"sum", "mean", "max", "min", "prod"}) {
    check_with_gradients_data_nests(fmt::format(
        "a:6,5d | %n = arange(4); segment_reduce(%a, \"{}\", lengths=%n, initial=2.0)", reduce));
    check_with_gradients_data_nests(fmt::format(
        "a:8,3s | %o = arange.start_step(1, 9, 2); segment_reduce(%a, \"{}\", offsets=%o)",
        reduce));
  }
}

TEST_CASE("lowering: margin losses", "[codegen][cpu]") {
  for (const char* sample : {"a:5,9 t:5<9 | multi_margin_loss(%a, %t)",
                             "a:5,9 t:5<9 w:9+ | multi_margin_loss(%a, %t, 2, 0.7, %w, 0)",
                             "a:9 t:1<9 | multi_margin_loss(%a, %t, 1, 1.5, none, 2)"})
    check_with_gradients_data_nests(sample);
}

TEST_CASE("lowering: distances and their gradients", "[codegen][cpu]") {
  for (const char* norm : {"0.0", "0.5", "1.0", "2.0", "3.0", "inf"}) {
    check_with_gradients_data_nests(fmt::format("x:2,4,9 w:2,3,9 | cdist(%x, %w, {})", norm));
    check_with_gradients_data_nests(fmt::format("x:13,5 | pdist(%x, {})", norm));
  }
  check_with_gradients_data_nests("x:4,9 w:3,9 | _euclidean_dist(%x, %w)");
}

TEST_CASE("lowering: norms of differences and of slices", "[codegen][cpu]") {
  for (const char* norm : {"0", "0.5", "1", "2", "3", "inf", "-inf"}) {
    check_text_data_nests(
        fmt::format("graph \"norms\" {{\n%x = parameter f32[4, 1, 300]\n"
                    "%w = parameter bf16[3, 300]\n%y = dist(%x, %w, {0})\n"
                    "%r = renorm(%x, {0}, 0, 3.5)\n%s = renorm(%w, {0}, -1, 1.5)\n"
                    "results %y, %r, %s\n}}\n",
                    norm));
  }
  check_with_gradients_data_nests("x:4,9 w:9 | dist(%x, %w, 3)");
  check_with_gradients_data_nests("x:4,9 | renorm(%x, 3, 1, 1.5)");
}

TEST_CASE("lowering: cross entropy", "[codegen][cpu]") {
  for (const int reduction : {0, 1, 2}) {
    for (const char* rest : {"-100, 0.0", "3, 0.2"}) {
      check_with_gradients_data_nests(fmt::format(
          "a:5,9 t:5<9 w:9+ | cross_entropy_loss(%a, %t, %w, {}, {})", reduction, rest));
      check_with_gradients_data_nests(fmt::format(
          "a:2,5,3,4 t:2,3,4<5 | cross_entropy_loss(%a, %t, none, {}, {})", reduction, rest));
      check_with_gradients_data_nests(fmt::format(
          "a:4,40 T:4,40u w:40+ | cross_entropy_loss(%a, %T, %w, {}, {})", reduction, rest));
    }
    check_with_gradients_data_nests(
        fmt::format("a:9 t:<9 | cross_entropy_loss(%a, %t, none, {}, -100, 0.1)", reduction));
    check_text_data_nests(
        fmt::format("graph \"entropy\" {{\n%x = parameter bf16[3, 300]\n"
                    "%t = parameter i64[3]\n"
                    "%y = cross_entropy_loss(%x, %t, none, {}, 1)\nresults %y\n}}\n",
                    reduction));
  }
}

TEST_CASE("lowering: multilabel losses", "[codegen][cpu]") {
  for (const int reduction : {0, 1, 2}) {
    check_with_gradients_data_nests(
        fmt::format("a:5,9 t:5,9<9 | multilabel_margin_loss_forward(%a, %t, {})", reduction));
    for (const char* shape : {"5,19", "19"})
      check_with_gradients_data_nests(
          fmt::format("a:{0} t:{0}<19 | %u = sub.Tensor(%t, 2); "
                      "multilabel_margin_loss_forward(%a, %u, {1})",
                      shape, reduction));
    check_text_data_nests(
        fmt::format("graph \"marks\" {{\n%x = parameter bf16[3, 7]\n%t = parameter i64[3, 7]\n"
                    "%y = multilabel_margin_loss_forward(%x, %t, {})\n"
                    "%i = getitem(%y, 1)\nresults %i\n}}\n",
                    reduction));
  }
}

// The part may be anywhere in self's storage: overlapping (the last write wins), before and behind
// self.
TEST_CASE("lowering: as_strided_scatter", "[codegen][cpu]") {
  check_with_gradients_data_nests("a:3,4 b:2,2 | as_strided_scatter(%a, %b, [2, 2], [4, 1], 1)");
  check_text_data_nests(
      "graph \"parts\" {\n%x = parameter f32[6, 5]\n%i = parameter i32[4, 3]\n"
      "%t = permute(%x, [1, 0])\n%rows = slice.Tensor(%x, 0, 2, 5)\n"
      "%turned = as_strided_scatter(%t, %i, [4, 3], [6, 2], 1)\n"
      "%across = as_strided_scatter(%rows, %i, [4, 3], [8, 1], 2)\n"
      "%within = as_strided_scatter(%rows, %i, [4, 3], [3, 1])\n"
      "%met = as_strided_scatter(%x, %i, [4, 3], [1, 2], 4)\n"
      "results %turned, %across, %within, %met\n}\n");
}

TEST_CASE("lowering: resize", "[codegen][cpu]") {
  check_text_data_nests(
      "graph \"sizes\" {\n%x = parameter f32[6, 5]\n%n = parameter i16[4]\n%o = parameter f64[0, "
      "3]\n"
      "%t = permute(%x, [1, 0])\n%rows = slice.Tensor(%x, 0, 2, 5)\n"
      "%gaps = slice.Tensor(%x, 1, 1, 4)\n%wide = expand(%n, [3, 4])\n"
      "%less = resize(%x, [3, 4])\n%more = resize(%n, [2, 5])\n%turned = resize(%t, [4, 7])\n"
      "%part = resize(%rows, [20])\n%filled = resize(%gaps, [5, 4])\n%one = resize(%wide, [14])\n"
      "%zeros = resize(%o, [2, 2])\n%none = resize(%x, [0])\n%number = resize(%x, [])\n"
      "results %less, %more, %turned, %part, %filled, %one, %zeros, %none, %number\n}\n");
}

// Zero-dimensional tensors count as tensors of one element.
TEST_CASE("lowering: scatters of zero-dimensional tensors", "[codegen][cpu]") {
  const std::string head =
      "graph \"places\" {\n%x = parameter f32[]\n%y = parameter f32[]\n%l = parameter f32[1]\n"
      "%i = full([], 0, dtype=i64)\n%k = full([1], 0, dtype=i64)\n";
  for (const char* call : {
           "scatter.src(%x, 0, %i, %y)",
           "scatter.src(%l, 0, %i, %y)",
           "scatter.src(%x, 0, %k, %l)",
           "scatter.value(%x, -1, %i, 2.5)",
           "scatter_add(%x, 0, %i, %y)",
           "scatter_reduce.two(%x, 0, %i, %y, \"prod\")",
           "scatter_reduce.two(%x, 0, %i, %y, \"mean\")",
           "scatter_reduce.two(%x, 0, %i, %y, \"amax\", include_self=false)",
           "index_add(%x, 0, %i, %y)",
           "index_add(%x, 0, %k, %l, alpha=3)",
           "index_copy(%x, 0, %i, %y)",
           "index_fill.int_Scalar(%x, 0, %i, 4)",
           "index_reduce(%x, 0, %i, %y, \"mean\")",
           "index_reduce(%l, 0, %k, %l, \"amin\", include_self=false)",
       })
    check_text_data_nests(head + "%r = " + call + "\nresults %r\n}\n");
}

TEST_CASE("lowering: empty operands", "[codegen][cpu]") {
  for (const char* dtype : {"f32", "bf16", "i32", "bool"})
    check_text_data_nests(
        fmt::format("graph \"none\" {{\n%x = parameter {0}[0, 3]\n%i = full([2], 0, dtype=i64)\n"
                    "%m = full([2, 3], false, dtype=bool)\n"
                    "%r = _unsafe_masked_index(%x, %m, [%i], 1)\nresults %r\n}}\n",
                    dtype));
  check_text_data_nests(
      "graph \"none\" {\n%x = parameter f32[0, 3]\n%i = full([2], 0, dtype=i64)\n"
      "%m = full([2, 3], false, dtype=bool)\n%v = parameter f32[2, 3]\n"
      "%r = _unsafe_masked_index_put_accumulate(%x, %m, [%i], %v)\nresults %r\n}\n");
  check_with_gradients_data_nests("x:1,5 | pdist(%x, 2.0)");
  check_with_gradients_data_nests("x:0,5 | pdist(%x, 2.0)");
}

TEST_CASE("lowering: histograms", "[codegen][cpu]") {
  for (const char* dtype : {"f32", "f64"})
    check_text_data_nests(fmt::format(
        R"(graph "counts" {{
%x = parameter {0}[13, 30]
%w = parameter {0}[13, 30]
%one = slice.Tensor(%x, 1, 3, 4)
%a = histc(%x, 7)
%b = histc(%x, 12, -1, 0.75)
%c = histc(%one, 1, 1, 1)
%e = arange.start_step(-1.25, 1.5, 0.375, dtype={0})
%h = histogram.bin_ct(%x, 9)
%i = histogram.bin_ct(%x, 8, range=[-0.7, 1.1], weight=%w, density=true)
%j = histogram.bins_tensor(%x, %e, weight=%w)
%h0 = getitem(%h, 0)
%h1 = getitem(%h, 1)
%i0 = getitem(%i, 0)
%i1 = getitem(%i, 1)
%j0 = getitem(%j, 0)
%j1 = getitem(%j, 1)
results %a, %b, %c, %h0, %h1, %i0, %i1, %j0, %j1
}})",
        dtype));
}

TEST_CASE("lowering: histogramdd", "[codegen][cpu]") {
  check_text_data_nests(R"(graph "points" {
%x = parameter f32[9, 20, 2]
%w = parameter f32[9, 20]
%e = arange.start_step(-1.25, 1.5, 0.375) : f32[8]
%f = arange.start_step(-1.5, 1.0, 0.5) : f32[5]
%b = _histogramdd_bin_edges(%x, [3, 4]) : (f32[4], f32[5])
%b0 = getitem(%b, 0)
%b1 = getitem(%b, 1)
%c = _histogramdd_from_bin_cts(%x, [3, 4], weight=%w)
%d = _histogramdd_from_bin_cts(%x, [3, 2], range=[-1.0, 1.0, -0.5, 2.0], density=true)
%g = _histogramdd_from_bin_tensors(%x, [%e, %f])
results %b0, %b1, %c, %d, %g
})");
}

TEST_CASE("lowering: fractional max pooling", "[codegen][cpu]") {
  check_with_gradients_data_nests(
      "a:2,3,7,9d R:2,3,2u | fractional_max_pool2d(%a, [2, 3], [4, 5], %R)");
  check_with_gradients_data_nests(
      "a:2,7,9d R:1,2,2u | fractional_max_pool2d(%a, [2, 3], [6, 1], %R)");
  check_with_gradients_data_nests(
      "a:2,5,6,7d R:1,2,3u | fractional_max_pool3d(%a, [2, 1, 3], [3, 4, 5], %R)");
  check_text_data_nests(
      "graph \"windows\" {\n%x = parameter bf16[2, 1, 6, 9]\n%s = parameter bf16[2, 1, 2]\n"
      "%n = log(%x)\n%p = fractional_max_pool2d(%n, [3, 2], [2, 6], %s)\n%y = getitem(%p, 0)\n"
      "%i = getitem(%p, 1)\nresults %y, %i\n}\n");
}

TEST_CASE("lowering: integer convolutions", "[codegen][cpu]") {
  check_text_data_nests(
      "graph \"whole\" {\n%x = parameter i8[2, 4, 7, 9]\n%w = parameter i8[6, 2, 3, 2]\n"
      "%v = parameter i8[32, 4, 3, 3]\n%a = mul.Tensor(%x, 61)\n%b = sub.Tensor(%v, 120)\n"
      "%y = recut.int_convolution(%a, %w, 3, [2, 1], [1, 2], [1, 2], 2)\n"
      "%z = recut.int_convolution(%a, %b, -128, [1, 1], [1, 1], [1, 1], 1)\n"
      "results %y, %z\n}\n");
}

// In tiles, and without.
TEST_CASE("lowering: clamped convolutions", "[codegen][cpu]") {
  check_text_data_nests(
      "graph \"clamped\" {\n%x = parameter f32[2, 4, 7, 9]\n%w = parameter f32[6, 2, 3, 2]\n"
      "%v = parameter f32[32, 4, 3, 3]\n%b = parameter f32[6]\n%c = parameter f32[32]\n"
      "%r = parameter f32[2, 32, 7, 9]\n"
      "%y = recut.clamped_convolution(%x, %w, %b, none, [2, 1], [1, 2], [1, 2], 2, 0.0)\n"
      "%z = recut.clamped_convolution(%x, %v, %c, %r, [1, 1], [1, 1], [1, 1], 1, -0.5, 2)\n"
      "%u = recut.clamped_convolution(%x, %v, none, %r, [1, 1], [1, 1], [1, 1], 1)\n"
      "results %y, %z, %u\n}\n");
}

// Means below 1000, above it, and 0.
TEST_CASE("lowering: random sampling", "[codegen][cpu]") {
  check_text_data_nests(R"(graph "draws" {
%x = parameter f64[3, 40]
%p = abs(%x)
%few = slice.Tensor(%p, 1, 0, 4)
%one = select.int(%p, 0, 1)
%q = randperm(77, draw=3)
%s = randperm(20, dtype=f32, draw=4)
%m = multinomial(%p, 50, true, draw=5)
%o = multinomial(%one, 9, true, draw=6)
%d = multinomial(%p, 7, draw=7)
%e = multinomial(%few, 4, draw=8)
%l = mul.Tensor(%p, 3)
%h = mul.Tensor(%p, 900)
%n = zeros_like(%one)
%k = poisson(%l, draw=9)
%j = poisson(%h, draw=10)
%z = poisson(%n, draw=11)
results %q, %s, %m, %o, %d, %e, %k, %j, %z
})");
}

// Their kernels recompute what they read, element by element.
TEST_CASE("distances and histograms fused with their operands", "[codegen][cpu]") {
  for (const char* call : {"dist(%a, %w)", "histc(%a, 5)"}) {
    INFO(call);
    const auto graph = parse_graph_text(
        fmt::format("graph \"fused\" {{\n%x = parameter f32[40, 3]\n%w = parameter f32[40, 3]\n"
                    "%e = exp(%x)\n%a = mul.Tensor(%e, %w)\n%y = {}\nresults %y\n}}\n",
                    call),
        "fused");
    if (!graph) FAIL(format(graph.diagnostics()));
    KernelRunOptions options;
    options.groups = fuse_pointwise(*graph, StorageModel(*graph, StorageModel::Sizes::values));
    CHECK(kernels_of(*graph, options.groups).size() == 1);
    CHECK(disagreement(*graph, inputs_for(*graph, 1, Values::ordinary), options, true)
              .substr(0, 2000) == "");
  }
}

// Data that eval refuses is a run-time fault in loops.
TEST_CASE("lowering: faulty data ends the run", "[codegen][cpu]") {
  for (const char* call :
       {"cross_entropy_loss(%x, %t)", "multilabel_margin_loss_backward(%g, %x, %u, 1, %x)",
        "as_strided_scatter(%x, %t, [3], [5], 3)", "multinomial(%n, 2, true)", "multinomial(%n, 2)",
        "poisson(%n)", "histc(%m, 3)"}) {
    INFO(call);
    const auto graph = parse_graph_text(
        fmt::format("graph \"faulty\" {{\n%x = parameter f32[3, 4]\n%g = full([], 1.0)\n"
                    "%t = full([3], 4)\n%u = full([3, 4], 4)\n%n = full([3, 4], -1.0)\n"
                    "%m = full([3, 4], nan)\n%y = {}\nresults %y\n}}\n",
                    call),
        "faulty");
    if (!graph) FAIL(format(graph.diagnostics()));
    const Inputs inputs = inputs_for(*graph, 1, Values::ordinary);
    CHECK_FALSE(evaluate(*graph, inputs).ok());
    for (const Executor executor :
         {Executor::interpreter, Executor::machine_code, Executor::web_assembly}) {
      if (executor == Executor::web_assembly && !has_node()) continue;
      KernelRunOptions options;
      options.executor = executor;
      const KernelRun run = run_kernels(*graph, inputs, options);
      CHECK_FALSE(run.refused);
      CHECK(run.problem.find("out of range") != std::string::npos);
    }
  }
}

}  // namespace
}  // namespace recut::test
