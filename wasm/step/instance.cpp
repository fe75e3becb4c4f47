#include "wasm/step/instance.h"

#include <array>
#include <cstdint>
#include <vector>

#include "engine/support/check.h"
#include "wasm/step/c_functions.h"

// instance.js
extern "C" {
// Returns a number for the instance, or 0 and the reason in `problem`. `functions`: for its
// imports, in order.
int step_instantiate(const char* bytes, std::size_t count, void* const* functions, char* problem);
void* step_export(int instance, const char* name);
void step_drop(int instance);
int step_is_valid(const char* bytes, std::size_t count);
int step_loads_in_order();
}

namespace recut::step {

Result<Instance> Instance::make(const wasm::Module& module) {
  std::vector<void*> functions;
  for (const std::string& name : module.imports) functions.push_back(c_function(name));
  std::array<char, 256> problem{};
  const int number =
      step_instantiate(module.bytes.data(), module.bytes.size(), functions.data(), problem.data());
  if (number == 0)
    return error(std::string("the kernels can't be compiled here: ") + problem.data());
  return Instance(number);
}

Instance::~Instance() {
  if (number_ != 0) step_drop(number_);
}

void* Instance::offset_of(const std::string& name) const {
  void* const place = step_export(number_, name.c_str());
  RECUT_CHECK(place != nullptr, "a module exports its stages");
  return place;
}

bool has_relaxed_simd() {
  static const bool has = [] {
    const std::string probe = wasm::relaxed_probe();
    return step_is_valid(probe.data(), probe.size()) != 0;
  }();
  return has;
}

loop::LowerOptions lower_options() {
  const bool in_order = has_relaxed_simd() && step_loads_in_order() != 0;
  return wasm::lower_options(in_order ? wasm::kRowsInOrder : wasm::kRows);
}

}  // namespace recut::step
