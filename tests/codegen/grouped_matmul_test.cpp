// Products of groups, whose ends are data, as loop kernels and as machine code.
#include <fmt/core.h>

#include <catch2/catch_test_macros.hpp>

#include "engine/autodiff/differentiate.h"
#include "engine/eval/inputs.h"
#include "tests/autodiff/derivative_check.h"
#include "tests/codegen/agreement.h"
#include "tests/codegen/cuda_on_cpu.h"
#include "tests/codegen/given_inputs.h"
#include "tests/random/same_meaning.h"

namespace recut::test {
namespace {

// The two operands of a product, of 40 positions in three groups.
struct Form {
  const char* self;
  const char* mat2;
  const char* result;
};

constexpr Form kForms[] = {{"[40, 19]", "[3, 19, 21]", "[40, 21]"},
                           {"[3, 21, 19]", "[19, 40]", "[21, 40]"},
                           {"[5, 40]", "[40, 21]", "[3, 5, 21]"}};

Graph grouped_graph(const Form& form, const std::string& dtype, const std::string& result) {
  return graph_of(
      fmt::format("  %a = input {0}{1}\n  %b = input {0}{2}\n  %o = input i32[3]\n"
                  "  %y = _grouped_mm(%a, %b, %o, none, {3}) : {3}{4}\n"
                  "  results %y\n  gradients none, none, none",
                  dtype, form.self, form.mat2, result, form.result));
}

// Reals about 0, and these ends.
Inputs with_ends(const Graph& graph, const Numbers& ends) {
  Inputs inputs = inputs_for(graph, 7, Values::ordinary);
  const NodeId offs = graph.inputs().back();
  inputs[offs] = given_inputs(graph, {{graph.node_name(offs), ends}}).at(offs);
  return inputs;
}

TEST_CASE("lowering: products of groups", "[codegen][cpu]") {
  const Numbers kEnds[] = {{7, 19, 40}, {0, 0, 40}, {13, 13, 13}, {0, 0, 0}, {40, 40, 40}};
  for (const Form& form : kForms)
    for (const auto& [dtype, result] :
         {std::pair{"f32", "f32"}, std::pair{"bf16", "bf16"}, std::pair{"bf16", "f32"}}) {
      const Graph graph = grouped_graph(form, dtype, result);
      INFO(form.self << " " << form.mat2 << " " << dtype);
      for (const Numbers& ends : kEnds) {
        INFO(ends[0] << " " << ends[1] << " " << ends[2]);
        CHECK(disagreement(graph, with_ends(graph, ends), {}, true).substr(0, 3000) == "");
        KernelRunOptions shared;
        shared.lower.group_lanes = 128;
        CHECK(disagreement(graph, with_ends(graph, ends), shared).substr(0, 3000) == "");
      }
    }
}

TEST_CASE("lowering: products of groups as CUDA", "[codegen][cpu]") {
  for (const Form& form : kForms) {
    const Graph graph = grouped_graph(form, "f32", "f32");
    const GivenNumbers given = {{"o", {9, 9, 33}}};
    INFO(form.self << " " << form.mat2);
    CHECK(wrong_numbers(graph, given, evaluated(graph, given), true) == "");
    if (!has_compiler()) continue;
    KernelRunOptions groups_of_threads;
    groups_of_threads.executor = Executor::cuda;
    groups_of_threads.lower.group_lanes = 128;
    CHECK(by_kernels(graph, given, groups_of_threads) == evaluated(graph, given));
  }
}

// More columns than a block of them, and a rest.
TEST_CASE("lowering: products of groups of many columns", "[codegen][cpu]") {
  const Graph graph = grouped_graph({"[2, 9]", "[9, 4101]", "[3, 2, 4101]"}, "f32", "f32");
  CHECK(disagreement(graph, with_ends(graph, {2, 2, 8}), {}, true).substr(0, 3000) == "");
}

TEST_CASE("lowering: products of groups without elements", "[codegen][cpu]") {
  for (const Form& form :
       {Form{"[4, 0]", "[3, 0, 2]", "[4, 2]"}, Form{"[0, 5]", "[3, 5, 2]", "[0, 2]"},
        Form{"[3, 4, 0]", "[0, 6]", "[4, 6]"}, Form{"[4, 0]", "[0, 6]", "[3, 4, 6]"},
        Form{"[4, 7]", "[7, 0]", "[3, 4, 0]"}}) {
    const Graph graph = grouped_graph(form, "f32", "f32");
    INFO(form.self << " " << form.mat2);
    CHECK(disagreement(graph, with_ends(graph, {0, 0, 0}), {}, true).substr(0, 3000) == "");
  }
  const Graph none = graph_of(
      "  %a = input f32[4, 5]\n  %b = input f32[0, 5, 2]\n  %o = input i32[0]\n"
      "  %y = _grouped_mm(%a, %b, %o) : f32[4, 2]\n  results %y\n  gradients none, none, none");
  CHECK(wrong_numbers(none, {}, Numbers(8, 0)) == "");
}

TEST_CASE("products of groups that end too late or too early fail", "[codegen][cpu]") {
  for (const Form& form : kForms) {
    const Graph graph = grouped_graph(form, "f32", "f32");
    INFO(form.self << " " << form.mat2);
    for (const Numbers& ends : {Numbers{7, 19, 41}, Numbers{9, 7, 40}, Numbers{-1, 7, 40}})
      CHECK(refusal(graph, {{"o", ends}}).find("out of range for size") != std::string::npos);
    CHECK(refusal(graph, {{"o", {7, 19, 39}}}) == "");
  }
  const Graph one = graph_of(
      "  %a = input f32[4, 5]\n  %b = input f32[1, 5, 2]\n  %o = input i32[1]\n"
      "  %y = _grouped_mm(%a, %b, %o) : f32[4, 2]\n  results %y\n  gradients none, none, none");
  CHECK(refusal(one, {{"o", {5}}}).find("out of range for size") != std::string::npos);
  CHECK(refusal(one, {{"o", {3}}}) == "");
}

// Batches need no ends; gradients are products of other forms, of transposed operands.
TEST_CASE("lowering: products of groups with their gradients", "[codegen][cpu]") {
  const std::string ends = "%e = add.Scalar(%k, 3); %o = cumsum(%e, 0); ";
  for (const std::string& sample : {"a:16,9 b:3,9,17 k:3<2 | " + ends + "_grouped_mm(%a, %b, %o)",
                                    "a:3,17,9 b:9,16 k:3<2 | " + ends + "_grouped_mm(%a, %b, %o)",
                                    "a:9,16 b:16,17 k:3<2 | " + ends + "_grouped_mm(%a, %b, %o)",
                                    std::string("a:2,13,12 b:2,12,14 | _grouped_mm(%a, %b)")}) {
    INFO(sample);
    const auto graph = sample_graph(sample);
    if (!graph) FAIL(format(graph.diagnostics()));
    const auto joint = differentiate(*graph);
    if (!joint) FAIL(format(joint.diagnostics()));
    const Inputs inputs = inputs_for(*joint, 1, Values::ordinary);
    CHECK(disagreement(*joint, inputs, {}, true).substr(0, 3000) == "");
  }
}

}  // namespace
}  // namespace recut::test
