#include "tests/codegen/cuda_on_cpu.h"

#include <dlfcn.h>
#include <fmt/core.h>

#include <cstdlib>
#include <fstream>
#include <sstream>

#include "tests/codegen/kernel_memory.h"
#include "tests/effort.h"
#include "tests/native/temporary_folder.h"
#include "tests/paths.h"

namespace recut::test {
namespace {

// tests/codegen/cuda_shim.h, precompiled by the build.
constexpr const char* kShim = RECUT_BINARY_DIR "/tests/generated/cuda/shim.h";

bool succeeds(const std::string& command) { return std::system(command.c_str()) == 0; }

// The text, and a function for each launch that takes its arguments as a list.
std::string source_of(const cuda::Module& module) {
  std::string text;
  std::istringstream lines(module.text);
  for (std::string line; std::getline(lines, line); text += '\n')
    text += line.find("extern __shared__") == std::string::npos
                ? line
                : "unsigned char* const shared = on_cpu::memory();";
  for (const auto* kernels : {&module.kernels, &module.library})
    for (const auto& launches : *kernels)
      for (const cuda::Launch& launch : launches)
        text += fmt::format(
            "extern \"C\" void run_{0}(void** given) {{ on_cpu::launch({0}, {1}, {2}, {3}, given); "
            "}}\n",
            launch.symbol, launch.blocks, launch.threads, launch.cluster);
  return text;
}

std::string contents_cuda_on_cpu(const std::string& path) {
  std::ifstream file(path);
  return std::string(std::istreambuf_iterator<char>(file), {});
}

// What the compiler, or who runs it, says of a text that it doesn't take; "": it does.
std::string compile_errors(const std::string& text, const TemporaryFolder& folder,
                           const std::string& options) {
  const std::string source = folder.path() + "/step.cpp", said = folder.path() + "/said";
  std::ofstream(source) << text;
  const std::string command = fmt::format("c++ -std=c++17 -w {} -I {} -include {} {} >{} 2>&1",
                                          options, RECUT_SOURCE_DIR, kShim, source, said);
  return succeeds(command) ? "" : "c++: " + contents_cuda_on_cpu(said);
}

}  // namespace

// Sanitizers know nothing of fibres.
bool has_compiler() {
  static const bool has = !kSanitized && succeeds("c++ --version >/dev/null 2>&1");
  return has;
}

Result<CudaOnCpu> CudaOnCpu::compile(cuda::Module module) {
  const TemporaryFolder folder;
  const std::string made = folder.path() + "/step.so";
  const std::string options = "-O0 -ffp-contract=off -fno-strict-aliasing -fPIC -shared -o " + made;
  const std::string said = compile_errors(source_of(module), folder, options);
  if (!said.empty()) return error(said + module.text);
  void* library = dlopen(made.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) return error(dlerror());
  return CudaOnCpu(std::move(module), {library, [](void* one) { dlclose(one); }});
}

std::int64_t CudaOnCpu::run(std::size_t kernel, std::span<void* const> buffers,
                            std::uint64_t seed) const {
  auto number = static_cast<long long>(seed);
  long long fault = 0;
  std::vector<void*> given(buffers.begin(), buffers.end());
  given.push_back(&number);
  given.push_back(&fault);
  launch(module_.kernels[kernel], given.data());
  return fault;
}

void CudaOnCpu::run_library(std::size_t kernel, std::span<void* const> buffers,
                            void* workspace) const {
  std::vector<void*> given(buffers.begin(), buffers.end());
  given.push_back(workspace);
  launch(module_.library[kernel], given.data());
}

void CudaOnCpu::launch(std::span<const cuda::Launch> launches, void** given) const {
  for (const cuda::Launch& launch : launches) {
    void* function = dlsym(library_.get(), ("run_" + launch.symbol).c_str());
    RECUT_CHECK(function != nullptr, "every launch has its function");
    reinterpret_cast<void (*)(void**)>(function)(given);
  }
}

std::string cuda_compile_errors(const std::string& text) {
  return compile_errors(text, TemporaryFolder(), "-fsyntax-only");
}

std::string cuda_difference(std::span<const loop::Kernel> kernels, std::uint64_t seed,
                            int last_places, const cuda::Options& options) {
  if (!has_compiler()) return "";
  const auto compiled = CudaOnCpu::compile(cuda::emit(kernels, options));
  if (!compiled) return format(compiled.diagnostics());
  for (std::size_t k = 0; k < kernels.size(); ++k) {
    KernelMemory memory(kernels[k]);
    memory.fill(seed + k);
    const Machine machine = [&](KernelMemory& on) -> Result<std::int64_t> {
      return compiled->run(k, on.addresses(), kCodeSeed);
    };
    const std::string what = difference_to_interpreter(kernels[k], memory, machine, last_places);
    if (!what.empty()) return "CUDA: " + what;
  }
  return "";
}

}  // namespace recut::test
