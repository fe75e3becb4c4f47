#include "native/cpu/object_code.h"

#include <fmt/core.h>
#include <llvm-c/Analysis.h>
#include <llvm-c/IRReader.h>
#include <llvm-c/Target.h>
#include <llvm-c/TargetMachine.h>
#include <llvm-c/Transforms/PassBuilder.h>
#include <llvm/Config/llvm-config.h>
#include <llvm/MC/MCSubtargetInfo.h>
#include <llvm/MC/TargetRegistry.h>

#include <memory>
#include <mutex>

#include "engine/support/text.h"
#include "native/cpu/llvm_message.h"

namespace recut::cpu {
namespace {

void know_this_processor() {
  static std::once_flag once;
  std::call_once(once, [] {
    LLVMInitializeNativeTarget();
    LLVMInitializeNativeAsmPrinter();
    LLVMInitializeNativeAsmParser();  // of data that a module includes
  });
}

template <auto dispose>
struct Disposer {
  template <class T>
  void operator()(T* thing) const {
    dispose(thing);
  }
};
using Machine = std::unique_ptr<LLVMOpaqueTargetMachine, Disposer<LLVMDisposeTargetMachine>>;
using Context = std::unique_ptr<LLVMOpaqueContext, Disposer<LLVMContextDispose>>;
using Module = std::unique_ptr<LLVMOpaqueModule, Disposer<LLVMDisposeModule>>;

// Makes position-independent code, as for a shared library.
Result<Machine> machine_of(const Target& target) {
  know_this_processor();
  LLVMTargetRef known = nullptr;
  char* fault = nullptr;
  if (LLVMGetTargetFromTriple(target.triple.c_str(), &known, &fault) != 0)
    return error(take_message(fault));
  return Machine(LLVMCreateTargetMachine(known, target.triple.c_str(), target.processor.c_str(),
                                         target.features.c_str(), LLVMCodeGenLevelDefault,
                                         LLVMRelocPIC, LLVMCodeModelSmall));
}

Result<Module> module_of(std::string_view text, LLVMContextRef context) {
  LLVMMemoryBufferRef buffer =
      LLVMCreateMemoryBufferWithMemoryRangeCopy(text.data(), text.size(), "kernels");
  LLVMModuleRef parsed = nullptr;
  char* fault = nullptr;
  if (LLVMParseIRInContext(context, buffer, &parsed, &fault) != 0)
    return error(take_message(fault));
  Module module(parsed);
  if (LLVMVerifyModule(parsed, LLVMReturnStatusAction, &fault) != 0)
    return error(take_message(fault));
  LLVMDisposeMessage(fault);
  return module;
}

Result<Done> optimise(LLVMModuleRef module, LLVMTargetMachineRef machine) {
  LLVMTargetDataRef layout = LLVMCreateTargetDataLayout(machine);
  LLVMSetModuleDataLayout(module, layout);
  LLVMDisposeTargetData(layout);
  char* triple = LLVMGetTargetMachineTriple(machine);
  LLVMSetTarget(module, triple);
  LLVMDisposeMessage(triple);
  LLVMPassBuilderOptionsRef options = LLVMCreatePassBuilderOptions();
  LLVMErrorRef failed = LLVMRunPasses(module, "default<O2>", machine, options);
  LLVMDisposePassBuilderOptions(options);
  if (failed != nullptr) return error(take_message(failed));
  return Done{};
}

}  // namespace

Target this_machine() {
  know_this_processor();
  return {take_message(LLVMGetDefaultTargetTriple()), take_message(LLVMGetHostCPUName()),
          take_message(LLVMGetHostCPUFeatures())};
}

Result<Target> processor_target(const std::string& name) {
  Target target = this_machine();
  std::string fault;
  const llvm::Target* known = llvm::TargetRegistry::lookupTarget(target.triple, fault);
  if (known == nullptr) return error(fault);
  const std::unique_ptr<llvm::MCSubtargetInfo> processors(
      known->createMCSubtargetInfo(target.triple, "", ""));
  if (!processors->isCPUStringValid(name))
    return error(
        fmt::format("LLVM knows no processor {} for {}, expected native, or a name such "
                    "as x86-64-v2, x86-64-v3, haswell or znver4",
                    quote(name), target.triple));
  target.processor = name;
  target.features = "";
  return target;
}

std::string llvm_version() { return LLVM_VERSION_STRING; }

Result<std::string> compile_object(std::string_view text, const Target& target) {
  const auto machine = machine_of(target);
  if (!machine) return machine.diagnostics();
  const Context context(LLVMContextCreate());
  const auto module = module_of(text, context.get());
  if (!module) return module.diagnostics();
  if (auto done = optimise(module->get(), machine->get()); !done) return done.diagnostics();
  char* fault = nullptr;
  LLVMMemoryBufferRef object = nullptr;
  if (LLVMTargetMachineEmitToMemoryBuffer(machine->get(), module->get(), LLVMObjectFile, &fault,
                                          &object) != 0)
    return error(take_message(fault));
  std::string bytes(LLVMGetBufferStart(object), LLVMGetBufferSize(object));
  LLVMDisposeMemoryBuffer(object);
  return bytes;
}

}  // namespace recut::cpu
