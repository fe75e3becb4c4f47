// Freezing keeps values on random chains: convolutions and linear layers, and after each of them
// any number of sums, differences, products and quotients with constants and of batch norms.
//
// RECUT_RANDOM_CHAINS is how many to try (150), RECUT_RANDOM_SEED the first seed (1).
#include <fmt/core.h>

#include <catch2/catch_test_macros.hpp>
#include <cstdlib>

#include "engine/eval/compare.h"
#include "engine/eval/inputs.h"
#include "engine/ir/builder.h"
#include "engine/ir/printer.h"
#include "engine/passes/freezing.h"
#include "engine/passes/runner.h"
#include "engine/passes/stages.h"
#include "tests/random/random_graph.h"

namespace recut::test {
namespace {

std::uint64_t number_from(const char* variable, std::uint64_t otherwise) {
  const char* value = std::getenv(variable);
  return value == nullptr ? otherwise : std::strtoull(value, nullptr, 10);
}

// Writes one chain. What divides, and variances, has a name that begins with 'd': see inputs_of.
class Chain {
 public:
  explicit Chain(std::uint64_t seed)
      : random_(seed), builder_("chain"), image_(random_.one_in(2)) {}

  Graph write() {
    Value x = image_ ? builder_.input("x", DType::f32, {2, 3, 5, 4})
                     : builder_.input("x", DType::f32, {3, 4});
    const std::int64_t layers = random_.between(1, 3);
    for (std::int64_t i = 0; i < layers; ++i) {
      x = image_ ? convolution(x) : product(x);
      const std::int64_t steps = random_.between(0, 4);
      for (std::int64_t k = 0; k < steps; ++k) x = step(x);
      if (random_.one_in(4)) builder_.result(builder_("exp", {x * 0.01}));  // a reader more
      if (random_.one_in(2)) x = builder_.relu(x);
    }
    if (!image_ && random_.one_in(2)) x = beside(x);
    builder_.result(x);
    auto graph = builder_.finish();
    if (!graph) FAIL(format(graph.diagnostics()));
    return std::move(*graph);
  }

 private:
  // A parameter, a constant or, now and then, an input: that isn't frozen.
  Value held(const std::string& letter, Shape shape) {
    const std::string name = fmt::format("{}{}", letter, ++count_);
    if (random_.one_in(8)) return builder_.input(name, DType::f32, std::move(shape));
    return random_.one_in(2) ? builder_.parameter(name, DType::f32, std::move(shape))
                             : builder_.constant(name, DType::f32, std::move(shape));
  }

  CallArgument bias(std::int64_t channels) {
    return random_.one_in(2) ? CallArgument(held("b", {channels})) : CallArgument(None{});
  }

  Value convolution(const Value& x) {
    const std::int64_t in = x.size(1), out = random_.between(1, 4);
    const bool transposed = random_.one_in(3);
    const std::int64_t groups = !transposed && in == 2 && out % 2 == 0 ? 2 : 1;
    const Shape shape =
        transposed ? Shape{in, out, 3, 3} : Shape{out, in / groups, 3, random_.one_in(2) ? 1 : 3};
    const std::int64_t side = shape[3] / 2;
    const Value w = held("w", shape);
    const CallArgument b = bias(out);
    return builder_("convolution",
                    {x, w, b, {1, 1}, {1, side}, {1, 1}, transposed, {0, 0}, groups});
  }

  Value product(const Value& x) {
    const std::int64_t in = x.size(1), out = random_.between(1, 4);
    if (random_.one_in(3)) {
      const Value w = held("w", {out, in});
      const CallArgument b = bias(out);
      return builder_("linear", {x, w, b});
    }
    const Value w =
        random_.one_in(2) ? held("w", {in, out}) : builder_.permute(held("w", {out, in}), {1, 0});
    if (random_.one_in(2)) return builder_.mm(x, w);
    const Value b = held("b", {out});
    return builder_("addmm", {b, x, w});
  }

  // Products of one operand, which may be joined.
  Value beside(const Value& x) {
    Value sum;
    const std::int64_t wide = random_.between(2, 4);
    for (std::int64_t i = 0; i < wide; ++i) {
      const Value w = held("w", {x.size(1), random_.between(1, 4)});
      const Value part = builder_.sum(builder_.mm(x, w));
      sum = sum.valid() ? sum + part : part;
    }
    return sum;
  }

