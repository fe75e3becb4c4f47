// WebAssembly that is made while the program runs: compiled by the engine that runs the program, in
// the program's memory, its functions in the program's table, where they are called like any other.
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

  // An exported function, which is there as long as the instance.
  template <class Function>
  Function* find(const std::string& name) const {
    return reinterpret_cast<Function*>(place_of(name));
  }

 private:
  explicit Instance(int number) : number_(number) {}
  void* place_of(const std::string& name) const;

  int number_ = 0;
};

// Whether the engine has relaxed multiply-adds.
bool has_relaxed_simd();
// How calls are lowered for this engine.
loop::LowerOptions lower_options();

}  // namespace recut::step
