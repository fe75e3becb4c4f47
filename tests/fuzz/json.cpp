// Graph files under hostile input (JSON, gzipped or not, and by their first bytes the text form):
// any bytes give a sound graph or diagnostics, and an accepted graph survives being printed and
// read.

#include <cstddef>
#include <cstdint>
#include <string>

#include "engine/input/graph_file_reader.h"
#include "engine/input/text.h"
#include "engine/ir/printer.h"
#include "engine/ir/verifier.h"
#include "engine/support/check.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const auto file = recut::read_graph_bytes(bytes, "fuzz.json");
  if (!file.ok()) {
    RECUT_CHECK(!file.diagnostics().empty(), "a refusal without a reason");
    return 0;
  }
  RECUT_CHECK(recut::verify(file->graph).empty(), "an unsound graph was taken");
  const std::string printed = recut::print(file->graph);
  const auto again = recut::parse_graph_text(printed, "printed.recut");
  RECUT_CHECK(again.ok(), "a printed graph is refused");
  RECUT_CHECK(recut::print(*again) == printed, "printing and reading changed the graph");
  return 0;
}
