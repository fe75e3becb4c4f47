// Passes keep NaNs and infinities in a graph's values non-finite. Fused attention is the documented
// exception: a row with all keys hidden is NaN in a softmax and zero in the operator.
#include <fmt/core.h>

#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "engine/autodiff/differentiate.h"
#include "engine/eval/evaluator.h"
#include "engine/eval/inputs.h"
#include "engine/passes/runner.h"
#include "engine/passes/stages.h"
#include "tests/input/parse.h"

namespace recut {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

struct MaskedForm {
  std::string dtype = "f32";
  std::string mask;    // lines that define %n, which is added to the scores
  bool drops = false;  // dropout by an input of bools
  std::string scale = "0.5", keep_scale = "2.0";
};

// Attention of three queries and keys in two heads, written out.
std::string masked_attention(const MaskedForm& form) {
  return fmt::format(
      "graph \"masked\" {{\n"
      "  %q = input {0}[1, 2, 3, 4]\n  %k = input {0}[1, 2, 3, 4]\n"
      "  %v = input {0}[1, 2, 3, 4]\n  %keep = input bool[1, 2, 3, 3]\n{1}"
      "  %kt = permute(%k, [0, 1, 3, 2])\n"
      "  %q3 = view(%q, [2, 3, 4])\n  %k3 = view(%kt, [2, 4, 3])\n  %s3 = bmm(%q3, %k3)\n"
      "  %s4 = view(%s3, [1, 2, 3, 3])\n  %s = mul.Tensor(%s4, {2})\n"
      "  %m = add.Tensor(%s, %n)\n  %w = _softmax(%m, -1, false)\n{3}"
      "  %w3 = view(%p, [2, 3, 3])\n  %v3 = view(%v, [2, 3, 4])\n  %y3 = bmm(%w3, %v3)\n"
      "  %y = view(%y3, [1, 2, 3, 4])\n  results %y\n}}\n",
      form.dtype, form.mask, form.scale,
      form.drops ? fmt::format("  %kept = mul.Tensor(%keep, %w)\n"
                               "  %p = mul.Tensor(%kept, {})\n",
                               form.keep_scale)
                 : "  %p = view(%w, [1, 2, 3, 3])\n");
}

Inputs inputs_with(const Graph& graph, double number) {
  auto inputs = inputs_from(graph, {}, 3);
  REQUIRE(inputs.ok());
  const NodeId n = graph.find("given");
  if (n.valid() && graph.op(n).is(kInput)) {
    Tensor& tensor = inputs->at(n);
    pack(Reals(tensor.shape, number), tensor);
  }
  return std::move(*inputs);
}

struct Both {
  Graph after;
  std::vector<Tensor> expected, found;
};

Both both(const Graph& graph, double number) {
  const auto report = run_passes(graph, inexact_passes());
  REQUIRE(report.ok());
  if (report->failure) FAIL(report->failure->pass + " " + report->failure->message);
  const Inputs inputs = inputs_with(graph, number);
  const auto expected = evaluate(graph, inputs), found = evaluate(report->graph(), inputs);
  if (!expected) FAIL(format(expected.diagnostics()));
  if (!found) FAIL(format(found.diagnostics()));
  return {report->graph(), expected->outputs, found->outputs};
}

bool has(const Graph& graph, std::string_view part) {
  const auto order = graph.order();
  return std::any_of(order.begin(), order.end(), [&](NodeId id) {
    return graph.op(id).name.find(part) != std::string_view::npos;
  });
}

// Whether attention adds something to its scores, or hides some of them.
bool has_mask(const Graph& graph) {
  const auto order = graph.order();
  return std::any_of(order.begin(), order.end(), [&](NodeId id) {
    const auto bias = graph.op(id).parameter("attn_bias");
    return bias && graph[id].arguments[*bias].get<NodeId>() != nullptr;
  });
}

// Where there was no number there is none, or the 0 of a row without a key. Numbers are as near as
// 16 bits are.
void check_numbers(const Both& both, bool zeros) {
  for (std::size_t output = 0; output < both.expected.size(); ++output) {
    if (!both.expected[output].exists()) continue;
    const Reals a = unpack<double>(both.expected[output]), b = unpack<double>(both.found[output]);
    for (std::int64_t i = 0; i < a.count(); ++i) {
      INFO("output " << output << ", element " << i << ": " << b[i] << ", was " << a[i]);
      if (std::isfinite(a[i]))
        CHECK(std::abs(a[i] - b[i]) < 2e-2);
      else
        CHECK((!std::isfinite(b[i]) || (zeros && b[i] == 0)));
    }
  }
}

std::string number_of(double number) { return fmt::format("{}", number); }

// The number comes as an input, as a constant of several shapes, and from another dtype.
std::vector<std::string> masks_of_one_number(const std::string& dtype, double number) {
  const std::string n = number_of(number);
  return {fmt::format("  %given = input {}[1]\n  %n = alias(%given)\n", dtype),
          fmt::format("  %given = input {}[]\n  %n = expand(%given, [1, 1, 3, 3])\n", dtype),
          fmt::format("  %given = input {}[]\n  %wide = expand(%given, [1, 1, 3, 3])\n"
                      "  %n = clone(%wide, memory_format=\"contiguous_format\")\n",
                      dtype),
          fmt::format("  %n = full([1], {}, dtype={})\n", n, dtype),
          fmt::format("  %n = full([3, 3], {}, dtype={})\n", n, dtype),
          fmt::format("  %one = full([], {}, dtype=f64)\n"
                      "  %few = prims.convert_element_type(%one, {})\n"
                      "  %n = expand(%few, [1, 1, 3, 3])\n",
                      n, dtype)};
}

TEST_CASE("a number that is added to all scores is no mask, and stays none if it is none",
          "[passes]") {
  for (const std::string dtype : {"f32", "f16", "bf16"})
    for (const bool drops : {false, true})
      for (const double number : {0.0, 0.5, -kInf, kInf, kNaN, -60000.0}) {
        const auto masks = masks_of_one_number(dtype, number);
        for (std::size_t i = 0; i < masks.size(); ++i) {
          INFO(dtype << (drops ? ", dropout, " : ", ") << number << "\n" << masks[i]);
          const Graph graph = parse(masked_attention({dtype, masks[i], drops}));
          const Both ran = both(graph, number);
          // Sums of scores and a large number are rounded once more before the softmax.
          if (std::abs(number) < 1000 || !std::isfinite(number)) check_numbers(ran, true);
          CHECK(has(ran.after, "attention"));
          const bool is_expanded = i == 1 || i == 2, is_small = i >= 3 && std::abs(number) <= 64;
          if (is_expanded || is_small) CHECK_FALSE(has_mask(ran.after));
        }
      }
}

TEST_CASE("a causal mask is read by nobody, and what it adds to seen keys stays none if it is none",
          "[passes]") {
  const auto mask = [](const std::string& dtype, const std::string& shown) {
    return fmt::format(
        "{}  %all = full([3, 3], true, dtype=bool)\n  %seen = tril(%all)\n"
        "  %low = full([], -inf, dtype={})\n  %n = where.self(%seen, %given, %low)\n",
        shown, dtype);
  };
  for (const std::string dtype : {"f32", "bf16"})
    for (const bool drops : {false, true})
      for (const bool known : {false, true})
        for (const double number : {0.0, 1.5, -kInf, kInf, kNaN}) {
          INFO(dtype << (drops ? ", dropout, " : ", ") << known << ", " << number);
          const std::string shown =
              known ? fmt::format("  %given = full([], {}, dtype={})\n", number, dtype)
                    : fmt::format("  %given = input {}[]\n", dtype);
          const Graph graph = parse(masked_attention({dtype, mask(dtype, shown), drops}));
          const Both ran = both(graph, number);
          check_numbers(ran, true);
          CHECK(has(ran.after, "attention"));
          if (!known || std::abs(number) <= 64) CHECK_FALSE(has_mask(ran.after));
        }
}

// Its gradients, too: a NaN forward is one in all of them.
TEST_CASE("gradients of attention with a number added keep what is none", "[passes]") {
  for (const double number : {0.5, kInf, kNaN}) {
    for (const std::string& mask : masks_of_one_number("f32", number)) {
      INFO(number << "\n" << mask);
      GradOptions options;
      options.requires_grad = {"q", "k", "v"};
      const auto joint = differentiate(parse(masked_attention({"f32", mask})), options);
      if (!joint) FAIL(format(joint.diagnostics()));
      check_numbers(both(*joint, number), false);
    }
  }
}

TEST_CASE("attention's scales are numbers, or it stays written out", "[passes]") {
  const std::string mask = "  %n = full([1], 0.0, dtype=f32)\n";
  for (const char* scale : {"inf", "-inf", "nan"}) {
    INFO(scale);
    for (const bool drops : {false, true}) {
      MaskedForm form{"f32", mask, drops};
      (drops ? form.keep_scale : form.scale) = scale;
      const Both ran = both(parse(masked_attention(form)), 0);
      check_numbers(ran, false);
      CHECK_FALSE(has(ran.after, "attention"));
    }
  }
}

// A softmax's numerator from scaled values, and scores that are divided: by what isn't one, too.
TEST_CASE("what scales a softmax is a number, or it stays where it was", "[passes]") {
  for (const char* by : {"mul.Tensor", "div.Tensor"})
    for (const char* number : {"inf", "-inf", "nan", "0.0", "1e-40", "1e39", "0.25"}) {
      INFO(by << " " << number);
      const Graph softmax =
          parse(fmt::format("graph \"softmax\" {{\n  %x = input f32[3, 4]\n  %s = {}(%x, {})\n"
                            "  %m = amax(%s, [-1], true)\n  %low = sub.Tensor(%s, %m)\n"
                            "  %e = exp(%low)\n  results %e\n}}\n",
                            by, number));
      check_numbers(both(softmax, 0), false);
      const Graph scores = parse(
          fmt::format("graph \"scores\" {{\n  %a = input f32[6, 4, 5]\n  %b = input f32[6, 5, 7]\n"
                      "  %s3 = bmm(%a, %b)\n  %s = view(%s3, [2, 3, 4, 7])\n  %y = {}(%s, {})\n"
                      "  results %y\n}}\n",
                      by, number));
      check_numbers(both(scores, 0), false);
    }
}

// (p - zero) * scale overflows where the product of both scales doesn't.
TEST_CASE("products of dequantised numbers whose scales are far from 1 stay", "[passes]") {
  for (const auto& [left, right] : {std::pair("3e38", "1e-38"), std::pair("1e-38", "3e38"),
                                    std::pair("inf", "0.0"), std::pair("nan", "1.0")}) {
    INFO(left << " " << right);
    const Graph graph = parse(
        fmt::format("graph \"dequantised\" {{\n  %p = input i8[3, 4]\n  %q = input i8[4, 5]\n"
                    "  %x = quantized_decomposed.dequantize_per_tensor(%p, {}, 3, -128, 127, i8)\n"
                    "  %w = quantized_decomposed.dequantize_per_tensor(%q, {}, 0, -128, 127, i8)\n"
                    "  %y = mm(%x, %w)\n  results %y\n}}\n",
                    left, right));
    const Both ran = both(graph, 0);
    check_numbers(ran, false);
    CHECK_FALSE(has(ran.after, "_int_mm"));
  }
}

}  // namespace
}  // namespace recut
