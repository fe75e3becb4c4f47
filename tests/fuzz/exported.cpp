// Programs of torch.export under hostile input: any text gives a sound graph or diagnostics.

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "engine/input/exported_program.h"
#include "engine/input/graph_file_reader.h"
#include "engine/ir/verifier.h"
#include "engine/support/check.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto program = recut::read_exported_program(text, "fuzz.json", "fuzz");
  if (!program.ok()) {
    RECUT_CHECK(!program.diagnostics().empty(), "a refusal without a reason");
    return 0;
  }
  const auto file = recut::parse_joint_graph(program->json, "fuzz.json");
  if (!file.ok()) {
    recut::Diagnostics faults = file.diagnostics();
    RECUT_CHECK(!faults.empty(), "a refusal without a reason");
    program->relocate(faults, text);
    return 0;
  }
  RECUT_CHECK(recut::verify(file->graph).empty(), "an unsound graph was taken");
  return 0;
}
