// Products of 8-bit reals with scales, as loop kernels and as machine code.
#include <fmt/core.h>

#include <catch2/catch_test_macros.hpp>
#include <string>
#include <vector>

#include "engine/eval/inputs.h"
#include "engine/ir/printer.h"
#include "tests/codegen/agreement.h"
#include "tests/codegen/given_inputs.h"
#include "tests/effort.h"
#include "tests/random/same_meaning.h"

namespace recut::test {
namespace {

// [37, 16] by [16, 24], with these scales; `more` are the other arguments and `result` the dtype.
Graph scaled_graph(const std::string& format, const std::string& scale_a,
                   const std::string& scale_b, const std::string& more, const std::string& result) {
  return graph_of(fmt::format(
      "  %x = input f32[37, 16]\n  %w = input f32[16, 24]\n  %sa = input f32{1}\n"
      "  %sb = input f32{2}\n  %bias = input {4}[24]\n  %sr = input f32[]\n"
      "  %a = prims.convert_element_type(%x, {0})\n  %b = prims.convert_element_type(%w, {0})\n"
      "  %y = _scaled_mm(%a, %b, %sa, %sb{3})\n  %r = prims.convert_element_type(%y, f32)\n"
      "  results %r\n  gradients none, none, none, none, none, none",
      format, scale_a, scale_b, more, result));
}

TEST_CASE("lowering: products of 8-bit reals with scales", "[codegen][cpu]") {
  std::vector<std::string> formats{"f8e4m3fn", "f8e5m2", "f8e4m3fnuz"};
  if (kSanitized) formats.resize(1);
  for (const std::string& format : formats)
    for (const auto& [scale_a, scale_b] :
         {std::pair{"[]", "[]"}, std::pair{"[1, 1]", "[1]"}, std::pair{"[37, 1]", "[1, 24]"}})
      for (const auto& [more, result] :
           {std::pair{", out_dtype=bf16", "bf16"}, std::pair{", %bias, out_dtype=bf16", "bf16"},
            std::pair{", none, none, f32", "f32"}, std::pair{"", "f32"},
            std::pair{", none, %sr", "f32"}}) {
        const Graph graph = scaled_graph(format, scale_a, scale_b, more, result);
        INFO(print(graph));
        const Inputs inputs = inputs_for(graph, 7, Values::ordinary);
        CHECK(disagreement(graph, inputs, {}, true).substr(0, 3000) == "");
      }
}

}  // namespace
}  // namespace recut::test
