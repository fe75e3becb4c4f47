// Tensor files under hostile input: any bytes give tensors whose values lie within the file, or
// diagnostics; accepted tensors read the same again after being written.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>

#include "engine/input/safetensors.h"
#include "engine/support/check.h"

namespace {

bool same(const recut::NamedTensor& a, const recut::NamedTensor& b) {
  return a.name == b.name && a.dtype == b.dtype && a.shape == b.shape && a.bytes == b.bytes;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const auto tensors = recut::parse_safetensors(bytes, "fuzz.safetensors");
  if (!tensors.ok()) {
    RECUT_CHECK(!tensors.diagnostics().empty(), "a refusal without a reason");
    return 0;
  }
  // Comparing reads every byte that a tensor claims.
  const std::string written = recut::write_safetensors(*tensors);
  const auto again = recut::parse_safetensors(written, "written.safetensors");
  RECUT_CHECK(again.ok(), "a written file is refused");
  RECUT_CHECK(std::equal(tensors->begin(), tensors->end(), again->begin(), again->end(), same),
              "writing and reading changed the tensors");
  return 0;
}
