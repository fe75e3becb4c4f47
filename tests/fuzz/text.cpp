// The text form under hostile input: any bytes give a graph or diagnostics, and an accepted text is
// printed, read and printed again as the same text.

#include <cstddef>
#include <cstdint>
#include <string>

#include "engine/input/text.h"
#include "engine/ir/printer.h"
#include "engine/ir/verifier.h"
#include "engine/support/check.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const auto graph = recut::parse_graph_text(bytes, "fuzz.recut");
  if (!graph.ok()) {
    RECUT_CHECK(!graph.diagnostics().empty(), "a refusal without a reason");
    return 0;
  }
  recut::verify(*graph);
  const std::string printed = recut::print(*graph);
  const auto again = recut::parse_graph_text(printed, "printed.recut");
  RECUT_CHECK(again.ok(), "a printed graph is refused");
  RECUT_CHECK(recut::print(*again) == printed, "printing and reading changed the graph");
  return 0;
}
