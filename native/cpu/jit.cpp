#include "native/cpu/jit.h"

#include <llvm-c/Analysis.h>
#include <llvm-c/Core.h>
#include <llvm-c/Error.h>
#include <llvm-c/IRReader.h>
#include <llvm-c/LLJIT.h>
#include <llvm-c/Orc.h>
#include <llvm-c/Target.h>
#include <llvm-c/TargetMachine.h>
#include <llvm-c/Transforms/PassBuilder.h>

#include <mutex>
#include <utility>

#include "engine/support/check.h"

namespace recut::cpu {
namespace {

// LLVM's words, given back to it.
std::string taken(char* words) {
  std::string text = words != nullptr ? words : "";
  LLVMDisposeMessage(words);
  return text;
}

std::string taken(LLVMErrorRef fault) {
  char* words = LLVMGetErrorMessage(fault);
  std::string text = words;
  LLVMDisposeErrorMessage(words);
  return text;
}

void know_this_processor() {
  static std::once_flag once;
  std::call_once(once, [] {
    LLVMInitializeNativeTarget();
    LLVMInitializeNativeAsmPrinter();
  });
}

struct Machine {
  LLVMTargetMachineRef machine = nullptr;
  ~Machine() { LLVMDisposeTargetMachine(machine); }

  // Null where LLVM doesn't know the processor.
  static LLVMTargetMachineRef of_host() {
    char *triple = LLVMGetDefaultTargetTriple(), *processor = LLVMGetHostCPUName(),
         *features = LLVMGetHostCPUFeatures(), *fault = nullptr;
    LLVMTargetRef target = nullptr;
    LLVMTargetMachineRef machine = nullptr;
    if (LLVMGetTargetFromTriple(triple, &target, &fault) == 0)
      machine =
          LLVMCreateTargetMachine(target, triple, processor, features, LLVMCodeGenLevelDefault,
                                  LLVMRelocDefault, LLVMCodeModelJITDefault);
    else
      LLVMDisposeMessage(fault);
    LLVMDisposeMessage(triple);
    LLVMDisposeMessage(processor);
    LLVMDisposeMessage(features);
    return machine;
  }
};

// Parses and optimises; the module belongs to the context.
Result<LLVMModuleRef> module_of(std::string_view text, LLVMContextRef context,
                                LLVMTargetMachineRef machine) {
  LLVMMemoryBufferRef buffer =
      LLVMCreateMemoryBufferWithMemoryRangeCopy(text.data(), text.size(), "kernels");
  LLVMModuleRef module = nullptr;
  char* fault = nullptr;
  if (LLVMParseIRInContext(context, buffer, &module, &fault) != 0) return error(taken(fault));
  if (LLVMVerifyModule(module, LLVMReturnStatusAction, &fault) != 0) {
    LLVMDisposeModule(module);
    return error(taken(fault));
  }
  LLVMDisposeMessage(fault);
  LLVMPassBuilderOptionsRef options = LLVMCreatePassBuilderOptions();
  LLVMErrorRef failed = LLVMRunPasses(module, "default<O2>", machine, options);
  LLVMDisposePassBuilderOptions(options);
  if (failed != nullptr) {
    LLVMDisposeModule(module);
    return error(taken(failed));
  }
  return module;
}

}  // namespace

struct Jit::Engine {
  LLVMOrcLLJITRef jit = nullptr;

  ~Engine() {
    if (jit != nullptr) LLVMConsumeError(LLVMOrcDisposeLLJIT(jit));
  }

  LLVMErrorRef start() {
    LLVMOrcLLJITBuilderRef builder = LLVMOrcCreateLLJITBuilder();
    LLVMOrcLLJITBuilderSetJITTargetMachineBuilder(
        builder, LLVMOrcJITTargetMachineBuilderCreateFromTargetMachine(Machine::of_host()));
    if (LLVMErrorRef fault = LLVMOrcCreateLLJIT(&jit, builder)) return fault;
    // The C library's functions are this process's.
    LLVMOrcDefinitionGeneratorRef process = nullptr;
    if (LLVMErrorRef fault = LLVMOrcCreateDynamicLibrarySearchGeneratorForProcess(
            &process, LLVMOrcLLJITGetGlobalPrefix(jit), nullptr, nullptr))
      return fault;
    LLVMOrcJITDylibAddGenerator(LLVMOrcLLJITGetMainJITDylib(jit), process);
    return nullptr;
  }

  LLVMErrorRef add(LLVMModuleRef module, LLVMOrcThreadSafeContextRef context) {
    return LLVMOrcLLJITAddLLVMIRModule(jit, LLVMOrcLLJITGetMainJITDylib(jit),
                                       LLVMOrcCreateNewThreadSafeModule(module, context));
  }
};

Jit::Jit(std::unique_ptr<Engine> engine) : engine_(std::move(engine)) {}
Jit::Jit(Jit&& other) noexcept = default;
Jit& Jit::operator=(Jit&& other) noexcept = default;
Jit::~Jit() = default;

Result<Jit> Jit::compile(std::string_view text) {
  know_this_processor();
  const Machine host{Machine::of_host()};
  if (host.machine == nullptr) return error("LLVM has no code for this processor");
  auto engine = std::make_unique<Engine>();
  if (LLVMErrorRef fault = engine->start()) return error(taken(fault));
  LLVMOrcThreadSafeContextRef context = LLVMOrcCreateNewThreadSafeContext();
  auto module = module_of(text, LLVMOrcThreadSafeContextGetContext(context), host.machine);
  LLVMErrorRef fault = module ? engine->add(*module, context) : nullptr;
  LLVMOrcDisposeThreadSafeContext(context);
  if (!module) return module.diagnostics();
  if (fault != nullptr) return error(taken(fault));
  return Jit(std::move(engine));
}

void* Jit::find(std::string_view symbol) const {
  LLVMOrcExecutorAddress address = 0;
  LLVMErrorRef fault = LLVMOrcLLJITLookup(engine_->jit, &address, std::string(symbol).c_str());
  RECUT_CHECK(fault == nullptr, "what was compiled is there");
  return reinterpret_cast<void*>(static_cast<std::uintptr_t>(address));
}

}  // namespace recut::cpu
