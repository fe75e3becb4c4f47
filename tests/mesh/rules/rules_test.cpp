#include <catch2/catch_test_macros.hpp>

#include "engine/input/text.h"
#include "tests/mesh/rules/valued_graph.h"

using namespace recut;
using namespace recut::mesh;
using namespace recut::test;

namespace {

std::string rule_of_call(std::string_view text, std::string_view node) {
  const auto graph = parse_graph_text(text, "test");
  REQUIRE(graph.ok());
  return format(sharding_rule(*graph, graph->find(node)));
}

// Every strategy of every call is right for even and uneven shards.
void prove(std::string_view text) {
  const ValuedGraph graph = valued(text);
  for (const std::int64_t ranks : {2, 3}) {
    const RuleReport report = check_rules(graph, ranks);
    CHECK(report.problems == "");
    CHECK(report.tried > 1);
  }
}

}  // namespace

TEST_CASE("rules: a product has six strategies an axis", "[mesh][rules]") {
  const auto graph = parse_graph_text(R"(graph "g" {
    %x = input f32[4, 6]
    %w = input f32[6, 8]
    %y = mm(%x, %w)
    results %y
  })",
                                      "test");
  REQUIRE(graph.ok());
  CHECK(strategies_of(*graph, "y", 2) ==
        "R, R -> R\n"
        "S(0), R -> S(0)\n"
        "S(1), S(0) -> P(sum)\n"
        "R, S(1) -> S(1)\n"
        "P(sum), R -> P(sum)\n"
        "R, P(sum) -> P(sum)\n");
}

TEST_CASE("rules: a row of the table is written with factors", "[mesh][rules]") {
  CHECK(rule_of_call(R"(graph "g" {
    %q = input f32[2, 4, 6, 8]
    %k = input f32[2, 4, 5, 8]
    %v = input f32[2, 4, 5, 8]
    %y = scaled_dot_product_attention(%q, %k, %v)
    results %y
  })",
                     "y") == "d0 d1 i x, d0 d1 j x, d0 d1 j y -> d0 d1 i y; x: whole; j: merge");
  CHECK(rule_of_call(R"(graph "g" {
    %x = input f32[2, 8, 6, 6]
    %w = input f32[12, 2, 3, 3]
    %y = convolution(%x, %w, none, [1, 1], [0, 0], [1, 1], false, [0, 0], 4)
    results %y
  })",
                     "y") == "n g. * *, g. * * * -> n g. * *");
}

TEST_CASE("rules: products", "[mesh][rules]") {
  prove(R"(graph "g" {
    %x = input f32[5, 6]
    %w = input f32[6, 8]
    %b = input f32[8]
    %c = input f32[4, 5, 6]
    %d = input f32[4, 6, 3]
    %f = input f32[4, 1, 3]
    %u = input f32[8, 6]
    %y = addmm(%b, %x, %w)
    %z = addmm(%b, %x, %w, beta=0.5, alpha=2)
    %e = bmm(%c, %d)
    %h = baddbmm(%f, %c, %d)
    %i = linear(%c, %u, %b)
    %j = matmul(%c, %w)
    results %y, %z, %e, %h, %i, %j
  })");
}

TEST_CASE("rules: convolutions and their gradients", "[mesh][rules]") {
  prove(R"(graph "g" {
    %x = input f32[3, 4, 6, 6]
    %w = input f32[6, 4, 3, 3]
    %b = input f32[6]
    %v = input f32[6, 2, 3, 3]
    %t = input f32[4, 6, 3, 3]
    %y = convolution(%x, %w, %b, [1, 1], [1, 1], [1, 1], false, [0, 0], 1)
    %z = convolution(%x, %v, %b, [1, 1], [1, 1], [1, 1], false, [0, 0], 2)
    %o = convolution(%x, %t, %b, [2, 2], [1, 1], [1, 1], true, [0, 0], 1)
    %g = convolution_backward(%y, %x, %w, [6], [1, 1], [1, 1], [1, 1], false, [0, 0], 1, [true, true, true])
    %g0 = getitem(%g, 0)
    %g1 = getitem(%g, 1)
    %g2 = getitem(%g, 2)
    %h = convolution_backward(%z, %x, %v, [6], [1, 1], [1, 1], [1, 1], false, [0, 0], 2, [true, true, true])
    %h0 = getitem(%h, 0)
    %h1 = getitem(%h, 1)
    %h2 = getitem(%h, 2)
    results %y, %z, %o, %g0, %g1, %g2, %h0, %h1, %h2
  })");
}

