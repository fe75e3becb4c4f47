// Complex numbers as their parts: every rule of the pass against the interpreter of complex
// numbers, in both precisions, and by kernels.
#include <fmt/core.h>

#include <catch2/catch_test_macros.hpp>
#include <fstream>

#include "engine/autodiff/differentiate.h"
#include "engine/eval/compare.h"
#include "engine/eval/inputs.h"
#include "engine/ir/printer.h"
#include "engine/passes/runner.h"
#include "tests/autodiff/derivative_check.h"
#include "tests/codegen/agreement.h"
#include "tests/input/parse.h"
#include "tests/paths.h"

namespace recut::test {
namespace {

const std::vector<std::string> kPartsPasses = {"complex_parts", "dead_code"};

// A graph of inputs "x:c64[3] w:f32[3]" and calls, of which the last one is the result.
std::string complex_sample_text(const std::string& sample) {
  const std::size_t bar = sample.find(" | ");
  std::string text = "graph \"sample\" {\n", inputs = sample.substr(0, bar);
  for (std::size_t at = 0; at < inputs.size();) {
    const std::size_t colon = inputs.find(':', at),
                      end = std::min(inputs.find(' ', at), inputs.size());
    text += fmt::format("  %{} = input {}\n", inputs.substr(at, colon - at),
                        inputs.substr(colon + 1, end - colon - 1));
    at = end + 1;
  }
  std::string calls = sample.substr(bar + 3);
  for (std::size_t end; (end = calls.find("; ")) != std::string::npos; calls.erase(0, end + 2))
    text += "  " + calls.substr(0, end) + "\n";
  return text + "  %result = " + calls + "\n  results %result\n}\n";
}

// The first call that is complex inside the graph; "" if only its border is.
std::string complex_inside(const Graph& graph) {
  for (const NodeId id : graph.order()) {
    const Node& node = graph[id];
    if (graph.op(id).is(kInput)) continue;
    const bool made = is_complex(node.type().dtype);
    bool read = false;
    for (const NodeId operand : node.operands) read = read || is_complex(graph.type(operand).dtype);
    if ((made && node.op != Op::complex) || (read && node.op != Op::view_as_real))
      return graph.node_name(id);
  }
  return "";
}

std::string outputs_apart(const Graph& before, const Graph& after, const Inputs& inputs,
                          double allowed) {
  const auto expected = evaluate(before, inputs), found = evaluate(after, inputs);
  if (!expected) return "before: " + format(expected.diagnostics());
  if (!found) return "after: " + format(found.diagnostics());
  for (std::size_t i = 0; i < expected->outputs.size(); ++i) {
    if (expected->outputs[i].dtype == DType::none) continue;  // an input without a gradient
    if (const auto comparison = compare(found->outputs[i], expected->outputs[i], allowed);
        !comparison.ok)
      return fmt::format("output {}: {}", i, comparison.problem);
  }
  return "";
}

// What is wrong with the pass on this graph; "" if all is well.
std::string parts_fault(const Graph& graph, double allowed = 0) {
  const auto report = run_passes(graph, kPartsPasses);
  if (report->failure) return report->failure->pass + " " + report->failure->message;
  const Graph& after = report->graph();
  if (const std::string inside = complex_inside(after); !inside.empty())
    return fmt::format("{} is complex in\n{}", inside, print(after));
  if (const auto again = run_passes(after, kPartsPasses); again->changed())
    return fmt::format("twice:\n{}then\n{}", print(after), print(again->graph()));
  const auto inputs = inputs_from(graph, {}, 7);
  if (!inputs) return format(inputs.diagnostics());
  const std::string apart = outputs_apart(graph, after, *inputs, allowed);
  if (!apart.empty()) return apart + ":\n" + print(after);
  return disagreement(after, *inputs, {});
}

void check_samples(std::initializer_list<const char*> samples) {
  for (const std::string sample : samples) {
    INFO(sample);
    CHECK(parts_fault(parse(complex_sample_text(sample))) == "");
    std::string wide = sample;
    for (std::size_t at; (at = wide.find("c64")) != std::string::npos;) wide.replace(at, 3, "c128");
    for (std::size_t at; (at = wide.find("f32")) != std::string::npos;) wide.replace(at, 3, "f64");
    CHECK(parts_fault(parse(complex_sample_text(wide))) == "");
  }
}

TEST_CASE("complex parts: arithmetic", "[passes]") {
  check_samples({
      "x:c64[3,4] y:c64[4] | add.Tensor(%x, %y, alpha=2)",
      "x:c64[3,1] y:f32[4] | add.Tensor(%x, %y)",
      "x:f32[3,1] y:c64[4] | sub.Tensor(%x, %y, alpha=0.5)",
      "x:c64[3] | add.Tensor(%x, 2.5)",
      "x:c64[3] | sub.Scalar(%x, 2)",
      "x:c64[3] y:c64[3] | rsub.Tensor(%x, %y, alpha=3)",
      "x:c64[3] | rsub.Scalar(%x, 1.5)",
      "x:c64[3,4] y:c64[3,1] | mul.Tensor(%x, %y)",
      "x:c64[3,4] y:f32[1,4] | mul.Tensor(%x, %y)",
      "x:c64[3] | mul.Scalar(%x, -2.5)",
      "x:c64[5] y:c64[5] | div.Tensor(%x, %y)",
      "x:f32[5] y:c64[5] | div.Tensor(%x, %y)",
      "x:c64[5] y:f32[5] | div.Tensor(%x, %y)",
      "x:c64[5] | div.Scalar(%x, 4)",
      "x:c64[5] y:c64[5] z:f32[5] | addcmul(%x, %y, %z, value=0.5)",
      "x:c64[5] y:c64[5] z:c64[5] | addcdiv(%x, %y, %z, value=-0.5)",
      "x:c64[5] y:c64[5] | prims.mul(%x, %y)",
      "x:c64[5] | neg(%x)",
      "x:c64[5] | square(%x)",
      "x:c64[5] | reciprocal(%x)",
      "x:c64[5] | _conj(%x)",
      "x:c64[5] | %c = _conj_physical(%x); mul.Tensor(%c, %x)",
      "x:c64[5] | abs(%x)",
      "x:c64[5] | angle(%x)",
      "x:c64[5] | sgn(%x)",
      "x:c64[2] | %z = zeros_like(%x); sgn(%z)",
      "x:c64[2] | %z = full_like(%x, -2.5); %y = sgn(%z); add.Tensor(%y, %x)",
      "x:c64[2] | %z = full_like(%x, -2.5); %a = abs(%z); mul.Tensor(%a, %x)",
      "x:c64[2] | %z = full_like(%x, -2.5); %a = angle(%z); mul.Tensor(%a, %x)",
      "x:c64[2] | %z = full_like(%x, -2.5); div.Tensor(%x, %z)",
      "x:c64[2] | %z = full_like(%x, 2.5); div.Tensor(%z, %x)",
      "x:f32[5] y:f32[5] | complex(%x, %y)",
      "x:f32[5,1] y:f32[3] | complex(%x, %y)",
      "x:f32[5] y:f32[5] | polar(%x, %y)",
  });
}

TEST_CASE("complex parts: functions", "[passes]") {
  check_samples({
      "x:c64[5] | exp(%x)",
      "x:c64[2] | %z = full_like(%x, 0.5); %e = exp(%z); mul.Tensor(%e, %x)",
      "x:c64[2] | %z = full_like(%x, 0.5); %e = log(%z); mul.Tensor(%e, %x)",
      "x:c64[5] | exp2(%x)",
      "x:c64[5] | log(%x)",
      "x:c64[5] | log2(%x)",
      "x:c64[5] | log10(%x)",
      "x:c64[9] | sqrt(%x)",
      "x:c64[5] | %z = zeros_like(%x); sqrt(%z)",
      "x:c64[5] | rsqrt(%x)",
      "x:c64[5] | sigmoid(%x)",
      "x:c64[5] | pow.Tensor_Scalar(%x, 0)",
      "x:c64[5] | pow.Tensor_Scalar(%x, 1)",
      "x:c64[5] | pow.Tensor_Scalar(%x, 2)",
      "x:c64[5] | pow.Tensor_Scalar(%x, 7)",
      "x:c64[5] | pow.Tensor_Scalar(%x, -3)",
      "x:c64[5] | pow.Tensor_Scalar(%x, 0.5)",
      "x:c64[5] | pow.Tensor_Scalar(%x, 1.5)",
      "x:c64[5] | %z = zeros_like(%x); pow.Tensor_Scalar(%z, 1.5)",
      "x:c64[5] | pow.Scalar(2.5, %x)",
      "x:c64[5] | sin(%x)",
      "x:c64[5] | cos(%x)",
      "x:c64[5] | tan(%x)",
      "x:c64[5] | sinh(%x)",
      "x:c64[5] | cosh(%x)",
      "x:c64[5] | tanh(%x)",
      "x:c64[5] | %y = mul.Scalar(%x, 200); tanh(%y)",
      "x:c64[5] | expm1(%x)",
      "x:c64[5] | %y = mul.Scalar(%x, 0.0001); expm1(%y)",
      "x:c64[5] | log1p(%x)",
      "x:c64[5] | %y = mul.Scalar(%x, 0.0001); log1p(%y)",
      "x:c64[5] | silu(%x)",
      "x:c64[5] | sinc(%x)",
      "x:c64[5] | %z = zeros_like(%x); sinc(%z)",
      "x:c64[5] y:c64[5] | sigmoid_backward(%x, %y)",
      "x:c64[5] y:c64[5] | tanh_backward(%x, %y)",
      "x:c64[5] y:c64[5] | pow.Tensor_Tensor(%x, %y)",
      "x:f32[5] y:c64[5] | pow.Tensor_Tensor(%x, %y)",
      "x:c64[5] y:c64[5] | %z = zeros_like(%x); pow.Tensor_Tensor(%y, %z)",
      "x:c64[5] y:c64[5] | %z = zeros_like(%x); %o = full_like(%y, 1.5); pow.Tensor_Tensor(%z, "
      "%o)",
      "x:c64[5] | pow.Scalar(-2.5, %x)",
      "x:c64[5] | float_power.Tensor_Scalar(%x, 1.5)",
      "x:c64[5] y:c64[5] | float_power.Tensor_Tensor(%x, %y)",
      "x:c64[5] | float_power.Scalar(2, %x)",
  });
}

TEST_CASE("complex parts: inverse functions", "[passes]") {
  for (const std::string name : {"asin", "acos", "atan", "asinh", "acosh", "atanh"})
    for (const std::string by : {"1", "0.00001", "30", "1000000", "1e16"}) {
      const std::string sample = "x:c64[19] | %y = mul.Scalar(%x, " + by + "); " + name + "(%y)";
      check_samples({sample.c_str()});
    }
}

// Zeros with signs, infinities and the points of branches, as the C library has them.
TEST_CASE("complex parts: inverse functions at branch cuts and infinities", "[passes]") {
  for (const std::string name : {"asin", "acos", "atan", "asinh", "acosh", "atanh"})
    for (const double x : {-HUGE_VAL, -1e30, -2.0, -1.0, -0.5, -0.0, 0.0, 0.5, 1.0, 2.0, HUGE_VAL})
      for (const double y : {-HUGE_VAL, -2.0, -1.0, -0.0, 0.0, 1.0, 1e30, HUGE_VAL}) {
        INFO(name << " of " << x << " and " << y);
        const Graph graph = parse(complex_sample_text("x:c128[1] | " + name + "(%x)"));
        const auto report = run_passes(graph, kPartsPasses);
        REQUIRE_FALSE(report->failure);
        Complexes given(Shape{1}, Complex(x, y));
        Tensor tensor = allocate(graph.type(graph.inputs().front()), nullptr);
        pack(given, tensor);
        const Inputs inputs = {{graph.inputs().front(), tensor}};
        CHECK(outputs_apart(graph, report->graph(), inputs, 0) == "");
      }
}

// The element-wise functions that PyTorch defines on complex numbers: each by eval and by loops.
TEST_CASE("complex parts: no function of one operand is missing", "[passes]") {
  for (const std::string name :
       {"abs",     "acos",          "acosh",       "angle", "asin",  "asinh",    "atan",
        "atanh",   "_conj",         "cos",         "cosh",  "exp",   "exp2",     "expm1",
        "isinf",   "isfinite",      "isnan",       "log",   "log10", "log1p",    "log2",
        "neg",     "sgn",           "logical_not", "rsqrt", "sin",   "positive", "reciprocal",
        "sigmoid", "silu",          "sinc",        "sinh",  "sqrt",  "square",   "tan",
        "tanh",    "_conj_physical"}) {
    INFO(name);
    check_samples({("x:c64[9] | " + name + "(%x)").c_str()});
  }
}

TEST_CASE("complex parts: comparisons and conversions", "[passes]") {
  check_samples({
      "x:c64[5] y:c64[5] | eq.Tensor(%x, %y)",
      "x:c64[5] y:f32[5] | ne.Tensor(%x, %y)",
      "x:c64[5] | %y = clone(%x); eq.Tensor(%x, %y)",
      "x:c64[5] | eq.Scalar(%x, 0.5)",
      "x:c64[5] | logical_not(%x)",
      "x:c64[5] | isnan(%x)",
      "x:c64[5] | isinf(%x)",
      "x:c64[5] | isfinite(%x)",
      "x:c64[5] | clone(%x)",
      "x:c64[5] | _to_copy(%x, dtype=c128)",
      "x:c64[5] | _to_copy(%x, dtype=f64)",
      "x:c64[5] | _to_copy(%x, dtype=bool)",
      "x:i64[5] | _to_copy(%x, dtype=c64)",
      "x:f32[5] | prims.convert_element_type(%x, c64)",
  });
}

TEST_CASE("complex parts: views and movement", "[passes]") {
  check_samples({
      "x:f32[3,2] | view_as_complex(%x)",
      "x:c64[3] | view_as_real(%x)",
      "x:f32[3,2] | %z = view_as_complex(%x); view_as_real(%z)",
      "x:f32[3,2] | %z = view_as_complex(%x); %y = mul.Scalar(%z, 2); view_as_real(%y)",
      "x:c64[3] | %y = square(%x); %p = view_as_real(%y); select.int(%p, 1, 1)",
      "x:c64[3] | %p = view_as_real(%x); select.int(%p, -1, 0)",
      "x:c64[4,6] | view(%x, [8, 3])",
      "x:c64[4,6] | %t = permute(%x, [1, 0]); reshape(%t, [24])",
      "x:c64[4,6] | expand(%x, [2, 4, 6])",
      "x:c64[4,6] | %s = slice.Tensor(%x, 1, 1, 5, 2); unsqueeze(%s, 0)",
      "x:c64[4,6] | %p = split.Tensor(%x, 4, 1); %a = getitem(%p, 0); %b = getitem(%p, 1); "
      "cat([%b, %a], -1)",
      "x:c64[4,6] y:f32[4,2] | cat([%x, %y], 1)",
      "x:c64[4] y:c64[4] | stack([%x, %y], 0)",
      "x:c64[4,4] | diagonal(%x)",
      "x:c64[4,4] | tril(%x)",
      "x:c64[4] | constant_pad_nd(%x, [1, 2], 0.5)",
      "x:c64[4] | flip(%x, [0])",
      "x:c64[4] | roll(%x, [1])",
      "x:c64[4] | repeat(%x, [2, 2])",
      "x:c64[5,3] i:i64[4] | index_select(%x, 0, %i)",
      "x:c64[5,3] i:i64[4] | index.Tensor(%x, [%i])",
      "x:c64[5,3] i:i64[2] v:c64[2,3] | index_put(%x, [%i], %v, true)",
      "x:c64[5,3] i:i64[2] v:f32[2,3] | %c = _to_copy(%v, dtype=c64); index_add(%x, 0, %i, %c, "
      "alpha=2)",
      "x:c64[5,3] i:i64[2,3] | gather(%x, 0, %i)",
      "x:c64[5,3] i:i64[2,3] v:c64[2,3] | scatter_add(%x, 0, %i, %v)",
      "x:c64[5,3] i:i64[2,3] | scatter.value(%x, 0, %i, 2.5)",
      "x:c64[5] m:bool[5] y:c64[5] | where.self(%m, %x, %y)",
      "x:c64[5] m:bool[5] y:f32[5] | where.self(%m, %x, %y)",
      "x:c64[5] m:bool[5] | where.ScalarOther(%m, %x, 1.5)",
      "x:c64[5] m:bool[5] | masked_fill.Scalar(%x, %m, 3.5)",
      "x:c64[5] v:c64[2] | slice_scatter(%x, %v, 0, 1, 3)",
      "x:c64[2] | slice_backward(%x, [5], 0, 1, 3, 1)",
      "x:c64[3] | zeros_like(%x)",
      "x:c64[3] | ones_like(%x)",
      "x:c64[3] | full_like(%x, 2.5)",
      "x:c64[3] | %f = full([3], 1.5, dtype=c64); mul.Tensor(%x, %f)",
      "x:c64[3] | new_zeros(%x, [2])",
      "x:c64[3,3] | %e = eye(3, dtype=c64); add.Tensor(%x, %e)",
  });
}

TEST_CASE("complex parts: sums", "[passes]") {
  check_samples({
      "x:c64[4,6] | sum(%x)",
      "x:c64[4,6] | sum.dim_IntList(%x, [1], true)",
      "x:f32[4,6] | sum(%x, dtype=c64)",
      "x:c64[4,6] | mean(%x)",
      "x:c64[4,6] | mean.dim(%x, [0])",
      "x:c64[4,6] | cumsum(%x, 1)",
      "x:c64[4,6] | var.correction(%x, [1], correction=1)",
      "x:c64[4,6] | std.correction(%x, [1], correction=0)",
      "x:c64[4,4] | trace(%x)",
      "x:c64[3,5] | prod(%x)",
      "x:c64[3,5] | prod.dim_int(%x, 1, true)",
      "x:c64[3,8] | prod.dim_int(%x, -1)",
      "x:c64[3,0] | prod.dim_int(%x, 1)",
      "x:c64[] | prod.dim_int(%x, 0)",
      "x:c64[0] | prod(%x)",
  });
}

TEST_CASE("complex parts: products of matrices", "[passes]") {
  check_samples({
      "x:c64[3,4] y:c64[4,2] | mm(%x, %y)",
      "x:c64[2,3,4] y:c64[2,4,5] | bmm(%x, %y)",
      "x:c64[2,3,4] y:c64[4,5] | matmul(%x, %y)",
      "x:c64[3,4] y:c64[4] | mv(%x, %y)",
      "x:c64[4] y:c64[4] | dot(%x, %y)",
      "x:c64[4] y:c64[4] | vdot(%x, %y)",
      "x:c64[4] y:c64[3] | outer(%x, %y)",
      "b:c64[2] x:c64[3,4] y:c64[4,2] | addmm(%b, %x, %y, beta=0.5, alpha=2.0)",
      "b:c64[2,3,5] x:c64[2,3,4] y:c64[2,4,5] | baddbmm(%b, %x, %y, beta=2, alpha=0.5)",
      "b:c64[3] x:c64[3,4] y:c64[4] | addmv(%b, %x, %y)",
      "x:c64[3,4] y:c64[5,4] b:c64[5] | linear(%x, %y, %b)",
      "x:f32[3,4] y:c64[4,2] | %z = _to_copy(%x, dtype=c64); mm(%z, %y)",
      "x:c64[0,4] y:c64[4,2] | mm(%x, %y)",
      "x:c64[3,0] y:c64[0,2] | mm(%x, %y)",
  });
}

TEST_CASE("complex parts: Fourier transforms", "[passes]") {
  check_samples({
      "x:c64[5] | _fft_c2c(%x, [0], 0, true)",
      "x:c64[3,8] | _fft_c2c(%x, [1], 2, false)",
      "x:c64[8,3] | _fft_c2c(%x, [0], 1, true)",
      "x:c64[4,6] | _fft_c2c(%x, [0, 1], 1, true)",
      "x:c64[2,4,6] | _fft_c2c(%x, [-3, -1], 0, false)",
      "x:c64[4] | _fft_c2c(%x, [], 0, true)",
      "x:c64[1] | _fft_c2c(%x, [0], 2, true)",
      "x:c64[2,97] | _fft_c2c(%x, [1], 0, true)",
      "x:c64[2,120] | _fft_c2c(%x, [1], 0, false)",
      "x:c64[1024] | _fft_c2c(%x, [0], 0, true)",
      "x:c64[8192] | _fft_c2c(%x, [0], 1, false)",
      "x:c64[0,4] | _fft_c2c(%x, [1], 0, true)",
      "x:f32[5] | _fft_r2c(%x, [0], 0, true)",
      "x:f32[6] | _fft_r2c(%x, [0], 0, false)",
      "x:f32[3,6] | _fft_r2c(%x, [0, 1], 1, true)",
      "x:f32[3,6] | _fft_r2c(%x, [1, 0], 2, true)",
      "x:f32[1] | _fft_r2c(%x, [0], 0, true)",
      "x:f32[3,400] | _fft_r2c(%x, [1], 0, true)",
      "x:c64[4] | _fft_c2r(%x, [0], 2, 6)",
      "x:c64[4] | _fft_c2r(%x, [0], 0, 7)",
      "x:c64[4] | _fft_c2r(%x, [0], 0, 1)",
      "x:c64[4] | _fft_c2r(%x, [0], 0, 2)",
      "x:c64[3,4] | _fft_c2r(%x, [0, 1], 1, 5)",
      "x:c64[201] | _fft_c2r(%x, [0], 2, 400)",
  });
}

TEST_CASE("complex parts: numbers, single elements and nothing", "[passes]") {
  check_samples({
      "x:c64[] y:c64[] | mul.Tensor(%x, %y)",
      "x:c64[] | abs(%x)",
      "x:c64[] | view_as_real(%x)",
      "x:f32[2] | view_as_complex(%x)",
      "x:c64[] y:c64[3] | add.Tensor(%x, %y)",
      "x:c64[0] y:c64[0] | mul.Tensor(%x, %y)",
      "x:c64[0] | sum(%x)",
      "x:c64[0,3] | permute(%x, [1, 0])",
      "x:c64[1] | exp(%x)",
      "x:c64[1,1] y:c64[1,1] | mm(%x, %y)",
  });
}

// An operator without a rule keeps its complex operands; its neighbours don't.
TEST_CASE("complex parts: an operator without a rule stays", "[passes]") {
  const Graph graph = parse(
      complex_sample_text("x:c64[4] | %y = square(%x); %p = cumprod(%y, 0); mul.Tensor(%p, %x)"));
  const auto report = run_passes(graph, kPartsPasses);
  REQUIRE_FALSE(report->failure);
  const Graph& after = report->graph();
  CHECK(after.find("p").valid());
  CHECK(is_complex(after.type(after[after.find("p")].operands.front()).dtype));
  CHECK(complex_inside(after) == "p");
  const auto inputs = inputs_from(graph, {}, 7);
  CHECK(outputs_apart(graph, after, *inputs, 0) == "");
  const std::string refusal = disagreement(after, *inputs, {});
  CHECK(is_refusal(refusal));
  CHECK(refusal.find("operator 'cumprod' has no lowering for c64") != std::string::npos);
}

// The samples of derivative rules are graphs of several calls; their functions without a rule stay.
TEST_CASE("complex parts: joint graphs", "[passes]") {
  std::ifstream file(RECUT_SOURCE_DIR "/tests/autodiff/samples/smooth.txt");
  int checked = 0;
  for (std::string line; std::getline(file, line);) {
    const bool complex = line.find("complex(") != std::string::npos ||
                         line.find("_fft_") != std::string::npos ||
                         line.find("polar(") != std::string::npos;
    if (!complex || line.find("asin") != std::string::npos) continue;
    INFO(line);
    const auto forward = sample_graph(line);
    REQUIRE(forward.ok());
    const auto joint = differentiate(*forward);
    REQUIRE(joint.ok());
    CHECK(parts_fault(*joint, 1e-9) == "");
    ++checked;
  }
  CHECK(checked > 25);
}

}  // namespace
}  // namespace recut::test
