#include "tests/native/fake_step.h"

#include <fmt/format.h>

#include <catch2/catch_test_macros.hpp>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <functional>

#include "engine/workspace/compile.h"
#include "engine/workspace/library_workspaces.h"
#include "engine/workspace/open_document.h"
#include "native/cuda/shared_library.h"
#include "tests/native/fake_gpu.h"
#include "tests/native/temporary_folder.h"
#include "tests/paths.h"

namespace recut::test {
namespace {

// The first launch of several does all of their work.
void register_kernel(const std::vector<cuda::Launch>& launches, std::size_t parameters,
                     const std::function<void(void** arguments)>& run) {
  bool first = true;
  for (const cuda::Launch& launch : launches) {
    fake_gpu().kernels[launch.symbol] = {parameters, [](void**) {}};
    if (first) fake_gpu().kernels[launch.symbol].run = run;
    first = false;
  }
}

std::vector<void*> addresses_of(void** arguments, std::size_t buffers) {
  std::vector<void*> addresses(buffers);
  for (std::size_t b = 0; b < buffers; ++b) std::memcpy(&addresses[b], arguments[b], 8);
  return addresses;
}

void register_kernel(const Program& program, const CudaOnCpu& code) {
  for (std::size_t k = 0; k < program.kernels.size(); ++k) {
    const std::size_t buffers = loop::parameter_count(program.kernels[k]);
    register_kernel(code.module().kernels[k], buffers + 2, [&code, k, buffers](void** arguments) {
      long long seed = 0, *fault = nullptr;
      std::memcpy(&seed, arguments[buffers], 8);
      std::memcpy(&fault, arguments[buffers + 1], 8);
      const std::int64_t found =
          code.run(k, addresses_of(arguments, buffers), static_cast<std::uint64_t>(seed));
      if (found != 0) *fault = found;
    });
  }
  for (std::size_t k = 0; k < program.library.size(); ++k) {
    const std::size_t buffers = program.library[k].buffers.size();
    register_kernel(code.module().library[k], buffers + 1, [&code, k, buffers](void** arguments) {
      void* workspace = nullptr;
      std::memcpy(&workspace, arguments[buffers], 8);
      code.run_library(k, addresses_of(arguments, buffers), workspace);
    });
  }
}

}  // namespace

cuda::SharedGpu open_fake_gpu() {
  auto gpu = cuda::Gpu::open(fake_driver());
  REQUIRE(gpu.ok());
  return *gpu;
}

Result<cuda::ReadyStep> compile_fake(const cuda::SharedGpu& gpu, Program program,
                                     cuda::MatmulPrecision matmul_precision,
                                     std::unique_ptr<CudaOnCpu>& code) {
  auto compiled = CudaOnCpu::compile(cuda::emit_step(program, matmul_precision));
  if (!compiled) return compiled.diagnostics();
  code = std::make_unique<CudaOnCpu>(std::move(*compiled));
  register_kernel(program, *code);
  auto step =
      cuda::Step::load(gpu, std::move(program),
                       {"", code->module().kernels, code->module().library, code->module().faults});
  if (!step) return step.diagnostics();
  return cuda::ReadyStep{std::move(*step), {}, 0};
}

namespace {

const std::string& libraries_folder() {
  static const TemporaryFolder folder;
  return folder.path();
}

bool compile_libraries() {
  static const bool provided = [] {
    if (!has_compiler()) return false;
    const std::string made = libraries_folder() + "/libcublasLt.so.13";
    const std::string command = fmt::format(
        "c++ -std=c++20 -O1 -w -fPIC -shared -I {0} -x c++ {0}/tests/native/fake_libraries.h "
        "-o {1}",
        RECUT_SOURCE_DIR, made);
    REQUIRE(std::system(command.c_str()) == 0);
    std::filesystem::copy_file(made, libraries_folder() + "/libcudnn.so.9");
    return true;
  }();
  return provided;
}

}  // namespace

FakeLibraries::FakeLibraries()
    : provided_(compile_libraries()),
      path_("RECUT_CUDA_PATH",
            fmt::format("{}:{}", libraries_folder(), fmt::join(cuda::library_folders(), ":"))) {}

FakeStep fake_step(const std::string& path, const std::string& budget, bool library,
                   const std::optional<DeviceProfile>& profile) {
  fake_gpu() = FakeGpu();
  auto document = open_document(path, {});
  REQUIRE(document.ok());
  SchedulingRequest request;
  request.planning.cost_model = "fused";
  request.planning.budget = budget;
  request.planning.profile = profile;
  if (profile)
    REQUIRE(add_library_workspaces(*document, *profile, cuda::kDefaultWorkspaceBytes).ok());
  auto scheduled = schedule_document(*document, request);
  REQUIRE(scheduled.ok());
  const cuda::SharedGpu gpu = open_fake_gpu();
  auto program = program_of(*document, *scheduled,
                            {.library = library,
                             .library_takes = cuda::library_takes(gpu, cuda::CallOptions()),
                             .lower = cuda::lower_options({fake_gpu().capability >= 90})});
  REQUIRE(program.ok());
  std::unique_ptr<CudaOnCpu> code;
  auto ready = compile_fake(gpu, std::move(*program), cuda::MatmulPrecision::f32, code);
  REQUIRE(ready.ok());
  return {std::move(*document), std::move(*scheduled), std::move(code),
          std::make_unique<cuda::ReadyStep>(std::move(*ready))};
}

Result<cuda::Execution> execute_fake(const FakeStep& step, cuda::Precision precision,
                                     bool allows_nondeterminism) {
  cuda::ExecutionRequest request;
  request.calls.precision = precision;
  request.calls.allows_nondeterminism = allows_nondeterminism;
  request.seed = 1;
  request.steps = 3;
  request.check = true;
  return cuda::execute(step.document, *step.ready, request);
}

}  // namespace recut::test
