// The optimiser's step in the graph, interpreted, against the same steps written by hand.
#include "engine/autodiff/optimizer.h"

#include <catch2/catch_approx.hpp>
#include <catch2/catch_test_macros.hpp>
#include <cmath>

#include "engine/eval/evaluator.h"
#include "engine/ir/printer.h"
#include "engine/ir/verifier.h"
#include "tests/input/parse.h"

namespace recut {
namespace {

// The loss is sum(w * x), so that the gradient of w is x.
const char* kJoint = R"(graph "line" {
  %w = parameter f64[3]
  %still = parameter f64[2]
  %x = input f64[3]
  %t = tangent f64[]
  %y = mul.Tensor(%w, %x)
  %loss = sum(%y)
  %w_grad = mul.Tensor(%x, %t)
  %x_grad = mul.Tensor(%w, %t)
  results %loss
  gradients %w_grad, none, %x_grad
}
)";

constexpr int kSteps = 4;
using Three = std::array<double, 3>;
constexpr Three kBegin = {0.5, -1.5, 2.0};

// Another gradient in every step.
Three gradient_of(int step) { return {1.0 + step, -0.25 * step, 0.125}; }

Graph step_of(const Optimizer& optimizer) {
  auto step = with_optimizer(parse(kJoint), optimizer);
  if (!step) FAIL(format(step.diagnostics()));
  INFO(print(*step));
  CHECK(verify(*step).empty());
  return std::move(*step);
}

// The parameter after some steps, each the interpreter's, with what goes from one to the next.
Three trained(const Graph& step) {
  Inputs inputs;
  for (const NodeId id : step.inputs()) inputs[id] = allocate(step.type(id), nullptr);
  const auto set = [&](const char* name, const Three& values) {
    Reals reals({3});
    std::copy(values.begin(), values.end(), reals.data.begin());
    pack(reals, inputs.at(step.find(name)));
  };
  set("w", kBegin);
  pack(Reals({}, 1), inputs.at(step.find("t")));
  for (int i = 0; i < kSteps; ++i) {
    set("x", gradient_of(i));
    const auto done = evaluate(step, inputs);
    if (!done) FAIL(format(done.diagnostics()));
    std::size_t place = step.results.size();
    for (const NodeId id : step.inputs()) {
      if (step.input_kind(id) == InputKind::tangent) continue;
      if (done->outputs[place].exists()) inputs[id] = done->outputs[place];
      ++place;
    }
  }
  const Reals w = unpack<double>(inputs.at(step.find("w")));
  return {w[0], w[1], w[2]};
}

void check_equal(const Three& found, const Three& expected) {
  for (std::size_t i = 0; i < 3; ++i)
    CHECK(found[i] == Catch::Approx(expected[i]).epsilon(1e-12).margin(1e-12));
}

Three sgd_by_hand(const Sgd& sgd) {
  Three w = kBegin, momentum = {};
  for (int step = 0; step < kSteps; ++step)
    for (std::size_t i = 0; i < 3; ++i) {
      const double gradient = gradient_of(step)[i] + sgd.weight_decay * w[i];
      momentum[i] = sgd.momentum * momentum[i] + gradient;
      w[i] -= sgd.learning_rate * momentum[i];
    }
  return w;
}

Three adam_by_hand(const Adam& adam) {
  Three w = kBegin, mean = {}, square = {};
  for (int step = 0; step < kSteps; ++step)
    for (std::size_t i = 0; i < 3; ++i) {
      double gradient = gradient_of(step)[i];
      if (adam.decoupled)
        w[i] *= 1 - adam.learning_rate * adam.weight_decay;
      else
        gradient += adam.weight_decay * w[i];
      mean[i] = adam.beta1 * mean[i] + (1 - adam.beta1) * gradient;
      square[i] = adam.beta2 * square[i] + (1 - adam.beta2) * gradient * gradient;
      const double unbiased = mean[i] / (1 - std::pow(adam.beta1, step + 1));
      const double root = std::sqrt(square[i] / (1 - std::pow(adam.beta2, step + 1)));
      w[i] -= adam.learning_rate * unbiased / (root + adam.epsilon);
    }
  return w;
}

TEST_CASE("optimizer: SGD's steps are those by hand", "[autodiff][train]") {
  for (const Sgd& sgd : {Sgd{0.1}, Sgd{0.1, 0.9}, Sgd{0.05, 0.5, 0.01}, Sgd{0.2, 0, 0.3}}) {
    INFO("momentum " << sgd.momentum << ", weight decay " << sgd.weight_decay);
    check_equal(trained(step_of(sgd)), sgd_by_hand(sgd));
  }
}

