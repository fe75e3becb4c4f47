// Rule files under hostile input: any bytes give rules or diagnostics, and rules can be applied.

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "engine/input/text.h"
#include "engine/ir/verifier.h"
#include "engine/rewrite/rewriter.h"
#include "engine/rewrite/rule_text.h"
#include "engine/support/check.h"

namespace {

constexpr std::string_view kGraph = R"(graph "fuzz" {
  %x = input f32[2, 3]
  %y = permute(%x, [1, 0])
  %z = mul.Tensor(%y, 2.0)
  %e = exp(%z)
  %s = sum.dim_IntList(%e, [-1], true)
  %d = div.Tensor(%e, %s)
  results %d
})";

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const auto rules = recut::parse_rules(bytes, "fuzz.rules");
  if (!rules.ok()) {
    RECUT_CHECK(!rules.diagnostics().empty(), "a refusal without a reason");
    return 0;
  }
  static const auto graph = recut::parse_graph_text(kGraph, "fuzz.recut");
  const recut::Rewritten rewritten = recut::apply_rules(*graph, *rules);
  RECUT_CHECK(recut::verify(rewritten.graph).empty(), "rules made an unsound graph");
  return 0;
}
