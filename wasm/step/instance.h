// WebAssembly compiled at run time by the engine that runs the program. It works in the program's
// memory; its functions are in the program's table and are called like any other.
#pragma once

#include <string>
#include <utility>

#include "engine/codegen/wasm/emit.h"
#include "engine/support/result.h"

namespace recut::step {

class Instance {
 public:
  // Fails where the engine refuses the module, or lacks the memory.
  static Result<Instance> make(const wasm::Module& module);

  Instance(Instance&& other) noexcept : number_(std::exchange(other.number_, 0)) {}
  Instance& operator=(Instance&&) = delete;
  ~Instance();

  // An exported function, valid as long as the instance.
  template <class Function>
  Function* find(const std::string& name) const {
    return reinterpret_cast<Function*>(offset_of(name));
  }

 private:
  explicit Instance(int number) : number_(number) {}
  void* offset_of(const std::string& name) const;

  int number_ = 0;
};

// True if the engine has relaxed multiply-adds.
bool has_relaxed_simd();
// The options that lower calls for this engine.
loop::LowerOptions lower_options();

}  // namespace recut::step