TEST_CASE("rules: normalisation and its gradients", "[mesh][rules]") {
  prove(R"(graph "g" {
    %x = input f32[5, 4, 6]
    %w = input f32[6]
    %b = input f32[6]
    %l = native_layer_norm(%x, [6], %w, %b, 1e-5)
    %l0 = getitem(%l, 0)
    %l1 = getitem(%l, 1)
    %l2 = getitem(%l, 2)
    %k = native_layer_norm_backward(%x, %x, [6], %l1, %l2, %w, %b, [true, true, true])
    %k0 = getitem(%k, 0)
    %k1 = getitem(%k, 1)
    %k2 = getitem(%k, 2)
    %v = input f32[4]
    %g = native_group_norm(%x, %v, %v, 5, 4, 6, 2, 1e-5)
    %g0 = getitem(%g, 0)
    %g1 = getitem(%g, 1)
    %g2 = getitem(%g, 2)
    %h = native_group_norm_backward(%x, %x, %g1, %g2, %v, 5, 4, 6, 2, [true, true, true])
    %h0 = getitem(%h, 0)
    %h1 = getitem(%h, 1)
    %h2 = getitem(%h, 2)
    %n = _native_batch_norm_legit.no_stats(%x, %v, %v, true, 0.1, 1e-5)
    %n0 = getitem(%n, 0)
    %n1 = getitem(%n, 1)
    %n2 = getitem(%n, 2)
    %m = native_batch_norm_backward(%x, %x, %v, none, none, %n1, %n2, true, 1e-5, [true, true, true])
    %m0 = getitem(%m, 0)
    %m1 = getitem(%m, 1)
    %m2 = getitem(%m, 2)
    results %k0, %k1, %k2, %h0, %h1, %h2, %l0, %g0, %m0, %m1, %m2, %n0
  })");
}

TEST_CASE("rules: attention and its gradients", "[mesh][rules]") {
  prove(R"(graph "g" {
    %q = input f32[3, 4, 5, 8]
    %k = input f32[3, 4, 6, 8]
    %v = input f32[3, 4, 6, 8]
    %a = _scaled_dot_product_flash_attention_for_cpu(%q, %k, %v)
    %o = getitem(%a, 0)
    %s = getitem(%a, 1)
    %g = _scaled_dot_product_flash_attention_for_cpu_backward(%q, %q, %k, %v, %o, %s, 0.0, false)
    %g0 = getitem(%g, 0)
    %g1 = getitem(%g, 1)
    %g2 = getitem(%g, 2)
    %e = _scaled_dot_product_efficient_attention(%q, %k, %v, none, true)
    %e0 = getitem(%e, 0)
    %e1 = getitem(%e, 1)
    %e2 = getitem(%e, 2)
    %e3 = getitem(%e, 3)
    %h = _scaled_dot_product_efficient_attention_backward(%q, %q, %k, %v, none, %e0, %e1, %e2, %e3, 0.0, [true, true, true, false])
    %h0 = getitem(%h, 0)
    %h1 = getitem(%h, 1)
    %h2 = getitem(%h, 2)
    %p = scaled_dot_product_attention(%q, %k, %v)
    results %g0, %g1, %g2, %h0, %h1, %h2, %p
  })");
}

TEST_CASE("rules: losses, indexing and movement", "[mesh][rules]") {
  prove(R"(graph "g" {
    %x = input f32[6, 4]
    %t = input i64[6]
    %i = input i64[6, 2]
    %l = nll_loss_forward(%x, %t, none, 2, -100)
    %l0 = getitem(%l, 0)
    %l1 = getitem(%l, 1)
    %m = nll_loss_backward(%l0, %x, %t, none, 2, -100, %l1)
    %g = gather(%x, 1, %i)
    %h = scatter_add(%x, 1, %i, %g)
    %s = index_select(%x, 0, %t)
    %a = index_add(%x, 0, %t, %s)
    %p = index.Tensor(%x, [none, %t])
    %q = index_put(%x, [%t], %s, true)
    %c = cat([%x, %s], 0)
    %d = stack([%x, %s], 1)
    %e = slice.Tensor(%x, 1, 1, 3)
    %f = constant_pad_nd(%x, [1, 1])
    %j = slice_backward(%e, [6, 4], 1, 1, 3, 1)
    %k = select.int(%x, 1, 2)
    %n = select_backward(%k, [6, 4], 1, 2)
    %o = cumsum(%x, 1)
    %r = unsqueeze(%x, 1)
    %u = expand(%r, [6, 3, 4])
    %v = permute(%u, [2, 0, 1])
    %w = _softmax(%x, 1, false)
    %y = flip(%x, [1])
    results %m, %h, %a, %p, %q, %c, %d, %f, %j, %n, %o, %v, %w, %y
  })");
}
