// ONNX models under hostile input: any bytes give a sound graph or diagnostics.

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "engine/ir/verifier.h"
#include "engine/onnx/read_onnx.h"
#include "engine/support/check.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  recut::onnx::Options options;
  options.dimensions = {{"batch", 2}, {"tokens", 5}};
  options.max_nested_nodes = 4'096;  // sanitizers make the default last longer than libFuzzer waits
  const auto file = recut::onnx::read_onnx(bytes, "fuzz.onnx", options);
  if (!file.ok()) {
    RECUT_CHECK(!file.diagnostics().empty(), "a refusal without a reason");
    return 0;
  }
  RECUT_CHECK(recut::verify(file->graph).empty(), "an unsound graph was taken");
  return 0;
}
