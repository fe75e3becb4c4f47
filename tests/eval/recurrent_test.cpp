#include <catch2/catch_test_macros.hpp>

#include "tests/eval/gradients.h"

namespace recut::test {
namespace {

constexpr std::int64_t kRows = 2;
constexpr std::int64_t kRecurrentFeatures = 3;

double sigmoid(double x) { return 1 / (1 + std::exp(-x)); }

// One step of a cell with gates, a state and biases by noise; `gates` can be moved.
struct Cell {
  const char* name;
  const char* state;
  std::int64_t gates;

  Named arguments(OneCall& c, const List& input) const {
    const std::int64_t width = gates * kRecurrentFeatures;
    return {
        {"input_gates", c.tensor(f64, {kRows, width}, input)},
        {"hidden_gates", c.tensor(f64, {kRows, width}, noise(kRows * width, 1))},
        {state, c.tensor(f64, {kRows, kRecurrentFeatures}, noise(kRows * kRecurrentFeatures, 2))},
        {"input_bias", c.tensor(f64, {width}, noise(width, 3))},
        {"hidden_bias", c.tensor(f64, {width}, noise(width, 4))}};
  }
  List run(const List& input, int output) const {
    OneCall c;
    return c.run(name, arguments(c, input), output);
  }
};

constexpr Cell kLstm{"_thnn_fused_lstm_cell", "cx", 4};
constexpr Cell kGru{"_thnn_fused_gru_cell", "hx", 3};

TEST_CASE("an LSTM cell is its formulas", "[eval]") {
  OneCall c;
  // One row, one feature, no biases: gates input, forget, cell, output.
  const Named named{{"input_gates", c.tensor(f64, {1, 4}, {0.5, -1, 2, 0.25})},
                    {"hidden_gates", c.tensor(f64, {1, 4}, {0.5, 1, -1, 0.25})},
                    {"cx", c.tensor(f64, {1, 1}, {3})}};
  const double cell = sigmoid(0) * 3 + sigmoid(1) * std::tanh(1);
  CHECK(close(c.run("_thnn_fused_lstm_cell", named, 1), {cell}, 1e-14));
  CHECK(close(c.run("_thnn_fused_lstm_cell", named, 0), {sigmoid(0.5) * std::tanh(cell)}, 1e-14));
  CHECK(close(c.run("_thnn_fused_lstm_cell", named, 2),
              {sigmoid(1), sigmoid(0), std::tanh(1), sigmoid(0.5)}, 1e-14));
}

TEST_CASE("gradients of an LSTM cell", "[eval]") {
  const List input = noise(kRows * 4 * kRecurrentFeatures);
  const List grad_hy = noise(kRows * kRecurrentFeatures, 5);
  const List grad_cy = noise(kRows * kRecurrentFeatures, 6);
  OneCall c;
  const Shape state{kRows, kRecurrentFeatures};
  const Named named{
      {"grad_hy", c.tensor(f64, state, grad_hy)},
      {"grad_cy", c.tensor(f64, state, grad_cy)},
      {"cx", c.tensor(f64, state, noise(kRows * kRecurrentFeatures, 2))},
      {"cy", c.tensor(f64, state, kLstm.run(input, 1))},
      {"workspace", c.tensor(f64, {kRows, 4 * kRecurrentFeatures}, kLstm.run(input, 2))},
      {"has_bias", true}};
  List expected = numeric_gradient([](const List& x) { return kLstm.run(x, 0); }, input, grad_hy);
  const List by_cell =
      numeric_gradient([](const List& x) { return kLstm.run(x, 1); }, input, grad_cy);
  for (std::size_t i = 0; i < expected.size(); ++i) expected[i] += by_cell[i];
  const List found = c.run("_thnn_fused_lstm_cell_backward_impl", named, 0);
  CHECK(near(found, expected));
  // A bias is added to every row.
  List sums(4 * kRecurrentFeatures, 0.0);
  for (std::size_t i = 0; i < found.size(); ++i) sums[i % sums.size()] += found[i];
  CHECK(near(c.run("_thnn_fused_lstm_cell_backward_impl", named, 2), sums));
}

TEST_CASE("a GRU cell and its gradients", "[eval]") {
  OneCall c;
  const Named step{{"input_gates", c.tensor(f64, {1, 3}, {1, -1, 0.5})},
                   {"hidden_gates", c.tensor(f64, {1, 3}, {0.5, 1, 2})},
                   {"hx", c.tensor(f64, {1, 1}, {4})}};
  const double fresh = std::tanh(0.5 + sigmoid(1.5) * 2);
  CHECK(close(c.run("_thnn_fused_gru_cell", step), {fresh + 0.5 * (4 - fresh)}, 1e-14));

  const List input = noise(kRows * 3 * kRecurrentFeatures);
  const List grad = noise(kRows * kRecurrentFeatures, 5);
  const Named named{
      {"grad_hy", c.tensor(f64, {kRows, kRecurrentFeatures}, grad)},
      {"workspace", c.tensor(f64, {kRows, 5 * kRecurrentFeatures}, kGru.run(input, 1))},
      {"has_bias", true}};
  CHECK(near(c.run("_thnn_fused_gru_cell_backward", named, 0),
             numeric_gradient([](const List& x) { return kGru.run(x, 0); }, input, grad)));
}

}  // namespace
}  // namespace recut::test
