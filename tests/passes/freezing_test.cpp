// Freezing keeps meaning: values before and after, on every block and with every kind of operand.
#include "engine/passes/freezing.h"

#include <fmt/core.h>

#include <catch2/catch_test_macros.hpp>

#include "engine/eval/compare.h"
#include "engine/eval/inputs.h"
#include "engine/ir/printer.h"
#include "engine/passes/runner.h"
#include "tests/input/parse.h"

namespace recut {
namespace {

// Random, but with variances and divisors away from zero.
Inputs inputs_of(const Graph& graph, std::uint64_t seed) {
  auto inputs = inputs_from(graph, {}, seed);
  REQUIRE(inputs.ok());
  for (auto& [id, tensor] : *inputs) {
    const std::string& name = graph.node_name(id);
    if (name != "var" && name != "k") continue;
    Reals values = unpack<double>(tensor);
    for (double& x : values.data) x = 1.5 + 0.5 * x;
    pack(values, tensor);
  }
  return std::move(*inputs);
}

void expect_same(const std::vector<Tensor>& found, const std::vector<Tensor>& expected) {
  REQUIRE(found.size() == expected.size());
  for (std::size_t i = 0; i < found.size(); ++i) {
    const Comparison c = compare(found[i], expected[i]);
    INFO(c.error << " beyond " << c.bound);
    CHECK(c.ok);
  }
}

// The freezing passes and then the folding of what is known; the same values throughout.
Graph check_frozen(const Graph& graph, std::uint64_t seed) {
  INFO(print(graph));
  const Inputs inputs = inputs_of(graph, seed);
  const auto before = evaluate(graph, inputs);
  REQUIRE(before.ok());
  const PipelineReport report = run_passes(graph, freezing_passes());
  INFO((report.failure ? report.failure->message : std::string()));
  REQUIRE_FALSE(report.failure);
  const auto passed = evaluate(report.graph(), inputs);
  REQUIRE(passed.ok());
  expect_same(passed->outputs, before->outputs);

  Inputs held, given;
  for (const auto& [id, tensor] : inputs) {
    const bool input = graph.is_input(id) && graph.input_kind(id) == InputKind::input;
    (input ? given : held).emplace(id, tensor);
  }
  const auto frozen = fold_frozen(report.graph(), held);
  REQUIRE(frozen.ok());
  Inputs all = frozen->values;
  all.insert(given.begin(), given.end());
  const auto after = evaluate(frozen->graph, all);
  REQUIRE(after.ok());
  expect_same(after->outputs, before->outputs);
  return frozen->graph;
}

std::size_t calls(const Graph& graph) {
  std::size_t count = 0;
  for (const NodeId id : graph.order()) count += graph.op(id).is(kInput) ? 0 : 1;
  return count;
}

TEST_CASE("freezing: convolution, batch norm and constants are one convolution", "[passes]") {
  for (const bool transposed : {false, true})
    for (const bool bias : {false, true})
      for (const char* affine : {"%gamma, %beta", "none, none"}) {
        const Graph frozen =
            check_frozen(parse(fmt::format(R"(graph "g" {{
              %w = parameter f32[4, 4, 3, 3]
              %b = parameter f32[4]
              %gamma = parameter f32[4]
              %beta = parameter f32[4]
              %mean = constant f32[4]
              %var = constant f32[4]
              %k = parameter f32[4, 1, 1]
              %x = input f32[2, 4, 5, 6]
              %c = convolution(%x, %w, {}, [1, 1], [1, 1], [1, 1], {}, [0, 0], 1)
              %n = _native_batch_norm_legit_no_training(%c, {}, %mean, %var, 0.1, 1e-05)
              %y = getitem(%n, 0)
              %m = mul.Tensor(%y, %k)
              %z = add.Tensor(%m, 0.5)
              results %z
            }})",
                                           bias ? "%b" : "none", transposed, affine)),
                         3);
        CHECK(calls(frozen) == 1);
      }
}

TEST_CASE("freezing: batch_norm in one call is folded for inference, not in training", "[passes]") {
  for (const bool training : {false, true})
    for (const char* bias : {"%b", "none"}) {
      const Graph frozen = check_frozen(parse(fmt::format(R"(graph "g" {{
        %w = parameter f32[4, 4, 3, 3]
        %b = parameter f32[4]
        %gamma = parameter f32[4]
        %beta = parameter f32[4]
        %mean = constant f32[4]
        %var = constant f32[4]
        %x = input f32[2, 4, 5, 6]
        %c = convolution(%x, %w, {}, [1, 1], [1, 1], [1, 1], false, [0, 0], 1)
        %y = batch_norm(%c, %gamma, %beta, %mean, %var, {}, 0.1, 1e-05, false)
        results %y
      }})",
                                                          bias, training)),
                                        5);
      CHECK(calls(frozen) == (training ? 2 : 1));
    }
}

TEST_CASE("freezing: every binary operator, operand and base", "[passes]") {
  const char* bases[] = {
      "%c = convolution(%image, %kernel, %b, [1], [0], [1], false, [0], 1)",
      "%c = convolution(%image, %kernel, none, [1], [0], [1], false, [0], 1)",
      "%c = mm(%x, %w)",
      "%c = addmm(%b, %x, %w)",
      "%m = mm(%x, %w)\n %c = view(%m, [2, 3, 4])",
  };
  std::uint64_t seed = 0;
  for (const char* base : bases) {
    const bool image = std::string_view(base).find("image") != std::string_view::npos;
    for (const char* op : {"add.Tensor", "sub.Tensor", "mul.Tensor", "div.Tensor"})
      for (const char* shape : {"", "1", "channels", "1, channels"}) {
        std::string k = shape;
        if (const auto at = k.find("channels"); at != std::string::npos)
          k.replace(at, 8, image ? "4, 1" : "4");
        INFO(op << " [" << k << "]");
        const Graph frozen = check_frozen(parse(fmt::format(R"(graph "g" {{
            %kernel = parameter f32[4, 3, 2]
            %w = parameter f32[3, 4]
            %b = parameter f32[4]
            %k = parameter f32[{}]
            %image = input f32[2, 3, 5]
            %x = input f32[6, 3]
            {}
            %y = {}(%c, %k)
            results %y
          }})",
                                                            k, base, op)),
                                          ++seed);
        CHECK(calls(frozen) ==
              (std::string_view(base).find("view") == std::string_view::npos ? 1 : 2));
      }
  }
}

TEST_CASE("freezing: what has no value stays to be computed", "[passes]") {
  const Graph graph = parse(R"(graph "g" {
    %w = parameter f32[3, 4]
    %k = parameter f32[4]
    %x = input f32[2, 3]
    %t = exp(%w)
    %s = exp(%k)
    %r = rand([4], dtype=f32)
    %m = mm(%x, %t)
    %a = add.Tensor(%m, %s)
    %y = add.Tensor(%a, %r)
    results %y, %s
  })");
  Inputs values;
  values.emplace(graph.find("w"), random_tensor(graph.type(graph.find("w")), 1, "w"));
  const auto frozen = fold_frozen(graph, values);
  REQUIRE(frozen.ok());
  const std::string text = print(frozen->graph);
  CHECK(text.find("%t = constant f32[3, 4]") != std::string::npos);
  CHECK(text.find("%s = exp(%k)") != std::string::npos);
  CHECK(text.find("%r = rand") != std::string::npos);
  CHECK(text.find("%w =") == std::string::npos);
}

}  // namespace
}  // namespace recut
