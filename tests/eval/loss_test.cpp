#include <catch2/catch_test_macros.hpp>

#include "tests/eval/gradients.h"

namespace recut::test {
namespace {

TEST_CASE("losses by element, mean and sum", "[eval]") {
  OneCall c;
  const Argument x = c.tensor(f64, {2}, {1, 4});
  const Argument t = c.tensor(f64, {2}, {0.5, 1});
  const auto loss = [&](const char* name, int reduction, Named more = {}) {
    more.emplace_back("self", x);
    more.emplace_back("target", t);
    more.emplace_back("reduction", reduction);
    return c.run(name, more);
  };
  CHECK(loss("mse_loss", 0) == List{0.25, 9});
  CHECK(loss("mse_loss", 1) == List{4.625});
  CHECK(loss("mse_loss", 2) == List{9.25});
  CHECK(loss("l1_loss", 0) == List{0.5, 3});
  CHECK(loss("smooth_l1_loss", 0, {{"beta", 2.0}}) == List{0.0625, 2});
  CHECK(loss("smooth_l1_loss", 0, {{"beta", 0.0}}) == List{0.5, 3});
  CHECK(loss("huber_loss", 0, {{"delta", 2.0}}) == List{0.125, 4});
  CHECK(close(loss("kl_div", 2), {0.5 * (std::log(0.5) - 1) - 4}));
  const Argument p = c.tensor(f64, {3}, {0.5, 0, 1});
  const Argument y = c.tensor(f64, {3}, {1, 1, 1});
  CHECK(close(c.run("binary_cross_entropy", {{"self", p}, {"target", y}, {"reduction", 0}}),
              {std::log(2.0), 100, -0.0}));
  CHECK(close(c.run("binary_cross_entropy_with_logits", {{"self", c.tensor(f64, {2}, {0, -800})},
                                                         {"target", c.tensor(f64, {2}, {1, 1})},
                                                         {"reduction", 0}}),
              {std::log(2.0), 800}));
}

TEST_CASE("gradients of losses", "[eval]") {
  const List x = noise(6);
  const List t = noise(6, 1);
  const std::pair<const char*, Named> kLosses[] = {{"mse_loss", {}},
                                                   {"smooth_l1_loss", {{"beta", 0.7}}},
                                                   {"huber_loss", {{"delta", 0.7}}},
                                                   {"soft_margin_loss", {}}};
  for (const auto& [name, more] : kLosses)
    for (const int reduction : {0, 1, 2}) {
      INFO(name << " reduction " << reduction);
      const List grad = noise(reduction == 0 ? 6 : 1, 2);
      Named common = more;
      common.emplace_back("reduction", reduction);
      const auto f = [&, loss = std::string(name)](const List& at) {
        OneCall c;
        Named named = common;
        named.emplace_back("self", c.tensor(f64, {2, 3}, at));
        named.emplace_back("target", c.tensor(f64, {2, 3}, t));
        return c.run(loss, named);
      };
      OneCall c;
      Named named = common;
      named.emplace_back("self", c.tensor(f64, {2, 3}, x));
      named.emplace_back("target", c.tensor(f64, {2, 3}, t));
      named.emplace_back("grad_output",
                         c.tensor(f64, reduction == 0 ? Shape{2, 3} : Shape{}, grad));
      CHECK(near(c.run(std::string(name) + "_backward", named), numeric_gradient(f, x, grad)));
    }
}

TEST_CASE("a class's loss, weights and ignored targets", "[eval]") {
  OneCall c;
  const Named named{{"self", c.tensor(f64, {3, 2}, {-1, -2, -3, -4, -5, -6})},
                    {"target", c.tensor(i64, {3}, {1, -100, 0})},
                    {"weight", c.tensor(f64, {2}, {0.5, 3})},
                    {"reduction", 1},
                    {"ignore_index", -100}};
  CHECK(c.run("nll_loss_forward", named) == List{(2 * 3 + 5 * 0.5) / 3.5});
  CHECK(c.run("nll_loss_forward", named, 1) == List{3.5});
  Named backward = named;
  backward.emplace_back("grad_output", c.tensor(f64, {}, {7}));
  backward.emplace_back("total_weight", c.tensor(f64, {}, {3.5}));
  CHECK(c.run("nll_loss_backward", backward) == List{0, -6, 0, 0, -1, 0});
  CHECK(close(c.run("cross_entropy_loss", {{"self", c.tensor(f64, {1, 2}, {0, 0})},
                                           {"target", c.tensor(i64, {1}, {1})},
                                           {"label_smoothing", 0.5}}),
              {std::log(2.0)}));
}

TEST_CASE("a target that is no class is the data's fault", "[eval]") {
  OneCall c;
  const auto call = c.builder.call(
      "nll_loss", {{"self", c.tensor(f64, {1, 2}, {0, 0})}, {"target", c.tensor(i64, {1}, {2})}});
  REQUIRE(call.ok());
  CHECK(c.error_text(*call).find("target 2 is no class of 2") != std::string::npos);
}

TEST_CASE("margins between classes", "[eval]") {
  OneCall c;
  const Argument x = c.tensor(f64, {1, 3}, {0.2, 0.5, 0.9});
  const Argument t = c.tensor(i64, {1}, {1});
  CHECK(close(c.run("multi_margin_loss", {{"self", x}, {"target", t}}), {(0.7 + 1.4) / 3}));
  CHECK(close(c.run("multi_margin_loss_backward", {{"grad_output", c.tensor(f64, {}, {3})},
                                                   {"self", x},
                                                   {"target", t},
                                                   {"p", 1},
                                                   {"margin", 1}}),
              {1, -2, 1}));
  const Argument labels = c.tensor(i64, {1, 3}, {2, -1, 0});
  CHECK(close(
      c.run("multilabel_margin_loss_forward", {{"self", x}, {"target", labels}, {"reduction", 1}}),
      {(0.3 + 0.6) / 3}));
  CHECK(c.run("multilabel_margin_loss_forward", {{"self", x}, {"target", labels}, {"reduction", 1}},
              1) == List{0, 0, 1});
}

TEST_CASE("gates and similarities", "[eval]") {
  OneCall c;
  const Argument x = c.tensor(f64, {2, 2}, {3, 0, 4, 0});
  CHECK(c.run("glu", {{"self", x}, {"dim", -1}}) == List{1.5, 2});
  CHECK(close(c.run("glu", {{"self", x}, {"dim", 0}}), {3 / (1 + std::exp(-4.0)), 0.0}));
  CHECK(c.run("prelu", {{"self", c.tensor(f64, {1, 2}, {-2, -2})},
                        {"weight", c.tensor(f64, {2}, {0.5, 2})}}) == List{-1, -4});
  const Argument y = c.tensor(f64, {2, 2}, {3, 4, 0, 0});
  CHECK(close(c.run("cosine_similarity", {{"x1", x}, {"x2", y}, {"dim", 1}}), {0.6, 0.0}));
}

}  // namespace
}  // namespace recut::test
