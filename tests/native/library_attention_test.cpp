// Attention by oneDNN (native/cpu/onednn_attention.cpp): the calls that it takes, and their values
// beside the interpreter's.
#include <fmt/core.h>

#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <nlohmann/json.hpp>
#include <span>

#include "engine/input/safetensors.h"
#include "tests/codegen/attention_graph.h"
#include "tests/native/run_command.h"

namespace recut {
namespace {

using Json = nlohmann::json;
using native::Ran;
using test::AttentionGraph;
using test::ScoreMask;

// Runs a graph beside the interpreter. True if oneDNN computed %a.
bool is_taken(const std::string& text, std::vector<std::string> options = {}) {
  const native::TemporaryFile file("attention.recut");
  file.write(text);
  options.insert(options.begin(),
                 {"run", file.path(), "--check", "--json", "--steps", "2", "--no-cache"});
  const Ran ran = native::run(options);
  INFO(text << ran.err << ran.out);
  REQUIRE(ran.code == native::kDone);
  const Json report = Json::parse(ran.out);
  for (const Json& kernel : report["slowest"])
    if (kernel["name"] == "a") return kernel["library"];
  FAIL("no kernel computes %a");
  return false;
}

// The forward call alone, without its statistics.
std::string forward(const std::string& query, const std::string& key, const std::string& value,
                    const std::string& out, const std::string& options) {
  return fmt::format(
      "graph \"forward\" {{\n  %q = input {}\n  %k = input {}\n  %v = input {}\n"
      "  %a = scaled_dot_product_attention(%q, %k, %v{}) : {}\n  results %a\n}}\n",
      query, key, value, options, out);
}

AttentionGraph plain() {
  AttentionGraph form;
  form.queries = 40;
  form.keys = 56;
  form.features = 24;
  form.value_features = 16;
  form.batches = 2;
  form.heads = 4;
  form.key_heads = 4;
  return form;
}

TEST_CASE("library: attention with its statistics", "[native][cpu][library]") {
  AttentionGraph form = plain();
  CHECK(is_taken(form.text()));
  CHECK(is_taken(form.text(), {"--threads", "3"}));
  form.transposed = true;
  CHECK(is_taken(form.text()));
  form.causal = true;
  CHECK(is_taken(form.text()));
  form.transposed = false;
  form.key_heads = 2;  // grouped queries
  CHECK(is_taken(form.text()));
}

TEST_CASE("library: attention in blocks of queries", "[native][cpu][library]") {
  AttentionGraph form = plain();
  form.batches = form.heads = form.key_heads = 1;
  form.keys = 1500;    // 43 queries at once
  form.queries = 101;  // 34, 34, 33
  CHECK(is_taken(form.text(), {"--threads", "2"}));
  form.causal = true;
  CHECK(is_taken(form.text(), {"--threads", "2"}));
  std::swap(form.queries, form.keys);
  CHECK(is_taken(form.text(), {"--threads", "2"}));
}

TEST_CASE("library: attention with masks, broadcast or not", "[native][cpu][library]") {
  AttentionGraph form = plain();
  for (const char* shape : {"{queries}, {keys}", "{batches}, 1, 1, {keys}",
                            "{batches}, {heads}, {queries}, 1", "{heads}, {queries}, {keys}"})
    for (const ScoreMask mask : {ScoreMask::additive, ScoreMask::boolean}) {
      form.mask_shape = shape;
      form.mask = mask;
      CHECK(is_taken(form.text()));
    }
  // The mask's keys don't lie side by side.
  CHECK(
      is_taken("graph \"columns\" {\n  %q = input f32[1, 2, 20, 8]\n  %k = input f32[1, 2, 30, 8]\n"
               "  %m = input f32[30, 20]\n  %mt = permute(%m, [1, 0])\n"
               "  %a = scaled_dot_product_attention(%q, %k, %k, %mt)\n  results %a\n}\n"));
}

// A row without visible keys has zeros, and the logsumexp -inf.
TEST_CASE("library: attention of fully masked rows", "[native][cpu][library]") {
  AttentionGraph form = plain();
  const auto rows = static_cast<std::size_t>(form.queries),
             keys = static_cast<std::size_t>(form.keys);
  const auto given = [&](DType dtype, const std::string& bytes) {
    const NamedTensor mask{"in.m", dtype, {1, 1, form.queries, form.keys}, bytes};
    const native::TemporaryFile file("mask.safetensors");
    file.write(write_safetensors(std::span(&mask, 1)));
    return is_taken(form.text(), {"--tensors", file.path()});
  };
  std::string bools(rows * keys, '\1');
  std::vector<float> reals(rows * keys, 0.5F);
  for (const std::size_t row : {std::size_t{0}, std::size_t{17}, rows - 1}) {
    std::fill_n(bools.begin() + static_cast<std::ptrdiff_t>(row * keys), keys, '\0');
    std::fill_n(reals.begin() + static_cast<std::ptrdiff_t>(row * keys), keys, -HUGE_VALF);
  }
  form.mask = ScoreMask::boolean;
  CHECK(given(DType::boolean, bools));
  form.mask = ScoreMask::additive;
  CHECK(given(DType::f32, {reinterpret_cast<const char*>(reals.data()), 4 * reals.size()}));
}

TEST_CASE("library: attention that stays with the loops", "[native][cpu][library]") {
  const std::string q = "f32[1, 2, 40, 16]";
  CHECK(is_taken(forward(q, q, q, q, "")));
  CHECK_FALSE(is_taken(forward(q, q, q, q, ""), {"--no-library"}));
  const std::string few = "f32[1, 2, 4, 16]";
  CHECK_FALSE(is_taken(forward(few, q, q, few, "")));
  const std::string halves = "bf16[1, 2, 40, 16]";
  CHECK_FALSE(is_taken(forward(halves, halves, halves, halves, "")));
  const std::string three = "f32[2, 40, 16]";
  CHECK_FALSE(is_taken(forward(three, three, three, three, "")));
}

}  // namespace
}  // namespace recut
