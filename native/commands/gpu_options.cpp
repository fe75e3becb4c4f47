#include "native/commands/gpu_options.h"

#include "engine/support/units.h"
#include "native/cuda/device_call.h"

namespace recut::native {

void add_gpu_options(CLI::App& command, std::string& target, std::string& precision) {
  command
      .add_option("--device", target,
                  "Device to run on: cpu, or cuda for the first NVIDIA GPU (default: cpu)")
      ->check(CLI::IsMember({"cpu", "cuda"}))
      ->type_name("TARGET");
  command
      .add_option("--precision", precision,
                  "Matmul precision of f32 on a GPU: f32, tf32 or bf16 (default: f32). With bf16, "
                  "convolutions and attention use tf32")
      ->check(CLI::IsMember({"f32", "tf32", "bf16"}))
      ->type_name("TYPE");
}

Result<std::int64_t> max_workspace(const std::string& workspace) {
  if (workspace.empty()) return cuda::kDefaultWorkspaceBytes;
  const auto bytes = parse_bytes(workspace);
  if (!bytes) return error("--workspace takes a number of bytes: 256MiB");
  return *bytes;
}

Result<Done> refuse_gpu_options(const std::string& precision, const std::string& workspace) {
  if (precision != "f32") return error("--precision: for --device cuda alone");
  if (!workspace.empty()) return error("--workspace: for --device cuda alone");
  return Done{};
}

}  // namespace recut::native
