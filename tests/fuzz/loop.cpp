// The loop form under hostile input: any bytes give kernels or diagnostics, kernels print as they
// were parsed, and the verifier lives through all of them.

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "engine/codegen/loop/parser.h"
#include "engine/codegen/loop/printer.h"
#include "engine/codegen/loop/verifier.h"
#include "engine/support/check.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const auto kernels = recut::loop::parse_kernels(bytes, "fuzz.loop");
  if (!kernels.ok()) {
    RECUT_CHECK(!kernels.diagnostics().empty(), "a refusal without a reason");
    return 0;
  }
  for (const recut::loop::Kernel& kernel : *kernels) {
    recut::loop::verify(kernel);
    const std::string text = recut::loop::print(kernel);
    const auto again = recut::loop::parse_kernels(text, "printed.loop");
    RECUT_CHECK(again.ok(), "what is printed can be read");
    RECUT_CHECK(recut::loop::print(again->front()) == text, "print after parse is the identity");
  }
  return 0;
}
