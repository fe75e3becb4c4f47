#include "native/commands/card_options.h"

#include "engine/support/units.h"
#include "native/cuda/device_call.h"

namespace recut::native {

Result<std::int64_t> most_workspace(const std::string& workspace) {
  if (workspace.empty()) return cuda::kUsualWorkspace;
  const auto bytes = parse_bytes(workspace);
  if (!bytes) return error("--workspace takes a number of bytes: 256MiB");
  return *bytes;
}

Result<Done> refuse_card_options(const std::string& precision, const std::string& workspace) {
  if (precision != "f32") return error("--precision: for --device cuda alone");
  if (!workspace.empty()) return error("--workspace: for --device cuda alone");
  return Done{};
}

}  // namespace recut::native
