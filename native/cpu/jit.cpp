#include "native/cpu/jit.h"

#include <llvm-c/LLJIT.h>
#include <llvm-c/Orc.h>
#include <llvm-c/Target.h>

#include <utility>

#include "engine/support/check.h"
#include "native/cpu/llvm_message.h"
#include "native/cpu/object_code.h"

namespace recut::cpu {

struct Jit::Engine {
  LLVMOrcLLJITRef jit = nullptr;

  ~Engine() {
    if (jit != nullptr) LLVMConsumeError(LLVMOrcDisposeLLJIT(jit));
  }

  LLVMErrorRef start() {
    LLVMInitializeNativeTarget();
    if (LLVMErrorRef fault = LLVMOrcCreateLLJIT(&jit, nullptr)) return fault;
    // C library functions are resolved in this process.
    LLVMOrcDefinitionGeneratorRef process = nullptr;
    if (LLVMErrorRef fault = LLVMOrcCreateDynamicLibrarySearchGeneratorForProcess(
            &process, LLVMOrcLLJITGetGlobalPrefix(jit), nullptr, nullptr))
      return fault;
    LLVMOrcJITDylibAddGenerator(LLVMOrcLLJITGetMainJITDylib(jit), process);
    return nullptr;
  }

  LLVMErrorRef add(std::string_view object) {
    return LLVMOrcLLJITAddObjectFile(
        jit, LLVMOrcLLJITGetMainJITDylib(jit),
        LLVMCreateMemoryBufferWithMemoryRangeCopy(object.data(), object.size(), "kernels"));
  }
};

Jit::Jit(std::unique_ptr<Engine> engine) : engine_(std::move(engine)) {}
Jit::Jit(Jit&& other) noexcept = default;
Jit& Jit::operator=(Jit&& other) noexcept = default;
Jit::~Jit() = default;

Result<Jit> Jit::load(std::string_view object) {
  auto engine = std::make_unique<Engine>();
  if (LLVMErrorRef fault = engine->start()) return error(take_message(fault));
  if (LLVMErrorRef fault = engine->add(object)) return error(take_message(fault));
  return Jit(std::move(engine));
}

Result<Jit> Jit::compile(std::string_view text) {
  const auto object = compile_object(text, this_machine());
  if (!object) return object.diagnostics();
  return load(*object);
}

void* Jit::find(std::string_view symbol) const {
  LLVMOrcExecutorAddress address = 0;
  LLVMErrorRef fault = LLVMOrcLLJITLookup(engine_->jit, &address, std::string(symbol).c_str());
  RECUT_CHECK(fault == nullptr, "what was compiled is there");
  return reinterpret_cast<void*>(static_cast<std::uintptr_t>(address));  // NOLINT: LLVM has numbers
}

}  // namespace recut::cpu
