// Pickles and memory snapshots under hostile input: any bytes give plain data or diagnostics, and
// an accepted snapshot is measured and compared with a small plan, whose causes add up.

#include <cstddef>
#include <cstdint>
#include <numeric>
#include <string_view>

#include "engine/input/memory_snapshot.h"
#include "engine/input/text.h"
#include "engine/partition/baseline.h"
#include "engine/support/check.h"
#include "engine/workspace/memory_comparison.h"

namespace {

const recut::Graph& fuzzed_plan() {
  static const recut::Graph graph = *recut::parse_graph_text(
      "graph \"g\" {\n  %x = parameter f32[16, 16]\n  %t = tangent f32[16, 16]\n"
      "  %a = exp(%x)\n  %b = mul.Tensor(%a, %t)\n  results %a\n  gradients %b\n}\n",
      "fuzz.recut");
  return graph;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const auto snapshot = recut::read_memory_snapshot(bytes, "fuzz.pickle");
  if (!snapshot.ok()) {
    RECUT_CHECK(!snapshot.diagnostics().empty(), "a refusal without a reason");
    return 0;
  }
  const recut::Replay replay = recut::replay_program(fuzzed_plan());
  const auto compared = recut::compare_memory(*snapshot, "fuzz.pickle",
                                              {fuzzed_plan(), replay, "g", "", "program order"});
  if (!compared.ok()) {
    RECUT_CHECK(!compared.diagnostics().empty(), "a refusal without a reason");
    return 0;
  }
  RECUT_CHECK(std::accumulate(compared->causes.begin(), compared->causes.end(), std::int64_t{0}) ==
                  compared->difference(),
              "the causes don't add up");
  RECUT_CHECK(!recut::memory_comparison_json(*compared).empty(), "a comparison without figures");
  return 0;
}
