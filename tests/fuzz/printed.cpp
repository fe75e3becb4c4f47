// Graphs that PyTorch printed, its logs and traces, under hostile input: any bytes give a sound
// graph or diagnostics, and an accepted graph survives being printed in the text form and read.

#include <cstddef>
#include <cstdint>
#include <string>

#include "engine/input/graph_file_reader.h"
#include "engine/input/printed_graph.h"
#include "engine/input/text.h"
#include "engine/ir/printer.h"
#include "engine/ir/verifier.h"
#include "engine/support/check.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const recut::Dimensions sizes = {{"s5", 4}};
  const auto read = recut::read_printed_graph(bytes, "fuzz.txt", "joint", sizes);
  if (!read) return 0;
  if (!read->ok()) {
    RECUT_CHECK(!read->diagnostics().empty(), "a refusal without a reason");
    return 0;
  }
  const auto file = recut::parse_joint_graph((*read)->json, "fuzz.txt", "joint", sizes);
  if (!file.ok()) {
    RECUT_CHECK(!file.diagnostics().empty(), "a refusal without a reason");
    recut::Diagnostics faults = file.diagnostics();
    (*read)->relocate(faults);
    return 0;
  }
  RECUT_CHECK(recut::verify(file->graph).empty(), "an unsound graph was taken");
  const std::string printed = recut::print(file->graph);
  const auto again = recut::parse_graph_text(printed, "printed.recut");
  RECUT_CHECK(again.ok(), "a printed graph is refused");
  RECUT_CHECK(recut::print(*again) == printed, "printing and reading changed the graph");
  return 0;
}
