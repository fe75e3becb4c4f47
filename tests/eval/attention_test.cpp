#include <catch2/catch_test_macros.hpp>

#include "tests/eval/gradients.h"

namespace recut::test {
namespace {

constexpr std::int64_t kHeads = 2;
constexpr std::int64_t kQueries = 5;
constexpr std::int64_t kKeys = 5;
constexpr std::int64_t kAttentionFeatures = 3;

struct Sample {
  List query = noise(kHeads * kQueries * kAttentionFeatures);
  List key = noise(kHeads * kKeys * kAttentionFeatures, 1);
  List value = noise(kHeads * kKeys * kAttentionFeatures, 2);
  List bias = noise(kQueries * kKeys, 3);

  Named arguments(OneCall& c) const {
    return {{"query", c.tensor(f64, {1, kHeads, kQueries, kAttentionFeatures}, query)},
            {"key", c.tensor(f64, {1, kHeads, kKeys, kAttentionFeatures}, key)},
            {"value", c.tensor(f64, {1, kHeads, kKeys, kAttentionFeatures}, value)}};
  }
};

// Softmax of scaled scores times values, written out.
List composed(const Sample& s, double scale, bool causal, bool with_bias) {
  List out;
  for (std::int64_t h = 0; h < kHeads; ++h)
    for (std::int64_t i = 0; i < kQueries; ++i) {
      List weights;
      double total = 0;
      for (std::int64_t j = 0; j < kKeys; ++j) {
        double score = 0;
        for (std::int64_t k = 0; k < kAttentionFeatures; ++k)
          score += s.query[static_cast<std::size_t>((h * kQueries + i) * kAttentionFeatures + k)] *
                   s.key[static_cast<std::size_t>((h * kKeys + j) * kAttentionFeatures + k)];
        score *= scale;
        if (with_bias) score += s.bias[static_cast<std::size_t>(i * kKeys + j)];
        weights.push_back(causal && j > i ? 0 : std::exp(score));
        total += weights.back();
      }
      for (std::int64_t k = 0; k < kAttentionFeatures; ++k) {
        double sum = 0;
        for (std::int64_t j = 0; j < kKeys; ++j)
          sum += weights[static_cast<std::size_t>(j)] / total *
                 s.value[static_cast<std::size_t>((h * kKeys + j) * kAttentionFeatures + k)];
        out.push_back(sum);
      }
    }
  return out;
}

TEST_CASE("fused attention is softmax of scores times values", "[eval]") {
  const Sample s;
  OneCall c;
  Named plain = s.arguments(c);
  plain.emplace_back("is_causal", true);
  const double scale = 1 / std::sqrt(3.0);
  CHECK(close(c.run("_scaled_dot_product_flash_attention", plain), composed(s, scale, true, false),
              1e-12));
  CHECK(
      close(c.run("scaled_dot_product_attention", plain), composed(s, scale, true, false), 1e-12));
  Named biased = s.arguments(c);
  biased.emplace_back("attn_bias", c.tensor(f64, {1, 1, kQueries, kKeys}, s.bias));
  biased.emplace_back("compute_log_sumexp", true);
  biased.emplace_back("scale", 0.25);
  CHECK(close(c.run("_scaled_dot_product_efficient_attention", biased),
              composed(s, 0.25, false, true), 1e-12));
  CHECK(c.run("_scaled_dot_product_efficient_attention", biased, 1).size() == kHeads * 32);
}

TEST_CASE("a row that sees no key gives zeros", "[eval]") {
  OneCall c;
  const Argument one = c.tensor(f64, {1, 1, 1, 1}, {2});
  const Argument hidden = c.tensor(DType::boolean, {1, 1}, {0});
  CHECK(c.run("scaled_dot_product_attention",
              {{"query", one}, {"key", one}, {"value", one}, {"attn_mask", hidden}}) == List{0});
}

TEST_CASE("heads of queries share heads of keys", "[eval]") {
  OneCall c;
  const Argument query = c.tensor(f64, {1, 4, 1, 1}, {1, 1, 1, 1});
  const Argument key = c.tensor(f64, {1, 2, 1, 1}, {1, 1});
  const Argument value = c.tensor(f64, {1, 2, 1, 1}, {10, 20});
  CHECK(c.run("scaled_dot_product_attention",
              {{"query", query}, {"key", key}, {"value", value}, {"enable_gqa", true}}) ==
        List{10, 10, 20, 20});
}

TEST_CASE("gradients of attention", "[eval]") {
  const Sample s;
  const List grad = noise(kHeads * kQueries * kAttentionFeatures, 4);
  const auto forward = [](const Sample& at, int output) {
    OneCall c;
    Named named = at.arguments(c);
    named.emplace_back("attn_bias", c.tensor(f64, {kQueries, kKeys}, at.bias));
    named.emplace_back("compute_log_sumexp", true);
    named.emplace_back("is_causal", true);
    return c.run("_scaled_dot_product_efficient_attention", named, output);
  };
  OneCall c;
  Named named = s.arguments(c);
  named.emplace_back("attn_bias", c.tensor(f64, {kQueries, kKeys}, s.bias));
  named.emplace_back("grad_out_", c.tensor(f64, {1, kHeads, kQueries, kAttentionFeatures}, grad));
  named.emplace_back("out",
                     c.tensor(f64, {1, kHeads, kQueries, kAttentionFeatures}, forward(s, 0)));
  named.emplace_back("logsumexp", c.tensor(f64, {1, kHeads, 32}, forward(s, 1)));
  named.emplace_back("philox_seed", c.tensor(DType::i64, {}, {0}));
  named.emplace_back("philox_offset", c.tensor(DType::i64, {}, {0}));
  named.emplace_back("dropout_p", 0.0);
  named.emplace_back("is_causal", true);
  named.emplace_back("grad_input_mask", flags({true, true, true, true}));
  List Sample::*const parts[] = {&Sample::query, &Sample::key, &Sample::value, &Sample::bias};
  for (int i = 0; i < 4; ++i) {
    INFO("gradient " << i);
    const auto f = [&](const List& x) {
      Sample moved = s;
      moved.*parts[i] = x;
      return forward(moved, 0);
    };
    // The logarithms of sums are stored in single precision: so many digits come back.
    CHECK(near(c.run("_scaled_dot_product_efficient_attention_backward", named, i),
               numeric_gradient(f, s.*parts[i], grad), 2e-6));
  }
}

// Which scores dropout keeps: two of three.
List kept() {
  List keep(kHeads * kQueries * kKeys, 1);
  for (std::size_t i = 0; i < keep.size(); i += 3) keep[i] = 0;
  return keep;
}

TEST_CASE("gradients of attention with dropout by a mask", "[eval]") {
  const Sample s;
  const List grad = noise(kHeads * kQueries * kAttentionFeatures, 4);
  const auto named_for = [](OneCall& c, const Sample& at) {
    Named named = at.arguments(c);
    named.emplace_back("attn_bias", c.tensor(f64, {kQueries, kKeys}, at.bias));
    named.emplace_back("keep", c.tensor(DType::boolean, {1, kHeads, kQueries, kKeys}, kept()));
    named.emplace_back("keep_scale", 1.5);
    return named;
  };
  const auto forward = [&](const Sample& at, int output) {
    OneCall c;
    return c.run("recut.scaled_dot_product_kept_attention", named_for(c, at), output);
  };
  OneCall c;
  Named named = named_for(c, s);
  named.emplace_back("grad_out", c.tensor(f64, {1, kHeads, kQueries, kAttentionFeatures}, grad));
  named.emplace_back("out",
                     c.tensor(f64, {1, kHeads, kQueries, kAttentionFeatures}, forward(s, 0)));
  named.emplace_back("logsumexp", c.tensor(f64, {1, kHeads, kQueries}, forward(s, 1)));
  List Sample::*const parts[] = {&Sample::query, &Sample::key, &Sample::value};
  for (int i = 0; i < 3; ++i) {
    INFO("gradient " << i);
    const auto f = [&](const List& x) {
      Sample moved = s;
      moved.*parts[i] = x;
      return forward(moved, 0);
    };
    CHECK(near(c.run("recut.scaled_dot_product_kept_attention_backward", named, i),
               numeric_gradient(f, s.*parts[i], grad), 2e-6));
  }
}

TEST_CASE("attention with dropout is refused by name", "[eval]") {
  OneCall c;
  Named named = Sample().arguments(c);
  named.emplace_back("dropout_p", 0.1);
  const auto call = c.builder.call("_scaled_dot_product_flash_attention", named);
  REQUIRE(call.ok());
  CHECK(c.error_text(*call).find("_scaled_dot_product_flash_attention with dropout") !=
        std::string::npos);
}

}  // namespace
}  // namespace recut::test