  Value step(const Value& x) {
    if (image_ && random_.one_in(3)) return batch_norm(x);
    static constexpr std::array<const char*, 4> kOps = {"add.Tensor", "sub.Tensor", "mul.Tensor",
                                                        "div.Tensor"};
    const char* op = random_.of(kOps);
    if (random_.one_in(4)) return builder_(op, {x, 0.5 + static_cast<double>(random_.below(4))});
    const std::int64_t channels = x.size(1);
    static const std::vector<Shape> kImage = {{-1, 1, 1}, {1, -1, 1, 1}, {1}, {1, 1, 1}, {}};
    static const std::vector<Shape> kRows = {{-1}, {1, -1}, {1}, {}, {3, -1}};
    Shape shape = image_ ? random_.of(kImage) : random_.of(kRows);
    for (std::int64_t& size : shape)
      if (size == -1) size = channels;
    const Value k = held("d", shape);
    const bool turned = random_.one_in(4) && (op[0] == 'a' || op[0] == 'm');
    return turned ? builder_(op, {k, x}) : builder_(op, {x, k});
  }

  Value batch_norm(const Value& x) {
    const Shape channels = {x.size(1)};
    const CallArgument gamma =
        random_.one_in(3) ? CallArgument(None{}) : CallArgument(held("g", channels));
    const CallArgument beta =
        random_.one_in(3) ? CallArgument(None{}) : CallArgument(held("h", channels));
    const Value mean = held("m", channels);
    const Value variance = held("d", channels);
    const Value norm = builder_("_native_batch_norm_legit_no_training",
                                {x, gamma, beta, mean, variance, 0.1, 1e-5});
    return norm[0];
  }

  Random random_;
  Builder builder_;
  const bool image_;
  int count_ = 0;
};

// Random, with variances and divisors between 1 and 2.
Inputs inputs_of(const Graph& graph, std::uint64_t seed) {
  auto inputs = inputs_from(graph, {}, seed);
  REQUIRE(inputs.ok());
  for (auto& [id, tensor] : *inputs) {
    if (graph.node_name(id)[0] != 'd') continue;
    Reals values = unpack<double>(tensor);
    for (double& v : values.data) v = 1.5 + 0.5 * v;
    pack(values, tensor);
  }
  return std::move(*inputs);
}

// Longer chains of f32 gather a little more than one call may.
std::string difference_of(const std::vector<Tensor>& found, const std::vector<Tensor>& expected) {
  for (std::size_t i = 0; i < expected.size(); ++i) {
    const Comparison c = compare(found[i], expected[i]);
    if (!c.ok && !(c.problem.empty() && c.error <= 10 * c.bound))
      return fmt::format("output {}: {} {} beyond {}", i, c.problem, c.error, c.bound);
  }
  return "";
}

// After the stage, and after all that is known has been computed as well.
std::string what_freezing_breaks(const Graph& graph, const Inputs& inputs,
                                 const std::vector<std::string>& names) {
  const auto before = evaluate(graph, inputs);
  REQUIRE(before.ok());
  const auto report = run_passes(graph, names);
  REQUIRE(report.ok());
  if (report->failure) return report->failure->pass + " " + report->failure->message;
  const auto passed = evaluate(report->graph(), inputs);
  REQUIRE(passed.ok());
  if (auto wrong = difference_of(passed->outputs, before->outputs); !wrong.empty()) return wrong;
  for (const PassReport& pass : report->passes) {
    const std::string name[] = {pass.name};
    if (run_passes(pass.graph, name)->changed()) return pass.name + " changes what it made";
  }
  Inputs held, all;
  for (const auto& [id, tensor] : inputs) {
    const bool given = graph.is_input(id) && graph.input_kind(id) == InputKind::input;
    (given ? all : held).emplace(id, tensor);
  }
  const auto frozen = fold_frozen(report->graph(), held);
  REQUIRE(frozen.ok());
  all.insert(frozen->values.begin(), frozen->values.end());
  const auto after = evaluate(frozen->graph, all);
  REQUIRE(after.ok());
  return difference_of(after->outputs, before->outputs);
}

TEST_CASE("freezing keeps values on random chains", "[passes][random]") {
  RunnerOptions options;
  const auto names = pipeline_names({{Stage::freezing}, {}, {}}, options);
  REQUIRE(names.ok());
  const std::uint64_t first = number_from("RECUT_RANDOM_SEED", 1);
  const std::uint64_t chains = number_from("RECUT_RANDOM_CHAINS", 150);
  std::map<std::string, int> hits;
  for (std::uint64_t seed = first; seed < first + chains; ++seed) {
    const Graph graph = Chain(seed).write();
    INFO("seed " << seed << "\n" << print(graph));
    REQUIRE(what_freezing_breaks(graph, inputs_of(graph, seed), *names) == "");
    const auto report = run_passes(graph, *names);
    for (const PassReport& pass : report->passes) hits[pass.name] += pass.changed ? 1 : 0;
  }
  for (const char* pass :
       {"conv_bn_folding", "binary_folding", "horizontal_matmul_fusion", "prepacked_weights"}) {
    INFO(pass);
    CHECK((chains < 100 || hits[pass] > 0));
  }
}

}  // namespace
}  // namespace recut::test