TEST_CASE("optimizer: Adam's and AdamW's steps are those by hand", "[autodiff][train]") {
  for (const Adam& adam : {Adam{0.1}, Adam{0.01, 0.8, 0.95, 1e-3}, Adam{0.1, 0.9, 0.999, 1e-8, 0.2},
                           Adam{0.1, 0.9, 0.999, 1e-8, 0.2, true}}) {
    INFO("weight decay " << adam.weight_decay << ", decoupled " << adam.decoupled);
    check_equal(trained(step_of(adam)), adam_by_hand(adam));
  }
}

TEST_CASE("optimizer: inputs stay what they were, their new values stand where gradients did",
          "[autodiff][train]") {
  const Graph step = step_of(Adam{});
  std::vector<std::string> names;
  for (const NodeId id : step.inputs()) names.push_back(step.node_name(id));
  CHECK(names ==
        std::vector<std::string>{"w", "still", "x", "t", "w_mean", "w_square", "step_count"});
  CHECK(step.input_kind(step.find("w")) == InputKind::parameter);
  CHECK(step.input_kind(step.find("w_mean")) == InputKind::input);
  CHECK(step.results == std::vector{step.find("loss")});
  CHECK(step.gradients == std::vector{step.find("w_next"), NodeId(), NodeId(),
                                      step.find("w_mean_next"), step.find("w_square_next"),
                                      step.find("step_count_next")});
  CHECK(carried_inputs(step) ==
        std::vector{step.find("w_mean"), step.find("w_square"), step.find("step_count")});
  CHECK_FALSE(step.find("x_grad").valid());
  CHECK(parse(print(step)).order().size() == step.order().size());
}

TEST_CASE("optimizer: buffers go from step to step, too", "[autodiff][train]") {
  const Graph joint = parse(R"(graph "buffers" {
  %w = parameter f32[4]
  %running = input f32[4]
  %seen = input i64[]
  %x = input f32[2, 4]
  %t = tangent f32[]
  %mean = mean.dim(%x, [0])
  %new_part = mul.Tensor(%mean, 0.1)
  %old_part = mul.Tensor(%running, 0.9)
  %running_next = add.Tensor(%new_part, %old_part)
  %seen_next = add.Tensor(%seen, 1)
  %y = mul.Tensor(%w, %mean)
  %loss = sum(%y)
  %w_grad = mul.Tensor(%mean, %t)
  results %running_next, %seen_next, %loss
  gradients %w_grad, none, none, none
}
)");
  const auto step = with_optimizer(joint, Sgd{});
  REQUIRE(step.ok());
  CHECK(verify(*step).empty());
  CHECK(step->results == std::vector{step->find("loss")});
  CHECK(step->gradients == std::vector{step->find("w_next"), step->find("running_next"),
                                       step->find("seen_next"), NodeId()});
  CHECK(carried_inputs(*step) == std::vector{step->find("running"), step->find("seen")});
}

TEST_CASE("optimizer: half precision and numbers without dimensions keep their types",
          "[autodiff][train]") {
  const Graph joint = parse(R"(graph "halves" {
  %w = parameter bf16[4]
  %s = parameter f32[]
  %x = input bf16[4]
  %t = tangent f32[]
  %loss = mul.Tensor(%s, %s)
  %s_grad = mul.Tensor(%s, %t)
  results %loss
  gradients %x, %s_grad, none
}
)");
  const auto step = with_optimizer(joint, Adam{});
  REQUIRE(step.ok());
  CHECK(verify(*step).empty());
  for (std::size_t i = 0; i < 2; ++i)
    CHECK(step->type(step->gradients[i]).dtype == step->type(step->inputs()[i]).dtype);
}

TEST_CASE("optimizer: without a gradient there is nothing to train", "[autodiff][train]") {
  const auto step = with_optimizer(parse(R"(graph "none" {
  %x = input f32[3]
  %t = tangent f32[3]
  %y = relu(%x)
  results %y
  gradients %t
}
)"),
                                   Sgd{});
  REQUIRE_FALSE(step.ok());
  CHECK(format(step.diagnostics()).find("no parameter has a gradient") != std::string::npos);
}

}  // namespace
}  // namespace recut
