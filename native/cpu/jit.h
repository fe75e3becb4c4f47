// Loads object code into this process, by LLVM's ORC. No LLVM type shows outside.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "engine/support/result.h"

namespace recut::cpu {

class Jit {
 public:
  // Loads object code for this machine (object_code.h). The C library's functions that it calls
  // are found in this process. Fails where it is no object (the message is LLVM's).
  static Result<Jit> load(std::string_view object);

  // Compiles LLVM IR text for this machine and loads it. Fails as both do.
  static Result<Jit> compile(std::string_view text);

  Jit(Jit&& other) noexcept;
  Jit& operator=(Jit&& other) noexcept;
  ~Jit();

  // The function of that name; the code must have it.
  void* find(std::string_view symbol) const;

 private:
  struct Engine;
  explicit Jit(std::unique_ptr<Engine> engine);
  std::unique_ptr<Engine> engine_;
};

}  // namespace recut::cpu
